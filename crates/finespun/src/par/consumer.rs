//! Consumers: the ends of parallel iterators.

/// A part of a parallel iterator that is consumed in one sequential loop.
#[derive(Debug)]
pub struct Leaf {
    pub(crate) number: usize,
    pub(crate) from: usize,
    pub(crate) to: usize,
}

impl Leaf {
    /// Returns the number of the leaf: 0 for the first in the iterator's order.
    pub fn number(&self) -> usize {
        self.number
    }

    /// Returns the leaf's first index.
    pub fn from(&self) -> usize {
        self.from
    }

    /// Returns the number of indices. If the iterator is exact, this is the number of items.
    pub fn indices(&self) -> usize {
        self.to - self.from
    }
}

/// The end of a parallel iterator: turns leaves into partial results, and combines neighbours in order.
///
/// A traversal calls [`begin`](Consumer::begin), then [`leaf`](Consumer::leaf) once for each leaf, on any workers and in
/// any order; then [`join`](Consumer::join) for neighbours, in a tree whose shape depends only on the number of items;
/// and at last [`finish`](Consumer::finish). After a panic it drops the parts, and then the consumer. An empty
/// iterator has one leaf without items.
pub trait Consumer<T>: Send + Sync + Sized {
    /// A partial result.
    type Part: Send;
    /// The final result.
    type Output: Send;

    /// Prepares for this number of leaves.
    fn begin(&mut self, _leaves: usize) {}

    /// Returns whether the result is the same wherever the items are cut. If it is, several neighbouring short leaves may be
    /// passed to [`leaf`](Consumer::leaf) as one, which has the number of the first.
    #[inline(always)]
    fn ignores_cuts() -> bool {
        false
    }

    /// Returns whether one leaf may make all others superfluous ([`skip`](Consumer::skip)), and the result is the same wherever
    /// the items are cut. Then the first leaf is visited before any task is made: many searches are over there.
    #[inline(always)]
    fn may_end_early() -> bool {
        false
    }

    /// Consumes the items of a leaf.
    ///
    /// # Safety
    /// Each leaf of one traversal is passed at most once, with as many items as it has indices if the consumer was made
    /// for an exact iterator (fewer if no result is made of the part). The parts are dropped, or passed to `finish`,
    /// before the consumer is dropped, and are joined only with parts of the same consumer.
    unsafe fn leaf(&self, leaf: Leaf, items: impl Iterator<Item = T>) -> Self::Part;

    /// Combines two neighbours.
    fn join(&self, left: Self::Part, right: Self::Part) -> Self::Part;

    /// Returns the part that stands for all leaves from `first` on if they need not be visited. Called at inner nodes of the tree.
    #[inline(always)]
    fn skip(&self, _first: usize) -> Option<Self::Part> {
        None
    }

    /// Makes the result of the part that contains all leaves.
    fn finish(self, whole: Self::Part) -> Self::Output;
}
