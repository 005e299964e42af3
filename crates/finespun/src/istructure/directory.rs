//! Where a cached element lies, by its index: what every hit reads.

use std::cell::Cell;
use std::hint::black_box;
use std::ops::Range;
use std::ptr;
use std::time::Instant;

/// Finds elements of other nodes' by their indices: of each granule where its elements would begin if index 0 were among them,
/// or null.
///
/// The first word is the number of indices, for which there are entries.
pub(super) struct Directory {
    words: Box<[Cell<*const ()>]>,
}

/// Indices to an entry. A constant, as it saves instructions of every access: where blocks are smaller, there are no entries.
pub(super) const GRANULE: usize = 8;

/// The directory of nodes without a cache.
struct Nothing([*const (); 1]);

// SAFETY: nothing is behind its pointer, a null.
unsafe impl Sync for Nothing {}

static NOTHING: Nothing = Nothing([ptr::null()]);

/// The words of a directory without indices.
pub(super) fn nothing() -> *const *const () {
    NOTHING.0.as_ptr()
}

impl Directory {
    pub(super) fn new(len: usize) -> Directory {
        // Pages of zeros, of which those that are used are there.
        let words = Box::new_zeroed_slice(1 + len.div_ceil(GRANULE));
        // SAFETY: a null pointer is a pointer.
        let words: Box<[Cell<*const ()>]> = unsafe { words.assume_init() };
        words[0].set(ptr::without_provenance(len));
        Directory { words }
    }

    /// The elements from `first` on are these.
    pub(super) fn publish<T>(&self, first: usize, values: &[T]) {
        let base = values.as_ptr().wrapping_sub(first);
        for at in (first..first + values.len()).step_by(GRANULE) {
            self.words[1 + at / GRANULE].set(base.cast());
        }
    }

    pub(super) fn forget(&self, indices: Range<usize>) {
        for at in indices.step_by(GRANULE) {
            self.words[1 + at / GRANULE].set(ptr::null());
        }
    }

    /// The words, for the line that every access reads.
    pub(super) fn words(&self) -> *const *const () {
        self.words.as_ptr().cast()
    }

    /// Returns where element 0 would be if it were in one array with element `index`, or null if that element is not cached.
    ///
    /// # Safety
    /// `words` is what [`Lines::directory`](super::lines::Lines::directory) gives, at the node that this runs at, for an array of `T`s that has not been freed. The
    /// result is used before anything else happens to the array.
    #[inline(always)]
    pub(super) unsafe fn base<T>(words: *const *const (), index: usize) -> *const T {
        // SAFETY: a directory has a first word.
        let len = unsafe { *words }.addr();
        if index >= len {
            return ptr::null();
        }
        // SAFETY: a directory has an entry for each index below its first word.
        unsafe { *words.add(1 + index / GRANULE) }.cast()
    }
}

/// Nanoseconds that a hit takes by way of a directory.
pub(super) fn time_hits() -> f64 {
    const READS: usize = 1024;
    let directory = Directory::new(GRANULE);
    directory.publish(0, &[1u64; GRANULE]);
    let start = Instant::now();
    let mut sum = 0;
    for at in 0..READS {
        // SAFETY: a directory of `u64`s, of as many as a granule has.
        let base = unsafe { Directory::base::<u64>(black_box(directory.words.as_ptr().cast()), at % GRANULE) };
        sum += base.addr();
    }
    black_box(sum);
    start.elapsed().as_nanos() as f64 / READS as f64
}
