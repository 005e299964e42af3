//! A worker's whole state. Its last field describes the computation whose closures run on the worker.

use std::cell::Cell;
use std::ptr;

use super::computation::Computation;
use crate::atomics::AtomicU64;
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

/// The computation whose closures run on this worker.
pub(super) struct InSession {
    /// The computation's number; zero if none runs.
    pub(super) number: Cell<u64>,
    pub(super) computation: Cell<*const Computation>,
    /// Points to the count of the computation's closures that this worker has posted.
    pub(super) posted: Cell<*const AtomicU64>,
}

/// Makes the state of a worker. `team` is the number of any run of its team.
///
/// # Safety
/// The place outlives the state, and contains no other.
pub(crate) unsafe fn worker_state(team: u32, place: Option<&StatePlace>) -> StateBox {
    let session =
        InSession { number: Cell::new(0), computation: Cell::new(ptr::null()), posted: Cell::new(ptr::null()) };
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
        // SAFETY: the pointer is null, or points to a record, which is never freed.
        unsafe { self.session().computation.get().as_ref() }
    }
}
