//! Vectors, whose items are moved out.

use std::mem::{self, ManuallyDrop};
use std::ptr;
use std::slice;

use super::slices::{Iter, IterMut};
use crate::par::convert::IntoParallelIterator;
use crate::par::indexed::IndexedParallelIterator;
use crate::par::iterator::ParallelIterator;

/// A parallel iterator that owns the items of a vector.
///
/// Items that no part has taken (after a panic, or behind `take`) are dropped with it.
#[must_use = "parallel iterators do nothing until their end is awaited"]
pub struct IntoIter<T> {
    items: *mut T,
    len: usize,
    capacity: usize,
    /// A byte for each item, 1 if a part has taken it; dangling if items need no drop.
    taken: *mut u8,
}

// SAFETY: it owns the items, which are `Send`.
unsafe impl<T: Send> Send for IntoIter<T> {}
// SAFETY: shared, it gives access only by `part`, whose callers guarantee that parts do not overlap: each item, and its byte,
// belongs to one of them.
unsafe impl<T: Send> Sync for IntoIter<T> {}

impl<T> IntoIter<T> {
    fn new(vector: Vec<T>) -> IntoIter<T> {
        let taken = if mem::needs_drop::<T>() { vec![0_u8; vector.len()] } else { Vec::new() };
        let taken = Box::into_raw(taken.into_boxed_slice()).cast::<u8>();
        let mut vector = ManuallyDrop::new(vector);
        IntoIter { items: vector.as_mut_ptr(), len: vector.len(), capacity: vector.capacity(), taken }
    }
}

// SAFETY: the length does not change, and a part has an item for each index.
unsafe impl<T: Send> ParallelIterator for IntoIter<T> {
    type Item = T;
    const EXACT: bool = true;
    fn span(&self) -> usize {
        self.len
    }
    #[inline]
    unsafe fn part(&self, from: usize, to: usize) -> impl Iterator<Item = T> {
        if mem::needs_drop::<T>() {
            // SAFETY: the caller guarantees that `from` is at most the length.
            let taken = unsafe { self.taken.add(from) };
            // SAFETY: the caller guarantees that `from..to` is in the range, and in no other part.
            unsafe { ptr::write_bytes(taken, 1, to - from) };
        }
        // SAFETY: the caller guarantees that `from` is at most the length.
        let start = unsafe { self.items.add(from) };
        Part { start, at: 0, len: to - from, owner: self }
    }
}
// SAFETY: `EXACT` is true.
unsafe impl<T: Send> IndexedParallelIterator for IntoIter<T> {}

impl<T> Drop for IntoIter<T> {
    fn drop(&mut self) {
        /// Frees the memory, after the items.
        struct Memory<T>(*mut T, usize, *mut [u8]);
        impl<T> Drop for Memory<T> {
            fn drop(&mut self) {
                // SAFETY: the three are the parts of the vector that was taken apart in `new`, without items.
                drop(unsafe { Vec::from_raw_parts(self.0, 0, self.1) });
                // SAFETY: it is the box that was made raw in `new`.
                drop(unsafe { Box::from_raw(self.2) });
            }
        }
        let bytes = if mem::needs_drop::<T>() { self.len } else { 0 };
        let taken = ptr::slice_from_raw_parts_mut(self.taken, bytes);
        let _memory = Memory(self.items, self.capacity, taken);
        if mem::needs_drop::<T>() {
            // SAFETY: there is a byte for each item, and no part exists any more.
            Untaken(self.items, unsafe { slice::from_raw_parts(self.taken, bytes) }).drop_all();
        }
    }
}

/// Items from a position on, with their bytes.
struct Untaken<'a, T>(*mut T, &'a [u8]);

impl<T> Untaken<'_, T> {
    /// Drops the items that are not taken. If the destructor of one panics, the others are dropped all the same.
    fn drop_all(mut self) {
        self.drop_rest();
        mem::forget(self);
    }

    fn drop_rest(&mut self) {
        while let [taken, rest @ ..] = self.1 {
            let (item, taken) = (self.0, *taken != 0);
            // SAFETY: one byte stands for one item, so this is at most the end.
            self.0 = unsafe { item.add(1) };
            self.1 = rest;
            if !taken {
                // SAFETY: no part has taken the item, and it is passed once.
                unsafe { ptr::drop_in_place(item) };
            }
        }
    }
}

impl<T> Drop for Untaken<'_, T> {
    fn drop(&mut self) {
        self.drop_rest();
    }
}

/// Items of a vector that a part has taken, from `at` on.
struct Part<'a, T> {
    start: *mut T,
    at: usize,
    len: usize,
    #[allow(dead_code, reason = "the memory lives as long")]
    owner: &'a IntoIter<T>,
}

impl<T> Iterator for Part<'_, T> {
    type Item = T;

    #[inline]
    fn next(&mut self) -> Option<T> {
        if self.at == self.len {
            return None;
        }
        // SAFETY: `at` is less than the number of items.
        let item = unsafe { self.start.add(self.at) };
        self.at += 1;
        // SAFETY: the part has taken the item, which is read once, as `at` only grows.
        Some(unsafe { item.read() })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.len - self.at, Some(self.len - self.at))
    }
}

impl<T> Drop for Part<'_, T> {
    fn drop(&mut self) {
        if mem::needs_drop::<T>() {
            // SAFETY: `at` is at most the number of items.
            let rest = unsafe { self.start.add(self.at) };
            // SAFETY: the part has taken these items, and has not read them.
            unsafe { ptr::drop_in_place(ptr::slice_from_raw_parts_mut(rest, self.len - self.at)) };
        }
    }
}

impl<T: Send> IntoParallelIterator for Vec<T> {
    type Iter = IntoIter<T>;
    type Item = T;
    fn into_par_iter(self) -> IntoIter<T> {
        IntoIter::new(self)
    }
}

impl<'a, T: Sync> IntoParallelIterator for &'a Vec<T> {
    type Iter = Iter<'a, T>;
    type Item = &'a T;
    fn into_par_iter(self) -> Iter<'a, T> {
        self.as_slice().into_par_iter()
    }
}

impl<'a, T: Send> IntoParallelIterator for &'a mut Vec<T> {
    type Iter = IterMut<'a, T>;
    type Item = &'a mut T;
    fn into_par_iter(self) -> IterMut<'a, T> {
        self.as_mut_slice().into_par_iter()
    }
}
