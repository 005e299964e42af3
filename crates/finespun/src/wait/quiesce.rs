//! Waiting until a run is quiescent.

use std::panic::Location;

use super::suspend::suspend_at;
use crate::call::outcome::Outcome;
use crate::call::{Task, sealed};
use crate::frame::CallSite;
use crate::frame::context::Cx;
use crate::run::continuation::Continuation;

/// Waits until the run is quiescent: no task and no message of this run is left, except callers of `quiesce` and tasks
/// that wait for them. Then no other spawned task or one-way call of the run can continue, except a task that awaits
/// another run's task.
///
/// The last worker to park detects quiescence, in the same way as a deadlock: when no frame is ready and no message is
/// in flight. If any other wait is left that no task can complete, it reports a deadlock. A run with a wait for
/// something outside (`blocking`, `foreign`, `.external()`) is not quiescent. If several runs share a runtime,
/// quiescence is detected only when none of them can continue.
///
/// # Panics
/// Never. If a one-way call panics, the run is cancelled and ends with that panic.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::tasks::quiesce;
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

/// The task returned by [`quiesce`].
#[must_use = "a task does nothing until it is awaited"]
pub struct Quiesce {
    place: CallSite,
}

impl sealed::Sealed for Quiesce {}
impl Task for Quiesce {
    type Output = ();
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        let wait = suspend_at(self.place, |k: Continuation<()>| cx.current_run().await_quiescence(k.into_waiting()));
        // SAFETY: the caller guarantees that it opens the outcome and awaits a suspended callee.
        unsafe { wait.forced().call(cx) }
    }
}
