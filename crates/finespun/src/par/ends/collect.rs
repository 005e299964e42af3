//! The end of `collect`: the consumer of the collection, in a type that names the collection.

use crate::par::consumer::{Consumer, Leaf};
use crate::par::convert::FromParallelIterator;

/// The end of [`collect`](crate::par::ParallelIterator::collect).
///
/// The type of the collection is a parameter, so that rustc infers it from the type of the result, which the consumer's
/// type alone does not determine.
pub struct Collect<T, C: FromParallelIterator<T>>(C::Consumer);

impl<T, C: FromParallelIterator<T>> Collect<T, C> {
    pub(crate) fn new(len: Option<usize>) -> Collect<T, C> {
        Collect(C::consumer(len))
    }
}

impl<T, C: FromParallelIterator<T>> Consumer<T> for Collect<T, C> {
    type Part = <C::Consumer as Consumer<T>>::Part;
    type Output = C;
    #[inline(always)]
    fn ignores_cuts() -> bool {
        C::Consumer::ignores_cuts()
    }
    fn begin(&mut self, leaves: usize) {
        self.0.begin(leaves);
    }
    #[inline]
    unsafe fn leaf(&self, leaf: Leaf, items: impl Iterator<Item = T>) -> Self::Part {
        // SAFETY: the caller guarantees the conditions.
        unsafe { self.0.leaf(leaf, items) }
    }
    fn join(&self, left: Self::Part, right: Self::Part) -> Self::Part {
        self.0.join(left, right)
    }
    #[inline]
    fn skip(&self, first: usize) -> Option<Self::Part> {
        self.0.skip(first)
    }
    fn finish(self, whole: Self::Part) -> C {
        self.0.finish(whole)
    }
}
