//! Policies that distribute activities to workers: how often the workers access shared data.

use finespun::Stats;
use finespun::group::Policy;
use finespun::prelude::*;
use finespun::testing::*;

#[task]
async fn nothing(_: u64) {}

#[task]
async fn many(n: u64) {
    parfor(0..n, nothing).await;
}

fn acquisitions(workers: usize, policy: Policy, n: u64) -> Stats {
    let runtime = Runtime::builder().workers(workers).policy(policy).build().unwrap();
    runtime.run(many(n));
    let stats = runtime.stats();
    assert_eq!(runtime.close(), 0);
    stats
}

/// One acquisition for each activity, and one for each worker that finds nothing; or P log (N / P).
#[test]
fn policies_differ_as_in_the_paper() {
    for workers in [1, 2, 4] {
        for n in [1, 100, 10_000] {
            let found = |policy| acquisitions(workers, policy, n);
            assert_eq!(found(Policy::Steal).acquisitions, 0);
            let vain = (workers as u64).min(n);
            assert_eq!(found(Policy::Envelopes).acquisitions, n + vain);
            let global = found(Policy::Global);
            assert_eq!(global.acquisitions, n + vain);
            assert!(global.frames >= n);
            let (p, n) = (workers as f64, n as f64);
            let most = p * (1.0 + (n / p).max(1.0).ln()) + 2.0 * p;
            let taken = found(Policy::Representatives).acquisitions as f64;
            assert!(taken <= most, "{taken} for {n} activities on {p} workers, at most {most}");
        }
    }
}

/// The group of each activity, in the order in which the activities begin.
type Order = std::sync::Mutex<Vec<usize>>;

#[task]
async fn begins(order: &Order, group: usize) {
    order.lock().unwrap().push(group);
}

#[task]
async fn nests(order: &Order, k: usize) {
    order.lock().unwrap().push(0);
    parfor(0..6, move |_: usize| begins(order, k + 1)).await;
}

#[task]
async fn breadth_first(order: &Order) {
    parfor(0..2, |k| nests(order, k)).await;
}

/// "As activities are always generated from the oldest descriptor, the activity tree is executed in breadth-first
/// order" (maxi-parc-runtime, section 4.1). The activities are few enough that the worker does not check for frames
/// from outside in between.
#[test]
fn activities_begin_from_the_oldest_group() {
    for policy in [Policy::Global, Policy::Envelopes, Policy::Representatives] {
        let runtime = Runtime::builder().workers(1).policy(policy).build().unwrap();
        let order = Order::default();
        runtime.run(breadth_first(&order));
        let order = order.into_inner().unwrap();
        assert_eq!(order.len(), 2 + 2 * 6);
        assert!(order.is_sorted(), "{policy:?}: {order:?}");
        assert_eq!(runtime.close(), 0);
    }
}
