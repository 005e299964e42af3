//! Giving way: `yield_now` and `checkpoint`.

use std::future::ready;

use super::call::{Task, sealed};
use super::context::{Cx, Verdict};
use super::frame::BodyFrame;
use super::outcome::Outcome;

/// Lets all other ready tasks go first: the calling task becomes a frame and goes to the back of the queue.
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

/// Checks the guard: thieves, the quantum and cancellation are served here if they ask, else this costs one compare.
/// For long loops that await nothing else.
pub fn checkpoint() -> Checkpoint {
    Checkpoint(())
}

/// The task that [`checkpoint`] makes.
#[must_use = "a task does nothing until it is awaited"]
pub struct Checkpoint(());

impl sealed::Sealed for Checkpoint {}
impl Task for Checkpoint {
    type Output = ();
    const STRAIGHT: bool = false;

    #[inline(always)]
    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        if cx.trips() && cx.tripped() != Verdict::Stay {
            return Outcome::suspended(self.start(cx));
        }
        // SAFETY: the call protocol.
        unsafe { Outcome::done(()) }
    }
}
