//! `abortable`: a task that a handle ends.

use std::fmt;
use std::panic::Location;
use std::sync::{Arc, Mutex};

use super::until::{Stop, Stopped, Stopper, call_until};
use crate::atomics::lock_std as lock;
use crate::call::outcome::Outcome;
use crate::call::{Task, sealed};
use crate::frame::CallSite;
use crate::frame::context::Cx;

/// Makes a task that the returned handle can end, with everything beneath it, from any thread: `abort` of tokio's tasks.
///
/// The task delivers the value, or [`Aborted`]. It may be awaited, joined, spawned (in a [`scope`](fn@crate::scope) too) or
/// run; and it may borrow. When it is aborted, its waits end, its calls on stacks stop at their next check, and destructors
/// run. It ends, with [`Aborted`], after all of that has ended. A call of [`blocking`](crate::blocking) in progress is
/// awaited, and tasks that the task has [spawned](crate::spawn) belong to the run and continue. While an abortable task waits,
/// its run does not become [quiescent](crate::tasks::quiesce).
///
/// A spawned task that is not abortable costs less: so only the tasks that need it pay for it.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::tasks::{Aborted, abortable};
///
/// #[task]
/// async fn serve() -> u64 {
///     loop {
///         yield_now().await;
///     }
/// }
///
/// #[task]
/// async fn start_and_stop() -> Result<u64, Aborted> {
///     let (task, handle) = abortable(serve());
///     let served = spawn(task);
///     handle.abort();
///     served.await
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert!(runtime.run(start_and_stop()).is_err());
/// ```
///
/// # Panics
/// The task resumes the panic of the task within.
///
/// *Cost*: an allocation. Of a task that waits, also a group's record and the frames of two activities.
#[track_caller]
pub fn abortable<Tk>(task: Tk) -> (Abortable<Tk>, AbortHandle)
where
    Tk: Task + Send,
    Tk::Output: Send,
{
    let state = Arc::new(Mutex::new(State::Begins));
    let handle = AbortHandle(Arc::clone(&state));
    (Abortable { task, state, place: Location::caller() }, handle)
}

enum State {
    /// The task has not begun, or has not waited yet.
    Begins,
    /// The task runs, and this function stops it.
    Runs(Stop),
    Aborted,
    Ended,
}

/// A handle that ends a task: see [`abortable`]. Dropping it changes nothing.
#[derive(Clone)]
pub struct AbortHandle(Arc<Mutex<State>>);

impl AbortHandle {
    /// Ends the task, unless it has ended. Does not wait for its end, as an await of the task does.
    ///
    /// A task that has not begun never begins. One that computes and has not waited yet is stopped after at most its
    /// quantum (50 ms).
    ///
    /// A task is not reported as deadlocked only because a plain thread holds the handle: if that thread alone will end the
    /// task's waits, it declares so by [`Runtime::outside`](crate::Runtime::outside).
    pub fn abort(&self) {
        let mut state = lock(&self.0);
        match std::mem::replace(&mut *state, State::Aborted) {
            State::Begins | State::Aborted => {}
            State::Ended => *state = State::Ended,
            State::Runs(stop) => {
                // The task may end in this call, which then locks the state.
                drop(state);
                stop();
            }
        }
    }

    /// Returns whether [`abort`](AbortHandle::abort) was called before the task had ended. A task that ended at the same
    /// moment may deliver its value all the same.
    pub fn is_aborted(&self) -> bool {
        matches!(*lock(&self.0), State::Aborted)
    }
}

impl fmt::Debug for AbortHandle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("AbortHandle").field("aborted", &self.is_aborted()).finish()
    }
}

/// The error of a task that has been aborted: see [`abortable`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the task was aborted")]
#[non_exhaustive]
pub struct Aborted;

/// The task that [`abortable`] makes.
#[must_use = "a task does nothing until it is awaited, joined, spawned or run"]
pub struct Abortable<Tk> {
    task: Tk,
    state: Arc<Mutex<State>>,
    place: CallSite,
}

impl<Tk> fmt::Debug for Abortable<Tk> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Abortable").finish_non_exhaustive()
    }
}

/// Notes the end of the task when it is dropped, and drops the function that would stop it.
struct Ends(Arc<Mutex<State>>);

impl Drop for Ends {
    fn drop(&mut self) {
        let before = {
            let mut state = lock(&self.0);
            match *state {
                State::Aborted => return,
                _ => std::mem::replace(&mut *state, State::Ended),
            }
        };
        drop(before);
    }
}

impl<Tk> sealed::Sealed for Abortable<Tk> {}
impl<Tk> Task for Abortable<Tk>
where
    Tk: Task + Send,
    Tk::Output: Send,
{
    type Output = Result<Tk::Output, Aborted>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Self::Output> {
        let Abortable { task, state, place } = self;
        if matches!(*lock(&state), State::Aborted) {
            drop(task);
            // SAFETY: returned as this call's outcome, as the call protocol requires.
            return unsafe { Outcome::done(Err(Aborted)) };
        }
        let ends = Ends(Arc::clone(&state));
        let begun = move |stop: Stop| {
            let mut state = lock(&state);
            match *state {
                State::Aborted => {
                    drop(state);
                    stop();
                }
                _ => *state = State::Runs(stop),
            }
        };
        let ended = move |result: Result<Tk::Output, Stopped>| {
            drop(ends);
            result.map_err(|Stopped| Aborted)
        };
        // SAFETY: the caller guarantees the call protocol for this worker.
        unsafe { call_until(cx, task, place, Stopper::Inside, begun, ended) }
    }
}
