//! Parallel iterators: the trait, with its adaptors and ends.

use std::cmp::Ordering;
use std::iter::{Product, Sum};

use super::adaptors::{
    Chain, Cloned, Copied, Filter, FilterMap, FlatMapIter, FlattenIter, Fold, FoldWith, Inspect, Map, MapInit, MapWith,
    Update,
};
use super::convert::{FromParallelIterator, IntoParallelIterator};
use super::ends::{
    All, Any, Best, BestByKey, Collect, Count, Extreme, FindAny, FindFirst, ForEach, Partition, Products, Reduce,
    ReduceWith, Sums, Try, TryForEach, TryReduce, Unzip,
};
use super::traversal::{Bounds, ParallelTask, traverse};

/// Items that can be computed in parallel.
///
/// Adaptors (`map`, `filter`, ..) describe more work; an *end* (`sum`, `collect`, `for_each`, ..) returns a
/// [task](crate::Task) that does it when it is awaited. Closures are plain functions, called by several workers at once;
/// work that awaits belongs in [`parfor`](crate::parfor) or `join!`.
///
/// ```
/// use finespun::par::prelude::*;
/// use finespun::prelude::*;
///
/// #[task]
/// async fn norm(v: &[f64]) -> f64 {
///     v.par_iter().map(|x| x * x).sum::<f64>().await.sqrt()
/// }
/// # let runtime = Runtime::builder().workers(2).build().unwrap();
/// assert_eq!(runtime.run(norm(&[3.0, 4.0])), 5.0);
/// assert_eq!(runtime.run((0..100).into_par_iter().filter(|n| n % 7 == 0).count()), 15);
/// ```
///
/// # Implementing it
///
/// An iterator is a range of indices, any part of which can be iterated over sequentially; this gives all adaptors and
/// ends for a data structure of your own. Types with an obvious iterator implement [`IntoParallelIterator`] as well.
///
/// # Safety
/// `span` does not change. If [`EXACT`](ParallelIterator::EXACT) is true, `part(from, to)` has exactly `to - from` items.
pub unsafe trait ParallelIterator: Sized + Send + Sync {
    /// The type of the items.
    type Item: Send;

    /// Whether there is exactly one item for each index.
    const EXACT: bool;

    /// Returns the number of indices.
    fn span(&self) -> usize;

    /// Returns the items of the indices `from..to`, in order. They are computed when they are taken.
    ///
    /// # Safety
    /// `from <= to <= span()`, and no index is in two parts.
    unsafe fn part(&self, from: usize, to: usize) -> impl Iterator<Item = Self::Item>;

    /// Returns the items of the indices `from..to`, the last one first. Called only if `EXACT` is true.
    ///
    /// # Safety
    /// As for [`part`](ParallelIterator::part).
    #[inline]
    unsafe fn part_rev(&self, from: usize, to: usize) -> impl Iterator<Item = Self::Item> {
        (from..to).rev().map(|k| {
            // SAFETY: the caller guarantees that `k` is less than the span, and in one part only.
            match unsafe { self.part(k, k + 1) }.next() {
                Some(item) => item,
                None => unreachable!("an exact iterator has an item for each index"),
            }
        })
    }

    /// Returns the bounds for the number of indices in a leaf.
    #[doc(hidden)]
    fn bounds(&self) -> Bounds {
        Bounds::NONE
    }

    /// Applies `f` to each item.
    fn map<R: Send, F: Fn(Self::Item) -> R + Send + Sync>(self, f: F) -> Map<Self, F> {
        Map::new(self, f)
    }

    /// Keeps the items for which `f` is true.
    fn filter<F: Fn(&Self::Item) -> bool + Send + Sync>(self, f: F) -> Filter<Self, F> {
        Filter::new(self, f)
    }

    /// Applies `f` to each item, and keeps the values that it returns.
    fn filter_map<R: Send, F: Fn(Self::Item) -> Option<R> + Send + Sync>(self, f: F) -> FilterMap<Self, F> {
        FilterMap::new(self, f)
    }

    /// Applies `f` to each item, and joins the sequential iterators that it returns.
    fn flat_map_iter<R, F>(self, f: F) -> FlatMapIter<Self, F>
    where
        R: IntoIterator<Item: Send>,
        F: Fn(Self::Item) -> R + Send + Sync,
    {
        FlatMapIter::new(self, f)
    }

    /// Joins the items, which are sequential iterators.
    fn flatten_iter(self) -> FlattenIter<Self>
    where
        Self::Item: IntoIterator<Item: Send>,
    {
        FlattenIter::new(self)
    }

    /// Calls `f` with a reference to each item on its way.
    fn inspect<F: Fn(&Self::Item) + Send + Sync>(self, f: F) -> Inspect<Self, F> {
        Inspect::new(self, f)
    }

    /// Changes each item in place.
    fn update<F: Fn(&mut Self::Item) + Send + Sync>(self, f: F) -> Update<Self, F> {
        Update::new(self, f)
    }

    /// Clones the items, which are references.
    fn cloned<'a, T: Clone + Send + Sync + 'a>(self) -> Cloned<Self>
    where
        Self: ParallelIterator<Item = &'a T>,
    {
        Cloned::new(self)
    }

    /// Copies the items, which are references.
    fn copied<'a, T: Copy + Send + Sync + 'a>(self) -> Copied<Self>
    where
        Self: ParallelIterator<Item = &'a T>,
    {
        Copied::new(self)
    }

    /// Applies `f` to each item and a value that `init` makes for each leaf: a buffer, a random generator.
    fn map_init<T, R: Send, N, F>(self, init: N, f: F) -> MapInit<Self, N, F>
    where
        N: Fn() -> T + Send + Sync,
        F: Fn(&mut T, Self::Item) -> R + Send + Sync,
    {
        MapInit::new(self, init, f)
    }

    /// Applies `f` to each item and a clone of `init`, one for each leaf.
    fn map_with<T: Clone + Send + Sync, R: Send, F>(self, init: T, f: F) -> MapWith<Self, T, F>
    where
        F: Fn(&mut T, Self::Item) -> R + Send + Sync,
    {
        MapWith::new(self, init, f)
    }

    /// Appends the items of `other`.
    fn chain<O: IntoParallelIterator<Item = Self::Item>>(self, other: O) -> Chain<Self, O::Iter> {
        Chain::new(self, other.into_par_iter())
    }

    /// Folds the items of each leaf into a value that begins as `identity()`. The values are the items of the result, in
    /// order; usually `reduce` or `sum` follows.
    ///
    /// ```
    /// use finespun::par::prelude::*;
    /// use std::collections::HashMap;
    ///
    /// let words = ["to", "be", "or", "not", "to", "be"];
    /// let counts = words.par_iter().fold(HashMap::new, |mut counts: HashMap<&str, u32>, word| {
    ///     *counts.entry(*word).or_default() += 1;
    ///     counts
    /// });
    /// let counts = counts.reduce(HashMap::new, |mut a, b| {
    ///     b.into_iter().for_each(|(word, n)| *a.entry(word).or_default() += n);
    ///     a
    /// });
    /// # let runtime = finespun::Runtime::builder().workers(2).build().unwrap();
    /// assert_eq!(runtime.run(counts)["to"], 2);
    /// ```
    fn fold<T: Send, N, F>(self, identity: N, f: F) -> Fold<Self, N, F>
    where
        N: Fn() -> T + Send + Sync,
        F: Fn(T, Self::Item) -> T + Send + Sync,
    {
        Fold::new(self, identity, f)
    }

    /// Folds the items of each leaf into a clone of `init`.
    fn fold_with<T: Clone + Send + Sync, F>(self, init: T, f: F) -> FoldWith<Self, T, F>
    where
        F: Fn(T, Self::Item) -> T + Send + Sync,
    {
        FoldWith::new(self, init, f)
    }

    /// Calls `f` with each item.
    fn for_each<'a, F: Fn(Self::Item) + Send + Sync + 'a>(self, f: F) -> ParallelTask<'a, ()>
    where
        Self: 'a,
    {
        traverse(self, ForEach(f))
    }

    /// Calls `f` with each item and a value that `init` makes for each leaf.
    fn for_each_init<'a, T: 'a, N, F>(self, init: N, f: F) -> ParallelTask<'a, ()>
    where
        N: Fn() -> T + Send + Sync + 'a,
        F: Fn(&mut T, Self::Item) + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self.map_init(init, f), ForEach(|()| ()))
    }

    /// Calls `f` with each item and a clone of `init`, one for each leaf.
    fn for_each_with<'a, T: Clone + Send + Sync + 'a, F>(self, init: T, f: F) -> ParallelTask<'a, ()>
    where
        F: Fn(&mut T, Self::Item) + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self.map_with(init, f), ForEach(|()| ()))
    }

    /// Calls `f` with each item until one call fails. The result is the first failure in the iterator's order, on any
    /// number of workers; items behind it may have been visited.
    fn try_for_each<'a, R, F>(self, f: F) -> ParallelTask<'a, R>
    where
        R: Try<Output = ()> + Send + 'a,
        F: Fn(Self::Item) -> R + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self, TryForEach::new(f))
    }

    /// Combines the items by `op`, which must be associative; `identity` makes its neutral element.
    ///
    /// How `op` is nested depends only on the number of indices: a floating-point result is the same on any number of
    /// workers.
    fn reduce<'a, N, F>(self, identity: N, op: F) -> ParallelTask<'a, Self::Item>
    where
        N: Fn() -> Self::Item + Send + Sync + 'a,
        F: Fn(Self::Item, Self::Item) -> Self::Item + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self, Reduce { identity, op })
    }

    /// Combines the items by `op`; `None` if there are none.
    fn reduce_with<'a, F>(self, op: F) -> ParallelTask<'a, Option<Self::Item>>
    where
        F: Fn(Self::Item, Self::Item) -> Self::Item + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self, ReduceWith(op))
    }

    /// Combines the values in the items by `op` until one fails. The result is the first failure in the iterator's order.
    fn try_reduce<'a, T: Send + 'a, N, F>(self, identity: N, op: F) -> ParallelTask<'a, Self::Item>
    where
        Self::Item: Try<Output = T>,
        N: Fn() -> T + Send + Sync + 'a,
        F: Fn(T, T) -> Self::Item + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self, TryReduce::new(identity, op))
    }

    /// Adds the items. A floating-point sum is the same on any number of workers, but not the sum in sequential order.
    fn sum<'a, S: Send + Sum<Self::Item> + Sum<S> + 'a>(self) -> ParallelTask<'a, S>
    where
        Self: 'a,
    {
        traverse(self, Sums::new())
    }

    /// Multiplies the items.
    fn product<'a, P: Send + Product<Self::Item> + Product<P> + 'a>(self) -> ParallelTask<'a, P>
    where
        Self: 'a,
    {
        traverse(self, Products::new())
    }

    /// Counts the items.
    fn count<'a>(self) -> ParallelTask<'a, usize>
    where
        Self: 'a,
    {
        traverse(self, Count)
    }

    /// Returns the smallest item; of equal ones the first.
    fn min<'a>(self) -> ParallelTask<'a, Option<Self::Item>>
    where
        Self::Item: Ord,
        Self: 'a,
    {
        traverse(self, Extreme::<false>)
    }

    /// Returns the smallest item by `compare`; of equal ones the first.
    fn min_by<'a, F>(self, compare: F) -> ParallelTask<'a, Option<Self::Item>>
    where
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self, Best(move |a: &Self::Item, b: &Self::Item| compare(a, b) != Ordering::Greater))
    }

    /// Returns the item with the smallest key; of equal ones the first. Computes each key once.
    fn min_by_key<'a, K: Ord + Send + 'a, F>(self, key: F) -> ParallelTask<'a, Option<Self::Item>>
    where
        F: Fn(&Self::Item) -> K + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self, BestByKey::new(key, |a: &K, b: &K| a <= b))
    }

    /// Returns the greatest item; of equal ones the last.
    fn max<'a>(self) -> ParallelTask<'a, Option<Self::Item>>
    where
        Self::Item: Ord,
        Self: 'a,
    {
        traverse(self, Extreme::<true>)
    }

    /// Returns the greatest item by `compare`; of equal ones the last.
    fn max_by<'a, F>(self, compare: F) -> ParallelTask<'a, Option<Self::Item>>
    where
        F: Fn(&Self::Item, &Self::Item) -> Ordering + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self, Best(move |a: &Self::Item, b: &Self::Item| compare(a, b) == Ordering::Greater))
    }

    /// Returns the item with the greatest key; of equal ones the last. Computes each key once.
    fn max_by_key<'a, K: Ord + Send + 'a, F>(self, key: F) -> ParallelTask<'a, Option<Self::Item>>
    where
        F: Fn(&Self::Item) -> K + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self, BestByKey::new(key, |a: &K, b: &K| a > b))
    }

    /// Returns whether `f` is true for an item. Stops soon after the first such item found.
    fn any<'a, F>(self, f: F) -> ParallelTask<'a, bool>
    where
        F: Fn(Self::Item) -> bool + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self, Any::new(f))
    }

    /// Returns whether `f` is true for all items. Stops soon after the first item found for which it is false.
    fn all<'a, F>(self, f: F) -> ParallelTask<'a, bool>
    where
        F: Fn(Self::Item) -> bool + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self, All::new(f))
    }

    /// Returns an item for which `f` is true: the one found first.
    fn find_any<'a, F>(self, f: F) -> ParallelTask<'a, Option<Self::Item>>
    where
        F: Fn(&Self::Item) -> bool + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self.filter(f), FindAny::new())
    }

    /// Returns the first item, in the iterator's order, for which `f` is true.
    fn find_first<'a, F>(self, f: F) -> ParallelTask<'a, Option<Self::Item>>
    where
        F: Fn(&Self::Item) -> bool + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self.filter(f), FindFirst::new())
    }

    /// Returns a value that `f` returns for an item: the one found first.
    fn find_map_any<'a, R: Send + 'a, F>(self, f: F) -> ParallelTask<'a, Option<R>>
    where
        F: Fn(Self::Item) -> Option<R> + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self.filter_map(f), FindAny::new())
    }

    /// Returns the value that `f` returns for the first item, in the iterator's order, for which it returns one.
    fn find_map_first<'a, R: Send + 'a, F>(self, f: F) -> ParallelTask<'a, Option<R>>
    where
        F: Fn(Self::Item) -> Option<R> + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self.filter_map(f), FindFirst::new())
    }

    /// Collects the items, in order.
    ///
    /// A `Vec` of an exact iterator (ranges, slices and their `map`, `zip`, `enumerate`, ..) is allocated once, and each
    /// item is written to its place. After a panic the items that were written are dropped. Items of other iterators,
    /// and of other collections, are kept in a vector for each leaf, and then collected sequentially.
    fn collect<'a, C: FromParallelIterator<Self::Item> + 'a>(self) -> ParallelTask<'a, C>
    where
        Self: 'a,
    {
        let len = Self::EXACT.then(|| self.span());
        traverse(self, Collect::new(len))
    }

    /// Separates pairs into two collections.
    fn unzip<'a, A, B, FromA, FromB>(self) -> ParallelTask<'a, (FromA, FromB)>
    where
        Self: ParallelIterator<Item = (A, B)>,
        A: Send + 'a,
        B: Send + 'a,
        FromA: Default + Extend<A> + Send + 'a,
        FromB: Default + Extend<B> + Send + 'a,
        Self: 'a,
    {
        traverse(self, Unzip::new())
    }

    /// Separates the items for which `f` is true from the others.
    fn partition<'a, C, F>(self, f: F) -> ParallelTask<'a, (C, C)>
    where
        C: Default + Extend<Self::Item> + Send + 'a,
        F: Fn(&Self::Item) -> bool + Send + Sync + 'a,
        Self: 'a,
    {
        traverse(self, Partition::new(f))
    }
}
