//! What can go wrong, each naming the thing and the cure.

use std::any::Any;
use std::fmt;

/// Why a runtime could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The number of workers is out of range.
    #[error("workers({0}): a runtime has between 1 and {max} workers", max = super::builder::MAX_WORKERS)]
    Workers(usize),
    /// The stack is too small.
    #[error("stack_size({0}): a worker's stack needs at least {min} bytes", min = super::builder::MIN_STACK)]
    StackSize(usize),
    /// The quantum is too short.
    #[error("quantum({0:?}): a task needs at least a millisecond to run")]
    Quantum(std::time::Duration),
    /// A thread could not be started.
    #[error("could not start worker {worker} of {workers}: {source}; ask for fewer workers or smaller stacks")]
    Thread {
        /// Which worker.
        worker: usize,
        /// Of how many.
        workers: usize,
        /// What the system said.
        source: std::io::Error,
    },
    /// Too many runtimes at once in this process.
    #[error("this process has 1024 runtimes already: share one, or drop some")]
    TooManyRuntimes,
}

/// Why a run delivered no value.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A task panicked; the payload is the panic's.
    #[error("a task panicked: {}", message(&**.0))]
    Panicked(Box<dyn Any + Send>),
    /// `run` was called on a worker, which would block it.
    #[error("Runtime::run was called inside a task: await the task instead")]
    OnWorker,
    /// The run was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
    /// Nothing was ready, nothing was under way, and the root had not ended.
    #[error("deadlock: nothing is ready, and nothing outside is waited for\n  {}", .0.join("\n  "))]
    Deadlock(Vec<String>),
}

impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// The text of a panic's payload, if it is one.
fn message(payload: &(dyn Any + Send)) -> &str {
    if let Some(text) = payload.downcast_ref::<&str>() {
        text
    } else if let Some(text) = payload.downcast_ref::<String>() {
        text
    } else {
        "(the payload is not a string)"
    }
}
