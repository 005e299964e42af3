//! The root of a run: a frame that nobody waits for, and a thread that sleeps until it has ended.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::task::{Context as StdContext, Poll};

use crate::sched::team::Team;
use crate::task::call::{CallFuture, Task};
use crate::task::frame::{BodyFrame, Payload};
use crate::task::teams::Team as _;

use super::RunError;

/// What the calling thread sleeps on. Shared, since the worker still touches it when the caller wakes.
struct Signal<T> {
    ended: Mutex<Option<Result<T, Ended>>>,
    bell: Condvar,
}

enum Ended {
    Panicked(Payload),
    Cancelled,
}

impl<T> Signal<T> {
    fn set(&self, ended: Result<T, Ended>) {
        *self.ended.lock().unwrap_or_else(PoisonError::into_inner) = Some(ended);
        self.bell.notify_one();
    }

    fn wait(&self) -> Result<T, Ended> {
        let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        loop {
            match ended.take() {
                Some(ended) => return ended,
                None => ended = self.bell.wait(ended).unwrap_or_else(PoisonError::into_inner),
            }
        }
    }
}

/// The body of the root frame. It signals once nothing of the task is left in the frame, or when it is destroyed.
struct Root<Tk: Task> {
    call: Option<CallFuture<Tk>>,
    signal: Option<Arc<Signal<Tk::Output>>>,
}

impl<Tk: Task> Unpin for Root<Tk> {}

impl<Tk: Task> Root<Tk> {
    fn end(&mut self, ended: Result<Tk::Output, Ended>) {
        self.call = None;
        if let Some(signal) = self.signal.take() {
            signal.set(ended);
        }
    }
}

impl<Tk: Task> Future for Root<Tk> {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, std: &mut StdContext<'_>) -> Poll<()> {
        let Some(call) = &mut self.call else { unreachable!("the root ends once") };
        let ended = match catch_unwind(AssertUnwindSafe(|| Pin::new(call).poll(std))) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(value)) => Ok(value),
            Err(payload) => Err(Ended::Panicked(payload)),
        };
        self.end(ended);
        Poll::Ready(())
    }
}

impl<Tk: Task> Drop for Root<Tk> {
    fn drop(&mut self) {
        self.end(Err(Ended::Cancelled));
    }
}

/// Runs `task` on `team` and sleeps until it has ended.
pub(super) fn run<Tk: Task + Send>(team: &Team, task: Tk) -> Result<Tk::Output, RunError> {
    let signal = Arc::new(Signal { ended: Mutex::new(None), bell: Condvar::new() });
    let body = Root { call: Some(CallFuture::new(task)), signal: Some(Arc::clone(&signal)) };
    let frame = BodyFrame::new_outside(team.id.run(0), body);
    // SAFETY: just made.
    let detached = unsafe { frame.as_ref() }.slot.detach();
    debug_assert!(detached, "nobody has run the frame yet");
    team.inject(frame);
    signal.wait().map_err(|ended| match ended {
        Ended::Panicked(payload) => RunError::Panicked(payload),
        Ended::Cancelled => RunError::Cancelled,
    })
}
