//! `timeout`: a task that ends, at the latest, at a time.
//!
//! The clock's thread terminates the group in which the task runs: see `group::until`.

use std::panic::Location;
use std::time::{Duration, Instant};

use super::clock::Timer;
use super::sleep::Until;
use crate::call::outcome::Outcome;
use crate::call::{Task, sealed};
use crate::frame::CallSite;
use crate::frame::context::Cx;
use crate::group::until::{Stopped, Stopper, call_until};

/// Runs a task for at most a duration, from the await on: returns its value, or [`Elapsed`] if it has not ended by then.
///
/// The task runs as an ordinary callee until it waits, and may borrow. When the time is over, the task and everything
/// beneath it is cancelled: waits end, calls on stacks stop at their next check, and destructors run. The await returns
/// after everything beneath the task has ended, as with a group ([`parfor`](crate::parfor)). A task that neither calls
/// another task nor waits is not stopped, nor is a call of [`blocking`](crate::blocking) in progress. Tasks that the task has
/// [spawned](crate::spawn) belong to the run, not to it, and continue.
///
/// The wait for the time begins when the task waits for the first time, or has run for its quantum (50 ms). A task that
/// ends before costs no timer. A task that computes all the time is stopped up to a quantum late.
///
/// On a simulated machine the duration is virtual time.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::time::{Elapsed, sleep, timeout};
/// use std::time::Duration;
///
/// #[task]
/// async fn answer(after: Duration) -> u64 {
///     sleep(after).await;
///     42
/// }
///
/// #[task]
/// async fn ask() -> (Result<u64, Elapsed>, Result<u64, Elapsed>) {
///     let soon = timeout(Duration::from_secs(60), answer(Duration::from_millis(1))).await;
///     let late = timeout(Duration::from_millis(1), answer(Duration::from_secs(60))).await;
///     (soon, late)
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// let (soon, late) = runtime.run(ask());
/// assert_eq!(soon, Ok(42));
/// assert_eq!(late.unwrap_err().to_string(), "the task has not ended in time");
/// ```
///
/// # Panics
/// With the panic of the task. If the system refuses the thread that waits for times.
///
/// *Cost*: a group on the stack, if the task ends without a wait. Otherwise a group's record, the frames of two activities,
/// and the cost of a [`sleep`](super::sleep).
#[track_caller]
pub fn timeout<Tk>(duration: Duration, task: Tk) -> Timeout<Tk>
where
    Tk: Task + Send,
    Tk::Output: Send,
{
    Timeout { task, until: Until::After(duration), place: Location::caller() }
}

/// Like [`timeout`], until a time: one of [`time::now`](super::now), which on a simulated machine is virtual.
#[track_caller]
pub fn timeout_at<Tk>(deadline: Instant, task: Tk) -> Timeout<Tk>
where
    Tk: Task + Send,
    Tk::Output: Send,
{
    Timeout { task, until: Until::At(deadline), place: Location::caller() }
}

/// The error of a task that has not ended in time: see [`timeout`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the task has not ended in time")]
#[non_exhaustive]
pub struct Elapsed;

/// The task that [`timeout`] and [`timeout_at`] make.
#[must_use = "a task does nothing until it is awaited"]
#[derive(Debug)]
pub struct Timeout<Tk> {
    task: Tk,
    until: Until,
    place: CallSite,
}

impl<Tk> sealed::Sealed for Timeout<Tk> {}
impl<Tk> Task for Timeout<Tk>
where
    Tk: Task + Send,
    Tk::Output: Send,
{
    type Output = Result<Tk::Output, Elapsed>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Self::Output> {
        let mut timer = Timer::new(self.until.instant());
        let setter = timer.setter();
        let ended = move |result: Result<Tk::Output, Stopped>| {
            drop(timer);
            result.map_err(|Stopped| Elapsed)
        };
        // SAFETY: the caller guarantees the call protocol for this worker.
        unsafe { call_until(cx, self.task, self.place, Stopper::Outside, |stop| setter.set(stop), ended) }
    }
}
