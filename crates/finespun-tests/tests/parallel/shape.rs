//! The shape of a traversal depends on the number of items only.

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use crate::common::{BLOCK, WORKERS, everywhere};
use finespun::Runtime;
use finespun::par::prelude::*;

/// Of few items to many: a block that is not full, blocks that are, and published parts.
#[test]
fn a_float_sum_is_the_same_everywhere() {
    for n in [5, 100, 1000, 100_000_u32] {
        let floats: Vec<f64> = (1..=n).map(|k| 1.0 / f64::from(k)).collect();
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
        assert!(results.iter().all(|result| *result == results[0]), "{n} numbers: {results:?}");
        // And not by chance: the sequential sum is another one.
        assert!(n < 1000 || results[0][0] != floats.iter().sum::<f64>().to_bits());
    }
}

/// Long items do not wait for each other: both of two begin at once.
#[test]
fn two_items_run_at_the_same_time() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    for n in [2, 3, 8] {
        let begun = AtomicUsize::new(0);
        let meets = |_| {
            begun.fetch_add(1, Ordering::Relaxed);
            let start = Instant::now();
            while begun.load(Ordering::Relaxed) < 2 && start.elapsed() < Duration::from_secs(20) {
                thread::yield_now();
            }
            begun.load(Ordering::Relaxed) >= 2
        };
        assert!(runtime.run((0..n).into_par_iter().all(meets)), "the first of {n} items was alone for 20 s");
    }
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
            // Values that own memory take longer to make and to combine.
            let owned = runtime.run(items().fold_with(String::new(), |all, _| all + "k").collect::<Vec<String>>());
            assert!(owned.len() <= usual.len().min(32), "{} leaves of {n}", owned.len());
            assert_eq!(owned.concat().len(), n);
        }
        assert_eq!(leaves(runtime, (0..0).into_par_iter()), [0]);
    });
}

#[test]
fn a_search_that_is_over_in_the_first_leaf_visits_no_other() {
    everywhere(|runtime| {
        let n = 1_000_000;
        let calls = AtomicUsize::new(0);
        let first = |k: &u32| {
            calls.fetch_add(1, Ordering::Relaxed);
            *k == 7
        };
        assert_eq!(runtime.run((0..n).into_par_iter().find_any(first)), Some(7));
        assert_eq!(runtime.run((0..n).into_par_iter().find_first(first)), Some(7));
        assert!(runtime.run((0..n).into_par_iter().any(|k| first(&k))));
        assert!(!runtime.run((0..n).into_par_iter().all(|k| !first(&k))));
        let failed = (0..n).into_par_iter().try_for_each(|k| if first(&k) { Err(k) } else { Ok(()) });
        assert_eq!(runtime.run(failed), Err(7));
        assert_eq!(calls.into_inner(), 5 * 8);
    });
}

/// Leaves that are joined, or not, give the same collections, first results and sums; those that a result shows are never joined.
#[test]
fn joined_leaves_change_nothing() {
    let values = Mutex::new(HashMap::new());
    everywhere(|runtime| {
        for n in [1, 16, 17, 100, 129, 1000, 5000_u32] {
            let items = || (0..n).into_par_iter();
            let odd = |k: &u32| k % 2 == 1;
            assert_eq!(runtime.run(items().filter(odd).collect::<Vec<_>>()), (0..n).filter(odd).collect::<Vec<_>>());
            assert_eq!(runtime.run(items().collect::<VecDeque<_>>()), (0..n).collect::<VecDeque<_>>());
            assert_eq!(runtime.run(items().partition::<Vec<_>, _>(odd)), (0..n).partition::<Vec<_>, _>(odd));
            assert_eq!(runtime.run(items().map(|k| (k, !k)).unzip::<_, _, Vec<_>, Vec<_>>()).1.len(), n as usize);
            assert_eq!(runtime.run(items().sum::<u32>()), (0..n).sum::<u32>());
            assert_eq!(runtime.run(items().map(f64::from).max_by(f64::total_cmp)), Some(f64::from(n - 1)));
            assert_eq!(runtime.run(items().find_first(|k| k % 90 == 89)), Some(89).filter(|_| n > 89));
            let failing = items().try_for_each(|k| if k % 50 == 33 { Err(k) } else { Ok(()) });
            assert_eq!(runtime.run(failing), if n > 33 { Err(33) } else { Ok(()) });
            let seen: Vec<AtomicUsize> = (0..n).map(|_| AtomicUsize::new(0)).collect();
            runtime.run(seen.par_iter().for_each(|count| assert_eq!(count.fetch_add(1, Ordering::Relaxed), 0)));
            assert!(seen.iter().all(|count| count.load(Ordering::Relaxed) == 1));
            let made = AtomicUsize::new(0);
            let init = || made.fetch_add(1, Ordering::Relaxed);
            runtime.run(items().for_each_init(init, |_, _| ()));
            let made = made.into_inner();
            assert_eq!(*values.lock().unwrap().entry(n).or_insert(made), made, "a value for each leaf");
        }
    });
}
