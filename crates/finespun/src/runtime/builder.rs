//! The settings of a runtime.

mod build;
#[cfg(all(feature = "objects", feature = "simulation"))]
mod simulated;

use std::sync::Arc;
use std::time::Duration;

use crate::cancel::groups::{Members, Policy};
#[cfg(feature = "objects")]
use crate::fabric::threads::Transport;
#[cfg(feature = "objects")]
use crate::message::mailbox::Travel;
#[cfg(feature = "simulation")]
use crate::sim::Machine;

use super::hooks::Hooks;
use super::{Panic, Schema};

pub(super) const MAX_WORKERS: usize = 1024;
pub(super) const MAX_NODES: usize = 65536;
pub(super) const MIN_STACK: usize = 64 * 1024;
pub(super) const MIN_FRAME_MEMORY: usize = 1 << 20;
const DEFAULT_STACK: usize = 4 * 1024 * 1024;

/// What carries the messages between the workers of a runtime, and keeps their time.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Fabric {
    /// The workers are threads of this process.
    #[default]
    Threads,
    /// The workers are the processors of a simulated machine. See [`simulation`](crate::simulation).
    #[cfg(feature = "simulation")]
    Simulated(Machine),
    /// The workers are threads of all processes that a launcher has started: `mpirun` of MPICH or Open MPI, or `srun`.
    /// [`Builder::workers`] is for each process. Without a launcher, as `Threads`.
    ///
    /// Processes of one host share memory, by which a call with its answer takes less than a microsecond. If there are
    /// several hosts, which needs the feature `mpi`, MPI carries the messages between them, 1.5 to 1.9 times as long for a
    /// call as for two messages of MPI; messages that are sent while earlier ones are under way travel together. Processes of
    /// a host share memory if their ranks follow each other: `mpirun -ppn 8` of MPICH and `--map-by slot` of Open MPI number
    /// them so. The variable `FINESPUN_MPI_SHM=off` makes each process of a host behave as if it were on a host of its own,
    /// and `FINESPUN_MPI_SHM=2` each two.
    ///
    /// The program runs in the first process only. In the others, [`Builder::build`] does not return: there the process
    /// serves the runtimes that the first process builds, and ends with it. So everything before the first call of
    /// `build` happens in each process, and everything after it once:
    ///
    /// ```no_run
    /// use finespun::prelude::*;
    /// use finespun::runtime::Fabric;
    ///
    /// #[task]
    /// async fn where_am_i(_: u64) -> u32 {
    ///     std::process::id()
    /// }
    ///
    /// fn main() -> Result<(), finespun::Error> {
    ///     let runtime = Runtime::builder().fabric(Fabric::Processes).workers(1).build()?;
    ///     println!("{:?}", runtime.run(finespun::everywhere(where_am_i, 0)));
    ///     Ok(())
    /// }
    /// ```
    ///
    /// If a process dies, the other ones that serve end at once, with a line on standard error and exit code 1. In the first
    /// process, the runs in progress and all later ones end with
    /// [`RunError::ProcessDied`](super::RunError::ProcessDied), and no more such runtimes can be built. If the first process
    /// dies, the others end in the same way.
    ///
    /// A process that serves ignores Ctrl-C. After a request to terminate (SIGTERM), it ends with a delay of one second:
    /// launchers and terminals send these signals to all processes, and the first one decides.
    #[cfg(all(feature = "processes", target_os = "linux"))]
    Processes,
}

/// Makes a [`Runtime`](super::Runtime).
///
/// ```
/// use finespun::prelude::*;
///
/// #[task]
/// async fn where_am_i() -> (usize, usize) {
///     (here(), nodes())
/// }
///
/// fn main() -> Result<(), finespun::Error> {
///     // Two workers, which host eight nodes; the frames of all tasks may take 64 MiB.
///     let runtime = Runtime::builder().workers(2).nodes(8).frame_memory(64 << 20).build()?;
///     let (here, nodes) = runtime.run(where_am_i());
///     assert!(here < nodes && nodes == 8);
///     // Settings out of range are errors.
///     assert!(Runtime::builder().workers(0).build().is_err());
///     Ok(())
/// }
/// ```
#[derive(Clone, Debug)]
#[cfg_attr(feature = "processes", derive(serde::Serialize, serde::Deserialize))]
#[must_use = "a builder does nothing until `build`"]
pub struct Builder {
    workers: Option<usize>,
    stack_size: usize,
    quantum: Duration,
    block_every: u32,
    schema: Schema,
    #[cfg(feature = "pinning")]
    pin: bool,
    members: Members,
    policy: Policy,
    #[cfg(feature = "objects")]
    nodes: Option<usize>,
    #[cfg(feature = "objects")]
    travel: Travel,
    frame_memory: Option<usize>,
    name: String,
    #[cfg_attr(feature = "processes", serde(skip))]
    hooks: Hooks,
    #[cfg_attr(feature = "processes", serde(skip))]
    fabric: Fabric,
    #[cfg(feature = "objects")]
    processes: usize,
    #[cfg(feature = "objects")]
    per_host: usize,
}

impl Default for Builder {
    fn default() -> Builder {
        Builder {
            workers: None,
            stack_size: DEFAULT_STACK,
            quantum: Duration::from_millis(50),
            block_every: 0,
            schema: Schema::default(),
            #[cfg(feature = "pinning")]
            pin: false,
            members: Members::default(),
            policy: Policy::default(),
            #[cfg(feature = "objects")]
            nodes: None,
            #[cfg(feature = "objects")]
            travel: Travel::default(),
            frame_memory: None,
            name: "finespun".to_owned(),
            hooks: Hooks::default(),
            fabric: Fabric::default(),
            #[cfg(feature = "objects")]
            processes: 1,
            #[cfg(feature = "objects")]
            per_host: usize::MAX,
        }
    }
}

impl Builder {
    /// The number of workers, 1 to 1024. A simulated machine has up to 65536. Default: the cores that this process may
    /// use, control-group quotas included.
    pub fn workers(mut self, workers: usize) -> Builder {
        self.workers = Some(workers);
        self
    }

    /// Returns whether the number of workers has been set.
    pub(super) fn has_workers(&self) -> bool {
        self.workers.is_some()
    }

    /// Bytes of stack per worker on which tasks call each other, at least 64 KiB. Default: 4 MiB. Deeper recursion
    /// continues in heap frames, so this only affects speed. Beyond it a worker has 64 MiB of address space for plain
    /// calls, straight tasks and destructors (384 MiB in a debug build), which takes memory only where it is used.
    pub fn stack_size(mut self, bytes: usize) -> Builder {
        self.stack_size = bytes;
        self
    }

    /// Sets how long a task may run before other ready tasks of its worker get a turn, at least 1 ms. Default: 50 ms.
    pub fn quantum(mut self, quantum: Duration) -> Builder {
        self.quantum = quantum;
        self
    }

    /// See [`TestSettings::block_every`](crate::testing::TestSettings::block_every).
    pub(crate) fn set_block_every(mut self, n: u32) -> Builder {
        self.block_every = n;
        self
    }

    /// Sets whether calls run on the stack first. Default: [`Schema::Auto`]. [`Schema::Heap`] means a [`block_every`]
    /// of 1; a `block_every` above 0 overrides it, in whatever order the two are set.
    ///
    /// [`block_every`]: crate::testing::TestSettings::block_every
    pub fn schema(mut self, schema: Schema) -> Builder {
        self.schema = schema;
        self
    }

    /// Sets whether each worker is bound to a core. Default: no. If so, all tasks run on the workers' threads, and none on
    /// threads that call [`run`](super::Runtime::run).
    #[cfg(feature = "pinning")]
    pub fn pin(mut self, pin: bool) -> Builder {
        self.pin = pin;
        self
    }

    /// Sets how the activities of groups are distributed to the workers. Default: [`Policy::Steal`]. A program's answer
    /// must not depend on it.
    pub fn policy(mut self, policy: Policy) -> Builder {
        self.policy = policy;
        self
    }

    /// See [`TestSettings::members`](crate::testing::TestSettings::members).
    pub(crate) fn set_members(mut self, members: Members) -> Builder {
        self.members = members;
        self
    }

    /// The number of nodes that objects live on, 1 to 65536. Each node belongs to one worker: node n is hosted by
    /// worker n modulo the number of workers. Default: as many as workers.
    #[cfg(feature = "objects")]
    pub fn nodes(mut self, nodes: usize) -> Builder {
        self.nodes = Some(nodes);
        self
    }

    /// Sets how messages between workers are transported. Default: [`Transport::Adaptive`].
    #[cfg(feature = "objects")]
    pub fn transport(mut self, transport: Transport) -> Builder {
        self.travel.transport = transport;
        self
    }

    /// Sets how many messages may wait in a worker's outbox, for its other nodes or because their receivers have no
    /// room, before tasks that send one-way calls wait too; at least 1. Default: 256. Calls with a waiter, and their
    /// answers, are not limited by this.
    #[cfg(feature = "objects")]
    pub fn outbox(mut self, messages: usize) -> Builder {
        self.travel.outbox = messages.max(1);
        self
    }

    /// See [`TestSettings::encode`](crate::testing::TestSettings::encode).
    #[cfg(feature = "objects")]
    pub(crate) fn set_encode(mut self, encode: bool) -> Builder {
        self.travel.encode = encode;
        self
    }

    /// See [`TestSettings::processes`](crate::testing::TestSettings::processes).
    #[cfg(feature = "objects")]
    pub(crate) fn set_processes(mut self, processes: usize) -> Builder {
        self.processes = processes.max(1);
        self
    }

    /// See [`TestSettings::per_host`](crate::testing::TestSettings::per_host).
    #[cfg(feature = "objects")]
    pub(crate) fn set_per_host(mut self, processes: usize) -> Builder {
        self.per_host = processes.max(1);
        self
    }

    /// See [`TestSettings::overhead`](crate::testing::TestSettings::overhead).
    #[cfg(feature = "objects")]
    pub(crate) fn set_overhead(mut self, overhead: Duration) -> Builder {
        self.travel.overhead = overhead;
        self
    }

    /// Bytes that the frames of this runtime may take, at least 1 MiB; a run that asks for more ends with
    /// [`RunError::FrameMemory`](super::RunError::FrameMemory). Default: half of the memory that the process may use,
    /// shared by the frames of all runtimes without a limit of their own. The machine's memory, control groups of
    /// version 1 and 2, and half of the address space that its limit (`ulimit -v`) leaves are taken into account.
    /// Before a run is ended under the shared limit, all runtimes of the process are asked to return unused memory. The
    /// run that is ended is the one that has grown most of late, in any of these runtimes.
    ///
    /// Frames are counted by pages of 64 KiB. Memory that tasks keep elsewhere (in vectors, boxes) is not counted, nor
    /// are objects. An ended run needs some memory on top of the limit until its tasks have been destroyed: frames for
    /// the calls that are still on stacks.
    pub fn frame_memory(mut self, bytes: usize) -> Builder {
        self.frame_memory = Some(bytes);
        self
    }

    /// Sets what carries the messages between the workers. Default: [`Fabric::Threads`]. A program's answer must not
    /// depend on it.
    ///
    /// A simulated machine has as many workers as nodes unless [`workers`](Builder::workers) says otherwise. Worker w is a
    /// processor of the machine's node w modulo the number of nodes.
    pub fn fabric(mut self, fabric: Fabric) -> Builder {
        self.fabric = fabric;
        self
    }

    /// Sets the name of the workers' threads, to which each worker's number is appended. Default: `finespun`.
    pub fn thread_name(mut self, name: impl Into<String>) -> Builder {
        self.name = name.into();
        self
    }

    /// Sets a function that each worker's thread calls before its first task, with the worker's index: to set the thread's
    /// priority, or to prepare data of the thread. All tasks run on such threads then, and none on threads that call
    /// [`run`](super::Runtime::run).
    ///
    /// It is called outside tasks, while [`build`](Builder::build) may already have returned. A panic in it aborts the
    /// process. On a simulated machine, one thread calls it for all workers; in a runtime over several processes, the first
    /// process does for its own.
    ///
    /// ```
    /// use finespun::prelude::*;
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicUsize, Ordering};
    ///
    /// let (begun, ended) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicUsize::new(0)));
    /// let (start, stop) = (Arc::clone(&begun), Arc::clone(&ended));
    /// let runtime = Runtime::builder()
    ///     .workers(2)
    ///     .on_worker_start(move |_| {
    ///         start.fetch_add(1, Ordering::Relaxed);
    ///     })
    ///     .on_worker_stop(move |_| {
    ///         stop.fetch_add(1, Ordering::Relaxed);
    ///     })
    ///     .build()
    ///     .unwrap();
    /// drop(runtime);
    /// assert_eq!((begun.load(Ordering::Relaxed), ended.load(Ordering::Relaxed)), (2, 2));
    /// ```
    pub fn on_worker_start(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Builder {
        self.hooks.start = Some(Arc::new(hook));
        self
    }

    /// Sets a function that each worker's thread calls after its last task, with the worker's index. Otherwise as
    /// [`on_worker_start`](Builder::on_worker_start). The workers of the [default runtime](super::default()) do not end.
    pub fn on_worker_stop(mut self, hook: impl Fn(usize) + Send + Sync + 'static) -> Builder {
        self.hooks.stop = Some(Arc::new(hook));
        self
    }

    /// Sets a function that gets the panics that nothing receives: of a run that [`Runtime::spawn`](super::Runtime::spawn) has
    /// begun and whose [`RunFuture`](super::RunFuture) has been [detached](super::RunFuture::detach), or dropped after the run
    /// had ended, but before it delivered. Without it, all that is seen of such a panic is what the panic hook has printed.
    ///
    /// All other panics are received, and are not passed to the function: that of a task reaches its waiter; that of a spawned
    /// task without a handle ends its run, and so reaches the caller of [`run`](super::Runtime::run) or the waiter for the
    /// `RunFuture`. A panic that comes after its run was cancelled counts as a consequence, and is discarded.
    ///
    /// The function is called where the run ends or the future is dropped, outside tasks. A panic in it is discarded.
    ///
    /// ```
    /// use finespun::prelude::*;
    /// use std::sync::mpsc;
    ///
    /// #[task]
    /// async fn third(numbers: Vec<u64>) -> u64 {
    ///     numbers[2]
    /// }
    ///
    /// let (sender, panics) = mpsc::channel();
    /// let runtime = Runtime::builder().workers(1).panic_handler(move |panic| {
    ///     let _ = sender.send(panic.to_string());
    /// });
    /// let runtime = runtime.build().unwrap();
    /// runtime.spawn(third(vec![1, 2])).detach();
    /// assert!(panics.recv().unwrap().contains("index out of bounds"));
    /// ```
    pub fn panic_handler(mut self, handler: impl Fn(&Panic) + Send + Sync + 'static) -> Builder {
        self.hooks.panic = Some(Arc::new(handler));
        self
    }

    /// Returns whether callers of `Runtime::run` may run tasks: not if it matters which thread does.
    #[cfg(feature = "visits")]
    fn visits(&self) -> bool {
        #[cfg(feature = "pinning")]
        let pinned = self.pin;
        #[cfg(not(feature = "pinning"))]
        let pinned = false;
        !pinned && self.hooks.start.is_none()
    }
}
