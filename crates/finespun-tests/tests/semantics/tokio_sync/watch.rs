//! After `sync_watch.rs`.

use finespun::prelude::*;
use tokio::sync::watch::{self, Receiver, Sender};

use super::{each_on_tasks, pause, poll_once};

#[task]
async fn until(mut rx: Receiver<u64>, bound: u64) -> Vec<u64> {
    let mut seen = vec![*rx.borrow_and_update()];
    while seen[seen.len() - 1] < bound && foreign(rx.changed()).await.is_ok() {
        let value = *rx.borrow_and_update();
        seen.push(value);
    }
    seen
}

#[task]
async fn wait_for(mut rx: Receiver<u64>, bound: u64) -> Option<u64> {
    // The value's guard cannot leave the worker, so it is read inside the future.
    foreign(async move { rx.wait_for(|n| *n >= bound).await.ok().map(|value| *value) }).await
}

#[task]
async fn count(tx: Sender<u64>, to: u64) -> Sender<u64> {
    for i in 1..=to {
        tx.send(i).unwrap();
        yield_now().await;
    }
    tx
}

#[task]
async fn all_gone(tx: Sender<u64>) -> usize {
    foreign(tx.closed()).await;
    tx.receiver_count()
}

each_on_tasks! {
    // single_rx_recv, rx_observes_final_value
    async fn a_receiver_sees_the_last_value() {
        let (tx, mut rx) = watch::channel("one");
        {
            let mut changed = Box::pin(rx.changed());
            let got = foreign(poll_once(&mut changed)).await.is_none();
            assert!(got);
            tx.send("two").unwrap();
            let got = foreign(poll_once(&mut changed)).await.unwrap().is_ok();
            assert!(got);
        }
        assert_eq!(*rx.borrow(), "two");
        tx.send("three").unwrap();
        tx.send("four").unwrap();
        drop(tx);
        let got = foreign(rx.changed()).await.is_ok();
        assert!(got);
        assert_eq!(*rx.borrow(), "four");
        let got = foreign(rx.changed()).await.is_err();
        assert!(got);
    }

    // multi_rx
    async fn all_receivers_are_woken() {
        let (tx, rx) = watch::channel(0);
        let first = spawn(until(rx.clone(), 10));
        let second = spawn(until(rx.clone(), 10));
        let third = spawn(wait_for(rx, 7));
        let tx = count(tx, 10).await;
        for seen in [first.await, second.await] {
            assert!(seen.is_sorted() && *seen.last().unwrap() == 10);
        }
        let got = third.await.unwrap() >= 7;
        assert!(got);
        drop(tx);
    }

    // poll_close, receiver_is_notified_when_last_sender_is_dropped
    async fn a_dropped_sender_wakes_receivers() {
        let (tx, rx) = watch::channel(0);
        let waiting = spawn(until(rx.clone(), 10));
        let other = spawn(wait_for(rx, 10));
        pause().await;
        let second = tx.clone();
        drop(tx);
        pause().await;
        drop(second);
        let got = waiting.await;
        assert_eq!(got, [0]);
        let got = other.await;
        assert_eq!(got, None);
    }

    // reopened_after_subscribe, sender_closed
    async fn the_sender_waits_for_the_last_receiver() {
        let (tx, rx) = watch::channel(0);
        let second = tx.subscribe();
        let waiting = spawn(all_gone(tx.clone()));
        drop(rx);
        pause().await;
        drop(second);
        let got = waiting.await;
        assert_eq!(got, 0);
        assert!(tx.is_closed() && tx.send(1).is_err());
        let reopened = tx.subscribe();
        assert!(!tx.is_closed() && tx.send(2).is_ok());
        assert_eq!(*reopened.borrow(), 2);
    }

    // borrow_and_update, rx_mark_changed, rx_mark_unchanged
    async fn receivers_know_what_they_have_seen() {
        let (tx, mut rx) = watch::channel(1);
        assert!(!rx.has_changed().unwrap());
        rx.mark_changed();
        assert!(rx.has_changed().unwrap());
        foreign(rx.changed()).await.unwrap();
        tx.send(2).unwrap();
        rx.mark_unchanged();
        assert!(!rx.has_changed().unwrap());
        tx.send_if_modified(|n| { *n += 1; *n > 100 });
        assert!(!rx.has_changed().unwrap());
        tx.send_modify(|n| *n += 1);
        foreign(rx.changed()).await.unwrap();
        assert_eq!(*rx.borrow_and_update(), 4);
        assert_eq!(tx.send_replace(9), 4);
        drop(tx);
        assert!(rx.has_changed().is_err());
        let got = foreign(async move { rx.wait_for(|n| *n == 9).await.map(|value| *value) }).await;
        assert_eq!(got.unwrap(), 9);
    }

    // multiple_sender
    async fn senders_share_one_value() {
        let (tx, mut rx) = watch::channel(0);
        let (a, b) = join!(count(tx.clone(), 3), count(tx, 5));
        foreign(rx.changed()).await.unwrap();
        let value = *rx.borrow_and_update();
        assert!(value == 3 || value == 5);
        assert!(a.same_channel(&b));
    }
}
