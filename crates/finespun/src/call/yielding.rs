//! Yielding: `yield_now` and `checkpoint`.

use std::future::ready;
use std::ops::ControlFlow;

use super::outcome::Outcome;
use super::{Task, sealed};
use crate::frame::context::{Cx, Verdict, try_cx};
use crate::frame::{BodyFrame, FrameRef};

/// Lets other ready tasks run first: the calling task waits for a frame at the back of the queue that all workers
/// share.
pub fn yield_now() -> YieldNow {
    YieldNow(())
}

/// The task that [`yield_now`] makes.
#[must_use = "a task does nothing until it is awaited"]
pub struct YieldNow(());

impl sealed::Sealed for YieldNow {}
impl Task for YieldNow {
    type Output = ();
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        let turn = BodyFrame::make(cx, ready(()));
        cx.make_ready_last(turn);
        Outcome::suspended(turn)
    }
}

/// Checks the guard: services pending requests (a thief's, the quantum, a cancellation), and otherwise costs one
/// compare. For long loops that await nothing else.
pub fn checkpoint() -> Checkpoint {
    Checkpoint(())
}

/// The task that [`checkpoint`] makes.
#[must_use = "a task does nothing until it is awaited"]
pub struct Checkpoint(());

impl Checkpoint {
    /// Checks the guard from plain code, which cannot wait. Returns `Break` if the current group has been terminated or
    /// the run cancelled: then the caller should return, since its result is not used. Other requests stay pending.
    ///
    /// ```
    /// use finespun::prelude::*;
    /// use std::ops::ControlFlow;
    ///
    /// fn longest_run(numbers: &[u64]) -> ControlFlow<(), usize> {
    ///     let (mut best, mut run) = (0, 0);
    ///     for pair in numbers.windows(2) {
    ///         checkpoint().now()?;
    ///         run = if pair[0] == pair[1] { run + 1 } else { 0 };
    ///         best = best.max(run + 1);
    ///     }
    ///     ControlFlow::Continue(best)
    /// }
    ///
    /// #[task]
    /// async fn repeats(numbers: &[u64], k: usize) -> ControlFlow<()> {
    ///     // The first activity that finds three in a row ends the search of all.
    ///     if longest_run(&numbers[k..])? > 2 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    /// }
    ///
    /// #[task]
    /// async fn any_repeats(numbers: &[u64]) -> bool {
    ///     parfor(0..numbers.len(), |k| repeats(numbers, k)).await.is_break()
    /// }
    /// # let runtime = Runtime::builder().workers(1).build().unwrap();
    /// assert!(runtime.run(any_repeats(&[1, 1, 2, 2, 2, 3])));
    /// ```
    #[inline]
    pub fn now(self) -> ControlFlow<()> {
        match try_cx() {
            Some(cx) if cx.trips() && cx.is_terminated() => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        }
    }
}

impl sealed::Sealed for Checkpoint {}
impl Task for Checkpoint {
    type Output = ();
    const STRAIGHT: bool = false;

    #[inline(always)]
    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        if cx.trips() && cx.tripped() != Verdict::Stay {
            return Outcome::suspended(self.start(cx));
        }
        // SAFETY: returned as this call's outcome, as the call protocol requires.
        unsafe { Outcome::done(()) }
    }

    /// Makes an empty ready frame. It does not check the guard again: under block-every-n that would make another
    /// frame.
    fn start(self, cx: Cx) -> FrameRef {
        let turn = BodyFrame::make(cx, ready(()));
        cx.make_ready(turn);
        turn
    }
}
