//! After `sync_mpsc.rs` and `sync_mpsc_weak.rs`.

use std::sync::Arc;

use finespun::prelude::*;
use finespun::testing::*;
use tokio::sync::mpsc::error::{SendError, TryRecvError, TrySendError};
use tokio::sync::mpsc::{self, Receiver, Sender, UnboundedReceiver, UnboundedSender};

use super::{each_on_tasks, pause, poll_once};

#[task]
async fn send_all(tx: Sender<u64>, from: u64, to: u64) -> u64 {
    for i in from..to {
        foreign(tx.send(i)).await.unwrap();
    }
    to - from
}

#[task]
async fn receive_all(mut rx: Receiver<u64>) -> Vec<u64> {
    let mut list = Vec::new();
    while let Some(value) = foreign(rx.recv()).await {
        list.push(value);
    }
    list
}

#[task]
async fn send_one(tx: Sender<u64>, value: u64) -> Result<(), SendError<u64>> {
    foreign(tx.send(value)).await
}

#[task]
async fn receive_one(mut rx: Receiver<u64>) -> (Option<u64>, Receiver<u64>) {
    (foreign(rx.recv()).await, rx)
}

#[task]
async fn double(mut rx: Receiver<u64>, tx: UnboundedSender<u64>) {
    while let Some(value) = foreign(rx.recv()).await {
        tx.send(value * 2).unwrap();
    }
}

#[task]
async fn ping(tx: Sender<u64>, mut rx: Receiver<u64>, turns: u64) -> u64 {
    let mut n = 0;
    for _ in 0..turns {
        foreign(tx.send(n)).await.unwrap();
        n = foreign(rx.recv()).await.unwrap() + 1;
    }
    n
}

#[task]
async fn pong(tx: Sender<u64>, mut rx: Receiver<u64>) {
    while let Some(n) = foreign(rx.recv()).await {
        foreign(tx.send(n + 1)).await.unwrap();
    }
}

#[task]
async fn wait_closed(tx: Sender<u64>) -> bool {
    foreign(tx.closed()).await;
    tx.is_closed()
}

each_on_tasks! {
    // send_recv_with_buffer, tx_close_gets_none
    async fn values_arrive_in_order_and_then_none() {
        let (tx, mut rx) = mpsc::channel::<u64>(16);
        foreign(tx.send(1)).await.unwrap();
        foreign(tx.send(2)).await.unwrap();
        drop(tx);
        let got = foreign(rx.recv()).await;
        assert_eq!(got, Some(1));
        let got = foreign(rx.recv()).await;
        assert_eq!(got, Some(2));
        let got = foreign(rx.recv()).await;
        assert_eq!(got, None);
        let got = foreign(rx.recv()).await;
        assert_eq!(got, None);
    }

    // start_send_past_cap
    async fn a_full_channel_makes_senders_wait() {
        let (tx, rx) = mpsc::channel(1);
        let sender = spawn(send_all(tx.clone(), 0, 20));
        let other = spawn(send_all(tx, 100, 110));
        let mut list = receive_all(rx).await;
        let got = sender.await + other.await;
        assert_eq!(got, 30);
        assert!(list.iter().filter(|n| **n < 100).is_sorted() && list.iter().filter(|n| **n >= 100).is_sorted());
        list.sort();
        assert_eq!(list, (0..20).chain(100..110).collect::<Vec<_>>());
    }

    // async_send_recv_with_buffer, with several senders joined
    async fn senders_in_a_join_share_a_receiver() {
        let (tx, rx) = mpsc::channel(2);
        let receiver = spawn(receive_all(rx));
        let (a, b, c) = join!(send_all(tx.clone(), 0, 5), send_all(tx.clone(), 5, 9), send_all(tx, 9, 12));
        let mut list = receiver.await;
        list.sort();
        assert_eq!(a + b + c, 12);
        assert_eq!(list, (0..12).collect::<Vec<_>>());
    }

    // send_recv_unbounded, send_recv_many_unbounded
    async fn unbounded_channels_take_all_at_once() {
        let (tx, mut rx): (UnboundedSender<u64>, UnboundedReceiver<u64>) = mpsc::unbounded_channel();
        for i in 0..10 {
            tx.send(i).unwrap();
        }
        drop(tx);
        let mut list = Vec::new();
        let got = foreign(rx.recv_many(&mut list, 4)).await;
        assert_eq!(got, 4);
        let got = foreign(rx.recv_many(&mut list, 100)).await;
        assert_eq!(got, 6);
        let got = foreign(rx.recv_many(&mut list, 5)).await;
        assert_eq!(got, 0);
        assert_eq!(list, (0..10).collect::<Vec<_>>());
    }

    // recv_close_gets_none_idle, recv_close_gets_none_reserved
    async fn close_lets_what_was_sent_arrive() {
        let (tx, mut rx) = mpsc::channel(4);
        foreign(tx.send(1)).await.unwrap();
        let permit = foreign(tx.reserve()).await.unwrap();
        rx.close();
        assert!(tx.is_closed());
        let got = foreign(tx.send(9)).await;
        assert_eq!(got, Err(SendError(9)));
        permit.send(2);
        let got = foreign(rx.recv()).await;
        assert_eq!(got, Some(1));
        let got = foreign(rx.recv()).await;
        assert_eq!(got, Some(2));
        let got = foreign(rx.recv()).await;
        assert_eq!(got, None);
    }

    // dropping_rx_closes_channel
    async fn a_dropped_receiver_fails_waiting_senders() {
        let (tx, rx) = mpsc::channel(1);
        foreign(tx.send(1)).await.unwrap();
        let waiting = spawn(send_one(tx.clone(), 2));
        let closed = spawn(wait_closed(tx.clone()));
        pause().await;
        drop(rx);
        let got = waiting.await;
        assert_eq!(got, Err(SendError(2)));
        let got = closed.await;
        assert!(got);
        let got = foreign(tx.reserve()).await.is_err();
        assert!(got);
        assert!(matches!(tx.try_send(3), Err(TrySendError::Closed(3))));
    }

    // try_send_fail, try_send_fail_with_try_recv, try_recv_bounded
    async fn try_operations_say_full_empty_and_closed() {
        let (tx, mut rx) = mpsc::channel(1);
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        tx.try_send(1).unwrap();
        assert!(matches!(tx.try_send(2), Err(TrySendError::Full(2))));
        let got = foreign(rx.recv()).await;
        assert_eq!(got, Some(1));
        tx.try_send(3).unwrap();
        drop(tx);
        assert_eq!(rx.try_recv(), Ok(3));
        assert_eq!(rx.try_recv(), Err(TryRecvError::Disconnected));
    }

    // reserve_disarm, drop_permit_releases_permit
    async fn a_permit_holds_its_place_until_it_is_dropped() {
        let (tx, mut rx) = mpsc::channel(2);
        let first = foreign(tx.reserve()).await.unwrap();
        let second = foreign(tx.clone().reserve_owned()).await.unwrap();
        assert_eq!(tx.capacity(), 0);
        assert!(tx.try_reserve().is_err());
        let waiting = spawn(send_one(tx.clone(), 3));
        pause().await;
        drop(second);
        waiting.await.unwrap();
        first.send(1);
        let got = foreign(rx.recv()).await;
        assert_eq!(got, Some(3));
        let got = foreign(rx.recv()).await;
        assert_eq!(got, Some(1));
        assert_eq!((tx.capacity(), tx.max_capacity()), (2, 2));
    }

    // reserve_many_and_send, reserve_many_above_cap
    async fn many_permits_are_reserved_at_once() {
        let (tx, mut rx) = mpsc::channel(4);
        let got = foreign(tx.reserve_many(5)).await.is_err();
        assert!(got);
        let permits = foreign(tx.reserve_many(4)).await.unwrap();
        assert_eq!(tx.capacity(), 0);
        for (i, permit) in permits.enumerate().take(3) {
            permit.send(i);
        }
        assert_eq!(tx.capacity(), 1);
        let mut list = Vec::new();
        let got = foreign(rx.recv_many(&mut list, 8)).await;
        assert_eq!(got, 3);
        assert_eq!(list, [0, 1, 2]);
    }

    // unconsumed_messages_are_dropped
    async fn unreceived_values_are_dropped_with_the_channel() {
        let shared = Arc::new(());
        let (tx, rx) = mpsc::channel(4);
        foreign(tx.send(Arc::clone(&shared))).await.unwrap();
        foreign(tx.send(Arc::clone(&shared))).await.unwrap();
        assert_eq!(Arc::strong_count(&shared), 3);
        drop(rx);
        assert_eq!(Arc::strong_count(&shared), 1);
        drop(tx);
    }

    // blocking_recv_async, blocking_send_async
    async fn blocking_ends_run_off_the_workers() {
        let (tx, mut rx) = mpsc::channel::<u64>(1);
        let receiver = spawn(receive_all_blocking(rx));
        for i in 0..4 {
            foreign(tx.send(i)).await.unwrap();
        }
        let tx = blocking(move || { tx.blocking_send(4).unwrap(); tx }).await;
        drop(tx);
        let got = receiver.await;
        assert_eq!(got, [0, 1, 2, 3, 4]);
    }

    async fn a_pipeline_of_tasks_keeps_the_order() {
        let (tx, rx) = mpsc::channel(2);
        let (middle, mut out) = mpsc::unbounded_channel();
        let stage = spawn(double(rx, middle));
        let sender = spawn(send_all(tx, 0, 30));
        let mut n = 0;
        while let Some(value) = foreign(out.recv()).await {
            assert_eq!(value, n * 2);
            n += 1;
        }
        stage.await;
        let got = sender.await;
        assert_eq!(got, 30);
        assert_eq!(n, 30);
    }

    async fn two_tasks_answer_each_other() {
        let (to, from_ping) = mpsc::channel(1);
        let (back, from_pong) = mpsc::channel(1);
        let other = spawn(pong(back, from_ping));
        let got = ping(to, from_pong, 50).await;
        assert_eq!(got, 100);
        other.await;
    }

    // recv waits before a value is sent; ready_close_cancel_bounded
    async fn a_receiver_that_waits_is_woken() {
        let (tx, rx) = mpsc::channel(1);
        let waiting = spawn(receive_one(rx));
        pause().await;
        foreign(tx.send(7)).await.unwrap();
        let (value, rx) = waiting.await;
        assert_eq!(value, Some(7));
        let waiting = spawn(receive_one(rx));
        pause().await;
        drop(tx);
        let got = waiting.await.0;
        assert_eq!(got, None);
    }

    // a wait that is dropped loses no value
    async fn a_receive_that_is_given_up_loses_no_value() {
        let (tx, mut rx) = mpsc::channel(1);
        {
            let mut receive = Box::pin(rx.recv());
            let got = foreign(poll_once(&mut receive)).await;
            assert_eq!(got, None);
        }
        {
            let mut send = Box::pin(tx.send(1));
            let got = foreign(poll_once(&mut send)).await.is_some();
            assert!(got);
        }
        {
            let mut send = Box::pin(tx.send(2));
            let got = foreign(poll_once(&mut send)).await.is_none();
            assert!(got);
        }
        let got = foreign(rx.recv()).await;
        assert_eq!(got, Some(1));
        foreign(tx.send(3)).await.unwrap();
        let got = foreign(rx.recv()).await;
        assert_eq!(got, Some(3));
    }

    // weak_sender, downgrade_upgrade_sender_failure, test_rx_is_closed_when_dropping_all_senders_except_weak_senders
    async fn weak_senders_do_not_keep_the_channel_open() {
        let (tx, mut rx) = mpsc::channel(2);
        let weak = tx.downgrade();
        assert_eq!((tx.strong_count(), tx.weak_count()), (1, 1));
        foreign(weak.upgrade().unwrap().send(1)).await.unwrap();
        drop(tx);
        assert!(weak.upgrade().is_none());
        let got = foreign(rx.recv()).await;
        assert_eq!(got, Some(1));
        let got = foreign(rx.recv()).await;
        assert_eq!(got, None);
    }

    // same_channel, len, is_empty
    async fn channels_know_their_state() {
        let (tx, mut rx) = mpsc::channel(3);
        let (other, _rx) = mpsc::channel::<u64>(3);
        assert!(tx.same_channel(&tx.clone()) && !tx.same_channel(&other));
        assert!(rx.is_empty() && !rx.is_closed());
        foreign(tx.send(1)).await.unwrap();
        assert_eq!(rx.len(), 1);
        foreign(rx.recv()).await;
        drop(tx);
        assert!(rx.is_closed() && rx.is_empty());
    }
}

#[task]
async fn receive_all_blocking(mut rx: Receiver<u64>) -> Vec<u64> {
    blocking(move || {
        let mut list = Vec::new();
        while let Some(value) = rx.blocking_recv() {
            list.push(value);
        }
        list
    })
    .await
}
