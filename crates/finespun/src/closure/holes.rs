//! The life of a closure: its holes are filled or given up, and it is posted or destroyed.
//!
//! *Missing* is the papers' join counter (module [`missing`]). The caller that fills or gives up the last hole has exclusive access to the
//! closure: it posts the closure if all holes were filled, and otherwise destroys it. Given-up holes are noted in a
//! list. The head of this list is the slot word, in which other frames keep their waiter: a closure has no waiter.
//!
//! ```text
//!                       send: - 1, give up: note, - 1           post
//!   made --> WAITING(n) ----------------------------> FULL ------------> queued --> RUNS (gone before its thread begins)
//!      \          |  the last, and one was given up     ^                  |
//!       \         v                                     | n = 0            | cancelled
//!        \    DESTROYED <-------------------------------+------------------+
//!         +---------------- dropped without having been posted ------------+
//! ```

use std::cell::{Cell, UnsafeCell};
use std::ptr::{self, NonNull};

use crate::atomics::Ordering;
use crate::frame::context::{Cx, closures_cx};
use crate::frame::{FrameRef, quietly};
use crate::run::make_ready;

use super::argument::Dropped;
use super::frame::head;
use super::missing;
use super::session::show;
use super::tally::add;

/// Takes the list of the closure's given-up holes, sorted by offset.
///
/// # Safety
/// The caller has exclusive access to the live closure.
pub(super) unsafe fn take_dropped(closure: FrameRef) -> Vec<Dropped> {
    // SAFETY: the caller guarantees that the closure is live.
    let head = unsafe { head(closure) };
    // Relaxed: the caller has seen the arrival of every sender that noted a hole.
    let mut next = head.header.slot.unused().swap(ptr::null_mut(), Ordering::Relaxed).cast::<Dropped>();
    let mut all = Vec::new();
    while !next.is_null() {
        // SAFETY: from `Box::into_raw`, and only this list contains it.
        let dropped = *unsafe { Box::from_raw(next) };
        next = dropped.next;
        all.push(dropped);
    }
    all.sort_unstable_by_key(|hole| hole.offset);
    all
}

/// Notes that one of the closure's holes has been filled.
///
/// # Safety
/// The hole was the caller's, and the caller does not use the closure any more.
#[inline(always)]
pub(super) unsafe fn filled(closure: FrameRef) {
    // SAFETY: the closure lives as long as one of its holes is open.
    let head = unsafe { head(closure) };
    let missing = head.header.join.claim();
    let left = missing::left(missing);
    if left > 1 {
        let plainly = closures_cx().is_some_and(|cx| {
            let session = cx.session();
            // SAFETY: the session has set `tally` to a part of its computation, which is not over.
            let maker = unsafe { &(*session.tally.get()).maker };
            maker.counts(closure.addr().get(), &head.stamp, session.plain.get(), missing, left)
        });
        // SAFETY: one of the holes is the caller's.
        if plainly || !unsafe { filled_together(closure) } {
            return;
        }
    }
    // SAFETY: the last arrival has exclusive access to the closure.
    unsafe { full(closure) };
}

/// Counts down a closure whose holes several threads fill. Returns whether this was the last.
///
/// # Safety
/// The closure is live, and one of its holes is the caller's.
#[inline(never)]
unsafe fn filled_together(closure: FrameRef) -> bool {
    // SAFETY: the caller guarantees that the closure is live.
    let head = unsafe { head(closure) };
    let stamp = head.stamp.get();
    // SAFETY: `closures_cx` returns the worker.
    let is_maker = closures_cx()
        .is_some_and(|cx| stamp.is_of(unsafe { cx.own_computation() }.stamp.number(), cx.core().worker.get()));
    if !is_maker {
        head.stamp.exclude(closure.addr().get(), |worker| head.computation.maker(worker));
    }
    missing::count_down(head.header.join.claim())
}

/// Posts or destroys a closure whose holes have all been filled or given up.
///
/// # Safety
/// The caller has exclusive access to the live closure.
#[inline(always)]
unsafe fn full(closure: FrameRef) {
    // SAFETY: the caller guarantees that the closure is live.
    let head = unsafe { head(closure) };
    // Relaxed: all other senders have arrived.
    if !head.header.slot.unused().load(Ordering::Relaxed).is_null() {
        // SAFETY: the caller guarantees exclusive access to the closure.
        return unsafe { destroy(closure) };
    }
    // SAFETY: the caller guarantees exclusive access to the closure.
    unsafe { post(closure) };
}

/// Queues a full closure.
///
/// # Safety
/// The caller has exclusive access to the live closure.
#[inline(always)]
pub(super) unsafe fn post(closure: FrameRef) {
    // SAFETY: the caller guarantees that the closure is live.
    let stamp = unsafe { head(closure) }.stamp.get();
    match closures_cx() {
        // SAFETY: `closures_cx` has returned the worker.
        Some(cx) if unsafe { cx.own_computation() }.stamp == stamp => hide(cx, closure),
        // SAFETY: the caller guarantees exclusive access to the closure.
        _ => unsafe { post_other(closure) },
    }
}

/// Queues a full closure of the computation whose closures this worker runs.
#[inline(always)]
fn hide(cx: Cx, closure: FrameRef) {
    // SAFETY: the session has set `tally` to this worker's counts in this computation, which is not over.
    add(unsafe { &*cx.session().tally.get() }.posts(), 1, Ordering::Relaxed);
    cx.core().hide(closure);
    if cx.trips() {
        service_guard(cx);
    }
}

#[cold]
#[inline(never)]
fn service_guard(cx: Cx) {
    show(cx, || cx.worker().service_guard_in_thread());
}

/// Queues a full closure of another worker, of an earlier epoch, or of another computation.
///
/// # Safety
/// As for [`post`].
#[inline(never)]
unsafe fn post_other(closure: FrameRef) {
    // SAFETY: the caller guarantees that the closure is live.
    let head = unsafe { head(closure) };
    let number = head.stamp.get().number();
    if let Some(cx) = closures_cx()
        // SAFETY: `closures_cx` has returned the worker.
        && unsafe { cx.own_computation() }.stamp.number() == number
    {
        hide(cx, closure);
    } else if head.computation.post_from_outside(number) {
        make_ready(closure);
    } else {
        // SAFETY: the caller guarantees exclusive access to the closure.
        unsafe { destroy(closure) };
    }
}

/// Gives up the hole of `closure` at address `hole`.
///
/// # Safety
/// The hole was the caller's, and has not been filled.
#[cold]
#[inline(never)]
pub(super) unsafe fn give_up<T>(closure: FrameRef, hole: NonNull<T>) {
    let offset = hole.addr().get() - closure.addr().get();
    // SAFETY: the closure lives as long as one of its holes is open.
    let head = unsafe { head(closure) };
    let table = head.header.vtable.call.expect("a closure is a call");
    head.computation.unsent(head.stamp.get().number(), || (table.argument)(offset, size_of::<T>()));
    let word = head.header.slot.unused();
    // SAFETY: the caller of `Dropped::drop` guarantees that `at` is a valid `T`, which is not used any more.
    let drop = |at: NonNull<u8>| unsafe { at.cast::<T>().drop_in_place() };
    let mut dropped = Box::new(Dropped { offset, size: size_of::<T>(), drop, next: ptr::null_mut() });
    // Relaxed, all: the reader of the list has seen this sender's arrival.
    let mut next = word.load(Ordering::Relaxed);
    loop {
        dropped.next = next.cast();
        let new = Box::into_raw(dropped);
        match word.compare_exchange(next, new.cast(), Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => break,
            Err(found) => {
                // SAFETY: from `Box::into_raw` above, and not published.
                dropped = unsafe { Box::from_raw(new) };
                next = found;
            }
        }
    }
    // SAFETY: the hole was the caller's, and has been noted as given up.
    unsafe { filled(closure) };
}

thread_local! {
    /// Closures that this thread must destroy, while it destroys one: chains of closures have no length limit, so this
    /// avoids recursion. Null, or on the stack of the outermost `destroy`. It has no destructor: destructors of other
    /// thread-locals may destroy closures.
    static DYING: Cell<*mut Vec<FrameRef>> = const { Cell::new(ptr::null_mut()) };
}

/// Destroys a closure, and the closures that wait for arguments which it will not send.
///
/// # Safety
/// The caller has exclusive access to the live closure.
#[cold]
#[inline(never)]
pub(super) unsafe fn destroy(closure: FrameRef) {
    let outermost = DYING.get();
    if !outermost.is_null() {
        // SAFETY: the list is on this thread's stack, in an outer call, which holds no reference to it now.
        return unsafe { (*outermost).push(closure) };
    }
    let dying = UnsafeCell::new(vec![closure]);
    DYING.set(dying.get());
    // SAFETY: the list is on this stack, and the reference ends with the statement.
    while let Some(next) = unsafe { (*dying.get()).pop() } {
        // SAFETY: the caller, or the nested `destroy` that listed `next`, guarantees exclusive access to the live
        // closure.
        if let Some(table) = unsafe { head(next) }.header.vtable.call {
            // SAFETY: exclusive access, as above. `destroy` has caught the panics of user code; `quietly` protects the
            // list.
            quietly(|| unsafe { (table.destroy)(next) });
        }
    }
    DYING.set(ptr::null_mut());
}
