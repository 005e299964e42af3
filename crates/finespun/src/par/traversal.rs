//! A traversal: the task that walks the indices of a parallel iterator and gives its items to a consumer.
//!
//! The indices `0..span` are cut into *leaves* of equal length (the last may be shorter). A binary recursion with
//! `join!` halves the range of leaves, so the shape of the tree depends on the number of indices and on the bounds for
//! the length of a leaf, and on nothing else: neither on the number of workers nor on timing. A fork costs a few
//! instructions, so no heuristics decide when to split.
//!
//! Only the place where parts run depends on the team: a traversal of many leaves first makes a ready frame for each worker
//! ([`published_levels`]), because a short traversal would be over before idle workers ask. The tree is the same.
//!
//! Guards are checked at inner nodes; inside a leaf runs only the user's code.

use std::cmp;

use super::consumer::{Consumer, Leaf};
use super::iterator::ParallelIterator;
use crate::call::descriptor::pinned_task;
use crate::call::join::start_published;
use crate::call::outcome::Outcome;
use crate::call::{Task, sealed};
use crate::frame::FrameRef;
use crate::frame::context::{Cx, cx};
use crate::task;

/// The number of leaves of a long iterator, unless it has bounds for their length.
const LEAVES: usize = 512;

/// The number of leaves of a short iterator: below `FEW * SHORT` indices, leaves with more than one index are preferred to
/// more leaves.
const FEW: usize = 128;
const SHORT: usize = 16;

/// The most indices in a leaf, unless the iterator has a bound of its own: what runs between two guard checks.
const LONGEST: usize = 4096;

/// Bounds for the number of indices in a leaf.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub(crate) min: usize,
    pub(crate) max: usize,
    /// How much longer than usual a leaf is.
    pub(crate) times: usize,
}

impl Bounds {
    /// No bounds.
    pub const NONE: Bounds = Bounds { min: 1, max: usize::MAX, times: 1 };

    /// Returns the bounds that satisfy both, where possible.
    pub(crate) fn and(self, other: Bounds) -> Bounds {
        Bounds {
            min: cmp::max(self.min, other.min),
            max: cmp::min(self.max, other.max),
            times: cmp::max(self.times, other.times),
        }
    }

    /// Converts the bounds to units of `size` indices.
    pub(crate) fn in_units_of(self, size: usize) -> Bounds {
        Bounds { min: cmp::max(1, self.min / size), max: cmp::max(1, self.max / size), ..self }
    }

    /// Returns the number of indices in a leaf. The minimum takes precedence over the maximum.
    fn leaf_len(self, span: usize) -> usize {
        let short = cmp::min(span.div_ceil(FEW), SHORT);
        let long = cmp::min(span.div_ceil(LEAVES / self.times), LONGEST * self.times);
        let usual = cmp::max(short, long);
        cmp::max(cmp::max(1, self.min), cmp::min(usual, self.max))
    }
}

/// The task that an end of a parallel iterator, or a sort, returns.
///
/// Making it allocates a box, and awaiting it one small heap frame. Dropping it before that drops the iterator; nothing has run.
///
/// Its type names the result only, and neither the iterator nor closures: so tasks of any closures may live across awaits
/// (rustc would have to prove for the type of a closure that it takes references of any lifetime, and fails).
#[must_use = "a parallel iterator does nothing until its end is awaited, joined, spawned or run"]
pub struct ParallelTask<'a, T>(Box<dyn Boxed<T> + Send + 'a>);

impl<'a, T> ParallelTask<'a, T> {
    pub(crate) fn new(task: impl Task<Output = T> + Send + 'a) -> ParallelTask<'a, T> {
        ParallelTask(Box::new(task))
    }
}

/// A task in a box.
trait Boxed<T> {
    /// # Safety
    /// As for [`Task::call`].
    unsafe fn call(self: Box<Self>, cx: Cx) -> Outcome<T>;
    fn start(self: Box<Self>, cx: Cx) -> FrameRef;
}

impl<Tk: Task> Boxed<Tk::Output> for Tk {
    unsafe fn call(self: Box<Self>, cx: Cx) -> Outcome<Tk::Output> {
        // SAFETY: the caller guarantees that it opens the outcome and awaits a suspended callee.
        unsafe { Task::call(*self, cx) }
    }

    fn start(self: Box<Self>, cx: Cx) -> FrameRef {
        Task::start(*self, cx)
    }
}

impl<T> sealed::Sealed for ParallelTask<'_, T> {}
impl<T> Task for ParallelTask<'_, T> {
    type Output = T;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<T> {
        // SAFETY: the caller guarantees that it opens the outcome and awaits a suspended callee.
        unsafe { self.0.call(cx) }
    }

    fn start(self, cx: Cx) -> FrameRef {
        self.0.start(cx)
    }
}

/// Returns the task that gives the items of `iterator` to `consumer`.
pub(crate) fn traverse<'a, I, C>(iterator: I, consumer: C) -> ParallelTask<'a, C::Output>
where
    I: ParallelIterator + 'a,
    C: Consumer<I::Item> + 'a,
{
    let span = iterator.span();
    let leaf_len = iterator.bounds().leaf_len(span);
    let leaves = cmp::max(1, span.div_ceil(leaf_len));
    ParallelTask::new(visit_all(Job { iterator, consumer, span, leaf_len, leaves }))
}

/// The state that all parts of a traversal share.
struct Job<I, C> {
    iterator: I,
    consumer: C,
    span: usize,
    leaf_len: usize,
    leaves: usize,
}

impl<I: ParallelIterator, C: Consumer<I::Item>> Job<I, C> {
    /// Gives the items of leaf `number` to the consumer. Not inlined, so that the loop has registers for itself.
    #[inline(never)]
    fn leaf(&self, number: usize) -> C::Part {
        let from = number * self.leaf_len;
        let to = cmp::min(from.saturating_add(self.leaf_len), self.span);
        // SAFETY: `from <= to <= span`; the recursion comes to each leaf once, and leaves do not overlap.
        let items = unsafe { self.iterator.part(from, to) };
        // SAFETY: each number occurs once. The consumer is dropped with the job, after all parts. If the iterator is
        // exact, this part has `to - from` items.
        unsafe { self.consumer.leaf(Leaf { number, from, to }, items) }
    }
}

#[task(pinned)]
async fn visit_all<I: ParallelIterator, C: Consumer<I::Item>>(mut job: Job<I, C>) -> C::Output {
    job.consumer.begin(job.leaves);
    let whole = visit_published(&job, 0, job.leaves, published_levels(job.leaves)).await;
    let Job { iterator, consumer, .. } = job;
    // Dropped before the consumer, which may own its memory, if the drop of the iterator panics.
    let whole = whole;
    drop(iterator);
    consumer.finish(whole)
}

/// The least number of leaves of a traversal that publishes parts at once.
const PUBLISHED: usize = 256;

/// Returns how many times a traversal is halved, each time with a ready frame for one half, before it begins: so that each
/// worker finds a part at once. Otherwise an idle worker would have to ask, which it does every 50 microseconds to 1 millisecond:
/// too seldom for a traversal of a million short items.
fn published_levels(leaves: usize) -> u32 {
    // SAFETY: called in a task, on a worker; used at once.
    let workers = unsafe { cx() }.core().workers.get();
    if leaves < PUBLISHED { 0 } else { workers.next_power_of_two().ilog2().min(PUBLISHED.ilog2()) }
}

#[task(pinned)]
async fn visit_published<I: ParallelIterator, C: Consumer<I::Item>>(
    job: &Job<I, C>,
    first: usize,
    end: usize,
    levels: u32,
) -> C::Part {
    if levels == 0 {
        return visit(job, first, end).await;
    }
    let middle = first + (end - first) / 2;
    let low = visit_published(job, first, middle, levels - 1);
    let (left, right) = published(low, visit_published(job, middle, end, levels - 1)).await;
    job.consumer.join(left, right)
}

/// Joins two tasks, of which the second is a ready frame from the start.
fn published<A, B>(a: A, b: B) -> impl Task<Output = (A::Output, B::Output)> + Send
where
    A: Task<Output: Send> + Send,
    B: Task<Output: Send> + Send,
{
    // SAFETY: the future awaits only the join, which it has begun in the same poll.
    unsafe { pinned_task(move || async move { start_published(a, b).await }) }
}

#[task]
async fn visit<I: ParallelIterator, C: Consumer<I::Item>>(job: &Job<I, C>, first: usize, end: usize) -> C::Part {
    if end - first == 1 {
        return job.leaf(first);
    }
    if let Some(nothing) = job.consumer.skip(first) {
        return nothing;
    }
    let middle = first + (end - first) / 2;
    let (left, right) = join!(visit(job, first, middle), visit(job, middle, end));
    job.consumer.join(left, right)
}
