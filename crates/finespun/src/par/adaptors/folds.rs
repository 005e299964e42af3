//! Adaptors with a value for each leaf.

use std::{iter, mem};

use crate::par::indexed::IndexedParallelIterator;
use crate::par::iterator::ParallelIterator;
use crate::par::traversal::Bounds;

/// Returns how much longer than usual the leaves of folds are: making a value, and combining two, may take long, above all if it
/// owns memory.
const fn folded<T>() -> usize {
    if mem::needs_drop::<T>() { 16 } else { 8 }
}

/// Defines an adaptor with a base, a source of initial values and a closure.
macro_rules! adaptors {
    ($(
        $(#[$doc:meta])*
        $name:ident<$N:ident> [$($generic:tt)*] $item:ty, exact = $exact:expr,
        times = $times:expr, where { $($bounds:tt)* } |$this:ident, $items:ident| $part:expr;
    )+) => {$(
        $(#[$doc])*
        #[must_use = "parallel iterators do nothing until their end is awaited"]
        #[derive(Clone)]
        pub struct $name<I, $N, F> {
            base: I,
            init: $N,
            f: F,
        }

        impl<I, $N, F> $name<I, $N, F> {
            pub(crate) fn new(base: I, init: $N, f: F) -> Self {
                $name { base, init, f }
            }
        }

        // SAFETY: the span is the base's. If `EXACT`, the base is exact and the part has an item for each of its.
        unsafe impl<$($generic)*> ParallelIterator for $name<I, $N, F>
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
            fn bounds(&self) -> Bounds {
                self.base.bounds().and(Bounds { times: $times, visible: true, ..Bounds::NONE })
            }
        }
    )+};
}

adaptors! {
    /// See [`ParallelIterator::fold`].
    Fold<N> [I, N, F, T] T, exact = false,
    times = folded::<T>(), where { I: ParallelIterator, N: Fn() -> T + Send + Sync, F: Fn(T, I::Item) -> T + Send + Sync, T: Send }
    |this, items| iter::once_with(|| items.fold((this.init)(), &this.f));

    /// See [`ParallelIterator::fold_with`].
    FoldWith<T> [I, F, T] T, exact = false,
    times = folded::<T>(), where { I: ParallelIterator, F: Fn(T, I::Item) -> T + Send + Sync, T: Clone + Send + Sync }
    |this, items| iter::once_with(|| items.fold(this.init.clone(), &this.f));

    /// See [`ParallelIterator::map_init`].
    MapInit<N> [I, N, F, T, R] R, exact = I::EXACT,
    times = 1, where { I: ParallelIterator, N: Fn() -> T + Send + Sync, F: Fn(&mut T, I::Item) -> R + Send + Sync, R: Send }
    |this, items| {
        let mut state = (this.init)();
        items.map(move |item| (this.f)(&mut state, item))
    };

    /// See [`ParallelIterator::map_with`].
    MapWith<T> [I, F, T, R] R, exact = I::EXACT,
    times = 1, where { I: ParallelIterator, F: Fn(&mut T, I::Item) -> R + Send + Sync, T: Clone + Send + Sync, R: Send }
    |this, items| {
        let mut state = this.init.clone();
        items.map(move |item| (this.f)(&mut state, item))
    };
}

// SAFETY: exact if the base is, which is indexed.
unsafe impl<I, N, F, T, R> IndexedParallelIterator for MapInit<I, N, F>
where
    I: IndexedParallelIterator,
    N: Fn() -> T + Send + Sync,
    F: Fn(&mut T, I::Item) -> R + Send + Sync,
    R: Send,
{
}
// SAFETY: as above.
unsafe impl<I, F, T, R> IndexedParallelIterator for MapWith<I, T, F>
where
    I: IndexedParallelIterator,
    F: Fn(&mut T, I::Item) -> R + Send + Sync,
    T: Clone + Send + Sync,
    R: Send,
{
}
