//! The output types of activities, and their meaning for the group.

use std::convert::Infallible;
use std::ops::ControlFlow;

use super::sealed;

/// An output of an activity that says whether its group continues or ends: `()`, which never ends it, a
/// [`ControlFlow`], a [`Result`] or an [`Option`].
///
/// The group delivers the same kind of type: the combined values of all activities, or the break of the first activity
/// that ended the group.
///
/// The trait is sealed because unsafe code relies on two properties. Values move between threads, so if an output is
/// `Send`, its value and its break must be `Send` too. And [`is_break`](Ends::is_break) must agree with
/// [`branch`](Ends::branch).
#[diagnostic::on_unimplemented(
    message = "an activity that delivers `{Self}` does not say whether its group ends",
    label = "delivers `{Self}`",
    note = "an activity delivers `()`, a `ControlFlow`, a `Result` or an `Option`; for other values say what becomes of \
            them: `.collect()`, `.reduce(..)`"
)]
pub trait Ends: sealed::Ends + Sized {
    /// The value of an activity after which the group continues.
    type Value;
    /// The value with which an activity ends the group.
    type Break;
    /// The group's output when it combines the values into a `T`.
    type Whole<T>;

    /// Splits the output into a value or a break.
    fn branch(self) -> ControlFlow<Self::Break, Self::Value>;
    /// Returns true if this output ends the group.
    fn is_break(&self) -> bool;
    /// Makes the group's output after all activities have ended with values.
    fn all<T>(whole: T) -> Self::Whole<T>;
    /// Makes the group's output from the break that ended the group first.
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

/// How a group interprets the outputs `O` of its activities.
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

/// Interprets outputs by [`Ends`]: an output may end the group.
#[derive(Debug)]
pub struct MayBreak;

impl<O: Ends> How<O> for MayBreak {
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

/// Interprets every output as a value: no output ends the group.
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
