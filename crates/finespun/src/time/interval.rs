//! `interval`: times at equal distances.

use std::panic::Location;
use std::time::{Duration, Instant};

use super::clock;
use super::sleep::{Sleep, Until};
use crate::call::outcome::Outcome;
use crate::call::{Task, map_outcome, sealed};
use crate::frame::CallSite;
use crate::frame::context::Cx;

/// Returns times at equal distances, the first of which is now: [`Interval::tick`] waits for the next.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::time::interval;
/// use std::time::Duration;
///
/// #[task]
/// async fn ticks(count: u64) -> u64 {
///     let mut interval = interval(Duration::from_millis(2));
///     let mut ticked = 0;
///     for _ in 0..count {
///         interval.tick().await;
///         ticked += 1;
///     }
///     ticked
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run(ticks(5)), 5);
/// ```
///
/// # Panics
/// If the period is zero.
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    interval_at(super::now(), period)
}

/// Like [`interval`], with the first of the times.
///
/// # Panics
/// If the period is zero.
#[track_caller]
pub fn interval_at(first: Instant, period: Duration) -> Interval {
    assert!(!period.is_zero(), "the period of an interval is zero: a task that waits for no time calls `yield_now`");
    Interval { next: first, period }
}

/// Times at equal distances: see [`interval`].
#[derive(Clone, Debug)]
pub struct Interval {
    next: Instant,
    period: Duration,
}

impl Interval {
    /// Waits for the next time, and returns it. If it has passed, returns at once: times that the caller has missed follow
    /// one after the other, until it has caught up (tokio's `Burst`). [`reset`](Interval::reset) leaves them out.
    ///
    /// A tick that is cancelled has not happened: the next one waits for the same time.
    #[track_caller]
    pub fn tick(&mut self) -> Tick<'_> {
        let place = Location::caller();
        Tick { interval: self, place }
    }

    /// Lets the next time be one period from now.
    pub fn reset(&mut self) {
        self.next = clock::after(self.period);
    }

    /// Returns the time between two ticks.
    pub fn period(&self) -> Duration {
        self.period
    }
}

/// The task that [`Interval::tick`] makes.
#[must_use = "a task does nothing until it is awaited"]
#[derive(Debug)]
pub struct Tick<'a> {
    interval: &'a mut Interval,
    place: CallSite,
}

impl sealed::Sealed for Tick<'_> {}
impl Task for Tick<'_> {
    type Output = Instant;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Instant> {
        let Tick { interval, place } = self;
        let wait = Sleep { until: Until::At(interval.next), place };
        let ticked = move |()| {
            let at = interval.next;
            interval.next = at.checked_add(interval.period).unwrap_or_else(|| clock::after(Duration::MAX));
            at
        };
        // SAFETY: the caller guarantees the call protocol for this worker.
        unsafe { map_outcome(cx, wait, ticked) }
    }
}
