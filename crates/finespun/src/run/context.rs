//! A worker's state with the run and group of the code that it runs.

use std::cell::{Cell, UnsafeCell};
use std::ops::Deref;
use std::ptr::{self, NonNull};
use std::sync::Arc;

use super::membership::Begun;
use super::owner::CompletionOwner;
use crate::atomics::{AtomicBool, Ordering};
use crate::cancel::groups::{Group, Policy};
use crate::cancel::runs::Run;
use crate::cancel::teams::{Externals, Team};
use crate::frame::context::{Core, Cx, WorkerState};
use crate::frame::number::NOTHING;
use crate::frame::{BodyFrame, FrameRef, Payload, VTable};

/// A worker's state, as running frames use it. Other threads access `exhausted`, and [`Core`] as it allows.
#[repr(C)]
pub(crate) struct Context {
    core: Core,
    /// The number that new frames get: of the innermost group, or of the run; or
    /// [`UNREGISTERED`](super::membership::UNREGISTERED).
    pub(super) group: Cell<u32>,
    /// The record of the innermost group; while that is unregistered, of the innermost group that has one. Null if none
    /// has.
    pub(super) record: Cell<*const Group>,
    /// The innermost group that has begun on this stack.
    pub(super) begun: Cell<*const Begun>,
    /// A run has been ended because its frames take too much memory. It may be the run that this worker is in.
    pub(super) exhausted: AtomicBool,
    /// The state of the run, owned by the scheduler's table while any frame of the run lives.
    pub(super) run_state: UnsafeCell<Option<Arc<Run>>>,
    /// The completion owner to notify once the frame that has just ended is completed.
    completion_owner: UnsafeCell<Option<CompletionOwner>>,
    team: Cell<Option<NonNull<dyn Team>>>,
    /// How the activities of groups are distributed to the workers.
    pub(crate) policy: Cell<Policy>,
}

// SAFETY: the first field of the C representation is a `Core`.
unsafe impl WorkerState for Context {}

impl Deref for Context {
    type Target = Core;

    #[inline(always)]
    fn deref(&self) -> &Core {
        &self.core
    }
}

impl Context {
    /// Creates this part of a worker's state, with the parts below it. `team` is the number of any run of its team.
    pub(crate) fn new(team: u32) -> Context {
        Context {
            core: Core::new(team),
            group: Cell::new(NOTHING),
            record: Cell::new(ptr::null()),
            begun: Cell::new(ptr::null()),
            exhausted: AtomicBool::new(false),
            run_state: UnsafeCell::new(None),
            completion_owner: UnsafeCell::new(None),
            team: Cell::new(None),
            policy: Cell::new(Policy::default()),
        }
    }

    /// Sets the worker's team. The caller must call [`leave_team`](Context::leave_team) before the team is dropped.
    pub(crate) fn enter_team(&self, team: NonNull<dyn Team>) {
        self.team.set(Some(team));
    }

    pub(crate) fn leave_team(&self) {
        self.team.set(None);
    }

    pub(crate) fn team(&self) -> &dyn Team {
        match self.team.get() {
            // SAFETY: the worker that runs now has set its team, which outlives it, and has not left it.
            Some(team) => unsafe { &*team.as_ptr() },
            None => unreachable!("task code runs while its worker does"),
        }
    }

    /// Makes the worker check, when it next spawns a task or makes a closure, whether its current run has been
    /// cancelled.
    pub(crate) fn set_exhausted(&self) {
        // Release: pairs with the Acquire in `check_exhausted`, which then sees the run's mark.
        self.exhausted.store(true, Ordering::Release);
    }
}

impl Cx {
    #[inline(always)]
    pub(crate) fn context<'a>(self) -> &'a Context {
        // SAFETY: every worker's state begins with a `Context`: a team makes its workers' states from one.
        unsafe { self.state() }
    }

    /// Returns the current run.
    pub(crate) fn current_run(self) -> Arc<Run> {
        // SAFETY: only this thread accesses the field, and no reference to it outlives a statement.
        match unsafe { &*self.context().run_state.get() } {
            Some(run) => Arc::clone(run),
            None => unreachable!("task code runs in a run"),
        }
    }

    /// Calls `body` with the current run.
    #[cfg(feature = "objects")]
    pub(crate) fn with_run<R>(self, body: impl FnOnce(&Run) -> R) -> R {
        // SAFETY: only this thread accesses the field, and `body` gets it while no other run is entered.
        match unsafe { &*self.context().run_state.get() } {
            Some(run) => body(run),
            None => unreachable!("task code runs in a run"),
        }
    }

    /// Returns the team's count of waits that something outside will complete.
    pub(crate) fn external(self) -> Arc<Externals> {
        self.context().team().externals()
    }

    /// Cancels a run of this worker's team.
    pub(crate) fn cancel(self, run: &Run) {
        self.context().team().cancel(run);
    }

    /// Handles the panic of a detached task or one-way call of the current run: the first one cancels the run.
    #[cold]
    pub(crate) fn fail(self, payload: Payload) {
        let run = self.current_run();
        if run.fail(payload) {
            self.cancel(&run);
        }
    }

    pub(crate) fn set_completion_owner(self, completion_owner: CompletionOwner) {
        // SAFETY: as in `current_run`.
        let before = unsafe { (*self.context().completion_owner.get()).replace(completion_owner) };
        debug_assert!(before.is_none(), "one frame ends at a time");
    }

    #[inline(always)]
    pub(crate) fn take_completion_owner(self) -> Option<CompletionOwner> {
        // SAFETY: only this thread accesses the field, and nothing else does while the reference lives.
        let owner = unsafe { &mut *self.context().completion_owner.get() };
        // Looked at first: most frames have none.
        if owner.is_none() { None } else { owner.take() }
    }
}

impl<F: Future> BodyFrame<F> {
    /// Makes a frame of the current group around `body`, which no other thread can reach yet.
    pub(crate) fn make(cx: Cx, body: F) -> FrameRef {
        Self::with_table(cx, body, Self::VTABLE)
    }

    /// Like `make`, with another table than [`VTABLE`](Self::VTABLE).
    pub(crate) fn with_table(cx: Cx, body: F, vtable: &'static VTable) -> FrameRef {
        Self::of_group(cx, cx.group(), body, vtable)
    }
}
