//! The root of a run: a frame without a waiter, and a thread that sleeps until the run has ended.

#[cfg(feature = "simulation")]
use std::collections::BTreeMap;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context as StdContext, Poll};

use crate::atomics::lock_std as lock;
use crate::call::{CallFuture, Task};
use crate::cancel::runs::{Cause, Report, Run};
use crate::frame::context::cx;
use crate::frame::origin::pack;
use crate::frame::{BodyFrame, FrameRef, Payload, VTable, discard, drop_quietly, quietly};
use crate::run::owner::CompletionOwner;
use crate::sched::team::Team;

use super::{Panic, RunError};

/// The place where the root stores its result.
pub(super) type Delivery<T> = Arc<Mutex<Option<Result<T, Ended>>>>;

pub(super) enum Ended {
    Panicked(Payload),
    Cancelled,
}

/// A call of any task, and the table of its root frame: the root's code is compiled for each type of value, not for each task.
pub(super) struct Call<'a, T> {
    future: Pin<Box<dyn Future<Output = T> + Send + 'a>>,
    table: &'static VTable,
}

impl<'a, T> Call<'a, T> {
    pub(super) fn of<Tk: Task<Output = T> + Send + 'a>(task: Tk) -> Call<'a, T> {
        Call { future: Box::pin(CallFuture::fresh(task)), table: Table::<Tk>::TABLE }
    }
}

/// The body of the root frame. It stores the result after the task's call has been dropped, or when the body is
/// destroyed.
struct Root<'a, T> {
    call: Option<Pin<Box<dyn Future<Output = T> + Send + 'a>>>,
    delivery: Delivery<T>,
    run: Option<Arc<Run>>,
}

impl<T> Unpin for Root<'_, T> {}

impl<T> Root<'_, T> {
    fn end(&mut self, ended: Result<T, Ended>) {
        // The call's remaining state is destroyed before the run ends. A panic of a destructor is discarded.
        quietly(|| self.call = None);
        let Some(run) = self.run.take() else { return };
        *lock(&self.delivery) = Some(ended);
        // SAFETY: a body is polled and destroyed by a worker only, and `cx` is used at once.
        let cx = unsafe { cx() };
        cx.worker().root_ended(&run);
        if run.others() {
            cx.cancel(&run);
        }
        cx.set_completion_owner(CompletionOwner::Run(run));
    }
}

impl<T> Future for Root<'_, T> {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, std: &mut StdContext<'_>) -> Poll<()> {
        let Some(call) = &mut self.call else { unreachable!("the root ends once") };
        let ended = match catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(std))) {
            Ok(Poll::Pending) => return Poll::Pending,
            Ok(Poll::Ready(value)) => Ok(value),
            // The run is cancelled: children that the call waited for may have been destroyed before this poll, and the
            // panic may be a consequence.
            Err(payload) if self.run.as_ref().is_some_and(|run| run.is_cancelled()) => {
                discard(payload);
                Err(Ended::Cancelled)
            }
            Err(payload) => Err(Ended::Panicked(pack(payload))),
        };
        self.end(ended);
        Poll::Ready(())
    }
}

impl<T> Drop for Root<'_, T> {
    fn drop(&mut self) {
        self.end(Err(Ended::Cancelled));
    }
}

/// The table of a task's root frame, which has the task's name.
struct Table<Tk>(PhantomData<Tk>);

impl<Tk: Task> Table<Tk> {
    const TABLE: &'static VTable =
        &VTable { name: std::any::type_name::<CallFuture<Tk>>, ..*BodyFrame::<Root<'static, Tk::Output>>::OUTSIDE };
}

/// Starts the root of `run`. What the call borrows must outlive the run: `spawned` demands that it borrows nothing, and `run`
/// returns when the run has ended.
pub(super) fn start<T>(team: &Team, call: Call<'_, T>, run: &Arc<Run>) -> Delivery<T> {
    let (frame, delivery) = make(call, run);
    team.inject_root(frame, run);
    delivery
}

/// Makes the root of `run`, as for [`start`].
fn make<T>(call: Call<'_, T>, run: &Arc<Run>) -> (FrameRef, Delivery<T>) {
    let delivery: Delivery<T> = Arc::new(Mutex::new(None));
    let body = Root { call: Some(call.future), delivery: Arc::clone(&delivery), run: Some(Arc::clone(run)) };
    let frame = BodyFrame::make_outside(run.number, body, call.table);
    // SAFETY: the frame was just made and is live.
    let detached = unsafe { frame.as_ref() }.slot.detach();
    debug_assert!(detached, "the root frame has not run");
    (frame, delivery)
}

/// The number of lines with waits in an error about a dead node.
#[cfg(feature = "simulation")]
const LINES: usize = 10;

/// Returns the waits, equal ones once with their number, and how many more lines there would be.
#[cfg(feature = "simulation")]
fn summary(waits: Vec<String>) -> Vec<String> {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    waits.into_iter().for_each(|wait| *counts.entry(wait).or_default() += 1);
    let more = counts.len().saturating_sub(LINES);
    let line = |(wait, count)| if count > 1 { format!("{wait} ({count} times)") } else { wait };
    let mut lines: Vec<_> = counts.into_iter().map(line).take(LINES).collect();
    if more > 0 {
        lines.push(format!("and {more} more"));
    }
    lines
}

/// Returns the result of a run that has ended.
pub(super) fn delivered<T>(run: &Run, delivery: &Delivery<T>) -> Result<T, RunError> {
    let ended = lock(delivery).take();
    if let Some(payload) = run.failure() {
        // The failure overrides the root's result.
        drop_quietly(ended);
        return Err(RunError::Panicked(Panic::of(payload)));
    }
    if let Some(error) = run.exhausted() {
        // The memory error overrides the root's result: the run's tasks have been destroyed.
        drop_quietly(ended);
        return Err(RunError::FrameMemory(error));
    }
    match ended {
        Some(Ok(value)) => Ok(value),
        Some(Err(Ended::Panicked(payload))) => Err(RunError::Panicked(Panic::of(payload))),
        Some(Err(Ended::Cancelled)) => Err(match (run.report(), run.exit_code()) {
            (Some(Report { cause: Cause::Deadlock, waits }), _) => RunError::Deadlock(waits),
            #[cfg(feature = "simulation")]
            (Some(Report { cause: Cause::NodeDied { node, at }, waits }), _) => {
                RunError::NodeDied { node, at, waits: summary(waits) }
            }
            #[cfg(feature = "processes")]
            (Some(Report { cause: Cause::ProcessDied(died), .. }), _) => RunError::ProcessDied(died),
            (None, Some(code)) => RunError::Exited(code),
            (None, None) => RunError::Cancelled,
        }),
        None => unreachable!("the root delivers before the run ends, once"),
    }
}

/// Runs a task on `team`, as a worker if one is parked, and sleeps until the run has ended.
pub(super) fn run<T>(team: &Arc<Team>, call: Call<'_, T>) -> Result<T, RunError> {
    let entered = team.enter();
    let run = team.begin_run();
    let (frame, delivery) = make(call, &run);
    begin(team, frame, &run);
    drop(entered);
    run.wait();
    team.end_run(&run);
    delivered(&run, &delivery)
}

/// Runs the root of `run` on this thread if a worker can be visited, and else queues it for the workers.
fn begin(team: &Arc<Team>, root: FrameRef, run: &Arc<Run>) {
    #[cfg(feature = "visits")]
    // SAFETY: the root was just made, and is in no queue.
    let Err(root) = (unsafe { team.visit(root, run) }) else { return };
    team.inject_root(root, run);
}
