//! `sleep`: a wait for a time.

use std::panic::Location;
use std::time::{Duration, Instant};

use super::clock::{self, Timer};
use super::now;
use crate::call::outcome::Outcome;
use crate::call::{Task, map_outcome, sealed};
use crate::frame::CallSite;
use crate::frame::context::Cx;
use crate::run::continuation::Continuation;
use crate::wait::suspend::suspend_at;

/// Waits for a duration, from the await on. During the wait, the worker runs other tasks.
///
/// The task may restart later, when no worker is free, but not earlier. On a simulated machine the duration is virtual
/// time, and no real time passes. While a task sleeps, no run of its runtime is reported as deadlocked.
///
/// Cancelling the task ends the wait at once.
///
/// *Cost*: the frames of a wait, an allocation, and two operations on a map of all times of the process, under a lock. One
/// thread of the process waits for all sleeping tasks; it ends after ten seconds without any.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::time::sleep;
/// use std::time::{Duration, Instant};
///
/// #[task]
/// async fn nap(milliseconds: u64) -> u64 {
///     sleep(Duration::from_millis(milliseconds)).await;
///     milliseconds
/// }
///
/// #[task]
/// async fn both() -> u64 {
///     let (a, b) = join!(nap(20), nap(10));
///     a + b
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// let before = Instant::now();
/// assert_eq!(runtime.run(both()), 30);
/// // One worker is enough for both to sleep at the same time.
/// assert!(before.elapsed() >= Duration::from_millis(20));
/// ```
///
/// # Panics
/// If the system refuses the thread that waits.
#[track_caller]
pub fn sleep(duration: Duration) -> Sleep {
    Sleep { until: Until::After(duration), place: Location::caller() }
}

/// Waits until a time; not at all, if it has passed. Otherwise as [`sleep`].
///
/// The time is one of [`time::now`](super::now), which is [`Instant::now`] on real machines and virtual on simulated ones.
#[track_caller]
pub fn sleep_until(deadline: Instant) -> Sleep {
    Sleep { until: Until::At(deadline), place: Location::caller() }
}

/// The task that [`sleep`] and [`sleep_until`] make.
#[must_use = "a task does nothing until it is awaited"]
#[derive(Debug)]
pub struct Sleep {
    pub(super) until: Until,
    pub(super) place: CallSite,
}

/// A time in the future: of the task's call, if it is a duration.
#[derive(Clone, Copy, Debug)]
pub(super) enum Until {
    After(Duration),
    At(Instant),
}

impl Until {
    pub(super) fn instant(self) -> Instant {
        match self {
            Until::After(duration) => clock::after(duration),
            Until::At(instant) => instant,
        }
    }
}

impl sealed::Sealed for Sleep {}
impl Task for Sleep {
    type Output = ();
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        let at = self.until.instant();
        if at <= now() && !cx.block_now() {
            // SAFETY: returned as this call's outcome, as the call protocol requires.
            return unsafe { Outcome::done(()) };
        }
        let mut timer = Timer::new(at);
        let setter = timer.setter();
        let wait = suspend_at(self.place, move |k: Continuation<()>| {
            let k = k.external();
            setter.set(Box::new(move || k.resolve(())));
        });
        // SAFETY: the caller guarantees the call protocol for this worker.
        unsafe { map_outcome(cx, wait, move |()| drop(timer)) }
    }
}
