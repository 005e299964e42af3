//! Pull: queues through the senders' memories, read by their receivers.
//!
//! ```text
//!   a buffer, in its sender's memory
//!
//!          (1) tail := this                          (3) the receiver reads, and passes it
//!   SPARE ---------------------------------> QUEUED ----------------------------> FREE
//!     ^      the sender writes, (2) the one before is linked                       |
//!     +----------------------------------------------------------------------------+
//!                               (4) the sender takes it back
//!
//!   tail --------------------------------------------v
//!   head -> [read] -> [buffer of A] -> [buffer of B]   [buffer of A]     between (1) and (2): not linked yet
//! ```
//!
//! The four steps of the Concert system (concert-runtime-mechanisms, section 4.3, figure 9). One swap per message and
//! nothing else that two senders share; swap is the only read-modify-write, so that a network which has no other can
//! do it. The receiver never waits between (1) and (2) of a sender: there the queue seems to end, and it comes back.
//!
//! The paper's sender writes before it swaps. Here it writes between (1) and (2), since nobody looks at a message before it is
//! linked: the lines of a buffer lie in the cache of who received from it last, and a swap would wait until they have come
//! back. So a spare buffer must be ready to be swapped in as it is, with no next: the receiver clears that when it passes
//! the buffer.
//!
//! The buffers that went to one receiver become free in the order in which they were sent, and who sees one of them free sees
//! all before it free: a sender looks at few of them. It uses no more buffers than it needs, so that they stay in its cache.
//!
//! A buffer can be passed when the next is known. The last one is read all the same, and passed when another has come;
//! if none comes for a while, the receiver puts its own *stub* behind it, as a sender would, and skips that later (after
//! Vyukov's intrusive queue), so that an idle receiver keeps nobody's buffer.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use super::Line;
use crate::atomics::{Arc, AtomicBool, AtomicPtr, Ordering, UnsafeCell};

#[cfg(all(test, loom))]
mod models;

/// Buffers that a sender uses at first; then as many again as it uses, if none of them is free.
const FEW: u32 = 32;

/// Looks in vain before a receiver gives the last buffer back.
const PATIENCE: u32 = if cfg!(loom) { 1 } else { 64 };

/// One message, in its sender's memory.
struct Buffer<T> {
    next: AtomicPtr<Buffer<T>>,
    free: AtomicBool,
    from: u32,
    value: UnsafeCell<MaybeUninit<T>>,
}

impl<T> Buffer<T> {
    fn new(from: u32) -> Line<Buffer<T>> {
        Line(Buffer {
            next: AtomicPtr::new(ptr::null_mut()),
            free: AtomicBool::new(false),
            from,
            value: UnsafeCell::new(MaybeUninit::uninit()),
        })
    }
}

/// What one node has in the net.
struct Place<T> {
    tail: Line<AtomicPtr<Buffer<T>>>,
    stub: Line<Buffer<T>>,
    buffers: Box<[Line<Buffer<T>>]>,
    /// The buffer that was read last, or the stub: the receiver's, on a line that senders do not write.
    head: Line<AtomicPtr<Buffer<T>>>,
    /// The head has come, and has not been read.
    unread: AtomicBool,
}

struct Net<T> {
    places: Box<[Place<T>]>,
}

// SAFETY: a message is written by its sender and read by its receiver, one after the other.
unsafe impl<T: Send> Send for Net<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Net<T> {}

/// A node: sends to all nodes, itself included, and receives what they send to it.
pub struct Node<T> {
    net: Arc<Net<T>>,
    index: usize,
    /// Looks in a row at which nothing had come behind the head.
    idle: Cell<u32>,
    /// Own buffers that are free for sure.
    spare: RefCell<Vec<u32>>,
    /// Own buffers from this one on have never been used.
    unused: Cell<u32>,
    /// By receiver: own buffers that were sent to it, oldest first, which is the order in which they become free.
    sent: Box<[RefCell<VecDeque<u32>>]>,
}

/// `nodes` nodes, each of which may have `quota` messages under way.
///
/// # Panics
/// If one of them is 0.
pub fn net<T: Send>(nodes: usize, quota: u32) -> Vec<Node<T>> {
    assert!(nodes > 0 && quota > 0, "a net has nodes, and room for messages");
    let place = |node| Place {
        tail: Line(AtomicPtr::new(ptr::null_mut())),
        stub: Buffer::new(node),
        buffers: (0..quota).map(|_| Buffer::new(node)).collect(),
        head: Line(AtomicPtr::new(ptr::null_mut())),
        unread: AtomicBool::new(false),
    };
    let net = Arc::new(Net { places: (0..nodes as u32).map(place).collect() });
    for place in &net.places {
        // Relaxed, both: nobody else has the net yet.
        place.tail.0.store(place.stub(), Ordering::Relaxed);
        place.head.0.store(place.stub(), Ordering::Relaxed);
    }
    let node = |index: usize| Node {
        idle: Cell::new(0),
        net: Arc::clone(&net),
        index,
        spare: RefCell::new(Vec::new()),
        unused: Cell::new(0),
        sent: (0..nodes).map(|_| RefCell::new(VecDeque::new())).collect(),
    };
    (0..nodes).map(node).collect()
}

impl<T> Place<T> {
    fn stub(&self) -> *mut Buffer<T> {
        ptr::from_ref(&self.stub.0).cast_mut()
    }

    /// Step 1, of a buffer without a next, `write`, and step 2.
    #[inline(always)]
    fn link(&self, buffer: &Buffer<T>, write: impl FnOnce()) {
        // (1) Release: with the cleared next, for who writes behind it. Acquire: the one before is linked to as it was then.
        let before = self.tail.0.swap(ptr::from_ref(buffer).cast_mut(), Ordering::AcqRel);
        write();
        // (2) Release: with the message.
        // SAFETY: in the net, and not passed before it is linked.
        unsafe { &*before }.next.store(ptr::from_ref(buffer).cast_mut(), Ordering::Release);
    }

    /// The same of the stub, which carries nothing.
    fn link_stub(&self) {
        self.link(&self.stub.0, || ());
    }
}

impl<T: Send> Node<T> {
    fn place(&self) -> &Place<T> {
        &self.net.places[self.index]
    }

    fn is_free(&self, buffer: u32) -> bool {
        // (4) Acquire: after the reading, of this one and of those before it.
        self.place().buffers[buffer as usize].0.free.load(Ordering::Acquire)
    }

    /// Whether all that was sent to node `to` is free. Looks at the last only, which the receiver touches last.
    #[inline]
    pub fn settled(&self, to: usize) -> bool {
        let mut sent = self.sent[to].borrow_mut();
        let Some(&last) = sent.back() else { return true };
        let settled = self.is_free(last);
        if settled {
            self.spare.borrow_mut().extend(sent.drain(..));
        }
        settled
    }

    /// A spare buffer, if there is one, or one can be taken back, or has never been used.
    fn spare(&self) -> Option<u32> {
        let spare = self.spare.borrow_mut().pop();
        spare.or_else(|| self.more())
    }

    #[cold]
    #[inline(never)]
    fn more(&self) -> Option<u32> {
        let mut spare = self.spare.borrow_mut();
        for sent in &self.sent {
            let mut sent = sent.borrow_mut();
            let free = sent.partition_point(|&buffer| self.is_free(buffer));
            spare.extend(sent.drain(..free));
        }
        if spare.is_empty() {
            let (first, all) = (self.unused.get(), self.place().buffers.len() as u32);
            self.unused.set(all.min(2 * first.max(FEW / 2)));
            spare.extend((first..self.unused.get()).rev());
        }
        spare.pop()
    }

    /// Sends `value` to node `to`. Never waits, and never fails because of a slow receiver before all of this node's
    /// own buffers are out.
    ///
    /// # Errors
    /// With the value, if they are.
    ///
    /// # Panics
    /// If there is no such node.
    #[inline]
    pub fn send(&self, to: usize, value: T) -> Result<(), T> {
        let mut value = Some(value);
        // SAFETY: the place is this message's.
        let write = |place: NonNull<T>| unsafe { place.write(value.take().expect("written once")) };
        // SAFETY: the place holds the value then.
        let sent = unsafe { self.send_in_place(to, write) };
        if sent { Ok(()) } else { Err(value.expect("not written")) }
    }

    /// The same of a message that `write` writes where it is to lie; whether it has been sent. If not, `write` was not called.
    ///
    /// # Safety
    /// `write` makes the place hold a `T`.
    ///
    /// # Panics
    /// If there is no such node. If `write` panics, the queue is stuck: it must not.
    #[inline(always)]
    pub unsafe fn send_in_place(&self, to: usize, write: impl FnOnce(NonNull<T>)) -> bool {
        // A node that does not exist is found out before a buffer is taken.
        let receiver = &self.net.places[to];
        let Some(index) = self.spare() else { return false };
        let buffer = &self.place().buffers[index as usize].0;
        receiver.link(buffer, || {
            // SAFETY: the buffer is not linked yet.
            buffer.value.with_mut(|place| write(unsafe { NonNull::new_unchecked(place.cast()) }));
            // Relaxed: published by (2).
            buffer.free.store(false, Ordering::Relaxed);
        });
        self.sent[to].borrow_mut().push_back(index);
        true
    }

    /// Whether a message is there, or almost; any thread may ask.
    #[inline]
    pub fn waits(&self) -> bool {
        let place = self.place();
        // Relaxed, all: for others than the receiver a hint.
        let (head, tail) = (place.head.0.load(Ordering::Relaxed), place.tail.0.load(Ordering::Relaxed));
        if place.unread.load(Ordering::Relaxed) {
            return true;
        }
        // What is behind the head is a message, unless it is the stub and nothing else.
        // SAFETY: in the net.
        head != tail && !(tail == place.stub() && unsafe { &*head }.next.load(Ordering::Relaxed) == tail)
    }

    /// The next message, and who sent it. Never waits.
    #[inline]
    pub fn receive(&self) -> Option<(usize, T)> {
        // SAFETY: the value is read.
        unsafe { self.receive_with(|_| true, |from, place| (from, place.read())) }
    }

    /// As [`receive`](Node::receive), the message read where it lies, if `now` says so; else it stays the next.
    ///
    /// # Safety
    /// `read` takes the value out of its place, or destroys it there, and does not receive.
    #[inline(always)]
    pub unsafe fn receive_with<R>(
        &self,
        now: impl FnOnce(&T) -> bool,
        read: impl FnOnce(usize, NonNull<T>) -> R,
    ) -> Option<R> {
        let place = self.place();
        // Relaxed, here and below: this node's own; for others a hint.
        if !place.unread.load(Ordering::Relaxed) {
            let next = self.pass()?;
            if next == place.stub() {
                self.pass()?;
            }
            place.unread.store(true, Ordering::Relaxed);
        }
        // SAFETY: in the net, and not passed.
        let buffer = unsafe { &*place.head.0.load(Ordering::Relaxed) };
        // SAFETY: linked, and not read.
        if !buffer.value.with(|place| now(unsafe { (*place).assume_init_ref() })) {
            return None;
        }
        place.unread.store(false, Ordering::Relaxed);
        // SAFETY: linked, and read once.
        let read =
            |place: *mut MaybeUninit<T>| read(buffer.from as usize, unsafe { NonNull::new_unchecked(place.cast()) });
        Some(buffer.value.with_mut(read))
    }

    /// Gives the last buffer back at once, for a receiver that will not look again for a while.
    pub fn rest(&self) {
        let place = self.place();
        // Relaxed, all: this node's own; a sender that is not seen here is seen by the swap in `link`.
        let head = place.head.0.load(Ordering::Relaxed);
        let last = head != place.stub() && place.tail.0.load(Ordering::Relaxed) == head;
        if last && !place.unread.load(Ordering::Relaxed) {
            place.link_stub();
        }
        self.pass_stub();
    }

    /// Passes to the stub, if it comes next.
    fn pass_stub(&self) {
        let place = self.place();
        // Relaxed: this node's own.
        let head = place.head.0.load(Ordering::Relaxed);
        // SAFETY: in the net, and not passed.
        let next = unsafe { &*head }.next.load(Ordering::Acquire);
        if next == place.stub() && !place.unread.load(Ordering::Relaxed) {
            self.pass();
        }
    }

    /// Passes the head, if another buffer, or the stub, has come behind it: that one is the head then.
    #[inline]
    fn pass(&self) -> Option<*mut Buffer<T>> {
        let place = self.place();
        // Relaxed: this node's own.
        let head = place.head.0.load(Ordering::Relaxed);
        // SAFETY: in the net, and not passed.
        let buffer = unsafe { &*head };
        // (3) Acquire: with the message.
        let next = buffer.next.load(Ordering::Acquire);
        if next.is_null() {
            self.idle.set(self.idle.get().saturating_add(1));
            // Relaxed: who is not seen here is seen by the swap in `link`.
            if self.idle.get() == PATIENCE && head != place.stub() && place.tail.0.load(Ordering::Relaxed) == head {
                place.link_stub();
            }
            return None;
        }
        self.idle.set(0);
        // Relaxed: for others a hint.
        place.head.0.store(next, Ordering::Relaxed);
        // Relaxed: published by what follows, or, of the stub, by (1).
        buffer.next.store(ptr::null_mut(), Ordering::Relaxed);
        if head != place.stub() {
            // (3) Release: after the reading.
            buffer.free.store(true, Ordering::Release);
        }
        Some(next)
    }
}

impl<T> Drop for Net<T> {
    fn drop(&mut self) {
        for place in &self.places {
            // Relaxed, all: no node is left.
            let after = |buffer: *mut Buffer<T>| {
                // SAFETY: in the net.
                let next = unsafe { &*buffer }.next.load(Ordering::Relaxed);
                (!next.is_null()).then_some(next)
            };
            let mut at = place.head.0.load(Ordering::Relaxed);
            if place.unread.load(Ordering::Relaxed) {
                // SAFETY: in the net, linked, and not read.
                unsafe { &*at }.value.with_mut(|value| unsafe { (*value).assume_init_drop() });
            }
            while let Some(next) = after(at) {
                if next != place.stub() {
                    // SAFETY: in the net.
                    let buffer = unsafe { &*next };
                    // SAFETY: queued, and nobody has read it.
                    buffer.value.with_mut(|value| unsafe { (*value).assume_init_drop() });
                }
                at = next;
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn the_quota_bounds_what_is_under_way() {
        let nodes = net::<Box<u64>>(3, 4);
        for turn in 0..10 {
            for n in 0..4 {
                assert!(nodes[0].send(1 + n % 2, Box::new(turn * 4 + n as u64)).is_ok());
            }
            assert_eq!(nodes[0].send(1, Box::new(99)), Err(Box::new(99)), "all buffers are out");
            assert!(nodes[2].send(1, Box::new(7)).is_ok(), "another's buffer");
            assert_eq!(nodes[1].receive(), Some((0, Box::new(turn * 4))));
            assert_eq!(nodes[1].receive(), Some((0, Box::new(turn * 4 + 2))));
            assert_eq!(nodes[1].receive(), Some((2, Box::new(7))));
            assert_eq!(nodes[2].receive(), Some((0, Box::new(turn * 4 + 1))));
            assert_eq!(nodes[2].receive(), Some((0, Box::new(turn * 4 + 3))));
            // An idle receiver gives the last buffer back: at the look after the one that puts the stub behind it.
            for _ in 0..=PATIENCE {
                assert_eq!(nodes[1].receive(), None);
                assert_eq!(nodes[2].receive(), None);
            }
        }
    }

    #[test]
    fn few_buffers_are_used_while_few_are_needed() {
        let nodes = net(2, 1024);
        for n in 0..10_000 {
            assert!(nodes[0].send(1, n).is_ok());
            assert_eq!(nodes[1].receive(), Some((0, n)));
        }
        assert_eq!(nodes[0].unused.get(), FEW);
        for n in 0..1023 {
            assert!(nodes[0].send(1, n).is_ok(), "all can be used: one is the receiver's last");
        }
        assert_eq!(nodes[0].send(1, 0), Err(0));
    }

    #[test]
    fn a_node_that_does_not_exist_costs_no_buffer() {
        let nodes = net(1, 1);
        let sent = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| nodes[0].send(1, 5)));
        assert!(sent.is_err());
        assert_eq!(nodes[0].send(0, 6), Ok(()));
        assert_eq!(nodes[0].receive(), Some((0, 6)));
    }
}
