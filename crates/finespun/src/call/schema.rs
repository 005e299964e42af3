//! Compile-time knowledge of whether a call can suspend.
//!
//! A task is *straight* if it awaits nothing, or only straight tasks, one after the other and in no loop. A call of a
//! straight task cannot suspend, so the callee checks no guard and the caller does not test the outcome (the
//! non-blocking schema, [H §3.2.1]). A loop keeps its guard checks, since it may wait for the effect of another task; a
//! `join!` keeps them so that other workers can take its branches.
//!
//! Straightness is inferred through callees, and across crates, although the task compiler never sees a callee: the
//! function that holds a body returns an [`Outcome`] with an opaque type in it, which rustc infers to be the list of
//! its callees' schemas. The task does not show this list to its own callers, or the type of a recursive task would
//! contain itself. It shows a type without parameters, whose constants query the list ([`callees1`]). The constants do
//! not depend on themselves either: each queries the callees' next lower one, and the lowest is false for a task with
//! callees. So recursion is never straight, nor is a task with more than three levels of tasks below it, and the stack
//! between two guard checks stays bounded.

use std::marker::PhantomData;

use super::outcome::Outcome;
use crate::frame::context::Cx;

/// The properties of a task that its callers use. `STRAIGHT_n` means that the task is straight, with at most n levels
/// of tasks below it. Each implies the next.
pub trait Schema {
    /// The task awaits nothing.
    const STRAIGHT_0: bool = false;
    /// The task awaits only tasks that await nothing, if any.
    const STRAIGHT_1: bool = false;
    /// As `STRAIGHT_1`, with one level more.
    const STRAIGHT_2: bool = false;
    /// As `STRAIGHT_2`, with one level more. Callers use this constant.
    const STRAIGHT_3: bool = false;
    /// A frame of the task runs at one node only.
    const LOCATED: bool = false;
}

/// The schema of a task that awaits nothing, or whose author says that it cannot suspend.
pub struct Straight;

impl Schema for Straight {
    const STRAIGHT_0: bool = true;
    const STRAIGHT_1: bool = true;
    const STRAIGHT_2: bool = true;
    const STRAIGHT_3: bool = true;
}

/// The schema of a task that may suspend, as far as is known.
pub struct Unknown;

impl Schema for Unknown {}

/// The schema of an object's method, which may suspend and runs at the object's home.
pub struct AtHome;

impl Schema for AtHome {
    const LOCATED: bool = true;
}

/// The empty list of callees.
impl Schema for () {
    const STRAIGHT_0: bool = true;
    const STRAIGHT_1: bool = true;
    const STRAIGHT_2: bool = true;
    const STRAIGHT_3: bool = true;
}

/// A list of callees: the first, and the others.
impl<A: Schema, B: Schema> Schema for (A, B) {
    const STRAIGHT_0: bool = A::STRAIGHT_0 && B::STRAIGHT_0;
    const STRAIGHT_1: bool = A::STRAIGHT_1 && B::STRAIGHT_1;
    const STRAIGHT_2: bool = A::STRAIGHT_2 && B::STRAIGHT_2;
    const STRAIGHT_3: bool = A::STRAIGHT_3 && B::STRAIGHT_3;
}

/// A task whose type names its schema.
pub trait Known {
    /// The schema.
    type Schema: Schema;
}

/// A schema's entry in the list of a body's callees.
pub struct Callee<S>(PhantomData<fn() -> S>);

impl<S> Clone for Callee<S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<S> Copy for Callee<S> {}

impl<S> Callee<S> {
    /// Creates the entry of a callee of any schema.
    #[inline(always)]
    #[allow(clippy::new_without_default, reason = "only generated code and this module create it")]
    pub const fn new() -> Callee<S> {
        Callee(PhantomData)
    }

    /// Makes rustc infer that both entries have the same schema.
    #[inline(always)]
    pub fn is(self, _: Callee<S>) {}

    /// Returns the list of this callee and the `others`.
    #[inline(always)]
    pub fn and<T>(self, _: Callee<T>) -> Callee<(S, T)> {
        Callee::new()
    }

    /// Makes rustc infer the callees of the function that returns this value; never executed.
    ///
    /// # Safety
    /// Must not be reached.
    pub unsafe fn outcome<T>(self) -> Outcome<T, S> {
        unreachable!("type evidence is not executed")
    }
}

impl<S: Schema> Callee<S> {
    /// See [`Schema`].
    pub const fn straight_0(self) -> bool {
        S::STRAIGHT_0
    }
    /// See [`Schema`].
    pub const fn straight_1(self) -> bool {
        S::STRAIGHT_1
    }
    /// See [`Schema`].
    pub const fn straight_2(self) -> bool {
        S::STRAIGHT_2
    }
}

/// Asks a task for its schema, which is [`Unknown`] if the task's type does not name one, for example the type of a
/// user's function that returns `impl Task`, or of a generic task. Method lookup takes [`HasSchema`] if the type names
/// a schema, else [`NoSchema`]. A type without a schema cannot be listed itself: it might contain lifetimes, which the
/// list of callees cannot.
pub struct SchemaOf<'a, Tk>(PhantomData<&'a Tk>);

impl<'a, Tk> SchemaOf<'a, Tk> {
    /// Asks the given task.
    #[inline(always)]
    pub fn new(_: &'a Tk) -> SchemaOf<'a, Tk> {
        SchemaOf(PhantomData)
    }
}

/// The answer of a type that names its schema.
pub trait HasSchema {
    /// The named schema.
    type Schema;
    /// Returns the schema's entry.
    #[inline(always)]
    fn __finespun_schema(&self) -> Callee<Self::Schema> {
        Callee::new()
    }
}

impl<Tk: Known> HasSchema for SchemaOf<'_, Tk> {
    type Schema = Tk::Schema;
}

/// The answer of any other type, found second.
pub trait NoSchema {
    /// Returns the entry of the unknown schema.
    #[inline(always)]
    fn __finespun_schema(&self) -> Callee<Unknown> {
        Callee::new()
    }
}

impl<Tk> NoSchema for &SchemaOf<'_, Tk> {}

macro_rules! callees {
    ($($name:ident: $($argument:ident)*;)+) => {$(
        /// Returns the callees of a body, from the type of its function.
        pub const fn $name<$($argument,)* R, S>(_: unsafe fn(Cx $(, $argument)*) -> Outcome<R, S>) -> Callee<S> {
            Callee::new()
        }
    )+};
}

callees! {
    callees0: ;
    callees1: A;
    callees2: A B;
    callees3: A B C;
    callees4: A B C D;
    callees5: A B C D E;
    callees6: A B C D E F;
    callees7: A B C D E F G;
    callees8: A B C D E F G H;
    callees9: A B C D E F G H I;
    callees10: A B C D E F G H I J;
    callees11: A B C D E F G H I J K;
    callees12: A B C D E F G H I J K L;
}
