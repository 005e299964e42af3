//! The loop of `join_all` or `reduce` after its fallback: its pending children, the values kept until the sink may take
//! them, and the batches of tasks handed over to thieves.

use std::cell::Cell;
use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::vec;

use super::{BATCH, BATCH_BYTES, Many, Sink, Value};
use crate::call::elsewhere::Several;
use crate::call::outcome::Child;
use crate::call::{Task, call_guarded};
use crate::frame::context::Cx;
use crate::frame::origin::pack;
use crate::frame::{BodyFrame, FrameRef, Payload, VTable, drop_quietly};
use crate::iterate::engine::{Engine, Loop, Turn};

/// A loop with fewer tasks is handed over as a whole.
const SHORT: usize = 64;

/// Tasks handed over in one frame: a loop of its own.
pub(super) type Batch<Tk> = Many<vec::IntoIter<Tk>, Several<<Tk as Task>::Output>>;

/// The sink of a batch. The loop's operator sees the values before the panic, and may itself be the first to panic.
impl<V> Sink<V> for Several<V> {
    type Output = Several<V>;
    fn put(&mut self, value: V) {
        self.values.push(value);
    }
    fn finish(self) -> Several<V> {
        self
    }
    fn keep(&mut self, payload: Payload) -> Result<(), Payload> {
        self.panic.set(Some(payload));
        Ok(())
    }
}

/// A pending child, or a result kept until the sink may take it. Two words, since a loop may have a million pieces.
#[expect(clippy::box_collection, reason = "the vectors are few and the pieces many")]
pub(super) enum Piece<Tk: Task> {
    One(Child<Tk>),
    Batch(Child<Batch<Tk>>),
    /// The values of consecutive tasks.
    Values(Box<Vec<Tk::Output>>),
    Panicked(Box<Payload>),
}

impl<Tk: Task> Piece<Tk> {
    /// Returns whether the piece has ended: the sink may take it once it is the first piece.
    fn ended(&self) -> bool {
        match self {
            Piece::One(child) => child.ended(),
            Piece::Batch(child) => child.ended(),
            Piece::Values(_) | Piece::Panicked(_) => true,
        }
    }

    /// Registers a wait for the piece's child, if it has one, unless `look` is set and the child has ended. Returns
    /// whether it registered a wait.
    fn wait(&self, cx: Cx, look: bool) -> bool {
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

    /// Puts the piece's values into the sink, or resumes its panic.
    fn put_into<S: Sink<Tk::Output>>(self, sink: &mut S) {
        match self {
            Piece::One(child) => sink.put(child.value()),
            Piece::Batch(child) => {
                let Several { values, panic } = child.value();
                values.into_iter().for_each(|value| sink.put(value));
                if let Some(payload) = panic.into_inner() {
                    payload.resume();
                }
            }
            Piece::Values(values) => values.into_iter().for_each(|value| sink.put(value)),
            Piece::Panicked(payload) => payload.resume(),
        }
    }
}

/// The loop after its fallback.
pub(super) struct Rest<I: Iterator<Item: Task>, S> {
    /// The tasks that have not begun.
    tasks: Option<I>,
    sink: Option<S>,
    /// The pieces in order, from the first whose value the sink has not seen.
    pieces: VecDeque<Piece<I::Item>>,
    /// The most tasks that the next batch may hold.
    batch: usize,
    /// The first panic, kept until no child is pending.
    panic: Option<Payload>,
}

impl<I, S> Rest<I, S>
where
    I: Iterator,
    I::Item: Task,
    S: Sink<Value<I>>,
{
    /// The most tasks that a batch takes out of the iterator.
    const MOST: usize = {
        let fit = BATCH_BYTES / if size_of::<I::Item>() == 0 { 1 } else { size_of::<I::Item>() };
        if fit == 0 { 1 } else { fit }
    };

    pub(super) fn new(tasks: Option<I>, sink: S, pieces: VecDeque<Piece<I::Item>>) -> Self {
        Rest { tasks, sink: Some(sink), pieces, batch: BATCH.min(Self::MOST), panic: None }
    }

    /// Runs user code while a child may be pending. Keeps its panic, which ends the loop.
    fn guarded<R>(&mut self, body: impl FnOnce(&mut Self) -> R) -> Option<R> {
        match catch_unwind(AssertUnwindSafe(|| body(self))) {
            Ok(done) => Some(done),
            Err(payload) => {
                self.panicked(pack(payload));
                None
            }
        }
    }

    /// Hands over as many tasks as `most` says, as a batch. Returns whether more may be left.
    fn hand_over_some(&mut self, cx: Cx, most: impl FnOnce(&I) -> usize) -> bool {
        let Some(tasks) = &mut self.tasks else { return false };
        let mut batch = Vec::new();
        let filled = catch_unwind(AssertUnwindSafe(|| {
            let most = most(tasks);
            batch.extend(tasks.by_ref().take(most));
            most
        }));
        let more = matches!(filled, Ok(most) if batch.len() == most);
        if !batch.is_empty() {
            let frame = start_all(cx, batch);
            self.pieces.push_back(Piece::Batch(Child::new(frame)));
        }
        if let Err(payload) = filled {
            self.pieces.push_back(Piece::Panicked(Box::new(pack(payload))));
        }
        more
    }

    fn panicked(&mut self, payload: Payload) {
        match self.panic {
            None => self.panic = Some(payload),
            Some(_) => drop(payload),
        }
    }
}

impl<I, S> Loop for Rest<I, S>
where
    I: Iterator,
    I::Item: Task,
    S: Sink<Value<I>>,
{
    type Output = S::Output;

    /// Runs at most [`BATCH`] tasks.
    fn stretch(&mut self, cx: Cx, _: &mut Turn) -> bool {
        /// The origin of a panic.
        enum At {
            Task,
            Sink,
        }
        self.collect();
        if self.panic.is_some() {
            return false;
        }
        let (Some(tasks), Some(sink)) = (&mut self.tasks, &mut self.sink) else { return false };
        // The values go directly into the sink if no earlier piece is left.
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
                cx.send_pending_call();
                self.pieces.push_back(Piece::One(child));
                return true;
            }
            Err(payload) if matches!(at, At::Sink) => self.panicked(pack(payload)),
            // The panic counts only after the earlier pieces have ended, one of which may have panicked first. Later
            // tasks need not run any more.
            Err(payload) => self.pieces.push_back(Piece::Panicked(Box::new(pack(payload)))),
        }
        false
    }

    /// Hands over a batch.
    fn hand_over(&mut self, cx: Cx, turn: &mut Turn) {
        let start = cx.core().scheduler().now();
        if self.tasks.is_none() {
            return;
        }
        let batch = self.batch;
        let mut more = self.hand_over_some(cx, |tasks| {
            let (low, high) = tasks.size_hint();
            high.unwrap_or(low.max(batch)).div_ceil(2).clamp(1, batch)
        });
        self.batch = (batch * 2).min(Self::MOST);
        if more && I::Item::ELSEWHERE.is_some() {
            // What is left of a short loop becomes a batch, too, since another process may take it.
            let all =
                |tasks: &I| tasks.size_hint().1.filter(|most| *most < SHORT.min(Self::MOST)).map_or(0, |most| most + 1);
            more = self.hand_over_some(cx, all);
        }
        let scheduler = cx.core().scheduler();
        scheduler.exclude_from_pause(scheduler.now() - start);
        if !more {
            return self.stop();
        }
        turn.ask(cx);
    }

    /// Drops the iterator of tasks. This runs user code, whose panic comes after those of all tasks.
    fn stop(&mut self) {
        let tasks = self.tasks.take();
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| drop(tasks))) {
            self.pieces.push_back(Piece::Panicked(Box::new(pack(payload))));
        }
    }

    /// Puts the values of the pieces into the sink, in order, up to the first piece that has not ended.
    fn collect(&mut self) {
        while self.panic.is_none() && self.pieces.front().is_some_and(Piece::ended) {
            self.guarded(|rest| {
                if let (Some(piece), Some(sink)) = (rest.pieces.pop_front(), &mut rest.sink) {
                    piece.put_into(sink);
                }
            });
        }
    }

    fn discard(&mut self) {
        for piece in std::mem::take(&mut self.pieces) {
            if piece.ended() {
                drop_quietly(piece);
            } else {
                self.pieces.push_back(piece);
            }
        }
    }

    fn wait(&mut self, cx: Cx, look: bool) -> bool {
        let mut any = false;
        for piece in &self.pieces {
            any |= piece.wait(cx, look);
        }
        any
    }

    fn finish(&mut self, _: Cx) -> S::Output {
        self.collect();
        if let (Some(payload), Some(sink)) = (self.panic.take(), &mut self.sink) {
            if let Err(payload) = sink.keep(payload) {
                payload.resume();
            }
            // Values after the panic are dropped, and panics of their destructors discarded.
            self.pieces.drain(..).for_each(drop_quietly);
        }
        match self.sink.take() {
            Some(sink) => sink.finish(),
            None => unreachable!("a loop was polled after it had ended"),
        }
    }
}

/// A batch as a loop. It is a `Rest` from the start, because a `Rest` catches its tasks' panics.
type OfBatch<Tk> = Engine<Rest<vec::IntoIter<Tk>, Several<<Tk as Task>::Output>>>;

/// Makes a ready frame that runs the tasks in order.
pub(crate) fn start_all<Tk: Task>(cx: Cx, tasks: Vec<Tk>) -> FrameRef {
    let sink = Several { values: Vec::with_capacity(tasks.len()), panic: Cell::new(None) };
    let body = Rest::new(Some(tasks.into_iter()), sink, VecDeque::new());
    let frame = BodyFrame::with_table(cx, OfBatch::<Tk>::new(body), OfBatch::<Tk>::BATCH);
    cx.make_ready(frame);
    frame
}

impl<Tk: Task> OfBatch<Tk> {
    const BATCH: &'static VTable = match Tk::ELSEWHERE {
        Some(_) => &VTable { migrate: Some(Self::migrate), ..*Self::TABLE },
        None => Self::TABLE,
    };

    /// Implements [`VTable::migrate`]: sends the tasks that have not begun.
    unsafe fn migrate(frame: FrameRef, cx: Cx, to: u32) -> usize {
        // SAFETY: the caller guarantees that the frame is ready, so its body is live, and that it alone could run it.
        let rest = &mut unsafe { BodyFrame::<Self>::body(frame).as_mut() }.of;
        let Some(elsewhere) = Tk::ELSEWHERE else { return 0 };
        let tasks = match rest.tasks.take() {
            Some(tasks) if rest.panic.is_none() && tasks.len() > 0 => tasks,
            other => {
                rest.tasks = other;
                return 0;
            }
        };
        let count = tasks.len();
        match (elsewhere.many)(cx, to, tasks.collect()).open::<Batch<Tk>>() {
            Ok(_) => unreachable!("the frame waits in any case"),
            Err(child) => rest.pieces.push_back(Piece::Batch(child)),
        }
        // SAFETY: as above.
        unsafe { Self::wait_in(frame, cx, false) };
        count
    }
}
