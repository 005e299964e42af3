//! The team: the state that the workers of one runtime share.

mod entry;
mod runs;

use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use crossbeam_utils::CachePadded;

#[cfg(feature = "visits")]
use crate::atomics::AtomicBool;
use crate::atomics::{AtomicU32, Ordering, lock_std as lock};
use crate::cancel::groups::{Groups, Members, Policy};
use crate::cancel::runs::Run;
use crate::cancel::teams::{self, Externals, GroupName};
use crate::frame::budget::{self, Budget, FrameMemory};
use crate::frame::context::StateBox;
use crate::frame::front::StatePlace;
use crate::frame::number::TeamId;
use crate::frame::{FrameRef, home};
use crate::observe::Stats;
use crate::process::{generation, watch_forks};
use crate::sim::{Entered, Simulator};

use super::deadlock::{self, Stuck};
use super::deque::Deque;
use super::injector::Injector;
use super::messages::MessagesSent;
use super::park::Idle;
use super::peers::{Part, Peers};
use super::ticker::Bell;
#[cfg(feature = "visits")]
use super::visit::Door;
use crate::frame::guard::Flags;

pub(crate) use entry::{Host, Waits, WorkerEntry};
use runs::Runs;

/// The configuration of a team.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) workers: usize,
    pub(crate) stack_size: usize,
    pub(crate) quantum: Duration,
    pub(crate) block_every: u32,
    #[cfg(feature = "pinning")]
    pub(crate) pin: bool,
    /// Whether callers of `Runtime::run` may run tasks.
    #[cfg(feature = "visits")]
    pub(crate) visits: bool,
    pub(crate) members: Members,
    pub(crate) policy: Policy,
    pub(crate) frame_memory: Option<usize>,
}

/// The workers of one runtime.
pub(crate) struct Team {
    pub(crate) id: TeamId,
    pub(crate) config: Config,
    /// Dropped before `peers`, which may keep the places of their states.
    pub(crate) workers: Box<[CachePadded<WorkerEntry>]>,
    pub(crate) idle: Idle,
    /// The machine, if it is simulated.
    pub(crate) simulator: Option<Arc<dyn Simulator>>,
    /// The other processes, if the runtime has several.
    pub(crate) peers: Option<Arc<dyn Peers>>,
    pub(super) part: Part,
    /// Ready frames that any worker may take: from outside the workers, or queued behind all others.
    injected: CachePadded<Injector>,
    runs: Mutex<Runs>,
    pub(crate) groups: Groups,
    /// The memory budget of frames.
    pub(crate) budget: Arc<Budget>,
    /// Incremented whenever something is cancelled or terminated, or memory must be reclaimed: each worker sweeps its
    /// frames once per value.
    sweeps: AtomicU32,
    /// Number of external waits.
    pub(crate) external: Arc<Externals>,
    pub(crate) bell: Bell,
    /// Whether a message or a located frame has existed: until then, only idle workers check for either.
    messages_sent: CachePadded<MessagesSent>,
    /// Whether visitors must leave, and no others come: something may have been made at a node, or a message sent.
    #[cfg(feature = "visits")]
    pub(super) visits_end: AtomicBool,
    /// Whether a worker has shared work during the last visit.
    #[cfg(feature = "visits")]
    pub(super) visits_share: AtomicBool,
    /// The record of the team while it is stuck.
    stuck: Mutex<Option<Stuck>>,
    /// The generation of the process that has the team's threads.
    generation: usize,
}

impl Team {
    /// Creates a team with one host for each worker of this process's `part`. `worker_state` makes the state of a worker
    /// from the number of any run of the team.
    pub(crate) fn new(
        config: Config,
        simulator: Option<Arc<dyn Simulator>>,
        peers: Option<Arc<dyn Peers>>,
        part: Part,
        hosts: Vec<Box<dyn Host>>,
        worker_state: unsafe fn(u32, Option<&StatePlace>) -> StateBox,
    ) -> Result<Arc<Team>, teams::TooManyTeams> {
        watch_forks();
        let team = teams::register(|id| {
            let number = id.run(0);
            let entry = |(index, host)| {
                let place = peers.as_ref().map(|peers| peers.place(index));
                CachePadded::new(WorkerEntry {
                    deque: Deque::new(),
                    // SAFETY: the team keeps its peers, which keep the place, and drops them after its workers.
                    state: unsafe { worker_state(number, place) },
                    inbox: Injector::new(),
                    host,
                    #[cfg(feature = "visits")]
                    door: Door::default(),
                })
            };
            let workers = hosts.into_iter().enumerate().map(entry).collect();
            Arc::new_cyclic(|team: &Weak<Team>| Team {
                id,
                idle: Idle::new(config.workers, simulator.as_ref(), peers.as_ref()),
                simulator,
                peers,
                part,
                workers,
                groups: Groups::new(config.members),
                budget: Arc::new(Budget::new(config.frame_memory, config.workers)),
                config,
                injected: CachePadded::new(Injector::new()),
                runs: Mutex::new(Runs::default()),
                sweeps: AtomicU32::new(0),
                external: Arc::new(Externals::new({
                    let team = Weak::clone(team);
                    move || {
                        if let Some(team) = team.upgrade() {
                            // The woken worker looks for a deadlock when it parks again.
                            team.idle.notify_one();
                        }
                    }
                })),
                bell: Bell::default(),
                messages_sent: CachePadded::new(MessagesSent::new()),
                #[cfg(feature = "visits")]
                visits_end: AtomicBool::new(false),
                #[cfg(feature = "visits")]
                visits_share: AtomicBool::new(false),
                stuck: Mutex::new(None),
                generation: generation(),
            })
        })?;
        deadlock::register(&team);
        if team.peers.is_some() {
            // Messages may arrive before this process sends one.
            team.use_nodes();
        }
        Ok(team)
    }

    /// Returns the number of workers of all processes.
    pub(crate) fn all_workers(&self) -> usize {
        self.part.workers as usize
    }

    /// Returns whether this process is a fork of the process that has the team's threads.
    pub(crate) fn forked(&self) -> bool {
        generation() != self.generation
    }

    /// Removes the team from the tables of teams, after its workers have ended.
    pub(crate) fn unregister(&self) {
        deadlock::unregister(self);
        budget::forget_team(self.id.run(0));
        teams::unregister(&self.id);
    }

    /// Records that a message is about to be sent, or that a located frame is ready.
    pub(crate) fn use_nodes(&self) {
        self.end_visits();
        self.messages_sent.announce();
    }

    /// Keeps visitors from the workers from now on: their nodes may contain values that are not `Send`.
    #[inline(always)]
    pub(crate) fn end_visits(&self) {
        // Relaxed, both: a hint. What a visitor must not do, `Cx::may_host` decides. The load avoids writing to a shared cache
        // line.
        #[cfg(feature = "visits")]
        if !self.visits_end.load(Ordering::Relaxed) {
            self.visits_end.store(true, Ordering::Relaxed);
        }
    }

    /// Returns whether messages or located frames may exist: a hint for busy workers. A worker that goes idle checks
    /// the queues themselves.
    #[inline]
    pub(crate) fn nodes_in_use(&self) -> bool {
        self.messages_sent.any()
    }

    /// Returns the worker of this process that hosts `node`, one of this process's nodes.
    pub(crate) fn worker_of(&self, node: u32) -> usize {
        let worker = node % self.part.workers;
        debug_assert!(self.part.own.contains(&worker), "a located frame is in its home's process");
        (worker - self.part.own.start) as usize
    }

    /// Hands a ready frame to the worker that it must run on.
    pub(crate) fn inject_at(&self, worker: usize, frame: FrameRef) {
        let _entered = self.enter();
        self.use_nodes();
        self.workers[worker].inbox.put(frame);
        if !mutated!(LostNotice) {
            self.idle.notify_worker(worker);
        }
    }

    /// Returns whether a frame or message waits that only `worker` can take.
    pub(crate) fn waits_for(&self, worker: usize) -> bool {
        let entry = &self.workers[worker];
        !entry.inbox.is_empty() || self.expects(entry)
    }

    /// Returns whether a message for a worker waits or is on its way. A process that has died may never finish writing one.
    fn expects(&self, entry: &WorkerEntry) -> bool {
        if self.is_cut_off() { entry.host.has_arrived() } else { entry.host.waits() }
    }

    /// Handles what other processes of the runtime have said. Returns whether they have said anything. Any thread may
    /// call this.
    #[inline]
    pub(crate) fn poll_peers(&self) -> bool {
        self.peers.as_ref().is_some_and(|peers| peers.poll(self))
    }

    /// Returns whether another process of the runtime has said something.
    #[inline]
    pub(crate) fn peers_wait(&self) -> bool {
        self.peers.as_ref().is_some_and(|peers| peers.waits())
    }

    /// Returns whether another process of the runtime has died.
    pub(crate) fn is_cut_off(&self) -> bool {
        self.peers.as_ref().is_some_and(|peers| peers.is_cut_off())
    }

    /// Wakes each parked worker that has a pending message. Necessary because a sender checks without a fence whether
    /// its receiver is parked.
    pub(crate) fn wake_for_messages(&self) {
        for (worker, entry) in self.workers.iter().enumerate() {
            if self.expects(entry) {
                self.idle.notify_worker(worker);
            }
        }
    }

    /// Makes all workers reclaim memory.
    pub(crate) fn reclaim(&self) {
        self.budget.reclaim();
        self.sweep();
    }

    /// Makes every worker end the waits of terminated groups and cancelled runs, and stop their tasks.
    pub(crate) fn sweep(&self) {
        // Release: a worker that sees the new value sees the mark.
        self.sweeps.fetch_add(1, Ordering::Release);
        for entry in &self.workers {
            entry.request(Flags::CANCEL);
        }
        self.idle.notify_all();
    }

    /// Returns the number of the latest sweep.
    pub(crate) fn sweeps(&self) -> u32 {
        // Acquire: pairs with the Release in `sweep`.
        self.sweeps.load(Ordering::Acquire)
    }

    /// Calls `body` with the record of the team, `Some` while the team is stuck.
    pub(super) fn with_stuck<R>(&self, body: impl FnOnce(&mut Option<Stuck>) -> R) -> R {
        body(&mut lock(&self.stuck))
    }

    /// Queues a frame behind all others, where any worker finds it.
    #[inline(never)]
    pub(crate) fn inject_last(&self, frame: FrameRef) {
        let _entered = self.enter();
        self.injected.put(frame);
        self.idle.notify_one();
    }

    /// Hands the root of a run to the workers.
    pub(crate) fn inject_root(&self, frame: FrameRef, run: &Run) {
        let entered = self.enter();
        let begun = self.simulator.as_ref().map_or(0, |simulator| simulator.begin());
        self.injected.put_root(frame, || run.start(begun));
        self.idle.notify_one();
        drop(entered);
    }

    /// If the machine is simulated, waits until all workers wait, and keeps them from running until the result is
    /// dropped. Does nothing on the simulation's own thread.
    pub(crate) fn enter(&self) -> Option<Entered<'_>> {
        self.simulator.as_deref().map(Entered::new)
    }

    pub(crate) fn take_injected(&self) -> Option<FrameRef> {
        self.injected.take()
    }

    pub(crate) fn take_root(&self) -> Option<FrameRef> {
        self.injected.take_root()
    }

    /// Returns whether the root of a new run waits for a worker.
    pub(crate) fn has_roots(&self) -> bool {
        self.injected.has_roots()
    }

    /// Returns whether a frame from outside the deques is visible.
    pub(crate) fn injected_visible(&self) -> bool {
        !self.injected.is_empty()
    }

    /// Returns whether a frame is visible that any idle worker could take.
    pub(crate) fn work_visible(&self) -> bool {
        self.injected_visible() || self.workers.iter().any(|entry| !entry.deque.is_empty())
    }

    /// Returns the number of frames left after all workers have ended. Drops the messages on their way before: a message of an
    /// ended run keeps its wait's leaf.
    ///
    /// # Safety
    /// The workers' threads have been joined.
    pub(crate) unsafe fn frames_left(&self) -> usize {
        if self.simulator.is_none() {
            // SAFETY: the caller has joined the workers' threads.
            self.workers.iter().for_each(|entry| unsafe { entry.host().discard_messages() });
        }
        self.workers.iter().map(|entry| entry.state.core().frames_left()).sum::<usize>() + self.budget.large()
    }

    /// Returns each worker's counters.
    pub(crate) fn stats(&self) -> Vec<Stats> {
        let mut stats: Vec<Stats> = self.workers.iter().map(|entry| entry.state.core().counters.read()).collect();
        (stats[0].groups_uncoded, stats[0].member_steps) = self.groups.counts();
        stats
    }
}

impl teams::Team for Team {
    fn inject(&self, frame: FrameRef) {
        // SAFETY: a ready frame has not ended.
        match unsafe { home(frame) } {
            Some(node) => self.inject_at(self.worker_of(node), frame),
            None => self.inject_last(frame),
        }
    }

    fn forked(&self) -> bool {
        Team::forked(self)
    }

    fn find_run(&self, number: u32) -> Option<Arc<Run>> {
        Team::find_run(self, number)
    }

    fn join_run(&self, name: u32) -> Option<u32> {
        self.peers.as_ref().and_then(|peers| peers.join_run(self, name))
    }

    fn group_name(&self, number: u32) -> GroupName {
        match &self.peers {
            Some(peers) => peers.group_name(self, number),
            None => unreachable!("only messages to other processes contain names"),
        }
    }

    fn join_group(&self, run: u32, name: GroupName) -> Option<u32> {
        self.peers.as_ref().and_then(|peers| peers.join_group(self, run, name))
    }

    fn shared_group_ended(&self, run: u32, number: u32, uses: u64) {
        if let Some(peers) = &self.peers {
            peers.group_ended(self, run, number, uses);
        }
    }

    fn run_cancelled(&self, number: u32) -> bool {
        Team::run_cancelled(self, number)
    }

    fn cancel(&self, run: &Run) {
        Team::cancel(self, run);
    }

    fn exhaust(&self, run: &Run, error: FrameMemory) {
        Team::exhaust(self, run, error);
    }

    fn groups(&self) -> &Groups {
        &self.groups
    }

    fn begin_group(&self, above: u32, run: u32, activities: u64) -> u32 {
        self.id.group(self.groups.begin(above, run, activities))
    }

    fn terminate(&self, group: u32) -> bool {
        Team::terminate(self, group)
    }

    fn sweep(&self) {
        Team::sweep(self);
    }

    fn use_nodes(&self) {
        Team::use_nodes(self);
    }

    #[inline]
    fn poke(&self, worker: u32) {
        match &self.peers {
            None => self.idle.poke(worker as usize),
            Some(_) if self.part.own.contains(&worker) => self.idle.poke((worker - self.part.own.start) as usize),
            Some(peers) => peers.poke(worker),
        }
    }

    fn externals(&self) -> Arc<Externals> {
        Arc::clone(&self.external)
    }

    fn reclaim(&self) -> Arc<Budget> {
        Team::reclaim(self);
        Arc::clone(&self.budget)
    }
}
