//! What an activity delivers, and what that means for its group.

use std::convert::Infallible;
use std::ops::ControlFlow;

use super::sealed;

/// What an activity may deliver to say that its group is to go on or to end: `()`, which never ends it, a
/// [`ControlFlow`], a [`Result`] or an [`Option`].
///
/// The group delivers the same: what all of them come to, or what the first to end it has said.
///
/// The trait is sealed: values travel between threads, so where what is delivered is `Send`, value and break have to be, and
/// unsafe code counts on [`is_break`](Ends::is_break) and [`branch`](Ends::branch) to agree.
#[diagnostic::on_unimplemented(
    message = "an activity that delivers `{Self}` does not say whether its group ends",
    label = "delivers `{Self}`",
    note = "an activity delivers `()`, a `ControlFlow`, a `Result` or an `Option`; for other values say what becomes of \
            them: `.collect()`, `.reduce(..)`"
)]
pub trait Ends: sealed::Ends + Sized {
    /// What it delivers if the group goes on.
    type Value;
    /// What it delivers if the group ends.
    type Break;
    /// What the group delivers, if it makes a `T` of the values.
    type Whole<T>;

    /// Which of them this is.
    fn branch(self) -> ControlFlow<Self::Break, Self::Value>;
    /// Whether this ends the group.
    fn is_break(&self) -> bool;
    /// All activities have ended.
    fn all<T>(whole: T) -> Self::Whole<T>;
    /// One has ended the group.
    fn first<T>(end: Self::Break) -> Self::Whole<T>;
}

impl sealed::Ends for () {}
impl Ends for () {
    type Value = ();
    type Break = Infallible;
    type Whole<T> = T;

    #[inline(always)]
    fn branch(self) -> ControlFlow<Infallible, ()> {
        ControlFlow::Continue(())
    }
    #[inline(always)]
    fn is_break(&self) -> bool {
        false
    }
    #[inline(always)]
    fn all<T>(whole: T) -> T {
        whole
    }
    fn first<T>(end: Infallible) -> T {
        match end {}
    }
}

impl<B, V> sealed::Ends for ControlFlow<B, V> {}
impl<B, V> Ends for ControlFlow<B, V> {
    type Value = V;
    type Break = B;
    type Whole<T> = ControlFlow<B, T>;

    #[inline(always)]
    fn branch(self) -> ControlFlow<B, V> {
        self
    }
    #[inline(always)]
    fn is_break(&self) -> bool {
        ControlFlow::is_break(self)
    }
    #[inline(always)]
    fn all<T>(whole: T) -> ControlFlow<B, T> {
        ControlFlow::Continue(whole)
    }
    #[inline(always)]
    fn first<T>(end: B) -> ControlFlow<B, T> {
        ControlFlow::Break(end)
    }
}

impl<V, E> sealed::Ends for Result<V, E> {}
impl<V, E> Ends for Result<V, E> {
    type Value = V;
    type Break = E;
    type Whole<T> = Result<T, E>;

    #[inline(always)]
    fn branch(self) -> ControlFlow<E, V> {
        match self {
            Ok(value) => ControlFlow::Continue(value),
            Err(error) => ControlFlow::Break(error),
        }
    }
    #[inline(always)]
    fn is_break(&self) -> bool {
        self.is_err()
    }
    #[inline(always)]
    fn all<T>(whole: T) -> Result<T, E> {
        Ok(whole)
    }
    #[inline(always)]
    fn first<T>(end: E) -> Result<T, E> {
        Err(end)
    }
}

impl<V> sealed::Ends for Option<V> {}
impl<V> Ends for Option<V> {
    type Value = V;
    type Break = ();
    type Whole<T> = Option<T>;

    #[inline(always)]
    fn branch(self) -> ControlFlow<(), V> {
        match self {
            Some(value) => ControlFlow::Continue(value),
            None => ControlFlow::Break(()),
        }
    }
    #[inline(always)]
    fn is_break(&self) -> bool {
        self.is_none()
    }
    #[inline(always)]
    fn all<T>(whole: T) -> Option<T> {
        Some(whole)
    }
    #[inline(always)]
    fn first<T>((): ()) -> Option<T> {
        None
    }
}

/// How the outputs `O` of a group's activities are taken.
pub trait How<O> {
    /// As [`Ends::Value`].
    type Value;
    /// As [`Ends::Break`].
    type Break;
    /// As [`Ends::Whole`].
    type Whole<T>;

    /// As [`Ends::branch`].
    fn branch(output: O) -> ControlFlow<Self::Break, Self::Value>;
    /// As [`Ends::is_break`].
    fn is_break(output: &O) -> bool;
    /// As [`Ends::all`].
    fn all<T>(whole: T) -> Self::Whole<T>;
    /// As [`Ends::first`].
    fn first<T>(end: Self::Break) -> Self::Whole<T>;
}

/// Outputs say whether the group goes on.
#[derive(Debug)]
pub struct Asked;

impl<O: Ends> How<O> for Asked {
    type Value = O::Value;
    type Break = O::Break;
    type Whole<T> = O::Whole<T>;

    #[inline(always)]
    fn branch(output: O) -> ControlFlow<O::Break, O::Value> {
        output.branch()
    }
    #[inline(always)]
    fn is_break(output: &O) -> bool {
        output.is_break()
    }
    #[inline(always)]
    fn all<T>(whole: T) -> O::Whole<T> {
        O::all(whole)
    }
    #[inline(always)]
    fn first<T>(end: O::Break) -> O::Whole<T> {
        O::first(end)
    }
}

/// Outputs are values, whatever they are.
#[derive(Debug)]
pub struct Values;

impl<O> How<O> for Values {
    type Value = O;
    type Break = Infallible;
    type Whole<T> = T;

    #[inline(always)]
    fn branch(output: O) -> ControlFlow<Infallible, O> {
        ControlFlow::Continue(output)
    }
    #[inline(always)]
    fn is_break(_: &O) -> bool {
        false
    }
    #[inline(always)]
    fn all<T>(whole: T) -> T {
        whole
    }
    fn first<T>(end: Infallible) -> T {
        match end {}
    }
}
