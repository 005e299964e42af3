//! The objects' part of a worker's state: pointers to the objects of the current node.

use std::cell::Cell;
use std::ptr;

use super::array_table::ArrayEntry;
use super::host::Nodes;
use super::table::Table;
use crate::frame::context::{Cx, WorkerState};
use crate::sched::state::SchedulerState;

/// A worker's state, with pointers to the objects of the current node.
#[repr(C)]
pub(crate) struct ObjectState {
    scheduler: SchedulerState,
    here: Here,
}

// SAFETY: the first field of the C representation is a `SchedulerState`.
unsafe impl WorkerState for ObjectState {}

/// The node at which this worker's code runs now.
pub(crate) struct Here {
    /// The second word of the node's region of the address space. The place in a reference leads from here to most objects,
    /// and from the word before this to the object's word, if the object is at this node.
    pub(super) behind: Cell<*const u64>,
    /// The node's table.
    pub(super) table: Cell<*const Table>,
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
            behind: Cell::new(ptr::null()),
            table: Cell::new(ptr::null()),
            arrays: Cell::new(ptr::null()),
            host: Cell::new(ptr::null()),
        };
        ObjectState { scheduler: SchedulerState::new(team), here }
    }
}

impl Cx {
    /// Returns pointers to the objects of the node at which this code runs.
    #[inline(always)]
    pub(crate) fn here<'a>(self) -> &'a Here {
        // SAFETY: in a build with objects, every worker's state begins with an `ObjectState`.
        &unsafe { self.state::<ObjectState>() }.here
    }
}
