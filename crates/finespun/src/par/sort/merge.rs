//! The stable sort: a parallel merge sort between the slice and a buffer of its size.
//!
//! A slice is halved an even number of times, down to *leaves* that std's stable sort sorts in place. On the way back,
//! neighbours are merged alternately from the slice into the buffer and from the buffer into the slice; the last merge ends in
//! the slice. A merge is itself a recursion: the longer run is halved, and a binary search finds where the other is cut.
//!
//! # Panics
//!
//! A merge copies items bit by bit, and leaves its source unchanged. While a range is merged into the buffer, the slice
//! has all its items. While it is merged into the slice, the buffer has them, and a [`Restore`] copies them back if the
//! merge does not end: it is dropped after all parts of the merge have ended. The buffer never drops items.

use std::cmp;
use std::mem;
use std::ptr;
use std::slice;

use super::{Less, ordering, sorted_already};
use crate::task;

/// The least number of items of a leaf. Shorter slices are sorted by std.
const LEAF: usize = 2048;

/// The greatest number of times that a slice is halved: even.
const LEVELS: u32 = 10;

/// The most items that are merged sequentially.
const MERGED: usize = 8192;

/// The memory of a sort, and its order.
struct Job<'a, T, F> {
    /// The slice: 0; the buffer: 1.
    memory: [*mut T; 2],
    less: &'a F,
}

// SAFETY: the parts of a sort access ranges of the memory that do not overlap, each exclusively, with items that are `Send`.
unsafe impl<T: Send, F: Sync> Send for Job<'_, T, F> {}
// SAFETY: as above.
unsafe impl<T: Send, F: Sync> Sync for Job<'_, T, F> {}

/// Two neighbouring runs, and the place of their merged items.
#[derive(Clone, Copy)]
struct Runs {
    /// The memory that has the runs: 0 or 1.
    source: usize,
    left: (usize, usize),
    right: (usize, usize),
    target: usize,
}

/// Copies a range from the buffer back to the slice, if it is dropped.
struct Restore<T> {
    slice: *mut T,
    buffer: *mut T,
    len: usize,
}

// SAFETY: it moves items that are `Send`, in a range that no other part of the sort accesses when it is dropped.
unsafe impl<T: Send> Send for Restore<T> {}

impl<T> Drop for Restore<T> {
    fn drop(&mut self) {
        // SAFETY: both are ranges of `len` items, and the buffer's has all items of the range.
        unsafe { ptr::copy_nonoverlapping(self.buffer, self.slice, self.len) };
    }
}

impl<T: Send, F: Less<T>> Job<'_, T, F> {
    /// # Safety
    /// `at` is at most the length of the sorted slice.
    unsafe fn at(&self, memory: usize, at: usize) -> *mut T {
        // SAFETY: the caller guarantees that `at` is in the memory.
        unsafe { self.memory[memory].add(at) }
    }

    /// Returns items in the memory.
    ///
    /// # Safety
    /// The memory has items in the range, and no code changes them as long as the result is used.
    unsafe fn items(&self, memory: usize, range: (usize, usize)) -> &[T] {
        // SAFETY: the caller guarantees that the range is in the memory.
        let start = unsafe { self.at(memory, range.0) };
        // SAFETY: the caller guarantees the conditions.
        unsafe { slice::from_raw_parts(start, range.1 - range.0) }
    }

    /// Sorts a leaf of the slice.
    ///
    /// # Safety
    /// No other code accesses the range.
    #[inline(never)]
    unsafe fn leaf(&self, from: usize, to: usize) {
        // SAFETY: the caller guarantees that the range is in the slice.
        let start = unsafe { self.at(0, from) };
        // SAFETY: the caller guarantees that no other code accesses the range, in which the slice has items.
        unsafe { slice::from_raw_parts_mut(start, to - from) }.sort_by(ordering(self.less));
    }

    /// Returns a guard for the merge of a range into memory `target`, if it needs one.
    ///
    /// # Safety
    /// The guard is dropped when no other code accesses the range.
    unsafe fn restore(&self, target: usize, from: usize, to: usize) -> Option<Restore<T>> {
        // SAFETY: the caller guarantees that the range is in the memory.
        let (slice, buffer) = unsafe { (self.at(0, from), self.at(1, from)) };
        (target == 0).then(|| Restore { slice, buffer, len: to - from })
    }

    /// Cuts two runs in two pairs, so that the first pair, merged, comes before the second.
    ///
    /// # Safety
    /// No other code changes the runs during the call.
    unsafe fn cut(&self, runs: Runs) -> (Runs, Runs) {
        let Runs { source, left: (l0, l1), right: (r0, r1), target } = runs;
        // SAFETY: the caller guarantees that the source has the runs.
        let (left, right) = unsafe { (self.items(source, runs.left), self.items(source, runs.right)) };
        let (l, r) = if left.len() >= right.len() {
            let l = left.len() / 2;
            // Equal ones of the right run come after the left one.
            (l, right.partition_point(|item| (self.less)(item, &left[l])))
        } else {
            let r = right.len() / 2;
            // Equal ones of the left run come before the right one.
            (left.partition_point(|item| !(self.less)(&right[r], item)), r)
        };
        let first = Runs { left: (l0, l0 + l), right: (r0, r0 + r), ..runs };
        let second = Runs { left: (l0 + l, l1), right: (r0 + r, r1), target: target + l + r, ..runs };
        (first, second)
    }

    /// Merges two runs sequentially.
    ///
    /// # Safety
    /// No other code changes the runs, or accesses their place in the other memory, during the call.
    #[inline(never)]
    unsafe fn merge(&self, runs: Runs) {
        // SAFETY: the caller guarantees that the source has the runs.
        let (left, right) = unsafe { (self.items(runs.source, runs.left), self.items(runs.source, runs.right)) };
        // SAFETY: the caller guarantees that the place is in the memory.
        let place = unsafe { self.at(1 - runs.source, runs.target) };
        // SAFETY: the caller guarantees that the place has room for both, and is not accessed.
        unsafe { merge(left, right, place, self.less) };
    }
}

/// Copies two runs to `place`, merged.
///
/// # Safety
/// `place` has room for the items of both, and does not overlap with them.
unsafe fn merge<T>(left: &[T], right: &[T], mut place: *mut T, less: &impl Less<T>) {
    let ordered = match (left, right) {
        ([.., last], [first, ..]) => !less(first, last),
        _ => true,
    };
    let (mut l, mut r) = (left.as_ptr(), right.as_ptr());
    // SAFETY: the ends of the slices.
    let (l_end, r_end) = unsafe { (l.add(left.len()), r.add(right.len())) };
    while !ordered && l < l_end && r < r_end {
        // SAFETY: both are before their ends.
        let take_right = unsafe { less(&*r, &*l) };
        let next = if take_right { r } else { l };
        // SAFETY: the caller guarantees that there is room.
        unsafe { ptr::copy_nonoverlapping(next, place, 1) };
        // SAFETY: as above.
        place = unsafe { place.add(1) };
        // SAFETY: at most the end.
        r = unsafe { r.add(usize::from(take_right)) };
        // SAFETY: at most the end.
        l = unsafe { l.add(usize::from(!take_right)) };
    }
    for (rest, end) in [(l, l_end), (r, r_end)] {
        // SAFETY: `rest` is at most the end of the same slice.
        let len = unsafe { end.offset_from_unsigned(rest) };
        // SAFETY: the caller guarantees that there is room.
        unsafe { ptr::copy_nonoverlapping(rest, place, len) };
        // SAFETY: as above.
        place = unsafe { place.add(len) };
    }
}

/// Sorts a slice by `less`; equal items keep their order.
#[task(pinned)]
pub(crate) async fn merge_sort<T: Send, F: Less<T>>(slice: &mut [T], less: F) {
    let len = slice.len();
    if size_of::<T>() == 0 || len < 4 * LEAF {
        slice.sort_by(ordering(&less));
        return;
    }
    if sorted_already(slice, &less) {
        return;
    }
    // The number of times that the length can be divided by four.
    let levels = cmp::min(LEVELS, (len / LEAF).ilog2() / 2 * 2);
    let mut buffer = Vec::<T>::with_capacity(len);
    let job = Job { memory: [slice.as_mut_ptr(), buffer.as_mut_ptr()], less: &less };
    sort(&job, 0, len, levels).await;
}

/// Sorts a range of the slice: into the slice if `levels` is even, else into the buffer.
#[task]
async fn sort<T: Send, F: Less<T>>(job: &Job<'_, T, F>, from: usize, to: usize, levels: u32) {
    if levels == 0 {
        // SAFETY: the ranges of leaves do not overlap, and each is sorted before it is merged.
        unsafe { job.leaf(from, to) };
        return;
    }
    let middle = from + (to - from) / 2;
    join!(sort(job, from, middle, levels - 1), sort(job, middle, to, levels - 1));
    let target = levels as usize % 2;
    // SAFETY: the guard is dropped after the merge, and no other part of the sort accesses the range.
    let restore = unsafe { job.restore(target, from, to) };
    merge_runs(job, Runs { source: 1 - target, left: (from, middle), right: (middle, to), target: from }).await;
    mem::forget(restore);
}

/// Merges two runs.
#[task]
async fn merge_runs<T: Send, F: Less<T>>(job: &Job<'_, T, F>, runs: Runs) {
    if (runs.left.1 - runs.left.0) + (runs.right.1 - runs.right.0) <= MERGED {
        // SAFETY: the two halves have been sorted, and no other part of the sort accesses their place.
        unsafe { job.merge(runs) };
        return;
    }
    // SAFETY: a merge does not change its source.
    let (first, second) = unsafe { job.cut(runs) };
    join!(merge_runs(job, first), merge_runs(job, second));
}
