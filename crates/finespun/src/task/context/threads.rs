//! What a worker has of the closures that it runs.

use std::cell::{Cell, UnsafeCell};
use std::ptr;

use crate::atomics::AtomicU64;
use crate::task::frame::FrameRef;

/// The computation whose threads run on this worker, as the closure room has set it.
pub(crate) struct Threads {
    /// Its number; zero if there is none.
    pub(crate) number: Cell<u64>,
    pub(crate) computation: Cell<*const ()>,
    /// How many of its closures this worker has posted.
    pub(crate) posted: Cell<*const AtomicU64>,
    /// Closures that are ready and that only this worker sees, youngest last: younger than all in its deque. Whoever looks for
    /// work in vain asks for them by the guard, as for what is on a stack.
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

    /// A closure is ready.
    #[inline(always)]
    pub(crate) fn push(&self, closure: FrameRef) {
        // SAFETY: only this thread touches the list, and no reference to it outlives a statement.
        unsafe { (*self.ready.get()).push(closure) };
    }

    /// The youngest of those that are ready here.
    #[inline(always)]
    pub(crate) fn pop(&self) -> Option<FrameRef> {
        // SAFETY: as above.
        unsafe { (*self.ready.get()).pop() }
    }

    /// The older half of those that are ready here, oldest first, to be shown to others.
    pub(crate) fn older_half(&self) -> Vec<FrameRef> {
        // SAFETY: as above.
        let ready = unsafe { &mut *self.ready.get() };
        let half = ready.len().div_ceil(2);
        ready.drain(..half).collect()
    }
}
