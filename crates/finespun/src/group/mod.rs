//! Groups of activities that begin, synchronise and end together: ParC's constructs (*maxi-parc-runtime*: Feitelson et
//! al., \[M\] in ARCHITECTURE.md).
//!
//! This module holds the constructs ([`parfor`]), the outputs by which an activity may end its group ([`Ends`]), and
//! the loop that runs the activities: on the stack in `construct`, in frames as `part`s that share a `descriptor`.
//! `cancel::groups` decides which frames belong to a group and marks terminated groups; the scheduler makes the workers
//! sweep. This module makes ready only the frames that it creates: activities, parts and turns.

// Special cases of termination, and the barrier.
//
// - A sweep of a group does not find *waiters for tasks of another group* (`scope/elsewhere.rs`); they are
//   recorded.
// - *A value or panic at the end of a terminated stack* must not leave its group: an in-place poll turns it into a
//   frame that will be destroyed (`call::poll_in_place`).
// - *A request to another node* runs beneath its caller's group, so the caller's leaf is not swept: the node ends the
//   work and replies. An exclusive method destroyed this way has poisoned its object.
//
// The **barrier** (`cancel/groups/barrier.rs`) has eight shards: arrivals of up to eight workers take uncontended
// locks. Quotas decide when to check whether all have arrived, so about shards * log N of N arrivals check. **Frames
// that a group does not wait for carry the run's number**: spawned tasks, one-way calls, tasks called by `resolve_with`
// and `suspend_with` (`Cx::in_run`), and the frames that release waiters of a barrier. Group records are reused; a
// sweep may meet the number of an ended group in a freed frame, so it caches a result only if the record still belongs
// to that group. A handle that may outlive its group stores the record's use count beside the number, and so detects a
// reused record (`group/level.rs`).

mod abort;
mod activities;
#[cfg(feature = "objects")]
mod arriving;
mod blocks;
mod chunks;
pub(crate) mod construct;
mod descriptor;
mod ends;
mod level;
#[cfg(feature = "objects")]
mod mapped;
mod part;
mod race;
mod sync;
pub(crate) mod until;
mod values;

use crate::call::Task;
use crate::iterate::many::{Fold, Sink};

pub use crate::cancel::groups::{Members, Policy};
pub use abort::{AbortHandle, Abortable, Aborted, abortable};
pub use activities::{Activities, Indexed, Integer, Span};
pub use blocks::{Blocks, Tuple, parblock};
pub use chunks::{Chunk, Chunked, Chunks, lparfor};
pub use construct::Construct;
pub use ends::{Ends, How, MayBreak, Values};
pub use level::{Exit, Level, Leveled, Only, Preturn, exit, level, preturn};
#[cfg(feature = "objects")]
pub use mapped::{Mapped, MappedChunk, mapped};
#[doc(hidden)]
pub use race::{Branch, Branches, Select, branch, select};
pub use race::{Race, Race1, Race2, Race3, Race4, Race5, Race6, Race7, Race8, Racers, race};
pub use sync::{Syncing, sync};

/// Traits that only the library implements, because unsafe code relies on the implementations.
mod sealed {
    pub trait Ends {}
    pub trait Span {}
    pub trait Integer {}
}

/// A sink that discards the `()` values of activities.
#[derive(Debug)]
pub struct Nothing;

impl Sink<()> for Nothing {
    type Output = ();
    #[inline(always)]
    fn put(&mut self, (): ()) {}
    #[inline(always)]
    fn finish(self) {}
}

/// The task that [`parfor`] makes.
pub type Parfor<S, F> = Construct<Indexed<S, F>, Nothing, MayBreak>;

/// Runs an activity for each integer of a range, and waits until all have ended: ParC's `parfor`.
///
/// The range may have a step: `(0..n).step_by(k)`. While no other worker asks for work, activities are called one after
/// the other on the stack, and an activity becomes a frame only if it must wait or outlasts its quantum. Activities
/// need not be independent: all are begun, even if some wait for others.
///
/// An activity that delivers `ControlFlow::Break(v)`, `Err(e)` or `None` ends the group: activities not yet begun never
/// begin, and everything running beneath the group stops and is destroyed, on any worker. The group delivers the first
/// such value. For outputs of other types see [`collect`](Construct::collect) and [`reduce`](Construct::reduce).
///
/// # Panics
/// With the first panic of an activity, which ends the group as well.
///
/// ```
/// use finespun::prelude::*;
/// use std::ops::ControlFlow;
///
/// #[task]
/// async fn look(numbers: &[u64], at: usize) -> ControlFlow<usize> {
///     if numbers[at] == 42 { ControlFlow::Break(at) } else { ControlFlow::Continue(()) }
/// }
///
/// #[task]
/// async fn find(numbers: &[u64]) -> Option<usize> {
///     parfor(0..numbers.len(), |at| look(numbers, at)).await.break_value()
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run(find(&[4, 8, 15, 16, 23, 42])), Some(5));
/// ```
///
/// *Cost*: a call for each activity; a frame for each one that waits. *Source*: maxi-parc-runtime, sections 2.3 and
/// 5.1.
pub fn parfor<S, F, Tk>(span: S, body: F) -> Parfor<S, F>
where
    S: Span + Send + Sync,
    F: Fn(S::Index) -> Tk + Send + Sync,
    Tk: Task<Output: Send> + Send,
{
    Construct::new(Indexed { span, body }, Nothing)
}

impl<A: Activities> Construct<A, Nothing, MayBreak> {
    /// Delivers the values of all activities, in their order. The values may be of any type, and none of them ends the
    /// group.
    ///
    /// ```
    /// # use finespun::prelude::*;
    /// #[task]
    /// async fn square(n: u64) -> u64 {
    ///     n * n
    /// }
    ///
    /// #[task]
    /// async fn squares(n: u64) -> Vec<u64> {
    ///     parfor(0..n, square).collect().await
    /// }
    /// # let runtime = Runtime::builder().workers(1).build().unwrap();
    /// assert_eq!(runtime.run(squares(4)), [0, 1, 4, 9]);
    /// ```
    pub fn collect(self) -> Construct<A, Vec<<A::Task as Task>::Output>, Values> {
        self.with(|activities| Vec::with_capacity(activities.count() as usize))
    }

    /// Like `collect`, for activities that deliver a `ControlFlow`, a `Result` or an `Option`: the first to break ends
    /// the group.
    pub fn try_collect(self) -> Construct<A, Vec<<<A::Task as Task>::Output as Ends>::Value>, MayBreak>
    where
        <A::Task as Task>::Output: Ends,
    {
        self.with(|activities| Vec::with_capacity(activities.count() as usize))
    }

    /// Folds the values of all activities, in their order, into `identity` by `op`.
    ///
    /// Once activities run in frames, their values are kept until all have ended; so the result is the same on any
    /// number of workers, in floating point too.
    pub fn reduce<R, Op>(self, identity: R, op: Op) -> Construct<A, Fold<R, Op>, Values>
    where
        R: Send,
        Op: FnMut(R, <A::Task as Task>::Output) -> R + Send,
    {
        self.with(|_| Fold::new(identity, op))
    }

    /// Like `reduce`, for activities that deliver a `ControlFlow`, a `Result` or an `Option`: the first to break ends
    /// the group.
    pub fn try_reduce<R, Op>(self, identity: R, op: Op) -> Construct<A, Fold<R, Op>, MayBreak>
    where
        R: Send,
        <A::Task as Task>::Output: Ends,
        Op: FnMut(R, <<A::Task as Task>::Output as Ends>::Value) -> R + Send,
    {
        self.with(|_| Fold::new(identity, op))
    }
}
