//! What becomes of a closure: its holes are filled or given up, and it is posted or destroyed.
//!
//! *Missing* is the papers' join counter. Whoever fills, or gives up, the last hole has the closure alone: it is posted if all
//! holes were filled, and else destroyed. Holes that were given up are noted in a list, whose head is the word in which other
//! frames keep who waits for them: nobody waits for a closure.
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
use crate::task::context::{Cx, try_cx};
use crate::task::frame::{FrameRef, quietly};
use crate::task::suspend;

use super::argument::Dropped;
use super::frame::head;
use super::tally::add;

/// The holes of a closure that were given up, sorted by where they are.
///
/// # Safety
/// The caller has the closure alone.
pub(super) unsafe fn take_dropped(closure: FrameRef) -> Vec<Dropped> {
    // SAFETY: by the caller's word.
    let head = unsafe { head(closure) };
    // Relaxed: the caller has seen all who have noted one arrive.
    let mut next = head.header.slot.unused().swap(ptr::null_mut(), Ordering::Relaxed).cast::<Dropped>();
    let mut all = Vec::new();
    while !next.is_null() {
        // SAFETY: from `Box::into_raw`, and in this list alone.
        let dropped = *unsafe { Box::from_raw(next) };
        next = dropped.next;
        all.push(dropped);
    }
    all.sort_unstable_by_key(|hole| hole.offset);
    all
}

/// One of a closure's holes has been filled.
///
/// # Safety
/// It was this caller's, and the closure is not used any more.
#[inline(always)]
pub(super) unsafe fn filled(closure: FrameRef) {
    // SAFETY: as long as a hole is open, the closure lives.
    if unsafe { head(closure) }.header.join.arrive() {
        // SAFETY: the last to arrive has the closure alone.
        unsafe { full(closure) };
    }
}

/// A closure whose holes are all filled, or given up.
///
/// # Safety
/// The caller has the closure alone.
#[inline(always)]
unsafe fn full(closure: FrameRef) {
    // SAFETY: by the caller's word.
    let head = unsafe { head(closure) };
    // Relaxed: the others have arrived.
    if !head.header.slot.unused().load(Ordering::Relaxed).is_null() {
        // SAFETY: the caller has the closure alone.
        return unsafe { destroy(closure) };
    }
    // SAFETY: the caller has the closure alone.
    unsafe { post(closure) };
}

/// Queues a full closure.
///
/// # Safety
/// The caller has the closure alone.
#[inline(always)]
pub(super) unsafe fn post(closure: FrameRef) {
    // SAFETY: by the caller's word.
    let number = unsafe { head(closure) }.number;
    match try_cx() {
        Some(cx) if cx.context().threads.number.get() == number => {
            // SAFETY: set with the number, to the counter of this worker in this computation, which is not over.
            add(unsafe { &*cx.context().threads.posted.get() }, 1, Ordering::Relaxed);
            cx.context().threads.push(closure);
            if cx.trips() {
                attend(cx);
            }
        }
        // SAFETY: the caller has the closure alone.
        _ => unsafe { post_from_outside(closure) },
    }
}

#[cold]
#[inline(never)]
fn attend(cx: Cx) {
    cx.context().scheduler().attend();
}

#[cold]
#[inline(never)]
unsafe fn post_from_outside(closure: FrameRef) {
    // SAFETY: by the caller's word.
    let head = unsafe { head(closure) };
    if head.computation.post_from_outside(head.number) {
        suspend::make_ready(closure);
    } else {
        // SAFETY: the caller has the closure alone.
        unsafe { destroy(closure) };
    }
}

/// Gives up a hole of a closure, at that address.
///
/// # Safety
/// It was this caller's, and is not filled.
#[cold]
#[inline(never)]
pub(super) unsafe fn give_up<T>(closure: FrameRef, hole: NonNull<T>) {
    let offset = hole.addr().get() - closure.addr().get();
    // SAFETY: as long as a hole is open, the closure lives.
    let head = unsafe { head(closure) };
    let table = head.header.vtable.thread.expect("a closure has a thread");
    head.computation.unsent(head.number, || (table.argument)(offset, size_of::<T>()));
    let word = head.header.slot.unused();
    // SAFETY: of who calls it.
    let drop = |at: NonNull<u8>| unsafe { at.cast::<T>().drop_in_place() };
    let mut dropped = Box::new(Dropped { offset, size: size_of::<T>(), drop, next: ptr::null_mut() });
    // Relaxed, all: whoever reads the list has seen this arrive.
    let mut next = word.load(Ordering::Relaxed);
    loop {
        dropped.next = next.cast();
        let new = Box::into_raw(dropped);
        match word.compare_exchange(next, new.cast(), Ordering::Relaxed, Ordering::Relaxed) {
            Ok(_) => break,
            Err(found) => {
                // SAFETY: just made, and not published.
                dropped = unsafe { Box::from_raw(new) };
                next = found;
            }
        }
    }
    // SAFETY: its hole has been noted.
    unsafe { filled(closure) };
}

thread_local! {
    /// Closures that this thread is to destroy, while it destroys one: a chain of them may be as long as one likes. Null, or on
    /// the stack of the outermost `destroy`. Without a destructor: other thread-locals' destructors may destroy closures.
    static DYING: Cell<*mut Vec<FrameRef>> = const { Cell::new(ptr::null_mut()) };
}

/// Destroys a closure, and those that wait for what it will not send.
///
/// # Safety
/// The caller has the closure alone.
#[cold]
#[inline(never)]
pub(super) unsafe fn destroy(closure: FrameRef) {
    let outermost = DYING.get();
    if !outermost.is_null() {
        // SAFETY: on this thread's stack, further out, where nothing refers to it now.
        return unsafe { (*outermost).push(closure) };
    }
    let dying = UnsafeCell::new(vec![closure]);
    DYING.set(dying.get());
    // SAFETY: as above; the reference ends with the statement.
    while let Some(next) = unsafe { (*dying.get()).pop() } {
        // SAFETY: by the caller's word, or by that of who has put it on the list.
        if let Some(table) = unsafe { head(next) }.header.vtable.thread {
            // SAFETY: as above. What user code panics with has been caught; this is to be sure of the list.
            quietly(|| unsafe { (table.destroy)(next) });
        }
    }
    DYING.set(ptr::null_mut());
}
