//! The activities of a group: their number, and the task for each number.

use std::iter::StepBy;
use std::ops::{Range, RangeInclusive};

use super::sealed as kinds;
use crate::call::{Task, sealed};

/// The index space of a [`parfor`](super::parfor): a range of integers, or a range with a step. The trait is sealed.
#[diagnostic::on_unimplemented(
    message = "`parfor` runs over a range of integers, not over `{Self}`",
    label = "not a range",
    note = "for the elements of a slice, run over their indices: `parfor(0..v.len(), |i| f(&v[i]))`; or use `finespun::par`"
)]
pub trait Span: kinds::Span {
    /// The type of the integers.
    type Index;
    /// Returns the number of integers.
    fn count(&self) -> u64;
    /// Returns the `k`th integer, counted from 0.
    fn at(&self, k: u64) -> Self::Index;
}

/// An integer type that a loop may run over. The trait is sealed.
pub trait Integer: Copy + PartialOrd + kinds::Integer {
    /// Returns the number of integers from this one to before `end`, which is not smaller.
    #[doc(hidden)]
    fn to(self, end: Self) -> u64;
    /// Returns the integer `k` above this one, which must be representable.
    #[doc(hidden)]
    fn plus(self, k: u64) -> Self;
}

macro_rules! integers {
    ($($int:ident)+) => {$(
        impl kinds::Integer for $int {}
        impl Integer for $int {
            #[inline(always)]
            fn to(self, end: $int) -> u64 {
                // Conversion may have sign-extended a signed difference.
                end.wrapping_sub(self) as u64 & (u64::MAX >> (64 - $int::BITS))
            }
            #[inline(always)]
            fn plus(self, k: u64) -> $int {
                self.wrapping_add(k as $int)
            }
        }
    )+};
}

integers! { u8 u16 u32 u64 usize i8 i16 i32 i64 isize }

impl<I: Integer> kinds::Span for Range<I> {}
impl<I: Integer> Span for Range<I> {
    type Index = I;
    #[inline(always)]
    fn count(&self) -> u64 {
        if self.start < self.end { self.start.to(self.end) } else { 0 }
    }
    #[inline(always)]
    fn at(&self, k: u64) -> I {
        self.start.plus(k)
    }
}

impl<I: Integer> kinds::Span for RangeInclusive<I> {}
impl<I: Integer> Span for RangeInclusive<I> {
    type Index = I;
    #[inline(always)]
    fn count(&self) -> u64 {
        if self.is_empty() {
            return 0;
        }
        self.start().to(*self.end()).checked_add(1).expect("a loop over fewer than 2^64 integers")
    }
    #[inline(always)]
    fn at(&self, k: u64) -> I {
        self.start().plus(k)
    }
}

impl<I> kinds::Span for StepBy<I> {}
/// A range with a step: `(0..n).step_by(k)`. The iterator may be the program's own and report a different length at
/// each call, so unsafe code relies on the result of a single call of `count`.
impl<I> Span for StepBy<I>
where
    StepBy<I>: Clone + ExactSizeIterator,
{
    type Index = <StepBy<I> as Iterator>::Item;

    fn count(&self) -> u64 {
        self.len() as u64
    }

    #[inline(always)]
    fn at(&self, k: u64) -> Self::Index {
        match self.clone().nth(k as usize) {
            Some(index) => index,
            None => unreachable!("within the count"),
        }
    }
}

/// The activities of a group. The trait is sealed.
pub trait Activities: Sync + sealed::Sealed {
    /// The type of each activity.
    type Task: Task;
    /// Returns the number of activities.
    fn count(&self) -> u64;
    /// Makes the `k`th activity.
    ///
    /// # Safety
    /// The caller calls this at most once for each `k`.
    #[doc(hidden)]
    unsafe fn activity(&self, k: u64) -> Self::Task;
    /// Takes the value that `preturn` has supplied, which the construct then delivers; `None` for all groups but a
    /// level's.
    #[doc(hidden)]
    fn returned(&self) -> Option<<Self::Task as Task>::Output> {
        None
    }
}

/// One activity for each index.
#[derive(Debug)]
pub struct Indexed<S, F> {
    pub(super) span: S,
    pub(super) body: F,
}

impl<S, F> sealed::Sealed for Indexed<S, F> {}
impl<S, F, Tk> Activities for Indexed<S, F>
where
    S: Span + Sync,
    F: Fn(S::Index) -> Tk + Sync,
    Tk: Task,
{
    type Task = Tk;

    #[inline(always)]
    fn count(&self) -> u64 {
        self.span.count()
    }

    #[inline(always)]
    unsafe fn activity(&self, k: u64) -> Tk {
        (self.body)(self.span.at(k))
    }
}

#[cfg(test)]
mod tests {
    use super::Span;

    fn all<S: Span>(span: &S) -> Vec<S::Index> {
        (0..Span::count(span)).map(|k| span.at(k)).collect()
    }

    #[test]
    fn spans_yield_the_same_integers_as_iterators() {
        assert_eq!(all(&(3..7_usize)), [3, 4, 5, 6]);
        assert_eq!(all(&(-2..2_i32)), [-2, -1, 0, 1]);
        assert_eq!(all(&(250..=255_u8)), (250..=255_u8).collect::<Vec<_>>());
        assert_eq!(all(&(-128..=127_i8)), (-128..=127_i8).collect::<Vec<_>>());
        #[expect(clippy::reversed_empty_ranges, reason = "that is what is tested")]
        let none = all(&(7..3_usize));
        assert!(none.is_empty());
        for (start, end, step) in [(0, 10, 3), (5, 6, 1), (0, 9, 3), (4, 4, 2), (1, 100, 7)] {
            let span = (start..end).step_by(step);
            assert_eq!(all(&span), span.clone().collect::<Vec<usize>>());
        }
        assert_eq!(Span::count(&(i64::MIN..i64::MAX)), u64::MAX);
        assert_eq!(Span::count(&(0..=u64::MAX - 1)), u64::MAX);
    }
}
