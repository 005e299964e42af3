//! Adaptors that need to know the positions of items: all but `chain` have an indexed base.

use std::cmp;

use crate::par::indexed::IndexedParallelIterator;
use crate::par::iterator::ParallelIterator;
use crate::par::traversal::Bounds;

/// Defines an adaptor with an indexed base and perhaps a number. The part is an expression in the base and the numbers `from` and
/// `to`.
macro_rules! adaptors {
    ($(
        $(#[$doc:meta])*
        $name:ident $(($n:ident))? -> $item:ty,
        span |$s_base:ident $(, $s_n:ident)?| $span:expr,
        bounds |$b_base:ident $(, $b_n:ident)?| $bounds:expr,
        part |$base:ident, $from:ident, $to:ident $(, $p_n:ident)?| $part:expr,
        reversed |$r_base:ident, $r_from:ident, $r_to:ident $(, $r_n:ident)?| $reversed:expr;
    )+) => {$(
        $(#[$doc])*
        #[must_use = "parallel iterators do nothing until their end is awaited"]
        #[derive(Clone)]
        pub struct $name<I> {
            base: I,
            $($n: usize,)?
        }

        impl<I> $name<I> {
            pub(crate) fn new(base: I $(, $n: usize)?) -> Self {
                $name { base $(, $n)? }
            }
        }

        // SAFETY: the span depends only on the base's, which does not change. The base is exact, and the part has an item for
        // each index.
        unsafe impl<I: IndexedParallelIterator> ParallelIterator for $name<I> {
            type Item = $item;
            const EXACT: bool = true;
            #[inline]
            fn span(&self) -> usize {
                let $s_base = &self.base;
                $(let $s_n = self.$s_n;)?
                $span
            }
            #[inline]
            unsafe fn part(&self, $from: usize, $to: usize) -> impl Iterator<Item = Self::Item> {
                let $base = &self.base;
                $(let $p_n = self.$p_n;)?
                $part
            }
            #[inline]
            unsafe fn part_rev(&self, $r_from: usize, $r_to: usize) -> impl Iterator<Item = Self::Item> {
                let $r_base = &self.base;
                $(let $r_n = self.$r_n;)?
                $reversed
            }
            fn bounds(&self) -> Bounds {
                let $b_base = &self.base;
                $(let $b_n = self.$b_n;)?
                $bounds
            }
        }
        // SAFETY: `EXACT` is true.
        unsafe impl<I: IndexedParallelIterator> IndexedParallelIterator for $name<I> {}
    )+};
}

adaptors! {
    /// See [`IndexedParallelIterator::enumerate`].
    Enumerate -> (usize, I::Item),
    span |base| base.span(),
    bounds |base| base.bounds(),
    // SAFETY: the caller guarantees the conditions; the base has the same span.
    part |base, from, to| unsafe { base.part(from, to) }.enumerate().map(move |(k, item)| (from + k, item)),
    // SAFETY: as above.
    reversed |base, from, to| (from..to).rev().zip(unsafe { base.part_rev(from, to) });

    /// See [`IndexedParallelIterator::rev`].
    Rev -> I::Item,
    span |base| base.span(),
    bounds |base| base.bounds(),
    // SAFETY: the caller guarantees that `from` and `to` are in order, and at most the span; so are their mirror images. Parts
    // that do not overlap have mirror images that do not.
    part |base, from, to| unsafe { base.part_rev(base.span() - to, base.span() - from) },
    // SAFETY: as above.
    reversed |base, from, to| unsafe { base.part(base.span() - to, base.span() - from) };

    /// See [`IndexedParallelIterator::take`].
    Take(n) -> I::Item,
    span |base, n| cmp::min(n, base.span()),
    bounds |base| base.bounds(),
    // SAFETY: the caller guarantees the conditions; the base's span is not smaller.
    part |base, from, to| unsafe { base.part(from, to) },
    // SAFETY: as above.
    reversed |base, from, to| unsafe { base.part_rev(from, to) };

    /// See [`IndexedParallelIterator::skip`].
    Skip(n) -> I::Item,
    span |base, n| base.span().saturating_sub(n),
    bounds |base| base.bounds(),
    part |base, from, to, n| {
        // Not `n`, which may be greater than the number of items.
        let skipped = cmp::min(n, base.span());
        // SAFETY: the caller guarantees that `to` is at most the span, which is less than the base's by `skipped`.
        unsafe { base.part(from + skipped, to + skipped) }
    },
    reversed |base, from, to, n| {
        let skipped = cmp::min(n, base.span());
        // SAFETY: as above.
        unsafe { base.part_rev(from + skipped, to + skipped) }
    };

    /// See [`IndexedParallelIterator::step_by`].
    StepBy(step) -> I::Item,
    span |base, step| base.span().div_ceil(step),
    bounds |base, step| base.bounds().in_units_of(step),
    part |base, from, to, step| {
        let (from, to) = if from == to { (0, 0) } else { (from * step, (to - 1) * step + 1) };
        // SAFETY: the caller guarantees that `to - 1` is less than the span, so its multiple is less than the base's. Parts
        // that do not overlap have multiples that do not overlap.
        unsafe { base.part(from, to) }.step_by(step)
    },
    reversed |base, from, to, step| {
        let (from, to) = if from == to { (0, 0) } else { (from * step, (to - 1) * step + 1) };
        // SAFETY: as above.
        unsafe { base.part_rev(from, to) }.step_by(step)
    };

    /// See [`IndexedParallelIterator::chunks`].
    Chunks(size) -> Vec<I::Item>,
    span |base, size| base.span().div_ceil(size),
    bounds |base, size| base.bounds().in_units_of(size),
    // SAFETY: the caller guarantees that each chunk is less than the span, and in one part only.
    part |base, from, to, size| (from..to).map(move |k| unsafe { chunk(base, k, size) }),
    // SAFETY: as above.
    reversed |base, from, to, size| (from..to).rev().map(move |k| unsafe { chunk(base, k, size) });

    /// See [`IndexedParallelIterator::with_min_len`].
    MinLen(min) -> I::Item,
    span |base| base.span(),
    bounds |base, min| base.bounds().and(Bounds { min, ..Bounds::NONE }),
    // SAFETY: the caller guarantees the conditions; the base has the same span.
    part |base, from, to| unsafe { base.part(from, to) },
    // SAFETY: as above.
    reversed |base, from, to| unsafe { base.part_rev(from, to) };

    /// See [`IndexedParallelIterator::with_max_len`].
    MaxLen(max) -> I::Item,
    span |base| base.span(),
    bounds |base, max| base.bounds().and(Bounds { max: cmp::max(1, max), ..Bounds::NONE }),
    // SAFETY: the caller guarantees the conditions; the base has the same span.
    part |base, from, to| unsafe { base.part(from, to) },
    // SAFETY: as above.
    reversed |base, from, to| unsafe { base.part_rev(from, to) };
}

/// Returns chunk `k` of `size` items.
///
/// # Safety
/// `k` is less than the number of chunks, and each chunk is made once.
#[inline]
unsafe fn chunk<I: IndexedParallelIterator>(base: &I, k: usize, size: usize) -> Vec<I::Item> {
    let (from, to) = (k * size, cmp::min(base.span(), (k * size).saturating_add(size)));
    // SAFETY: the caller guarantees that `k` is less than the number of chunks, so `from` is less than the span; chunks do
    // not overlap.
    let items = unsafe { base.part(from, to) };
    let mut chunk = Vec::with_capacity(to - from);
    chunk.extend(items);
    chunk
}

/// See [`IndexedParallelIterator::zip`].
#[must_use = "parallel iterators do nothing until their end is awaited"]
#[derive(Clone)]
pub struct Zip<A, B> {
    a: A,
    b: B,
}

impl<A, B> Zip<A, B> {
    pub(crate) fn new(a: A, b: B) -> Zip<A, B> {
        Zip { a, b }
    }
}

// SAFETY: the span depends only on the bases' spans, which do not change. Both are exact, so the part has an item for
// each index.
unsafe impl<A: IndexedParallelIterator, B: IndexedParallelIterator> ParallelIterator for Zip<A, B> {
    type Item = (A::Item, B::Item);
    const EXACT: bool = true;
    fn span(&self) -> usize {
        cmp::min(self.a.span(), self.b.span())
    }
    #[inline]
    unsafe fn part(&self, from: usize, to: usize) -> impl Iterator<Item = Self::Item> {
        // SAFETY: the caller guarantees the conditions; the base's span is not smaller.
        let a = unsafe { self.a.part(from, to) };
        // SAFETY: as above.
        let b = unsafe { self.b.part(from, to) };
        a.zip(b)
    }
    #[inline]
    unsafe fn part_rev(&self, from: usize, to: usize) -> impl Iterator<Item = Self::Item> {
        // SAFETY: as in `part`.
        let a = unsafe { self.a.part_rev(from, to) };
        // SAFETY: as in `part`.
        let b = unsafe { self.b.part_rev(from, to) };
        a.zip(b)
    }
    fn bounds(&self) -> Bounds {
        self.a.bounds().and(self.b.bounds())
    }
}
// SAFETY: `EXACT` is true.
unsafe impl<A: IndexedParallelIterator, B: IndexedParallelIterator> IndexedParallelIterator for Zip<A, B> {}

/// See [`ParallelIterator::chain`].
#[must_use = "parallel iterators do nothing until their end is awaited"]
#[derive(Clone)]
pub struct Chain<A, B> {
    a: A,
    b: B,
}

impl<A: ParallelIterator, B: ParallelIterator> Chain<A, B> {
    pub(crate) fn new(a: A, b: B) -> Chain<A, B> {
        assert!(a.span().checked_add(b.span()).is_some(), "a chain of iterators has at most usize::MAX indices");
        Chain { a, b }
    }
}

// SAFETY: the span depends only on the bases' spans, which do not change. If both are exact, the part has an item for
// each index.
unsafe impl<A: ParallelIterator, B: ParallelIterator<Item = A::Item>> ParallelIterator for Chain<A, B> {
    type Item = A::Item;
    const EXACT: bool = A::EXACT && B::EXACT;
    fn span(&self) -> usize {
        self.a.span() + self.b.span()
    }
    #[inline]
    unsafe fn part(&self, from: usize, to: usize) -> impl Iterator<Item = Self::Item> {
        let end = self.a.span();
        // SAFETY: both are at most the base's span, and in order as `from` and `to` are; parts that do not overlap do not
        // overlap here.
        let a = unsafe { self.a.part(cmp::min(from, end), cmp::min(to, end)) };
        // SAFETY: the caller guarantees that `to` is at most the span, which is the sum of both; the rest as above.
        let b = unsafe { self.b.part(from.saturating_sub(end), to.saturating_sub(end)) };
        a.chain(b)
    }
    fn bounds(&self) -> Bounds {
        self.a.bounds().and(self.b.bounds())
    }
}
// SAFETY: both bases are exact.
unsafe impl<A, B> IndexedParallelIterator for Chain<A, B>
where
    A: IndexedParallelIterator,
    B: IndexedParallelIterator<Item = A::Item>,
{
}
