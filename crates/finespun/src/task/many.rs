//! Many tasks from an iterator: `join_all` and `reduce`.
//!
//! Both call one task after the other on the stack and put the values in order into a *sink*: nothing else happens
//! while nothing blocks. When a task suspends, the loop falls back; what follows depends on why:
//!
//! * It was blocked: the remaining tasks are begun before the worker leaves, so that all their waits are under way
//!   at once. Their values are kept until their turn comes.
//! * A thief asked, or the stack is used up: half of the remaining tasks become one ready frame, which a thief takes
//!   and can split again; the loop itself becomes ready to go on with the rest. So a loop over a million tasks splits
//!   as often as somebody asks, not a million times. The tasks handed over have to be taken from the iterator, so
//!   the first time they are at most [`BATCH`], and each time twice as many, up to [`BATCH_BYTES`].
//!
//! Values go into the sink in the iterator's order, whoever computed them: a floating-point sum is the same on any
//! number of workers.

mod rest;

use std::collections::VecDeque;

use super::call::{Task, call_guarded, poll_in_place, sealed};
use super::context::{Cx, Verdict};
use super::frame::{BodyFrame, Payload};
use super::outcome::{Child, Outcome};
use super::words::Parcel;
use rest::{Piece, Rest};

/// The most tasks that the first split of a loop hands over, and that run between two looks at what is out.
const BATCH: usize = 1024;

/// The most bytes that any split takes out of the iterator: what an allocator has at hand, since fresh pages would cost
/// more than short tasks.
const BATCH_BYTES: usize = 64 * 1024;

/// Takes values in order.
pub trait Sink<V> {
    /// What it makes of them.
    type Output;
    /// The next value.
    fn put(&mut self, value: V);
    /// No more values.
    fn finish(self) -> Self::Output;
    /// Instead of a further value, a panic: keeps it, or gives it back to be thrown.
    fn keep(&mut self, payload: Payload) -> Result<(), Payload> {
        Err(payload)
    }
}

impl<V> Sink<V> for Vec<V> {
    type Output = Vec<V>;
    fn put(&mut self, value: V) {
        self.push(value);
    }
    fn finish(self) -> Vec<V> {
        self
    }
}

/// A value and how the next one changes it.
pub struct Fold<A, Op> {
    /// Taken only while the operator runs.
    value: Option<A>,
    op: Op,
}

impl<A, Op> Fold<A, Op> {
    pub(crate) fn new(identity: A, op: Op) -> Fold<A, Op> {
        Fold { value: Some(identity), op }
    }
}

impl<A, V, Op: FnMut(A, V) -> A> Sink<V> for Fold<A, Op> {
    type Output = A;
    #[inline(always)]
    fn put(&mut self, value: V) {
        if let Some(before) = self.value.take() {
            self.value = Some((self.op)(before, value));
        }
    }
    #[inline(always)]
    fn finish(self) -> A {
        let Fold { value, op } = self;
        // Before there is something to return, which a panic would lose.
        drop(op);
        match value {
            Some(value) => value,
            None => unreachable!("a panic in the operator ends the reduction"),
        }
    }
}

/// The task that [`join_all`] and [`reduce`] make.
#[must_use = "a task does nothing until it is awaited"]
pub struct Many<I, S> {
    tasks: I,
    sink: S,
}

/// Runs every task of `tasks`; their values in the iterator's order.
///
/// On the stack, one after the other, while nobody asks for work; the one allocation is the vector. The iterator is
/// advanced by the task that awaits this, never by two workers at once.
///
/// # Panics
/// With the first panic in order, after every task that was begun has ended.
///
/// ```
/// use finespun::prelude::*;
///
/// #[task]
/// async fn square(n: u64) -> u64 {
///     n * n
/// }
///
/// #[task]
/// async fn squares(n: u64) -> Vec<u64> {
///     join_all((0..n).map(square)).await
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run(squares(4)), [0, 1, 4, 9]);
/// ```
pub fn join_all<I>(tasks: I) -> Many<I::IntoIter, Vec<<I::Item as Task>::Output>>
where
    I: IntoIterator<IntoIter: Send>,
    I::Item: Task<Output: Send> + Send,
{
    let tasks = tasks.into_iter();
    let sink = Vec::with_capacity(tasks.size_hint().0);
    Many { tasks, sink }
}

/// Runs every task of `tasks` and folds their values, in the iterator's order, into `identity` by `op`.
///
/// No allocation when nothing blocks. A split takes tasks out of the iterator, which is worth it for tasks of some ten
/// nanoseconds and more; a loop over shorter ones gains more from a recursion that halves the range.
///
/// # Panics
/// With the first panic in order, of a task or of `op`, after every task that was begun has ended.
///
/// ```
/// use finespun::prelude::*;
///
/// #[task]
/// async fn square(n: u64) -> u64 {
///     n * n
/// }
///
/// #[task]
/// async fn sum_of_squares(n: u64) -> u64 {
///     reduce((0..n).map(square), 0, |a, b| a + b).await
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run(sum_of_squares(4)), 14);
/// ```
pub fn reduce<I, A, Op>(tasks: I, identity: A, op: Op) -> Many<I::IntoIter, Fold<A, Op>>
where
    I: IntoIterator<IntoIter: Send>,
    I::Item: Task<Output: Send> + Send,
    A: Send,
    Op: FnMut(A, <I::Item as Task>::Output) -> A + Send,
{
    Many { tasks: tasks.into_iter(), sink: Fold::new(identity, op) }
}

type Value<I> = <<I as Iterator>::Item as Task>::Output;

impl<I, S> sealed::Sealed for Many<I, S> {}
impl<I, S> Task for Many<I, S>
where
    I: Iterator,
    I::Item: Task,
    S: Sink<Value<I>>,
{
    type Output = S::Output;
    const STRAIGHT: bool = false;
    const GUARDS: bool = true;

    #[inline(always)]
    unsafe fn call(self, cx: Cx) -> Outcome<S::Output> {
        let Many { mut tasks, mut sink } = self;
        let mut guarded = false;
        // Not by `next`: an option of a task would be moved through memory.
        let ended = tasks.try_for_each(|task| {
            guarded = true;
            // SAFETY: `cx` is the current worker's; a child is kept and waited for.
            let called = unsafe { call_guarded(cx, task) };
            if called.suspended() {
                // SAFETY: just looked.
                return Err(unsafe { called.child() });
            }
            // SAFETY: as above.
            sink.put(unsafe { called.value() });
            Ok(())
        });
        if let Err(child) = ended {
            let mut rest = Parcel::new((tasks, sink, child));
            // SAFETY: the parcel is taken once.
            return unsafe { suspended(cx, &mut rest) };
        }
        if !guarded && cx.trips() {
            let mut nothing = Parcel::new((tasks, sink));
            // SAFETY: the parcel is taken once.
            return unsafe { tripped(cx, &mut nothing) };
        }
        // Before there is an outcome, which a panic would lose.
        drop(tasks);
        // SAFETY: the call protocol.
        unsafe { Outcome::done(sink.finish()) }
    }
}

/// # Safety
/// The rest of the loop is in the parcel, and is moved here.
#[cold]
#[inline(never)]
unsafe fn suspended<I, S>(cx: Cx, rest: &mut Parcel<(I, S, Child<I::Item>)>) -> Outcome<S::Output>
where
    I: Iterator,
    I::Item: Task,
    S: Sink<Value<I>>,
{
    // SAFETY: by the caller's word.
    let (tasks, sink, child) = unsafe { rest.take() };
    cx.context().counters.fallback();
    let pieces = VecDeque::from([Piece::One(child)]);
    let body = Rest::new(Some(tasks), sink, pieces);
    poll_in_place(body, cx, Rest::<I, S>::TABLE)
}

/// The guard trips at a loop without tasks.
///
/// # Safety
/// The loop is in the parcel, and is moved here.
#[cold]
#[inline(never)]
unsafe fn tripped<I, S>(cx: Cx, nothing: &mut Parcel<(I, S)>) -> Outcome<S::Output>
where
    I: Iterator,
    I::Item: Task,
    S: Sink<Value<I>>,
{
    // SAFETY: by the caller's word.
    let (tasks, sink) = unsafe { nothing.take() };
    drop(tasks);
    if cx.tripped() == Verdict::Stay {
        // SAFETY: the call protocol.
        return unsafe { Outcome::done(sink.finish()) };
    }
    let body = Rest::<I, S>::new(None, sink, VecDeque::new());
    let frame = BodyFrame::make(cx, body);
    cx.make_ready(frame);
    Outcome::suspended(frame)
}
