//! The calls of an array's objects, and their arguments.

use std::vec::IntoIter;

use super::super::Portable;
use super::super::reference::Ref;
use crate::call::Task;
use crate::message::wire::bytes_elsewhere;

/// The arguments for the calls of some elements.
pub trait Supply: Sized + Send + 'static {
    /// The type of one argument.
    type Argument: Portable;
    /// Reorders the arguments of all elements from index order into part order. Each part is a slice of indices.
    #[doc(hidden)]
    fn sorted<'a>(self, parts: impl Iterator<Item = &'a [usize]>) -> Self;
    /// Takes the arguments of the first `len` elements.
    #[doc(hidden)]
    fn split(&mut self, len: usize) -> Self;
    /// Takes the next argument.
    #[doc(hidden)]
    fn next(&mut self) -> Self::Argument;
    /// Returns the size of the remaining arguments in a message, approximately.
    #[doc(hidden)]
    fn bytes(&self) -> usize;
    /// Returns the remaining arguments in the form that a message contains; only one if all are the same.
    #[doc(hidden)]
    fn rest(self) -> Vec<Self::Argument>;
    /// Recreates the supply from the result of [`rest`](Supply::rest). Returns `None` if that is something else.
    #[doc(hidden)]
    fn again(rest: Vec<Self::Argument>) -> Option<Self>;
}

/// An argument for each element.
pub struct Own<A>(IntoIter<A>);

impl<A> Own<A> {
    pub(super) fn new(args: Vec<A>) -> Own<A> {
        Own(args.into_iter())
    }
}

impl<A: Portable> Supply for Own<A> {
    type Argument = A;

    fn sorted<'a>(self, mut parts: impl Iterator<Item = &'a [usize]>) -> Self {
        let first = parts.next().unwrap_or_default();
        if first.len() == self.0.len() {
            return self;
        }
        let mut args: Vec<Option<A>> = self.0.map(Some).collect();
        let take = |index: &usize| args[*index].take().expect("each index is in one part");
        Own::new(first.iter().chain(parts.flatten()).map(take).collect())
    }

    fn split(&mut self, len: usize) -> Self {
        if len == self.0.len() {
            return Own(std::mem::take(&mut self.0));
        }
        Own::new(self.0.by_ref().take(len).collect())
    }

    #[inline]
    fn next(&mut self) -> A {
        self.0.next().unwrap_or_else(|| unreachable!("each element has an argument"))
    }

    fn bytes(&self) -> usize {
        size_of_val(self.0.as_slice()) + self.0.as_slice().iter().map(bytes_elsewhere).sum::<usize>()
    }

    fn rest(self) -> Vec<A> {
        self.0.collect()
    }

    fn again(rest: Vec<A>) -> Option<Own<A>> {
        Some(Own::new(rest))
    }
}

/// The same argument for all elements.
pub struct Same<A>(pub(super) A);

impl<A: Portable + Clone> Supply for Same<A> {
    type Argument = A;

    fn sorted<'a>(self, _: impl Iterator<Item = &'a [usize]>) -> Self {
        self
    }

    fn split(&mut self, _: usize) -> Self {
        Same(self.0.clone())
    }

    #[inline]
    fn next(&mut self) -> A {
        self.0.clone()
    }

    fn bytes(&self) -> usize {
        bytes_elsewhere(&self.0)
    }

    fn rest(self) -> Vec<A> {
        vec![self.0]
    }

    fn again(mut rest: Vec<A>) -> Option<Same<A>> {
        rest.pop().map(Same)
    }
}

/// The call to make for each element: a function from a reference and an argument to a task.
pub trait Calls<T, A>: Copy + Send + 'static {
    /// The task type.
    type Task: Task<Output = Self::Output> + 'static;
    /// The task's result.
    type Output: Portable;
    /// Makes the task for one element.
    fn task(self, element: Ref<T>, argument: A) -> Self::Task;
}

impl<T, A, F, Tk> Calls<T, A> for F
where
    F: Fn(Ref<T>, A) -> Tk + Copy + Send + 'static,
    Tk: Task + 'static,
    Tk::Output: Portable,
{
    type Task = Tk;
    type Output = Tk::Output;
    fn task(self, element: Ref<T>, argument: A) -> Tk {
        self(element, argument)
    }
}
