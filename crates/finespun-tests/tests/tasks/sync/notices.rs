//! Notifications, barriers, and cells that are set once.

use std::sync::Arc;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::common::{everywhere, fib, within_a_minute};
use finespun::RunError;
use finespun::prelude::*;
use finespun::sync::{Barrier, Notify, OnceCell, Semaphore, SetError};
use finespun::tasks::outside;

#[task]
async fn wait(notify: &Notify, woken: &AtomicU64) {
    notify.notified().await;
    woken.fetch_add(1, Ordering::SeqCst);
}

/// Notifies until all have been woken. A notification without a waiter is stored, so no more than one is lost for each.
#[task]
async fn notify_each(notify: &Notify, woken: &AtomicU64, count: u64) -> u64 {
    let mut sent = 0;
    while woken.load(Ordering::SeqCst) < count {
        let before = woken.load(Ordering::SeqCst);
        notify.notify_one();
        sent += 1;
        while woken.load(Ordering::SeqCst) == before && before < count {
            yield_now().await;
        }
    }
    sent
}

#[task]
async fn one_by_one(notify: &Notify, woken: &AtomicU64) -> u64 {
    let (_, sent) = join!(join_all((0..20).map(|_| wait(notify, woken))), notify_each(notify, woken, 20));
    sent
}

#[test]
fn each_notification_wakes_one_task() {
    within_a_minute(|| {
        everywhere(|runtime| assert_eq!(runtime.run(one_by_one(&Notify::new(), &AtomicU64::new(0))), 20));
    });
}

#[task]
async fn stored(notify: &Notify) {
    notify.notify_one();
    notify.notify_one();
    notify.notified().await;
    // `notify_waiters` ends a wait that has been requested, and stores nothing.
    let requested = notify.notified();
    notify.notify_waiters();
    requested.await;
    let ((), ()) = join!(notify.notified(), notify_later(notify));
}

#[task]
async fn notify_later(notify: &Notify) {
    for _ in 0..3 {
        yield_now().await;
    }
    notify.notify_one();
}

#[test]
fn a_notification_before_the_wait_is_stored_once() {
    within_a_minute(|| {
        everywhere(|runtime| {
            let notify = Notify::new();
            runtime.run(stored(&notify));
        });
    });
}

#[task]
async fn wake_all(notify: &Notify, woken: &AtomicU64, count: u64) {
    while woken.load(Ordering::SeqCst) < count {
        notify.notify_waiters();
        yield_now().await;
    }
}

#[task]
async fn all_at_once(notify: &Notify, woken: &AtomicU64) {
    join!(join_all((0..20).map(|_| wait(notify, woken))), wake_all(notify, woken, 20));
}

#[test]
fn all_waiters_are_woken_together() {
    within_a_minute(|| {
        everywhere(|runtime| {
            let woken = AtomicU64::new(0);
            runtime.run(all_at_once(&Notify::new(), &woken));
            assert_eq!(woken.into_inner(), 20);
        });
    });
}

#[task]
async fn meet(barrier: &Barrier, arrived: &AtomicU64, n: u64, rounds: u64) -> u64 {
    let mut leader = 0;
    for round in 1..=rounds {
        arrived.fetch_add(1, Ordering::SeqCst);
        leader += u64::from(barrier.wait().await.is_leader());
        let now = arrived.load(Ordering::SeqCst);
        assert!(now >= round * n && now <= (round + 1) * n, "{now} in round {round}");
    }
    leader
}

#[task]
async fn meetings(n: u64, rounds: u64) -> u64 {
    let (barrier, arrived) = (Barrier::new(n as usize), AtomicU64::new(0));
    reduce((0..n).map(|_| meet(&barrier, &arrived, n, rounds)), 0, |a, b| a + b).await
}

#[test]
fn a_barrier_opens_for_all_and_has_one_leader() {
    within_a_minute(|| {
        everywhere(|runtime| {
            for n in [1, 2, 7, 30] {
                assert_eq!(runtime.run(meetings(n, 10)), 10);
            }
        });
    });
}

#[task]
async fn compute(calls: &AtomicU64, n: u64) -> u64 {
    calls.fetch_add(1, Ordering::SeqCst);
    yield_now().await;
    fib(n).await
}

#[task]
async fn look_up(cell: &OnceCell<u64>, calls: &AtomicU64) -> u64 {
    *cell.get_or_init(|| compute(calls, 10)).await
}

#[task]
async fn many_look_up(cell: &OnceCell<u64>, calls: &AtomicU64) -> u64 {
    reduce((0..30).map(|_| look_up(cell, calls)), 0, |a, b| a + b).await
}

#[test]
fn a_cell_is_initialised_once() {
    within_a_minute(|| {
        everywhere(|runtime| {
            let (cell, calls) = (OnceCell::new(), AtomicU64::new(0));
            assert_eq!(runtime.run(many_look_up(&cell, &calls)), 30 * 55);
            assert_eq!((cell.get(), calls.into_inner()), (Some(&55), 1));
        });
    });
}

#[task]
async fn fail(calls: &AtomicU64, times: u64) -> Result<u64, u64> {
    let call = calls.fetch_add(1, Ordering::SeqCst);
    yield_now().await;
    if call < times { Err(call) } else { Ok(call) }
}

#[task]
async fn try_look_up(cell: &OnceCell<u64>, calls: &AtomicU64) -> Result<u64, u64> {
    cell.get_or_try_init(|| fail(calls, 3)).await.copied()
}

#[task]
async fn many_try(cell: &OnceCell<u64>, calls: &AtomicU64) -> Vec<Result<u64, u64>> {
    join_all((0..10).map(|_| try_look_up(cell, calls))).await
}

#[test]
fn after_an_error_the_next_task_initialises() {
    within_a_minute(|| {
        everywhere(|runtime| {
            let (cell, calls) = (OnceCell::new(), AtomicU64::new(0));
            let mut found = runtime.run(many_try(&cell, &calls));
            found.sort_unstable();
            let expected: Vec<_> = [Ok(3); 7].into_iter().chain([Err(0), Err(1), Err(2)]).collect();
            assert_eq!(found, expected);
        });
    });
}

#[task]
async fn fall_over(calls: &AtomicU64) -> u64 {
    yield_now().await;
    assert!(calls.fetch_add(1, Ordering::SeqCst) > 0, "the first initialiser panics");
    8
}

#[task]
async fn look_up_or_panic(cell: Arc<OnceCell<u64>>, calls: Arc<AtomicU64>) -> u64 {
    *cell.get_or_init(|| fall_over(&calls)).await
}

#[test]
fn after_a_panic_the_next_task_initialises() {
    within_a_minute(|| {
        everywhere(|runtime| {
            let (cell, calls) = (Arc::new(OnceCell::new()), Arc::new(AtomicU64::new(0)));
            let look_up = || look_up_or_panic(Arc::clone(&cell), Arc::clone(&calls));
            assert!(matches!(runtime.try_run(look_up()), Err(RunError::Panicked(_))));
            assert!(!cell.initialized());
            assert_eq!(runtime.run(look_up()), 8);
            assert_eq!(cell.set(9), Err(SetError::AlreadyInitializedError(9)));
        });
    });
}

/// Notifies the test that it has begun, and never ends.
#[task]
async fn never(begun: Arc<Mutex<bool>>) -> u64 {
    *begun.lock().unwrap() = true;
    let _outside = outside();
    Semaphore::new(0).acquire().await.forget();
    0
}

#[task]
async fn look_up_for_ever(cell: Arc<OnceCell<u64>>, begun: Arc<Mutex<bool>>) {
    cell.get_or_init(|| never(begun)).await;
}

#[task]
async fn look_up_next(cell: Arc<OnceCell<u64>>) -> u64 {
    *cell.get_or_init(|| fib(6)).await
}

#[test]
fn after_a_cancelled_initialiser_the_next_task_initialises() {
    within_a_minute(|| {
        for workers in [1, 2] {
            let runtime = Runtime::builder().workers(workers).build().unwrap();
            let (cell, begun) = (Arc::new(OnceCell::new()), Arc::new(Mutex::new(false)));
            let first = runtime.spawn(look_up_for_ever(Arc::clone(&cell), Arc::clone(&begun)));
            while !*begun.lock().unwrap() {
                std::thread::yield_now();
            }
            assert_eq!(cell.set(3), Err(SetError::InitializingError(3)));
            let next = runtime.spawn(look_up_next(Arc::clone(&cell)));
            drop(first);
            assert_eq!(super::block_on(next), 8);
        }
    });
}
