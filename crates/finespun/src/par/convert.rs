//! Conversions to parallel iterators, and from them.

use super::consumer::Consumer;
use super::ends::Extended;
use super::iterator::ParallelIterator;
use super::traversal::{ParallelTask, traverse};

/// Types that can be made a parallel iterator: like std's `IntoIterator`.
pub trait IntoParallelIterator {
    /// The iterator.
    type Iter: ParallelIterator<Item = Self::Item>;
    /// The type of its items.
    type Item: Send;
    /// Returns the iterator, which takes the items.
    fn into_par_iter(self) -> Self::Iter;
}

impl<I: ParallelIterator> IntoParallelIterator for I {
    type Iter = I;
    type Item = I::Item;
    fn into_par_iter(self) -> I {
        self
    }
}

/// Types whose items can be borrowed in parallel: all those whose shared reference is an [`IntoParallelIterator`].
pub trait IntoParallelRefIterator<'a> {
    /// The iterator.
    type Iter: ParallelIterator<Item = Self::Item>;
    /// The type of its items.
    type Item: Send + 'a;
    /// Returns an iterator of references to the items.
    fn par_iter(&'a self) -> Self::Iter;
}

impl<'a, C: ?Sized + 'a> IntoParallelRefIterator<'a> for C
where
    &'a C: IntoParallelIterator<Item: 'a>,
{
    type Iter = <&'a C as IntoParallelIterator>::Iter;
    type Item = <&'a C as IntoParallelIterator>::Item;
    fn par_iter(&'a self) -> Self::Iter {
        self.into_par_iter()
    }
}

/// Types whose items can be changed in parallel: all those whose exclusive reference is an [`IntoParallelIterator`].
pub trait IntoParallelRefMutIterator<'a> {
    /// The iterator.
    type Iter: ParallelIterator<Item = Self::Item>;
    /// The type of its items.
    type Item: Send + 'a;
    /// Returns an iterator of exclusive references to the items.
    fn par_iter_mut(&'a mut self) -> Self::Iter;
}

impl<'a, C: ?Sized + 'a> IntoParallelRefMutIterator<'a> for C
where
    &'a mut C: IntoParallelIterator<Item: 'a>,
{
    type Iter = <&'a mut C as IntoParallelIterator>::Iter;
    type Item = <&'a mut C as IntoParallelIterator>::Item;
    fn par_iter_mut(&'a mut self) -> Self::Iter {
        self.into_par_iter()
    }
}

/// Types that [`collect`](ParallelIterator::collect) can make.
///
/// For a collection that implements `FromIterator`, [`Gather`](super::Gather) does the work:
///
/// ```
/// use finespun::par::{FromParallelIterator, Gather, prelude::*};
///
/// struct Bag(Vec<u64>);
///
/// impl FromParallelIterator<u64> for Bag {
///     type Consumer = Gather<u64, Bag>;
///     fn consumer(_: Option<usize>) -> Gather<u64, Bag> {
///         Gather::new(|leaves| Bag(leaves.into_iter().flatten().collect()))
///     }
/// }
/// # let runtime = finespun::Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run((0..10_u64).into_par_iter().collect::<Bag>()).0.len(), 10);
/// ```
pub trait FromParallelIterator<T>: Send + Sized {
    /// The consumer that makes the collection.
    type Consumer: Consumer<T, Output = Self>;
    /// Returns the consumer, for this number of items if it is known exactly.
    fn consumer(len: Option<usize>) -> Self::Consumer;
}

/// Collections to which the items of a parallel iterator can be added: all that implement `Extend`.
pub trait ParallelExtend<T: Send>: Extend<T> + Send + Sized {
    /// Adds the items, in order: they are computed in parallel, and then added sequentially.
    fn par_extend<'a, I>(&'a mut self, items: I) -> ParallelTask<'a, ()>
    where
        I: IntoParallelIterator<Item = T, Iter: 'a>,
        T: 'a,
    {
        traverse(items.into_par_iter(), Extended::new(self))
    }
}

impl<T: Send, C: Extend<T> + Send> ParallelExtend<T> for C {}
