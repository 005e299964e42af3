//! Push: rings in the receivers' memory, written by their senders.
//!
//! ```text
//!   a ring entry, by the tickets t, t + capacity, ..
//!
//!   EMPTY(t) --(2) the sender writes, tag := t + 1--> FULL(t) --(3) the receiver reads--> EMPTY(t + capacity)
//!
//!   sender:    (0) takes one of its credits, or fails; (1) t := tail++; (2)
//!   receiver:  (3) in the order of tickets, if the tag is there; (4) returns the credit, several at a time
//! ```
//!
//! The credits of a ring's senders sum to its capacity at most, so a sender that holds a ticket never waits for its
//! ring entry. The entry of t is empty *in the view of t's sender*, although another sender may have written the
//! message of `t - capacity`: the tickets up to t were given out against credits, of which at least `t + 1 - capacity`
//! had been returned before. Each return (4) follows its message's read (3), and reads are in ticket order, so the last
//! of these returns came after the reading of `t - capacity`. The sender that took this return saw the reading (Acquire
//! in 0), and then took a ticket up to t (Release in 1). The sender of t took its ticket later, and sees all of that
//! (Acquire in 1).

use std::cell::Cell;
use std::mem::{MaybeUninit, needs_drop};
use std::ops::Range;
use std::ptr::NonNull;

use zerocopy::FromBytes;

use super::placed::{Placed, Placement};
use super::{OwnCacheLine, PerNode, fetch_for_writing};
use crate::atomics::{Arc, AtomicU32, AtomicU64, Ordering, UnsafeCell};

/// A ring entry: a place for one message. The fields are in this order, so that a short message takes one cache line.
#[repr(C, align(32))]
struct Entry<T> {
    /// One more than the ticket of the message that is or was last in this entry.
    tag: AtomicU64,
    from: UnsafeCell<u32>,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// Entries per group. A group begins at a cache line: small entries share a line, and none spans more lines than it
/// must.
const GROUP: usize = 4;
type Group<T> = OwnCacheLine<[Entry<T>; GROUP]>;

/// The counts of one ring. Each is on cache lines of its own.
struct Ends {
    tail: OwnCacheLine<AtomicU64>,
    /// The next ticket to read. Only the receiver writes it.
    head: OwnCacheLine<AtomicU64>,
}

/// The messages that senders write to one receiver.
struct Ring<T> {
    /// One.
    ends: Placed<Ends>,
    /// By sender: credits returned and not yet taken.
    returned: Placed<OwnCacheLine<AtomicU32>>,
    entries: Placed<Group<T>>,
}

/// The number of entries in each ring.
fn capacity(senders: usize, share: u32) -> usize {
    (senders * share as usize).next_power_of_two().max(GROUP)
}

impl<T> Ring<T> {
    /// Creates a ring for this number of senders: with none, for an end that receives nothing.
    ///
    /// # Safety
    /// If this places into a segment, a `T` contains no address.
    unsafe fn new(senders: usize, share: u32, placement: &mut Placement) -> Ring<T> {
        let entry = |_| Entry {
            tag: AtomicU64::new(0),
            from: UnsafeCell::new(0),
            value: UnsafeCell::new(MaybeUninit::zeroed()),
        };
        let ends = |_| Ends { tail: OwnCacheLine(AtomicU64::new(0)), head: OwnCacheLine(AtomicU64::new(0)) };
        let groups = if senders > 0 { capacity(senders, share) / GROUP } else { 0 };
        Ring {
            // SAFETY: zeros are the initial counts.
            ends: unsafe { placement.place(senders.min(1), ends) },
            // SAFETY: zeros are the initial counts.
            returned: unsafe { placement.place(senders, |_| OwnCacheLine(AtomicU32::new(0))) },
            // SAFETY: an entry is empty at first, with a tag of zero. The caller guarantees that its value contains no
            // address.
            entries: unsafe { placement.place(groups, |_| OwnCacheLine(std::array::from_fn(entry))) },
        }
    }

    fn ends(&self) -> &Ends {
        &self.ends[0]
    }

    /// Returns whether a message is available.
    #[inline]
    fn waits(&self) -> bool {
        // Relaxed: a hint for threads other than the receiver.
        let ticket = self.ends().head.0.load(Ordering::Relaxed);
        // Acquire: as in (3).
        self.entry(ticket).tag.load(Ordering::Acquire) == ticket + 1
    }

    /// Returns whether a message has been sent, or is being sent, and has not been read.
    fn expects(&self) -> bool {
        let ends = self.ends();
        // Relaxed, both: the receiver asks between two other accesses of its own that are ordered by a fence.
        ends.tail.0.load(Ordering::Relaxed) != ends.head.0.load(Ordering::Relaxed)
    }

    fn entry(&self, ticket: u64) -> &Entry<T> {
        let index = ticket as usize & (self.entries.len() * GROUP - 1);
        &self.entries[index / GROUP].0[index % GROUP]
    }
}

/// The rings of all nodes.
struct Net<T> {
    rings: Box<[Ring<T>]>,
}

// SAFETY: a message is written by its sender, and later read by the receiver, never at the same time.
unsafe impl<T: Send> Send for Net<T> {}
// SAFETY: a message is written by its sender, and later read by the receiver, never at the same time.
unsafe impl<T: Send> Sync for Net<T> {}

/// One worker's endpoint: sends to all endpoints, itself included, and receives their messages to it.
pub struct Node<T> {
    net: Arc<Net<T>>,
    index: u32,
    share: u32,
    counts: PerNode<Counts>,
}

/// A node's counts of its messages to and from another node.
struct Counts {
    /// The number of messages that this node may still send there.
    credit: Cell<u32>,
    /// Credits to return there.
    owed: Cell<u32>,
    /// One more than the last ticket that this node took there.
    last: Cell<u64>,
}

/// Creates `nodes` nodes, each of which may have `share` messages in flight to each node. Credit returns by halves: a
/// sender that has run out can continue when half of its messages have been received.
///
/// # Panics
/// If `nodes` or `share` is 0.
#[track_caller]
pub fn net<T: Send>(nodes: usize, share: u32) -> Vec<Node<T>> {
    // SAFETY: placed in this process's own memory.
    let net = unsafe { Net::new(nodes, 0..nodes, share, &mut Placement::private()) };
    (0..nodes as u32).map(|index| Node::new(&net, index, share)).collect()
}

/// Returns the number of bytes that [`nodes_in`] places, for this number of receivers.
pub(crate) fn placed_bytes<T>(nodes: usize, receivers: usize, share: u32) -> usize {
    let ring = size_of::<Ends>()
        + nodes * size_of::<OwnCacheLine<AtomicU32>>()
        + capacity(nodes, share) / GROUP * size_of::<Group<T>>();
    receivers * ring
}

/// Like [`net`], for some nodes of a net that several processes share: those for which `is_here` returns true. Only
/// `receivers` receive messages. Each of the processes calls this with the same arguments but `is_here`. A node may be created by
/// several processes, if each sends to other nodes.
///
/// # Panics
/// If `nodes` or `share` is 0, or fewer than [`placed_bytes`] are left.
pub(crate) fn nodes_in<T: Send + FromBytes>(
    nodes: usize,
    receivers: Range<usize>,
    share: u32,
    placement: &mut Placement,
    is_here: impl Fn(usize) -> bool,
) -> Vec<Option<Node<T>>> {
    // SAFETY: a value that any bytes make contains no address.
    let net = unsafe { Net::new(nodes, receivers, share, placement) };
    (0..nodes).map(|index| is_here(index).then(|| Node::new(&net, index as u32, share))).collect()
}

impl<T> Net<T> {
    /// # Safety
    /// If this places into a segment, a `T` contains no address.
    unsafe fn new(nodes: usize, receivers: Range<usize>, share: u32, placement: &mut Placement) -> Arc<Net<T>> {
        assert!(nodes > 0 && share > 0, "a net needs at least one node and room for a message");
        let senders = |index| if receivers.contains(&index) { nodes } else { 0 };
        // SAFETY: as the caller guarantees.
        let ring = |index| unsafe { Ring::new(senders(index), share, placement) };
        Arc::new(Net { rings: (0..nodes).map(ring).collect() })
    }
}

impl<T> Node<T> {
    fn new(net: &Arc<Net<T>>, index: u32, share: u32) -> Node<T> {
        let nodes = net.rings.len();
        Node {
            net: Arc::clone(net),
            index,
            share,
            counts: PerNode::new(nodes, || Counts { credit: Cell::new(share), owed: Cell::new(0), last: Cell::new(0) }),
        }
    }
}

impl<T: Send> Node<T> {
    /// Sends `value` to node `to`. Never waits.
    ///
    /// # Errors
    /// Returns the value if the receiver has not read enough of this node's earlier messages.
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
    /// `write` initializes the place with a `T`, or a part of it if any bytes make a `T`: the place contains zeros or an
    /// earlier message.
    ///
    /// # Panics
    /// If node `to` does not exist. `write` must not panic: the ring would be stuck.
    #[inline(always)]
    pub unsafe fn send_in_place(&self, to: usize, write: impl FnOnce(NonNull<T>)) -> bool {
        let ring = &self.net.rings[to];
        let Counts { credit, last, .. } = &self.counts[to];
        if credit.get() == 0 {
            // (0) Acquire: see the module's documentation.
            credit.set(ring.returned[self.index as usize].0.swap(0, Ordering::Acquire));
            if credit.get() == 0 {
                return false;
            }
        }
        credit.set(credit.get() - 1);
        // (1) See the module's documentation. SeqCst: before the sender looks whether the receiver sleeps, which looks at
        // the tail before it sleeps.
        let ticket = ring.ends().tail.0.fetch_add(1, Ordering::SeqCst);
        let entry = ring.entry(ticket);
        // SAFETY: the pointer is not null; the entry is empty and belongs to this ticket.
        entry.value.with_mut(|place| write(unsafe { NonNull::new_unchecked(place.cast()) }));
        // SAFETY: the entry is empty and belongs to this ticket.
        entry.from.with_mut(|place| unsafe { *place = self.index });
        // (2) Release: publishes the message; pairs with the Acquire in (3).
        entry.tag.store(ticket + 1, Ordering::Release);
        last.set(ticket + 1);
        fetch_for_writing(ring.entry(ticket + 1));
        true
    }

    /// Returns the count that `received` at node `to` reaches with this node's latest message to it.
    #[inline]
    pub fn sent(&self, to: usize) -> u64 {
        self.counts[to].last.get()
    }

    /// Returns the number of messages that this node has received.
    #[inline]
    pub fn received(&self) -> u64 {
        // Relaxed: only this node writes it.
        self.ring().ends().head.0.load(Ordering::Relaxed)
    }

    /// Returns whether a message is available; any thread may ask.
    #[inline]
    pub fn waits(&self) -> bool {
        self.ring().waits()
    }

    /// Returns whether a message is available or being sent; any thread may ask.
    pub(crate) fn expects(&self) -> bool {
        self.ring().expects()
    }

    /// Returns what any thread may use to ask whether a message is available.
    pub(crate) fn watch(&self) -> Watch<T> {
        Watch { net: Arc::clone(&self.net), index: self.index }
    }

    fn ring(&self) -> &Ring<T> {
        &self.net.rings[self.index as usize]
    }

    /// Receives the next message, with its sender's index. Never waits: a message that its sender has not written yet,
    /// and all behind it, are not available yet.
    #[inline]
    pub fn receive(&self) -> Option<(usize, T)> {
        // SAFETY: `read` moves the value out.
        unsafe { self.receive_with(|from, place| (from, place.read())) }
    }

    /// Like [`receive`](Node::receive), but `read` reads the message in place.
    ///
    /// # Safety
    /// `read` moves the value out of its place, or destroys it there, and does not receive.
    #[inline(always)]
    pub unsafe fn receive_with<R>(&self, read: impl FnOnce(usize, NonNull<T>) -> R) -> Option<R> {
        let ring = self.ring();
        // Relaxed: only this node writes it.
        let ticket = ring.ends().head.0.load(Ordering::Relaxed);
        let entry = ring.entry(ticket);
        // (3) Acquire: pairs with the Release in (2), so that the message is visible.
        if entry.tag.load(Ordering::Acquire) != ticket + 1 {
            return None;
        }
        // SAFETY: the entry is full.
        let from = entry.from.with(|place| unsafe { *place }) as usize;
        // SAFETY: the pointer is not null; the entry is full, and read once.
        let read = entry.value.with_mut(|place| read(from, unsafe { NonNull::new_unchecked(place.cast()) }));
        // Relaxed: a hint for other threads.
        ring.ends().head.0.store(ticket + 1, Ordering::Relaxed);
        // In memory that processes share, the sender may be forged.
        let Some(Counts { owed, .. }) = self.counts.get(from) else { return Some(read) };
        owed.set(owed.get() + 1);
        if owed.get() * 2 >= self.share {
            let Some(returned) = ring.returned.get(from) else { return Some(read) };
            // (4) Release: the read of the messages is complete; pairs with the Acquire in (0).
            returned.0.fetch_add(owed.take(), Ordering::Release);
        }
        Some(read)
    }
}

/// Says whether a message is available to a node.
pub(crate) struct Watch<T> {
    net: Arc<Net<T>>,
    index: u32,
}

impl<T> Watch<T> {
    #[inline]
    pub(crate) fn waits(&self) -> bool {
        self.net.rings[self.index as usize].waits()
    }
}

impl<T> Drop for Net<T> {
    fn drop(&mut self) {
        if !needs_drop::<T>() {
            return;
        }
        for ring in &self.rings {
            // Relaxed, both: no node is left.
            for ticket in ring.ends().head.0.load(Ordering::Relaxed).. {
                let entry = ring.entry(ticket);
                if entry.tag.load(Ordering::Relaxed) != ticket + 1 {
                    break;
                }
                // SAFETY: the entry is full, and its message has not been read.
                entry.value.with_mut(|place| unsafe { (*place).assume_init_drop() });
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_ticket_is_expected_before_its_message_is_there() {
        let nodes = net::<u64>(2, 4);
        // A sender that has come to (1), and perhaps dies there.
        nodes[1].net.rings[0].ends().tail.0.fetch_add(1, Ordering::SeqCst);
        assert!(nodes[0].expects() && !nodes[0].waits() && nodes[0].receive().is_none());
        assert!(!nodes[1].expects());
    }

    #[test]
    fn credit_bounds_messages_in_flight_and_is_returned() {
        let nodes = net::<Box<u64>>(2, 4);
        for turn in 0..10 {
            for n in 0..4 {
                assert!(nodes[0].send(1, Box::new(turn * 4 + n)).is_ok());
            }
            assert_eq!(nodes[0].send(1, Box::new(99)), Err(Box::new(99)), "no credit");
            assert!(nodes[1].send(1, Box::new(7)).is_ok(), "another's credit");
            for n in 0..4 {
                assert_eq!(nodes[1].receive(), Some((0, Box::new(turn * 4 + n))));
            }
            assert_eq!(nodes[1].receive(), Some((1, Box::new(7))));
            assert_eq!(nodes[1].receive(), None);
        }
    }
}
