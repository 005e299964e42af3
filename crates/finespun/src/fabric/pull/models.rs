//! The queue under loom: its four steps, reused buffers, and several senders.

use super::*;
use crate::atomics::{explore, thread};

#[test]
fn two_senders_race_for_the_tail() {
    loom::model(|| {
        let mut nodes = net::<usize>(3, 1).into_iter();
        let receiver = nodes.next().unwrap();
        let send = |node: Node<usize>| thread::spawn(move || assert!(node.send(0, node.index).is_ok()));
        let senders: Vec<_> = nodes.map(send).collect();
        let mut received = [false; 2];
        while received != [true; 2] {
            match receiver.receive() {
                Some((from, value)) => {
                    assert_eq!(from, value);
                    assert!(!std::mem::replace(&mut received[from - 1], true), "once");
                }
                None => thread::yield_now(),
            }
        }
        assert!(receiver.receive().is_none());
        senders.into_iter().for_each(|sender| sender.join().unwrap());
    });
}

/// A sender that sees the last buffer free reuses all its buffers.
#[test]
fn if_the_last_buffer_is_free_all_are() {
    explore(5, || {
        let mut nodes = net::<u64>(2, 2).into_iter();
        let (receiver, sender) = (nodes.next().unwrap(), nodes.next().unwrap());
        let sending = thread::spawn(move || {
            assert!(sender.send(0, 0).is_ok());
            assert!(sender.send(0, 1).is_ok());
            while !sender.settled(0) {
                thread::yield_now();
            }
            assert!(sender.send(0, 2).is_ok());
            assert!(sender.send(0, 3).is_ok());
        });
        let mut next = 0;
        while next < 4 {
            match receiver.receive() {
                Some((1, value)) => {
                    assert_eq!(value, next);
                    next += 1;
                }
                _ => {
                    receiver.rest();
                    thread::yield_now();
                }
            }
        }
        sending.join().unwrap();
    });
}

/// A buffer that one receiver has passed is sent to another, where a second sender links behind it.
#[test]
fn a_buffer_is_reused_for_another_receiver() {
    loom::model(|| {
        let mut nodes = net::<u64>(2, 1).into_iter();
        let (a, b) = (nodes.next().unwrap(), nodes.next().unwrap());
        let other = thread::spawn(move || {
            assert!(b.send(0, 7).is_ok());
            while b.receive() != Some((0, 5)) {
                thread::yield_now();
            }
            b.rest();
        });
        assert!(a.send(1, 5).is_ok());
        let mut got = (false, false);
        let mut sent = false;
        while got != (true, true) {
            sent = sent || a.send(0, 6).is_ok();
            match a.receive() {
                Some((1, 7)) => got.0 = true,
                Some((0, 6)) => got.1 = true,
                None => thread::yield_now(),
                other => panic!("{other:?}"),
            }
        }
        other.join().unwrap();
    });
}
