//! After `sync_semaphore.rs`, `sync_semaphore_owned.rs`, `sync_once_cell.rs`, `sync_set_once.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use finespun::prelude::*;
use finespun::testing::*;
use tokio::sync::{OnceCell, OwnedSemaphorePermit, Semaphore, SetOnce};

use super::{each_on_tasks, pause, poll_once};

#[task]
async fn limited(semaphore: Arc<Semaphore>, inside: Arc<AtomicU64>, most: u64) -> u64 {
    let _permit = foreign(semaphore.acquire()).await.unwrap();
    let now = inside.fetch_add(1, SeqCst) + 1;
    assert!(now <= most);
    pause().await;
    inside.fetch_sub(1, SeqCst);
    now
}

#[task]
async fn acquire_owned(semaphore: Arc<Semaphore>, n: u32) -> Option<OwnedSemaphorePermit> {
    foreign(semaphore.acquire_many_owned(n)).await.ok()
}

#[task]
async fn init(cell: Arc<OnceCell<u64>>, calls: Arc<AtomicU64>, n: u64) -> u64 {
    *foreign(cell.get_or_init(|| async move {
        calls.fetch_add(1, SeqCst);
        n
    }))
    .await
}

#[task]
async fn wait_set(once: Arc<SetOnce<u64>>) -> u64 {
    *foreign(once.wait()).await
}

each_on_tasks! {
    // acquire, try_acquire, stress_test
    async fn permits_bound_how_many_are_inside() {
        let semaphore = Arc::new(Semaphore::new(3));
        let inside = Arc::new(AtomicU64::new(0));
        let tasks: Vec<_> = (0..12).map(|_| spawn(limited(Arc::clone(&semaphore), Arc::clone(&inside), 3))).collect();
        for task in tasks {
            task.await;
        }
        assert_eq!(semaphore.available_permits(), 3);
        let a = semaphore.try_acquire().unwrap();
        let b = foreign(semaphore.acquire_many(2)).await.unwrap();
        assert!(semaphore.try_acquire().is_err());
        drop((a, b));
        assert_eq!(semaphore.available_permits(), 3);
    }

    // add_permits, forget, no_permits
    async fn added_permits_wake_waiting_tasks() {
        let semaphore = Arc::new(Semaphore::new(0));
        let waiting = spawn(acquire_owned(Arc::clone(&semaphore), 2));
        pause().await;
        semaphore.add_permits(1);
        // The waiting task takes the first permit, but needs two.
        while semaphore.available_permits() != 0 {
            pause().await;
        }
        semaphore.add_permits(1);
        waiting.await.unwrap().forget();
        assert_eq!(semaphore.available_permits(), 0);
        semaphore.add_permits(3);
        assert_eq!(semaphore.forget_permits(2), 2);
        assert_eq!(semaphore.available_permits(), 1);
    }

    // close_wakes_all_waiters
    async fn close_fails_waiting_tasks() {
        let semaphore = Arc::new(Semaphore::new(1));
        let first = spawn(acquire_owned(Arc::clone(&semaphore), 5));
        let second = spawn(acquire_owned(Arc::clone(&semaphore), 1));
        pause().await;
        semaphore.close();
        let got = first.await.is_none();
        assert!(got);
        second.await;
        let got = foreign(semaphore.acquire()).await.is_err() && semaphore.is_closed();
        assert!(got);
    }

    // merge, split
    async fn permits_are_merged_and_split() {
        let semaphore = Arc::new(Semaphore::new(5));
        let mut a = foreign(Arc::clone(&semaphore).acquire_owned()).await.unwrap();
        let b = foreign(Arc::clone(&semaphore).acquire_many_owned(3)).await.unwrap();
        a.merge(b);
        assert_eq!((a.num_permits(), semaphore.available_permits()), (4, 1));
        let c = a.split(1).unwrap();
        yield_now().await;
        drop(a);
        assert_eq!(semaphore.available_permits(), 4);
        assert_eq!(c.num_permits(), 1);
    }

    // a wait that is dropped returns the permits that it has acquired
    async fn a_wait_that_is_given_up_returns_its_permits() {
        let semaphore = Semaphore::new(2);
        let one = foreign(semaphore.acquire()).await.unwrap();
        let mut many = Box::pin(semaphore.acquire_many(2));
        let got = foreign(poll_once(&mut many)).await.is_none();
        assert!(got);
        let mut later = Box::pin(semaphore.acquire());
        let got = foreign(poll_once(&mut later)).await.is_none();
        assert!(got);
        drop(many);
        let second = foreign(later).await.unwrap();
        drop((one, second));
        assert_eq!(semaphore.available_permits(), 2);
    }

    // get_or_init
    async fn a_cell_is_initialised_once() {
        let cell = Arc::new(OnceCell::new());
        let calls = Arc::new(AtomicU64::new(0));
        let tasks: Vec<_> = (0..8).map(|n| spawn(init(Arc::clone(&cell), Arc::clone(&calls), n))).collect();
        let first = init(Arc::clone(&cell), Arc::clone(&calls), 100).await;
        for task in tasks {
            let got = task.await;
            assert_eq!(got, first);
        }
        assert_eq!(calls.load(SeqCst), 1);
        assert_eq!(cell.get(), Some(&first));
    }

    // get_or_try_init, set_twice, set_while_initializing
    async fn a_failed_initialisation_may_be_tried_again() {
        let cell = OnceCell::new();
        let failed: Result<&u64, &str> = foreign(cell.get_or_try_init(|| async { Err("no") })).await;
        assert_eq!(failed, Err("no"));
        assert!(!cell.initialized());
        let value: Result<&u64, &str> = foreign(cell.get_or_try_init(|| async { Ok(3) })).await;
        assert_eq!(value, Ok(&3));
        assert!(cell.set(4).is_err());
        assert_eq!(cell.into_inner(), Some(3));
    }

    // set_and_wait_multiple_threads
    async fn waiting_for_a_value_that_is_set_once() {
        let once = Arc::new(SetOnce::new());
        let tasks: Vec<_> = (0..4).map(|_| spawn(wait_set(Arc::clone(&once)))).collect();
        pause().await;
        once.set(7).unwrap();
        assert!(once.set(8).is_err());
        for task in tasks {
            let got = task.await;
            assert_eq!(got, 7);
        }
        let got = wait_set(once).await;
        assert_eq!(got, 7);
    }
}
