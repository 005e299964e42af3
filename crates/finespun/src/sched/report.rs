//! The deadlock report: who waits, and for what.

use std::sync::Arc;

use crate::task::frame::{FrameRef, task_name};
use crate::task::runs::Run;
use crate::task::suspend;

/// Adds a line to the report of the run that a waiting leaf belongs to.
///
/// All workers are parked, so the frames stand still.
pub(super) fn describe(frame: FrameRef, stuck: &[Arc<Run>]) {
    // SAFETY: blocks that are not free hold a header; no worker runs.
    let header = unsafe { frame.as_ref() };
    if header.vtable.leaf.is_none() {
        return;
    }
    let Some(run) = stuck.iter().find(|run| run.number == header.run) else { return };
    // SAFETY: a leaf.
    let Some(wait) = (unsafe { suspend::waiting(frame) }) else { return };
    run.describe(|| {
        let waiter = wait.waiter.and_then(waiting_task).unwrap_or("a task");
        format!("{waiter} waits for {}, at {}", wait.what, wait.place)
    });
}

/// The first task of the program's own among `waiter` and those that wait for it.
fn waiting_task(waiter: FrameRef) -> Option<&'static str> {
    let mut next = Some(waiter);
    while let Some(frame) = next {
        // SAFETY: a registered waiter lives until its slots have been completed, and nothing runs.
        let header = unsafe { frame.as_ref() };
        if let Some(name) = task_name((header.vtable.name)()) {
            return Some(name);
        }
        next = header.slot.waiter();
    }
    None
}
