//! Vectors of exact iterators: each item is written to its final place.
//!
//! A leaf makes a [`Written`], which owns the items it has written; neighbours are merged. So a panic, or the end of a
//! cancelled run, drops the parts, and with them each written item once.

use std::marker::PhantomData;
use std::mem;
use std::ptr;

use super::gather::Pieces;
use crate::par::consumer::{Consumer, Leaf};
use crate::par::convert::FromParallelIterator;

/// Items in the memory of a vector that does not count them yet.
pub struct Written<T> {
    start: *mut T,
    len: usize,
    items: PhantomData<T>,
}

// SAFETY: it owns the items.
unsafe impl<T: Send> Send for Written<T> {}

impl<T> Written<T> {
    /// Writes the items to `start` and the following places.
    ///
    /// # Safety
    /// The places of all `items` are in one allocation, and unused as long as the result exists.
    #[inline]
    unsafe fn new(start: *mut T, items: impl Iterator<Item = T>) -> Written<T> {
        let mut written = Written { start, len: 0, items: PhantomData };
        items.for_each(|item| {
            // SAFETY: the caller guarantees that the place is in the allocation.
            let place = unsafe { start.add(written.len) };
            // SAFETY: the caller guarantees that the place is unused.
            unsafe { place.write(item) };
            written.len += 1;
        });
        written
    }

    fn none() -> Written<T> {
        Written { start: ptr::dangling_mut(), len: 0, items: PhantomData }
    }

    /// Returns both as one if they are neighbours. Otherwise items between them are missing, no result is made, and the
    /// second is dropped.
    fn join(mut self, right: Written<T>) -> Written<T> {
        // Items of size 0 are all neighbours.
        if ptr::eq(self.start.wrapping_add(self.len), right.start) {
            self.len += right.len;
            mem::forget(right);
        }
        self
    }

    /// Makes the items belong to `target`, which has been their memory from the beginning.
    ///
    /// # Safety
    /// They have been written to the unused memory of `target`.
    unsafe fn into(self, target: &mut Vec<T>, len: usize) {
        assert!(self.len == len, "an exact parallel iterator had {} items instead of {len}", self.len);
        mem::forget(self);
        // SAFETY: the caller guarantees that the vector's first `len` items have been written.
        unsafe { target.set_len(len) };
    }
}

impl<T> Drop for Written<T> {
    fn drop(&mut self) {
        // SAFETY: it owns the items, which have been written.
        unsafe { ptr::drop_in_place(ptr::slice_from_raw_parts_mut(self.start, self.len)) };
    }
}

/// A pointer to the unused memory of a vector that the consumer owns or borrows.
struct Target<T>(*mut T);

// SAFETY: it is only followed to write items, which are `Send`, to places of which each belongs to one leaf.
unsafe impl<T: Send> Send for Target<T> {}
// SAFETY: as above.
unsafe impl<T: Send> Sync for Target<T> {}

/// The end of [`collect`](crate::par::ParallelIterator::collect) into a `Vec`.
pub struct IntoVec<T> {
    target: Vec<T>,
    start: Target<T>,
    /// The number of items, if it is exact. Otherwise the items are gathered.
    len: Option<usize>,
    pieces: Pieces<T>,
}

// SAFETY: shared, it gives no access to the items of `target`, which has none, and `Pieces` gives access to one leaf each.
unsafe impl<T: Send> Sync for IntoVec<T> {}

impl<T: Send> Consumer<T> for IntoVec<T> {
    type Part = Written<T>;
    type Output = Vec<T>;
    #[inline(always)]
    fn ignores_cuts() -> bool {
        true
    }

    fn begin(&mut self, leaves: usize) {
        match self.len {
            Some(len) => {
                self.target.reserve_exact(len);
                self.start = Target(self.target.as_mut_ptr());
            }
            None => self.pieces.begin(leaves),
        }
    }

    #[inline]
    unsafe fn leaf(&self, leaf: Leaf, items: impl Iterator<Item = T>) -> Written<T> {
        if self.len.is_none() {
            self.pieces.put(&leaf, items);
            return Written::none();
        }
        // SAFETY: the caller guarantees that the leaf is one of an exact iterator, with indices less than `len`, for which
        // there is memory.
        let start = unsafe { self.start.0.add(leaf.from) };
        // SAFETY: the caller guarantees that there are at most as many items as indices, that no other leaf has these
        // indices, and that the part is dropped before this consumer.
        unsafe { Written::new(start, items) }
    }

    fn join(&self, left: Written<T>, right: Written<T>) -> Written<T> {
        left.join(right)
    }

    fn finish(mut self, whole: Written<T>) -> Vec<T> {
        match self.len {
            // SAFETY: the traversal has passed the leaves of this consumer, which have written to `target`.
            Some(len) => unsafe { whole.into(&mut self.target, len) },
            None => return self.pieces.concat(),
        }
        self.target
    }
}

impl<T: Send> FromParallelIterator<T> for Vec<T> {
    type Consumer = IntoVec<T>;
    fn consumer(len: Option<usize>) -> IntoVec<T> {
        IntoVec { target: Vec::new(), start: Target(ptr::dangling_mut()), len, pieces: Pieces::default() }
    }
}

/// The end of [`collect_into_vec`](crate::par::IndexedParallelIterator::collect_into_vec).
pub struct Into<'a, T> {
    target: &'a mut Vec<T>,
    start: Target<T>,
    len: usize,
}

// SAFETY: shared, it gives no access to the items of `target`, which has none.
unsafe impl<T: Send> Sync for Into<'_, T> {}

impl<'a, T> Into<'a, T> {
    pub(crate) fn new(target: &'a mut Vec<T>, len: usize) -> Into<'a, T> {
        Into { target, start: Target(ptr::dangling_mut()), len }
    }
}

impl<T: Send> Consumer<T> for Into<'_, T> {
    type Part = Written<T>;
    type Output = ();
    #[inline(always)]
    fn ignores_cuts() -> bool {
        true
    }

    fn begin(&mut self, _leaves: usize) {
        self.target.clear();
        self.target.reserve(self.len);
        self.start = Target(self.target.as_mut_ptr());
    }

    #[inline]
    unsafe fn leaf(&self, leaf: Leaf, items: impl Iterator<Item = T>) -> Written<T> {
        // SAFETY: the caller guarantees that the leaf is one of an exact iterator, with indices less than `len`, for which
        // there is memory.
        let start = unsafe { self.start.0.add(leaf.from) };
        // SAFETY: the caller guarantees that there are at most as many items as indices, that no other leaf has these
        // indices, and that the part is dropped before this consumer.
        unsafe { Written::new(start, items) }
    }

    fn join(&self, left: Written<T>, right: Written<T>) -> Written<T> {
        left.join(right)
    }

    fn finish(self, whole: Written<T>) {
        // SAFETY: the traversal has passed the leaves of this consumer, which have written to `target`.
        unsafe { whole.into(self.target, self.len) };
    }
}
