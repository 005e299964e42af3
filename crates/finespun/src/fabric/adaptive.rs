//! Push and pull combined: a message is pushed while credit is left, and pulled otherwise.
//!
//! So a receiver that keeps up gets its messages by the shorter way, and a slow one stalls no sender before that
//! sender's own buffers are in use. The order between a pair of nodes survives a change of transport:
//!
//! - A pulled message contains the number of ring messages, from all senders, up to and including this sender's last
//!   pushed one. The receiver receives that many first.
//! - A sender returns to pushing when the receiver has received all its pulled messages. It checks only once per `STAY`
//!   messages, because each check is likely a cache miss: another thread has written the line.

use std::cell::Cell;
use std::ptr::NonNull;

use super::{PerNode, pull, push};

/// Pulled messages between two checks whether the sender can push again.
const STAY: u32 = if cfg!(loom) { 1 } else { 8 };

/// A message that is pulled.
struct Pulled<T> {
    /// The number of messages that the receiver must have received from its ring before.
    after: u64,
    value: T,
}

/// The transports that a node uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// Push only.
    Push,
    /// Pull only.
    Pull,
    /// Both.
    Both,
}

/// The transport that took a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Into the receiver's ring.
    Pushed,
    /// From the sender's memory.
    Pulled,
}

/// One worker's endpoint: sends to all endpoints, itself included, and receives their messages to it.
pub struct Node<T> {
    mode: Mode,
    push: push::Node<T>,
    pull: pull::Node<Pulled<T>>,
    /// By receiver: 0 if no pulled message is in flight there, as far as this node knows; otherwise one more than the
    /// number of messages to pull before this node checks again.
    pulling: PerNode<Cell<u32>>,
    /// Set if the last message received was pushed: then a pulled one is tried first.
    turn: Cell<bool>,
}

/// Creates `nodes` nodes. Each may have `share` messages in flight to each node in its ring, and `quota` in its own
/// memory.
///
/// # Panics
/// If `nodes`, or the room of a transport in use, is 0.
#[track_caller]
pub fn net_of<T: Send>(nodes: usize, mode: Mode, share: u32, quota: u32) -> Vec<Node<T>> {
    // A transport that is not used gets minimal room.
    let pushes = push::net(nodes, if mode == Mode::Pull { 1 } else { share });
    let pulls = pull::net(nodes, if mode == Mode::Push { 1 } else { quota });
    let node = |(push, pull)| {
        let pulling = PerNode::new(nodes, || Cell::new(0));
        Node { mode, push, pull, pulling, turn: Cell::new(false) }
    };
    pushes.into_iter().zip(pulls).map(node).collect()
}

/// Creates a net that uses both transports, with the same room in either.
pub fn net<T: Send>(nodes: usize, room: u32) -> Vec<Node<T>> {
    net_of(nodes, Mode::Both, room, room)
}

impl<T: Send> Node<T> {
    /// Sends `value` to node `to`. Never waits.
    ///
    /// # Errors
    /// Returns the value if neither transport has room.
    ///
    /// # Panics
    /// If node `to` does not exist.
    #[inline]
    pub fn send(&self, to: usize, value: T) -> Result<(), T> {
        let mut value = Some(value);
        match self.send_with(to, || value.take().expect("made once")) {
            Some(_) => Ok(()),
            None => Err(value.expect("not written")),
        }
    }

    /// Like [`send`](Node::send), for a message that `make` makes. Returns the transport that took it. If none did,
    /// `make` was not called.
    ///
    /// # Panics
    /// As [`send`](Node::send). `make` must not panic.
    #[inline(always)]
    pub fn send_with(&self, to: usize, mut make: impl FnMut() -> T) -> Option<Sent> {
        // SAFETY: the place is valid for a `T`, and no other thread accesses it yet.
        let write = |place: NonNull<T>| unsafe { place.write(make()) };
        // SAFETY: `write` initializes the place with the message.
        unsafe { self.send_in_place(to, write) }
    }

    /// Like [`send`](Node::send), for a message that `write` writes in its final place. Returns the transport that took
    /// it. If none did, `write` was not called.
    ///
    /// # Safety
    /// `write` initializes the place with a `T`.
    ///
    /// # Panics
    /// If node `to` does not exist. `write` must not panic.
    #[inline(always)]
    pub unsafe fn send_in_place(&self, to: usize, mut write: impl FnMut(NonNull<T>)) -> Option<Sent> {
        let pushes = match self.mode {
            Mode::Push => true,
            Mode::Pull => false,
            Mode::Both => self.may_push(to),
        };
        // SAFETY: the caller guarantees that `write` initializes the place with a `T`.
        if pushes && unsafe { self.push.send_in_place(to, &mut write) } {
            return Some(Sent::Pushed);
        }
        if self.mode == Mode::Push {
            return None;
        }
        let write = |place: NonNull<Pulled<T>>| {
            let place = place.as_ptr();
            // SAFETY: the place is valid for a `Pulled<T>`, and no other thread accesses it yet.
            unsafe { (&raw mut (*place).after).write(self.push.sent(to)) };
            // SAFETY: a pointer to a field of a valid place is not null.
            write(unsafe { NonNull::new_unchecked(&raw mut (*place).value) });
        };
        // SAFETY: `write` initializes `after`, and the caller guarantees that its own `write` initializes `value`.
        let sent = unsafe { self.pull.send_in_place(to, write) };
        if pushes && sent {
            self.pulling[to].set(1 + STAY);
        }
        sent.then_some(Sent::Pulled)
    }

    /// Returns whether no pulled message is in flight to node `to`, as far as this node has checked.
    #[inline(always)]
    fn may_push(&self, to: usize) -> bool {
        let pulling = &self.pulling[to];
        match pulling.get() {
            0 => true,
            1 if self.pull.settled(to) => {
                pulling.set(0);
                true
            }
            1 => {
                pulling.set(STAY);
                false
            }
            more => {
                pulling.set(more - 1);
                false
            }
        }
    }

    /// Returns whether a message is available, or about to be; any thread may ask.
    #[inline]
    pub fn waits(&self) -> bool {
        self.push.waits() || self.pull.waits()
    }

    /// Returns the last buffer, if any, to its sender: the worker will not poll for a while.
    pub fn rest(&self) {
        self.pull.rest();
    }

    /// Receives the next message, with its sender's index. Never waits.
    #[inline]
    pub fn receive(&self) -> Option<(usize, T)> {
        // SAFETY: `read` moves the value out.
        unsafe { self.receive_with(|from, place| (from, place.read())) }
    }

    /// Like [`receive`](Node::receive), but `read` reads the message in place. Neither transport starves the other.
    ///
    /// # Safety
    /// `read` moves the value out of its place, or destroys it there, and does not receive.
    #[inline(always)]
    pub unsafe fn receive_with<R>(&self, mut read: impl FnMut(usize, NonNull<T>) -> R) -> Option<R> {
        let first = self.turn.get();
        for pulled in [first, !first] {
            let received = if pulled {
                // SAFETY: the caller guarantees that `read` takes or destroys the value, and does not receive.
                unsafe { self.pulled(&mut read) }
            } else {
                // SAFETY: the caller guarantees that `read` takes or destroys the value, and does not receive.
                unsafe { self.push.receive_with(&mut read) }
            };
            if received.is_some() {
                self.turn.set(!pulled);
                return received;
            }
        }
        None
    }

    /// # Safety
    /// As [`receive_with`](Node::receive_with).
    #[inline(always)]
    unsafe fn pulled<R>(&self, mut read: impl FnMut(usize, NonNull<T>) -> R) -> Option<R> {
        let received = self.push.received();
        let now = |pulled: &Pulled<T>| pulled.after <= received;
        let read = |from, pulled: NonNull<Pulled<T>>| {
            // SAFETY: a pointer to a field is not null.
            read(from, unsafe { NonNull::new_unchecked(&raw mut (*pulled.as_ptr()).value) })
        };
        // SAFETY: the caller guarantees that its `read` takes or destroys the value, and does not receive. The other
        // field is a number, which needs no destructor.
        unsafe { self.pull.receive_with(now, read) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// Pushes while credit is left; then pulls until no pulled message is in flight and the sender has checked.
    #[test]
    fn a_sender_goes_back_to_pushing() {
        let nodes = net_of::<u32>(2, Mode::Both, 2, 64);
        let mut numbers = 0..;
        let mut send = || nodes[0].send_with(1, || numbers.next().expect("there are more"));
        let mut received = 0..;
        let mut receive_all = || {
            // The receiver gives the last buffer back after a number of empty polls.
            for _ in 0..200 {
                if let Some((from, number)) = nodes[1].receive() {
                    assert_eq!((from, Some(number)), (0, received.next()), "in order, whichever way");
                }
            }
        };
        for _ in 0..3 {
            assert_eq!([send(), send(), send()], [Sent::Pushed, Sent::Pushed, Sent::Pulled].map(Some));
            receive_all();
            for _ in 0..STAY {
                assert_eq!(send(), Some(Sent::Pulled), "it stays for a while");
                receive_all();
            }
            assert_eq!(send(), Some(Sent::Pushed));
            receive_all();
        }
    }

    /// A message that cannot be pulled, since another receiver has all the buffers, is pushed as soon as credit is
    /// left.
    #[test]
    fn a_sender_without_buffers_pushes_when_it_has_credit() {
        let nodes = net_of::<u32>(3, Mode::Both, 2, 4);
        for n in 0..6 {
            assert!(nodes[0].send(2, n).is_ok());
        }
        assert_eq!([nodes[0].send(1, 0), nodes[0].send(1, 1), nodes[0].send(1, 2)], [Ok(()), Ok(()), Err(2)]);
        assert_eq!(nodes[1].receive(), Some((0, 0)));
        assert_eq!(nodes[1].receive(), Some((0, 1)));
        assert_eq!(nodes[0].send(1, 2), Ok(()), "there is credit, and nothing is under way that is pulled");
    }
}
