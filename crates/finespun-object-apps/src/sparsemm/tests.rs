use finespun::istructure::{Cache, Counts};
use finespun::prelude::*;
use finespun::testing::*;

use super::*;
use crate::densemm::Form;
use crate::sparse::{Sparse, expected_reads};

const CACHED: Form = Form::Arrays(Cache::On { block: 8, capacity: 1000 });
const FORMS: [Form; 6] = [
    Form::Split,
    Form::Arrays(Cache::Off),
    Form::Arrays(Cache::Auto),
    Form::Arrays(Cache::On { block: 1, capacity: 7 }),
    Form::Arrays(Cache::On { block: 8, capacity: 1 }),
    CACHED,
];
const RANDOM: Problem = Problem { rows: 50, nonzeros: 200, times: 3 };

/// A matrix of 31 rows and 17 columns, with an empty row and an empty column.
fn small() -> Sparse {
    let row = |i: u32| {
        (0..16)
            .filter(move |j| i != 7 && (i * i + 3 * j).is_multiple_of(5))
            .map(move |j| (j, f64::from(i) - 0.1 * f64::from(j)))
    };
    Sparse::from_rows(17, (0..31).map(|i| row(i).collect()))
}

fn product_on(runtime: &Runtime, left: &Sparse, right: &Sparse, form: Form) -> (Sums, Vec<Counts>) {
    let factors = runtime.run(create(left, right, form, true));
    runtime.run(multiply(&factors));
    let found = (runtime.run(sums(&factors)), runtime.run(counts(&factors)));
    runtime.run(free(factors));
    found
}

fn repeat_on(runtime: &Runtime, drawn: &Drawn, times: u32, form: Form) -> (Vec<f64>, Vec<Counts>) {
    let mut spread = runtime.run(spread(drawn, form, true));
    let result = runtime.run(repeat(&mut spread, times));
    (result, runtime.run(free_spread(spread)))
}

/// Checks every form, on several numbers of workers and nodes, with and without forced suspensions.
fn everywhere(check: impl Fn(&Runtime, Form, &str)) {
    for (workers, nodes) in [(1, 1), (1, 16), (2, 3), (3, 60)] {
        for n in [0, 1, 3] {
            let runtime = Runtime::builder().workers(workers).nodes(nodes).block_every(n).build().expect("a runtime");
            for form in FORMS {
                check(&runtime, form, &format!("{form:?} on {nodes} nodes, blocking every {n}"));
            }
            assert_eq!(runtime.close(), 0);
        }
    }
}

#[test]
fn products_match_the_definition() {
    let (left, right) = (small(), small().transpose());
    let full = |matrix: &Sparse, row: usize| {
        let mut full = vec![0.0; matrix.columns()];
        matrix.entries(row).for_each(|at| full[matrix.column(at)] = matrix.value(at));
        full
    };
    let (mut squares, mut entries, mut nonzeros) = (0.0, 0, 0);
    for i in 0..left.rows() {
        for j in 0..left.rows() {
            let element: f64 = full(&left, i).iter().zip(full(&left, j)).map(|(a, b)| a * b).sum();
            squares += element * element;
            nonzeros += u64::from(element != 0.0);
            entries += u64::from(full(&left, i).iter().zip(full(&left, j)).any(|(a, b)| *a != 0.0 && b != 0.0));
        }
    }
    let found = plain(&left, &right);
    assert_eq!((found.entries, found.nonzeros), (entries, nonzeros));
    assert!((found.squares / squares - 1.0).abs() < 1e-12);
    assert!((plain(&right, &left).squares / squares - 1.0).abs() < 1e-12);
}

#[test]
fn all_forms_give_the_bits_of_the_loops() {
    let (matrix, transposed) = (small(), small().transpose());
    for (left, right) in [(&matrix, &transposed), (&transposed, &matrix)] {
        let known = plain(left, right);
        let reads = 2 * left.nonzeros() as u64 + 2 * multiplications(left, right);
        everywhere(|runtime, form, how| {
            let (sums, counts) = product_on(runtime, left, right, form);
            assert_eq!(sums, known, "{how}");
            if form != Form::Split {
                assert_eq!(counts.iter().map(|counts| counts.local + counts.remote).sum::<u64>(), reads, "{how}");
            }
        });
    }
    let empty = Sparse::from_rows(2, [vec![], vec![]]);
    assert_eq!(
        product_on(&Runtime::builder().nodes(3).build().expect("a runtime"), &empty, &empty, CACHED).0,
        Sums::default()
    );
}

#[test]
fn all_forms_repeat_with_the_bits_of_the_loops() {
    let drawn = Drawn::draw(&RANDOM);
    let known = plain_repeat(&drawn, 3);
    everywhere(|runtime, form, how| {
        let (result, counts) = repeat_on(runtime, &drawn, 3, form);
        assert_eq!(result, known, "{how}");
        if form != Form::Split {
            assert_eq!(counts.iter().map(|counts| counts.local + counts.remote).sum::<u64>(), 3 * 200, "{how}");
        }
    });
}

#[test]
fn totals_match_the_published_values() {
    let sizes = match cfg!(debug_assertions) {
        true => &[(50_000, 75.024_849_457_534_53)][..],
        false => &[(50_000, 75.024_849_457_534_53), (100_000, 150.013_071_963_389_5), (500_000, 749.524_587_075_375_2)],
    };
    for &(rows, known) in sizes {
        let drawn = Drawn::draw(&Problem { rows, nonzeros: 5 * rows, times: 200 });
        let total = drawn.total(&plain_repeat(&drawn, 200));
        assert!((total / known - 1.0).abs() < 1e-10, "{rows}: {total}");
    }
}

/// Each node requests each block with an element that one of its rows needs, once from each node that has elements of
/// the block.
#[test]
fn no_block_is_requested_twice() {
    let drawn = Drawn::draw(&Problem { rows: 1000, nonzeros: 5000, times: 4 });
    let runtime = Runtime::builder().workers(2).nodes(16).build().expect("a runtime");
    let (_, counts) = repeat_on(&runtime, &drawn, 4, CACHED);
    for (found, [own, others, misses, requests]) in counts.iter().zip(expected_reads(&drawn.matrix, 16)) {
        assert_eq!((found.local, found.remote), (4 * own, 4 * others));
        assert_eq!((found.requests, found.hits), (requests, 4 * others - misses));
    }
    // Counts of a product are for all arrays together.
    let (left, right) = (small().transpose(), small());
    let (_, counts) = product_on(&runtime, &left, &right, CACHED);
    let blocks = |len: usize| len as u64 / 8 + 16;
    let most = blocks(right.rows() + 1) + 2 * blocks(right.nonzeros());
    assert!(counts.iter().all(|counts| counts.requests <= most && counts.hits + counts.requests >= counts.remote));
}
