//! Every plain version against an answer from outside this project.

use std::collections::BTreeMap;

use finespun_apps::protein::{self, Folding, Lattice, Problem, Sequence};
use finespun_apps::raytrace::{self, Rays, Scene, Search, Size};
use finespun_apps::uts::{self, Counts, Tree};
use finespun_apps::{Progress, fib, matmul, nqueens};

fn fold(lattice: &str, sequences: &[&str]) -> Folding {
    let lattice = Lattice::parse(lattice).expect(lattice);
    let sequences: Vec<_> = sequences.iter().map(|text| Sequence::parse(text).expect(text)).collect();
    let problem = Problem::new(lattice, &sequences).expect("one letter per site");
    let progress = Progress::new();
    let folding = protein::plain(&problem, &progress);
    assert_eq!(progress.done(), progress.total());
    for histogram in &folding.histograms {
        assert_eq!(histogram.values().sum::<u64>(), folding.paths, "every folding has one energy");
    }
    folding
}

/// Returns the foldings by energy, from a list of foldings by number of contacts that begins at `first`.
fn histogram(first: i32, counts: &[u64]) -> BTreeMap<i32, u64> {
    (first..).map(|contacts| -contacts).zip(counts.iter().copied()).collect()
}

const FIRST_27: &str = "HPHHPPHHHHPHHHPPHHPPHPHHHPH";
const SECOND_27: &str = "PHPHPHHHPPHPHPHPHHPHPPHPHHP";
const STANDARD_36: &str = "PPPHHPPHHPPPPPHHHHHHHPPHHPPPPHHPPHPP";

fn first_27() -> BTreeMap<i32, u64> {
    histogram(6, &[24, 445, 3193, 11278, 21896, 25296, 20643, 12382, 5901, 2077, 211])
}

fn second_27() -> BTreeMap<i32, u64> {
    histogram(3, &[260, 2309, 9097, 16254, 23466, 23101, 16373, 8080, 3229, 902, 248, 26, 1])
}

/// The known counts: OEIS A096969 divided by 8, A193346 divided by 2, and two independent programs.
#[test]
fn foldings_of_small_boxes() {
    let known = [
        ("1x1", 1),
        ("1x2", 1),
        ("1x7", 1),
        ("2x2", 1),
        ("3x3", 5),
        ("4x4", 69),
        ("5x5", 1081),
        ("6x6", 57_337),
        ("2x2x2", 3),
        ("2x2x3", 73),
        ("3x2x2", 73),
        ("2x3x2", 73),
        ("2x2x4", 502),
        ("2x2x5", 3082),
        ("2x2x6", 17_578),
        ("2x3x3", 2110),
        ("3x3x3", 103_346),
    ];
    for (lattice, foldings) in known {
        assert_eq!(fold(lattice, &[]).paths, foldings, "{lattice}");
    }
}

#[test]
fn energies_in_the_cube() {
    let alternating = "HPHPHPHPHPHPHPHPHPHPHPHPHPH";
    let all = "HHHHHHHHHHHHHHHHHHHHHHHHHHH";
    let one = |energy| BTreeMap::from([(energy, 103_346)]);
    assert_eq!(fold("3x3x3", &[FIRST_27]).histograms, [first_27()]);
    assert_eq!(fold("3x3x3", &[FIRST_27, SECOND_27]).histograms, [first_27(), second_27()]);
    // Neighbours have positions of different parity in the chain, so an alternating chain has no H-H contact.
    let many = [FIRST_27, SECOND_27, alternating, all, FIRST_27, FIRST_27, SECOND_27, all, SECOND_27, alternating];
    let known = many.map(|sequence| match sequence {
        FIRST_27 => first_27(),
        SECOND_27 => second_27(),
        sequence if sequence == all => one(-28),
        _ => one(0),
    });
    assert_eq!(fold("3x3x3", &many).histograms, known, "more than one pass");
    assert_eq!(fold("3x3x3", &many[..3]).histograms, known[..3]);
}

/// The foldings of a box do not depend on its orientation.
#[test]
fn foldings_do_not_depend_on_the_orientation() {
    let sequence = "HPPHHPHPHHPPHPHHPH";
    let upright = fold("2x3x3", &[sequence]);
    assert_eq!(upright, fold("3x2x3", &[sequence]));
    assert_eq!(upright, fold("3x3x2", &[sequence]));
    assert_eq!(fold("4x5", &[]), fold("5x4", &[]));
}

#[test]
fn a_sequence_must_fit_its_box() {
    let sequence = Sequence::parse("HPHP").expect("four letters");
    let error = Problem::new(Lattice::parse("3x3").expect("a box"), &[sequence]).expect_err("nine sites");
    assert_eq!(
        error.to_string(),
        "sequence HPHP has 4 monomers, but the box 3x3x1 has 9 sites: give one letter H or P per site"
    );
}

#[test]
#[ignore = "84 million foldings: 8 s in a release build, minutes without"]
fn foldings_of_3x3x4() {
    let counts = [
        702, 18_282, 203_148, 1_202_344, 4_229_740, 9_730_898, 15_491_900, 17_776_624, 15_386_708, 10_500_467,
        5_858_243, 2_751_452, 1_094_105, 364_324, 96_895, 20_805, 4384, 114, 57,
    ];
    let folding = fold("3x3x4", &[STANDARD_36]);
    assert_eq!(folding.paths, 84_731_192);
    assert_eq!(folding.histograms, [histogram(0, &counts)]);
}

#[test]
#[ignore = "3 million foldings of a 7x7 square: 1 s in a release build, a minute without"]
fn foldings_of_7x7() {
    assert_eq!(fold("7x7", &[]).paths, 3_383_820);
}

fn check_trees(known: &[(&str, u64, u64, u64)]) {
    for &(name, nodes, depth, leaves) in known {
        let tree = Tree::named(name).expect(name);
        assert_eq!(uts::plain(&tree), Counts { nodes, depth, leaves }, "{name}");
    }
}

/// The known counts are from an independent program; the trees are of every kind and shape.
#[test]
fn small_trees() {
    let known = [
        ("-t 1 -a 0 -d 10 -b 4 -r 34", 5577, 10, 3111),
        ("-t 1 -a 1 -d 6 -b 4 -r 7", 4476, 17, 2350),
        ("-t 1 -a 2 -d 4 -b 3 -r 502", 121, 11, 67),
        ("-t 1 -a 3 -d 7 -b 4 -r 19", 63914, 7, 51124),
        ("-t 2 -a 0 -d 12 -b 4 -r 1 -q 0.234375 -m 4", 21294, 100, 15913),
        ("-t 2 -a 0 -d 9 -b 5 -q 0.3 -m 3 -f 0.8 -r 1", 52865, 74, 34719),
        ("-t 0 -b 200 -q 0.19 -m 5 -r 42", 5056, 62, 4084),
        ("-t 3 -b 5 -d 6", 19531, 6, 15625),
    ];
    for (options, nodes, depth, leaves) in known {
        let tree = Tree::parse(options).expect(options);
        assert_eq!(uts::plain(&tree), Counts { nodes, depth, leaves }, "{options}");
    }
}

/// The published counts.
#[test]
#[cfg_attr(debug_assertions, ignore = "twenty million nodes: 1.2 s in a release build, 40 s without")]
fn trees_of_four_million_nodes() {
    check_trees(&[
        ("T1", 4_130_071, 10, 3_305_118),
        ("T2", 4_117_769, 81, 2_342_762),
        ("T3", 4_112_897, 1572, 3_599_034),
        ("T4", 4_132_453, 134, 3_108_986),
        ("T5", 4_147_582, 20, 2_181_318),
    ]);
}

#[test]
#[ignore = "three trees of a hundred million nodes: 20 s in a release build, minutes without"]
fn trees_of_a_hundred_million_nodes() {
    check_trees(&[
        ("T1L", 102_181_082, 13, 81_746_377),
        ("T2L", 96_793_510, 67, 53_791_152),
        ("T3L", 111_345_631, 17_844, 89_076_904),
    ]);
}

#[test]
#[ignore = "two thousand million operations: 0.2 s in a release build, a minute without"]
fn product_of_1024() {
    let mut c = matmul::Matrix::zeros(1024);
    matmul::plain(&matmul::sample_a(1024), &matmul::sample_b(1024), &mut c);
    assert_eq!((c.sum(), c.trace(), c.sum_of_squares()), (-154.0, 107.0, 3_614_277_906.0));
}

#[test]
fn fib_and_queens_match_the_known_values() {
    assert_eq!(fib::plain(30), 832_040);
    assert_eq!(nqueens::plain(11), 2680);
    assert_eq!(nqueens::board::plain(10), 724);
}

#[test]
#[ignore = "seconds without a release build"]
fn larger_fib_and_queens_match_the_known_values() {
    assert_eq!(fib::plain(40), 102_334_155);
    assert_eq!(nqueens::plain(14), 365_596);
    assert_eq!(nqueens::plain(15), 2_279_184);
    assert_eq!(nqueens::board::plain(13), 73_712);
}

fn java_grande(rays: Rays, side: u32, search: Search) -> u64 {
    let size = Size::new(side, side).expect("a size");
    raytrace::plain(&Scene::java_grande(rays).searched(search), size, &Progress::new()).0.checksum()
}

/// The larger published checksum, and the checksum without the shared ray.
#[test]
#[ignore = "takes seconds, and minutes without optimization"]
fn java_grande_500_matches_the_published_checksum() {
    for search in [Search::Exhaustive, Search::Hierarchy] {
        assert_eq!(java_grande(Rays::Shared, 500, search), 29_827_635);
        assert_eq!(java_grande(Rays::Clean, 500, search), 31_033_217);
    }
}
