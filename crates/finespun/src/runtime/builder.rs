//! The settings of a runtime.

#[cfg(feature = "objects")]
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::{self, available_parallelism};
use std::time::Duration;

use crate::cancel::groups::{Members, Policy};
use crate::cancel::teams;
#[cfg(all(feature = "processes", target_os = "linux"))]
use crate::cluster::host;
#[cfg(feature = "objects")]
use crate::cluster::{self, Joined, Near, Shape};
#[cfg(feature = "objects")]
use crate::fabric::wire::{LocalWire, Wire};
#[cfg(feature = "objects")]
use crate::fabric::{
    Endpoint,
    placed::Segment,
    threads::{Transport, threads},
};
use crate::frame::STACK_RESERVE;
#[cfg(feature = "objects")]
use crate::message::mailbox::{Others, Travel};
#[cfg(feature = "objects")]
use crate::object::host::hosts;
use crate::process::start_thread;
#[cfg(not(feature = "objects"))]
use crate::sched::no_nodes::NoNodes;
use crate::sched::peers::Part;
#[cfg(feature = "objects")]
use crate::sched::peers::Peers;
use crate::sched::team::{Config, Team};
use crate::sched::ticker;
use crate::sched::worker::Worker;
use crate::sim::Simulator;
#[cfg(feature = "simulation")]
use crate::{
    fabric::simulated::simulated,
    sim::{Machine, engine::Engine},
};
#[cfg(feature = "simulation")]
use corosensei::stack::DefaultStack;
#[cfg(all(feature = "processes", target_os = "linux"))]
use finespun_mpi::launcher::Launched;

use super::{Error, Runtime, Schema};

pub(super) const MAX_WORKERS: usize = 1024;
pub(super) const MAX_NODES: usize = 65536;
pub(super) const MIN_STACK: usize = 64 * 1024;
pub(super) const MIN_FRAME_MEMORY: usize = 1 << 20;
const DEFAULT_STACK: usize = 4 * 1024 * 1024;
/// The ticker writes deadlock reports, for which it inspects all teams.
const TICKER_STACK: usize = 1024 * 1024;

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

/// Makes a [`Runtime`].
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
    fabric: Fabric,
    #[cfg(feature = "objects")]
    processes: usize,
    #[cfg(feature = "objects")]
    per_host: usize,
}

/// What only a build with objects can have.
#[cfg(not(feature = "objects"))]
type Joined = std::convert::Infallible;

/// A simulated machine.
#[cfg(feature = "simulation")]
type SharedMachine = Arc<Engine>;
#[cfg(not(feature = "simulation"))]
type SharedMachine = std::convert::Infallible;

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
            fabric: Fabric::default(),
            #[cfg(feature = "objects")]
            processes: 1,
            #[cfg(feature = "objects")]
            per_host: usize::MAX,
        }
    }
}

#[cfg(all(feature = "objects", feature = "simulation"))]
mod simulated;

impl Builder {
    /// The number of workers, 1 to 1024. A simulated machine has up to 65536. Default: the cores that this process may
    /// use, control-group quotas included.
    pub fn workers(mut self, workers: usize) -> Builder {
        self.workers = Some(workers);
        self
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

    /// Sets whether each worker is bound to a core. Default: no.
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

    /// Starts the workers.
    ///
    /// # Errors
    /// [`Error::Workers`], [`Error::Nodes`], `Error::DyingNode`, [`Error::StackSize`], [`Error::Quantum`],
    /// [`Error::FrameMemory`] and [`Error::ThreadName`] for settings out of range, `Error::Processes` if the processes of
    /// `Fabric::Processes` do not find each other, `Error::SharedMemory` if they have too little memory, [`Error::Thread`] if the system provides
    /// no more threads, [`Error::TooManyRuntimes`] if this process has 1023 runtimes already.
    pub fn build(self) -> Result<Runtime, Error> {
        #[cfg(feature = "objects")]
        if self.processes > 1 {
            return self.build_processes();
        }
        #[cfg(all(feature = "processes", target_os = "linux"))]
        if matches!(self.fabric, Fabric::Processes)
            && let Some(place) = host::place().map_err(Error::Processes)?
        {
            return self.build_on_host(&place);
        }
        self.build_part(None, None)
    }

    /// Builds a runtime over the processes of this host, or serves the one that the first process builds.
    #[cfg(all(feature = "processes", target_os = "linux"))]
    fn build_on_host(mut self, place: &Launched) -> Result<Runtime, Error> {
        // All processes have the same settings, and end in the same way.
        let cores = available_parallelism().map_or(1, usize::from);
        let workers = *self.workers.get_or_insert((cores / place.size).clamp(1, MAX_WORKERS));
        let most = (MAX_NODES / place.size).min(MAX_WORKERS);
        if !(1..=most).contains(&workers) {
            return Err(Error::Workers { workers, most });
        }
        if place.rank > 0 {
            let build = |settings: &[u8], joined| {
                let settings: Builder = postcard::from_bytes(settings).map_err(|error| error.to_string())?;
                settings.build_part(Some(joined), None).map_err(|error| error.to_string())
            };
            match host::serve(place, build, Runtime::counts, Runtime::frames_left).map_err(Error::Processes)? {}
        }
        let settings = postcard::to_allocvec(&self).map_err(|error| Error::Processes(error.to_string()))?;
        let near = host::meet(place).map_err(Error::Processes)?;
        let shape = Shape { processes: place.size, workers, rank: 0, near };
        let bytes = shape.segment_bytes();
        let memory = host::memory(&shape).map_err(|reason| Error::SharedMemory { bytes, reason })?;
        let (remote, joined) = host::build(shape, settings, memory).map_err(Error::Processes)?;
        let mut runtime = self.build_part(Some(joined), None)?;
        runtime.remote = Some(remote);
        Ok(runtime)
    }

    /// Builds the teams of several processes in this process.
    #[cfg(feature = "objects")]
    fn build_processes(mut self) -> Result<Runtime, Error> {
        let workers = *self.workers.get_or_insert(1);
        #[cfg(feature = "simulation")]
        if let Fabric::Simulated(machine) = &self.fabric {
            let machine = machine.clone();
            return self.build_simulated_processes(workers, &machine);
        }
        let near = |rank| Near::of(rank, self.processes, self.per_host);
        let several = near(0).processes < self.processes;
        let wires = LocalWire::ends(self.processes).into_iter().map(|wire| Box::new(wire) as Box<dyn Wire>);
        let mut wires: BTreeMap<usize, _> = wires.enumerate().filter(|_| several).collect();
        let mut segments = BTreeMap::new();
        let mut part = |rank: usize| {
            let shape = Shape { processes: self.processes, workers, rank, near: near(rank) };
            let segment = || Arc::new(Segment::private(shape.segment_bytes()));
            let segment = segments.entry(shape.near.first).or_insert_with(segment);
            let joined = cluster::join(shape, segment, wires.remove(&rank), None);
            self.clone().build_part(Some(joined), None)
        };
        let others = (1..self.processes).map(&mut part).collect::<Result<Vec<_>, _>>()?;
        let mut runtime = part(0)?;
        runtime.others = others;
        Ok(runtime)
    }

    /// Returns stacks for simulated workers.
    #[cfg(feature = "simulation")]
    fn stacks(&self, workers: usize) -> Result<Vec<DefaultStack>, Error> {
        let bytes = self.stack_size.saturating_add(STACK_RESERVE);
        (0..workers).map(|worker| DefaultStack::new(bytes).map_err(Error::thread(worker, workers))).collect()
    }

    /// Builds the team of one process. If its workers are processors of a machine that several processes share, the caller runs
    /// them.
    fn build_part(self, joined: Option<Joined>, machine: Option<SharedMachine>) -> Result<Runtime, Error> {
        let (default, most) = match self.fabric {
            #[cfg(all(feature = "processes", target_os = "linux"))]
            Fabric::Processes => (available_parallelism().map_or(1, usize::from).min(MAX_WORKERS), MAX_WORKERS),
            Fabric::Threads => (available_parallelism().map_or(1, usize::from).min(MAX_WORKERS), MAX_WORKERS),
            #[cfg(feature = "simulation")]
            Fabric::Simulated(_) => (self.nodes.unwrap_or(1), MAX_NODES),
        };
        let workers = self.workers.unwrap_or(default);
        if !(1..=most).contains(&workers) {
            return Err(Error::Workers { workers, most });
        }
        #[cfg(feature = "objects")]
        let (cluster, processes) = joined.unzip();
        #[cfg(feature = "objects")]
        let part =
            cluster.as_ref().map_or(Part { workers: workers as u32, own: 0..workers as u32 }, |cluster| cluster.part());
        #[cfg(not(feature = "objects"))]
        debug_assert!(joined.is_none(), "no process joins others");
        #[cfg(not(feature = "objects"))]
        let part = Part { workers: workers as u32, own: 0..workers as u32 };
        #[cfg(feature = "objects")]
        let nodes = self.nodes.unwrap_or(part.workers as usize);
        #[cfg(feature = "objects")]
        if !(1..=MAX_NODES).contains(&nodes) {
            return Err(Error::Nodes(nodes));
        }
        #[cfg(feature = "simulation")]
        if let Fabric::Simulated(machine) = &self.fabric
            && let Some(node) = machine.dying_node().filter(|&node| node >= nodes.min(workers))
        {
            return Err(Error::DyingNode { node, nodes: nodes.min(workers) });
        }
        // No stack is larger than half of the address space.
        let whole_stack = self.stack_size.checked_add(STACK_RESERVE).filter(|&bytes| bytes <= isize::MAX as usize);
        let Some(whole_stack) = whole_stack.filter(|_| self.stack_size >= MIN_STACK) else {
            return Err(Error::StackSize(self.stack_size));
        };
        if self.quantum < Duration::from_millis(1) {
            return Err(Error::Quantum(self.quantum));
        }
        if self.name.contains('\0') {
            return Err(Error::ThreadName(self.name));
        }
        if let Some(bytes) = self.frame_memory.filter(|&bytes| bytes < MIN_FRAME_MEMORY) {
            return Err(Error::FrameMemory(bytes));
        }
        let config = Config {
            workers,
            stack_size: self.stack_size,
            quantum: self.quantum,
            block_every: self.schema.block_every(self.block_every),
            #[cfg(feature = "pinning")]
            pin: self.pin,
            members: self.members,
            policy: self.policy,
            frame_memory: self.frame_memory,
        };
        #[cfg(feature = "objects")]
        let choices = Arc::default();
        #[cfg(not(feature = "simulation"))]
        debug_assert!(machine.is_none(), "there is none");
        #[cfg(feature = "simulation")]
        let is_shared = machine.is_some();
        #[cfg(feature = "simulation")]
        let engine = match &self.fabric {
            _ if machine.is_some() => machine,
            #[cfg(all(feature = "processes", target_os = "linux"))]
            Fabric::Processes => None,
            Fabric::Threads => None,
            Fabric::Simulated(machine) => Some(Arc::new(Engine::new(machine, workers, 0, nodes))),
        };
        #[cfg(feature = "simulation")]
        let simulator = engine.clone().map(|engine| match is_shared {
            true => Arc::new(crate::sim::engine::part::Part { engine, first: part.own.start as usize, workers }),
            false => engine as Arc<dyn Simulator>,
        });
        #[cfg(not(feature = "simulation"))]
        let simulator: Option<Arc<dyn Simulator>> = None;
        #[cfg(feature = "objects")]
        let memory = |end| Others::Memory(Endpoint::Threads(end));
        #[cfg(feature = "objects")]
        let ends: Vec<Others> = match self.fabric {
            _ if let Some(links) = processes => links.into_iter().map(Others::Bytes).collect(),
            #[cfg(all(feature = "processes", target_os = "linux"))]
            Fabric::Processes => threads(workers, self.travel.transport).into_iter().map(memory).collect(),
            Fabric::Threads => threads(workers, self.travel.transport).into_iter().map(memory).collect(),
            #[cfg(feature = "simulation")]
            Fabric::Simulated(_) => {
                let ends = engine.iter().flat_map(|engine| simulated(workers, self.travel.transport, engine));
                ends.map(|end| Others::Memory(Endpoint::Simulated(end))).collect()
            }
        };
        #[cfg(feature = "objects")]
        let hosts = hosts(ends, nodes, &self.travel, &choices, &part);
        #[cfg(feature = "objects")]
        let peers = cluster.clone().map(|cluster| cluster as Arc<dyn Peers>);
        #[cfg(not(feature = "objects"))]
        let peers = None;
        #[cfg(not(feature = "objects"))]
        let hosts = NoNodes::hosts(workers);
        let team = Team::new(config, simulator, peers, part, hosts, crate::closure::state::worker_state)
            .map_err(|teams::TooManyTeams| Error::TooManyRuntimes)?;
        #[cfg(feature = "objects")]
        if let Some(cluster) = &cluster {
            cluster.set_team(&team);
        }
        // Before the settings are used up.
        #[cfg(feature = "simulation")]
        let stacks = (engine.is_some() && !is_shared).then(|| self.stacks(workers)).transpose()?;
        let mut runtime = Runtime {
            team,
            #[cfg(feature = "objects")]
            others: Vec::new(),
            #[cfg(all(feature = "processes", target_os = "linux"))]
            remote: None,
            #[cfg(feature = "objects")]
            nodes,
            #[cfg(feature = "objects")]
            choices,
            #[cfg(feature = "simulation")]
            engine,
            threads: Vec::new(),
            closed: false,
        };
        #[cfg(feature = "simulation")]
        if let Some(engine) = runtime.engine.as_ref().filter(|_| !is_shared) {
            let (engine, team) = (Arc::clone(engine), Arc::clone(&runtime.team));
            let thread = thread::Builder::new().name(format!("{}-simulation", self.name)).stack_size(TICKER_STACK);
            let stacks = stacks.unwrap_or_default();
            let simulate = move || {
                let (pause, ticks) = (ticker::pause(&team), ticker::ticks(&team));
                let of_node = Arc::clone(&team);
                let died = move |node, at| of_node.node_died(node, at);
                engine.run(stacks, Arc::new(move |worker| Worker::main(&team, worker)), pause, ticks, died);
            };
            runtime.threads.push(start_thread(thread, simulate).map_err(Error::thread(0, workers))?);
        }
        let threads = if runtime.team.simulator.is_some() { 0 } else { workers };
        for worker in 0..threads {
            let team = Arc::clone(&runtime.team);
            let thread = thread::Builder::new().name(format!("{}-{worker}", self.name)).stack_size(whole_stack);
            let thread = start_thread(thread, move || Worker::main(&team, worker))
                // On an error, dropping the runtime ends the workers that have started.
                .map_err(Error::thread(worker, workers))?;
            runtime.threads.push(thread);
        }
        let team = Arc::clone(&runtime.team);
        let ticker = thread::Builder::new().name(format!("{}-ticker", self.name)).stack_size(TICKER_STACK);
        let ticker = start_thread(ticker, move || ticker::main(&team)).map_err(Error::thread(workers, workers))?;
        runtime.threads.push(ticker);
        #[cfg(feature = "objects")]
        if let Some(cluster) = cluster {
            cluster.start(&self.name).map_err(Error::thread(workers, workers))?;
        }
        Ok(runtime)
    }
}
