//! Counting futures: a task that waits for a set of tasks restarts once, however large the set is.

use crate::common::everywhere;
use finespun::prelude::*;

#[task]
async fn later(n: u64) -> u64 {
    yield_now().await;
    n
}

fn start(n: u64) -> Vec<Handle<'static, u64>> {
    (0..n).map(|k| spawn(later(k))).collect()
}

#[task]
async fn in_order(n: u64) -> u64 {
    join_all(start(n)).await.into_iter().sum()
}

#[task]
async fn reduced(n: u64) -> u64 {
    reduce(start(n), 0, |a, b| a + b).await
}

#[task]
async fn in_a_scope(n: u64) -> u64 {
    scope(|s| start_in(s, n)).await
}

#[task]
async fn start_in<'s>(s: Scope<'s>, n: u64) -> u64 {
    for k in 0..n {
        drop(s.spawn(later(k)));
    }
    sum(n)
}

#[task]
async fn joined() -> u64 {
    let (a, b, c, d) = (spawn(later(1)), spawn(later(2)), spawn(later(3)), spawn(later(4)));
    let (a, b, c, d) = join!(a, b, c, d);
    a + b + c + d
}

/// Spawns tasks that no task waits for: they end while the root yields.
#[task]
async fn alone(n: u64) -> u64 {
    drop(start(n));
    for _ in 0..3 {
        yield_now().await;
    }
    sum(n)
}

fn sum(n: u64) -> u64 {
    n * n.saturating_sub(1) / 2
}

/// Returns how often a frame is resumed for `task(n)`. With one worker the number is the same every time.
fn restarts<Tk: Task<Output = u64> + Send>(task: impl Fn(u64) -> Tk, n: u64) -> u64 {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    assert_eq!(runtime.run(task(n)), sum(n));
    runtime.stats().resumptions
}

#[test]
fn a_set_restarts_its_waiter_once() {
    fn check<Tk: Task<Output = u64> + Send>(form: &str, task: impl Fn(u64) -> Tk) {
        let per_task = restarts(alone, 2) - restarts(alone, 1);
        for n in [2, 10, 1000] {
            // The additional resumptions belong to the additional tasks: the waiter restarts as often as for one task.
            let more = restarts(&task, n) - restarts(&task, 1);
            assert_eq!(more, (n - 1) * per_task, "{form} of {n} tasks");
        }
    }
    check("join_all", in_order);
    check("reduce", reduced);
    check("scope", in_a_scope);
}

#[test]
fn sets_wait_for_all() {
    everywhere(|runtime| {
        for n in [0, 1, 100] {
            assert_eq!(runtime.run(in_order(n)), sum(n));
            assert_eq!(runtime.run(reduced(n)), sum(n));
            assert_eq!(runtime.run(in_a_scope(n)), sum(n));
        }
        assert_eq!(runtime.run(joined()), 10);
    });
}
