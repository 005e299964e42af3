//! Running frames: poll, wait or complete, and go on with whoever that makes ready.

use std::ptr::NonNull;
use std::task::Poll;

use super::context::{self, Cx};
use super::frame::{self, FrameRef, Header};
use super::origin;
use super::slot::{Completed, Registered, Status};
use super::teams;

/// What a frame does after its poll returned pending.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Next {
    /// It waits: whoever completes the last of its slots resumes it.
    Waits,
    /// All that it waits for has ended meanwhile: it can run.
    Runs,
}

/// Registers a frame with the slots that its poll has left in the context.
///
/// # Safety
/// The frame's body has just returned pending on this worker, which is the only one that knows the frame as runnable.
pub(crate) unsafe fn register(cx: Cx, frame: FrameRef) -> Next {
    cx.send_withheld();
    // SAFETY: live by the caller's word.
    let join = unsafe { &(*frame.as_ptr()).join };
    // SAFETY: gone before the next poll.
    let waits = unsafe { cx.waits() };
    let count = waits.len() as u32;
    assert!(count > 0, "a task's body returned pending without a wait: only tasks may be awaited inside a task");
    if let [child] = waits[..] {
        waits.clear();
        // SAFETY: the frame owns its child, which is live until taken.
        let child = unsafe { child.as_ref() };
        if !child.vtable.spawned {
            join.arm_one();
            return match child.slot.wait(frame) {
                Registered::Waiting => Next::Waits,
                Registered::Ended => {
                    // SAFETY: the child has ended, and the frame does not run before this returns.
                    unsafe { tell(frame, NonNull::from(child)) };
                    Next::Runs
                }
            };
        }
        join.arm(1);
        // SAFETY: the join count is at least one until below.
        let ended = unsafe { wait(cx, frame, child) };
        return if join.count_down(1 + ended) { Next::Runs } else { Next::Waits };
    }
    join.arm(count);
    let mut here = 1;
    for child in waits.drain(..) {
        // SAFETY: as above. Even if all slots so far complete at once, the frame cannot run: its join count is
        // at least one until below.
        here += unsafe { wait(cx, frame, child.as_ref()) };
    }
    if join.count_down(here) { Next::Runs } else { Next::Waits }
}

/// Registers a frame with one of its children; how many slots that have ended this makes.
///
/// # Safety
/// The frame's join count keeps it from running.
unsafe fn wait(cx: Cx, frame: FrameRef, child: &Header) -> u32 {
    let registered = if child.vtable.spawned {
        child.slot.wait_or_part(frame, || cx.is_terminated())
    } else {
        child.slot.wait(frame)
    };
    if registered == Registered::Waiting {
        return 0;
    }
    // It has ended, or is a spawned one that goes on, whose waiter has been parted from it: that is no result, and who is told sees
    // so by its status.
    // SAFETY: the frame is not registered with the child, and does not run before this counts.
    unsafe { tell(frame, NonNull::from(child)) };
    1
}

/// Completes a frame whose result has been written; the waiter, if that makes it ready.
///
/// # Safety
/// The result that `status` names has been written, and the frame has not been completed before.
#[inline]
pub(crate) unsafe fn complete(frame: FrameRef, status: Status) -> Option<FrameRef> {
    // SAFETY: live: until completion nobody frees it.
    match unsafe { frame.as_ref() }.slot.complete(status) {
        Completed::Unwaited => None,
        // SAFETY: the owner has gone: we are the only one left.
        Completed::Detached => unsafe { destroy(frame) },
        // SAFETY: a waiter lives, and does not run, until all its slots have counted down.
        Completed::Waiter(waiter) => unsafe { ended(waiter, frame) },
    }
}

/// A completed frame, which nobody wants, goes.
///
/// # Safety
/// Completed, and the caller is the only owner.
#[inline(never)]
unsafe fn destroy(frame: FrameRef) -> Option<FrameRef> {
    // SAFETY: by the caller's word.
    if let Some(payload) = unsafe { frame::lost_panic(frame) } {
        // SAFETY: such a frame is completed by a worker, in its run; used at once.
        unsafe { context::cx() }.fail(payload);
        return None;
    }
    // The result's destructor is user code, whose panic has nowhere to go.
    // SAFETY: by the caller's word.
    frame::quietly(|| unsafe { frame::drop_result(frame) });
    // SAFETY: as above.
    unsafe { frame::free(frame) };
    None
}

/// A child of a waiting frame has completed: the frame, if that makes it ready.
///
/// # Safety
/// The waiter is registered with the child, and this has not been counted.
#[inline(never)]
unsafe fn ended(waiter: FrameRef, child: FrameRef) -> Option<FrameRef> {
    // SAFETY: the child has completed, and the caller guarantees that it has not been counted.
    unsafe { tell(waiter, child) };
    // SAFETY: the caller guarantees that the waiter is registered, and calls this once for the child.
    unsafe { count_down(waiter) }
}

/// One of those that `waiter` waits for has ended: if it wants to know at once, it does.
///
/// # Safety
/// `child` has completed, or been parted from the waiter, and that has not been counted.
#[inline]
unsafe fn tell(waiter: FrameRef, child: FrameRef) {
    // SAFETY: live by the caller's word.
    if let Some(told) = unsafe { waiter.as_ref() }.vtable.told {
        // SAFETY: the table's own function, before the count.
        unsafe { told(waiter, child) };
    }
}

/// One of the slots that `waiter` waits for has ended.
///
/// # Safety
/// Called once for each slot of a registered waiter.
pub(crate) unsafe fn count_down(waiter: FrameRef) -> Option<FrameRef> {
    // SAFETY: live by the caller's word.
    let join = unsafe { &waiter.as_ref().join };
    join.count_down(1).then_some(waiter)
}

/// Takes the waiter of a spawned frame of a cancelled run away: the waiter, if that makes it ready.
///
/// # Safety
/// `frame` is a spawned frame, or was one that has been freed, and has not been allocated again, nor its page reclaimed.
pub(crate) unsafe fn part(frame: FrameRef) -> Option<FrameRef> {
    // Not as a whole header: somebody may be freeing the frame, and mark its table.
    // SAFETY: the slot of a frame, or what is left of one: that has ended, and is nobody's.
    let waiter = unsafe { &(*frame.as_ptr()).slot }.part()?;
    // SAFETY: the slot was this waiter's, and has been taken from it.
    unsafe { count_down(waiter) }
}

/// The first task of the program's own that a frame is part of, and how many frames wait for the frame, one for the other, up to
/// a spawned task.
///
/// # Safety
/// The frame is being run by the caller's worker. So those that wait for it stay: only a spawned task can lose its waiter
/// otherwise.
pub(crate) unsafe fn chain(frame: FrameRef) -> (Option<&'static str>, usize) {
    let (mut next, mut task, mut depth) = (Some(frame), None, 0);
    while let Some(frame) = next {
        // SAFETY: live: it runs, or waits for what lives.
        let header = unsafe { frame.as_ref() };
        task = task.or_else(|| frame::task_name((header.vtable.name)()));
        next = if header.vtable.spawned { None } else { header.slot.waiter() };
        depth += usize::from(next.is_some());
    }
    (task, depth)
}

/// Runs a ready frame, and what it makes ready, until nothing of that is left.
///
/// # Safety
/// The frame is ready: it is in no queue, and nobody else runs it.
pub(crate) unsafe fn run(cx: Cx, frame: FrameRef) {
    let mut current = frame;
    loop {
        let (vtable, group) = {
            // SAFETY: a ready frame is live.
            let header = unsafe { current.as_ref() };
            (header.vtable, header.group)
        };
        if cx.is_elsewhere() && vtable.home.is_none() {
            cx.leave_node();
        }
        let cancelled = cx.enter_frame(group);
        cx.context().current.set(Some(current));
        cx.context().counters.resumed();
        origin::forget();
        let polled = match cancelled {
            // SAFETY: ready by the caller's word, or made ready by a completion, which only one side sees.
            false => unsafe { frame::poll(current, cx, &vtable.types) },
            // SAFETY: as above.
            true => unsafe { (vtable.cancel)(current, cx) },
        };
        cx.context().current.set(None);
        let mut next = match polled {
            // SAFETY: its poll has just returned.
            Poll::Pending => match unsafe { register(cx, current) } {
                Next::Waits => None,
                Next::Runs => Some(current),
            },
            Poll::Ready(Status::Gone) => None,
            // SAFETY: `poll` has written the result that it names.
            Poll::Ready(status) => unsafe { complete(current, status) },
        };
        debug_assert!(!cx.leaving() || polled.is_pending(), "what leaves the stack waits");
        cx.flush_exposed();
        // SAFETY: ready frames are live.
        if let Some(waiter) = next.take_if(|frame| !teams::same_team(unsafe { frame.as_ref() }.group, group)) {
            // It awaited a handle of another runtime's task. Before the run can end: see `sched::deadlock`.
            teams::inject(waiter);
        }
        if let Some(keeper) = cx.take_keeper() {
            // Only now: the result, if nobody wants it, has been destroyed.
            if let Some(told) = keeper.tell() {
                // A waker of another executor: it must not take this for a task of the run that has ended.
                cx.leave_run();
                frame::quietly(told);
            }
        }
        match next {
            // SAFETY: ready frames have not ended.
            Some(frame) => match unsafe { frame::home(frame) } {
                // Another worker's node.
                Some(node) if !cx.hosts(node) => return cx.make_ready(frame),
                _ => current = frame,
            },
            None => return,
        }
    }
}
