//! Times the plain sequential versions: `cargo run --release --example plain_times [NAME ...]`.

use std::fmt::Debug;
use std::time::Instant;

use finespun_apps::{Progress, fib, integrate, list, matmul, nqueens, protein, qsort, skynet, tak, uts};

fn time<T: Debug>(name: &str, wanted: &[String], run: impl FnOnce() -> T) {
    if !wanted.is_empty() && !wanted.iter().any(|wanted| name.starts_with(wanted.as_str())) {
        return;
    }
    let start = Instant::now();
    let answer = run();
    println!("{name:24} {:8.3} s  {answer:?}", start.elapsed().as_secs_f64());
}

fn product(n: usize) -> impl FnOnce() -> String {
    move || {
        let (a, b, mut c) = (matmul::sample_a(n), matmul::sample_b(n), matmul::Matrix::zeros(n));
        let start = Instant::now();
        matmul::plain(&a, &b, &mut c);
        let rate = matmul::operations(&c) / start.elapsed().as_secs_f64() / 1e9;
        format!("sum {} trace {} squares {}: {rate:.1} GFlop/s", c.sum(), c.trace(), c.sum_of_squares())
    }
}

fn tree(name: &str) -> uts::Tree {
    uts::Tree::named(name).expect("a named tree")
}

fn foldings(lattice: &str, sequences: &[&str]) -> String {
    let sequences: Vec<_> = sequences.iter().map(|text| protein::Sequence::parse(text).expect("a sequence")).collect();
    let lattice = protein::Lattice::parse(lattice).expect("a box");
    let start = Instant::now();
    let problem = protein::Problem::new(lattice, &sequences).expect("sequences of the right length");
    let starts = start.elapsed().as_secs_f64();
    let folding = protein::plain(&problem, &Progress::new());
    format!("{} from {} starts ({starts:.4} s) {:?}", folding.paths, problem.starting_paths(), folding.histograms)
}

fn main() {
    let wanted: Vec<String> = std::env::args().skip(1).collect();
    let wanted = wanted.as_slice();
    time("fib 39", wanted, || fib::plain(39));
    time("tak 24 16 8", wanted, || tak::plain(24, 16, 8));
    time("nqueens 14", wanted, || nqueens::plain(14));
    time("nqueens board 13", wanted, || nqueens::board::plain(13));
    time("qsort 10^7", wanted, || {
        let mut v = qsort::input(10_000_000, 1);
        qsort::plain(&mut v);
        v.is_sorted()
    });
    let nodes = list::List::build(1_000_000);
    time("list iterative 10^6", wanted, || list::plain_iterative(&nodes));
    time("skynet 8", wanted, || skynet::plain(8));
    time("matmul 512", wanted, product(512));
    time("matmul 1024", wanted, product(1024));
    time("matmul 2048", wanted, product(2048));
    for tolerance in [1e-3, 1e-6] {
        time(&format!("integrate {tolerance:e}"), wanted, || integrate::plain(0.0, 10_000.0, tolerance));
    }
    for name in ["T1", "T2", "T3", "T4", "T5"] {
        time(&format!("uts {name}"), wanted, || uts::plain(&tree(name)));
        time(&format!("uts {name} recursive"), wanted, || uts::plain_recursive(&tree(name)));
    }
    time("utsL T3L", wanted, || uts::plain(&tree("T3L")));
    time("utsL T3L recursive", wanted, || uts::plain_recursive(&tree("T3L")));
    time("protein 3x3x3", wanted, || foldings("3x3x3", &[]));
    time("protein 3x3x3 HP", wanted, || foldings("3x3x3", &["HPHHPPHHHHPHHHPPHHPPHPHHHPH"]));
    time("protein 6x6", wanted, || foldings("6x6", &[]));
    time("protein 3x3x4", wanted, || foldings("3x3x4", &[]));
    time("protein 3x3x4 HP", wanted, || foldings("3x3x4", &["PPPHHPPHHPPPPPHHHHHHHPPHHPPPPHHPPHPP"]));
}
