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

/// What the senders write to a receiver.
struct Ring<T> {
    tail: Line<AtomicU64>,
    /// The first ticket not read, once the receiver has gone.
    head: AtomicU64,
    /// By sender: credits returned and not yet taken.
    returned: Box<[Line<AtomicU32>]>,
    slots: Box<[Slot<T>]>,
}

impl<T> Ring<T> {
    fn new(senders: usize, share: u32) -> Ring<T> {
        let capacity = (senders * share as usize).next_power_of_two();
        Ring {
            tail: Line(AtomicU64::new(0)),
            head: AtomicU64::new(0),
            returned: (0..senders).map(|_| Line(AtomicU32::new(0))).collect(),
            slots: (0..capacity)
                .map(|_| Slot {
                    tag: AtomicU64::new(0),
                    from: UnsafeCell::new(0),
                    value: UnsafeCell::new(MaybeUninit::uninit()),
                })
                .collect(),
        }
    }

    fn slot(&self, ticket: u64) -> &Slot<T> {
        &self.slots[ticket as usize & (self.slots.len() - 1)]
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
    /// The next ticket to be read.
    head: Cell<u64>,
    /// By sender: credits to be returned.
    owed: Box<[Cell<u32>]>,
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
        head: Cell::new(0),
        owed: (0..nodes).map(|_| Cell::new(0)).collect(),
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
        let ring = &self.net.rings[to];
        let credit = &self.credit[to];
        if credit.get() == 0 {
            // (0) Acquire: see above.
            credit.set(ring.returned[self.index as usize].0.swap(0, Ordering::Acquire));
            if credit.get() == 0 {
                return Err(value);
            }
        }
        credit.set(credit.get() - 1);
        // (1) AcqRel: see above.
        let ticket = ring.tail.0.fetch_add(1, Ordering::AcqRel);
        let slot = ring.slot(ticket);
        // SAFETY: the slot is empty and this ticket's.
        slot.value.with_mut(|place| unsafe { (*place).write(value) });
        // SAFETY: as above.
        slot.from.with_mut(|place| unsafe { *place = self.index });
        // (2) Release: with the message.
        slot.tag.store(ticket + 1, Ordering::Release);
        Ok(())
    }

    /// The next message, and who sent it. Never waits: a message whose sender is about to write it, and those behind
    /// it, are not there yet.
    #[inline]
    pub fn receive(&self) -> Option<(usize, T)> {
        let ring = &self.net.rings[self.index as usize];
        let ticket = self.head.get();
        let slot = ring.slot(ticket);
        // (3) Acquire: with the message.
        if slot.tag.load(Ordering::Acquire) != ticket + 1 {
            return None;
        }
        // SAFETY: the slot is full, and read once.
        let value = slot.value.with(|place| unsafe { (*place).assume_init_read() });
        // SAFETY: the slot is full.
        let from = slot.from.with(|place| unsafe { *place }) as usize;
        self.head.set(ticket + 1);
        let owed = &self.owed[from];
        owed.set(owed.get() + 1);
        if owed.get() * 2 >= self.share {
            // (4) Release: after the reading.
            ring.returned[from].0.fetch_add(owed.take(), Ordering::Release);
        }
        Some((from, value))
    }
}

impl<T> Drop for Node<T> {
    fn drop(&mut self) {
        // Relaxed: the net is dropped after its last node.
        self.net.rings[self.index as usize].head.store(self.head.get(), Ordering::Relaxed);
    }
}

impl<T> Drop for Net<T> {
    fn drop(&mut self) {
        for ring in &self.rings {
            // Relaxed, both: no node is left.
            for ticket in ring.head.load(Ordering::Relaxed).. {
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
