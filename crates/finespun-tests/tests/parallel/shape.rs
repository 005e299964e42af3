//! The shape of a traversal depends on the number of items only.

use std::sync::Mutex;

use crate::common::{BLOCK, WORKERS, everywhere};
use finespun::Runtime;
use finespun::par::prelude::*;

#[test]
fn a_float_sum_is_the_same_everywhere() {
    let floats: Vec<f64> = (1..100_000_u32).map(|k| 1.0 / f64::from(k)).collect();
    let results = Mutex::new(Vec::new());
    everywhere(|runtime| {
        for _ in 0..3 {
            let sum = runtime.run(floats.par_iter().sum::<f64>());
            let reduced = runtime.run(floats.par_iter().copied().reduce(|| 0.0, |a, b| a + b));
            let folded = runtime.run(floats.par_iter().fold(|| 0.0, |a, b| a + b).map(|x| x * 1.1).sum::<f64>());
            let filtered = runtime.run(floats.par_iter().filter(|x| **x < 0.3).product::<f64>());
            results.lock().unwrap().push([sum, reduced, folded, filtered].map(f64::to_bits));
        }
    });
    let results = results.into_inner().unwrap();
    assert!(results.len() >= WORKERS.len() * BLOCK.len());
    assert!(results.iter().all(|result| *result == results[0]));
    // And not by chance: the sequential sum is another one.
    assert_ne!(results[0][0], floats.iter().sum::<f64>().to_bits());
}

/// Returns the lengths of the leaves.
fn leaves(runtime: &Runtime, items: impl IndexedParallelIterator) -> Vec<usize> {
    runtime.run(items.fold_with(0, |n, _| n + 1).collect::<Vec<usize>>())
}

#[test]
fn bounds_of_leaves() {
    everywhere(|runtime| {
        for n in [1, 10, 100, 1000, 100_000_usize] {
            let items = || (0..n).into_par_iter();
            assert_eq!(leaves(runtime, items().with_max_len(1)), vec![1; n]);
            assert_eq!(leaves(runtime, items().with_min_len(n)), [n]);
            let short = leaves(runtime, items().map(|k| k + 1).with_max_len(7).zip(items()));
            assert!(short.iter().sum::<usize>() == n && short.iter().all(|len| (1..=7).contains(len)), "{short:?}");
            let usual = leaves(runtime, items());
            assert_eq!(usual.iter().sum::<usize>(), n);
            assert!(usual.len() <= 512, "{} leaves of {n}", usual.len());
        }
        assert_eq!(leaves(runtime, (0..0).into_par_iter()), [0]);
    });
}
