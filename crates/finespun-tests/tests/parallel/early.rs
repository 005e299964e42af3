//! Ends that stop early, panics, and the ends of runs.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::common::everywhere;
use finespun::par::prelude::*;
use finespun::prelude::*;
use finespun::testing::*;

const N: usize = 1_000_000;

#[test]
fn searches_stop_soon() {
    everywhere(|runtime| {
        let visited = AtomicUsize::new(0);
        let visit = |k: &usize| {
            visited.fetch_add(1, Ordering::Relaxed);
            *k >= 10
        };
        assert_eq!(runtime.run((0..N).into_par_iter().find_first(visit)), Some(10));
        assert!(runtime.run((0..N).into_par_iter().any(|k| visit(&k))));
        assert!(!runtime.run((0..N).into_par_iter().all(|k| !visit(&k))));
        assert!(runtime.run((0..N).into_par_iter().find_any(visit)).is_some_and(|k| k >= 10));
        assert_eq!(
            runtime.run((0..N).into_par_iter().try_for_each(|k| if visit(&k) { Err(k) } else { Ok(()) })),
            Err(10)
        );
        let all = (0..N).into_par_iter().map(|k| if visit(&k) { Err(k) } else { Ok(k) }).collect::<Result<Vec<_>, _>>();
        assert_eq!(runtime.run(all), Err(10));
        let visited = visited.load(Ordering::Relaxed);
        assert!(visited < N, "{visited} items visited in six searches that could end after 11");
    });
}

/// The first panic in order reaches the caller, and as many items as possible are visited at most once.
#[test]
fn the_first_panic_in_order_is_delivered() {
    everywhere(|runtime| {
        for bad in [0, 77, 4999] {
            let visited: Vec<AtomicUsize> = (0..5000).map(|_| AtomicUsize::new(0)).collect();
            let traversal = visited.par_iter().enumerate().for_each(|(k, count)| {
                count.fetch_add(1, Ordering::Relaxed);
                if k >= bad {
                    resume_unwind(Box::new(k));
                }
            });
            let payload = catch_unwind(AssertUnwindSafe(|| runtime.run(traversal))).unwrap_err();
            assert_eq!(payload.downcast_ref::<usize>(), Some(&bad));
            assert!(visited.iter().all(|count| count.load(Ordering::Relaxed) <= 1));
            assert!(visited[..=bad].iter().all(|count| count.load(Ordering::Relaxed) == 1));
        }
    });
}

#[task]
async fn caught_nowhere(n: usize) -> usize {
    let local = vec![1_usize; n];
    let (sum, _) = join!(
        local.par_iter().sum::<usize>(),
        local.par_iter().enumerate().map(|(k, _)| if k == 500 { resume_unwind(Box::new("item")) } else { k }).max()
    );
    sum
}

#[test]
fn a_panic_beside_a_sibling_that_borrows() {
    everywhere(|runtime| {
        let payload = catch_unwind(AssertUnwindSafe(|| runtime.run(caught_nowhere(3000)))).unwrap_err();
        assert_eq!(payload.downcast_ref::<&str>(), Some(&"item"));
    });
}

#[task]
async fn endless() {
    // More than a test could wait for.
    (0..u64::MAX).into_par_iter().with_max_len(1000).for_each(|k| assert!(k < u64::MAX)).await;
}

#[test]
fn a_cancelled_run_ends_between_leaves() {
    for workers in [1, 3] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        let run = runtime.spawn(endless());
        drop(run);
        assert_eq!(runtime.close(), 0, "frames left");
    }
}

#[task]
async fn stuck_beside(items: Vec<String>) -> usize {
    let (never, n) = join!(suspend(|continuation: Continuation<usize>| std::mem::forget(continuation)), {
        items.into_par_iter().map(|s| s.len()).sum::<usize>()
    });
    never + n
}

#[test]
fn a_traversal_beside_a_deadlock() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let items = (0..1000).map(|k| k.to_string()).collect();
    let ended = catch_unwind(AssertUnwindSafe(|| runtime.run(stuck_beside(items))));
    assert!(ended.is_err());
}
