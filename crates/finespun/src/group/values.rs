//! The values of a loop's activities, by their numbers.
//!
//! A tree whose leaves hold the values of [`FAN`] activities in a row, and whose nodes have as many below them: made when the first
//! value is put there. So what it takes is a matter of how many have ended, and not of how many there are; and to make the tree
//! takes nothing, and cannot fail.

use std::cell::UnsafeCell;
use std::mem::{MaybeUninit, needs_drop};
use std::ptr::NonNull;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, Ordering};

use crate::task::frame::quietly;

const BITS: u32 = 6;
/// Children of a node, and values of a leaf.
const FAN: u64 = 1 << BITS;

/// A place for the value of each activity from some one on.
pub(super) struct Values<V> {
    from: u64,
    count: u64,
    /// How many levels of nodes there are above the leaves.
    height: u32,
    root: OnceLock<Node<V>>,
}

enum Node<V> {
    Inner(Box<[OnceLock<Node<V>>]>),
    Leaf(Leaf<V>),
}

struct Leaf<V> {
    places: Box<[UnsafeCell<MaybeUninit<V>>]>,
    /// Which of them are there, if they have to be dropped.
    there: Box<[AtomicU8]>,
}

// SAFETY: each place is written by one activity, and read when all have ended.
unsafe impl<V: Send> Sync for Leaf<V> {}

impl<V> Node<V> {
    /// For so many activities at most; of that height.
    fn new(height: u32, count: u64) -> Node<V> {
        if height == 0 {
            return Node::Leaf(Leaf::new(count.min(FAN) as usize));
        }
        let children = count.div_ceil(1 << (BITS * height)).min(FAN);
        Node::Inner((0..children).map(|_| OnceLock::new()).collect())
    }
}

impl<V> Values<V> {
    /// Nothing is kept of values that are nothing.
    const NOTHING: bool = size_of::<V>() == 0 && !needs_drop::<V>();

    /// For the activities from `from` to before `to`.
    pub(super) fn new(from: u64, to: u64) -> Values<V> {
        let count = to - from;
        let bits = u64::BITS - count.saturating_sub(1).leading_zeros();
        let height = bits.saturating_sub(BITS).div_ceil(BITS);
        Values { from, count, height, root: OnceLock::new() }
    }

    /// The leaf with the place `at`.
    #[inline]
    fn leaf(&self, at: u64) -> &Leaf<V> {
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

    /// # Safety
    /// Once for each activity, and for no other.
    #[inline]
    pub(super) unsafe fn put(&self, k: u64, value: V) {
        if Self::NOTHING {
            return std::mem::forget(value);
        }
        let at = k - self.from;
        // SAFETY: passed on.
        unsafe { self.leaf(at).put((at % FAN) as usize, value) };
    }

    /// Takes them, in order.
    ///
    /// # Safety
    /// All are there; once.
    pub(super) unsafe fn take(&self, mut put: impl FnMut(V)) {
        if Self::NOTHING {
            // SAFETY: so many have been put, of what takes no place.
            return (0..self.count).for_each(|_| put(unsafe { NonNull::dangling().read() }));
        }
        let mut at = 0;
        while at < self.count {
            let leaf = self.leaf(at);
            // SAFETY: passed on.
            unsafe { leaf.take(&mut put) };
            at += leaf.places.len() as u64;
        }
    }
}

impl<V> Leaf<V> {
    fn new(count: usize) -> Leaf<V> {
        let places = Box::<[UnsafeCell<MaybeUninit<V>>]>::new_uninit_slice(count);
        // SAFETY: a place need not hold a value.
        let places = unsafe { places.assume_init() };
        let drops = if needs_drop::<V>() { count } else { 0 };
        Leaf { places, there: (0..drops).map(|_| AtomicU8::new(0)).collect() }
    }

    /// # Safety
    /// Once for each place.
    #[inline]
    unsafe fn put(&self, at: usize, value: V) {
        // SAFETY: nobody else writes here, and nobody reads yet.
        unsafe { (*self.places[at].get()).write(value) };
        if let Some(there) = self.there.get(at) {
            // Relaxed: read when all activities have ended, which orders.
            there.store(1, Ordering::Relaxed);
        }
    }

    /// # Safety
    /// All are there; once.
    unsafe fn take(&self, put: &mut impl FnMut(V)) {
        for (at, place) in self.places.iter().enumerate() {
            if let Some(there) = self.there.get(at) {
                // Before the value goes: `put` may panic.
                there.store(0, Ordering::Relaxed);
            }
            // SAFETY: by the caller's word, all have been put.
            put(unsafe { (*place.get()).assume_init_read() });
        }
    }
}

impl<V> Drop for Leaf<V> {
    fn drop(&mut self) {
        for (there, place) in self.there.iter().zip(&mut self.places) {
            if there.load(Ordering::Relaxed) == 1 {
                // SAFETY: it is there, and nobody takes it any more. Whoever waits does so in vain: no panic goes anywhere.
                quietly(|| unsafe { place.get_mut().assume_init_drop() });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Values;

    #[test]
    fn values_come_in_order_and_none_is_lost() {
        for (from, to) in [(0, 0), (0, 1), (3, 4), (5, 69), (0, 65), (7, 5000), (1, 4098), (0, 300_000)] {
            let values = Values::new(from, to);
            // SAFETY: each once.
            (from..to).rev().for_each(|k| unsafe { values.put(k, k.to_string()) });
            let mut next = from;
            // SAFETY: all are there.
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
    fn some_of_very_many() {
        let whole = std::sync::Arc::new(());
        for to in [u64::MAX, 1 << 62, (1 << 36) + 1] {
            let values = Values::new(1, to);
            for k in [1, 2, 77, to / 2, to - 1] {
                // SAFETY: each once.
                unsafe { values.put(k, std::sync::Arc::clone(&whole)) };
            }
            drop(values);
            assert_eq!(std::sync::Arc::strong_count(&whole), 1);
        }
    }

    #[test]
    fn nothing_is_counted() {
        let values = Values::new(2, 9);
        // SAFETY: each once.
        (2..9).for_each(|k| unsafe { values.put(k, ()) });
        let mut count = 0;
        // SAFETY: all are there.
        unsafe { values.take(|()| count += 1) };
        assert_eq!(count, 7);
    }
}
