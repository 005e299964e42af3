//! Building a runtime by its settings.

#[cfg(feature = "objects")]
use std::collections::BTreeMap;
use std::sync::Arc;
use std::thread::{self, available_parallelism};
use std::time::Duration;

use crate::cancel::teams;
#[cfg(all(feature = "processes", target_os = "linux"))]
use crate::cluster::host;
#[cfg(feature = "objects")]
use crate::cluster::{self, Joined, Near, Shape};
#[cfg(feature = "objects")]
use crate::fabric::wire::{LocalWire, Wire};
#[cfg(feature = "objects")]
use crate::fabric::{Endpoint, placed::Segment, threads::threads};
use crate::frame::STACK_RESERVE;
#[cfg(feature = "objects")]
use crate::message::mailbox::Others;
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
use crate::{fabric::simulated::simulated, sim::engine::Engine};
#[cfg(feature = "simulation")]
use corosensei::stack::DefaultStack;
#[cfg(all(feature = "processes", target_os = "linux"))]
use finespun_mpi::launcher::Launched;

use super::super::{Error, Runtime};
#[cfg(feature = "objects")]
use super::MAX_NODES;
use super::{Builder, Fabric, MAX_WORKERS, MIN_FRAME_MEMORY, MIN_STACK};

/// The ticker writes deadlock reports, for which it inspects all teams.
pub(super) const TICKER_STACK: usize = 1024 * 1024;

/// What only a build with objects can have.
#[cfg(not(feature = "objects"))]
type Joined = std::convert::Infallible;

/// A simulated machine.
#[cfg(feature = "simulation")]
type SharedMachine = Arc<Engine>;
#[cfg(not(feature = "simulation"))]
type SharedMachine = std::convert::Infallible;

impl Builder {
    /// Starts the workers.
    ///
    /// # Errors
    /// [`Error::Workers`], [`Error::Nodes`], `Error::DyingNode`, [`Error::StackSize`], [`Error::Quantum`],
    /// [`Error::FrameMemory`] and [`Error::ThreadName`] for settings out of range, `Error::Processes` if the processes of
    /// `Fabric::Processes` do not find each other, `Error::SharedMemory` if they have too little memory, [`Error::Thread`]
    /// if the system provides no more threads, [`Error::TooManyRuntimes`] if this process has 1023 runtimes already.
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
    pub(super) fn stacks(&self, workers: usize) -> Result<Vec<DefaultStack>, Error> {
        let bytes = self.stack_size.saturating_add(STACK_RESERVE);
        (0..workers).map(|worker| DefaultStack::new(bytes).map_err(Error::thread(worker, workers))).collect()
    }

    /// Builds the team of one process. If its workers are processors of a machine that several processes share, the caller runs
    /// them.
    pub(super) fn build_part(self, joined: Option<Joined>, machine: Option<SharedMachine>) -> Result<Runtime, Error> {
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
            #[cfg(feature = "visits")]
            visits: self.visits(),
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
        let hosts = hosts(ends, nodes, &self.travel, &choices, &part)
            .map_err(|source| Error::AddressSpace { nodes, source })?;
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
            panic_handler: self.hooks.panic.clone(),
            closed: false,
        };
        #[cfg(feature = "simulation")]
        if let Some(engine) = runtime.engine.as_ref().filter(|_| !is_shared) {
            let (engine, team, hooks) = (Arc::clone(engine), Arc::clone(&runtime.team), self.hooks.clone());
            let thread = thread::Builder::new().name(format!("{}-simulation", self.name)).stack_size(TICKER_STACK);
            let stacks = stacks.unwrap_or_default();
            let simulate = move || {
                let (pause, mut tick) = (ticker::pause(&team), ticker::ticks(&team));
                let ticks = move || tick(false);
                let of_node = Arc::clone(&team);
                let died = move |node, at| of_node.node_died(node, at);
                let main = move |worker| hooks.around(worker, || Worker::main(&team, worker));
                engine.run(stacks, Arc::new(main), pause, ticks, died);
            };
            runtime.threads.push(start_thread(thread, simulate).map_err(Error::thread(0, workers))?);
        }
        let threads = if runtime.team.simulator.is_some() { 0 } else { workers };
        for worker in 0..threads {
            let (team, hooks) = (Arc::clone(&runtime.team), self.hooks.clone());
            let thread = thread::Builder::new().name(format!("{}-{worker}", self.name)).stack_size(whole_stack);
            let thread = start_thread(thread, move || hooks.around(worker, || Worker::main(&team, worker)))
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
