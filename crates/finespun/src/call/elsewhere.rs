//! Calls that another process makes in place of a frame that has not begun.

use std::cell::Cell;

use super::Task;
use super::outcome::Outcome;
use crate::frame::Payload;
use crate::frame::context::Cx;

/// How to make calls of a portable task at a worker of another process. Each operation sends the tasks there, and returns
/// the frame that waits for their results. Called at no other node than the worker's first, in the tasks' group, while no
/// call may be forwarded.
pub struct Elsewhere<Tk: Task> {
    pub(crate) one: Send<Tk, Tk::Output>,
    pub(crate) many: Send<Vec<Tk>, Several<Tk::Output>>,
}

/// Sends a task, or several, to the worker with a number.
pub(crate) type Send<A, V> = fn(Cx, u32, A) -> Outcome<V>;

/// The values of consecutive tasks, up to the first task that panicked.
pub struct Several<V> {
    pub(crate) values: Vec<V>,
    /// In a cell, so that a message can take it out of the values that it encodes.
    pub(crate) panic: Cell<Option<Payload>>,
}
