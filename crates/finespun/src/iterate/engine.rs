//! The engine of loops that have become frames.
//!
//! Three loops run tasks and wait for those that suspend: `join_all` and `reduce` ([`many`](super::many)), a part of a
//! group, and the calls of an array's elements at one node. A [`Loop`] knows its tasks, their values and their order;
//! the engine decides when it runs tasks, splits, takes in results and waits. A loop is in one of these states:
//!
//! ```text
//!               asks for its turn                        no task is left to begin
//!   WAITS FOR <------------------- RUNS ------------------------------> WAITS FOR ITS CHILDREN --> ended
//!   ITS TURN  ------------------->  ^                                        |
//!               the turn has run    +----------------------------------------+
//!                                      an event for which the loop must act
//! ```
//!
//! **Splitting.** When the stack is unwound to frames while tasks are left to begin, the loop may make some of them
//! ready for thieves. If it keeps some, it asks for a *turn*, a ready frame without work, and continues after it. It
//! must not wait for its children first: they may wait for tasks that it has not begun. On an unwinding stack no result
//! is taken in, since that may run user code: the loop registers for all children, ended or not.
//!
//! **Cancellation.** A loop that waits for its turn becomes ready while children are outstanding, which may borrow from
//! it. So the `cancel` of its vtable gives up the tasks not begun, destroys the children that have ended, and waits for
//! the others.
//!
//! **Panics.** No method of a loop unwinds but [`finish`](Loop::finish), which is called when no child is outstanding.
//! Until then the loop keeps one panic: the first in its order, or for a group or an array, the first that it learns
//! of.

use std::future::{Future, Ready, ready};
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};

use crate::call::located::Located;
use crate::call::outcome::Child;
use crate::call::yielding::YieldNow;
use crate::frame::context::{Cx, cx};
use crate::frame::{BodyFrame, FrameRef, Polled, VTable, cancel};
use crate::run::membership::Inside;
use crate::run::settle;

/// A loop over tasks, as the engine runs it.
pub(crate) trait Loop {
    /// The loop's result.
    type Output;
    /// Called first whenever the loop's frame runs. If the frame is outside the tasks' group, enters that group until
    /// the result is dropped.
    fn begin(&mut self, _: Cx) -> Option<Inside<'static>> {
        None
    }
    /// Runs tasks until one suspends or panics, or enough have run to look at the results. Returns whether tasks are
    /// left and should run; false also if it has asked for a turn.
    fn stretch(&mut self, cx: Cx, turn: &mut Turn) -> bool;
    /// Called while the stack is unwound to frames. May make some of the tasks ready for thieves. Asks for a turn if
    /// tasks are left.
    fn hand_over(&mut self, cx: Cx, turn: &mut Turn);
    /// Gives up the tasks that have not begun.
    fn stop(&mut self);
    /// Takes in the results of children that have ended, as far as the loop's order allows.
    fn collect(&mut self);
    /// Destroys the children that have ended, since the loop has been cancelled.
    fn discard(&mut self);
    /// Registers a wait for each child; with `look`, may skip those that have ended. Returns whether it has registered
    /// any.
    fn wait(&mut self, cx: Cx, look: bool) -> bool;
    /// Returns the loop's result or resumes its panic. Called once, when no child is outstanding.
    fn finish(&mut self, cx: Cx) -> Self::Output;
}

/// The turn that a loop waits for, if any. Its completion resumes the loop.
pub(crate) struct Turn(Option<Child<YieldNow>>);

/// A turn's table: `inner`, so `on_child_complete` ignores the turn.
const TURN: &VTable = &VTable { inner: true, ..*BodyFrame::<Ready<()>>::VTABLE };
/// The table of a turn at one node.
const LOCATED_TURN: &VTable = &VTable { inner: true, ..*Located::<Ready<()>>::TABLE };

impl Turn {
    /// Makes a turn ready. While unwinding, frames that this unwinding made ready earlier run before it (after a
    /// quantum, all but the first); otherwise frames made ready later do.
    pub(crate) fn ask(&mut self, cx: Cx) {
        let turn = BodyFrame::with_table(cx, ready(()), TURN);
        cx.make_ready(turn);
        self.0 = Some(Child::new(turn));
    }

    /// The same for a loop that runs at the current node only: no thief can take its turn.
    pub(crate) fn ask_here(&mut self, cx: Cx) {
        let turn = BodyFrame::with_table(cx, Located::here(cx, ready(())), LOCATED_TURN);
        cx.make_ready(turn);
        self.0 = Some(Child::new(turn));
    }

    /// Registers the loop's wait for its turn, if it has asked for one. Returns whether it has.
    fn wait(&self, cx: Cx) -> bool {
        self.0.as_ref().inspect(|turn| cx.wait_for(turn.frame())).is_some()
    }
}

/// The body of a loop's frame.
pub(crate) struct Engine<L> {
    pub(crate) of: L,
    turn: Turn,
}

impl<L> Unpin for Engine<L> {}

impl<L: Loop> Engine<L> {
    /// The table of a loop's frame.
    pub(crate) const TABLE: &'static VTable = &VTable { cancel: Self::cancel_frame, ..*BodyFrame::<Self>::VTABLE };
    /// The table of a loop's frame that runs at one node only.
    pub(crate) const LOCATED: &'static VTable = &VTable { cancel: Self::cancel_located, ..*Located::<Self>::TABLE };

    pub(crate) fn new(of: L) -> Engine<L> {
        Engine { of, turn: Turn(None) }
    }

    /// Runs the loop. Returns `Ready` when no task is left to begin and no child is outstanding.
    pub(crate) fn run(&mut self, cx: Cx) -> Poll<()> {
        self.turn = Turn(None);
        let inside = self.of.begin(cx);
        if cx.leaving() {
            self.of.hand_over(cx, &mut self.turn);
        } else {
            self.go_on(cx);
        }
        drop(inside);
        if self.turn.wait(cx) {
            return Poll::Pending;
        }
        let look = !cx.leaving();
        if look {
            self.of.collect();
        }
        if self.of.wait(cx, look) { Poll::Pending } else { Poll::Ready(()) }
    }

    fn go_on(&mut self, cx: Cx) {
        cx.send_pending_call();
        while self.of.stretch(cx, &mut self.turn) {
            if cx.leaving() {
                return self.of.hand_over(cx, &mut self.turn);
            }
        }
        if self.turn.0.is_none() {
            self.of.stop();
        }
    }

    /// Cancels the loop, because its group has been terminated or its run cancelled. Returns `Ready` when no child is
    /// outstanding.
    pub(crate) fn cancel(&mut self, cx: Cx) -> Poll<()> {
        self.turn = Turn(None);
        self.of.stop();
        self.of.discard();
        if self.of.wait(cx, true) { Poll::Pending } else { Poll::Ready(()) }
    }

    /// Called after tasks of a loop that has not run, or is about to run again, have been sent to another process, and are
    /// its children: lets the loop wait for its children or, if it has `more` tasks, for its turn.
    ///
    /// # Safety
    /// `frame` is the loop's, is ready, and no other code could run it.
    pub(crate) unsafe fn wait_in(frame: FrameRef, cx: Cx, more: bool) {
        // SAFETY: the caller guarantees that it alone could run the frame, whose body is live.
        let engine = unsafe { BodyFrame::<Self>::body(frame).as_mut() };
        engine.turn = Turn(None);
        if more {
            engine.turn.ask(cx);
            engine.turn.wait(cx);
        } else {
            engine.of.wait(cx, false);
        }
        // SAFETY: the body waits, as if a poll had just returned pending, and no other code could run the frame.
        unsafe { settle(cx, frame) };
    }

    unsafe fn cancel_frame(frame: FrameRef, cx: Cx) -> Polled {
        // SAFETY: the worker's loop runs a frame exclusively, and the body is live.
        let polled = unsafe { BodyFrame::<Self>::body(frame).as_mut() }.cancel(cx);
        // SAFETY: the caller guarantees that it alone runs the frame.
        unsafe { cancelled(polled, frame, cx) }
    }

    unsafe fn cancel_located(frame: FrameRef, cx: Cx) -> Polled {
        // SAFETY: the worker's loop runs a frame exclusively, and the body is live.
        let polled = unsafe { Located::<Self>::body(frame) }.cancel(cx);
        // SAFETY: the caller guarantees that it alone runs the frame.
        unsafe { cancelled(polled, frame, cx) }
    }
}

/// Cancels the frame of a loop whose cancellation has returned `polled`.
///
/// # Safety
/// As for [`cancel`](crate::frame::cancel), unless `polled` is pending.
unsafe fn cancelled(polled: Poll<()>, frame: FrameRef, cx: Cx) -> Polled {
    if polled.is_pending() {
        return Poll::Pending;
    }
    // SAFETY: the caller guarantees that it alone runs the frame, whose body is live. No child is outstanding.
    unsafe { cancel(frame, cx) }
}

impl<L: Loop> Future for Engine<L> {
    type Output = L::Output;

    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<L::Output> {
        // SAFETY: a body is polled by a worker; used within this poll.
        let cx = unsafe { cx() };
        self.run(cx).map(|()| self.of.finish(cx))
    }
}
