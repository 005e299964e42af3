//! After `sync_notify.rs`, `sync_notify_owned.rs`, `sync_barrier.rs`.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};

use finespun::prelude::*;
use tokio::sync::{Barrier, Notify};

use super::{each_on_tasks, pause, poll_once};

#[task]
async fn notified(notify: Arc<Notify>, woken: Arc<AtomicU64>) {
    foreign(notify.notified()).await;
    woken.fetch_add(1, SeqCst);
}

#[task]
async fn meet(barrier: Arc<Barrier>, rounds: u64, arrived: Arc<AtomicU64>) -> u64 {
    let mut led = 0;
    for round in 0..rounds {
        arrived.fetch_add(1, SeqCst);
        led += u64::from(foreign(barrier.wait()).await.is_leader());
        assert!(arrived.load(SeqCst) >= (round + 1) * 4);
        foreign(barrier.wait()).await;
    }
    led
}

#[task]
async fn produce(list: Arc<std::sync::Mutex<Vec<u64>>>, notify: Arc<Notify>, count: u64) {
    for i in 0..count {
        list.lock().unwrap().push(i);
        notify.notify_one();
        yield_now().await;
    }
}

#[task]
async fn consume(list: Arc<std::sync::Mutex<Vec<u64>>>, notify: Arc<Notify>, count: usize) -> u64 {
    let mut sum = 0;
    let mut taken = 0;
    while taken < count {
        let next = list.lock().unwrap().pop();
        match next {
            Some(n) => {
                sum += n;
                taken += 1;
            }
            None => foreign(notify.notified()).await,
        }
    }
    sum
}

each_on_tasks! {
    // notify_notified_one
    async fn a_notification_before_the_wait_is_kept() {
        let notify = Notify::new();
        notify.notify_one();
        notify.notify_one();
        foreign(notify.notified()).await;
        let mut second = Box::pin(notify.notified());
        let got = foreign(poll_once(&mut second)).await.is_none();
        assert!(got);
        notify.notify_one();
        foreign(second).await;
    }

    // notified_one_notify, notified_multi_notify
    async fn one_notification_wakes_one_task() {
        let notify = Arc::new(Notify::new());
        let woken = Arc::new(AtomicU64::new(0));
        let tasks: Vec<_> = (0..4).map(|_| spawn(notified(Arc::clone(&notify), Arc::clone(&woken)))).collect();
        for k in 1..=4 {
            notify.notify_one();
            pause().await;
            assert!(woken.load(SeqCst) <= k);
        }
        // A permit without a waiting task is stored only once.
        while woken.load(SeqCst) < 4 {
            notify.notify_one();
            yield_now().await;
        }
        for task in tasks {
            task.await;
        }
        assert_eq!(woken.load(SeqCst), 4);
    }

    // notify_notified_multi, notify_waiters
    async fn all_that_wait_are_woken_and_no_later_one() {
        let notify = Notify::new();
        let mut first = Box::pin(notify.notified());
        let mut second = Box::pin(notify.notified());
        let got = foreign(poll_once(&mut first)).await.is_none();
        assert!(got);
        let got = foreign(poll_once(&mut second)).await.is_none();
        assert!(got);
        notify.notify_waiters();
        let mut late = Box::pin(notify.notified());
        let got = foreign(poll_once(&mut late)).await.is_none();
        assert!(got);
        foreign(first).await;
        foreign(second).await;
        let got = foreign(poll_once(&mut late)).await.is_none();
        assert!(got);
    }

    // notified_drop_notified_notify, notified_multi_notify_drop_one
    async fn a_wait_that_is_given_up_passes_its_notification_on() {
        let notify = Notify::new();
        let mut first = Box::pin(notify.notified());
        let mut second = Box::pin(notify.notified());
        let got = foreign(poll_once(&mut first)).await.is_none();
        assert!(got);
        let got = foreign(poll_once(&mut second)).await.is_none();
        assert!(got);
        notify.notify_one();
        drop(first);
        foreign(second).await;
    }

    // test_enable_consumes_permit, test_notify_one_after_enable
    async fn an_enabled_wait_counts_before_it_is_polled() {
        let notify = Notify::new();
        let mut wait = Box::pin(notify.notified());
        assert!(!wait.as_mut().enable());
        notify.notify_waiters();
        foreign(wait).await;
        notify.notify_one();
        let mut wait = Box::pin(notify.notified());
        assert!(wait.as_mut().enable());
        foreign(wait).await;
    }

    async fn a_queue_with_notifications() {
        let list = Arc::new(std::sync::Mutex::new(Vec::new()));
        let notify = Arc::new(Notify::new());
        let consumer = spawn(consume(Arc::clone(&list), Arc::clone(&notify), 30));
        produce(list, notify, 30).await;
        let got = consumer.await;
        assert_eq!(got, 435);
    }

    // zero_does_not_block, single
    async fn small_barriers_do_not_wait() {
        let none = Barrier::new(0);
        let got = foreign(none.wait()).await.is_leader();
        assert!(got);
        let one = Barrier::new(1);
        for _ in 0..3 {
            let got = foreign(one.wait()).await.is_leader();
            assert!(got);
        }
    }

    // tango, lots
    async fn a_barrier_has_one_leader_each_time() {
        let barrier = Arc::new(Barrier::new(4));
        let arrived = Arc::new(AtomicU64::new(0));
        let tasks: Vec<_> =
            (0..3).map(|_| spawn(meet(Arc::clone(&barrier), 6, Arc::clone(&arrived)))).collect();
        let mut led = meet(barrier, 6, arrived).await;
        for task in tasks {
            led += task.await;
        }
        assert_eq!(led, 6);
    }
}
