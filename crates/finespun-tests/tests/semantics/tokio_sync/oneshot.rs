//! After `sync_oneshot.rs`.

use std::sync::Arc;

use finespun::prelude::*;
use finespun::testing::*;
use tokio::sync::oneshot::error::{RecvError, TryRecvError};
use tokio::sync::oneshot::{self, Receiver, Sender};

use super::{each_on_tasks, pause, poll_once};

#[task]
async fn receive(rx: Receiver<u64>) -> Result<u64, RecvError> {
    foreign(rx).await
}

#[task]
async fn closed(mut tx: Sender<u64>) -> Sender<u64> {
    foreign(tx.closed()).await;
    tx
}

#[task]
async fn answer(request: u64, reply: Sender<u64>) {
    pause().await;
    let _ = reply.send(request * 2);
}

#[task]
async fn ask(request: u64) -> u64 {
    let (tx, rx) = oneshot::channel();
    drop(spawn(answer(request, tx)));
    foreign(rx).await.unwrap()
}

#[task]
async fn chain(rx: Receiver<u64>, tx: Sender<u64>) {
    let value = foreign(rx).await.unwrap();
    tx.send(value + 1).unwrap();
}

each_on_tasks! {
    // send_recv, async_send_recv
    async fn the_value_arrives_once() {
        let (tx, rx) = oneshot::channel();
        let waiting = spawn(receive(rx));
        pause().await;
        assert_eq!(tx.send(1), Ok(()));
        let got = waiting.await;
        assert_eq!(got, Ok(1));
        let (tx, rx) = oneshot::channel();
        tx.send(2).unwrap();
        let got = foreign(rx).await;
        assert_eq!(got, Ok(2));
    }

    // close_tx
    async fn a_dropped_sender_is_an_error() {
        let (tx, rx) = oneshot::channel::<u64>();
        let waiting = spawn(receive(rx));
        pause().await;
        drop(tx);
        let got = waiting.await.is_err();
        assert!(got);
    }

    // close_rx, async_rx_closed
    async fn a_dropped_receiver_tells_the_sender() {
        let (tx, rx) = oneshot::channel();
        let waiting = spawn(closed(tx));
        pause().await;
        drop(rx);
        let tx = waiting.await;
        assert!(tx.is_closed());
        assert_eq!(tx.send(3), Err(3));
    }

    // explicit_close_poll, explicit_close_try_recv
    async fn close_refuses_what_comes_later() {
        let (tx, mut rx) = oneshot::channel();
        rx.close();
        assert!(tx.is_closed());
        assert_eq!(tx.send(1), Err(1));
        assert_eq!(rx.try_recv(), Err(TryRecvError::Closed));
        let (tx, mut rx) = oneshot::channel();
        tx.send(4).unwrap();
        rx.close();
        let got = foreign(&mut rx).await;
        assert_eq!(got, Ok(4));
    }

    // close_try_recv_poll, receiver_is_empty_*, receiver_is_terminated_*
    async fn receivers_know_their_state() {
        let (tx, mut rx) = oneshot::channel();
        assert_eq!(rx.try_recv(), Err(TryRecvError::Empty));
        assert!(rx.is_empty() && !rx.is_terminated());
        tx.send(1).unwrap();
        assert!(!rx.is_empty());
        let got = foreign(&mut rx).await;
        assert_eq!(got, Ok(1));
        assert!(rx.is_terminated());
    }

    // receiver_changes_task: polled by one task, awaited by another
    async fn the_waiting_task_may_change() {
        let (tx, mut rx) = oneshot::channel();
        let got = foreign(poll_once(&mut rx)).await;
        assert_eq!(got, None);
        let waiting = spawn(receive(rx));
        pause().await;
        tx.send(5).unwrap();
        let got = waiting.await;
        assert_eq!(got, Ok(5));
    }

    // drops_tasks: values that are not received
    async fn unreceived_values_are_dropped() {
        let shared = Arc::new(());
        let (tx, rx) = oneshot::channel();
        tx.send(Arc::clone(&shared)).unwrap();
        assert_eq!(Arc::strong_count(&shared), 2);
        drop(rx);
        assert_eq!(Arc::strong_count(&shared), 1);
    }

    async fn requests_and_replies_of_many_tasks() {
        let replies: u64 = reduce((0..20).map(ask), 0, |a, b| a + b).await;
        assert_eq!(replies, 380);
        let (a, b) = join!(ask(1), ask(2));
        assert_eq!((a, b), (2, 4));
    }

    async fn a_chain_of_channels() {
        let (first, mut last) = oneshot::channel();
        let mut links = Vec::new();
        for _ in 0..20 {
            let (tx, rx) = oneshot::channel();
            links.push(spawn(chain(last, tx)));
            last = rx;
        }
        first.send(0).unwrap();
        let got = foreign(last).await;
        assert_eq!(got, Ok(20));
        for link in links {
            link.await;
        }
    }
}
