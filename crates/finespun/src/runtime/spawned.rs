//! A run as a std future: running tasks from tokio and other executors.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker, ready};

use crate::atomics::lock_std as lock;
use crate::cancel::runs::Run;
use crate::frame::context::{Cx, try_cx};
use crate::frame::quietly;
use crate::sched::team::Team;

use super::RunError;
use super::hooks::PanicHandler;
use super::root::{self, Call, Delivery};

/// A run in progress, as a std future that delivers the root's value.
///
/// Dropping it cancels the run; [`detach`](RunFuture::detach) lets the run continue on its own. The future may be
/// awaited on any executor, and resumes a panic of the run, as [`Runtime::run`](super::Runtime::run) does.
///
/// # Panics
/// If polled again after completion, and if polled in a fork of the process that built the runtime, where the run never
/// ends.
#[must_use = "dropping it cancels the run; `detach` lets it go on"]
pub struct RunFuture<T> {
    run: Arc<Run>,
    team: Arc<Team>,
    delivery: Delivery<T>,
    shared: Arc<Mutex<Shared>>,
    detached: bool,
    /// Set when the future has delivered the value, or panicked.
    completed: bool,
}

#[derive(Default)]
struct Shared {
    ended: bool,
    waker: Option<Waker>,
    /// Set when the future has been detached.
    detached: bool,
    /// Passes a panic of the run to the runtime's handler. Called once the run has ended, if nothing receives its result.
    unreceived: Option<Box<dyn FnOnce() + Send>>,
}

pub(super) fn spawn<T: Send + 'static>(
    team: &Arc<Team>,
    call: Call<'static, T>,
    handler: Option<&PanicHandler>,
) -> RunFuture<T> {
    let entered = team.enter();
    let run = team.begin_run();
    let shared = Arc::new(Mutex::new(Shared::default()));
    wake_at_end(team, &run, &shared);
    let delivery = root::start(team, call, &run);
    drop(entered);
    if let Some(handler) = handler {
        let (run, delivery, handler) = (Arc::clone(&run), Arc::clone(&delivery), Arc::clone(handler));
        lock(&shared).unreceived = Some(Box::new(move || {
            if let Err(RunError::Panicked(panic)) = root::delivered(&run, &delivery) {
                handler(&panic);
            }
        }));
    }
    RunFuture { run, team: Arc::clone(team), delivery, shared, detached: false, completed: false }
}

/// Not generic, so that it is compiled once.
fn wake_at_end(team: &Arc<Team>, run: &Arc<Run>, shared: &Arc<Mutex<Shared>>) {
    let state = (Arc::downgrade(team), Arc::clone(run), Arc::clone(shared));
    run.on_end(move || {
        let (team, run, shared) = state;
        if let Some(team) = team.upgrade() {
            team.end_run(&run);
        }
        let (waker, unreceived) = {
            let mut shared = lock(&shared);
            shared.ended = true;
            let unreceived = if shared.detached { shared.unreceived.take() } else { None };
            (shared.waker.take(), unreceived)
        };
        if let Some(waker) = waker {
            waker.wake();
        }
        if let Some(unreceived) = unreceived {
            unreceived();
        }
    });
}

impl<T> RunFuture<T> {
    /// Lets the run continue on its own and drops its value.
    pub fn detach(mut self) {
        self.detached = true;
    }

    /// Cancels the run, unless it has ended. Does not wait for its end: its tasks stop at their next check, and
    /// [`outcome`](RunFuture::outcome) or [`wait`](RunFuture::wait) then delivers [`RunError::Cancelled`], while the future
    /// itself panics.
    pub fn abort(&self) {
        // A fork has no threads that would end the run.
        if !self.is_finished() && !self.team.forked() {
            self.team.cancel(&self.run);
        }
    }

    /// Returns whether the run has ended.
    pub fn is_finished(&self) -> bool {
        lock(&self.shared).ended
    }

    /// Waits for the end of the run on this thread, which sleeps, and returns the root's value: for plain code that has
    /// started a task beside it.
    ///
    /// ```
    /// use finespun::prelude::*;
    ///
    /// #[task]
    /// async fn work(n: u64) -> u64 {
    ///     n * 2
    /// }
    ///
    /// let runtime = Runtime::builder().workers(1).build().unwrap();
    /// let doubled = runtime.spawn(work(21));
    /// // .. other work of this thread ..
    /// assert_eq!(doubled.wait().unwrap(), 42);
    /// ```
    ///
    /// # Errors
    /// As [`Runtime::try_run`](super::Runtime::try_run); [`RunError::OnWorker`] inside a task, where the run is cancelled:
    /// await `foreign(future)` there.
    ///
    /// # Panics
    /// If the future has been polled to its end.
    #[track_caller]
    pub fn wait(mut self) -> Result<T, RunError> {
        if try_cx().is_some() {
            return Err(RunError::OnWorker);
        }
        if !self.is_finished() && self.team.forked() {
            return Err(RunError::Forked);
        }
        assert!(!self.completed, "`RunFuture::wait` was called after the future had delivered its value");
        self.run.wait();
        (self.completed, self.detached) = (true, true);
        root::delivered(&self.run, &self.delivery)
    }

    /// Returns a future that delivers whatever can go wrong as an error, where this one panics. Dropping it cancels the run,
    /// too.
    ///
    /// # Panics
    /// The future panics as this one does if it is polled again after its end, or in a fork.
    pub fn outcome(mut self) -> impl Future<Output = Result<T, RunError>> + Send
    where
        T: Send,
    {
        std::future::poll_fn(move |cx| self.poll_outcome(cx))
    }

    #[track_caller]
    fn poll_outcome(&mut self, cx: &mut Context<'_>) -> Poll<Result<T, RunError>> {
        assert!(!self.completed, "`RunFuture` polled after completion");
        // Wakers are user code: cloned and dropped outside the lock.
        let waker = cx.waker().clone();
        {
            let mut shared = lock(&self.shared);
            if !shared.ended {
                assert!(!self.team.forked(), "{}", RunError::Forked);
                let before = shared.waker.replace(waker);
                drop(shared);
                drop(before);
                return Poll::Pending;
            }
        }
        self.completed = true;
        Poll::Ready(root::delivered(&self.run, &self.delivery))
    }
}

impl<T> Future for RunFuture<T> {
    type Output = T;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
        match ready!(self.poll_outcome(cx)) {
            Ok(value) => Poll::Ready(value),
            Err(RunError::Panicked(panic)) => panic.resume(),
            Err(error) => panic!("{error}"),
        }
    }
}

impl<T> Drop for RunFuture<T> {
    fn drop(&mut self) {
        if self.team.forked() {
            return;
        }
        // The waker, which is user code, must neither be called nor dropped by this thread under a lock: the run may
        // end with the cancellation.
        let (ended, waker, unreceived) = {
            let mut shared = lock(&self.shared);
            shared.detached = self.detached && !self.completed;
            let unreceived = if shared.ended && !self.completed { shared.unreceived.take() } else { None };
            (shared.ended, shared.waker.take(), unreceived)
        };
        if !ended && !self.detached {
            self.team.cancel(&self.run);
        }
        drop(waker);
        if let Some(unreceived) = unreceived {
            // The program's handler must not take the calling task for its own.
            let left = try_cx().map(Cx::leave_tasks);
            quietly(unreceived);
            drop(left);
        }
    }
}

impl<T> std::fmt::Debug for RunFuture<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunFuture").finish_non_exhaustive()
    }
}
