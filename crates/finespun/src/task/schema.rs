//! What is known of a task where it is called: whether the call can suspend.
//!
//! A task is *straight* if it awaits nothing, or only straight tasks, one after another and in no loop. A call of it
//! cannot suspend: neither does it look at the guard nor its caller at what came back (hybrid-execution-model, section
//! 3.2.1, the non-blocking schema). Loops keep their looks at the guard, since a task may wait in one for what another
//! task will do; and a `join!` is where other workers find its branches.
//!
//! The property is inferred through callees, and across crates, though the compiler of tasks never sees a callee: the
//! function that holds a body returns an [`Outcome`] with an opaque type in it, which rustc infers to be the list of
//! its callees' schemas. What the task shows to its own callers is not that list, or the type of a recursive task would
//! contain itself, but a type without parameters, whose constants ask the list ([`callees1`]). Nor do constants contain
//! themselves: each asks the callees for a lower one, and the lowest is no. So recursion is never straight, nor is what
//! has more than three levels of tasks below it, and the stack between two looks at the guard stays bounded.

use std::marker::PhantomData;

use super::context::Cx;
use super::outcome::Outcome;

/// What a task says to its callers. `STRAIGHT_n`: it is straight, with at most n levels of tasks below it. Each implies
/// the next.
pub trait Schema {
    /// Awaits nothing.
    const STRAIGHT_0: bool = false;
    /// Awaits, at most, what awaits nothing.
    const STRAIGHT_1: bool = false;
    /// One level more.
    const STRAIGHT_2: bool = false;
    /// One level more: what callers go by.
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

/// The schema of a task that may suspend, as far as anybody knows.
pub struct Unknown;

impl Schema for Unknown {}

/// The schema of an object's method, which may suspend and runs at the object's home.
pub struct AtHome;

impl Schema for AtHome {
    const LOCATED: bool = true;
}

/// No callees.
impl Schema for () {
    const STRAIGHT_0: bool = true;
    const STRAIGHT_1: bool = true;
    const STRAIGHT_2: bool = true;
    const STRAIGHT_3: bool = true;
}

/// A callee, and the others.
impl<A: Schema, B: Schema> Schema for (A, B) {
    const STRAIGHT_0: bool = A::STRAIGHT_0 && B::STRAIGHT_0;
    const STRAIGHT_1: bool = A::STRAIGHT_1 && B::STRAIGHT_1;
    const STRAIGHT_2: bool = A::STRAIGHT_2 && B::STRAIGHT_2;
    const STRAIGHT_3: bool = A::STRAIGHT_3 && B::STRAIGHT_3;
}

/// A task whose type says what its schema is.
pub trait Known {
    /// The schema.
    type Schema: Schema;
}

/// The place of a schema in the list of a body's callees.
pub struct Callee<S>(PhantomData<fn() -> S>);

impl<S> Clone for Callee<S> {
    #[inline(always)]
    fn clone(&self) -> Self {
        *self
    }
}
impl<S> Copy for Callee<S> {}

impl<S> Callee<S> {
    /// A callee of whatever schema.
    #[inline(always)]
    #[allow(clippy::new_without_default, reason = "there is nothing to be")]
    pub const fn new() -> Callee<S> {
        Callee(PhantomData)
    }

    /// Evidence that both are of one schema.
    #[inline(always)]
    pub fn is(self, _: Callee<S>) {}

    /// This callee and the `others`.
    #[inline(always)]
    pub fn and<T>(self, _: Callee<T>) -> Callee<(S, T)> {
        Callee::new()
    }

    /// Evidence that these are the callees of the function that returns it; never executed.
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

/// Asks a task for its schema, [`Unknown`] if its type does not say one: the type of a user's own function that returns
/// `impl Task`, or of a generic task. By method lookup, which takes the first of two methods whose bounds hold, since
/// a type that says nothing of a schema might contain lifetimes, which the list of callees cannot.
pub struct Asked<'a, Tk>(PhantomData<&'a Tk>);

impl<'a, Tk> Asked<'a, Tk> {
    /// Asks this one.
    #[inline(always)]
    pub fn new(_: &'a Tk) -> Asked<'a, Tk> {
        Asked(PhantomData)
    }
}

/// The first answer.
pub trait Says {
    /// The schema that is said.
    type Schema;
    /// It.
    #[inline(always)]
    fn __finespun_schema(&self) -> Callee<Self::Schema> {
        Callee::new()
    }
}

impl<Tk: Known> Says for Asked<'_, Tk> {
    type Schema = Tk::Schema;
}

/// The second answer.
pub trait SaysNot {
    /// None is known.
    #[inline(always)]
    fn __finespun_schema(&self) -> Callee<Unknown> {
        Callee::new()
    }
}

impl<Tk> SaysNot for &Asked<'_, Tk> {}

macro_rules! callees {
    ($($name:ident: $($argument:ident)*;)+) => {$(
        /// The callees of a body, from the type of its function.
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
