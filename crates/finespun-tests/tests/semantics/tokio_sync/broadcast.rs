//! After `sync_broadcast.rs` and `sync_broadcast_weak.rs`.

use std::sync::Arc;

use finespun::prelude::*;
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::broadcast::{self, Receiver, Sender};

use super::{each_on_tasks, pause};

#[task]
async fn receive_all(mut rx: Receiver<u64>) -> (Vec<u64>, u64) {
    let mut list = Vec::new();
    let mut lost = 0;
    loop {
        match foreign(rx.recv()).await {
            Ok(value) => list.push(value),
            Err(RecvError::Lagged(n)) => lost += n,
            Err(RecvError::Closed) => return (list, lost),
        }
    }
}

#[task]
async fn send_slowly(tx: Sender<u64>, count: u64) {
    for i in 0..count {
        tx.send(i).unwrap();
        yield_now().await;
    }
}

#[task]
async fn gone(tx: Sender<u64>) -> usize {
    foreign(tx.closed()).await;
    tx.receiver_count()
}

each_on_tasks! {
    // send_two_recv, change_tasks
    async fn every_receiver_gets_every_value() {
        let (tx, first) = broadcast::channel(64);
        let second = tx.subscribe();
        let a = spawn(receive_all(first));
        let b = spawn(receive_all(second));
        send_slowly(tx, 20).await;
        let expected = ((0..20).collect::<Vec<_>>(), 0);
        let got = a.await;
        assert_eq!(got, expected);
        let got = b.await;
        assert_eq!(got, expected);
    }

    // send_try_recv_bounded, send_no_rx
    async fn try_receive_and_send_to_nobody() {
        let (tx, mut rx) = broadcast::channel(2);
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        assert_eq!(tx.send(1).unwrap(), 1);
        let got = foreign(rx.recv()).await;
        assert_eq!(got, Ok(1));
        drop(rx);
        assert!(tx.send(2).is_err());
        let mut late = tx.subscribe();
        tx.send(3).unwrap();
        let got = foreign(late.recv()).await;
        assert_eq!(got, Ok(3));
    }

    // lagging_rx, lag_is_per_receiver, single_capacity_recvs
    async fn slow_receivers_lose_the_oldest() {
        let (tx, mut slow) = broadcast::channel(2);
        let mut fast = tx.subscribe();
        for i in 0..5u64 {
            tx.send(i).unwrap();
            let got = foreign(fast.recv()).await;
            assert_eq!(got, Ok(i));
        }
        let got = foreign(slow.recv()).await;
        assert_eq!(got, Err(RecvError::Lagged(3)));
        let got = foreign(slow.recv()).await;
        assert_eq!(got, Ok(3));
        assert_eq!(slow.len(), 1);
        drop(tx);
        let got = foreign(slow.recv()).await;
        assert_eq!(got, Ok(4));
        let got = foreign(slow.recv()).await;
        assert_eq!(got, Err(RecvError::Closed));
    }

    async fn nothing_is_received_twice_by_a_lagging_task() {
        let (tx, rx) = broadcast::channel(4);
        let receiver = spawn(receive_all(rx));
        send_slowly(tx, 50).await;
        let (list, lost) = receiver.await;
        assert!(list.is_sorted_by(|a, b| a < b) && list.len() as u64 + lost == 50, "{list:?} {lost}");
    }

    // dropping_tx_notifies_rx
    async fn dropping_all_senders_wakes_receivers() {
        let (tx, rx) = broadcast::channel(2);
        let waiting = spawn(receive_all(rx));
        let other = tx.clone();
        pause().await;
        drop(tx);
        pause().await;
        drop(other);
        let got = waiting.await;
        assert_eq!(got, (vec![], 0));
    }

    // unconsumed_messages_are_dropped, drop_rx_while_values_remain
    async fn values_are_dropped_when_all_have_seen_them() {
        let shared = Arc::new(());
        let (tx, mut first) = broadcast::channel(4);
        let second = tx.subscribe();
        tx.send(Arc::clone(&shared)).unwrap();
        tx.send(Arc::clone(&shared)).unwrap();
        drop(foreign(first.recv()).await.unwrap());
        assert_eq!(Arc::strong_count(&shared), 3);
        drop(second);
        assert_eq!(Arc::strong_count(&shared), 2);
        drop(first);
        assert_eq!(Arc::strong_count(&shared), 1);
    }

    // resubscribe_points_to_tail, sender_len
    async fn subscriptions_begin_at_the_end() {
        let (tx, rx) = broadcast::channel(8);
        tx.send(1).unwrap();
        let mut again = rx.resubscribe();
        tx.send(2).unwrap();
        assert_eq!((tx.len(), rx.len(), again.len()), (2, 2, 1));
        let got = foreign(again.recv()).await;
        assert_eq!(got, Ok(2));
        assert!(again.is_empty() && !again.is_closed());
    }

    // broadcast_sender_closed, weak_sender
    async fn senders_wait_for_the_last_receiver() {
        let (tx, rx) = broadcast::channel(2);
        let weak = tx.downgrade();
        let waiting = spawn(gone(tx.clone()));
        let second = tx.subscribe();
        drop(rx);
        pause().await;
        drop(second);
        let got = waiting.await;
        assert_eq!(got, 0);
        assert!(weak.upgrade().is_some());
        drop(tx);
        assert!(weak.upgrade().is_none());
    }
}
