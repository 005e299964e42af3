//! Sessions: a worker runs one closure after the other, while its own deque has more.
//!
//! The first closure comes from the worker's loop, as any frame does. Before each further one, the session checks
//! whether the loop must do something else. So a session is bounded, and other waiting work gets its turn as it does
//! between frames.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::task::Poll;

use crate::frame::context::Cx;
use crate::frame::origin::pack;
use crate::frame::{FrameRef, Polled};

use super::computation::Computation;
use super::fence;
use super::frame::head;
use super::holes::destroy;
use super::missing::Stamp;
use super::state::Of;
use super::tally::Tally;

/// A session: threads of one computation run on this worker until it is dropped.
pub(super) struct Session {
    cx: Cx,
    computation: &'static Computation,
    /// Number of threads that have run.
    threads: u32,
    before: (bool, Option<Of>, Stamp, *const Tally, u32),
}

impl Session {
    /// Begins a session for closures of this group. The computation must have an active closure or body until the session
    /// ends.
    pub(super) fn begin(cx: Cx, computation: &'static Computation, group: u32) -> Session {
        // A closure's memory is free before its thread begins.
        cx.core().current.set(None);
        let session = cx.session();
        // The end of a nested one restores the stamp of another computation only.
        debug_assert!(cx.computation().is_none_or(|outer| !std::ptr::eq(outer, computation)));
        let before = (
            cx.set_runs_closures(true),
            session.of.replace(Some(Of { computation, stamp: Stamp::NONE })),
            session.plain.get(),
            session.tally.replace(computation.tally(cx)),
            session.group.replace(group),
        );
        stamp(cx, computation);
        Session { cx, computation, threads: 0, before }
    }

    /// Counts a thread that runs, or a closure that is destroyed.
    pub(super) fn count(&mut self) {
        self.threads += 1;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let session = self.cx.session();
        let (runs, of, plain, tally, group) = self.before;
        self.cx.set_runs_closures(runs);
        session.of.set(of);
        session.plain.set(plain);
        let tally = session.tally.replace(tally);
        session.group.set(group);
        self.cx.core().pool().return_foreign();
        let threads = u64::from(self.threads);
        self.cx.core().counters.threads.add(threads);
        // SAFETY: the session's closures count as active until `session_ends` counts their end, so the tally is valid.
        self.computation.session_ends(unsafe { &*tally }, threads);
    }
}

/// Sets the stamp that closures of the worker's computation get from now on, for the number of times that the worker has
/// shown closures to thieves.
fn stamp(cx: Cx, computation: &'static Computation) {
    let (session, core) = (cx.session(), cx.core());
    let (worker, epoch) = (core.worker.get(), core.shown.get());
    let counts = computation.tally(cx).maker.begin_epoch(epoch, fence::available());
    let stamp = Stamp::new(computation.number(), counts.then_some(worker), epoch);
    session.of.set(Some(Of { computation, stamp }));
    session.plain.set(if stamp.has_maker() { stamp } else { Stamp::NONE });
}

/// Calls `service`, which may show closures to thieves.
pub(super) fn show(cx: Cx, service: impl FnOnce()) {
    // Before: see `missing`.
    cx.core().shown.update(|shown| shown.wrapping_add(1));
    if let Some(computation) = cx.computation() {
        stamp(cx, computation);
    }
    service();
}

/// Runs the thread of a closure.
///
/// # Safety
/// The closure is full, this worker has exclusive access to it, and runs closures of its computation.
#[inline(always)]
unsafe fn run_one(closure: FrameRef, cx: Cx) {
    // SAFETY: a live closure is a call, and the caller guarantees exclusive access to it.
    unsafe {
        let table = closure.as_ref().vtable.call.unwrap_unchecked();
        (table.run)(closure, cx);
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
    let mut session = Session::begin(cx, computation, group);
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let budget = cx.worker().frame_budget();
        let mut closure = first;
        loop {
            session.count();
            // SAFETY: the closure is full, in no queue any more, and of this session's computation.
            unsafe { run_one(closure, cx) };
            closure = match following(cx, session.threads < budget) {
                Some(next) => next,
                None => break,
            };
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
fn following(cx: Cx, goes_on: bool) -> Option<FrameRef> {
    if !goes_on || cx.trips() {
        end_of_turn(cx, goes_on);
        return None;
    }
    let next = match cx.core().take_hidden() {
        Some(closure) => closure,
        None => cx.worker().next_shown_closure()?,
    };
    // SAFETY: the closure is ready, and so live; the worker runs closures.
    let (theirs, own) = unsafe { (head(next).stamp.get(), cx.own_computation().stamp) };
    if theirs == own || same_computation(theirs, own) {
        return Some(next);
    }
    // The worker's loop must run this closure, and takes it next.
    cx.core().hide(next);
    None
}

#[inline(never)]
fn same_computation(one: Stamp, other: Stamp) -> bool {
    one.number() == other.number()
}

/// Services the guard, if it trips, before the worker's loop has its turn.
#[cold]
#[inline(never)]
fn end_of_turn(cx: Cx, goes_on: bool) {
    if goes_on {
        show(cx, || cx.worker().service_guard());
        // Here, and not where a thread posts: the program may hold a lock there.
        cx.worker().check_simulation();
    } else if cx.trips() {
        show(cx, || cx.worker().service_guard_in_turn());
    }
}

/// Destroys a ready closure that must not run: its group has been terminated, or its computation stopped.
pub(super) unsafe fn cancel(closure: FrameRef, cx: Cx) -> Polled {
    // SAFETY: the caller guarantees that the closure is ready, and so live.
    let (computation, group) = unsafe { (head(closure).computation, closure.as_ref().group) };
    let mut session = Session::begin(cx, computation, group);
    session.count();
    // SAFETY: the closure is ready and in no queue any more, so this worker has exclusive access to it.
    unsafe { destroy(closure) };
    drop(session);
    Poll::Ready(None)
}
