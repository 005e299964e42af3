//! Bounds that generated code puts on the user's types. They are traits of their own because of their messages, which
//! say how the user's code is cured; each holds exactly when a bound of std or of the library holds.

use std::future::{Future, IntoFuture};
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll};

use super::Task;
use super::sealed::Sealed;

/// The operand of an await: a task, with `How` = [`AsTask`].
///
/// Generated code passes the operand on as an [`Operand::Itself`]. Two implementations match any type, so rustc tests
/// their bounds before it selects one, and for a type that is no task the associated type does not exist: rustc reports
/// that once, and no error of a function to which generated code passes the operand. A type of the library that is a task
/// under further bounds is an operand in any case: the message about these bounds says more.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a task",
    label = "awaited inside a `#[task]`, but not a task",
    note = "`.await` and `join!` inside a `#[task]` take tasks: mark the called function `#[task] async fn`, or drop the \
            `.await` if the call returns the value itself",
    note = "a std future, also an `async` block that awaits std futures only, is wrapped: `foreign(future).await`"
)]
pub trait Operand<How> {
    /// The type itself.
    type Itself;
    /// Returns the operand.
    fn itself(self) -> Self::Itself;
}

/// See [`Operand`].
pub struct AsTask;

#[diagnostic::do_not_recommend]
impl<Tk: Sealed> Operand<AsTask> for Tk {
    type Itself = Tk;
    #[inline(always)]
    fn itself(self) -> Tk {
        self
    }
}

#[diagnostic::do_not_recommend]
impl<Tk: sealed::NoType> Operand<()> for Tk {
    type Itself = Tk;
    fn itself(self) -> Tk {
        self
    }
}

/// Checks that the operand of an await is a task.
#[inline(always)]
pub fn operand_here<How, A: Operand<How>>(operand: A) -> A::Itself {
    operand.itself()
}

/// Checks that the operand of an await is a task that may move to another worker.
#[inline(always)]
pub fn operand<How, A: Operand<How>>(operand: A) -> A::Itself
where
    AnyWorker: MayKeep<A>,
{
    operand.itself()
}

/// A worker of the team: a task that waits may continue on any.
pub struct AnyWorker;

/// A value of type `T` may move to another worker: `T: Send`.
///
/// It is a bound on the worker and not on the type, since for bounds on the types of arguments rustc suggests changes
/// of the arguments, like a dereference.
#[diagnostic::on_unimplemented(
    message = "`{T}` cannot be kept across an await: it cannot be sent between threads",
    label = "`{T}` is not `Send`",
    note = "after an await, a task may continue on another thread: use `Arc` for `Rc`, an atomic or a `Mutex` for `Cell` and \
            `RefCell`; or end the value's scope before the await; a lock that is held across an await is \
            `finespun::sync::Mutex`",
    note = "a type parameter needs the bound `Send`, and `Sync` if the task keeps a reference"
)]
pub trait MayKeep<T>: sealed::MayKeep<T> {}

mod sealed {
    /// Implemented by no type.
    pub trait NoType {}
    /// Keeps other crates from declaring that a value may move.
    pub trait MayKeep<T> {}
    impl<T: Send> MayKeep<T> for super::AnyWorker {}
}

#[diagnostic::do_not_recommend]
impl<T: Send> MayKeep<T> for AnyWorker {}

/// Checks that a value that a task keeps across an await may move to another worker.
#[inline(always)]
pub fn send<T>(captured: T) -> T
where
    AnyWorker: MayKeep<T>,
{
    captured
}

/// The type of a task's result: `Send`.
#[diagnostic::on_unimplemented(
    message = "a task cannot return `{Self}`: it cannot be sent between threads",
    label = "`{Self}` is not `Send`",
    note = "the worker that runs a task may be another than the worker that takes its result; an error of any type is \
            `Box<dyn Error + Send + Sync>`, and `Arc` stands for `Rc`; a type parameter needs the bound `Send`"
)]
pub trait Delivered: Send {}

#[diagnostic::do_not_recommend]
impl<T: Send> Delivered for T {}

/// A task that is awaited inside tasks only. Plain `async` code that awaits it gets the message of [`InsideTask`].
pub trait OnlyInTasks: IntoFuture<IntoFuture = Outside<Self>> + Sized {}

/// What plain `async` code would await: not a future, because it does not know that `Tk` is an [`InsideTask`].
pub struct Outside<Tk>(PhantomData<Tk>);

/// Implemented by the types that `#[task]` functions return, which hide that.
#[diagnostic::on_unimplemented(
    message = "a task is awaited outside the body of a `#[task]`",
    label = "a task, not a std future",
    note = "tasks are awaited in the body of a `#[task] async fn` itself: mark this function `#[task]`, or make the `async` \
            block one",
    note = "plain `async` code starts the task as a run of its own, which is a std future: `runtime.spawn(task).await`"
)]
pub trait InsideTask: Task {}

impl<Tk: InsideTask> Future for Outside<Tk> {
    type Output = Tk::Output;
    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Tk::Output> {
        unreachable!("no value of the type exists")
    }
}

/// Implements [`OnlyInTasks`] for a type that `#[task]` functions return.
macro_rules! only_in_tasks {
    ([$($generics:tt)*] $task:ty) => {
        #[diagnostic::do_not_recommend]
        impl<$($generics)*> $crate::call::bounds::InsideTask for $task where $task: $crate::call::Task {}
        impl<$($generics)*> $crate::call::bounds::OnlyInTasks for $task where $task: $crate::call::Task {}
        impl<$($generics)*> std::future::IntoFuture for $task
        where
            $task: $crate::call::Task,
        {
            type Output = <$task as $crate::call::Task>::Output;
            type IntoFuture = $crate::call::bounds::Outside<$task>;
            fn into_future(self) -> Self::IntoFuture {
                const { panic!("a task is not a std future: start it with `runtime.spawn(task)`") }
            }
        }
    };
}
pub(crate) use only_in_tasks;
