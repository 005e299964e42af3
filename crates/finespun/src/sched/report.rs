//! The deadlock report: who waits, and for what.

use std::sync::Arc;

use super::team::Waits;
use crate::task::frame::{FrameRef, VTable, task_name};
use crate::task::groups::Groups;
use crate::task::runs::Run;
use crate::task::suspend;

/// Adds a line to the report of the run whose task waits for that leaf or spawned task.
///
/// All workers are parked, so the frames stand still; no task of another team waits for this one.
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
    // SAFETY: blocks that are not free hold a header.
    let header = unsafe { frame.as_ref() };
    let Some(run) = stuck.iter().find(|run| groups.is_of(header.group, run.number)) else { return };
    // SAFETY: a leaf.
    let Some(wait) = (unsafe { suspend::waiting(frame, table) }) else { return };
    run.describe(|| {
        let waiter = wait.waiter.and_then(waiting_task).unwrap_or("a task");
        let what = waits.remove(&frame).unwrap_or(wait.what);
        format!("{waiter} waits for {what}, at {}", wait.place)
    });
}

/// The same of a spawned task, which may be of another run than the one that waits, and of another runtime.
pub(super) fn describe_spawned(frame: FrameRef, groups: &Groups, stuck: &[Arc<Run>]) {
    // SAFETY: blocks that are not free hold a header.
    let header = unsafe { frame.as_ref() };
    let Some(waiter) = header.slot.waiter() else { return };
    // SAFETY: a registered waiter lives until its slots have been completed; it is of the stuck team, of which nothing runs.
    let group = unsafe { waiter.as_ref() }.group;
    let Some(run) = stuck.iter().find(|run| groups.is_of(group, run.number)) else { return };
    run.describe(|| {
        let waiter = waiting_task(waiter).unwrap_or("a task");
        let task = task_name((header.vtable.name)()).unwrap_or("another");
        format!("{waiter} waits for the spawned task {task}")
    });
}

/// Whether that is a leaf of the run which nobody has ended, and which somebody waits for.
///
/// All workers are parked, so the frames stand still.
pub(super) fn is_open_leaf(frame: FrameRef, table: &'static VTable, groups: &Groups, run: &Run) -> bool {
    // SAFETY: blocks that are not free hold a header; of a leaf, which it is, one may ask that.
    table.leaf.is_some()
        && groups.is_of(unsafe { frame.as_ref() }.group, run.number)
        && unsafe { suspend::is_waited_for(frame) }
}

/// Whether that is a leaf that waits for something which a task may have passed on to a plain thread.
///
/// All workers are parked, so the frames stand still.
pub(super) fn is_lent(frame: FrameRef, table: &'static VTable) -> bool {
    // SAFETY: of a leaf, which it is, one may ask that.
    table.leaf.is_some() && unsafe { suspend::is_lent(frame) }
}

/// The first task of the program's own among `waiter` and those of its team that wait for it.
fn waiting_task(waiter: FrameRef) -> Option<&'static str> {
    let mut next = Some(waiter);
    while let Some(frame) = next {
        // SAFETY: a registered waiter lives until its slots have been completed; it is of the stuck team, of which nothing runs.
        let header = unsafe { frame.as_ref() };
        if let Some(name) = task_name((header.vtable.name)()) {
            return Some(name);
        }
        if header.vtable.spawned {
            // A task of another team, which runs, may wait for this one.
            return None;
        }
        next = header.slot.waiter();
    }
    None
}
