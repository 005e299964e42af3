//! Fabrics: the carriers of messages between the workers of a team.
//!
//! A [`Fabric`] is one worker's endpoint. In [`threads`], the workers are threads of this process, and messages are in
//! memory that they all share. In [`processes`], they are the workers of several processes, and messages are bytes in
//! memory that the processes share; or, between hosts, in bundles over a [`wire`]. In `simulated`, they are the workers of a simulated machine, without shared memory,
//! and messages arrive in virtual time. No code outside this module relies on either: everything that crosses workers goes
//! through the trait.
//!
//! Three transports carry the messages of `threads`. Two are the Illinois Concert system's (Karamcheti, Plevyak, Chien:
//! *Runtime Mechanisms for Efficient Dynamic Multithreading*, sections 4.1 and 4.3), the third combines them; all work
//! between a fixed set of endpoints (`Node`, one per worker):
//!
//! - [`push`]: the sender writes into a ring in the receiver's memory. Lowest latency; a slow receiver stalls its
//!   senders, which run out of credit.
//! - [`pull`]: the sender keeps the message in its own memory and links it into the receiver's queue. A slow receiver
//!   stalls no sender before that sender's own buffers are all in use.
//! - [`adaptive`]: pushes or pulls, depending on where room is left, and keeps the order.
//!
//! Transports move values without looking into them. None ever waits: without room, the message returns to its sender.
//! In each, the messages of one sender arrive in the order in which they were sent. `finespun bench transports`
//! measures them.

pub mod adaptive;
pub(crate) mod buffers;
#[cfg(all(test, not(loom)))]
mod conformance;
pub(crate) mod notice;
pub(crate) mod placed;
pub(crate) mod processes;
pub mod pull;
pub mod push;
pub mod recorder;
#[cfg(feature = "simulation")]
pub(crate) mod simulated;
pub(crate) mod threads;
pub(crate) mod wire;

use std::ops::Index;
use std::ptr::NonNull;

use crate::observe::Counters;

/// One worker's endpoint for messages `M`: that worker alone sends and receives through it.
///
/// The messages from one worker to another arrive in the order in which they were sent, each once. No operation waits,
/// but the other workers of a simulated machine may run during one.
///
/// # Safety
/// [`send_in_place`](Fabric::send_in_place) calls `write` exactly once if it returns true, and never if it returns
/// false. The caller then knows whether it has moved its message into the place, or still owns it.
pub(crate) unsafe trait Fabric<M> {
    /// Returns whether the fabric asks for the sizes of messages.
    fn weighs(&self) -> bool;

    /// Sends to worker `to` a message of `bytes()` that `write` writes in its final place, if there is room. Returns
    /// whether it was sent. If not, `write` was not called.
    ///
    /// # Safety
    /// `write` initializes the place with an `M`, and does not panic.
    unsafe fn send_in_place(
        &self,
        to: usize,
        bytes: impl Fn() -> usize,
        write: impl FnMut(NonNull<M>),
        counters: &Counters,
    ) -> bool;

    /// Receives the next message, read in place.
    ///
    /// # Safety
    /// `read` moves the message out of its place, or destroys it there, and does not receive.
    unsafe fn receive_with<R>(&self, read: impl FnMut(NonNull<M>) -> R) -> Option<R>;

    /// Returns whether to receive is worthwhile: false if no message has arrived.
    fn arrived(&self) -> bool;

    /// Returns whether a message has been sent and not received, even if it cannot be received yet; any thread may ask.
    fn waits(&self) -> bool;

    /// Returns the last buffer, if any, to its sender: the worker will not poll for a while.
    fn rest(&self);
}

/// One worker's endpoint of the fabric of a runtime in one process.
pub(crate) enum Endpoint<M> {
    Threads(threads::Threads<M>),
    #[cfg(feature = "simulation")]
    Simulated(simulated::Simulated<M>),
}

/// Calls a method of the endpoint's fabric.
macro_rules! of_fabric {
    ($endpoint:expr, $end:ident => $call:expr) => {
        match $endpoint {
            Endpoint::Threads($end) => $call,
            #[cfg(feature = "simulation")]
            Endpoint::Simulated($end) => $call,
        }
    };
}

// SAFETY: each method calls that of the endpoint's fabric.
unsafe impl<M: Send> Fabric<M> for Endpoint<M> {
    fn weighs(&self) -> bool {
        of_fabric!(self, end => Fabric::<M>::weighs(end))
    }

    #[inline(always)]
    unsafe fn send_in_place(
        &self,
        to: usize,
        bytes: impl Fn() -> usize,
        write: impl FnMut(NonNull<M>),
        counters: &Counters,
    ) -> bool {
        // SAFETY: as the caller guarantees.
        of_fabric!(self, end => unsafe { Fabric::send_in_place(end, to, bytes, write, counters) })
    }

    #[inline(always)]
    unsafe fn receive_with<R>(&self, read: impl FnMut(NonNull<M>) -> R) -> Option<R> {
        // SAFETY: as the caller guarantees.
        of_fabric!(self, end => unsafe { Fabric::receive_with(end, read) })
    }

    #[inline]
    fn arrived(&self) -> bool {
        of_fabric!(self, end => Fabric::<M>::arrived(end))
    }

    #[inline]
    fn waits(&self) -> bool {
        of_fabric!(self, end => Fabric::<M>::waits(end))
    }

    fn rest(&self) {
        of_fabric!(self, end => Fabric::<M>::rest(end));
    }
}

/// A value on cache lines of its own: two, since processors fetch lines in pairs.
#[repr(align(128))]
pub(crate) struct OwnCacheLine<T>(pub(crate) T);

/// Values by node that one thread uses, on cache lines that no other thread writes: there is room around them.
pub(crate) struct PerNode<T>(Box<[T]>);

impl<T> PerNode<T> {
    /// The number of values that take as much memory as an [`OwnCacheLine`].
    const ROOM: usize = align_of::<OwnCacheLine<u8>>().div_ceil(size_of::<T>());

    /// Makes the values of `nodes` nodes.
    pub(crate) fn new(nodes: usize, make: impl Fn() -> T) -> PerNode<T> {
        PerNode((0..nodes + 2 * Self::ROOM).map(|_| make()).collect())
    }

    /// Returns the value of a node. For a number that is too large, returns `None`, or a value of no node.
    #[inline(always)]
    pub(crate) fn get(&self, node: usize) -> Option<&T> {
        self.0.get(Self::ROOM + node)
    }

    /// Iterates over the values of all nodes.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.0[Self::ROOM..self.0.len() - Self::ROOM].iter()
    }
}

/// As [`get`](PerNode::get), but panics where that returns `None`.
impl<T> Index<usize> for PerNode<T> {
    type Output = T;

    #[inline(always)]
    fn index(&self, node: usize) -> &T {
        &self.0[Self::ROOM + node]
    }
}

/// Fetches the cache line at this place, which is probably written next, while the sender goes on.
#[inline(always)]
fn fetch_for_writing<T>(place: *const T) {
    #[cfg(all(target_arch = "x86_64", not(any(loom, miri))))]
    // SAFETY: changes no value, in memory or in a register.
    unsafe {
        std::arch::asm!("prefetchw [{}]", in(reg) place, options(nostack, preserves_flags));
    }
    #[cfg(not(all(target_arch = "x86_64", not(any(loom, miri)))))]
    let _ = place;
}

/// The tests that every transport must pass.
#[cfg(all(test, not(loom)))]
macro_rules! tests {
    ($transport:ident) => {
        mod $transport {
            use std::sync::Arc;
            use std::thread;

            use crate::fabric::$transport::{Node, net};

            const NODES: usize = 4;
            const EACH: u64 = 5_000;

            /// Sends `EACH` messages to every node, and receives in between.
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
                // A node that stopped polling at once might keep the last buffer that another node needs.
                for _ in 0..1000 {
                    assert!(node.receive().is_none());
                }
            }

            #[test]
            fn all_nodes_send_to_all_nodes() {
                thread::scope(|scope| {
                    for (index, node) in net(NODES, 3).into_iter().enumerate() {
                        scope.spawn(move || work(index, node));
                    }
                });
            }

            #[test]
            fn undelivered_messages_are_dropped_once() {
                let counted = Arc::new(());
                let mut nodes = net(2, 4);
                for _ in 0..3 {
                    assert!(nodes[0].send(1, Arc::clone(&counted)).is_ok());
                }
                drop(nodes[1].receive());
                assert_eq!(Arc::strong_count(&counted), 3);
                // The receiver is dropped first.
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

/// The loom model that every transport must pass.
#[cfg(all(test, loom))]
macro_rules! model {
    ($transport:ident) => {
        /// Each of two senders has room for one message, so the second message reuses the room of the first, or the
        /// other sender's. One of the senders is the receiver itself.
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
