//! The objects' part of a worker's state: pointers to the tables of the current node.

use std::cell::Cell;
use std::ptr;

use super::array_table::ArrayEntry;
use super::host::Nodes;
use super::table;
use crate::frame::context::{Cx, WorkerState};
use crate::sched::state::SchedulerState;

/// A worker's state, with pointers to the tables of the current node.
#[repr(C)]
pub(crate) struct ObjectState {
    scheduler: SchedulerState,
    here: Here,
}

// SAFETY: the first field of the C representation is a `SchedulerState`.
unsafe impl WorkerState for ObjectState {}

/// The tables of the node at which this worker's code runs now.
///
/// `entries` points to the node's object table: a reference's index under `mask` selects the object's entry, if the
/// object is at this node. `states` points to a parallel table with one state per entry.
pub(crate) struct Here {
    pub(super) entries: Cell<*const table::Entry>,
    pub(super) states: Cell<*const table::State>,
    pub(super) mask: Cell<u32>,
    /// The node's write-once arrays: one cache-line-sized entry for each array number.
    pub(crate) arrays: Cell<*const ArrayEntry>,
    /// The worker's nodes and its mailbox.
    pub(super) host: Cell<*const Nodes>,
}

impl ObjectState {
    /// Creates this part of a worker's state, with the parts below it. `team` identifies the team: it is the number of
    /// any of its runs.
    pub(crate) fn new(team: u32) -> ObjectState {
        let here = Here {
            entries: Cell::new(ptr::null()),
            states: Cell::new(ptr::null()),
            mask: Cell::new(0),
            arrays: Cell::new(ptr::null()),
            host: Cell::new(ptr::null()),
        };
        ObjectState { scheduler: SchedulerState::new(team), here }
    }
}

impl Cx {
    /// Returns pointers to the tables of the node at which this code runs.
    #[inline(always)]
    pub(crate) fn here<'a>(self) -> &'a Here {
        // SAFETY: in a build with objects, every worker's state begins with an `ObjectState`.
        &unsafe { self.state::<ObjectState>() }.here
    }
}
