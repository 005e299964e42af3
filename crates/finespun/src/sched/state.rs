//! A worker's state with a pointer to its [`Worker`], for the modules above.

use std::cell::Cell;
use std::ptr;

use super::worker::Worker;
use crate::frame::context::{Cx, WorkerState};
use crate::run::context::Context;

/// A worker's state with a pointer to its [`Worker`].
#[repr(C)]
pub(crate) struct SchedulerState {
    context: Context,
    worker: Cell<*const Worker<'static>>,
}

// SAFETY: the first field of the C representation is a `Context`.
unsafe impl WorkerState for SchedulerState {}

impl SchedulerState {
    /// Creates this part of a worker's state, with the parts below it. `team` is the number of any run of its team.
    pub(crate) fn new(team: u32) -> SchedulerState {
        SchedulerState { context: Context::new(team), worker: Cell::new(ptr::null()) }
    }
}

impl Cx {
    /// Returns the worker that runs this code.
    #[inline(always)]
    pub(crate) fn worker<'a>(self) -> &'a Worker<'a> {
        // SAFETY: every worker's state begins with a `SchedulerState`.
        let state = unsafe { self.state::<SchedulerState>() };
        // SAFETY: the worker that runs now has set the pointer, and outlives the code that it runs.
        unsafe { &*state.worker.get().cast() }
    }

    /// Sets the worker. The caller must set `None` before the worker is dropped.
    pub(super) fn set_worker(self, worker: Option<&Worker<'_>>) {
        // SAFETY: as in `worker`.
        let state = unsafe { self.state::<SchedulerState>() };
        state.worker.set(worker.map_or(ptr::null(), |worker| ptr::from_ref(worker).cast()));
    }
}
