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
//! The four steps of the Concert system [C §4.3, figure 9]. Two senders contend only for the receiver's tail, and a
//! message costs one swap on it. Swap is the only read-modify-write, so a network that offers no other suffices. The
//! receiver does not wait for a sender that is between (1) and (2): the queue seems to end there, and the receiver
//! polls again later.
//!
//! The paper's sender writes before it swaps. Here it writes between (1) and (2): no thread reads a message before it
//! is linked, and a swap after the writes would wait for the buffer's cache lines to come back from its last receiver.
//! So a spare buffer must be ready to be swapped in as it is, with a null `next`: the receiver clears `next` when it
//! passes the buffer.
//!
//! The buffers sent to one receiver become free in the order in which they were sent, and a sender that sees one free
//! also sees all earlier ones free, so it checks few. It uses no more buffers than necessary, so that the buffers stay
//! in its cache.
//!
//! A buffer can be passed only when its successor is known. The last one is read all the same, and passed when another
//! has arrived. If none arrives for a while, the receiver links its own *stub* behind it, as a sender would, and skips
//! the stub later (after Vyukov's intrusive queue), so that an idle receiver keeps no sender's buffer.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::mem::MaybeUninit;
use std::ptr::{self, NonNull};

use super::{OwnCacheLine, PerNode, fetch_for_writing};
use crate::atomics::{Arc, AtomicBool, AtomicPtr, Ordering, UnsafeCell};

#[cfg(all(test, loom))]
mod models;

/// Buffers that a sender uses at first. It doubles their number whenever none is free.
const FEW: u32 = 32;

const CACHE_LINE: usize = 64;

/// Empty polls before a receiver gives the last buffer back.
const PATIENCE: u32 = if cfg!(loom) { 1 } else { 64 };

/// One message, in its sender's memory.
struct Buffer<T> {
    next: AtomicPtr<Buffer<T>>,
    free: AtomicBool,
    from: u32,
    value: UnsafeCell<MaybeUninit<T>>,
}

impl<T> Buffer<T> {
    fn new(from: u32) -> OwnCacheLine<Buffer<T>> {
        OwnCacheLine(Buffer {
            next: AtomicPtr::new(ptr::null_mut()),
            free: AtomicBool::new(false),
            from,
            value: UnsafeCell::new(MaybeUninit::uninit()),
        })
    }
}

/// One node's part of the net.
struct NodePart<T> {
    tail: OwnCacheLine<AtomicPtr<Buffer<T>>>,
    stub: OwnCacheLine<Buffer<T>>,
    buffers: Box<[OwnCacheLine<Buffer<T>>]>,
    /// The buffer to read (if `unread`) or read last, or the stub. On a cache line that only the receiver writes.
    head: OwnCacheLine<AtomicPtr<Buffer<T>>>,
    /// Set while the head has a message that has not been read.
    unread: AtomicBool,
}

struct Net<T> {
    places: Box<[NodePart<T>]>,
}

// SAFETY: a message is written by its sender, and later read by its receiver, never at the same time.
unsafe impl<T: Send> Send for Net<T> {}
// SAFETY: a message is written by its sender, and later read by its receiver, never at the same time.
unsafe impl<T: Send> Sync for Net<T> {}

/// One worker's endpoint: sends to all endpoints, itself included, and receives their messages to it.
pub struct Node<T> {
    net: Arc<Net<T>>,
    index: usize,
    /// Consecutive polls that found nothing behind the head.
    idle: Cell<u32>,
    /// Own buffers that are known to be free.
    spare: RefCell<Vec<u32>>,
    /// The first own buffer that has never been used; nor has any after it.
    unused: Cell<u32>,
    /// By receiver: own buffers that were sent to it, oldest first, which is the order in which they become free.
    sent: PerNode<RefCell<VecDeque<u32>>>,
}

/// Creates `nodes` nodes, each of which may have `quota` messages in flight.
///
/// # Panics
/// If `nodes` or `quota` is 0.
#[track_caller]
pub fn net<T: Send>(nodes: usize, quota: u32) -> Vec<Node<T>> {
    assert!(nodes > 0 && quota > 0, "a net needs at least one node and room for a message");
    let place = |node| NodePart {
        tail: OwnCacheLine(AtomicPtr::new(ptr::null_mut())),
        stub: Buffer::new(node),
        buffers: (0..quota).map(|_| Buffer::new(node)).collect(),
        head: OwnCacheLine(AtomicPtr::new(ptr::null_mut())),
        unread: AtomicBool::new(false),
    };
    let net = Arc::new(Net { places: (0..nodes as u32).map(place).collect() });
    for place in &net.places {
        // Relaxed, both: no other thread has the net yet.
        place.tail.0.store(place.stub(), Ordering::Relaxed);
        place.head.0.store(place.stub(), Ordering::Relaxed);
    }
    let node = |index: usize| Node {
        idle: Cell::new(0),
        net: Arc::clone(&net),
        index,
        spare: RefCell::new(Vec::new()),
        unused: Cell::new(0),
        sent: PerNode::new(nodes, RefCell::default),
    };
    (0..nodes).map(node).collect()
}

impl<T> NodePart<T> {
    fn stub(&self) -> *mut Buffer<T> {
        ptr::from_ref(&self.stub.0).cast_mut()
    }

    /// Performs step 1 for a buffer whose `next` is null, then `write`, then step 2.
    #[inline(always)]
    fn link(&self, buffer: &Buffer<T>, write: impl FnOnce()) {
        // (1) Release: publishes the cleared `next` to the sender that links behind this buffer. Acquire: sees the
        // predecessor's cleared `next`, which (2) overwrites.
        let before = self.tail.0.swap(ptr::from_ref(buffer).cast_mut(), Ordering::AcqRel);
        write();
        // (2) Release: publishes the message; pairs with the Acquire in (3).
        // SAFETY: the predecessor is in the net, and the receiver does not pass it before its `next` is set.
        unsafe { &*before }.next.store(ptr::from_ref(buffer).cast_mut(), Ordering::Release);
    }

    /// Links the stub, which carries no message.
    fn link_stub(&self) {
        self.link(&self.stub.0, || ());
    }
}

impl<T: Send> Node<T> {
    fn place(&self) -> &NodePart<T> {
        &self.net.places[self.index]
    }

    fn is_free(&self, buffer: u32) -> bool {
        // (4) Acquire: pairs with the Release in (3), after the receiver's read of this buffer and of all before.
        self.place().buffers[buffer as usize].0.free.load(Ordering::Acquire)
    }

    /// Returns whether all buffers that were sent to node `to` are free. Checks only the last, which the receiver frees
    /// last.
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

    /// Takes a buffer from the spare list, or one that has become free, or one that has never been used.
    fn spare(&self) -> Option<u32> {
        let spare = self.spare.borrow_mut().pop();
        spare.or_else(|| self.more())
    }

    #[cold]
    #[inline(never)]
    fn more(&self) -> Option<u32> {
        let mut spare = self.spare.borrow_mut();
        for sent in self.sent.iter() {
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

    /// Sends `value` to node `to`. Never waits. A slow receiver makes it fail only when all of this node's own buffers
    /// are in use.
    ///
    /// # Errors
    /// Returns the value if all own buffers are in use.
    ///
    /// # Panics
    /// If node `to` does not exist.
    #[inline]
    pub fn send(&self, to: usize, value: T) -> Result<(), T> {
        let mut value = Some(value);
        // SAFETY: the place is valid for a `T`, and no other thread accesses it yet.
        let write = |place: NonNull<T>| unsafe { place.write(value.take().expect("written once")) };
        // SAFETY: `write` initializes the place with the value.
        let sent = unsafe { self.send_in_place(to, write) };
        if sent { Ok(()) } else { Err(value.expect("not written")) }
    }

    /// Like [`send`](Node::send), for a message that `write` writes in its final place. Returns whether it was sent. If
    /// not, `write` was not called.
    ///
    /// # Safety
    /// `write` initializes the place with a `T`.
    ///
    /// # Panics
    /// If node `to` does not exist. `write` must not panic: the queue would be stuck.
    #[inline(always)]
    pub unsafe fn send_in_place(&self, to: usize, write: impl FnOnce(NonNull<T>)) -> bool {
        // A missing node panics here, before a buffer is taken.
        let receiver = &self.net.places[to];
        let Some(index) = self.spare() else { return false };
        let buffer = &self.place().buffers[index as usize].0;
        receiver.link(buffer, || {
            // SAFETY: the pointer is not null, and the buffer is not linked yet, so no other thread accesses it.
            buffer.value.with_mut(|place| write(unsafe { NonNull::new_unchecked(place.cast()) }));
            // Relaxed: published by (2).
            buffer.free.store(false, Ordering::Relaxed);
        });
        let mut sent = self.sent[to].borrow_mut();
        sent.push_back(index);
        if sent.len() > FEW as usize {
            self.fetch_next();
        }
        true
    }

    /// Fetches the buffer that is sent next, if that is known. A sender whose receiver keeps up has its buffers in its cache;
    /// one that uses more of them has not.
    #[cold]
    #[inline(never)]
    fn fetch_next(&self) {
        if let Some(&next) = self.spare.borrow().last() {
            let buffer = ptr::from_ref(&self.place().buffers[next as usize]);
            for line in (0..size_of::<Buffer<T>>()).step_by(CACHE_LINE) {
                fetch_for_writing(buffer.cast::<u8>().wrapping_add(line));
            }
        }
    }

    /// Returns whether a message is available, or about to be; any thread may ask.
    #[inline]
    pub fn waits(&self) -> bool {
        let place = self.place();
        // Relaxed, all: hints for threads other than the receiver.
        let (head, tail) = (place.head.0.load(Ordering::Relaxed), place.tail.0.load(Ordering::Relaxed));
        if place.unread.load(Ordering::Relaxed) {
            return true;
        }
        // Anything behind the head is a message, unless it is only the stub.
        // SAFETY: the head is in the net.
        head != tail && !(tail == place.stub() && unsafe { &*head }.next.load(Ordering::Relaxed) == tail)
    }

    /// Receives the next message, with its sender's index. Never waits.
    #[inline]
    pub fn receive(&self) -> Option<(usize, T)> {
        // SAFETY: `read` moves the value out.
        unsafe { self.receive_with(|_| true, |from, place| (from, place.read())) }
    }

    /// Like [`receive`](Node::receive), but `read` reads the message in place, if `now` accepts it. Otherwise the
    /// message stays next.
    ///
    /// # Safety
    /// `read` moves the value out of its place, or destroys it there, and does not receive.
    #[inline(always)]
    pub unsafe fn receive_with<R>(
        &self,
        now: impl FnOnce(&T) -> bool,
        read: impl FnOnce(usize, NonNull<T>) -> R,
    ) -> Option<R> {
        let place = self.place();
        // Relaxed, here and below: only this node writes these fields; for other threads they are hints.
        if !place.unread.load(Ordering::Relaxed) {
            let next = self.pass()?;
            if next == place.stub() {
                self.pass()?;
            }
            place.unread.store(true, Ordering::Relaxed);
        }
        // SAFETY: the head is in the net, and not passed.
        let buffer = unsafe { &*place.head.0.load(Ordering::Relaxed) };
        // SAFETY: the buffer is linked, and its message not read yet.
        if !buffer.value.with(|place| now(unsafe { (*place).assume_init_ref() })) {
            return None;
        }
        place.unread.store(false, Ordering::Relaxed);
        // SAFETY: the pointer is not null; the buffer is linked, and its message is read once.
        let read =
            |place: *mut MaybeUninit<T>| read(buffer.from as usize, unsafe { NonNull::new_unchecked(place.cast()) });
        Some(buffer.value.with_mut(read))
    }

    /// Gives the last buffer back at once. Called by a receiver that will not poll for a while.
    pub fn rest(&self) {
        let place = self.place();
        // Relaxed, all: only this node writes `head` and `unread`; the swap in `link` sees a sender that the load of
        // `tail` misses.
        let head = place.head.0.load(Ordering::Relaxed);
        let last = head != place.stub() && place.tail.0.load(Ordering::Relaxed) == head;
        if last && !place.unread.load(Ordering::Relaxed) {
            place.link_stub();
        }
        self.pass_stub();
    }

    /// Passes to the stub, if the stub is next.
    fn pass_stub(&self) {
        let place = self.place();
        // Relaxed: only this node writes it.
        let head = place.head.0.load(Ordering::Relaxed);
        // SAFETY: the head is in the net, and not passed.
        let next = unsafe { &*head }.next.load(Ordering::Acquire);
        if next == place.stub() && !place.unread.load(Ordering::Relaxed) {
            self.pass();
        }
    }

    /// Passes the head if its successor, a buffer or the stub, is linked. The successor becomes the head.
    #[inline]
    fn pass(&self) -> Option<*mut Buffer<T>> {
        let place = self.place();
        // Relaxed: only this node writes it.
        let head = place.head.0.load(Ordering::Relaxed);
        // SAFETY: the head is in the net, and not passed.
        let buffer = unsafe { &*head };
        // (3) Acquire: pairs with the Release in (2), so that the message is visible.
        let next = buffer.next.load(Ordering::Acquire);
        if next.is_null() {
            self.idle.set(self.idle.get().saturating_add(1));
            // Relaxed: the swap in `link` sees a sender that this load misses.
            if self.idle.get() == PATIENCE && head != place.stub() && place.tail.0.load(Ordering::Relaxed) == head {
                place.link_stub();
            }
            return None;
        }
        self.idle.set(0);
        // Relaxed: a hint for other threads.
        place.head.0.store(next, Ordering::Relaxed);
        // Relaxed: published by the Release below, or, for the stub, by (1).
        buffer.next.store(ptr::null_mut(), Ordering::Relaxed);
        if head != place.stub() {
            // (3) Release: the read of the message is complete; pairs with the Acquire in (4).
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
                // SAFETY: the buffer is in the net.
                let next = unsafe { &*buffer }.next.load(Ordering::Relaxed);
                (!next.is_null()).then_some(next)
            };
            let mut at = place.head.0.load(Ordering::Relaxed);
            if place.unread.load(Ordering::Relaxed) {
                // SAFETY: the head is in the net and linked, and its message has not been read.
                unsafe { &*at }.value.with_mut(|value| unsafe { (*value).assume_init_drop() });
            }
            while let Some(next) = after(at) {
                if next != place.stub() {
                    // SAFETY: the buffer is in the net.
                    let buffer = unsafe { &*next };
                    // SAFETY: the buffer is queued, and its message has not been read.
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
    fn the_quota_bounds_messages_in_flight() {
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
            // An idle receiver gives the last buffer back: in the poll after the one that links the stub behind it.
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
    fn sending_to_a_missing_node_takes_no_buffer() {
        let nodes = net(1, 1);
        let sent = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| nodes[0].send(1, 5)));
        assert!(sent.is_err());
        assert_eq!(nodes[0].send(0, 6), Ok(()));
        assert_eq!(nodes[0].receive(), Some((0, 6)));
    }
}
