//! A worker's whole state. Its last field describes the computation whose closures run on the worker.

use std::cell::Cell;
use std::ptr;

use super::computation::Computation;
use super::missing::Stamp;
use super::tally::Tally;
use crate::frame::context::{Cx, StateBox, WorkerState};
use crate::frame::front::StatePlace;
#[cfg(feature = "objects")]
use crate::object::state::ObjectState as Below;
#[cfg(not(feature = "objects"))]
use crate::sched::state::SchedulerState as Below;

/// A worker's whole state. Aligned so that it shares no cache line, nor a pair of them, with another worker's.
#[repr(C, align(128))]
struct ClosureState {
    below: Below,
    session: InSession,
}

// SAFETY: the first field of the C representation is a `Below`.
unsafe impl WorkerState for ClosureState {}

/// What the code of closures that run on this worker needs.
pub(super) struct InSession {
    /// The computation; `None` if none runs.
    pub(super) of: Cell<Option<Of>>,
    /// The stamp of the closures that this worker counts down plainly; none if it may not.
    pub(super) plain: Cell<Stamp>,
    /// This worker's counts for the computation.
    pub(super) tally: Cell<*const Tally>,
    /// The group of the computation's closures.
    pub(super) group: Cell<u32>,
}

/// A computation, and the stamp that its closures get on this worker.
#[derive(Clone, Copy)]
pub(super) struct Of {
    pub(super) computation: &'static Computation,
    pub(super) stamp: Stamp,
}

/// Makes the state of a worker. `team` is the number of any run of its team.
///
/// # Safety
/// The place outlives the state, and contains no other.
pub(crate) unsafe fn worker_state(team: u32, place: Option<&StatePlace>) -> StateBox {
    let session = InSession {
        of: Cell::new(None),
        plain: Cell::new(Stamp::NONE),
        tally: Cell::new(ptr::null()),
        group: Cell::new(0),
    };
    // SAFETY: closures are the last module with a state of its own: each other one's is the first field of the next. The
    // caller guarantees the rest.
    unsafe { StateBox::new(place, ClosureState { below: Below::new(team), session }) }
}

impl Cx {
    /// Returns the closures' part of the worker's state.
    #[inline(always)]
    pub(super) fn session<'a>(self) -> &'a InSession {
        // SAFETY: every worker's state is made by `worker_state`.
        &unsafe { self.state::<ClosureState>() }.session
    }

    /// Returns the computation whose closures run on this worker, if any.
    #[inline(always)]
    pub(super) fn computation(self) -> Option<&'static Computation> {
        self.session().of.get().map(|of| of.computation)
    }

    /// Returns the computation whose closures run on this worker.
    ///
    /// # Safety
    /// The worker runs closures.
    #[inline(always)]
    pub(super) unsafe fn own_computation(self) -> Of {
        // SAFETY: the caller guarantees an open session, which has set it.
        unsafe { self.session().of.get().unwrap_unchecked() }
    }
}
