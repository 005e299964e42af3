//! The team: the state that the workers of one runtime share.

use std::cell::Cell;
use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use crossbeam_utils::CachePadded;

use crate::atomics::{AtomicBool, AtomicU32, Ordering, fence, lock_std as lock};
use crate::cancel::groups::{Group, Groups, Members, Policy};
#[cfg(feature = "processes")]
use crate::cancel::runs::ProcessDied;
use crate::cancel::runs::{Cause, Run};
use crate::cancel::teams::{self, Externals, GroupName};
use crate::frame::budget::{self, Budget, FrameMemory};
use crate::frame::context::{Cx, StateBox, try_cx};
use crate::frame::front::{Front, StatePlace};
use crate::frame::number::{GROUP, RUNS, TeamId, same_team};
use crate::frame::pool::Pool;
use crate::frame::{FrameRef, Header, home, quietly};
use crate::observe::Stats;
use crate::process::watch_forks;
use crate::run::context::Context;
use crate::sim::{Entered, Simulator};
use crate::wait::foreign::is_own_thread;

use super::deadlock::{self, Stuck};
use super::deque::Deque;
use super::injector::Injector;
use super::messages::MessagesSent;
use super::park::Idle;
use super::peers::{Part, Peers};
use super::ticker::Bell;
use crate::frame::guard::Flags;

/// The configuration of a team.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) workers: usize,
    pub(crate) stack_size: usize,
    pub(crate) quantum: Duration,
    pub(crate) block_every: u32,
    #[cfg(feature = "pinning")]
    pub(crate) pin: bool,
    pub(crate) members: Members,
    pub(crate) policy: Policy,
    pub(crate) frame_memory: Option<usize>,
}

/// One worker, as the other workers see it.
pub(crate) struct WorkerEntry {
    pub(crate) deque: Deque<Header>,
    state: StateBox,
    /// Ready frames of the worker's nodes, queued by other threads.
    pub(crate) inbox: Injector,
    host: Box<dyn Host>,
}

// SAFETY: in the worker's state, threads other than its worker use only the front, the counters and the exhausted mark,
// which are atomic; and the pool, to walk it, while the idling mutex keeps all workers parked, which orders the walk
// after everything that the worker did before it parked. Only its worker makes the deque's owner token. Other threads
// call only the methods of the host that `Host` allows them.
unsafe impl Sync for WorkerEntry {}
// SAFETY: the builder's thread makes the entry, the worker uses it from the start of the worker's thread, and another
// thread retires it only after it has joined the worker's thread.
unsafe impl Send for WorkerEntry {}

/// For a deadlock report: descriptions of the objects and elements that leaves wait for.
pub(crate) type Waits = HashMap<FrameRef, String>;

/// A worker's state beside its frames: nodes with objects, and a mailbox. Implemented by `object::host::Nodes`, and
/// by `NoNodes` in a build without objects.
///
/// Only the worker itself calls these methods, except `waits` and `report_waits`.
pub(crate) trait Host {
    /// Attaches the host when the worker begins, at the first of the worker's nodes.
    fn attach(&self, cx: Cx);
    /// Moves the worker to `node`, one of its own nodes.
    fn enter_node(&self, cx: Cx, node: u32);
    /// Returns whether a message can be handled, or an earlier one could not be sent yet.
    fn any(&self) -> bool;
    /// Returns whether messages wait for room at their receivers.
    fn holds(&self) -> bool;
    /// Returns whether the worker can only retry sends for which the receivers had no room.
    fn is_stuck(&self) -> bool;
    /// Handles up to `messages` messages, but none after one that has made a frame ready. Returns whether it handled or
    /// sent a message, or resumed a sender.
    fn poll(&self, cx: Cx, messages: usize, ready: &Cell<Option<FrameRef>>) -> bool;
    /// Sends the request of the pending call, if one exists.
    fn send_pending_call(&self, cx: Cx);
    /// Notes that the worker has found no work.
    fn rest(&self);
    /// Calls `nudge` with each worker of another process that must handle messages for this one to continue, perhaps, until
    /// it returns true.
    fn awaited(&self, nudge: &mut dyn FnMut(u32) -> bool);
    /// Returns whether another worker's message waits or is on its way. Any thread may call this.
    fn waits(&self) -> bool;
    /// As [`waits`](Host::waits), but not for a message that its sender, in another process, is still writing.
    fn has_arrived(&self) -> bool;
    /// Returns the numbers of messages sent to and received from other workers, where the fabric counts them. Any thread
    /// may call this, while all workers are parked.
    fn traffic(&self) -> (u64, u64);
    /// Adds descriptions for the leaves that wait for an object or an array of this worker. Any thread may call this,
    /// while all workers are parked.
    fn report_waits(&self, waits: &mut Waits);
    /// Ends the waits for other processes that belong to swept runs.
    fn sweep(&self, of_swept: &dyn Fn(u32) -> bool);
    /// Detaches the host when the worker ends, and destroys its objects.
    fn detach(&self, cx: Cx);
    /// Drops the messages that wait.
    ///
    /// # Safety
    /// All workers have ended.
    unsafe fn discard_messages(&self);
}

impl WorkerEntry {
    /// Returns the pointer through which the worker uses its state.
    ///
    /// # Safety
    /// Called by the worker's thread, which keeps the team while it uses the result.
    pub(super) unsafe fn cx(&self) -> Cx {
        // SAFETY: the caller is the worker's thread, and the team keeps the state.
        unsafe { self.state.cx() }
    }

    /// Makes the worker check whether its run has been cancelled: see [`Context::set_exhausted`].
    fn set_exhausted(&self) {
        // SAFETY: every worker's state begins with a `Context`.
        unsafe { self.state.state::<Context>() }.set_exhausted();
    }

    pub(crate) fn host(&self) -> &dyn Host {
        &*self.host
    }

    /// Returns the number of frames that the worker has run.
    pub(crate) fn resumptions(&self) -> u64 {
        self.state.core().counters.resumptions.get()
    }

    /// Returns the worker's frame pool. Only while all workers are parked, or after they have ended.
    pub(super) fn pool(&self) -> &Pool {
        self.state.core().pool()
    }

    pub(crate) fn request(&self, flags: Flags) {
        self.state.core().front.guard.request(flags);
    }

    /// Whether the worker runs a frame or handles messages: only then can it promote.
    pub(crate) fn running(&self) -> &AtomicBool {
        &self.front().running
    }

    pub(super) fn front(&self) -> &Front {
        &self.state.core().front
    }
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
    /// The record of the team while it is stuck.
    stuck: Mutex<Option<Stuck>>,
    /// Id of the process that has the team's threads.
    process: u32,
}

/// The runs that have begun and have not been removed.
#[derive(Default)]
struct Runs {
    by_number: HashMap<u32, Arc<Run>>,
    next: u32,
    /// Number of runs begun.
    begun: u64,
    /// Why no run can end any more, if a node of a simulated machine or another process has died.
    given_up: Option<Cause>,
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
                stuck: Mutex::new(None),
                process: std::process::id(),
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
        std::process::id() != self.process
    }

    /// Removes the team from the tables of teams, after its workers have ended.
    pub(crate) fn unregister(&self) {
        deadlock::unregister(self);
        budget::forget_team(self.id.run(0));
        teams::unregister(&self.id);
    }

    /// Begins a run. The caller then queues the root by [`inject_root`](Team::inject_root). It [enters](Team::enter) before,
    /// so that both happen at the same moment of a simulated machine.
    pub(crate) fn begin_run(&self) -> Arc<Run> {
        let run = self.begin_named(None);
        if let Some(peers) = &self.peers {
            peers.begun(&run);
        }
        run
    }

    /// Begins a run of another process here, under the name that it has in all processes.
    pub(crate) fn begin_joined(&self, name: u32) -> Arc<Run> {
        let run = self.begin_named(Some(name));
        run.start(0);
        run
    }

    fn begin_named(&self, name: Option<u32>) -> Arc<Run> {
        self.bell.begin();
        let inner = is_own_thread();
        let mut runs = lock(&self.runs);
        runs.begun += 1;
        // Names are not used again before 2^32 runs have begun.
        let name = name.unwrap_or((runs.begun as u32).max(1));
        loop {
            let number = self.id.run(runs.next);
            runs.next = (runs.next + 1) % RUNS;
            if runs.by_number.contains_key(&number) {
                continue;
            }
            let run = Arc::new(Run::new(number, name, inner));
            if let Some(cause) = runs.given_up {
                let first = run.mark_given_up(cause);
                debug_assert!(first, "no other thread knows the run");
                self.groups.advance_epoch();
            }
            runs.by_number.insert(number, Arc::clone(&run));
            return run;
        }
    }

    /// Removes a run that has ended.
    pub(crate) fn end_run(&self, run: &Run) {
        lock(&self.runs).by_number.remove(&run.number);
        self.groups.end_run(run.number);
        self.bell.end();
        if let Some(peers) = &self.peers {
            peers.ended(self, run);
        }
        if run.exhausted().is_some() {
            self.reclaim();
        }
        // Dekker: pairs with the fence of an examination that has marked the run as watched and then checks whether it
        // is live.
        fence(Ordering::SeqCst);
        if run.is_watched() {
            deadlock::examine_if_stuck();
        }
    }

    /// Returns the run with this number, unless it has ended.
    pub(crate) fn find_run(&self, number: u32) -> Option<Arc<Run>> {
        lock(&self.runs).by_number.get(&number).cloned()
    }

    /// Records that a message is about to be sent, or that a located frame is ready.
    pub(crate) fn use_nodes(&self) {
        self.messages_sent.announce();
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
        self.workers[worker].inbox.put(frame, || {});
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

    /// Returns whether the run has been cancelled and has not ended.
    pub(crate) fn run_cancelled(&self, number: u32) -> bool {
        lock(&self.runs).by_number.get(&number).is_some_and(|run| run.is_cancelled())
    }

    /// Returns whether the group or run with this number, a group above it, or its run has been terminated or
    /// cancelled. For a stale number the result may be either; for another team's, false.
    pub(crate) fn is_terminated(&self, number: u32) -> bool {
        if number & GROUP == 0 {
            return self.run_cancelled(number);
        }
        let own = same_team(number, self.id.run(0));
        let group = if own { self.groups.find(number) } else { None };
        // In a group that has ended, only a forged message has left a frame.
        let is = |group: &Group| group.has_ended() || self.groups.is_terminated(group, |run| self.run_cancelled(run));
        group.is_some_and(is)
    }

    pub(crate) fn any_run(&self) -> bool {
        !lock(&self.runs).by_number.is_empty()
    }

    /// Cancels a run: marks it, and makes every worker end the run's waits in its own pool and stop the run's tasks.
    ///
    /// In a process that does not lead, only asks the leader to cancel the run, unless the leader has.
    pub(crate) fn cancel(&self, run: &Run) {
        if self.peers.as_ref().is_some_and(|peers| peers.defers(run, None)) {
            return;
        }
        self.cancel_with(run, || run.mark_cancelled());
    }

    /// Cancels a run that has used too much memory. Before the run ends, every worker counts the run's frames in its
    /// pool during its sweep.
    pub(crate) fn exhaust(&self, run: &Run, error: FrameMemory) {
        if self.peers.as_ref().is_some_and(|peers| peers.defers(run, Some(&error))) {
            return;
        }
        let mark = || run.mark_exhausted(FrameMemory { frames: self.budget.large(), ..error });
        let count = || {
            // First: a worker that finds its flag set clears it, and must then find its group terminated.
            self.groups.advance_epoch();
            self.workers.iter().for_each(|entry| entry.set_exhausted());
            true
        };
        self.cancel_by(run, mark, count);
    }

    /// Cancels all runs, also those that begin later, because another process of the runtime has died.
    #[cfg(feature = "processes")]
    pub(crate) fn process_died(&self, died: ProcessDied) {
        let cause = Cause::ProcessDied(died);
        for run in self.give_up(cause) {
            self.cancel_for(&run, cause);
        }
    }

    /// Cancels a run whose tasks cannot end. Returns whether it was not cancelled before.
    #[cfg(any(feature = "simulation", feature = "processes"))]
    pub(super) fn cancel_for(&self, run: &Run, cause: Cause) -> bool {
        self.cancel_with(run, || run.mark_given_up(cause))
    }

    /// Cancels a run that `mark` marks. Returns whether it was not cancelled before.
    pub(super) fn cancel_with(&self, run: &Run, mark: impl FnOnce() -> bool) -> bool {
        self.cancel_by(run, mark, || self.messages_sent.any_after_mark())
    }

    fn cancel_by(&self, run: &Run, mark: impl FnOnce() -> bool, in_flight: impl FnOnce() -> bool) -> bool {
        let entered = self.enter();
        let mut in_progress = false;
        let awaits_sweeps = || {
            in_progress = true;
            in_flight() || self.peers.is_some()
        };
        let held = usize::from(self.peers.as_ref().is_some_and(|peers| peers.leads()));
        let (first, mut ended) = run.cancel(self.workers.len(), held, mark, awaits_sweeps);
        if in_progress && let Some(peers) = &self.peers {
            ended = ended.or(peers.cancelled(self, run));
        }
        // Later callers increment the epoch, too: see `Groups::terminate`.
        self.groups.advance_epoch();
        if first {
            self.sweep();
        }
        drop(entered);
        if let Some(callback) = ended {
            // The callback is user code, which must not take the calling task for its own.
            let left = try_cx().map(Cx::leave_tasks);
            quietly(callback);
            drop(left);
        }
        first
    }

    /// Makes all workers reclaim memory.
    pub(crate) fn reclaim(&self) {
        self.budget.reclaim();
        self.sweep();
    }

    /// Terminates `group`. Returns true for the first caller. The caller must keep the group's run from ending during
    /// the call.
    pub(crate) fn terminate(&self, group: u32) -> bool {
        let _entered = self.enter();
        let first = self.groups.terminate(group);
        if first {
            self.sweep();
            if let Some(peers) = &self.peers {
                peers.terminated(self, group);
            }
        }
        first
    }

    /// Returns the runs that have been cancelled and have not ended.
    pub(crate) fn cancelled_runs(&self) -> Vec<Arc<Run>> {
        lock(&self.runs).by_number.values().filter(|run| run.is_cancelled()).cloned().collect()
    }

    /// Cancels every run, and blocks until all have ended.
    pub(crate) fn cancel_all(&self) {
        for run in self.cancel_runs() {
            run.wait();
        }
    }

    /// Cancels every run. Returns all runs that have not been removed, also those cancelled before.
    pub(crate) fn cancel_runs(&self) -> Vec<Arc<Run>> {
        let runs: Vec<_> = lock(&self.runs).by_number.values().cloned().collect();
        for run in &runs {
            self.cancel(run);
        }
        if !runs.is_empty() {
            // A run that was cancelled before may wait for a frame in a group that has ended since.
            self.sweep();
        }
        runs
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

    /// Returns the smallest name of a run that has begun and has not been removed.
    pub(crate) fn first_run(&self) -> Option<u32> {
        lock(&self.runs).by_number.values().map(|run| run.name).min()
    }

    /// Returns the runs under way.
    pub(crate) fn runs_under_way(&self) -> Vec<Arc<Run>> {
        lock(&self.runs).by_number.values().filter(|run| run.under_way()).cloned().collect()
    }

    /// Returns the runs that have begun and have not ended.
    pub(super) fn live_runs(&self) -> Vec<Arc<Run>> {
        lock(&self.runs).by_number.values().filter(|run| run.is_live()).cloned().collect()
    }

    /// Lets every later run end at once, for this cause. Returns the runs so far that have not ended.
    #[cfg(any(feature = "simulation", feature = "processes"))]
    pub(super) fn give_up(&self, cause: Cause) -> Vec<Arc<Run>> {
        let mut runs = lock(&self.runs);
        runs.given_up = Some(cause);
        // A run that has ended is there until the thread that has begun it removes it, at no definite virtual time.
        runs.by_number.values().filter(|run| run.is_live()).cloned().collect()
    }

    /// Returns the number of runs begun.
    pub(super) fn runs_begun(&self) -> u64 {
        lock(&self.runs).begun
    }

    /// Calls `body` with the record of the team, `Some` while the team is stuck.
    pub(super) fn with_stuck<R>(&self, body: impl FnOnce(&mut Option<Stuck>) -> R) -> R {
        body(&mut lock(&self.stuck))
    }

    /// Queues a frame behind all others, where any worker finds it.
    pub(crate) fn inject_last(&self, frame: FrameRef) {
        self.inject_with(frame, || {});
    }

    /// Hands the root of a run to the workers.
    pub(crate) fn inject_root(&self, frame: FrameRef, run: &Run) {
        let entered = self.enter();
        let begun = self.simulator.as_ref().map_or(0, |simulator| simulator.begin());
        self.inject_with(frame, || run.start(begun));
        drop(entered);
    }

    fn inject_with(&self, frame: FrameRef, mark: impl FnOnce()) {
        let _entered = self.enter();
        self.injected.put(frame, mark);
        self.idle.notify_one();
    }

    /// If the machine is simulated, waits until all workers wait, and keeps them from running until the result is
    /// dropped. Does nothing on the simulation's own thread.
    pub(crate) fn enter(&self) -> Option<Entered<'_>> {
        self.simulator.as_deref().map(Entered::new)
    }

    pub(crate) fn take_injected(&self) -> Option<FrameRef> {
        self.injected.take()
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
