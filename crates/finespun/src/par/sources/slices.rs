//! Slices: their items, chunks and windows.

use std::cmp::{self, Ordering};
use std::marker::PhantomData;
use std::slice;

use crate::par::convert::IntoParallelIterator;
use crate::par::indexed::IndexedParallelIterator;
use crate::par::iterator::ParallelIterator;
use crate::par::sort::{merge_sort, quick_sort, sort_by_cached_key};
use crate::par::traversal::ParallelTask;

/// Defines an iterator over a shared slice. `span` and `part` see the slice and the size as arguments.
macro_rules! shared {
    ($(
        $(#[$doc:meta])*
        $name:ident $(($size:ident))? -> $item:ty,
        span |$s:ident| $span:expr,
        part |$p:ident, $from:ident, $to:ident| $part:expr;
    )+) => {$(
        $(#[$doc])*
        #[must_use = "parallel iterators do nothing until their end is awaited"]
        #[derive(Debug)]
        pub struct $name<'a, T> {
            slice: &'a [T],
            $($size: usize,)?
        }

        impl<T> Clone for $name<'_, T> {
            fn clone(&self) -> Self {
                Self { ..*self }
            }
        }

        // SAFETY: the slice does not change its length, and a part has an item for each index.
        unsafe impl<'a, T: Sync> ParallelIterator for $name<'a, T> {
            type Item = $item;
            const EXACT: bool = true;
            #[inline]
            fn span(&self) -> usize {
                let $s = self;
                $span
            }
            #[inline]
            unsafe fn part(&self, $from: usize, $to: usize) -> impl Iterator<Item = Self::Item> {
                let $p = self;
                $part
            }
            #[inline]
            unsafe fn part_rev(&self, $from: usize, $to: usize) -> impl Iterator<Item = Self::Item> {
                let $p = self;
                $part.rev()
            }
        }
        // SAFETY: `EXACT` is true.
        unsafe impl<T: Sync> IndexedParallelIterator for $name<'_, T> {}
    )+};
}

shared! {
    /// A parallel iterator over the items of a slice.
    Iter -> &'a T,
    span |s| s.slice.len(),
    part |s, from, to| s.slice[from..to].iter();

    /// A parallel iterator over chunks of a slice: see [`ParallelSlice::par_chunks`].
    Chunks(size) -> &'a [T],
    span |s| s.slice.len().div_ceil(s.size),
    part |s, from, to| s.slice[within(from, s.size, s.slice)..within(to, s.size, s.slice)].chunks(s.size);

    /// A parallel iterator over chunks of equal length of a slice: see [`ParallelSlice::par_chunks_exact`].
    ChunksExact(size) -> &'a [T],
    span |s| s.slice.len() / s.size,
    part |s, from, to| s.slice[from * s.size..to * s.size].chunks_exact(s.size);

    /// A parallel iterator over the windows of a slice: see [`ParallelSlice::par_windows`].
    Windows(size) -> &'a [T],
    span |s| (s.slice.len() + 1).saturating_sub(s.size),
    part |s, from, to| {
        let end = if from == to { from } else { to + s.size - 1 };
        s.slice[from..end].windows(s.size)
    };
}

/// Returns the position at which chunk `k` begins, or the end.
fn within<T>(k: usize, size: usize, slice: &[T]) -> usize {
    cmp::min(k.saturating_mul(size), slice.len())
}

/// Defines an iterator over an exclusive slice.
macro_rules! exclusive {
    ($(
        $(#[$doc:meta])*
        $name:ident $(($size:ident))? -> $item:ty,
        span |$s:ident| $span:expr,
        range |$r:ident, $k:ident| $place:expr,
        part |$part_slice:ident, $p:ident| $part:expr;
    )+) => {$(
        $(#[$doc])*
        #[must_use = "parallel iterators do nothing until their end is awaited"]
        #[derive(Debug)]
        pub struct $name<'a, T> {
            start: *mut T,
            len: usize,
            $($size: usize,)?
            slice: PhantomData<&'a mut [T]>,
        }

        // SAFETY: it is an exclusive slice, and `T` is `Send`.
        unsafe impl<T: Send> Send for $name<'_, T> {}
        // SAFETY: shared, it gives access only by `part`, whose callers guarantee that parts do not overlap: each item is sent
        // to one of them.
        unsafe impl<T: Send> Sync for $name<'_, T> {}

        impl<'a, T> $name<'a, T> {
            pub(crate) fn new(slice: &'a mut [T] $(, $size: usize)?) -> Self {
                $name { start: slice.as_mut_ptr(), len: slice.len(), $($size,)? slice: PhantomData }
            }

            /// Returns the slice that has the items of the indices `from..to`.
            ///
            /// # Safety
            /// As for [`ParallelIterator::part`].
            #[inline]
            unsafe fn taken(&self, from: usize, to: usize) -> &'a mut [T] {
                let $r = self;
                let place = |$k: usize| $place;
                let (from, to) = (place(from), place(to));
                // SAFETY: `place` is at most the length.
                let start = unsafe { self.start.add(from) };
                // SAFETY: the items from `start` on are in the slice, which is borrowed exclusively for `'a`. The caller
                // guarantees that no index is in two parts, so no item is in two of these slices.
                unsafe { slice::from_raw_parts_mut(start, to - from) }
            }
        }

        // SAFETY: the slice does not change its length, and a part has an item for each index.
        unsafe impl<'a, T: Send> ParallelIterator for $name<'a, T> {
            type Item = $item;
            const EXACT: bool = true;
            #[inline]
            fn span(&self) -> usize {
                let $s = self;
                $span
            }
            #[inline]
            unsafe fn part(&self, from: usize, to: usize) -> impl Iterator<Item = Self::Item> {
                // SAFETY: the caller guarantees the conditions.
                let ($part_slice, $p) = (unsafe { self.taken(from, to) }, self);
                $part
            }
            #[inline]
            unsafe fn part_rev(&self, from: usize, to: usize) -> impl Iterator<Item = Self::Item> {
                // SAFETY: the caller guarantees the conditions.
                let ($part_slice, $p) = (unsafe { self.taken(from, to) }, self);
                $part.rev()
            }
        }
        // SAFETY: `EXACT` is true.
        unsafe impl<T: Send> IndexedParallelIterator for $name<'_, T> {}
    )+};
}

exclusive! {
    /// A parallel iterator over the items of an exclusive slice.
    IterMut -> &'a mut T,
    span |s| s.len,
    range |_s, k| k,
    part |slice, _s| slice.iter_mut();

    /// A parallel iterator over exclusive chunks of a slice: see [`ParallelSliceMut::par_chunks_mut`].
    ChunksMut(size) -> &'a mut [T],
    span |s| s.len.div_ceil(s.size),
    range |s, k| cmp::min(k.saturating_mul(s.size), s.len),
    part |slice, s| slice.chunks_mut(s.size);

    /// A parallel iterator over exclusive chunks of equal length: see [`ParallelSliceMut::par_chunks_exact_mut`].
    ChunksExactMut(size) -> &'a mut [T],
    span |s| s.len / s.size,
    range |s, k| k * s.size,
    part |slice, s| slice.chunks_exact_mut(s.size);
}

impl<'a, T: Sync> IntoParallelIterator for &'a [T] {
    type Iter = Iter<'a, T>;
    type Item = &'a T;
    fn into_par_iter(self) -> Iter<'a, T> {
        Iter { slice: self }
    }
}

impl<'a, T: Send> IntoParallelIterator for &'a mut [T] {
    type Iter = IterMut<'a, T>;
    type Item = &'a mut T;
    fn into_par_iter(self) -> IterMut<'a, T> {
        IterMut::new(self)
    }
}

#[track_caller]
fn checked(size: usize) -> usize {
    assert!(size > 0, "a chunk or window of 0 items: the size is at least 1");
    size
}

/// Parts of shared slices, in parallel.
pub trait ParallelSlice<T: Sync> {
    /// Returns the slice.
    fn as_parallel_slice(&self) -> &[T];

    /// Returns a parallel iterator over chunks of `size` items; the last may be shorter.
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    fn par_chunks(&self, size: usize) -> Chunks<'_, T> {
        Chunks { slice: self.as_parallel_slice(), size: checked(size) }
    }

    /// Returns a parallel iterator over chunks of `size` items, without a shorter last one.
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    fn par_chunks_exact(&self, size: usize) -> ChunksExact<'_, T> {
        ChunksExact { slice: self.as_parallel_slice(), size: checked(size) }
    }

    /// Returns a parallel iterator over all `size` items that follow each other.
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    fn par_windows(&self, size: usize) -> Windows<'_, T> {
        Windows { slice: self.as_parallel_slice(), size: checked(size) }
    }
}

impl<T: Sync> ParallelSlice<T> for [T] {
    fn as_parallel_slice(&self) -> &[T] {
        self
    }
}

/// Parts of exclusive slices, and sorts, in parallel.
///
/// The stable sorts (`par_sort`, ..) are merge sorts that allocate as much memory as the slice has; the unstable ones are
/// quicksorts in place. Both use std's sorts for short parts, take linear time for slices that are in order or in strictly reverse
/// order, and O(n log n) comparisons at most. If a comparison panics, the slice has all its items, in some order.
///
/// ```
/// use finespun::par::prelude::*;
/// use finespun::prelude::*;
///
/// #[task]
/// async fn sorted(mut words: Vec<&'static str>) -> Vec<&'static str> {
///     words.par_sort_by_key(|word| word.len()).await;
///     words
/// }
/// # let runtime = Runtime::builder().workers(2).build().unwrap();
/// assert_eq!(runtime.run(sorted(vec!["three", "one", "two"])), ["one", "two", "three"]);
/// ```
pub trait ParallelSliceMut<T: Send> {
    /// Returns the slice.
    fn as_parallel_slice_mut(&mut self) -> &mut [T];

    /// Returns a parallel iterator over exclusive chunks of `size` items; the last may be shorter.
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    fn par_chunks_mut(&mut self, size: usize) -> ChunksMut<'_, T> {
        ChunksMut::new(self.as_parallel_slice_mut(), checked(size))
    }

    /// Returns a parallel iterator over exclusive chunks of `size` items, without a shorter last one.
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    fn par_chunks_exact_mut(&mut self, size: usize) -> ChunksExactMut<'_, T> {
        ChunksExactMut::new(self.as_parallel_slice_mut(), checked(size))
    }

    /// Sorts the slice; equal items keep their order.
    fn par_sort<'a>(&'a mut self) -> ParallelTask<'a, ()>
    where
        T: Ord + 'a,
    {
        ParallelTask::new(merge_sort(self.as_parallel_slice_mut(), T::lt))
    }

    /// Sorts the slice by `compare`; equal items keep their order.
    fn par_sort_by<'a, F>(&'a mut self, compare: F) -> ParallelTask<'a, ()>
    where
        F: Fn(&T, &T) -> Ordering + Send + Sync + 'a,
        T: 'a,
    {
        ParallelTask::new(merge_sort(self.as_parallel_slice_mut(), move |a: &T, b: &T| compare(a, b) == Ordering::Less))
    }

    /// Sorts the slice by keys, which are computed at each comparison; equal items keep their order.
    fn par_sort_by_key<'a, K: Ord + 'a, F>(&'a mut self, key: F) -> ParallelTask<'a, ()>
    where
        F: Fn(&T) -> K + Send + Sync + 'a,
        T: 'a,
    {
        ParallelTask::new(merge_sort(self.as_parallel_slice_mut(), move |a: &T, b: &T| key(a) < key(b)))
    }

    /// Sorts the slice by keys, each of which is computed once; equal items keep their order. The keys are computed and sorted
    /// in parallel; at the end the items are moved sequentially.
    fn par_sort_by_cached_key<'a, K: Ord + Send + 'a, F>(&'a mut self, key: F) -> ParallelTask<'a, ()>
    where
        F: Fn(&T) -> K + Send + Sync + 'a,
        T: 'a,
    {
        ParallelTask::new(sort_by_cached_key(self.as_parallel_slice_mut(), key))
    }

    /// Sorts the slice in place; equal items may change their order.
    fn par_sort_unstable<'a>(&'a mut self) -> ParallelTask<'a, ()>
    where
        T: Ord + 'a,
    {
        ParallelTask::new(quick_sort(self.as_parallel_slice_mut(), T::lt))
    }

    /// Sorts the slice in place by `compare`; equal items may change their order.
    fn par_sort_unstable_by<'a, F>(&'a mut self, compare: F) -> ParallelTask<'a, ()>
    where
        F: Fn(&T, &T) -> Ordering + Send + Sync + 'a,
        T: 'a,
    {
        ParallelTask::new(quick_sort(self.as_parallel_slice_mut(), move |a: &T, b: &T| compare(a, b) == Ordering::Less))
    }

    /// Sorts the slice in place by keys, which are computed at each comparison; equal items may change their order.
    fn par_sort_unstable_by_key<'a, K: Ord + 'a, F>(&'a mut self, key: F) -> ParallelTask<'a, ()>
    where
        F: Fn(&T) -> K + Send + Sync + 'a,
        T: 'a,
    {
        ParallelTask::new(quick_sort(self.as_parallel_slice_mut(), move |a: &T, b: &T| key(a) < key(b)))
    }
}

impl<T: Send> ParallelSliceMut<T> for [T] {
    fn as_parallel_slice_mut(&mut self) -> &mut [T] {
        self
    }
}
