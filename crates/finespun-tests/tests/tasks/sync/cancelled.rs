//! Waits that are cancelled: with a terminated group, a cancelled run, or a dropped future.

use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::Poll;

use super::{block_on, poll_once};
use crate::common::{everywhere, within_a_minute};
use finespun::prelude::*;
use finespun::sync::{Barrier, Mutex, Notify, RwLock, Semaphore, mpsc, oneshot, watch};
use finespun::tasks::outside;
use finespun::testing::*;

/// The first activity receives until it is cancelled; the second sends some messages and ends the group.
#[task]
async fn receive_or_end(
    from: &Mutex<mpsc::Receiver<u64>>,
    to: &mpsc::Sender<u64>,
    received: &AtomicU64,
    k: u64,
    count: u64,
) -> ControlFlow<()> {
    if k == 0 {
        let mut from = from.lock().await;
        while let Some(n) = from.recv().await {
            received.fetch_add(n, Ordering::Relaxed);
        }
    }
    for n in 0..count {
        to.send(n + 1).await.unwrap();
        if n % 3 == 2 {
            yield_now().await;
        }
    }
    Break(())
}

#[task]
async fn cancelled_receivers(rounds: u64) {
    for round in 0..rounds {
        let (to, from) = mpsc::channel(100);
        let (from, received) = (Mutex::new(from), AtomicU64::new(0));
        let count = round % 7;
        let ended = parfor(0..2, |k| receive_or_end(&from, &to, &received, k, count)).await;
        assert_eq!(ended, Break(()));
        let mut from = from.into_inner();
        let mut sum = received.into_inner();
        drop(to);
        while let Some(n) = from.recv().await {
            sum += n;
        }
        assert_eq!(sum, count * (count + 1) / 2, "no message is lost");
    }
}

#[test]
fn a_cancelled_receiver_loses_no_message() {
    within_a_minute(|| everywhere(|runtime| runtime.run(cancelled_receivers(50))));
}

/// A receiver whose message has been delivered to a join that still waits, when the group ends.
#[task]
async fn receive_in_a_join(
    from: &Mutex<mpsc::Receiver<u64>>,
    begun: &Semaphore,
    sent: &Semaphore,
    k: u64,
) -> ControlFlow<()> {
    if k == 1 {
        sent.acquire().await.forget();
        for _ in 0..4 {
            yield_now().await;
        }
        return Break(());
    }
    let mut from = from.lock().await;
    begun.release(1);
    let never = Semaphore::new(0);
    let (_, permit) = join!(from.recv(), never.acquire());
    permit.forget();
    Continue(())
}

#[task]
async fn send_later(to: &mpsc::Sender<u64>, begun: &Semaphore, sent: &Semaphore) {
    begun.acquire().await.forget();
    to.send(7).await.unwrap();
    sent.release(1);
}

#[task]
async fn delivered_to_nobody() -> Option<u64> {
    let (to, from) = mpsc::channel(1);
    let (from, begun, sent) = (Mutex::new(from), Semaphore::new(0), Semaphore::new(0));
    let (_, ()) = join!(parfor(0..2, |k| receive_in_a_join(&from, &begun, &sent, k)), send_later(&to, &begun, &sent));
    from.lock().await.recv().await
}

#[test]
fn a_message_that_no_task_has_taken_goes_back() {
    within_a_minute(|| {
        // With one worker, the message has reached the join's slot when the group ends.
        for n in [0, 1, 2, 3] {
            let runtime = Runtime::builder().workers(1).block_every(n).build().unwrap();
            assert_eq!(runtime.run(delivered_to_nobody()), Some(7));
            assert_eq!(runtime.close(), 0);
        }
    });
}

struct World {
    lock: RwLock<u64>,
    mutex: Mutex<u64>,
    two: Semaphore,
    notify: Notify,
    barrier: Barrier,
    to: mpsc::Sender<u64>,
}

/// Waits in any of many ways, or ends the group.
#[task]
async fn wait_or_end(world: &World, k: u64, at: u64) -> ControlFlow<()> {
    match k % 7 {
        _ if k == at => {
            yield_now().await;
            return Break(());
        }
        0 => *world.lock.write().await += 1,
        1 => {
            let _guard = world.lock.read().await;
            yield_now().await;
        }
        2 => *world.mutex.lock().await += 1,
        3 => {
            let _permits = world.two.acquire_many(2).await;
            yield_now().await;
        }
        4 => world.notify.notified().await,
        5 => assert!(!world.barrier.wait().await.is_leader()),
        _ => world.to.send(k).await.unwrap(),
    }
    Continue(())
}

#[task]
async fn ended(world: &World, from: &mut mpsc::Receiver<u64>, n: u64, at: u64) {
    let guards = (world.mutex.lock().await, world.two.acquire().await);
    let ended = parfor(0..n, |k| wait_or_end(world, k, at)).await;
    assert_eq!(ended, Break(()));
    drop(guards);
    // No wait of the group is left, and everything has been given back.
    assert!(world.lock.try_write().is_some() && world.mutex.try_lock().is_some());
    assert_eq!(world.two.available(), 2);
    let mut sent = 0;
    while from.try_recv().is_ok() {
        sent += 1;
    }
    assert!(sent <= 2 && world.to.capacity() == 2, "{sent} sent, room for {}", world.to.capacity());
    // A notification finds none of the group's waiters.
    world.notify.notify_one();
    world.notify.notified().await;
}

#[test]
fn cancelled_waits_give_back_what_they_got() {
    within_a_minute(|| {
        everywhere(|runtime| {
            for at in [6, 20, 29] {
                let (to, mut from) = mpsc::channel(2);
                let world = World {
                    lock: RwLock::new(0),
                    mutex: Mutex::new(0),
                    two: Semaphore::new(2),
                    notify: Notify::new(),
                    barrier: Barrier::new(100),
                    to,
                };
                runtime.run(ended(&world, &mut from, 30, at));
            }
        });
    });
}

/// Waits for a notification and passes it on, unless it is cancelled.
#[task]
async fn notified_or_end(notify: &Notify, count: &AtomicU64, k: u64) -> ControlFlow<()> {
    if k == 0 {
        notify.notified().await;
        count.fetch_add(1, Ordering::Relaxed);
        return Continue(());
    }
    notify.notify_one();
    Break(())
}

/// The notification goes to a cancelled wait or to a finished one: in the first case it is stored for the next.
#[task]
async fn notification_is_kept(rounds: u64) {
    for _ in 0..rounds {
        let (notify, count) = (Notify::new(), AtomicU64::new(0));
        let ended = parfor(0..2, |k| notified_or_end(&notify, &count, k)).await;
        assert_eq!(ended, Break(()));
        if count.into_inner() == 0 {
            notify.notified().await;
        }
    }
}

#[test]
fn a_cancelled_wait_passes_its_notification_on() {
    within_a_minute(|| everywhere(|runtime| runtime.run(notification_is_kept(50))));
}

#[test]
fn a_dropped_future_passes_its_grant_on() {
    let mutex = Mutex::new(1);
    let guard = mutex.try_lock().unwrap();
    let (mut first, mut second) = (mutex.lock().into_future(), mutex.lock().into_future());
    assert!(poll_once(&mut first).is_pending() && poll_once(&mut second).is_pending());
    drop(guard);
    // The first has been granted, and has not been polled.
    assert!(mutex.try_lock().is_none());
    drop(first);
    assert!(poll_once(&mut second).is_ready());
    drop(second);
    assert!(mutex.try_lock().is_some());

    let notify = Notify::new();
    let (mut first, mut second) = (notify.notified().into_future(), notify.notified().into_future());
    assert!(poll_once(&mut first).is_pending() && poll_once(&mut second).is_pending());
    notify.notify_one();
    drop(first);
    assert_eq!(poll_once(&mut second), Poll::Ready(()));

    let (to, mut from) = mpsc::channel(1);
    to.try_send(1).unwrap();
    let (mut first, mut second) = (to.send(2).into_future(), to.send(3).into_future());
    assert!(poll_once(&mut first).is_pending() && poll_once(&mut second).is_pending());
    assert_eq!(from.try_recv(), Ok(1));
    assert!(to.try_send(4).is_err(), "the slot is the first waiter's");
    drop(first);
    assert_eq!(poll_once(&mut second), Poll::Ready(Ok(())));
    drop(second);
    assert_eq!(from.try_recv(), Ok(3));

    let mut receiving = from.recv().into_future();
    assert!(poll_once(&mut receiving).is_pending());
    to.try_send(5).unwrap();
    drop(receiving);
    assert_eq!(from.try_recv(), Ok(5), "the message is still there");

    let barrier = Barrier::new(2);
    let mut first = barrier.wait().into_future();
    assert!(poll_once(&mut first).is_pending());
    drop(first);
    let (mut first, mut second) = (barrier.wait().into_future(), barrier.wait().into_future());
    assert!(poll_once(&mut first).is_pending(), "the dropped wait does not count");
    assert!(poll_once(&mut second).is_ready() && poll_once(&mut first).is_ready());
}

#[task]
async fn hold(mutex: Arc<Mutex<u64>>) {
    let _guard = mutex.lock().await;
    let _outside = outside();
    Semaphore::new(0).acquire().await.forget();
}

#[task]
async fn add(mutex: Arc<Mutex<u64>>) -> u64 {
    let mut guard = mutex.lock().await;
    *guard += 1;
    *guard
}

#[test]
fn a_cancelled_run_unlocks_for_other_runs_and_futures() {
    within_a_minute(|| {
        for workers in [1, 2, 3] {
            let runtime = Runtime::builder().workers(workers).build().unwrap();
            let mutex = Arc::new(Mutex::new(0));
            let holder = runtime.spawn(hold(mutex.clone()));
            while mutex.try_lock().is_some() {
                std::thread::yield_now();
            }
            let waiting = runtime.spawn(add(mutex.clone()));
            let next = runtime.spawn(add(mutex.clone()));
            drop((waiting, holder));
            assert!(matches!(block_on(next), 1 | 2));
            block_on(async { *mutex.lock().await += 1 });
        }
    });
}

#[test]
fn cancelled_waits_take_no_memory_for_long() {
    let (to, from) = watch::channel(0);
    let (mut once, _receiver) = oneshot::channel::<()>();
    for _ in 0..1000 {
        let mut closed = to.closed().into_future();
        assert!(poll_once(&mut closed).is_pending());
        let mut closed = once.closed().into_future();
        assert!(poll_once(&mut closed).is_pending());
    }
    let mut closed = to.closed().into_future();
    assert!(poll_once(&mut closed).is_pending());
    drop(from);
    assert!(poll_once(&mut closed).is_ready());
}
