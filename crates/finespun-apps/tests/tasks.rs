//! Every task version against its plain version: on several numbers of workers, and with every n-th primitive blocking.

use finespun::prelude::*;
use finespun::testing::*;
use finespun_apps::protein::{self, Lattice, Problem, Sequence};
use finespun_apps::raytrace::{self, Rays, Scene, Size};
use finespun_apps::uts::{self, Tree};
use finespun_apps::{Progress, fib, integrate, list, matmul, nqueens, qsort, search, skynet, sumto, tak};

const WORKERS: [usize; 4] = [1, 2, 3, 8];
/// Every n-th primitive blocks; 0 means never.
const BLOCK: [u32; 6] = [0, 1, 2, 3, 5, 7];

/// Runs `check` on a runtime for each number of workers and each block-every-n.
fn everywhere(check: impl Fn(&Runtime)) {
    for workers in WORKERS {
        for n in BLOCK {
            check(&Runtime::builder().workers(workers).block_every(n).build().expect("a runtime"));
        }
    }
}

#[test]
fn fib_agrees() {
    let known = fib::plain(20);
    everywhere(|runtime| {
        assert_eq!(runtime.run(fib::fib(20)), known);
        assert_eq!(runtime.run(fib::fib_sequence(20)), known);
    });
}

#[test]
fn tak_agrees() {
    everywhere(|runtime| {
        assert_eq!(runtime.run(tak::tak(12, 8, 4)), 5);
        assert_eq!(runtime.run(tak::tak_join(12, 8, 4)), 5);
    });
}

#[test]
fn nqueens_agrees() {
    everywhere(|runtime| {
        for n in [0, 1, 2, 3, 8] {
            assert_eq!(runtime.run(nqueens::nqueens(n)), nqueens::plain(n));
            assert_eq!(runtime.run(nqueens::board::nqueens(n)), nqueens::plain(n));
        }
    });
}

#[test]
fn search_agrees() {
    everywhere(|runtime| {
        for (n, at) in [(1, 0), (1, 1), (10_000, 0), (10_000, 9_999), (10_000, 5_000), (100_000, 100_000)] {
            let numbers = search::input(n, at);
            let known = (at < n).then_some(at);
            assert_eq!(search::plain(&numbers), known);
            for activities in [1, 2, 64] {
                assert_eq!(runtime.run(search::search(&numbers, activities)), known);
                assert_eq!(runtime.run(search::search_all(&numbers, activities)), known);
            }
        }
    });
}

#[test]
fn sumto_agrees() {
    everywhere(|runtime| {
        for (n, activities) in [(0, 1), (1, 10), (1000, 7), (12_345, 1000)] {
            assert_eq!(runtime.run(sumto::sumto(n, activities)), sumto::plain(n));
        }
    });
}

#[test]
fn sort_agrees() {
    everywhere(|runtime| {
        for (n, values) in [(0, 1), (17, u64::MAX), (5000, u64::MAX), (5000, 3)] {
            let mut ours: Vec<u64> = qsort::input(n, 5).iter().map(|x| x % values).collect();
            let mut theirs = ours.clone();
            qsort::plain(&mut theirs);
            runtime.run(qsort::sort(&mut ours));
            assert_eq!(ours, theirs);
        }
        let mut words = ["pear", "fig", "apple"].repeat(20);
        runtime.run(qsort::sort(&mut words));
        assert!(words.is_sorted());
    });
}

#[test]
fn list_agrees() {
    let nodes = list::List::build(10_000);
    let known = list::plain_iterative(&nodes);
    everywhere(|runtime| {
        assert_eq!(runtime.run(list::traverse(&nodes)), known);
        assert_eq!(runtime.run(list::traverse_forward(&nodes)), known);
    });
}

/// The list is a hundred times longer than plain recursion could traverse on this stack.
#[test]
fn ten_million_nodes_do_not_overflow() {
    let nodes = list::List::build(10_000_000);
    for workers in [1, 2] {
        let runtime = Runtime::builder().workers(workers).build().expect("a runtime");
        assert_eq!(runtime.run(list::traverse(&nodes)), 50_000_005_000_000);
        assert_eq!(runtime.run(list::traverse_forward(&nodes)), 50_000_005_000_000);
    }
}

#[test]
fn skynet_agrees() {
    let known = skynet::plain(4);
    everywhere(|runtime| {
        assert_eq!(runtime.run(skynet::skynet(4)), known);
        assert_eq!(runtime.run(skynet::skynet_join(4)), known);
    });
}

#[test]
fn product_agrees() {
    let (a, b) = (matmul::sample_a(130), matmul::sample_b(130));
    let mut known = matmul::Matrix::zeros(130);
    matmul::plain(&a, &b, &mut known);
    everywhere(|runtime| {
        let mut c = matmul::Matrix::zeros(130);
        runtime.run(matmul::multiply(&a, &b, &mut c));
        assert_eq!(c, known);
    });
}

#[test]
fn area_agrees_to_the_last_bit() {
    let known = integrate::plain(0.0, 100.0, 1e-5);
    everywhere(|runtime| {
        let area = runtime.run(integrate::integrate(0.0, 100.0, 1e-5));
        assert_eq!(area.to_bits(), known.to_bits());
    });
}

#[test]
fn trees_agree() {
    for options in [
        "-a 0 -d 8 -r 2",
        "-a 2 -d 3 -b 2 -r 3",
        "-a 3 -d 5",
        "-t 2 -d 8 -b 5",
        "-t 0 -b 100 -q 0.24 -m 4",
        "-t 3 -d 6",
    ] {
        let tree = Tree::parse(options).expect(options);
        let known = uts::plain(&tree);
        everywhere(|runtime| assert_eq!(runtime.run(uts::search(&tree)), known, "{options}"));
    }
}

/// The tree has depth 1572 and 4 million nodes.
#[test]
fn a_deep_tree_agrees() {
    let tree = Tree::named("T3").expect("a name");
    let known = uts::plain(&tree);
    for workers in [1, 2] {
        let runtime = Runtime::builder().workers(workers).build().expect("a runtime");
        assert_eq!(runtime.run(uts::search(&tree)), known);
    }
}

#[test]
#[ignore = "a hundred million nodes, 17,844 deep: 10 s in a release build"]
fn the_deepest_tree_agrees() {
    let tree = Tree::named("T3L").expect("a name");
    let runtime = Runtime::builder().workers(2).build().expect("a runtime");
    let counts = runtime.run(uts::search(&tree));
    assert_eq!((counts.nodes, counts.depth, counts.leaves), (111_345_631, 17_844, 89_076_904));
}

fn problem(lattice: &str, sequences: &[&str]) -> Problem {
    let sequences: Vec<_> = sequences.iter().map(|text| Sequence::parse(text).expect(text)).collect();
    Problem::new(Lattice::parse(lattice).expect(lattice), &sequences).expect("one letter per site")
}

#[test]
fn foldings_agree() {
    let sequence = "HPPHHPHPHHPPHPHHPH";
    for problem in [
        problem("1x1", &["H"]),
        problem("4x4", &[]),
        problem("2x3x3", &[]),
        problem("2x3x3", &[sequence]),
        problem("2x3x3", &[sequence; 3]),
        problem("2x2x2", &["HPHHPPHH"; 10]),
    ] {
        let known = protein::plain(&problem, &Progress::new());
        everywhere(|runtime| {
            let progress = Progress::new();
            assert_eq!(runtime.run(protein::fold(&problem, &progress)), known);
            assert_eq!(progress.done(), progress.total());
        });
    }
}

#[test]
fn foldings_of_the_cube_agree() {
    let problem = problem("3x3x3", &["HPHHPPHHHHPHHHPPHHPPHPHHHPH"]);
    let known = protein::plain(&problem, &Progress::new());
    for workers in WORKERS {
        let runtime = Runtime::builder().workers(workers).build().expect("a runtime");
        assert_eq!(runtime.run(protein::fold(&problem, &Progress::new())), known);
    }
}

#[test]
fn pictures_agree() {
    let scenes = [Scene::show(1).expect("few levels"), Scene::java_grande(Rays::Shared)];
    for (scene, (width, height)) in scenes.iter().zip([(17, 6), (8, 8)]) {
        let size = Size::new(width, height).expect("a size");
        let known = raytrace::plain(scene, size, &Progress::new());
        everywhere(|runtime| {
            let progress = Progress::new();
            assert_eq!(runtime.run(raytrace::render(scene, size, &progress)), known);
            assert_eq!((progress.done(), progress.total()), (u64::from(height), u64::from(height)));
            let progress = Progress::new();
            let found = runtime.run(raytrace::threads::render(scene, size, &progress));
            assert_eq!((&found.picture, &found.work), (&known.0, &known.1));
            assert_eq!(found.traced.iter().sum::<usize>(), size.pixels());
            assert_eq!((progress.done(), progress.total()), (u64::from(height), u64::from(height)));
        });
    }
}

#[test]
fn static_shares_make_up_the_picture() {
    let (scene, size) = (Scene::show(1).expect("few levels"), Size::new(5, 7).expect("a size"));
    let (picture, _) = raytrace::plain(&scene, size, &Progress::new());
    for workers in [1, 2, 3, 7, 10] {
        let share = |worker| raytrace::threads::by_blocks(&scene, size, worker, workers);
        let all: Vec<[u8; 3]> = (0..workers).flat_map(share).collect();
        assert_eq!(all, picture.pixels(), "{workers} workers");
    }
}

#[test]
fn closures_agree() {
    let problem = |lattice: &str, sequences: &[&str]| {
        let sequences: Vec<_> = sequences.iter().map(|s| Sequence::parse(s).expect("a sequence")).collect();
        Problem::new(Lattice::parse(lattice).expect("a box"), &sequences).expect("a problem")
    };
    let problems =
        [problem("5x5", &[]), problem("2x3x3", &["HPHHPPHHHHPHHHPPHH"]), problem("2x2x2", &["HHHHHHHH"; 10])];
    let known = problems.each_ref().map(|problem| protein::plain(problem, &Progress::new()));
    everywhere(|runtime| {
        assert_eq!(runtime.run(fib::threads::forked(15)), fib::plain(15));
        assert_eq!(runtime.run(fib::threads::tailed(15)), fib::plain(15));
        for n in [0, 1, 2, 3, 7] {
            assert_eq!(runtime.run(nqueens::threads::nqueens(n)), nqueens::plain(n));
        }
        for (problem, known) in problems.iter().zip(&known) {
            let progress = Progress::new();
            assert_eq!(&runtime.run(protein::threads::fold(problem, &progress)), known);
            assert!(progress.total() > 0 && progress.done() == progress.total());
        }
    });
}
