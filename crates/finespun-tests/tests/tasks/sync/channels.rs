//! Channels between tasks.

use std::sync::atomic::{AtomicU64, Ordering};

use super::Alive;
use crate::common::{everywhere, within_a_minute};
use finespun::prelude::*;
use finespun::sync::mpsc::{self, SendError, TryRecvError, TrySendError};
use finespun::sync::{oneshot, watch};

#[task]
async fn produce(to: mpsc::Sender<(u64, u64)>, own: u64, count: u64) {
    for n in 0..count {
        assert_eq!(to.send((own, n)).await, Ok(()));
        assert!(to.capacity() <= to.max_capacity());
    }
}

#[task]
async fn produce_at_once(to: mpsc::UnboundedSender<(u64, u64)>, own: u64, count: u64) {
    for n in 0..count {
        assert_eq!(to.send((own, n)), Ok(()));
        if n % 5 == own % 5 {
            yield_now().await;
        }
    }
}

/// Returns the number of messages. Checks that those of each sender arrive in order.
#[task]
async fn consume(mut from: mpsc::Receiver<(u64, u64)>, senders: u64) -> u64 {
    let mut next = vec![0; senders as usize];
    let mut count = 0;
    while let Some((sender, n)) = from.recv().await {
        assert_eq!(next[sender as usize], n);
        next[sender as usize] += 1;
        count += 1;
        assert!(from.len() <= from.max_capacity());
    }
    assert!(from.is_closed() && from.is_empty());
    count
}

#[task]
async fn bounded(bound: usize, senders: u64, count: u64) -> u64 {
    let (to, from) = mpsc::channel(bound);
    let tasks: Vec<_> = (0..senders).map(|own| produce(to.clone(), own, count)).collect();
    drop(to);
    let (_, total) = join!(join_all(tasks), consume(from, senders));
    total
}

#[task]
async fn unbounded(senders: u64, count: u64) -> u64 {
    let (to, from) = mpsc::unbounded_channel();
    let tasks: Vec<_> = (0..senders).map(|own| produce_at_once(to.clone(), own, count)).collect();
    drop(to);
    let (total, _) = join!(consume(from, senders), join_all(tasks));
    total
}

#[test]
fn each_message_arrives_once_and_in_order() {
    within_a_minute(|| {
        everywhere(|runtime| {
            for (bound, senders) in [(1, 1), (1, 5), (3, 4), (100, 3)] {
                assert_eq!(runtime.run(bounded(bound, senders, 40)), senders * 40);
            }
            assert_eq!(runtime.run(unbounded(4, 50)), 200);
        });
    });
}

/// Two tasks that send a token to and fro.
#[task]
async fn bounce(mut from: mpsc::Receiver<u64>, to: mpsc::Sender<u64>) -> u64 {
    let mut last = 0;
    while let Some(n) = from.recv().await {
        last = n;
        if n == 0 || to.send(n - 1).await.is_err() {
            break;
        }
    }
    last
}

#[task]
async fn ping_pong(n: u64) -> (u64, u64) {
    let ((to_a, a), (to_b, b)) = (mpsc::channel(1), mpsc::channel(1));
    to_a.send(n).await.unwrap();
    join!(bounce(a, to_b), bounce(b, to_a))
}

#[test]
fn two_tasks_send_to_each_other() {
    within_a_minute(|| everywhere(|runtime| assert_eq!(runtime.run(ping_pong(100)), (0, 1))));
}

#[test]
fn operations_that_do_not_wait_say_what_they_found() {
    let (to, mut from) = mpsc::channel(2);
    assert_eq!(from.try_recv(), Err(TryRecvError::Empty));
    assert_eq!((to.try_send(1), to.try_send(2), to.capacity()), (Ok(()), Ok(()), 0));
    assert_eq!(to.try_send(3), Err(TrySendError::Full(3)));
    assert_eq!((from.try_recv(), from.len(), to.capacity()), (Ok(1), 1, 1));
    assert!(!to.is_closed() && to.same_channel(&to.clone()));
    from.close();
    assert!(to.is_closed() && from.is_closed());
    assert_eq!(to.try_send(4), Err(TrySendError::Closed(4)));
    assert_eq!((from.try_recv(), from.try_recv()), (Ok(2), Err(TryRecvError::Disconnected)));
    let (to, mut from) = mpsc::unbounded_channel();
    to.send(1).unwrap();
    drop(to);
    assert_eq!((from.try_recv(), from.try_recv()), (Ok(1), Err(TryRecvError::Disconnected)));
    let (to, from) = mpsc::unbounded_channel();
    drop(from);
    assert_eq!(to.send(7), Err(SendError(7)));
}

#[test]
#[should_panic(expected = "`mpsc::channel(0)`")]
fn a_channel_has_room() {
    let _ends = mpsc::channel::<()>(0);
}

#[task]
async fn send_one(to: &mpsc::Sender<u64>, n: u64) -> Result<(), SendError<u64>> {
    to.send(n).await
}

#[task]
async fn close_when_full(mut from: mpsc::Receiver<u64>) -> Vec<u64> {
    while from.capacity() > 0 {
        yield_now().await;
    }
    from.close();
    let mut left = Vec::new();
    while let Some(n) = from.recv().await {
        left.push(n);
    }
    left
}

#[task]
async fn closed_while_senders_wait() {
    let (to, from) = mpsc::channel(2);
    let sends = join_all((0..8).map(|n| send_one(&to, n)));
    let (results, left, ()) = join!(sends, close_when_full(from), to.closed());
    let sent: Vec<_> = (0..8).filter(|&n| results[n as usize].is_ok()).collect();
    assert_eq!(
        {
            let mut left = left;
            left.sort_unstable();
            left
        },
        sent
    );
    assert!(sent.len() >= 2);
    for (n, result) in results.into_iter().enumerate() {
        assert!(result.is_ok() || result == Err(SendError(n as u64)));
    }
    assert_eq!(to.send(9).await, Err(SendError(9)));
}

#[test]
fn closing_gives_messages_back_to_waiting_senders() {
    within_a_minute(|| everywhere(|runtime| runtime.run(closed_while_senders_wait())));
}

#[task]
async fn receive_all(from: &mut mpsc::Receiver<u64>, count: u64) -> Vec<u64> {
    let mut found = Vec::new();
    for _ in 0..count {
        found.push(from.recv().await.unwrap());
        yield_now().await;
    }
    found
}

#[task]
async fn in_order_of_request() -> Vec<u64> {
    let (to, mut from) = mpsc::channel(1);
    to.send(0).await.unwrap();
    let (_, found) = join!(join_all((1..20).map(|n| send_one(&to, n))), receive_all(&mut from, 20));
    found
}

#[test]
fn waiting_senders_send_in_the_order_of_their_requests() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        assert_eq!(runtime.run(in_order_of_request()), (0..20).collect::<Vec<_>>());
    });
}

#[task]
async fn send_alive<'a>(to: mpsc::Sender<Alive<'a>>, alive: &'a AtomicU64) -> bool {
    for n in 0..10 {
        if to.send(Alive::new(alive, n)).await.is_err() {
            return false;
        }
    }
    true
}

#[task]
async fn receive_some(mut from: mpsc::Receiver<Alive<'_>>, count: u64) -> u64 {
    let mut sum = 0;
    for _ in 0..count {
        sum += from.recv().await.map_or(0, |alive| alive.1);
    }
    sum
}

#[task]
async fn undelivered(alive: &AtomicU64, count: u64) -> u64 {
    let (to, from) = mpsc::channel(3);
    let (all, sum) = join!(send_alive(to, alive), receive_some(from, count));
    assert!(!all || count >= 7);
    assert_eq!(alive.load(Ordering::Relaxed), 0);
    sum
}

#[test]
fn undelivered_messages_are_dropped_once() {
    within_a_minute(|| {
        everywhere(|runtime| {
            for count in [0, 1, 4, 10] {
                assert_eq!(runtime.run(undelivered(&AtomicU64::new(0), count)), (0..count).sum());
            }
        });
    });
}

#[task]
async fn answer(to: oneshot::Sender<u64>, value: Option<u64>) {
    yield_now().await;
    if let Some(value) = value {
        assert_eq!(to.send(value), Ok(()));
    }
}

#[task]
async fn ask(value: Option<u64>) -> Option<u64> {
    let (to, from) = oneshot::channel();
    let ((), found) = join!(answer(to, value), from);
    found.ok()
}

#[task]
async fn wait_closed(mut to: oneshot::Sender<u64>) -> u64 {
    to.closed().await;
    to.send(7).unwrap_err()
}

#[task]
async fn drop_later(from: oneshot::Receiver<u64>) {
    yield_now().await;
    drop(from);
}

#[task]
async fn unwanted() -> u64 {
    let (to, from) = oneshot::channel();
    let (value, ()) = join!(wait_closed(to), drop_later(from));
    value
}

#[test]
fn a_oneshot_delivers_a_value_or_its_absence() {
    within_a_minute(|| {
        everywhere(|runtime| {
            assert_eq!((runtime.run(ask(Some(3))), runtime.run(ask(None))), (Some(3), None));
            assert_eq!(runtime.run(unwanted()), 7);
        });
    });
    let (to, mut from) = oneshot::channel();
    assert_eq!(from.try_recv(), Err(oneshot::TryRecvError::Empty));
    to.send(1).unwrap();
    assert_eq!((from.try_recv(), from.try_recv()), (Ok(1), Err(oneshot::TryRecvError::Closed)));
    let (to, mut from) = oneshot::channel();
    to.send(1).unwrap();
    from.close();
    assert_eq!(from.blocking_recv(), Ok(1));
}

#[task]
async fn follow(mut from: watch::Receiver<u64>) -> u64 {
    let mut last = *from.borrow();
    while from.changed().await.is_ok() {
        let now = *from.borrow_and_update();
        assert!(now > last || now == last && now == 60, "values come in order");
        last = now;
    }
    last
}

#[task]
async fn lead(to: watch::Sender<u64>) {
    for n in 1..=50 {
        to.send(n).unwrap();
        if n % 3 == 0 {
            yield_now().await;
        }
    }
    assert!(!to.send_if_modified(|_| false));
    to.closed().await;
}

#[task]
async fn stop(mut from: watch::Receiver<u64>) {
    while *from.borrow_and_update() < 50 {
        from.changed().await.unwrap();
    }
}

#[task]
async fn watched() -> Vec<u64> {
    let (to, from) = watch::channel(0);
    let (again, followers) = (to.clone(), (0..5).map(|_| stop(from.clone())).collect::<Vec<_>>());
    drop(from);
    let (_, ()) = join!(join_all(followers), lead(to));
    assert_eq!((again.receiver_count(), again.send(51)), (0, Err(watch::SendError(51))));
    let readers: Vec<_> = (0..3).map(|_| follow(again.subscribe())).collect();
    assert_eq!(again.send_replace(60), 50);
    drop(again);
    join_all(readers).await
}

#[test]
fn receivers_of_a_watch_see_the_last_value() {
    within_a_minute(|| everywhere(|runtime| assert_eq!(runtime.run(watched()), [60; 3])));
}
