//! The completion owner of a spawned task: its run or its scope.

use std::sync::Arc;

use super::continuation::Continuation;
use super::scope_state;
use crate::cancel::runs::{CompletionCallback, Run};
use crate::frame::Payload;
use crate::frame::origin::{of_run, origin_of};

/// The state of a scope. The scope ends when the continuation for which its body waits is resolved.
pub(crate) type State = scope_state::State<Continuation<()>>;

/// The completion owner of a spawned task: it is notified once the task has ended and nothing of it is left, except a
/// result that a handle or waiter still owns.
pub(crate) enum CompletionOwner {
    Run(Arc<Run>),
    Scope(&'static State),
}

impl CompletionOwner {
    /// Counts the task as ended. If it was the last of its run, returns the run's completion callback.
    #[must_use]
    #[inline(always)]
    pub(crate) fn notify(self) -> Option<CompletionCallback> {
        match self {
            CompletionOwner::Run(run) => run.leave(),
            CompletionOwner::Scope(state) => {
                end_scope(state.leave());
                None
            }
        }
    }

    /// Notes that the task has ended with a panic. Returns the payload for the task's frame.
    pub(crate) fn panicked(&self, payload: Payload) -> Payload {
        match self {
            CompletionOwner::Run(run) => of_run(payload, run.serial),
            CompletionOwner::Scope(state) => {
                state.note_panic(origin_of(&payload));
                payload
            }
        }
    }
}

/// Ends a scope by resolving its continuation, if its last task or body has just ended.
pub(crate) fn end_scope(end: Option<Continuation<()>>) {
    if let Some(end) = end {
        end.resolve(());
    }
}
