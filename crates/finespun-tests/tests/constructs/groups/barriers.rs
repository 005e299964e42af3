//! Barriers: activities that wait for all others of their group.

use std::sync::atomic::{AtomicU64, Ordering};

use finespun::group::sync;
use finespun::prelude::*;
use finespun::testing::*;

use crate::groups::everywhere;

#[task]
async fn rounds(progress: &[AtomicU64], k: usize, rounds: u64) {
    for round in 1..=rounds {
        progress[k].store(round, Ordering::Relaxed);
        sync().await;
        for other in progress {
            let seen = other.load(Ordering::Relaxed);
            assert!(seen == round || seen == round + 1, "{seen} in round {round}");
        }
    }
}

#[task]
async fn all_rounds(progress: &[AtomicU64], count: u64) {
    parfor(0..progress.len(), |k| rounds(progress, k, count)).await;
}

#[test]
fn no_activity_passes_the_barrier_early() {
    everywhere(|runtime| {
        for len in [1, 2, 3, 50] {
            let progress: Vec<AtomicU64> = (0..len).map(|_| AtomicU64::new(0)).collect();
            runtime.run(all_rounds(&progress, 5));
            assert!(progress.iter().all(|round| round.load(Ordering::Relaxed) == 5));
        }
    });
}

/// Calls `sync` k times, sometimes after a wait of another kind, and then ends.
#[task]
async fn some_rounds(ended: &AtomicU64, k: u64) {
    for round in 0..k {
        if (k + round).is_multiple_of(3) {
            yield_now().await;
        }
        sync().await;
        // Activities that call `sync` fewer times have ended.
        assert!(ended.load(Ordering::Relaxed) > round);
    }
    ended.fetch_add(1, Ordering::Relaxed);
}

#[task]
async fn fewer_and_fewer(ended: &AtomicU64, n: u64) {
    parfor(0..n, |k| some_rounds(ended, k)).await;
}

#[test]
fn an_ended_activity_counts_as_arrived() {
    everywhere(|runtime| {
        for n in [1, 2, 7, 30] {
            let ended = AtomicU64::new(0);
            runtime.run(fewer_and_fewer(&ended, n));
            assert_eq!(ended.into_inner(), n);
        }
    });
}

#[task]
async fn inner(sum: &AtomicU64, k: u64) {
    sum.fetch_add(k, Ordering::Relaxed);
    sync().await;
    assert!(sum.load(Ordering::Relaxed) >= 6);
}

/// Synchronizes in two nested groups, each with its own barrier.
#[task]
async fn outer(sums: &[AtomicU64], k: usize) {
    parfor(0..4, |n| inner(&sums[k], n)).await;
    sync().await;
    for sum in sums {
        assert_eq!(sum.load(Ordering::Relaxed), 6);
    }
}

#[task]
async fn nested(sums: &[AtomicU64]) {
    parfor(0..sums.len(), |k| outer(sums, k)).await;
}

#[test]
fn each_group_has_its_own_barrier() {
    everywhere(|runtime| {
        let sums: Vec<AtomicU64> = (0..9).map(|_| AtomicU64::new(0)).collect();
        runtime.run(nested(&sums));
    });
}

#[task]
async fn alone() {
    sync().await;
}

#[test]
fn sync_outside_of_groups_is_an_error() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let error = runtime.try_run(alone()).unwrap_err().to_string();
    assert!(error.contains("`sync` was called in no group"), "{error}");
}

#[task]
async fn syncs_or_fails(k: u64) -> Result<(), u64> {
    if k == 20 {
        yield_now().await;
        return Err(k);
    }
    sync().await;
    unreachable!("not all arrive");
}

#[task]
async fn broken() -> Result<(), u64> {
    parfor(0..40, syncs_or_fails).await
}

#[test]
fn a_terminated_group_does_not_release_its_barrier() {
    everywhere(|runtime| assert_eq!(runtime.run(broken()), Err(20)));
}

#[task]
async fn meets() {
    sync().await;
}

#[task]
async fn meets_twice(k: u64) {
    if k == 0 {
        join!(meets(), meets());
    } else {
        meets().await;
        meets().await;
    }
}

#[task]
async fn two_meet_twice() {
    parfor(0..2, meets_twice).await;
}

/// Two branches of one activity arrive at once, sometimes together with the other activity, before any waiter checks
/// the phase.
#[test]
fn an_activity_may_arrive_twice_at_once() {
    for workers in [1, 2] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        for _ in 0..5000 {
            runtime.run(two_meet_twice());
        }
        assert_eq!(runtime.close(), 0);
    }
}
