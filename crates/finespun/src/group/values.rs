//! The values of a loop's activities, indexed by the activities' numbers.
//!
//! A tree whose leaves hold the values of up to [`FAN`] consecutive activities, and whose inner nodes have up to
//! [`FAN`] children.
//! Nodes are made when the first value beneath them is stored. So memory grows with the number of activities that have
//! ended, not with the total number; making the tree allocates nothing and cannot fail.

use std::cell::UnsafeCell;
use std::mem::{MaybeUninit, needs_drop};
use std::ptr::NonNull;
use std::sync::OnceLock;

use crate::atomics::{AtomicU8, Ordering};
use crate::frame::quietly;

const BITS: u32 = 6;
/// Number of children of an inner node, and of values in a leaf.
const FAN: u64 = 1 << BITS;

/// Storage for the value of each activity from number `from` on.
pub(super) struct Values<V> {
    from: u64,
    count: u64,
    /// Number of levels of inner nodes above the leaves.
    height: u32,
    root: OnceLock<Node<V>>,
}

enum Node<V> {
    Inner(Box<[OnceLock<Node<V>>]>),
    Leaf(ValueLeaf<V>),
}

struct ValueLeaf<V> {
    places: Box<[UnsafeCell<MaybeUninit<V>>]>,
    /// Flags of the places that hold a value; empty if values need no drop.
    there: Box<[AtomicU8]>,
}

// SAFETY: each place is written by one activity, and read after all activities have ended.
unsafe impl<V: Send> Sync for ValueLeaf<V> {}

impl<V> Node<V> {
    /// Makes a node of the given height for at most `count` activities.
    fn new(height: u32, count: u64) -> Node<V> {
        if height == 0 {
            return Node::Leaf(ValueLeaf::new(count.min(FAN) as usize));
        }
        let children = count.div_ceil(1 << (BITS * height)).min(FAN);
        Node::Inner((0..children).map(|_| OnceLock::new()).collect())
    }
}

impl<V> Values<V> {
    /// True for zero-sized values without a destructor: no storage is made for them.
    const NOTHING: bool = size_of::<V>() == 0 && !needs_drop::<V>();

    /// Makes the storage for the activities `from..to`.
    pub(super) fn new(from: u64, to: u64) -> Values<V> {
        let count = to - from;
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        let height = bits.saturating_sub(BITS).div_ceil(BITS);
        Values { from, count, height, root: OnceLock::new() }
    }

    /// Returns the leaf that contains place `at`.
    #[inline]
    fn leaf(&self, at: u64) -> &ValueLeaf<V> {
        let mut height = self.height;
        let mut node = self.root.get_or_init(|| Node::new(height, self.count));
        loop {
            match node {
                Node::Leaf(leaf) => return leaf,
                Node::Inner(children) => {
                    let child = at >> (BITS * height);
                    height -= 1;
                    let rest = || self.count - (child << (BITS * (height + 1)));
                    node = children[(child % FAN) as usize].get_or_init(|| Node::new(height, rest()));
                }
            }
        }
    }

    /// Stores the value of activity `k`.
    ///
    /// # Safety
    /// Called at most once for each activity of the range, and for no other.
    #[inline]
    pub(super) unsafe fn put(&self, k: u64, value: V) {
        if Self::NOTHING {
            return std::mem::forget(value);
        }
        let at = k - self.from;
        // SAFETY: the caller guarantees a single call for `k`, so this place is written once.
        unsafe { self.leaf(at).put((at % FAN) as usize, value) };
    }

    /// Passes the values to `put`, in order.
    ///
    /// # Safety
    /// All values have been stored, and this is called once.
    pub(super) unsafe fn take(&self, mut put: impl FnMut(V)) {
        if Self::NOTHING {
            // SAFETY: `count` values have been stored, and `V` is zero-sized.
            return (0..self.count).for_each(|_| put(unsafe { NonNull::dangling().read() }));
        }
        let mut at = 0;
        while at < self.count {
            let leaf = self.leaf(at);
            // SAFETY: the caller guarantees that all values have been stored and that this is the only call.
            unsafe { leaf.take(&mut put) };
            at += leaf.places.len() as u64;
        }
    }
}

impl<V> ValueLeaf<V> {
    fn new(count: usize) -> ValueLeaf<V> {
        let places = Box::<[UnsafeCell<MaybeUninit<V>>]>::new_uninit_slice(count);
        // SAFETY: a `MaybeUninit` needs no initialisation.
        let places = unsafe { places.assume_init() };
        let drops = if needs_drop::<V>() { count } else { 0 };
        ValueLeaf { places, there: (0..drops).map(|_| AtomicU8::new(0)).collect() }
    }

    /// Stores a value at place `at`.
    ///
    /// # Safety
    /// Called at most once for each place.
    #[inline]
    unsafe fn put(&self, at: usize, value: V) {
        // SAFETY: the caller guarantees that this place is written once. It is not read before all activities have
        // ended.
        unsafe { (*self.places[at].get()).write(value) };
        if let Some(there) = self.there.get(at) {
            // Relaxed: the flag is read only after all activities have ended, and their completion orders the accesses.
            there.store(1, Ordering::Relaxed);
        }
    }

    /// Passes the values to `put`, in order.
    ///
    /// # Safety
    /// All places hold a value, and this is called once.
    unsafe fn take(&self, put: &mut impl FnMut(V)) {
        for (at, place) in self.places.iter().enumerate() {
            if let Some(there) = self.there.get(at) {
                // Cleared before the value is moved out, because `put` may panic.
                there.store(0, Ordering::Relaxed);
            }
            // SAFETY: the caller guarantees that every place holds a value.
            put(unsafe { (*place.get()).assume_init_read() });
        }
    }
}

impl<V> Drop for ValueLeaf<V> {
    fn drop(&mut self) {
        for (there, place) in self.there.iter().zip(&mut self.places) {
            if there.load(Ordering::Relaxed) == 1 {
                // SAFETY: the flag says that the place holds a value, which is not read later. `quietly` discards a
                // panic of the destructor.
                quietly(|| unsafe { place.get_mut().assume_init_drop() });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Values;

    #[test]
    fn values_are_taken_in_order_and_none_is_lost() {
        for (from, to) in [(0, 0), (0, 1), (3, 4), (5, 69), (0, 65), (7, 5000), (1, 4098), (0, 300_000)] {
            let values = Values::new(from, to);
            // SAFETY: each `k` is stored once.
            (from..to).rev().for_each(|k| unsafe { values.put(k, k.to_string()) });
            let mut next = from;
            // SAFETY: all values have been stored, and this is the only call.
            unsafe {
                values.take(|value| {
                    assert_eq!(value, next.to_string());
                    next += 1;
                });
            }
            assert_eq!(next, to);
        }
    }

    #[test]
    fn a_partly_filled_tree_drops_its_values() {
        let whole = std::sync::Arc::new(());
        for to in [u64::MAX, 1 << 62, (1 << 36) + 1] {
            let values = Values::new(1, to);
            for k in [1, 2, 77, to / 2, to - 1] {
                // SAFETY: each `k` is stored once.
                unsafe { values.put(k, std::sync::Arc::clone(&whole)) };
            }
            drop(values);
            assert_eq!(std::sync::Arc::strong_count(&whole), 1);
        }
    }

    #[test]
    fn zero_sized_values_are_counted() {
        let values = Values::new(2, 9);
        // SAFETY: each `k` is stored once.
        (2..9).for_each(|k| unsafe { values.put(k, ()) });
        let mut count = 0;
        // SAFETY: all values have been stored, and this is the only call.
        unsafe { values.take(|()| count += 1) };
        assert_eq!(count, 7);
    }
}
