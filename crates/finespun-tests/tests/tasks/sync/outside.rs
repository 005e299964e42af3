//! Plain threads, std futures, and several runtimes.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::thread;
use std::time::Duration;

use super::block_on;
use crate::common::{everywhere, within_a_minute};
use finespun::prelude::*;
use finespun::sync::{Barrier, Mutex, Notify, RwLock, Semaphore, mpsc, oneshot, watch};
use finespun::testing::*;

/// Longer than the delay before a wait for a channel is reported.
const LONG: Duration = Duration::from_millis(1500);

#[task]
async fn square(mut from: mpsc::Receiver<u64>, to: mpsc::Sender<u64>) {
    while let Some(n) = from.recv().await {
        if to.send(n * n).await.is_err() {
            return;
        }
    }
}

#[test]
fn a_thread_sends_and_another_receives() {
    within_a_minute(|| {
        everywhere(|runtime| {
            let ((to, from), (answers, mut answered)) = (mpsc::channel(2), mpsc::channel(2));
            let run = runtime.spawn(square(from, answers));
            thread::scope(|threads| {
                threads.spawn(move || (0..50).for_each(|n| to.blocking_send(n).unwrap()));
                for n in 0..50 {
                    assert_eq!(answered.blocking_recv(), Some(n * n));
                }
                assert_eq!(answered.blocking_recv(), None);
            });
            block_on(run);
        });
    });
}

#[test]
fn std_futures_send_and_receive() {
    within_a_minute(|| {
        everywhere(|runtime| {
            let ((to, from), (answers, mut answered)) = (mpsc::channel(1), mpsc::channel(1));
            let run = runtime.spawn(square(from, answers));
            thread::scope(|threads| {
                threads.spawn(move || {
                    block_on(async move {
                        for n in 0..50 {
                            to.send(n).await.unwrap();
                        }
                    });
                });
                block_on(async {
                    for n in 0..50 {
                        assert_eq!(answered.recv().await, Some(n * n));
                    }
                    assert_eq!(answered.recv().await, None);
                    run.await;
                });
            });
        });
    });
}

/// Futures of the primitives may move between threads, as tokio's executor demands.
#[test]
fn futures_are_send() {
    fn send<F: Future + Send>(_: F) {}
    let (to, mut from) = mpsc::channel::<u64>(1);
    let (mutex, lock, notify) = (Mutex::new(0), RwLock::new(0), Notify::new());
    let (once, answer) = oneshot::channel::<u64>();
    send(async {
        to.send(1).await.unwrap();
        from.recv().await.unwrap();
        *mutex.lock().await += *lock.read().await;
        let mut guard = lock.write().await;
        notify.notified().await;
        *guard += answer.await.unwrap();
    });
    drop(once);
}

/// A std future inside a task uses the primitives as std futures.
#[task]
async fn in_foreign(to: mpsc::Sender<u64>, mut from: mpsc::Receiver<u64>, lock: &Mutex<u64>) -> u64 {
    let sum = foreign(async {
        let mut sum = 0;
        while let Some(n) = from.recv().await {
            sum += n;
            *lock.lock().await += 1;
        }
        sum
    });
    let (sum, ()) = join!(sum, send_some(to, lock));
    sum
}

#[task]
async fn send_some(to: mpsc::Sender<u64>, lock: &Mutex<u64>) {
    for n in 0..20 {
        to.send(n).await.unwrap();
        *lock.lock().await += 1;
    }
}

#[test]
fn a_std_future_inside_a_task_uses_them() {
    within_a_minute(|| {
        everywhere(|runtime| {
            let ((to, from), lock) = (mpsc::channel(3), Mutex::new(0));
            assert_eq!(runtime.run(in_foreign(to, from, &lock)), 190);
            assert_eq!(lock.into_inner(), 40);
        });
    });
}

#[task]
async fn add_often(lock: Arc<Mutex<u64>>, table: Arc<RwLock<u64>>, times: u64) {
    for _ in 0..times {
        *lock.lock().await += 1;
        *table.write().await += 1;
        assert!(*table.read().await > 0);
    }
}

#[test]
fn tasks_of_two_runtimes_threads_and_futures_share_locks() {
    within_a_minute(|| {
        for (workers, n) in [(1, 0), (2, 0), (1, 1), (2, 3)] {
            let runtimes = [(); 2].map(|()| Runtime::builder().workers(workers).block_every(n).build().unwrap());
            let (lock, table) = (Arc::new(Mutex::new(0)), Arc::new(RwLock::new(0)));
            let runs = runtimes.each_ref().map(|a| a.spawn(add_often(lock.clone(), table.clone(), 200)));
            thread::scope(|threads| {
                threads.spawn(|| {
                    for _ in 0..200 {
                        *lock.blocking_lock() += 1;
                        *table.blocking_write() += 1;
                        assert!(*table.blocking_read() > 0);
                    }
                });
                block_on(async {
                    for _ in 0..200 {
                        *lock.lock().await += 1;
                        *table.write().await += 1;
                    }
                });
            });
            runs.into_iter().for_each(block_on);
            assert_eq!((*lock.try_lock().unwrap(), *table.try_read().unwrap()), (800, 800));
            for runtime in runtimes {
                assert_eq!(runtime.close(), 0);
            }
        }
    });
}

#[task]
async fn receive_one(mut from: mpsc::Receiver<u64>) -> Option<u64> {
    from.recv().await
}

#[task]
async fn await_answer(from: oneshot::Receiver<u64>) -> u64 {
    from.await.unwrap()
}

#[task]
async fn ask_a_thread() -> u64 {
    let (to, from) = oneshot::channel();
    let to = to.external();
    thread::spawn(move || {
        thread::sleep(LONG);
        to.send(5).unwrap();
    });
    from.await.unwrap()
}

#[test]
fn an_end_outside_the_tasks_is_waited_for() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        let ((to, from), (once, answer), full) = (mpsc::channel(1), oneshot::channel(), mpsc::channel(1));
        let first = runtime.spawn(receive_one(from));
        let second = runtime.spawn(await_answer(answer));
        let third = runtime.spawn(ask_a_thread());
        full.0.try_send(1).unwrap();
        let fourth = runtime.spawn(send_two(full.0));
        let mut receiver = full.1;
        thread::sleep(LONG);
        to.try_send(3).unwrap();
        once.send(4).unwrap();
        assert_eq!((receiver.try_recv(), receiver.blocking_recv()), (Ok(1), Some(2)));
        assert_eq!(block_on(first), Some(3));
        assert_eq!((block_on(second), block_on(third)), (4, 5));
        assert!(block_on(fourth));
    });
}

#[task]
async fn send_two(to: mpsc::Sender<u64>) -> bool {
    to.send(2).await.is_ok()
}

#[task]
async fn meet(barrier: Arc<Barrier>) -> bool {
    barrier.wait().await.is_leader()
}

#[test]
fn tasks_threads_and_futures_meet() {
    within_a_minute(|| {
        for n in [0, 1, 2] {
            let runtime = Runtime::builder().workers(2).block_every(n).build().unwrap();
            for _ in 0..50 {
                let barrier = Arc::new(Barrier::new(3));
                let run = runtime.spawn(meet(Arc::clone(&barrier)));
                thread::scope(|threads| {
                    let other = threads.spawn(|| barrier.blocking_wait().is_leader());
                    let own = block_on(barrier.wait().into_future()).is_leader();
                    let leaders = [own, other.join().unwrap(), block_on(run)];
                    assert_eq!(leaders.into_iter().filter(|&leader| leader).count(), 1);
                });
            }
        }
    });
}

#[task]
async fn count_changes(mut level: watch::Receiver<u64>) -> u64 {
    while level.changed().await.is_ok() {}
    *level.borrow()
}

#[test]
fn a_thread_changes_a_watched_value() {
    within_a_minute(|| {
        everywhere(|runtime| {
            let (to, from) = watch::channel(0);
            let run = runtime.spawn(count_changes(from.clone()));
            thread::scope(|threads| {
                let mut other = from;
                threads.spawn(move || (1..=100).for_each(|n| _ = to.send_replace(n)));
                block_on(async {
                    while other.changed().await.is_ok() {}
                    assert_eq!(*other.borrow(), 100);
                });
            });
            assert_eq!(block_on(run), 100);
        });
    });
}

#[task]
async fn block_a_worker(semaphore: &Semaphore) {
    drop(semaphore.blocking_acquire());
}

#[task]
async fn block_elsewhere(semaphore: &Semaphore) {
    blocking(|| drop(semaphore.blocking_acquire())).await;
}

#[test]
fn a_blocking_call_inside_a_task_panics() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let semaphore = Semaphore::new(1);
    let panic = std::panic::catch_unwind(AssertUnwindSafe(|| runtime.run(block_a_worker(&semaphore)))).unwrap_err();
    let message = panic.downcast_ref::<&str>().copied().map(str::to_owned).or(panic.downcast_ref::<String>().cloned());
    assert!(message.unwrap().contains("a blocking call was made inside a task"));
    runtime.run(block_elsewhere(&semaphore));
    assert_eq!(semaphore.available(), 1);
}

#[task]
async fn count_up(to: mpsc::UnboundedSender<u64>, count: u64) {
    for n in 0..count {
        to.send(n).unwrap();
    }
}

#[test]
fn runtimes_send_to_each_other() {
    within_a_minute(|| {
        for (workers, n) in [(1, 0), (2, 0), (1, 1), (2, 3)] {
            let [a, b] = [(); 2].map(|()| Runtime::builder().workers(workers).block_every(n).build().unwrap());
            let ((to, from), (answers, answered)) = (mpsc::channel(1), mpsc::channel(1));
            let (count, counted) = mpsc::unbounded_channel();
            let runs = (b.spawn(square(from, answers)), a.spawn(relay(counted, to)), a.spawn(count_up(count, 100)));
            assert_eq!(a.run(add_up(answered)), (0..100).map(|n| n * n).sum());
            drop(runs);
        }
    });
}

#[task]
async fn relay(mut from: mpsc::UnboundedReceiver<u64>, to: mpsc::Sender<u64>) {
    while let Some(n) = from.recv().await {
        to.send(n).await.unwrap();
    }
}

#[task]
async fn add_up(mut from: mpsc::Receiver<u64>) -> u64 {
    let mut sum = 0;
    while let Some(n) = from.recv().await {
        sum += n;
    }
    sum
}
