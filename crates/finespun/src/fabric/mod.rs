//! Fabrics: what carries messages between the workers of a run.
//!
//! A [`Fabric`] is one worker's end of it. There is one so far, [`threads`]: the workers are threads of this process, and the
//! messages lie in memory that all of them see. Above this room nothing knows that: what crosses workers goes through
//! the trait.
//!
//! Three transports carry the messages of `threads`. Two of them are of the Illinois Concert system (Karamcheti, Plevyak,
//! Chien: *Runtime Mechanisms for Efficient Dynamic Multithreading*, sections 4.1 and 4.3), the third is made of them; all
//! work between a fixed set of nodes:
//!
//! - [`push`]: the sender writes into a ring in the receiver's memory. Lowest latency; a slow receiver stalls its
//!   senders, who run out of credit.
//! - [`pull`]: the sender keeps the message in its own memory and links it into the receiver's queue. A slow receiver
//!   stalls nobody before its senders' own buffers are all out.
//! - [`adaptive`]: either, by whether there is room, with the order kept.
//!
//! What they carry is not their business: a value moves as it is. None ever waits: where there is no room, the message
//! comes back to who wanted to send it. In each, the messages of one sender arrive in the order in which they were sent.
//! `finespun bench transports` measures them.

pub mod adaptive;
pub mod pull;
pub mod push;
pub(crate) mod threads;

use std::ptr::NonNull;

use crate::observe::Counters;

/// One worker's end of what carries messages `M`: it alone sends and receives by it.
///
/// The messages from one worker to another arrive in the order in which they were sent, each once. Nothing waits.
///
/// # Safety
/// [`send_in_place`](Fabric::send_in_place) calls `write` once if it returns true, and else not at all: the caller has moved a
/// message into the place, or still has it.
pub(crate) unsafe trait Fabric<M> {
    /// A receiver sees the sender's memory, so a message may name what lies there. Else it has to be bytes.
    const SHARES_MEMORY: bool;

    /// Sends to worker `to` a message that `write` writes where it is to lie, if there is room; whether there was. If not,
    /// `write` was not called.
    ///
    /// # Safety
    /// `write` makes the place hold an `M`, and does not panic.
    unsafe fn send_in_place(&self, to: usize, write: impl FnMut(NonNull<M>), counters: &Counters) -> bool;

    /// The next message, read where it lies.
    ///
    /// # Safety
    /// `read` takes the message out of its place, or destroys it there, and does not receive.
    unsafe fn receive_with<R>(&self, read: impl FnMut(NonNull<M>) -> R) -> Option<R>;

    /// Whether a message is there, or almost; any thread may ask.
    fn waits(&self) -> bool;

    /// The worker will not look for a while.
    fn rest(&self);
}

/// A value on cache lines of its own: two, since processors fetch them in pairs.
#[repr(align(128))]
pub(crate) struct Line<T>(pub(crate) T);

/// The tests of a transport, whichever it is.
#[cfg(all(test, not(loom)))]
macro_rules! tests {
    ($transport:ident) => {
        mod $transport {
            use std::sync::Arc;
            use std::thread;

            use crate::fabric::$transport::{Node, net};

            const NODES: usize = 4;
            const EACH: u64 = 5_000;

            /// Sends so many messages to every node, and receives between them.
            fn work(index: usize, node: Node<Box<(usize, u64)>>) {
                let (mut sent, mut next) = ([0; NODES], [0; NODES]);
                while sent != [EACH; NODES] || next != [EACH; NODES] {
                    for (to, sent) in sent.iter_mut().enumerate().filter(|(_, sent)| **sent < EACH) {
                        if node.send(to, Box::new((index, *sent))).is_ok() {
                            *sent += 1;
                        }
                    }
                    match node.receive() {
                        Some((from, message)) => {
                            assert_eq!(*message, (from, next[from]), "in order, from each sender");
                            next[from] += 1;
                        }
                        None => thread::yield_now(),
                    }
                }
                // Who stops looking at once might keep the last buffer that another needs.
                for _ in 0..1000 {
                    assert!(node.receive().is_none());
                }
            }

            #[test]
            fn everybody_sends_to_everybody() {
                thread::scope(|scope| {
                    for (index, node) in net(NODES, 3).into_iter().enumerate() {
                        scope.spawn(move || work(index, node));
                    }
                });
            }

            #[test]
            fn what_was_not_received_is_dropped_once() {
                let counted = Arc::new(());
                let mut nodes = net(2, 4);
                for _ in 0..3 {
                    assert!(nodes[0].send(1, Arc::clone(&counted)).is_ok());
                }
                drop(nodes[1].receive());
                assert_eq!(Arc::strong_count(&counted), 3);
                // The receiver goes first.
                drop(nodes.pop());
                assert!(nodes[0].send(1, Arc::clone(&counted)).is_ok());
                drop(nodes);
                assert_eq!(Arc::strong_count(&counted), 1);
            }
        }
    };
}

#[cfg(all(test, not(loom)))]
mod tests {
    tests!(push);
    tests!(pull);
    tests!(adaptive);
}

/// The model of a transport, whichever it is.
#[cfg(all(test, loom))]
macro_rules! model {
    ($transport:ident) => {
        /// Room for one message of each of two senders, so that the second needs the room of the first, or the other
        /// sender's. One of them is the receiver itself.
        #[test]
        fn $transport() {
            use crate::atomics::thread;
            loom::model(|| {
                let mut nodes = super::$transport::net::<u64>(2, 1).into_iter();
                let (receiver, sender) = (nodes.next().unwrap(), nodes.next().unwrap());
                let sending = thread::spawn(move || {
                    for n in 0..2 {
                        while sender.send(0, 10 + n).is_err() {
                            thread::yield_now();
                        }
                    }
                });
                let (mut sent, mut next) = (0, [0, 0]);
                while next != [2, 2] {
                    if sent < 2 && receiver.send(0, sent).is_ok() {
                        sent += 1;
                    }
                    match receiver.receive() {
                        Some((from, value)) => {
                            assert_eq!(value, from as u64 * 10 + next[from], "once, and in order");
                            next[from] += 1;
                        }
                        None => thread::yield_now(),
                    }
                }
                assert!(receiver.receive().is_none());
                sending.join().unwrap();
            });
        }
    };
}

#[cfg(all(test, loom))]
mod models {
    model!(push);
    model!(pull);
    model!(adaptive);
}
