//! After `sync_mutex.rs`, `sync_mutex_owned.rs`, `sync_rwlock.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use finespun::RunError;
use finespun::prelude::*;
use tokio::sync::{Mutex, MutexGuard, RwLock, RwLockWriteGuard};

use super::{each_on_tasks, pause, poll_once};

#[task]
async fn add(mutex: Arc<Mutex<u64>>, times: u64) {
    for _ in 0..times {
        let mut guard = foreign(mutex.lock()).await;
        let before = *guard;
        yield_now().await;
        *guard = before + 1;
    }
}

#[task]
async fn add_borrowed(mutex: &Mutex<u64>, times: u64) -> u64 {
    for _ in 0..times {
        *foreign(mutex.lock()).await += 1;
    }
    times
}

#[task]
async fn read(lock: Arc<RwLock<u64>>, readers: Arc<AtomicU64>) -> u64 {
    let guard = foreign(lock.read()).await;
    readers.fetch_add(1, SeqCst);
    pause().await;
    readers.fetch_sub(1, SeqCst);
    *guard
}

#[task]
async fn write(lock: Arc<RwLock<u64>>, readers: Arc<AtomicU64>) {
    for _ in 0..5 {
        let mut guard = foreign(lock.write()).await;
        assert_eq!(readers.load(SeqCst), 0);
        let before = *guard;
        yield_now().await;
        assert_eq!(readers.load(SeqCst), 0);
        *guard = before + 1;
    }
}

#[task]
async fn panics_under_a_lock(mutex: Arc<Mutex<u64>>) {
    let mut guard = foreign(mutex.lock()).await;
    *guard += 1;
    yield_now().await;
    panic!("on purpose: under a lock");
}

#[task]
async fn waits_for_ever(mutex: Arc<Mutex<u64>>) {
    let _guard = foreign(mutex.lock()).await;
    let () = foreign(std::future::pending()).await;
}

each_on_tasks! {
    // straight_execution
    async fn one_after_the_other() {
        let mutex = Mutex::new(100);
        {
            let mut guard = foreign(mutex.lock()).await;
            assert_eq!(*guard, 100);
            *guard = 99;
        }
        {
            let guard = foreign(mutex.lock()).await;
            assert_eq!(*guard, 99);
            assert!(mutex.try_lock().is_err());
        }
        assert_eq!(*mutex.try_lock().unwrap(), 99);
        assert_eq!(mutex.into_inner(), 99);
    }

    // lock: held over other waits
    async fn a_guard_over_an_await_excludes_others() {
        let mutex = Arc::new(Mutex::new(0));
        let tasks: Vec<_> = (0..6).map(|_| spawn(add(Arc::clone(&mutex), 5))).collect();
        add(Arc::clone(&mutex), 5).await;
        for task in tasks {
            task.await;
        }
        let got = *foreign(mutex.lock()).await;
        assert_eq!(got, 35);
    }

    async fn a_lent_mutex_in_a_join() {
        let mutex = Mutex::new(0);
        let (a, b, c) = join!(add_borrowed(&mutex, 3), add_borrowed(&mutex, 4), add_borrowed(&mutex, 5));
        let got = *foreign(mutex.lock()).await;
        assert_eq!(a + b + c, got);
    }

    // readiness, aborted_future_1, aborted_future_2
    async fn a_wait_that_is_given_up_passes_the_lock_on() {
        let mutex = Mutex::new(0);
        let guard = foreign(mutex.lock()).await;
        let mut first = Box::pin(mutex.lock());
        let mut second = Box::pin(mutex.lock());
        let got = foreign(poll_once(&mut first)).await.is_none();
        assert!(got);
        let got = foreign(poll_once(&mut second)).await.is_none();
        assert!(got);
        drop(guard);
        let got = foreign(poll_once(&mut second)).await.is_none();
        assert!(got);
        drop(first);
        *foreign(second).await += 1;
        let got = *foreign(mutex.lock()).await;
        assert_eq!(got, 1);
    }

    // the wait queue is fair
    async fn the_lock_is_granted_in_order() {
        let mutex = Arc::new(Mutex::new(()));
        let guard = foreign(Arc::clone(&mutex).lock_owned()).await;
        let mut waiting: Vec<_> = (0..5).map(|_| Box::pin(Arc::clone(&mutex).lock_owned())).collect();
        for wait in &mut waiting {
            let got = foreign(poll_once(wait)).await.is_none();
            assert!(got);
        }
        drop(guard);
        for k in 0..5 {
            if k < 4 {
                let got = foreign(poll_once(&mut waiting[k + 1])).await.is_none();
                assert!(got, "waiter {} comes before waiter {k}", k + 1);
            }
            let guard = foreign(poll_once(&mut waiting[k])).await;
            assert!(guard.is_some(), "waiter {k} has its turn");
        }
    }

    // guards mapped to parts, and tested
    async fn mapped_guards_hold_the_lock() {
        let mutex = Mutex::new((1, String::from("a")));
        {
            let mut part = MutexGuard::map(foreign(mutex.lock()).await, |pair| &mut pair.1);
            yield_now().await;
            part.push('b');
            assert!(mutex.try_lock().is_err());
        }
        let lock = RwLock::new((1, 2));
        {
            let mut part = RwLockWriteGuard::map(foreign(lock.write()).await, |pair| &mut pair.0);
            *part += 5;
            let read = part.len_of_two();
            assert!(lock.try_read().is_err() && read == 2);
        }
        let guard = foreign(lock.write()).await;
        let read = guard.downgrade();
        yield_now().await;
        let got = *foreign(lock.read()).await;
        assert_eq!(got, *read);
        let pair = foreign(mutex.lock()).await;
        assert_eq!(pair.1, "ab");
    }

    // read_shared, write_shared_pending, write_order, multithreaded
    async fn readers_share_and_writers_exclude() {
        let lock = Arc::new(RwLock::new(0));
        let readers = Arc::new(AtomicU64::new(0));
        let writers: Vec<_> = (0..3).map(|_| spawn(write(Arc::clone(&lock), Arc::clone(&readers)))).collect();
        let reading: Vec<_> = (0..6).map(|_| spawn(read(Arc::clone(&lock), Arc::clone(&readers)))).collect();
        for task in writers {
            task.await;
        }
        for task in reading {
            let got = task.await <= 15;
            assert!(got);
        }
        let got = read(Arc::clone(&lock), readers).await;
        assert_eq!(got, 15);
        let first = foreign(lock.read()).await;
        let second = foreign(lock.read()).await;
        assert!(lock.try_write().is_err());
        assert_eq!(*first + *second, 30);
    }

    // exhaust_reading, write_read_shared_pending
    async fn a_waiting_writer_goes_before_later_readers() {
        let lock = RwLock::new(1);
        let first = foreign(lock.read()).await;
        let mut write = Box::pin(lock.write());
        let got = foreign(poll_once(&mut write)).await.is_none();
        assert!(got);
        let mut late = Box::pin(lock.read());
        let got = foreign(poll_once(&mut late)).await.is_none();
        assert!(got);
        assert!(lock.try_read().is_err());
        drop(first);
        *foreign(write).await += 1;
        let got = *foreign(late).await;
        assert_eq!(got, 2);
    }

    async fn a_limited_number_of_readers() {
        let lock = RwLock::with_max_readers(1, 2);
        let first = foreign(lock.read()).await;
        let second = foreign(lock.read()).await;
        let mut third = Box::pin(lock.read());
        let got = foreign(poll_once(&mut third)).await.is_none();
        assert!(got);
        drop(first);
        let got = *foreign(third).await + *second;
        assert_eq!(got, 2);
    }
}

trait Two {
    fn len_of_two(&self) -> u64;
}

impl Two for u64 {
    fn len_of_two(&self) -> u64 {
        2
    }
}

impl Two for i32 {
    fn len_of_two(&self) -> u64 {
        2
    }
}

/// A lock is free after the task that held it has panicked or has been cancelled.
#[test]
fn panics_and_cancellation_release_locks() {
    super::on_tasks(|runtime| {
        let mutex = Arc::new(Mutex::new(0));
        let failed = runtime.try_run(panics_under_a_lock(Arc::clone(&mutex)));
        assert!(matches!(failed, Err(RunError::Panicked(_))));
        assert_eq!(*mutex.try_lock().unwrap(), 1);
        let run = runtime.spawn(waits_for_ever(Arc::clone(&mutex)));
        while mutex.try_lock().is_ok() {
            std::thread::yield_now();
        }
        drop(run);
        while mutex.try_lock().is_err() {
            std::thread::yield_now();
        }
        runtime.run(add(mutex, 2));
    });
}
