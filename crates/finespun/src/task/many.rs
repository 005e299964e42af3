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

use std::collections::VecDeque;
use std::future::{Future, ready};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};
use std::time::Instant;
use std::vec;

use super::call::{Task, call_guarded, delivered, poll_in_place, sealed};
use super::context::{Cx, Verdict, cx};
use super::frame::{BodyFrame, FrameRef, Payload, VTable, discard, quietly};
use super::origin::pack;
use super::outcome::{Child, Outcome};
use super::slot::Status;
use super::words::Parcel;
use super::yielding::YieldNow;

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
        match self.value {
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
    Many { tasks: tasks.into_iter(), sink: Fold { value: Some(identity), op } }
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

/// Tasks handed over in one frame.
type Batch<Tk> = Many<vec::IntoIter<Tk>, Kept<<Tk as Task>::Output>>;

/// What the tasks of a batch delivered, up to the first that panicked: the loop's operator sees the values before that
/// first, and may itself be the first to panic.
struct Kept<V> {
    values: Vec<V>,
    panic: Option<Payload>,
}

impl<V> Sink<V> for Kept<V> {
    type Output = Kept<V>;
    fn put(&mut self, value: V) {
        self.values.push(value);
    }
    fn finish(self) -> Kept<V> {
        self
    }
    fn keep(&mut self, payload: Payload) -> Result<(), Payload> {
        self.panic = Some(payload);
        Ok(())
    }
}

/// What is out, or kept until its turn: two words, of which a loop may have a million.
#[expect(clippy::box_collection, reason = "the vectors are few and the pieces many")]
enum Piece<Tk: Task> {
    One(Child<Tk>),
    Batch(Child<Batch<Tk>>),
    /// Of tasks that ended in a row.
    Values(Box<Vec<Tk::Output>>),
    Panicked(Box<Payload>),
}

impl<Tk: Task> Piece<Tk> {
    /// Whether its turn may come.
    fn ended(&self) -> bool {
        match self {
            Piece::One(child) => child.ended(),
            Piece::Batch(child) => child.ended(),
            Piece::Values(_) | Piece::Panicked(_) => true,
        }
    }

    /// Waits for it, unless it may be `look`ed at and has ended; whether it waits.
    fn still_out(&self, cx: Cx, look: bool) -> bool {
        let frame = match self {
            Piece::One(child) => child.frame(),
            Piece::Batch(child) => child.frame(),
            Piece::Values(_) | Piece::Panicked(_) => return false,
        };
        let out = !(look && self.ended());
        if out {
            cx.wait_for(frame);
        }
        out
    }

    /// Its turn has come.
    fn put_into<S: Sink<Tk::Output>>(self, sink: &mut S) {
        match self {
            Piece::One(child) => sink.put(delivered(child)),
            Piece::Batch(child) => {
                let Kept { values, panic } = delivered(child);
                values.into_iter().for_each(|value| sink.put(value));
                if let Some(payload) = panic {
                    resume_unwind(payload);
                }
            }
            Piece::Values(values) => values.into_iter().for_each(|value| sink.put(value)),
            Piece::Panicked(payload) => resume_unwind(*payload),
        }
    }
}

/// The loop after its fallback.
struct Rest<I: Iterator<Item: Task>, S> {
    /// The tasks not begun.
    tasks: Option<I>,
    sink: Option<S>,
    /// In order, from the first whose value the sink has not seen.
    pieces: VecDeque<Piece<I::Item>>,
    /// How many tasks the next split may hand over.
    batch: usize,
    /// The loop is ready to go on with `tasks`, and waits for its turn only.
    turn: Option<Child<YieldNow>>,
    /// The first panic, kept until nothing is out.
    panic: Option<Payload>,
}

impl<I: Iterator<Item: Task>, S> Unpin for Rest<I, S> {}

impl<I, S> Rest<I, S>
where
    I: Iterator,
    I::Item: Task,
    S: Sink<Value<I>>,
{
    /// The most tasks that any split takes out of the iterator.
    const MOST: usize = {
        let fit = BATCH_BYTES / if size_of::<I::Item>() == 0 { 1 } else { size_of::<I::Item>() };
        if fit == 0 { 1 } else { fit }
    };

    fn new(tasks: Option<I>, sink: S, pieces: VecDeque<Piece<I::Item>>) -> Self {
        Rest { tasks, sink: Some(sink), pieces, batch: BATCH.min(Self::MOST), turn: None, panic: None }
    }

    /// A loop can be ready, to go on with its tasks, while some are out: it is destroyed when they have ended.
    const TABLE: &'static VTable = &VTable { cancel: Self::cancel, ..*BodyFrame::<Self>::VTABLE };

    unsafe fn cancel(frame: FrameRef, cx: Cx) -> Poll<Status> {
        // SAFETY: the worker loop runs a frame exclusively.
        let rest = unsafe { BodyFrame::<Self>::body(frame).as_mut() };
        rest.turn = None;
        rest.guarded(|rest| rest.tasks = None);
        let mut out = false;
        for piece in &rest.pieces {
            out |= piece.still_out(cx, true);
        }
        if out {
            return Poll::Pending;
        }
        // SAFETY: passed on; nothing is out.
        unsafe { BodyFrame::<Self>::cancel(frame, cx) }
    }

    /// Runs user code while something may be out: a panic is kept, and ends the loop.
    fn guarded<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> Option<R> {
        match catch_unwind(AssertUnwindSafe(|| body(self))) {
            Ok(done) => Some(done),
            Err(payload) => {
                self.panicked(pack(payload));
                None
            }
        }
    }

    fn panicked(&mut self, payload: Payload) {
        match self.panic {
            None => self.panic = Some(payload),
            Some(_) => discard(payload),
        }
    }

    /// Puts the values whose turn has come into the sink.
    fn drain(&mut self) {
        while self.panic.is_none() && self.pieces.front().is_some_and(Piece::ended) {
            self.guarded(|rest| {
                if let (Some(piece), Some(sink)) = (rest.pieces.pop_front(), &mut rest.sink) {
                    piece.put_into(sink);
                }
            });
        }
    }

    /// The stack is being given up: hands over a batch, and asks for another turn if there is more.
    fn hand_over(&mut self, cx: Cx) {
        let start = Instant::now();
        let Some(tasks) = &mut self.tasks else { return };
        let mut batch = Vec::new();
        let filled = catch_unwind(AssertUnwindSafe(|| {
            let (low, high) = tasks.size_hint();
            let half = high.unwrap_or(low.max(self.batch)).div_ceil(2).clamp(1, self.batch);
            batch.reserve(half);
            batch.extend(tasks.by_ref().take(half));
            half
        }));
        self.batch = (self.batch * 2).min(Self::MOST);
        cx.context().scheduler().handed_over(start.elapsed());
        let more = matches!(filled, Ok(half) if batch.len() == half);
        if !batch.is_empty() {
            let sink = Kept { values: Vec::with_capacity(batch.len()), panic: None };
            // From the start as what a loop is after its fallback, which catches its tasks' panics.
            let body = Rest::new(Some(batch.into_iter()), sink, VecDeque::new());
            let frame = BodyFrame::with_table(cx, body, Rest::<vec::IntoIter<I::Item>, Kept<Value<I>>>::TABLE);
            cx.make_ready(frame);
            self.pieces.push_back(Piece::Batch(Child::new(frame)));
        }
        if let Err(payload) = filled {
            self.pieces.push_back(Piece::Panicked(Box::new(pack(payload))));
        }
        if !more {
            return self.end();
        }
        let turn = BodyFrame::make(cx, ready(()));
        cx.make_ready(turn);
        self.turn = Some(Child::new(turn));
    }

    /// No more tasks. Dropping the iterator is user code as well, and comes behind all tasks.
    fn end(&mut self) {
        let tasks = self.tasks.take();
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(tasks))) {
            self.pieces.push_back(Piece::Panicked(Box::new(pack(payload))));
        }
    }

    /// Runs tasks in a row, at most [`BATCH`], until one suspends; whether there are more.
    fn stretch(&mut self, cx: Cx) -> bool {
        /// Whose panic it is.
        enum At {
            Task,
            Sink,
        }
        let (Some(tasks), Some(sink)) = (&mut self.tasks, &mut self.sink) else { return false };
        // Straight into the sink, if nothing comes before these.
        let ahead = !self.pieces.is_empty();
        let mut values = Vec::new();
        let mut at = At::Task;
        let mut run = 0;
        let ended = catch_unwind(AssertUnwindSafe(|| {
            tasks.by_ref().take(BATCH).try_for_each(|task| {
                run += 1;
                // SAFETY: `cx` is the current worker's; a child is kept and waited for.
                let value = unsafe { call_guarded(cx, task) }.open()?;
                at = At::Sink;
                if ahead {
                    values.push(value)
                } else {
                    sink.put(value)
                }
                at = At::Task;
                Ok(())
            })
        }));
        if !values.is_empty() {
            self.pieces.push_back(Piece::Values(Box::new(values)));
        }
        match ended {
            Ok(Ok(())) => return run == BATCH,
            Ok(Err(child)) => {
                self.pieces.push_back(Piece::One(child));
                return true;
            }
            Err(payload) if matches!(at, At::Sink) => self.panicked(pack(payload)),
            // Its turn comes when those before it have ended: one of them may have panicked first. What would come
            // behind it does not matter any more.
            Err(payload) => self.pieces.push_back(Piece::Panicked(Box::new(pack(payload)))),
        }
        false
    }

    /// Begins the tasks that are left, or hands some over when the stack is being given up.
    fn go_on(&mut self, cx: Cx) {
        while self.panic.is_none() && self.stretch(cx) {
            if cx.leaving() {
                return self.hand_over(cx);
            }
            self.drain();
        }
        self.end();
    }
}

impl<I, S> Future for Rest<I, S>
where
    I: Iterator,
    I::Item: Task,
    S: Sink<Value<I>>,
{
    type Output = S::Output;

    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<S::Output> {
        // SAFETY: a body is polled by a worker; used within this poll.
        let cx = unsafe { cx() };
        let rest = &mut *self;
        rest.turn = None;
        if cx.leaving() {
            // Nothing is taken in: the sink's operator would run on the stack that is being given up.
            rest.hand_over(cx);
        } else {
            rest.drain();
            rest.go_on(cx);
        }
        let look = !cx.leaving();
        if let Some(turn) = &rest.turn {
            cx.wait_for(turn.frame());
            return Poll::Pending;
        }
        let mut out = false;
        for piece in &rest.pieces {
            out |= piece.still_out(cx, look);
        }
        if out {
            return Poll::Pending;
        }
        rest.drain();
        if let (Some(payload), Some(sink)) = (rest.panic.take(), &mut rest.sink) {
            if let Err(payload) = sink.keep(payload) {
                resume_unwind(payload);
            }
            // What came behind the panic: nor does anybody see its destructors' panics.
            rest.pieces.drain(..).for_each(|piece| quietly(|| drop(piece)));
        }
        match rest.sink.take() {
            Some(sink) => Poll::Ready(sink.finish()),
            None => unreachable!("a loop was polled after it had ended"),
        }
    }
}
