//! The barrier of a group: arriving, leaving, and resuming the waiters.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as StdContext, Poll};

use super::continuation::Continuation;
use super::owner::CompletionOwner;
use crate::cancel::groups::{Group, Groups, Released, SHARDS};
use crate::cancel::runs::Run;
use crate::frame::BodyFrame;
use crate::frame::context::{Cx, cx, try_cx};
use crate::frame::leaf::Waiting;

/// A shard of another worker with at least this many waiters gets a frame of its own that resumes them.
const MANY: usize = 32;

/// Arrives at the barrier of a group: `k` is resumed when all other live activities of the group have arrived or ended.
pub(crate) fn arrive(cx: Cx, group: &Group, k: Continuation<()>) {
    release(group.run(), group.arrive(k.into_waiting(), cx.core().worker.get() as usize));
}

/// Counts `activities` of a group as ended.
pub(crate) fn leave(group: &Group, activities: u64) {
    let shard = try_cx().map_or(0, |cx| cx.core().worker.get() as usize);
    release(group.run(), group.leave(activities, shard));
}

/// Ends a group. Nothing is left within it, and only late sweeps still look up its number. Returns the group's run and
/// [`uses`](Group::uses) if other processes know it.
#[must_use]
pub(crate) fn end_group(groups: &Groups, number: u32) -> Option<(u32, u64)> {
    let run = groups.get(number).run();
    groups.end(number, |left| release(run, left))
}

/// Resumes the waiters of a barrier of a group in `run`; the run must not have ended. Each shard of another worker with
/// at least [`MANY`] waiters gets a frame that resumes them, so that another worker may take it, ideally the one on
/// which the waiters ran.
fn release(run: u32, mut waiting: Released) {
    if waiting.iter().all(Vec::is_empty) {
        return;
    }
    if let Some(cx) = try_cx().filter(|cx| cx.of_team(run)) {
        let own = cx.core().worker.get() as usize % SHARDS;
        for (shard, waiters) in waiting.iter_mut().enumerate() {
            if shard != own && waiters.len() >= MANY {
                release_later(cx, run, std::mem::take(waiters));
            }
        }
    }
    waiting.into_iter().flatten().for_each(resume);
}

/// Ends a wait.
pub(crate) fn resume(waiting: Waiting) {
    Continuation::of_waiting(waiting).resolve(());
}

/// Resumes waiters in a frame of its own. The frame belongs to `run`, the run of the waiters, and not to their group,
/// which may have ended when the frame runs. The caller may belong to another run or to none, but must keep `run` from
/// ending during the call.
fn release_later(cx: Cx, run: u32, waiting: Vec<Waiting>) {
    let Some(state) = cx.context().team().find_run(run) else { unreachable!("a run outlives its groups") };
    state.enter();
    let release = Release { waiting, run: Some(state) };
    let frame = BodyFrame::of_group(cx, run, release, BodyFrame::<Release>::VTABLE);
    // SAFETY: this function has just made the frame, which has not run.
    let ended = unsafe { frame.as_ref() }.slot.detach();
    debug_assert!(ended, "the frame has not ended");
    cx.make_ready(frame);
}

/// The body of the frame that resumes waiters. Its run counts it like a spawned task.
struct Release {
    waiting: Vec<Waiting>,
    run: Option<Arc<Run>>,
}

impl Future for Release {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<()> {
        while let Some(waiting) = self.waiting.pop() {
            resume(waiting);
        }
        Poll::Ready(())
    }
}

impl Drop for Release {
    fn drop(&mut self) {
        // Waiters are left only if the run, and thus their waits, have been cancelled: resolving gives up the
        // continuations.
        self.waiting.drain(..).for_each(resume);
        if let Some(run) = self.run.take() {
            // SAFETY: a body is destroyed by a worker; used at once.
            unsafe { cx() }.set_completion_owner(CompletionOwner::Run(run));
        }
    }
}
