//! Indexed parallel iterators: those that know the position of each item.

use super::adaptors::{Chunks, Enumerate, MaxLen, MinLen, Rev, Skip, StepBy, Take, Zip};
use super::convert::IntoParallelIterator;
use super::ends::{FindAny, FindFirst, Into};
use super::iterator::ParallelIterator;
use super::traversal::{ParallelTask, traverse};

/// A parallel iterator with one item for each index.
///
/// # Safety
/// [`EXACT`](ParallelIterator::EXACT) is true.
pub unsafe trait IndexedParallelIterator: ParallelIterator {
    /// Returns the number of items.
    fn len(&self) -> usize {
        self.span()
    }

    /// Returns whether there are no items.
    fn is_empty(&self) -> bool {
        self.span() == 0
    }

    /// Pairs each item with its position.
    fn enumerate(self) -> Enumerate<Self> {
        Enumerate::new(self)
    }

    /// Pairs each item with the one of `other` at the same position. The shorter iterator determines the length.
    fn zip<O: IntoParallelIterator<Iter: IndexedParallelIterator>>(self, other: O) -> Zip<Self, O::Iter> {
        Zip::new(self, other.into_par_iter())
    }

    /// Pairs each item with the one of `other` at the same position.
    ///
    /// # Panics
    /// If the lengths differ.
    #[track_caller]
    fn zip_eq<O: IntoParallelIterator<Iter: IndexedParallelIterator>>(self, other: O) -> Zip<Self, O::Iter> {
        let other = other.into_par_iter();
        let (a, b) = (self.len(), other.len());
        assert!(a == b, "`zip_eq` of iterators with {a} and {b} items: make them equally long, or use `zip`");
        Zip::new(self, other)
    }

    /// Reverses the order.
    fn rev(self) -> Rev<Self> {
        Rev::new(self)
    }

    /// Keeps the first `n` items.
    fn take(self, n: usize) -> Take<Self> {
        Take::new(self, n)
    }

    /// Leaves out the first `n` items.
    fn skip(self, n: usize) -> Skip<Self> {
        Skip::new(self, n)
    }

    /// Keeps the first item and each `step`-th after it.
    ///
    /// # Panics
    /// If `step` is 0.
    #[track_caller]
    fn step_by(self, step: usize) -> StepBy<Self> {
        assert!(step > 0, "step_by(0): a step is at least 1");
        StepBy::new(self, step)
    }

    /// Collects each `size` items into a vector; the last may be shorter.
    ///
    /// # Panics
    /// If `size` is 0.
    #[track_caller]
    fn chunks(self, size: usize) -> Chunks<Self> {
        assert!(size > 0, "chunks(0): a chunk has at least one item");
        Chunks::new(self, size)
    }

    /// Sets the least number of items that one sequential loop takes. For very short closures on few items: a leaf costs a
    /// few nanoseconds.
    fn with_min_len(self, min: usize) -> MinLen<Self> {
        MinLen::new(self, min)
    }

    /// Sets the greatest number of items that one sequential loop takes. For millions of items that are long
    /// computations: a loop is neither split nor cancelled.
    fn with_max_len(self, max: usize) -> MaxLen<Self> {
        MaxLen::new(self, max)
    }

    /// Returns the position of an item for which `f` is true: the one found first.
    fn position_any<'a, F>(self, f: F) -> ParallelTask<'a, Option<usize>>
    where
        F: Fn(Self::Item) -> bool + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self.enumerate().filter_map(move |(k, item)| f(item).then_some(k)), FindAny::new())
    }

    /// Returns the position of the first item for which `f` is true.
    fn position_first<'a, F>(self, f: F) -> ParallelTask<'a, Option<usize>>
    where
        F: Fn(Self::Item) -> bool + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self.enumerate().filter_map(move |(k, item)| f(item).then_some(k)), FindFirst::new())
    }

    /// Writes the items into `target`, whose items are dropped before, and whose memory is used again.
    fn collect_into_vec<'a>(self, target: &'a mut Vec<Self::Item>) -> ParallelTask<'a, ()>
    where
        Self: 'a,
    {
        let len = self.span();
        traverse(self, Into::new(target, len))
    }
}
