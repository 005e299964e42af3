//! Running frames: poll a frame, register or complete it, and continue with the waiter that this makes ready.

use std::ptr::NonNull;
use std::task::Poll;

use crate::cancel::teams;
use crate::frame::context::{self, Cx};
use crate::frame::number::same_team;
use crate::frame::origin;
use crate::frame::slot::{Completed, Registered, Status};
use crate::frame::{self, FrameRef, Header};

/// The next step of a frame whose poll returned pending.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Next {
    /// The frame waits. The completer of its last slot resumes it.
    Waits,
    /// All slots that it waits for have ended during the registration: it can run.
    Runs,
}

/// Registers a frame with the slots that its poll has listed ([`Cx::wait_for`]).
///
/// # Safety
/// The frame's body has just returned pending on this worker, and no other worker can run the frame.
unsafe fn register(cx: Cx, frame: FrameRef) -> Next {
    cx.send_pending_call();
    // SAFETY: the caller guarantees that the frame has not ended, so it is live.
    let join = unsafe { &(*frame.as_ptr()).join };
    // SAFETY: the reference is not used after this function, so it ends before the next poll.
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
        // SAFETY: the join count is at least one until the `count_down` below.
        let ended = unsafe { wait(cx, frame, child) };
        return if join.count_down(1 + ended) { Next::Runs } else { Next::Waits };
    }
    join.arm(count);
    let mut here = 1;
    for child in waits.drain(..) {
        // SAFETY: even if all slots so far complete at once, the frame cannot run: the join count is at least one until
        // the `count_down` below. The frame owns its children, which are live until taken.
        here += unsafe { wait(cx, frame, child.as_ref()) };
    }
    if join.count_down(here) { Next::Runs } else { Next::Waits }
}

/// Registers a frame as the waiter of its pending callees, after its body was polled on the stack.
///
/// # Safety
/// The frame's body has just returned pending, and no other code has seen the frame.
pub(crate) unsafe fn settle(cx: Cx, frame: FrameRef) {
    // SAFETY: the caller guarantees that the body has just returned pending on this worker, and that the frame is
    // unshared.
    match unsafe { register(cx, frame) } {
        Next::Waits => {}
        Next::Runs => cx.make_ready(frame),
    }
}

/// Registers a frame with one of its children. Returns 1 if the child's slot has already ended, else 0.
///
/// # Safety
/// The frame's join count keeps it from running.
unsafe fn wait(cx: Cx, frame: FrameRef, child: &Header) -> u32 {
    let registered = if child.vtable.spawned {
        child.slot.wait_or_orphan(frame, || cx.is_terminated())
    } else {
        child.slot.wait(frame)
    };
    if registered == Registered::Waiting {
        return 0;
    }
    // The child has ended, or it is a spawned frame that has been orphaned and continues. The latter has no result yet;
    // the waiter's `on_child_complete` callback recognises it by its slot, which has no status.
    // SAFETY: the frame is not registered with the child, and does not run before this slot is counted.
    unsafe { tell(frame, NonNull::from(child)) };
    1
}

/// Completes a frame whose result has been written. Returns the waiter if that makes it ready.
///
/// # Safety
/// The result that `status` names has been written, and the frame has not been completed before.
#[inline]
pub(crate) unsafe fn complete(frame: FrameRef, status: Status) -> Option<FrameRef> {
    // SAFETY: the frame is not freed before it completes, so it is live.
    match unsafe { frame.as_ref() }.slot.complete(status) {
        Completed::Unwaited => None,
        // SAFETY: the owner has detached, so this is the only side left.
        Completed::Detached => unsafe { destroy(frame) },
        // SAFETY: a waiter lives, and does not run, until all its slots have counted down; this slot counts once.
        Completed::Waiter(waiter) => unsafe { ended(waiter, frame) },
    }
}

/// Destroys a completed frame whose owner has detached.
///
/// # Safety
/// The frame has completed, and the caller is its only owner.
#[inline(never)]
unsafe fn destroy(frame: FrameRef) -> Option<FrameRef> {
    // SAFETY: the caller guarantees that the frame has completed and that it is the only owner.
    if let Some(payload) = unsafe { frame::lost_panic(frame) } {
        // SAFETY: a worker completes this frame, in the frame's run; `cx` is used at once.
        unsafe { context::cx() }.fail(payload);
        return None;
    }
    // The result's destructor is user code; its panic is discarded.
    // SAFETY: the caller guarantees that the frame has completed and that it is the only owner.
    frame::quietly(|| unsafe { frame::drop_result(frame) });
    // SAFETY: the result has been destroyed, and the caller is the only owner.
    unsafe { frame::free(frame) };
    None
}

/// Notifies the waiter of a completed child and counts the slot down. Returns the waiter if that makes it ready.
///
/// # Safety
/// The waiter is registered with the child, and this completion has not been counted.
#[inline(never)]
unsafe fn ended(waiter: FrameRef, child: FrameRef) -> Option<FrameRef> {
    // SAFETY: the child has completed, and the caller guarantees that it has not been counted.
    unsafe { tell(waiter, child) };
    // SAFETY: the caller guarantees that the waiter is registered, and calls this once for the child.
    unsafe { count_down(waiter) }
}

/// Calls the waiter's `on_child_complete` callback, if it has one, for a child that has ended or been orphaned.
///
/// # Safety
/// `child` has completed or been orphaned, and its slot has not been counted.
#[inline]
unsafe fn tell(waiter: FrameRef, child: FrameRef) {
    // SAFETY: a waiter is live until all its slots are counted, and the caller guarantees that this one is not.
    if let Some(notify) = unsafe { waiter.as_ref() }.vtable.on_child_complete {
        // SAFETY: the function is from the waiter's own table, and the slot has not been counted.
        unsafe { notify(waiter, child) };
    }
}

/// Counts down one slot of `waiter`. Returns the waiter if that makes it ready.
///
/// # Safety
/// Called once for each slot of a registered waiter.
pub(crate) unsafe fn count_down(waiter: FrameRef) -> Option<FrameRef> {
    // SAFETY: the caller guarantees that this slot has not been counted yet, so the waiter is live.
    let join = unsafe { &waiter.as_ref().join };
    join.count_down(1).then_some(waiter)
}

/// Detaches the waiter from a spawned frame, which is then orphaned, after the waiter's run was cancelled or its group
/// terminated. Returns the waiter if that makes it ready.
///
/// # Safety
/// `frame` is a spawned frame, or one that has been freed but neither allocated again nor reclaimed with its page.
pub(crate) unsafe fn orphan(frame: FrameRef) -> Option<FrameRef> {
    // The reference covers the slot only: another thread may be freeing the frame and writing its table word.
    // SAFETY: the memory holds the slot of a live or a freed frame. The slot of a freed frame has ended and has no
    // waiter.
    let waiter = unsafe { &(*frame.as_ptr()).slot }.orphan()?;
    // SAFETY: the waiter was registered with this slot, and `Slot::orphan` has removed it, so this is the slot's only
    // count.
    unsafe { count_down(waiter) }
}

/// Follows the chain of waiters from `frame` up to a spawned frame or one without a waiter. Returns the name of the
/// first of the program's own tasks in the chain, and the number of waiters in it.
///
/// # Safety
/// The caller's worker runs `frame`. So all frames of the chain stay live: only a spawned frame could lose its waiter,
/// and the chain ends there.
pub(crate) unsafe fn chain(frame: FrameRef) -> (Option<&'static str>, usize) {
    let (mut next, mut task, mut depth) = (Some(frame), None, 0);
    while let Some(frame) = next {
        // SAFETY: the frame is live: it runs, or waits for a live frame.
        let header = unsafe { frame.as_ref() };
        task = task.or_else(|| origin::task_name((header.vtable.name)()));
        next = if header.vtable.spawned { None } else { header.slot.waiter() };
        depth += usize::from(next.is_some());
    }
    (task, depth)
}

/// Runs a ready frame, then each frame that its completion makes ready, until none is left.
///
/// # Safety
/// The frame is ready: it is in no queue, and no other worker runs it.
// Always inlined in the loop of a worker, although visitors have a loop of their own.
#[inline(always)]
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
        cx.core().current.set(Some(current));
        cx.core().counters.resumed();
        origin::forget();
        let polled = match cancelled {
            // SAFETY: the caller guarantees that the frame is ready, or a completion made it ready, which only one side
            // sees.
            false => unsafe { frame::poll(current, cx, &vtable.types) },
            // SAFETY: the frame is ready, as for `poll`; the function is from the frame's own table.
            true => unsafe { (vtable.cancel)(current, cx) },
        };
        cx.core().current.set(None);
        let mut next = match polled {
            // SAFETY: the frame's poll has just returned pending on this worker.
            Poll::Pending => match unsafe { register(cx, current) } {
                Next::Waits => None,
                Next::Runs => Some(current),
            },
            Poll::Ready(None) => None,
            // SAFETY: `poll` has written the result that `status` names.
            Poll::Ready(Some(status)) => unsafe { complete(current, status) },
        };
        debug_assert!(!cx.leaving() || polled.is_pending(), "a frame completed while its stack was being unwound");
        cx.flush_exposed();
        // SAFETY: ready frames are live.
        if let Some(waiter) = next.take_if(|frame| !same_team(unsafe { frame.as_ref() }.group, group)) {
            // The waiter awaited a handle of another runtime's task. Inject it before the run can end: see
            // `sched::deadlock`.
            teams::inject(waiter);
        }
        if let Some(completion_owner) = cx.take_completion_owner() {
            // Only now: by this point an unwanted result has been destroyed.
            if let Some(callback) = completion_owner.notify() {
                // The callback may be a waker of another executor, which must not take this code for a task of the
                // ended run.
                cx.leave_run();
                frame::quietly(callback);
            }
        }
        match next {
            // SAFETY: ready frames have not ended.
            Some(frame) => match unsafe { frame::home(frame) } {
                // The frame runs at a node of another worker.
                Some(node) if !cx.hosts(node) => return cx.make_ready(frame),
                _ => current = frame,
            },
            None => return,
        }
    }
}
