//! Waiting until a run has come to rest.

use std::panic::Location;

use super::call::{Task, sealed};
use super::context::Cx;
use super::frame::Place;
use super::outcome::Outcome;
use super::suspend::{Continuation, suspend_at};

/// Waits until no task and no message of this run is left, but for the caller, those that wait for it, and others that
/// wait here: until all that was spawned, and all one-way calls and what they led to, have ended.
///
/// It is found out by the worker that runs dry last, as a deadlock is: when nothing is ready anywhere and no message is
/// on its way. If something waits then that nobody will end, that is a deadlock, and reported. What waits for something
/// outside (`blocking`, `foreign`, `.external()`) has not come to rest. A runtime that several runs share comes to rest
/// when all of them do.
///
/// # Panics
/// Never; but the run ends with the panic of a one-way call.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::quiesce;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// static COUNT: AtomicU64 = AtomicU64::new(0);
///
/// #[task]
/// async fn unfold(depth: u32) {
///     COUNT.fetch_add(1, Ordering::Relaxed);
///     if depth > 0 {
///         drop(spawn(unfold(depth - 1)));
///         drop(spawn(unfold(depth - 1)));
///     }
/// }
///
/// #[task]
/// async fn tree() -> u64 {
///     unfold(4).await;
///     quiesce().await;
///     COUNT.load(Ordering::Relaxed)
/// }
/// # let runtime = Runtime::builder().workers(2).build().unwrap();
/// assert_eq!(runtime.run(tree()), 31);
/// ```
#[track_caller]
pub fn quiesce() -> Quiesce {
    Quiesce { place: Location::caller() }
}

/// The task that [`quiesce`] makes.
#[must_use = "a task does nothing until it is awaited"]
pub struct Quiesce {
    place: Place,
}

impl sealed::Sealed for Quiesce {}
impl Task for Quiesce {
    type Output = ();
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        let wait = suspend_at(self.place, |k: Continuation<()>| cx.current_run().await_rest(k));
        // SAFETY: passed on.
        unsafe { wait.forced().call(cx) }
    }
}
