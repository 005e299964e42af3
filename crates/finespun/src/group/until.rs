//! A task that a function ends from outside: the base of timeouts and of `abortable`.
//!
//! The task and a wait are the two activities of a group, whose first to end ends the group. The wait is a leaf, so the
//! thread that completes it terminates the group itself (`Part::on_child_complete`): a task that computes is stopped at its
//! next guard check, although no worker is free to run anything else.

use std::ops::ControlFlow;

use super::parblock;
use crate::call::outcome::Outcome;
use crate::call::{Task, map_outcome, sealed};
use crate::cancel::teams;
use crate::frame::CallSite;
use crate::frame::context::{Cx, try_cx};
use crate::run::continuation::Continuation;
use crate::wait::suspend::suspend_at;

/// The function that stops the task, unless the task has ended. Its owner drops it after the end of the task: dropped before,
/// it ends the task with a panic.
pub(crate) type Stop = Box<dyn FnOnce() + Send>;

/// The reason why a task has no value: it was stopped.
pub(crate) struct Stopped;

/// The code that may call the function, for deadlock detection.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Stopper {
    /// A task, or a thread that has declared itself: deadlocks are reported while the task can be stopped.
    Inside,
    /// Something outside the tasks, which will call the function: no deadlock is reported until then.
    Outside,
}

/// How the activities end their group.
type Ended<T> = ControlFlow<Result<T, Stopped>, ()>;

/// Calls `task`. Once the task waits, or has run for its quantum, passes the function that stops it to `stop`. Returns after
/// everything beneath the task has ended, with what `after` makes of the result. If the caller is cancelled, `after` is
/// dropped at that time.
///
/// # Safety
/// As [`crate::call::call`].
pub(crate) unsafe fn call_until<Tk, T>(
    cx: Cx,
    task: Tk,
    place: CallSite,
    stopper: Stopper,
    stop: impl FnOnce(Stop) + Send,
    after: impl FnOnce(Result<Tk::Output, Stopped>) -> T,
) -> Outcome<T>
where
    Tk: Task + Send,
    Tk::Output: Send,
{
    let wait = suspend_at(place, move |k: Continuation<Ended<Tk::Output>>| {
        let function: Box<dyn FnOnce() + Send + '_> = match stopper {
            Stopper::Inside => Box::new(move || {
                // SAFETY: the leaf lives until its continuation is consumed.
                let group = unsafe { k.leaf().as_ref() }.group;
                let stop = || k.resolve(ControlFlow::Break(Err(Stopped)));
                if try_cx().is_some() { stop() } else { teams::end_from_outside(group, stop) }
            }),
            Stopper::Outside => {
                let k = k.external();
                Box::new(move || k.resolve(ControlFlow::Break(Err(Stopped))))
            }
        };
        // SAFETY: the types differ in a lifetime only: the borrows of the task's value. The function never holds, reads or
        // drops a value of the task: it writes a `Stopped`, or finds the wait cancelled.
        stop(unsafe { std::mem::transmute::<Box<dyn FnOnce() + Send + '_>, Stop>(function) });
    });
    let ended = move |ended| match ended {
        ControlFlow::Break(result) => after(result),
        ControlFlow::Continue(()) => unreachable!("each of the activities ends the group"),
    };
    // SAFETY: the caller guarantees the call protocol for this worker.
    unsafe { map_outcome(cx, parblock((Limited(task), wait)), ended) }
}

/// The activity that runs the task.
struct Limited<Tk>(Tk);

impl<Tk> sealed::Sealed for Limited<Tk> {}
impl<Tk: Task> Task for Limited<Tk> {
    type Output = Ended<Tk::Output>;
    const STRAIGHT: bool = Tk::STRAIGHT;

    unsafe fn call(self, cx: Cx) -> Outcome<Self::Output> {
        // SAFETY: the caller guarantees the call protocol for this worker.
        unsafe { map_outcome(cx, self.0, |value| ControlFlow::Break(Ok(value))) }
    }
}
