//! Collections of successes: `Result<C, E>` and `Option<C>`.

use super::search::Stop;
use crate::par::consumer::{Consumer, Leaf};
use crate::par::convert::FromParallelIterator;

/// A part of a collection whose items may fail.
pub enum Part<P, E> {
    /// All items were successes.
    Successes(P),
    /// The first failure.
    Failure(E),
    /// Not visited, because a leaf before it has failed.
    Skipped,
}

/// The end of [`collect`](crate::par::ParallelIterator::collect) into a `Result`: collects the successes by another consumer.
/// The error is the first in the iterator's order, on any number of workers.
pub struct Fallible<C> {
    inner: C,
    stop: Stop,
}

impl<C> Fallible<C> {
    fn new(inner: C) -> Fallible<C> {
        Fallible { inner, stop: Stop::nowhere() }
    }
}

impl<T, E: Send, C: Consumer<T>> Consumer<Result<T, E>> for Fallible<C> {
    type Part = Part<C::Part, E>;
    type Output = Result<C::Output, E>;

    fn begin(&mut self, leaves: usize) {
        self.inner.begin(leaves);
    }

    #[inline]
    unsafe fn leaf(&self, leaf: Leaf, items: impl Iterator<Item = Result<T, E>>) -> Self::Part {
        let number = leaf.number;
        let mut end = None;
        let successes = items.map_while(|item| match item {
            Ok(item) if !self.stop.is_before(number) => Some(item),
            Ok(_) => {
                end = Some(Part::Skipped);
                None
            }
            Err(error) => {
                self.stop.after(number);
                end = Some(Part::Failure(error));
                None
            }
        });
        // SAFETY: the caller guarantees the conditions. The items may be fewer, but then this part, and with it the whole, is
        // a failure: `finish` makes no result.
        let part = unsafe { self.inner.leaf(leaf, successes.fuse()) };
        end.unwrap_or(Part::Successes(part))
    }

    fn join(&self, left: Self::Part, right: Self::Part) -> Self::Part {
        match (left, right) {
            (Part::Successes(left), Part::Successes(right)) => Part::Successes(self.inner.join(left, right)),
            (Part::Successes(_), failure) | (failure, _) => failure,
        }
    }

    #[inline]
    fn skip(&self, first: usize) -> Option<Self::Part> {
        if self.stop.is_before(first) {
            return Some(Part::Skipped);
        }
        self.inner.skip(first).map(Part::Successes)
    }

    fn finish(self, whole: Self::Part) -> Result<C::Output, E> {
        match whole {
            Part::Successes(whole) => Ok(self.inner.finish(whole)),
            Part::Failure(error) => Err(error),
            Part::Skipped => unreachable!("leaves are skipped only behind a failure, which is the result"),
        }
    }
}

impl<T: Send, E: Send, C: FromParallelIterator<T> + Send> FromParallelIterator<Result<T, E>> for Result<C, E> {
    type Consumer = Fallible<C::Consumer>;
    fn consumer(len: Option<usize>) -> Self::Consumer {
        Fallible::new(C::consumer(len))
    }
}

/// The end of [`collect`](crate::par::ParallelIterator::collect) into an `Option`.
pub struct Optional<C>(Fallible<C>);

impl<T, C: Consumer<T>> Consumer<Option<T>> for Optional<C> {
    type Part = Part<C::Part, ()>;
    type Output = Option<C::Output>;

    fn begin(&mut self, leaves: usize) {
        self.0.inner.begin(leaves);
    }

    #[inline]
    unsafe fn leaf(&self, leaf: Leaf, items: impl Iterator<Item = Option<T>>) -> Self::Part {
        // SAFETY: the caller guarantees the conditions.
        unsafe { self.0.leaf(leaf, items.map(|item| item.ok_or(()))) }
    }

    fn join(&self, left: Self::Part, right: Self::Part) -> Self::Part {
        Consumer::<Result<T, ()>>::join(&self.0, left, right)
    }

    #[inline]
    fn skip(&self, first: usize) -> Option<Self::Part> {
        Consumer::<Result<T, ()>>::skip(&self.0, first)
    }

    fn finish(self, whole: Self::Part) -> Option<C::Output> {
        Consumer::<Result<T, ()>>::finish(self.0, whole).ok()
    }
}

impl<T: Send, C: FromParallelIterator<T> + Send> FromParallelIterator<Option<T>> for Option<C> {
    type Consumer = Optional<C::Consumer>;
    fn consumer(len: Option<usize>) -> Self::Consumer {
        Optional(Fallible::new(C::consumer(len)))
    }
}
