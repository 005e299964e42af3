//! A worker's state for the closures that it runs.

use std::cell::{Cell, UnsafeCell};
use std::ptr;

use crate::atomics::AtomicU64;
use crate::task::frame::FrameRef;

/// The computation whose closures run on this worker. The closure module sets it.
pub(crate) struct Threads {
    /// The computation's number; zero if none runs.
    pub(crate) number: Cell<u64>,
    pub(crate) computation: Cell<*const ()>,
    /// Points to the count of the computation's closures that this worker has posted.
    pub(crate) posted: Cell<*const AtomicU64>,
    /// Ready closures that only this worker sees, youngest last: all are younger than those in its deque. A thief
    /// requests them by the guard, as it requests tasks on a stack.
    ready: UnsafeCell<Vec<FrameRef>>,
}

impl Threads {
    pub(super) fn new() -> Threads {
        Threads {
            number: Cell::new(0),
            computation: Cell::new(ptr::null()),
            posted: Cell::new(ptr::null()),
            ready: UnsafeCell::new(Vec::new()),
        }
    }

    /// Adds a ready closure.
    #[inline(always)]
    pub(crate) fn push(&self, closure: FrameRef) {
        // SAFETY: only this thread accesses the list, and no reference to it outlives a statement.
        unsafe { (*self.ready.get()).push(closure) };
    }

    /// Removes the youngest ready closure.
    #[inline(always)]
    pub(crate) fn pop(&self) -> Option<FrameRef> {
        // SAFETY: as in `push`.
        unsafe { (*self.ready.get()).pop() }
    }

    /// Removes the older half of the ready closures, oldest first, so that the caller can publish them.
    pub(crate) fn older_half(&self) -> Vec<FrameRef> {
        // SAFETY: only this thread accesses the list, and the reference is the only one in this function.
        let ready = unsafe { &mut *self.ready.get() };
        let half = ready.len().div_ceil(2);
        ready.drain(..half).collect()
    }
}
