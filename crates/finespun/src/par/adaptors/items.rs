//! Adaptors that work on one item after the other.

use crate::par::indexed::IndexedParallelIterator;
use crate::par::iterator::ParallelIterator;
use crate::par::traversal::Bounds;

/// Defines an adaptor with a base and perhaps a closure. `exact` says whether it has as many items as its base.
macro_rules! adaptors {
    ($(
        $(#[$doc:meta])*
        $name:ident $(($f:ident: $F:ident))? [$($generic:tt)*] $item:ty, exact = $exact:expr,
        where { $($bounds:tt)* } |$this:ident, $items:ident| $part:expr;
    )+) => {$(
        $(#[$doc])*
        #[must_use = "parallel iterators do nothing until their end is awaited"]
        #[derive(Clone)]
        pub struct $name<I $(, $F)?> {
            base: I,
            $($f: $F,)?
        }

        impl<I $(, $F)?> $name<I $(, $F)?> {
            pub(crate) fn new(base: I $(, $f: $F)?) -> Self {
                $name { base $(, $f)? }
            }
        }

        // SAFETY: the span is the base's. If `EXACT`, the base is exact and the part has an item for each of its.
        unsafe impl<$($generic)*> ParallelIterator for $name<I $(, $F)?>
        where
            $($bounds)*
        {
            type Item = $item;
            const EXACT: bool = $exact;
            fn span(&self) -> usize {
                self.base.span()
            }
            #[inline]
            unsafe fn part(&self, from: usize, to: usize) -> impl Iterator<Item = Self::Item> {
                let $this = self;
                // SAFETY: the caller guarantees the conditions; the base has the same span.
                let $items = unsafe { self.base.part(from, to) };
                $part
            }
            #[inline]
            unsafe fn part_rev(&self, from: usize, to: usize) -> impl Iterator<Item = Self::Item> {
                let $this = self;
                // SAFETY: the caller guarantees the conditions; the base has the same span.
                let $items = unsafe { self.base.part_rev(from, to) };
                $part
            }
            fn bounds(&self) -> Bounds {
                self.base.bounds()
            }
        }
    )+};
}

adaptors! {
    /// See [`ParallelIterator::map`].
    Map(f: F) [I, F, R] R, exact = I::EXACT,
    where { I: ParallelIterator, F: Fn(I::Item) -> R + Send + Sync, R: Send }
    |this, items| items.map(&this.f);

    /// See [`ParallelIterator::filter`].
    Filter(f: F) [I, F] I::Item, exact = false,
    where { I: ParallelIterator, F: Fn(&I::Item) -> bool + Send + Sync }
    |this, items| items.filter(&this.f);

    /// See [`ParallelIterator::filter_map`].
    FilterMap(f: F) [I, F, R] R, exact = false,
    where { I: ParallelIterator, F: Fn(I::Item) -> Option<R> + Send + Sync, R: Send }
    |this, items| items.filter_map(&this.f);

    /// See [`ParallelIterator::flat_map_iter`].
    FlatMapIter(f: F) [I, F, R] R::Item, exact = false,
    where { I: ParallelIterator, F: Fn(I::Item) -> R + Send + Sync, R: IntoIterator<Item: Send> }
    |this, items| items.flat_map(&this.f);

    /// See [`ParallelIterator::flatten_iter`].
    FlattenIter [I] <I::Item as IntoIterator>::Item, exact = false,
    where { I: ParallelIterator<Item: IntoIterator<Item: Send>> }
    |_this, items| items.flatten();

    /// See [`ParallelIterator::inspect`].
    Inspect(f: F) [I, F] I::Item, exact = I::EXACT,
    where { I: ParallelIterator, F: Fn(&I::Item) + Send + Sync }
    |this, items| items.inspect(&this.f);

    /// See [`ParallelIterator::update`].
    Update(f: F) [I, F] I::Item, exact = I::EXACT,
    where { I: ParallelIterator, F: Fn(&mut I::Item) + Send + Sync }
    |this, items| items.map(|mut item| {
        (this.f)(&mut item);
        item
    });

    /// See [`ParallelIterator::cloned`].
    Cloned ['a, I, T] T, exact = I::EXACT,
    where { I: ParallelIterator<Item = &'a T>, T: Clone + Send + Sync + 'a }
    |_this, items| items.cloned();

    /// See [`ParallelIterator::copied`].
    Copied ['a, I, T] T, exact = I::EXACT,
    where { I: ParallelIterator<Item = &'a T>, T: Copy + Send + Sync + 'a }
    |_this, items| items.copied();
}

// SAFETY: exact if the base is, which is indexed.
unsafe impl<I: IndexedParallelIterator, R: Send, F: Fn(I::Item) -> R + Send + Sync> IndexedParallelIterator
    for Map<I, F>
{
}
// SAFETY: as above.
unsafe impl<I: IndexedParallelIterator, F: Fn(&I::Item) + Send + Sync> IndexedParallelIterator for Inspect<I, F> {}
// SAFETY: as above.
unsafe impl<I: IndexedParallelIterator, F: Fn(&mut I::Item) + Send + Sync> IndexedParallelIterator for Update<I, F> {}
// SAFETY: as above.
unsafe impl<'a, I: IndexedParallelIterator<Item = &'a T>, T: Clone + Send + Sync + 'a> IndexedParallelIterator
    for Cloned<I>
{
}
// SAFETY: as above.
unsafe impl<'a, I: IndexedParallelIterator<Item = &'a T>, T: Copy + Send + Sync + 'a> IndexedParallelIterator
    for Copied<I>
{
}
