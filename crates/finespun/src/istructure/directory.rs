//! The address of each cached element, by its index: the table that every cache hit reads.

use std::alloc::{Layout, alloc_zeroed};
use std::cell::Cell;
use std::hint::black_box;
use std::ops::Range;
use std::ptr::{self, NonNull};
use std::time::Instant;

/// A table of other nodes' cached elements by index. The entry of a granule holds the address that index 0 would have
/// if it were in one array with the granule's elements, or null.
///
/// The first word is the number of indices, which the remaining words cover.
pub(super) struct Directory {
    words: Box<[Cell<*const ()>]>,
}

/// Indices per entry. A constant, which saves instructions in every access. Caches with smaller blocks have no
/// directory.
pub(super) const GRANULE: usize = 8;

/// The directory of nodes without a cache.
struct EmptyDirectory([*const (); 1]);

// SAFETY: its only pointer is null, so shared access reaches no data.
unsafe impl Sync for EmptyDirectory {}

static NOTHING: EmptyDirectory = EmptyDirectory([ptr::null()]);

/// Returns the words of a directory without indices.
pub(super) fn nothing() -> *const *const () {
    NOTHING.0.as_ptr()
}

impl Directory {
    /// Makes the directory of an array of `len` elements; `None` if no memory is left for it.
    pub(super) fn new(len: usize) -> Option<Directory> {
        let words = 1 + len.div_ceil(GRANULE);
        let layout = Layout::array::<Cell<*const ()>>(words).ok()?;
        // Zero pages, of which only the used ones take memory.
        // SAFETY: the layout has a word at least.
        let first = NonNull::new(unsafe { alloc_zeroed(layout) })?.cast::<Cell<*const ()>>();
        // SAFETY: the memory has been allocated with the layout of a slice of so many pointers, which are null.
        let words = unsafe { Box::from_raw(NonNull::slice_from_raw_parts(first, words).as_ptr()) };
        words[0].set(ptr::without_provenance(len));
        Some(Directory { words })
    }

    /// Enters the elements from index `first` on.
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

    /// Returns the words, for the array's entry that every access reads.
    pub(super) fn words(&self) -> *const *const () {
        self.words.as_ptr().cast()
    }

    /// Returns the address of element 0 as if it were in one array with element `index`, or null if element `index` is
    /// not cached.
    ///
    /// # Safety
    /// `words` comes from [`RemoteReads::directory`](super::remote_reads::RemoteReads::directory) at the node that this
    /// code runs at, for an array of `T`s that has not been freed. The result is used before any other operation on the
    /// array.
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

/// Returns the nanoseconds of a hit by way of a directory.
pub(super) fn time_hits() -> f64 {
    const READS: usize = 1024;
    let Some(directory) = Directory::new(GRANULE) else { return 0.0 };
    directory.publish(0, &[1u64; GRANULE]);
    let start = Instant::now();
    let mut sum = 0;
    for at in 0..READS {
        // SAFETY: the words belong to a live directory of `u64`s with `GRANULE` indices.
        let base = unsafe { Directory::base::<u64>(black_box(directory.words.as_ptr().cast()), at % GRANULE) };
        sum += base.addr();
    }
    black_box(sum);
    start.elapsed().as_nanos() as f64 / READS as f64
}
