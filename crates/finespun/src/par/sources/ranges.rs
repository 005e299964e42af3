//! Ranges of integers.

use std::ops;

use crate::par::convert::IntoParallelIterator;
use crate::par::indexed::IndexedParallelIterator;
use crate::par::iterator::ParallelIterator;

/// A parallel iterator over a range of integers.
#[must_use = "parallel iterators do nothing until their end is awaited"]
#[derive(Clone, Debug)]
pub struct Range<T> {
    start: T,
    len: usize,
}

mod sealed {
    /// Integers of at most 64 bits, whose ranges are parallel iterators.
    pub trait Integer: Copy + Ord + Send + Sync + std::fmt::Display {
        /// Returns how far `end`, which is not less, is from this number.
        fn distance(self, end: Self) -> usize;
        /// Returns the number `k` after this one.
        fn after(self, k: usize) -> Self;
    }

    macro_rules! integers {
        ($($int:ident $unsigned:ident)+) => {$(
            impl Integer for $int {
                fn distance(self, end: Self) -> usize {
                    // The distance of two signed integers may have overflowed into the sign.
                    let distance = end.wrapping_sub(self) as $unsigned;
                    usize::try_from(distance).expect("a parallel iterator has at most usize::MAX items")
                }
                #[inline(always)]
                fn after(self, k: usize) -> Self {
                    // Wraps around where the type is narrower or signed; the sum is in the range.
                    self.wrapping_add(k as $int)
                }
            }
        )+};
    }

    integers!(u8 u8 u16 u16 u32 u32 u64 u64 usize usize i8 u8 i16 u16 i32 u32 i64 u64 isize usize);
}

use sealed::Integer;

// SAFETY: the length does not change, and a part has an item for each index.
unsafe impl<T: Integer> ParallelIterator for Range<T> {
    type Item = T;
    const EXACT: bool = true;
    fn span(&self) -> usize {
        self.len
    }
    #[inline]
    unsafe fn part(&self, from: usize, to: usize) -> impl Iterator<Item = T> {
        let start = self.start;
        (from..to).map(move |k| start.after(k))
    }
    #[inline]
    unsafe fn part_rev(&self, from: usize, to: usize) -> impl Iterator<Item = T> {
        let start = self.start;
        (from..to).rev().map(move |k| start.after(k))
    }
}
// SAFETY: `EXACT` is true.
unsafe impl<T: Integer> IndexedParallelIterator for Range<T> {}

impl<T: Integer> IntoParallelIterator for ops::Range<T> {
    type Iter = Range<T>;
    type Item = T;
    fn into_par_iter(self) -> Range<T> {
        let len = if self.start < self.end { self.start.distance(self.end) } else { 0 };
        Range { start: self.start, len }
    }
}

impl<T: Integer> IntoParallelIterator for ops::RangeInclusive<T> {
    type Iter = Range<T>;
    type Item = T;
    /// # Panics
    /// If the range has more than `usize::MAX` integers.
    #[track_caller]
    fn into_par_iter(self) -> Range<T> {
        let (start, end) = (*self.start(), *self.end());
        if self.is_empty() {
            return Range { start, len: 0 };
        }
        match start.distance(end).checked_add(1) {
            Some(len) => Range { start, len },
            None => panic!("{start}..={end} has 2^64 integers, one too many for a parallel iterator"),
        }
    }
}
