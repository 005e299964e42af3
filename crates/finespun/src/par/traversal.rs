//! A traversal: the task that walks the indices of a parallel iterator and gives its items to a consumer.
//!
//! The indices `0..span` are cut into *leaves* of equal length (the last may be shorter). A binary recursion with
//! `join!` halves the range of leaves down to *blocks*: a few short leaves, whose parts are joined from left to right, or one long
//! leaf. So the shape of the tree depends on the number of indices and on the bounds for the length of a leaf, and on nothing
//! else: neither on the number of workers nor on timing. A fork costs a few instructions, so no heuristics decide when to split.
//!
//! Only the place where parts run depends on the team. A block is one loop until a thief asks: then the leaves that are left
//! become tasks. A traversal of many leaves, or of leaves with one index, first makes a ready frame for each worker
//! ([`published_levels`]), because it might be over, or the first leaf take long, before idle workers ask. The tree is the same.
//!
//! Where the result does not depend on the shape ([`Consumer::ignores_cuts`]), a block's loop joins short leaves while nothing
//! is requested of its worker, because a leaf costs as much as several short closures.
//!
//! Guards are checked at inner nodes and between leaves; inside a leaf runs only the user's code.

use std::cmp;

use super::consumer::{Consumer, Leaf};
use super::iterator::ParallelIterator;
use crate::call::descriptor::pinned_task;
use crate::call::join::start_published;
use crate::call::outcome::Outcome;
use crate::call::{Task, sealed};
use crate::frame::FrameRef;
use crate::frame::context::{Cx, cx};
use crate::{reduce, task};

/// The number of leaves of a long iterator, unless it has bounds for their length.
const LEAVES: usize = 512;

/// The number of leaves of a short iterator: below `FEW * SHORT` indices, leaves with more than one index are preferred to
/// more leaves.
const FEW: usize = 128;
const SHORT: usize = 16;

/// The most indices in a leaf, unless the iterator has a bound of its own: what runs between two guard checks.
const LONGEST: usize = 4096;

/// The number of indices from which on a leaf is long: then it is a block of its own, unless it makes one value of them. Joined from
/// left to right, such values are copied less often (vectors, for example) than in a tree.
const LONG: usize = 128;

/// The most leaves in a block of short leaves. A loop over them costs less than half of a recursion.
const BLOCK: usize = 8;

/// The same if the leaves of a block may be joined, and the most of them that are.
const JOINED_BLOCK: usize = 64;
const JOINED: usize = 8;

/// The least number of times that the joined leaves fit into the traversal: workers that are done earlier must find some.
const JOINED_PARTS: usize = 16;

/// Bounds for the number of indices in a leaf.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    pub(crate) min: usize,
    pub(crate) max: usize,
    /// How much longer than usual a leaf is.
    pub(crate) times: usize,
    /// Whether each leaf is visible in the result, and must not be joined with another.
    pub(crate) visible: bool,
}

impl Bounds {
    /// No bounds.
    pub const NONE: Bounds = Bounds { min: 1, max: usize::MAX, times: 1, visible: false };

    /// Returns the bounds that satisfy both, where possible.
    pub(crate) fn and(self, other: Bounds) -> Bounds {
        Bounds {
            min: cmp::max(self.min, other.min),
            max: cmp::min(self.max, other.max),
            times: cmp::max(self.times, other.times),
            visible: self.visible || other.visible,
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
    let bounds = iterator.bounds();
    let leaf_len = bounds.leaf_len(span);
    let leaves = cmp::max(1, span.div_ceil(leaf_len));
    let (block, joined) = if leaf_len >= LONG && !bounds.visible {
        (1, 1)
    } else if C::ignores_cuts() && !bounds.visible {
        let indices = cmp::min(LONG, bounds.max);
        (JOINED_BLOCK, (leaves / JOINED_PARTS).min(JOINED).min(indices / leaf_len).max(1))
    } else {
        (BLOCK, 1)
    };
    ParallelTask::new(visit_all(Job { iterator, consumer, span, leaf_len, leaves, block, joined }))
}

/// The state that all parts of a traversal share.
struct Job<I, C> {
    iterator: I,
    consumer: C,
    span: usize,
    leaf_len: usize,
    leaves: usize,
    /// The most leaves in a block, and the most that are visited as one.
    block: usize,
    joined: usize,
}

impl<I: ParallelIterator, C: Consumer<I::Item>> Job<I, C> {
    /// Gives the items of the leaves `number..end` to the consumer, as one leaf.
    #[inline(always)]
    fn leaf(&self, number: usize, end: usize) -> C::Part {
        let from = number * self.leaf_len;
        let to = cmp::min(end.saturating_mul(self.leaf_len), self.span);
        // SAFETY: `from <= to <= span`; the recursion comes to each leaf once, and leaves do not overlap.
        let items = unsafe { self.iterator.part(from, to) };
        // SAFETY: each number occurs once. The consumer is dropped with the job, after all parts. If the iterator is
        // exact, this part has `to - from` items.
        unsafe { self.consumer.leaf(Leaf { number, from, to }, items) }
    }

    /// Visits leaves from `first` on until something is requested of the worker. Returns their part, and the number of the next
    /// leaf, at most `end`. Not inlined, so that the loop has registers for itself.
    ///
    /// Leaves are joined, if they may be, when those before have been visited without a request: twice as many each time, so
    /// that a request waits at most as long as the block has taken, and long leaves remain single.
    #[inline(never)]
    fn block(&self, first: usize, end: usize) -> (C::Part, usize) {
        // SAFETY: called in a task, on a worker. No await comes before its last use: this function is plain.
        let cx = unsafe { cx() };
        let mut next = first;
        let mut joined = 1;
        let mut whole = None;
        loop {
            let behind = cmp::min(next + joined, end);
            let part = self.leaf(next, behind);
            next = behind;
            joined = cmp::min(2 * joined, self.joined);
            let part = match whole {
                None => part,
                Some(whole) => self.consumer.join(whole, part),
            };
            if next == end || cx.trips() {
                return (part, next);
            }
            if let Some(nothing) = self.consumer.skip(next) {
                return (self.consumer.join(part, nothing), end);
            }
            whole = Some(part);
        }
    }
}

#[task(pinned)]
async fn visit_all<I: ParallelIterator, C: Consumer<I::Item>>(mut job: Job<I, C>) -> C::Output {
    job.consumer.begin(job.leaves);
    let (first, from) = if C::may_end_early() && job.leaf_len > 1 { (Some(job.block(0, 1).0), 1) } else { (None, 0) };
    let over = from == job.leaves || (from > 0 && job.consumer.skip(from).is_some());
    let others = match published_levels(&job, from) {
        _ if over => None,
        0 => Some(visit(&job, from, job.leaves).await),
        levels => Some(visit_published(&job, from, job.leaves, levels).await),
    };
    let whole = match (first, others) {
        (Some(first), Some(others)) => job.consumer.join(first, others),
        (first, others) => first.or(others).expect("a traversal has leaves"),
    };
    let Job { iterator, consumer, .. } = job;
    // Dropped before the consumer, which may own its memory, if the drop of the iterator panics.
    let whole = whole;
    drop(iterator);
    consumer.finish(whole)
}

/// The least number of indices of a traversal that publishes parts at once, unless its leaves have one index each.
const PUBLISHED: usize = 4096;

/// Returns how many times a traversal of the leaves from `first` on is halved, each time with a ready frame for one half, before
/// it begins: so that each worker finds a part at once. Otherwise an idle worker would have to ask, which it does every 50
/// microseconds to 1 millisecond: too seldom for a traversal of a million short items, and too late for one of a few long items, the
/// first of which would have begun.
fn published_levels<I, C>(job: &Job<I, C>, first: usize) -> u32 {
    let leaves = job.leaves - first;
    if leaves == 0 || job.span < PUBLISHED && job.leaf_len > 1 {
        return 0;
    }
    // SAFETY: called in a task, on a worker; used at once.
    let workers = unsafe { cx() }.core().workers.get();
    workers.next_power_of_two().ilog2().min(leaves.ilog2())
}

/// Visits leaves, of which there are at least two to the power of `levels`, which is not 0.
#[task(pinned)]
async fn visit_published<I: ParallelIterator, C: Consumer<I::Item>>(
    job: &Job<I, C>,
    first: usize,
    end: usize,
    levels: u32,
) -> C::Part {
    let middle = first + (end - first) / 2;
    let (left, right) = if levels == 1 {
        published(visit(job, first, middle), visit(job, middle, end)).await
    } else {
        let low = visit_published(job, first, middle, levels - 1);
        published(low, visit_published(job, middle, end, levels - 1)).await
    };
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
    if let Some(nothing) = job.consumer.skip(first) {
        return nothing;
    }
    if end - first <= job.block {
        let (part, next) = job.block(first, end);
        if next == end {
            return part;
        }
        let others = (next..end).map(move |number| visit_one(job, number));
        return reduce(others, part, |left, right| job.consumer.join(left, right)).await;
    }
    let middle = first + (end - first) / 2;
    let (left, right) = join!(visit(job, first, middle), visit(job, middle, end));
    job.consumer.join(left, right)
}

#[task]
async fn visit_one<I: ParallelIterator, C: Consumer<I::Item>>(job: &Job<I, C>, number: usize) -> C::Part {
    job.block(number, number + 1).0
}
