//! Push and pull in one: a message is pushed while there is credit, and pulled otherwise.
//!
//! So a receiver that keeps up gets its messages by the shorter way, and a slow one stalls nobody before its senders' own
//! buffers are out. Order between a pair survives the change:
//!
//! - a pulled message says how many the receiver has received from its ring once all that this sender pushed before is
//!   among them, and is not received before;
//! - a sender goes back to pushing when all that it sent to that receiver by the other way has been received. It looks for
//!   that now and then only: where it looks, the receiver or the next sender has written.

use std::cell::Cell;
use std::ptr::NonNull;

use super::{pull, push};

/// Messages that are pulled before their sender looks whether it can push again.
const STAY: u32 = if cfg!(loom) { 1 } else { 8 };

/// A message that is pulled.
struct Pulled<T> {
    /// How many messages the receiver must have received from its ring before.
    after: u64,
    value: T,
}

/// Which ways a node takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ways {
    /// Only the one.
    Push,
    /// Only the other.
    Pull,
    /// Either.
    Both,
}

/// How a message has been sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// Into the receiver's ring.
    Pushed,
    /// From the sender's memory.
    Pulled,
}

/// A node: sends to all nodes, itself included, and receives what they send to it.
pub struct Node<T> {
    ways: Ways,
    push: push::Node<T>,
    pull: pull::Node<Pulled<T>>,
    /// By receiver: 0 if nothing is under way there that is pulled; else one more than how many are to be pulled before
    /// this node looks.
    pulling: Box<[Cell<u32>]>,
    /// The last message was pushed: now one that is pulled comes first.
    turn: Cell<bool>,
}

/// `nodes` nodes, each of which may have `share` messages under way to each in its ring, and `quota` in its own memory.
///
/// # Panics
/// If one of them is 0.
pub fn net_of<T: Send>(nodes: usize, ways: Ways, share: u32, quota: u32) -> Vec<Node<T>> {
    // What is not used takes no room.
    let pushes = push::net(nodes, if ways == Ways::Pull { 1 } else { share });
    let pulls = pull::net(nodes, if ways == Ways::Push { 1 } else { quota });
    let pulling = || (0..nodes).map(|_| Cell::new(0)).collect();
    let node = |(push, pull)| Node { ways, push, pull, pulling: pulling(), turn: Cell::new(false) };
    pushes.into_iter().zip(pulls).map(node).collect()
}

/// The same with both ways, and as much room in either.
pub fn net<T: Send>(nodes: usize, room: u32) -> Vec<Node<T>> {
    net_of(nodes, Ways::Both, room, room)
}

impl<T: Send> Node<T> {
    /// Sends `value` to node `to`. Never waits.
    ///
    /// # Errors
    /// With the value, if neither way has room.
    ///
    /// # Panics
    /// If there is no such node.
    #[inline]
    pub fn send(&self, to: usize, value: T) -> Result<(), T> {
        let mut value = Some(value);
        match self.send_with(to, || value.take().expect("made once")) {
            Some(_) => Ok(()),
            None => Err(value.expect("not written")),
        }
    }

    /// The same of the message that `make` makes; how it has been sent. If it has not, nothing was made.
    ///
    /// # Panics
    /// As [`send`](Node::send). `make` must not panic.
    #[inline(always)]
    pub fn send_with(&self, to: usize, mut make: impl FnMut() -> T) -> Option<Sent> {
        // SAFETY: the place is this message's.
        let write = |place: NonNull<T>| unsafe { place.write(make()) };
        // SAFETY: the place holds the message then.
        unsafe { self.send_in_place(to, write) }
    }

    /// The same of a message that `write` writes where it is to lie; how it has been sent. If it has not, `write` was not
    /// called.
    ///
    /// # Safety
    /// `write` makes the place hold a `T`.
    ///
    /// # Panics
    /// If there is no such node. `write` must not panic.
    #[inline(always)]
    pub unsafe fn send_in_place(&self, to: usize, mut write: impl FnMut(NonNull<T>)) -> Option<Sent> {
        let pushes = match self.ways {
            Ways::Push => true,
            Ways::Pull => false,
            Ways::Both => self.may_push(to),
        };
        // SAFETY: passed on.
        if pushes && unsafe { self.push.send_in_place(to, &mut write) } {
            return Some(Sent::Pushed);
        }
        if self.ways == Ways::Push {
            return None;
        }
        let write = |place: NonNull<Pulled<T>>| {
            let place = place.as_ptr();
            // SAFETY: the place is this message's.
            unsafe { (&raw mut (*place).after).write(self.push.sent(to)) };
            // SAFETY: as above.
            write(unsafe { NonNull::new_unchecked(&raw mut (*place).value) });
        };
        // SAFETY: the place holds a number, and by the caller's word a value.
        let sent = unsafe { self.pull.send_in_place(to, write) };
        if pushes && sent {
            self.pulling[to].set(1 + STAY);
        }
        sent.then_some(Sent::Pulled)
    }

    /// Whether nothing is under way to node `to` that is pulled, as far as this node has looked.
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

    /// Whether a message is there, or almost; any thread may ask.
    #[inline]
    pub fn waits(&self) -> bool {
        self.push.waits() || self.pull.waits()
    }

    /// The receiver will not look for a while.
    pub fn rest(&self) {
        self.pull.rest();
    }

    /// The next message, and who sent it. Never waits.
    #[inline]
    pub fn receive(&self) -> Option<(usize, T)> {
        // SAFETY: the value is read.
        unsafe { self.receive_with(|from, place| (from, place.read())) }
    }

    /// As [`receive`](Node::receive), the message read where it lies. Neither way keeps the other waiting.
    ///
    /// # Safety
    /// `read` takes the value out of its place, or destroys it there, and does not receive.
    #[inline(always)]
    pub unsafe fn receive_with<R>(&self, mut read: impl FnMut(usize, NonNull<T>) -> R) -> Option<R> {
        let first = self.turn.get();
        for pulled in [first, !first] {
            let received = if pulled {
                // SAFETY: passed on.
                unsafe { self.pulled(&mut read) }
            } else {
                // SAFETY: passed on.
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
            // SAFETY: it is there, and the rest of a `Pulled` is a number.
            read(from, unsafe { NonNull::new_unchecked(&raw mut (*pulled.as_ptr()).value) })
        };
        // SAFETY: passed on.
        unsafe { self.pull.receive_with(now, read) }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// By push while there is credit; then by pull until nothing of that is left and the sender has looked.
    #[test]
    fn a_sender_goes_back_to_pushing() {
        let nodes = net_of::<u32>(2, Ways::Both, 2, 64);
        let mut numbers = 0..;
        let mut send = || nodes[0].send_with(1, || numbers.next().expect("there are more"));
        let mut received = 0..;
        let mut receive_all = || {
            // The last buffer is given back when the receiver has looked in vain for a while.
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

    /// What cannot be pulled, since another receiver has all the buffers, is pushed as soon as there is credit.
    #[test]
    fn who_could_not_pull_pushes_when_there_is_credit() {
        let nodes = net_of::<u32>(3, Ways::Both, 2, 4);
        for n in 0..6 {
            assert!(nodes[0].send(2, n).is_ok());
        }
        assert_eq!([nodes[0].send(1, 0), nodes[0].send(1, 1), nodes[0].send(1, 2)], [Ok(()), Ok(()), Err(2)]);
        assert_eq!(nodes[1].receive(), Some((0, 0)));
        assert_eq!(nodes[1].receive(), Some((0, 1)));
        assert_eq!(nodes[0].send(1, 2), Ok(()), "there is credit, and nothing is under way that is pulled");
    }
}
