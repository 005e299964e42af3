//! Sessions: a worker runs one closure after the other, while its own deque has more.
//!
//! The first closure comes from the worker's loop, as any frame does. Before each further one, the session checks
//! whether the loop must do something else. So a session is bounded, and other waiting work gets its turn as it does
//! between frames.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::task::Poll;

use crate::atomics::AtomicU64;
use crate::frame::context::Cx;
use crate::frame::origin::pack;
use crate::frame::{CallTable, FrameRef, Polled};

use super::computation::Computation;
use super::frame::head;
use super::holes::destroy;
use super::tally::Tally;

/// A session: threads of one computation run on this worker until it is dropped.
pub(super) struct Session {
    cx: Cx,
    computation: &'static Computation,
    tally: *const Tally,
    /// Number of threads that have run.
    threads: u64,
    before: (u64, *const Computation, *const AtomicU64),
}

impl Session {
    /// Begins a session. The computation must have an active closure or body until the session ends.
    pub(super) fn begin(cx: Cx, computation: &'static Computation) -> Session {
        // A closure's memory is free before its thread begins.
        cx.core().current.set(None);
        let session = cx.session();
        let tally = computation.tally(cx);
        let before = (
            session.number.replace(computation.number()),
            session.computation.replace(computation),
            session.posted.replace(tally.posts()),
        );
        Session { cx, computation, tally, threads: 0, before }
    }

    /// Counts a thread that runs, or a closure that is destroyed.
    pub(super) fn count(&mut self) {
        self.threads += 1;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let session = self.cx.session();
        let (number, computation, posted) = self.before;
        session.number.set(number);
        session.computation.set(computation);
        session.posted.set(posted);
        self.cx.core().counters.threads.add(self.threads);
        // SAFETY: the session's closures count as active until `session_ends` counts their end, so the tally is valid.
        self.computation.session_ends(unsafe { &*self.tally }, self.threads);
    }
}

fn table(closure: FrameRef) -> &'static CallTable {
    // SAFETY: the caller passes a live closure.
    match unsafe { closure.as_ref() }.vtable.call {
        Some(table) => table,
        None => unreachable!("a closure is a call"),
    }
}

/// Ends the process when it is dropped by unwinding: code that catches the panic would use a freed closure.
struct AbortOnUnwind;

impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        eprintln!("finespun: the library panicked while it ran a closure; please report this as a bug");
        std::process::abort();
    }
}

/// Runs the thread of a closure, and of the closures that follow. Does not unwind.
pub(super) unsafe fn run(first: FrameRef, cx: Cx, _: &mut bool) -> Polled {
    let gone = AbortOnUnwind;
    // SAFETY: the caller guarantees that the closure is ready, and that it alone runs it.
    let polled = unsafe { run_all(first, cx) };
    std::mem::forget(gone);
    polled
}

#[inline(always)]
unsafe fn run_all(first: FrameRef, cx: Cx) -> Polled {
    // SAFETY: the caller guarantees that the closure is ready, and so live.
    let (computation, group) = unsafe { (head(first).computation, first.as_ref().group) };
    if computation.is_stopped() {
        // SAFETY: the caller guarantees that the closure is ready, and that it alone runs it.
        return unsafe { cancel(first, cx) };
    }
    let mut session = Session::begin(cx, computation);
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let mut next = Some(first);
        let mut budget = cx.worker().frame_budget();
        while let Some(closure) = next {
            session.count();
            // SAFETY: the closure is full and in no queue any more, so this worker has exclusive access to it.
            unsafe { (table(closure).run)(closure) };
            budget -= 1;
            next = following(cx, group, computation, budget > 0);
        }
    }));
    if let Err(payload) = ended {
        computation.fail(pack(payload));
    }
    drop(session);
    Poll::Ready(None)
}

/// Returns the next closure of this session, if there is one and the session may go on.
#[inline(always)]
fn following(cx: Cx, group: u32, computation: &Computation, goes_on: bool) -> Option<FrameRef> {
    if !goes_on {
        if cx.trips() {
            cx.worker().service_guard_in_turn();
        }
        return None;
    }
    if cx.trips() {
        cx.worker().service_guard();
        // Here, and not where a thread posts: the program may hold a lock there.
        cx.worker().check_simulation();
        return None;
    }
    let next = match cx.core().take_hidden() {
        Some(closure) => closure,
        None => cx.worker().next_shown()?,
    };
    // SAFETY: the frame is ready, and so live.
    let header = unsafe { next.as_ref() };
    if header.vtable.call.is_some() && header.group == group {
        // SAFETY: the frame is a live closure, since it is a call.
        let of = unsafe { head(next) }.computation;
        if ptr::eq(of, computation) {
            return Some(next);
        }
    }
    // The worker's loop must run this frame, and takes it next.
    cx.core().hide(next);
    None
}

/// Destroys a ready closure that must not run: its group has been terminated, or its computation stopped.
pub(super) unsafe fn cancel(closure: FrameRef, cx: Cx) -> Polled {
    // SAFETY: the caller guarantees that the closure is ready, and so live.
    let computation = unsafe { head(closure) }.computation;
    let mut session = Session::begin(cx, computation);
    session.count();
    // SAFETY: the closure is ready and in no queue any more, so this worker has exclusive access to it.
    unsafe { destroy(closure) };
    drop(session);
    Poll::Ready(None)
}
