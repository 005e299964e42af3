//! Many tasks from an iterator: `join_all` and `reduce`.
//!
//! Both call one task after the other on the stack and put the values in order into a *sink*. As long as no task
//! blocks, nothing else happens. When a task suspends, the loop falls back, and continues according to the reason:
//!
//! * The task was blocked: the loop begins the remaining tasks before its worker runs another frame, so that all their
//!   waits are under way at once. It keeps their values until their turn.
//! * A thief asked, or the stack is used up: half of the remaining tasks, up to a limit, become one ready frame (a
//!   *batch*), which a thief can split again; the loop itself becomes ready to continue with the rest. So a loop over a
//!   million tasks splits once per request, not a million times. The tasks handed over must be taken out of the
//!   iterator, so the first batch has at most [`BATCH`] tasks, and each further one at most twice as many as the one
//!   before, up to [`BATCH_BYTES`].
//!
//! The sink receives the values in the iterator's order, independent of the workers that computed them: a
//! floating-point sum is the same on any number of workers.

pub(crate) mod rest;

use std::collections::VecDeque;

use super::engine::Engine;
use crate::call::outcome::{Child, Outcome};
use crate::call::words::Parcel;
use crate::call::{Task, call_guarded, poll_in_place, sealed};
use crate::frame::context::{Cx, Verdict};
use crate::frame::{BodyFrame, Payload};
use rest::{Piece, Rest};

/// The most tasks in the first batch that a loop hands over, and the most that a loop calls in a row before it checks
/// its pending tasks.
const BATCH: usize = 1024;

/// The most bytes of tasks in a batch, small enough that allocators reuse memory: fresh pages would cost more than
/// short tasks.
const BATCH_BYTES: usize = 64 * 1024;

/// The most bytes of a task that a loop takes from its iterator by `next`. This is inlined with and without link-time
/// optimization, and keeps the sink in registers. The `Option` of a larger task would be moved through memory (7% of UTS): loops
/// over those pass a closure to the iterator, although that is not always inlined without link-time optimization.
const SMALL: usize = 16;

/// A consumer of values in order.
pub trait Sink<V> {
    /// The type of the final result.
    type Output;
    /// Takes the next value.
    fn put(&mut self, value: V);
    /// Returns the result, after the last value.
    fn finish(self) -> Self::Output;
    /// Takes a panic in place of a further value. Returns it as an error if the caller must resume it.
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

/// A fold: the accumulated value, and the operator that adds the next one.
pub struct Fold<A, Op> {
    /// `None` only while the operator runs, and after the operator's panic.
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
        // Dropped before the result is made, since a panic would lose the result.
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

/// Runs every task of `tasks`, and delivers their values in the iterator's order.
///
/// The tasks run on the stack, one after the other, as long as none blocks and no other worker asks for work; the only
/// allocation is then the vector. The task that awaits the `join_all` advances the iterator, and two workers never
/// advance it at once.
///
/// # Panics
/// Resumes the first panic in order, after every task that was begun has ended.
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
/// Does not allocate as long as no task blocks and no other worker asks for work. A split takes tasks out of the
/// iterator, worthwhile for tasks of about ten nanoseconds or more; shorter tasks gain more from a recursion that
/// halves the range.
///
/// # Panics
/// Resumes the first panic in order, of a task or of `op`, after every task that was begun has ended.
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
        let mut one = |task| {
            guarded = true;
            // SAFETY: `cx` is the current worker's; a child is kept and waited for.
            let called = unsafe { call_guarded(cx, task) };
            if called.suspended() {
                // SAFETY: `suspended` has just returned true.
                return Err(unsafe { called.child() });
            }
            // SAFETY: `suspended` has just returned false.
            sink.put(unsafe { called.value() });
            Ok(())
        };
        let ended = if size_of::<I::Item>() <= SMALL {
            loop {
                let Some(task) = tasks.next() else { break Ok(()) };
                if let Err(child) = one(task) {
                    break Err(child);
                }
            }
        } else {
            tasks.try_for_each(one)
        };
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
        // Dropped before the outcome is made, since a panic would lose the outcome.
        drop(tasks);
        // SAFETY: returned as this call's outcome, as the call protocol requires.
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
    // SAFETY: the caller guarantees that the parcel holds the rest of the loop; it is taken once.
    let (tasks, sink, child) = unsafe { rest.take() };
    cx.core().counters.fallback();
    let pieces = VecDeque::from([Piece::One(child)]);
    let body = Engine::new(Rest::new(Some(tasks), sink, pieces));
    poll_in_place(body, cx, Engine::<Rest<I, S>>::TABLE)
}

/// Handles a guard that trips in a loop without tasks.
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
    // SAFETY: the caller guarantees that the parcel holds the loop; it is taken once.
    let (tasks, sink) = unsafe { nothing.take() };
    drop(tasks);
    if cx.tripped() == Verdict::Stay {
        // SAFETY: returned as this call's outcome, as the call protocol requires.
        return unsafe { Outcome::done(sink.finish()) };
    }
    let body = Engine::new(Rest::<I, S>::new(None, sink, VecDeque::new()));
    let frame = BodyFrame::make(cx, body);
    cx.make_ready(frame);
    Outcome::suspended(frame)
}
