//! Arguments for the calls of an array's objects.

use std::vec::IntoIter;

use super::super::Portable;

/// The arguments of the calls of some elements.
pub trait Supply: Send + 'static {
    /// One of them.
    type Argument: Portable;
    /// Those of each part.
    #[doc(hidden)]
    fn deal<'a>(self, parts: impl ExactSizeIterator<Item = &'a [usize]>) -> Vec<Self>
    where
        Self: Sized;
    /// The next.
    #[doc(hidden)]
    fn next(&mut self) -> Self::Argument;
    #[doc(hidden)]
    fn rest(self) -> Vec<Self::Argument>;
    #[doc(hidden)]
    fn again(rest: Vec<Self::Argument>) -> Self;
}

/// One for each.
pub struct Own<A>(IntoIter<A>);

impl<A> Own<A> {
    pub(super) fn new(args: Vec<A>) -> Own<A> {
        Own(args.into_iter())
    }
}

impl<A: Portable> Supply for Own<A> {
    type Argument = A;

    fn deal<'a>(self, parts: impl ExactSizeIterator<Item = &'a [usize]>) -> Vec<Self> {
        if parts.len() == 1 {
            return vec![self];
        }
        let mut args: Vec<Option<A>> = self.0.map(Some).collect();
        let mut take = |index: &usize| args[*index].take().expect("each index is in one part");
        parts.map(|indices| Own::new(indices.iter().map(&mut take).collect())).collect()
    }

    #[inline]
    fn next(&mut self) -> A {
        self.0.next().unwrap_or_else(|| unreachable!("one for each"))
    }

    fn rest(self) -> Vec<A> {
        self.0.collect()
    }

    fn again(rest: Vec<A>) -> Own<A> {
        Own::new(rest)
    }
}

/// The same for all.
pub struct Same<A>(pub(super) A);

impl<A: Portable + Clone> Supply for Same<A> {
    type Argument = A;

    fn deal<'a>(self, parts: impl ExactSizeIterator<Item = &'a [usize]>) -> Vec<Self> {
        parts.map(|_| Same(self.0.clone())).collect()
    }

    #[inline]
    fn next(&mut self) -> A {
        self.0.clone()
    }

    fn rest(self) -> Vec<A> {
        vec![self.0]
    }

    fn again(mut rest: Vec<A>) -> Same<A> {
        Same(rest.pop().unwrap_or_else(|| unreachable!("the one that was written")))
    }
}
