//! Push: rings in the receivers' memory, written by their senders.
//!
//! ```text
//!   a slot of the ring, by the tickets t, t + capacity, ..
//!
//!   EMPTY(t) --(2) the sender writes, tag := t + 1--> FULL(t) --(3) the receiver reads--> EMPTY(t + capacity)
//!
//!   sender:    (0) takes one of its credits, or fails; (1) t := tail++; (2)
//!   receiver:  (3) in the order of tickets, if the tag is there; (4) returns the credit, several at a time
//! ```
//!
//! The credits of a ring's senders sum to its capacity at most, so who holds a ticket never waits for its slot. Why
//! the slot of t is empty *for the sender of t*, though the message of t - capacity was perhaps another's: the tickets
//! up to t were given out against credits, of which t + 1 - capacity at least had been returned before. Credits are
//! returned (4) in the order of reading (3), so one of these returns came after the reading of t - capacity. Its taker
//! saw it (Acquire in 0), then took a ticket up to t (Release in 1), and the sender of t, who took its ticket later,
//! sees all of that (Acquire in 1).

use std::cell::Cell;
use std::mem::MaybeUninit;
use std::ptr::NonNull;

use super::Line;
use crate::atomics::{Arc, AtomicU32, AtomicU64, Ordering, UnsafeCell};

/// A place for one message.
#[repr(align(32))]
struct Slot<T> {
    /// One more than the ticket of the message that is here or was last.
    tag: AtomicU64,
    from: UnsafeCell<u32>,
    value: UnsafeCell<MaybeUninit<T>>,
}

/// Slots begin where lines do: a small one shares its line with others, and none lies in more lines than it must.
const GROUP: usize = 4;
type Group<T> = Line<[Slot<T>; GROUP]>;

/// What the senders write to a receiver.
struct Ring<T> {
    tail: Line<AtomicU64>,
    /// The next ticket to be read: the receiver's, on a line that senders do not write.
    head: Line<AtomicU64>,
    /// By sender: credits returned and not yet taken.
    returned: Box<[Line<AtomicU32>]>,
    slots: Box<[Group<T>]>,
}

impl<T> Ring<T> {
    fn new(senders: usize, share: u32) -> Ring<T> {
        let capacity = (senders * share as usize).next_power_of_two().max(GROUP);
        let slot = |_| Slot {
            tag: AtomicU64::new(0),
            from: UnsafeCell::new(0),
            value: UnsafeCell::new(MaybeUninit::uninit()),
        };
        Ring {
            tail: Line(AtomicU64::new(0)),
            head: Line(AtomicU64::new(0)),
            returned: (0..senders).map(|_| Line(AtomicU32::new(0))).collect(),
            slots: (0..capacity / GROUP).map(|_| Line(std::array::from_fn(slot))).collect(),
        }
    }

    fn slot(&self, ticket: u64) -> &Slot<T> {
        let index = ticket as usize & (self.slots.len() * GROUP - 1);
        &self.slots[index / GROUP].0[index % GROUP]
    }
}

/// The rings of all nodes.
struct Net<T> {
    rings: Box<[Ring<T>]>,
}

// SAFETY: a message is written by its sender and read by the receiver, one after the other.
unsafe impl<T: Send> Send for Net<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Net<T> {}

/// A node: sends to all nodes, itself included, and receives what they send to it.
pub struct Node<T> {
    net: Arc<Net<T>>,
    index: u32,
    share: u32,
    /// By receiver: what this node may still send to it.
    credit: Box<[Cell<u32>]>,
    /// By sender: credits to be returned.
    owed: Box<[Cell<u32>]>,
    /// By receiver: one more than the last ticket that this node took there.
    last: Box<[Cell<u64>]>,
}

/// `nodes` nodes, each of which may have `share` messages under way to each. Credit comes back by halves, so a sender
/// that has run out of it can go on when half of them have been received.
///
/// # Panics
/// If one of them is 0.
pub fn net<T: Send>(nodes: usize, share: u32) -> Vec<Node<T>> {
    assert!(nodes > 0 && share > 0, "a net has nodes, and room for messages");
    let net = Arc::new(Net { rings: (0..nodes).map(|_| Ring::new(nodes, share)).collect() });
    let node = |index| Node {
        net: Arc::clone(&net),
        index,
        share,
        credit: (0..nodes).map(|_| Cell::new(share)).collect(),
        owed: (0..nodes).map(|_| Cell::new(0)).collect(),
        last: (0..nodes).map(|_| Cell::new(0)).collect(),
    };
    (0..nodes as u32).map(node).collect()
}

impl<T: Send> Node<T> {
    /// Sends `value` to node `to`. Never waits.
    ///
    /// # Errors
    /// With the value, if the receiver has not read enough of what this node sent before.
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
    /// If there is no such node. If `write` panics, the ring is stuck: it must not.
    #[inline(always)]
    pub unsafe fn send_in_place(&self, to: usize, write: impl FnOnce(NonNull<T>)) -> bool {
        let ring = &self.net.rings[to];
        let credit = &self.credit[to];
        if credit.get() == 0 {
            // (0) Acquire: see above.
            credit.set(ring.returned[self.index as usize].0.swap(0, Ordering::Acquire));
            if credit.get() == 0 {
                return false;
            }
        }
        credit.set(credit.get() - 1);
        // (1) AcqRel: see above.
        let ticket = ring.tail.0.fetch_add(1, Ordering::AcqRel);
        let slot = ring.slot(ticket);
        // SAFETY: the slot is empty and this ticket's.
        slot.value.with_mut(|place| write(unsafe { NonNull::new_unchecked(place.cast()) }));
        // SAFETY: as above.
        slot.from.with_mut(|place| unsafe { *place = self.index });
        // (2) Release: with the message.
        slot.tag.store(ticket + 1, Ordering::Release);
        self.last[to].set(ticket + 1);
        true
    }

    /// How many messages a node has received, once it has received the last one that this node has sent to it so far.
    #[inline]
    pub fn sent(&self, to: usize) -> u64 {
        self.last[to].get()
    }

    /// How many messages this node has received.
    #[inline]
    pub fn received(&self) -> u64 {
        // Relaxed: this node's own.
        self.ring().head.0.load(Ordering::Relaxed)
    }

    /// Whether a message is there; any thread may ask.
    #[inline]
    pub fn waits(&self) -> bool {
        let ring = self.ring();
        // Relaxed: for others than the receiver a hint.
        let ticket = ring.head.0.load(Ordering::Relaxed);
        // Acquire: as in (3).
        ring.slot(ticket).tag.load(Ordering::Acquire) == ticket + 1
    }

    fn ring(&self) -> &Ring<T> {
        &self.net.rings[self.index as usize]
    }

    /// The next message, and who sent it. Never waits: a message whose sender is about to write it, and those behind
    /// it, are not there yet.
    #[inline]
    pub fn receive(&self) -> Option<(usize, T)> {
        // SAFETY: the value is read.
        unsafe { self.receive_with(|from, place| (from, place.read())) }
    }

    /// As [`receive`](Node::receive), the message read where it lies.
    ///
    /// # Safety
    /// `read` takes the value out of its place, or destroys it there, and does not receive.
    #[inline(always)]
    pub unsafe fn receive_with<R>(&self, read: impl FnOnce(usize, NonNull<T>) -> R) -> Option<R> {
        let ring = self.ring();
        // Relaxed: this node's own.
        let ticket = ring.head.0.load(Ordering::Relaxed);
        let slot = ring.slot(ticket);
        // (3) Acquire: with the message.
        if slot.tag.load(Ordering::Acquire) != ticket + 1 {
            return None;
        }
        // SAFETY: the slot is full.
        let from = slot.from.with(|place| unsafe { *place }) as usize;
        // SAFETY: the slot is full, and read once.
        let read = slot.value.with_mut(|place| read(from, unsafe { NonNull::new_unchecked(place.cast()) }));
        // Relaxed: for others a hint.
        ring.head.0.store(ticket + 1, Ordering::Relaxed);
        let owed = &self.owed[from];
        owed.set(owed.get() + 1);
        if owed.get() * 2 >= self.share {
            // (4) Release: after the reading.
            ring.returned[from].0.fetch_add(owed.take(), Ordering::Release);
        }
        Some(read)
    }
}

impl<T> Drop for Net<T> {
    fn drop(&mut self) {
        for ring in &self.rings {
            // Relaxed, both: no node is left.
            for ticket in ring.head.0.load(Ordering::Relaxed).. {
                let slot = ring.slot(ticket);
                if slot.tag.load(Ordering::Relaxed) != ticket + 1 {
                    break;
                }
                // SAFETY: the slot is full, and nobody has read it.
                slot.value.with_mut(|place| unsafe { (*place).assume_init_drop() });
            }
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn credit_bounds_what_is_under_way_and_comes_back() {
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
