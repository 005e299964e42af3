//! The deadlock report: which tasks wait, and for what.

use std::sync::Arc;

use super::team::Waits;
use crate::cancel::groups::Groups;
use crate::cancel::runs::Run;
use crate::frame::leaf;
use crate::frame::origin::task_name;
use crate::frame::{FrameRef, VTable};

/// If `frame` is a leaf or spawned task that a task waits for, adds a line to the report of the waiter's run.
///
/// The caller keeps all workers parked, so the frames do not change; it skips the frames awaited by other teams' tasks.
pub(super) fn describe(
    frame: FrameRef,
    table: &'static VTable,
    groups: &Groups,
    stuck: &[Arc<Run>],
    waits: &mut Waits,
) {
    if table.spawned {
        return describe_spawned(frame, groups, stuck);
    }
    if table.leaf.is_none() {
        return;
    }
    // SAFETY: a block that is not free holds a header.
    let header = unsafe { frame.as_ref() };
    let Some(run) = stuck.iter().find(|run| groups.is_of(header.group, run.number)) else { return };
    // SAFETY: the table says that the frame is a leaf.
    let Some(wait) = (unsafe { leaf::describe(frame, table) }) else { return };
    run.describe(|| {
        let waiter = wait.waiter.and_then(waiting_task).unwrap_or("a task");
        let what = waits.remove(&frame).unwrap_or(wait.what);
        format!("{waiter} waits for {what}, at {}", wait.place)
    });
}

/// Adds the line for a spawned task. The task may belong to another run or another runtime than its waiter.
pub(super) fn describe_spawned(frame: FrameRef, groups: &Groups, stuck: &[Arc<Run>]) {
    // SAFETY: a block that is not free holds a header.
    let header = unsafe { frame.as_ref() };
    let Some(waiter) = header.slot.waiter() else { return };
    // SAFETY: a registered waiter lives until its slots have been completed; its team is stuck, and runs nothing.
    let group = unsafe { waiter.as_ref() }.group;
    let Some(run) = stuck.iter().find(|run| groups.is_of(group, run.number)) else { return };
    run.describe(|| {
        let waiter = waiting_task(waiter).unwrap_or("a task");
        let task = task_name((header.vtable.name)()).unwrap_or("another");
        format!("{waiter} waits for the spawned task {task}")
    });
}

/// Returns whether this is a leaf of `run` that has a waiter and has not ended.
///
/// All workers are parked, so the frames do not change.
pub(super) fn is_open_leaf(frame: FrameRef, table: &'static VTable, groups: &Groups, run: &Run) -> bool {
    // SAFETY: a block that is not free holds a header; `is_waited_for` is called for leaves only.
    table.leaf.is_some()
        && groups.is_of(unsafe { frame.as_ref() }.group, run.number)
        && unsafe { leaf::is_waited_for(frame) }
}

/// Returns whether this is a leaf that waits for a lock or permit, which a task may have passed to a plain thread.
///
/// All workers are parked, so the frames do not change.
pub(super) fn waits_for_lock(frame: FrameRef, table: &'static VTable) -> bool {
    // SAFETY: `leaf::waits_for_lock` is called for leaves only.
    table.leaf.is_some() && unsafe { leaf::waits_for_lock(frame) }
}

/// Returns the name of the first of the program's own tasks in the chain of waiters from `waiter` on, within its team.
fn waiting_task(waiter: FrameRef) -> Option<&'static str> {
    let mut next = Some(waiter);
    while let Some(frame) = next {
        // SAFETY: a registered waiter lives until its slots have been completed; its team is stuck, and runs nothing.
        let header = unsafe { frame.as_ref() };
        if let Some(name) = task_name((header.vtable.name)()) {
            return Some(name);
        }
        if header.vtable.spawned {
            // A running task of another team may wait for this one.
            return None;
        }
        next = header.slot.waiter();
    }
    None
}
