//! A run as a std future: running tasks from tokio and other executors.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use crate::atomics::lock_std as lock;
use crate::cancel::runs::Run;
use crate::sched::team::Team;

use super::RunError;
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
}

pub(super) fn spawn<T: Send + 'static>(team: &Arc<Team>, call: Call<'static, T>) -> RunFuture<T> {
    let entered = team.enter();
    let run = team.begin_run();
    let shared = Arc::new(Mutex::new(Shared::default()));
    wake_at_end(team, &run, &shared);
    let delivery = root::start(team, call, &run);
    drop(entered);
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
        let waker = {
            let mut shared = lock(&shared);
            shared.ended = true;
            shared.waker.take()
        };
        if let Some(waker) = waker {
            waker.wake();
        }
    });
}

impl<T> RunFuture<T> {
    /// Lets the run continue on its own and drops its value.
    pub fn detach(mut self) {
        self.detached = true;
    }
}

impl<T> Future for RunFuture<T> {
    type Output = T;

    #[track_caller]
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<T> {
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
        match root::delivered(&self.run, &self.delivery) {
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
        let (ended, waker) = {
            let mut shared = lock(&self.shared);
            (shared.ended, shared.waker.take())
        };
        if !ended && !self.detached {
            self.team.cancel(&self.run);
        }
        drop(waker);
    }
}

impl<T> std::fmt::Debug for RunFuture<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("RunFuture").finish_non_exhaustive()
    }
}
