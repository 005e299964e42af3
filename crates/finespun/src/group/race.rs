//! Races: tasks of which the first to end ends the others. [`select!`](crate::select) is a race with patterns.

use std::ops::ControlFlow;

use super::blocks::Tuple;
use super::parblock;
use crate::call::outcome::Outcome;
use crate::call::{Task, map_outcome, sealed};
use crate::frame::context::Cx;

/// Runs two to eight tasks until the first ends, and returns its value; the others, and everything beneath them, are
/// cancelled and have ended when the await returns. So they may borrow, and may be tasks of different types.
///
/// The value is an `enum` that says which task was first: [`Race2`] to [`Race8`], by the number of tasks.
///
/// The tasks are called in their order, on the stack: if the first ends without a wait, the others never begin. Once a task
/// waits, the following ones are begun. Of tasks that end at the same time on different workers, the first to say so wins.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::group::{Race2, race};
/// use finespun::time::sleep;
/// use std::time::Duration;
///
/// #[task]
/// async fn ask(server: u64, milliseconds: u64) -> u64 {
///     sleep(Duration::from_millis(milliseconds)).await;
///     server
/// }
///
/// #[task]
/// async fn fastest() -> u64 {
///     match race((ask(1, 60_000), ask(2, 1))).await {
///         Race2::First(server) | Race2::Second(server) => server,
///     }
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run(fastest()), 2);
/// ```
///
/// # Panics
/// With the panic of a task that panics before one ends.
///
/// *Cost*: of a group: a call for each task that is begun, and a frame for each that waits.
pub fn race<T: Racers>(tasks: T) -> Race<T> {
    Race(tasks)
}

/// A tuple of tasks that may race: two to eight tasks with outputs of any types.
pub trait Racers: sealed::Sealed + Sized {
    /// The value of the race: which task was first, and its value.
    type First;
    #[doc(hidden)]
    type Branches: Branches<First = Self::First>;
    #[doc(hidden)]
    fn branches(self) -> Self::Branches;
}

/// The task that [`race`] makes.
#[must_use = "a task does nothing until it is awaited"]
#[derive(Debug)]
pub struct Race<T>(T);

impl<T> sealed::Sealed for Race<T> {}
impl<T: Racers> Task for Race<T> {
    type Output = T::First;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<T::First> {
        let first = |first: Option<T::First>| match first {
            Some(first) => first,
            None => unreachable!("each task of a race may be the first"),
        };
        // SAFETY: the caller guarantees the call protocol for this worker.
        unsafe { map_outcome(cx, select(self.0.branches()), first) }
    }
}

/// A branch of `select!`: its task, and whether a value matches its pattern. For generated code.
#[doc(hidden)]
#[derive(Debug)]
pub struct Branch<Tk, P> {
    /// `None` if the branch is disabled.
    task: Option<Tk>,
    accepts: P,
}

/// Makes a branch of `select!`.
#[doc(hidden)]
pub fn branch<Tk, P>(enabled: bool, task: Tk, accepts: P) -> Branch<Tk, P>
where
    Tk: Task + Send,
    Tk::Output: Send,
    P: FnOnce(&Tk::Output) -> bool + Send,
{
    Branch { task: enabled.then_some(task), accepts }
}

/// The branches of a `select!`: a tuple of them.
#[doc(hidden)]
pub trait Branches: sealed::Sealed + Sized {
    /// The first value, if any branch has one.
    type First;
    #[doc(hidden)]
    type Activities: Tuple<Blocks: super::Activities<Task: Task<Output = ControlFlow<Self::First, ()>>>>;
    #[doc(hidden)]
    fn activities(self) -> Self::Activities;
}

/// Runs the branches of a `select!`. Returns the first value that matches its branch's pattern; `None` if there is none.
#[doc(hidden)]
pub fn select<T: Branches>(branches: T) -> Select<T> {
    Select(branches)
}

/// The task that [`select`] makes.
#[doc(hidden)]
#[must_use = "a task does nothing until it is awaited"]
#[derive(Debug)]
pub struct Select<T>(T);

impl<T> sealed::Sealed for Select<T> {}
impl<T: Branches> Task for Select<T> {
    type Output = Option<T::First>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Option<T::First>> {
        let first = |ended: ControlFlow<T::First, ()>| ended.break_value();
        // SAFETY: the caller guarantees the call protocol for this worker.
        unsafe { map_outcome(cx, parblock(self.0.activities()), first) }
    }
}

/// The activity of a branch.
#[doc(hidden)]
#[derive(Debug)]
pub struct Racer<Tk: Task, P, R> {
    branch: Branch<Tk, P>,
    /// Says which branch it was.
    first: fn(Tk::Output) -> R,
}

impl<Tk: Task, P, R> sealed::Sealed for Racer<Tk, P, R> {}
impl<Tk: Task, P: FnOnce(&Tk::Output) -> bool, R> Task for Racer<Tk, P, R> {
    type Output = ControlFlow<R, ()>;
    const STRAIGHT: bool = Tk::STRAIGHT;

    unsafe fn call(self, cx: Cx) -> Outcome<ControlFlow<R, ()>> {
        let Racer { branch: Branch { task, accepts }, first } = self;
        let Some(task) = task else {
            // SAFETY: returned as this call's outcome, as the call protocol requires.
            return unsafe { Outcome::done(ControlFlow::Continue(())) };
        };
        let ended = move |value| match accepts(&value) {
            true => ControlFlow::Break(first(value)),
            false => ControlFlow::Continue(()),
        };
        // SAFETY: the caller guarantees the call protocol for this worker.
        unsafe { map_outcome(cx, task, ended) }
    }
}

macro_rules! race {
    ($Race:ident $text:literal: $($T:ident $P:ident $at:tt $First:ident)+) => {
        #[doc = concat!("Which of ", $text, " was first, and its value: see [`race`].")]
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $Race<$($T),+> {
            $(
                #[doc = concat!("The task number ", $at, ", counted from 0.")]
                $First($T),
            )+
        }

        impl<$($T, $P),+> sealed::Sealed for ($(Branch<$T, $P>,)+) {}
        impl<$($T, $P),+> Branches for ($(Branch<$T, $P>,)+)
        where
            $(
                $T: Task + Send,
                $T::Output: Send,
                $P: FnOnce(&$T::Output) -> bool + Send,
            )+
        {
            type First = $Race<$($T::Output),+>;
            type Activities = ($(Racer<$T, $P, Self::First>,)+);

            fn activities(self) -> Self::Activities {
                ($(Racer { branch: self.$at, first: $Race::$First },)+)
            }
        }

        impl<$($T: Task),+> sealed::Sealed for ($($T,)+) {}
        impl<$($T),+> Racers for ($($T,)+)
        where
            $(
                $T: Task + Send,
                $T::Output: Send,
            )+
        {
            type First = $Race<$($T::Output),+>;
            type Branches = ($(Branch<$T, fn(&$T::Output) -> bool>,)+);

            fn branches(self) -> Self::Branches {
                ($(Branch { task: Some(self.$at), accepts: |_| true },)+)
            }
        }
    };
}

race! { Race1 "one task": A PA 0 First }
race! { Race2 "two tasks": A PA 0 First B PB 1 Second }
race! { Race3 "three tasks": A PA 0 First B PB 1 Second C PC 2 Third }
race! { Race4 "four tasks": A PA 0 First B PB 1 Second C PC 2 Third D PD 3 Fourth }
race! { Race5 "five tasks": A PA 0 First B PB 1 Second C PC 2 Third D PD 3 Fourth E PE 4 Fifth }
race! { Race6 "six tasks": A PA 0 First B PB 1 Second C PC 2 Third D PD 3 Fourth E PE 4 Fifth F PF 5 Sixth }
race! { Race7 "seven tasks": A PA 0 First B PB 1 Second C PC 2 Third D PD 3 Fourth E PE 4 Fifth F PF 5 Sixth G PG 6 Seventh }
race! {
    Race8 "eight tasks":
    A PA 0 First B PB 1 Second C PC 2 Third D PD 3 Fourth E PE 4 Fifth F PF 5 Sixth G PG 6 Seventh H PH 7 Eighth
}
