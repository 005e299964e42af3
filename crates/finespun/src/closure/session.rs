//! Sessions: a worker runs one closure after the other, as long as it finds them in its own deque.
//!
//! The first comes from the worker's loop, as any frame does. What is next is asked of the worker, which says no whenever its
//! loop has something else to look after: so a session is bounded, and what waits elsewhere gets its turn as among frames.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::task::Poll;

use crate::task::context::Cx;
use crate::task::frame::{FrameRef, ThreadTable};
use crate::task::origin::pack;
use crate::task::slot::Status;

use super::computation::Computation;
use super::frame::head;
use super::holes::destroy;
use super::tally::Tally;

/// Threads of a computation run on this worker while this lives.
pub(super) struct Session {
    cx: Cx,
    computation: &'static Computation,
    tally: *const Tally,
    /// How many have run.
    threads: u64,
    before: (u64, *const (), *const crate::atomics::AtomicU64),
}

impl Session {
    /// Begins a session; something of the computation must be active until its end.
    pub(super) fn begin(cx: Cx, computation: &'static Computation) -> Session {
        // A closure's memory is free before its thread begins.
        cx.context().current.set(None);
        let threads = &cx.context().threads;
        let tally = computation.tally(cx);
        let before = (
            threads.number.replace(computation.number()),
            threads.computation.replace(ptr::from_ref(computation).cast()),
            threads.posted.replace(tally.posts()),
        );
        Session { cx, computation, tally, threads: 0, before }
    }

    /// One more thread has run, or was destroyed.
    pub(super) fn count(&mut self) {
        self.threads += 1;
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let threads = &self.cx.context().threads;
        let (number, computation, posted) = self.before;
        threads.number.set(number);
        threads.computation.set(computation);
        threads.posted.set(posted);
        self.cx.context().counters.threads.add(self.threads);
        // SAFETY: what has run was active until this says that it has ended.
        self.computation.session_ends(unsafe { &*self.tally }, self.threads);
    }
}

fn table(closure: FrameRef) -> &'static ThreadTable {
    // SAFETY: a closure that is live.
    match unsafe { closure.as_ref() }.vtable.thread {
        Some(table) => table,
        None => unreachable!("a closure has a thread"),
    }
}

/// Ends the process when it is dropped by unwinding: whoever catches that would use a closure that is gone.
struct Gone;

impl Drop for Gone {
    fn drop(&mut self) {
        eprintln!("finespun: the library panicked while it ran a closure; please report this as a bug");
        std::process::abort();
    }
}

/// Runs the thread of a closure, and of those that follow. Does not unwind.
pub(super) unsafe fn run(first: FrameRef, cx: Cx, _: &mut bool) -> Poll<Status> {
    let gone = Gone;
    // SAFETY: the caller guarantees that the closure is ready, and that it alone runs it.
    let polled = unsafe { run_all(first, cx) };
    std::mem::forget(gone);
    polled
}

#[inline(always)]
unsafe fn run_all(first: FrameRef, cx: Cx) -> Poll<Status> {
    // SAFETY: a closure that is ready.
    let (computation, group) = unsafe { (head(first).computation, first.as_ref().group) };
    if computation.is_stopped() {
        // SAFETY: the caller guarantees that the closure is ready, and that it alone runs it.
        return unsafe { cancel(first, cx) };
    }
    let mut session = Session::begin(cx, computation);
    let ended = catch_unwind(AssertUnwindSafe(|| {
        let mut next = Some(first);
        let mut turns = cx.context().scheduler().turns();
        while let Some(closure) = next {
            session.count();
            // SAFETY: full, and in no queue any more: this worker has it alone.
            unsafe { (table(closure).run)(closure) };
            turns -= 1;
            next = if turns == 0 { None } else { following(cx, group, computation) };
        }
    }));
    if let Err(payload) = ended {
        computation.fail(pack(payload));
    }
    drop(session);
    Poll::Ready(Status::Gone)
}

/// The next closure of this session, if there is one.
#[inline(always)]
fn following(cx: Cx, group: u32, computation: &Computation) -> Option<FrameRef> {
    let threads = &cx.context().threads;
    if cx.trips() {
        cx.context().scheduler().attend();
        return None;
    }
    let next = match threads.pop() {
        Some(closure) => closure,
        None => cx.context().scheduler().next_shown()?,
    };
    // SAFETY: ready, so live.
    let header = unsafe { next.as_ref() };
    if header.vtable.thread.is_some() && header.group == group {
        // SAFETY: a closure, which is live.
        let of = unsafe { head(next) }.computation;
        if ptr::eq(of, computation) {
            return Some(next);
        }
    }
    // Something else: that is for the worker's loop, which takes it next.
    threads.push(next);
    None
}

/// A ready closure is not to run: its group has been terminated, or its computation stopped.
pub(super) unsafe fn cancel(closure: FrameRef, cx: Cx) -> Poll<Status> {
    // SAFETY: a closure that is ready.
    let computation = unsafe { head(closure) }.computation;
    let mut session = Session::begin(cx, computation);
    session.count();
    // SAFETY: ready, and in no queue any more.
    unsafe { destroy(closure) };
    drop(session);
    Poll::Ready(Status::Gone)
}
