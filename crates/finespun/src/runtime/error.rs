//! Errors of building a runtime and of running tasks. Each message names the cause and the cure.

use std::any::Any;
use std::fmt;
use std::panic::Location;

#[cfg(feature = "processes")]
use crate::cancel::runs::ProcessDied;
use crate::frame::Payload;
use crate::frame::budget::FrameMemory;
use crate::frame::origin::{Origin, open};
#[cfg(feature = "objects")]
use crate::object::error::CallError;
use crate::wait::foreign::cure;

/// The reason why a runtime could not be built.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The number of workers is out of range.
    #[error("workers({workers}): this runtime has between 1 and {most} workers")]
    Workers {
        /// The number asked for.
        workers: usize,
        /// The largest number that this runtime could have.
        most: usize,
    },
    /// The number of nodes is out of range.
    #[cfg(feature = "objects")]
    #[error("nodes({0}): a runtime has between 1 and {max} nodes", max = super::builder::MAX_NODES)]
    Nodes(usize),
    /// There is no address space for the objects of the nodes.
    #[cfg(feature = "objects")]
    #[error(
        "nodes({nodes}): no address space for their objects: {source}; ask for fewer nodes, raise the limit (`ulimit -v`), or \
         build the runtime with the most nodes first: it decides how much each node of the process gets"
    )]
    AddressSpace {
        /// The number of nodes of the runtime.
        nodes: usize,
        /// The system's error.
        source: std::io::Error,
    },
    /// The node that is to die does not exist.
    #[cfg(feature = "simulation")]
    #[error("Machine::dies({node}, ..): the machine has {nodes} nodes, numbered from 0")]
    DyingNode {
        /// The node that was named.
        node: usize,
        /// The number of nodes of the machine.
        nodes: usize,
    },
    /// The stack is too small, or larger than the address space.
    #[error(
        "stack_size({0}): a worker's stack needs at least {min} bytes, and with {reserve} bytes more it must fit in \
         the address space",
        min = super::builder::MIN_STACK, reserve = crate::frame::STACK_RESERVE
    )]
    StackSize(usize),
    /// The quantum is too short.
    #[error("quantum({0:?}): a task needs at least a millisecond to run")]
    Quantum(std::time::Duration),
    /// The memory for frames is too little.
    #[error("frame_memory({0}): frames need at least {min} bytes", min = super::builder::MIN_FRAME_MEMORY)]
    FrameMemory(usize),
    /// The name of the threads contains a NUL.
    #[error("thread_name({0:?}): the name of a thread has no NUL in it")]
    ThreadName(String),
    /// A thread could not be started.
    #[error(
        "could not start thread {worker} of a runtime with {workers} workers: {source}; ask for fewer workers, drop other \
         runtimes, or raise the limits of threads (`ulimit -u`) and of the address space (`ulimit -v`), of which a stack takes \
         {reserve} bytes beside Builder::stack_size",
        reserve = crate::frame::STACK_RESERVE
    )]
    Thread {
        /// Index of the worker; the number of workers for the ticker thread.
        worker: usize,
        /// Number of workers of the runtime.
        workers: usize,
        /// The system's error.
        source: std::io::Error,
    },
    /// The processes that a launcher has started cannot share a runtime.
    #[cfg(feature = "processes")]
    #[error("Fabric::Processes: {0}")]
    Processes(String),
    /// The memory through which processes exchange messages cannot be made.
    #[cfg(feature = "processes")]
    #[error(
        "Fabric::Processes: the workers need {bytes} bytes of shared memory, but {reason}: use fewer workers or processes"
    )]
    SharedMemory {
        /// Bytes that the workers of all processes need.
        bytes: usize,
        /// Why they cannot be had.
        reason: String,
    },
    /// The process has too many runtimes at once.
    #[error("this process has {max} runtimes already: share one, or drop some", max = crate::frame::number::TEAMS)]
    TooManyRuntimes,
    /// The variable `FINESPUN_WORKERS` is not a number of workers: see [`runtime::default`](super::default()).
    #[error(
        "FINESPUN_WORKERS={0:?}: the number of workers of the default runtime is 1 to {max}; without the variable, it is that of \
         the cores that this process may use",
        max = super::builder::MAX_WORKERS
    )]
    WorkersVariable(String),
    /// The default runtime has been built: see [`runtime::set_default`](super::set_default).
    #[error(
        "the default runtime has been built: call `runtime::set_default` before its first use, at the beginning of `main`"
    )]
    DefaultExists,
}

impl Error {
    /// Returns what makes an error of the one for the thread of a worker, or another one.
    pub(super) fn thread(worker: usize, workers: usize) -> impl FnOnce(std::io::Error) -> Error {
        move |source| Error::Thread { worker, workers, source }
    }
}

/// The reason why a run delivered no value.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum RunError {
    /// A task panicked.
    #[error("{0}")]
    Panicked(Panic),
    /// `run` was called on a worker, which it would block.
    #[error("Runtime::run was called inside a task: await the task instead")]
    OnWorker,
    /// This process is a fork of the one that built the runtime.
    #[error("this process is a fork of the one that has the runtime's threads: build a runtime here")]
    Forked,
    /// A task called [`exit`](crate::group::exit).
    #[error("the run was ended by exit({0})")]
    Exited(i32),
    /// The run was cancelled.
    #[error("the run was cancelled")]
    Cancelled,
    /// The frames of the run needed more memory than allowed: an endless recursion, or tasks spawned without end.
    #[error("{0}")]
    FrameMemory(FrameMemory),
    /// No task was ready, no message was in flight, nothing outside could end a wait, and the root had not ended.
    #[error(
        "deadlock: nothing is ready, and nothing outside is waited for; if something outside will end a wait, say so by \
         `Continuation::external`, `outside` or `Runtime::outside`\n  {}", .0.join("\n  ")
    )]
    Deadlock(Vec<String>),
    /// A process of a runtime over several processes has died: see [`Fabric::Processes`](super::Fabric::Processes).
    #[cfg(feature = "processes")]
    #[error("{0}")]
    ProcessDied(ProcessDied),
    /// A node of a simulated machine has died: see [`Machine::dies`](crate::simulation::Machine::dies).
    #[cfg(feature = "simulation")]
    #[error("node {node} died after {at:?} of virtual time{}{}", if .waits.is_empty() { "" } else { "\n  " }, .waits.join("\n  "))]
    NodeDied {
        /// The node.
        node: usize,
        /// The time of its death, since the start of the machine.
        at: std::time::Duration,
        /// A line for each of the tasks that waited when the other nodes noticed; for many, the first of them.
        waits: Vec<String>,
    },
}

impl fmt::Debug for RunError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// A task's panic: the task, and the payload.
///
/// The task is the innermost one whose own code was running, wherever it ran: on its caller's stack, in a frame, on a
/// thief. Closures that a task passes to the library (`reduce`'s operator, `suspend`'s body) are its own code, except a
/// closure with a `return` or `?`: that closure's panic may be ascribed to the task's awaiter. The same holds for any
/// such closure in a build without debug assertions, where a note of the closure's own would cost instructions. Instead
/// of a task that awaits in tail position, its caller may be named, as in a backtrace.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::RunError;
///
/// #[task]
/// async fn third(v: &[u64]) -> u64 {
///     v[2]
/// }
///
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// let Err(RunError::Panicked(panic)) = runtime.try_run(third(&[1, 2])) else { panic!("a short slice") };
/// assert_eq!(panic.task(), Some("third"));
/// assert!(panic.to_string().starts_with("task `third` ("));
/// assert!(panic.message().starts_with("index out of bounds"));
/// ```
pub struct Panic {
    origin: Option<&'static Origin>,
    payload: Payload,
    /// The text of a payload that is an error of a call.
    text: Option<String>,
}

impl Panic {
    /// Makes a panic from a payload, and unpacks its origin.
    pub(super) fn of(payload: Payload) -> Panic {
        let (payload, origin) = open(payload);
        #[cfg(feature = "objects")]
        let text = payload.downcast_ref::<CallError>().map(CallError::to_string);
        #[cfg(not(feature = "objects"))]
        let text = None;
        Panic { origin, payload, text }
    }

    /// Returns the task's name. `None` if the panic came from no known task's own code: from the destructor of a
    /// result, or from the library.
    pub fn task(&self) -> Option<&'static str> {
        self.origin.map(|origin| origin.name)
    }

    /// Returns the source location where the task is defined. The panic hook has printed where it panicked.
    pub fn place(&self) -> Option<&'static Location<'static>> {
        self.origin.map(|origin| origin.place)
    }

    /// Returns the text of the payload, if the payload is text.
    pub fn message(&self) -> &str {
        if let Some(text) = &self.text {
            text
        } else if let Some(text) = self.payload.downcast_ref::<&str>() {
            text
        } else if let Some(text) = self.payload.downcast_ref::<String>() {
            text
        } else {
            "(the payload is not a string)"
        }
    }

    /// Returns the payload.
    pub fn payload(&self) -> &(dyn Any + Send) {
        &*self.payload
    }

    /// Returns the payload, to be rethrown.
    pub fn into_payload(self) -> Box<dyn Any + Send> {
        self.payload.into_box()
    }

    /// Resumes the panic in this thread, after printing its origin on standard error, and its cure if that is known: the
    /// payload has no room for them.
    #[track_caller]
    pub(super) fn resume(self) -> ! {
        if self.origin.is_some() {
            eprintln!("finespun: the panic came from {}", Who(self.origin));
        }
        if let Some(cure) = cure(self.message()) {
            eprintln!("finespun: {cure}");
        }
        if let Some(text) = self.text {
            // The library threw this payload, so no panic hook has printed it.
            panic!("{text}");
        }
        self.payload.resume()
    }
}

/// A task's name and location in a sentence, or "a task".
struct Who(Option<&'static Origin>);

impl fmt::Display for Who {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(Origin { name, place, .. }) => write!(f, "task `{name}` ({}:{})", place.file(), place.line()),
            None => f.write_str("a task"),
        }
    }
}

impl fmt::Display for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} panicked: ", Who(self.origin))?;
        // Joined into one line, as an assertion prints its sides on lines of their own.
        for (i, line) in self.message().lines().enumerate() {
            let between = if i == 0 { "" } else { "; " };
            write!(f, "{between}{}", line.trim())?;
        }
        if let Some(cure) = cure(self.message()) {
            write!(f, "; {cure}")?;
        }
        Ok(())
    }
}

impl fmt::Debug for Panic {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
