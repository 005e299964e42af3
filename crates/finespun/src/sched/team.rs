//! The team: what the workers of one runtime share.

use std::cell::Cell;
use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering, fence};
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use crossbeam_utils::CachePadded;

use crate::atomics::lock_std as lock;
use crate::observe::Stats;
use crate::process::watch_forks;
use crate::task::budget::{self, Budget, FrameMemory};
use crate::task::context::{Context, Cx};
use crate::task::foreign::is_own_thread;
use crate::task::frame::{FrameRef, Header, home};
use crate::task::groups::{Groups, Members, Policy};
use crate::task::pool::Pool;
use crate::task::runs::Run;
use crate::task::teams::{self, Externals, GROUP, TeamId};

use super::deadlock::{self, Stuck};
use super::deque::Deque;
use super::injector::Injector;
use super::park::Idle;
use super::ticker::Bell;
use crate::task::guard::Flags;

/// How the workers behave.
#[derive(Clone, Debug)]
pub(crate) struct Config {
    pub(crate) workers: usize,
    pub(crate) stack_size: usize,
    pub(crate) quantum: Duration,
    pub(crate) block_every: u32,
    pub(crate) pin: bool,
    pub(crate) members: Members,
    pub(crate) policy: Policy,
    pub(crate) frame_memory: Option<usize>,
}

/// One worker, as the others see it.
pub(crate) struct Seat {
    pub(crate) deque: Deque<Header>,
    context: Context,
    /// Whether the worker runs a frame: only then can it promote.
    pub(crate) running: AtomicBool,
    /// Frames of the worker's nodes that others have made ready.
    pub(crate) inbox: Injector,
    host: Box<dyn Host>,
}

// SAFETY: of the context, others than its worker use only the guard, the counters and the mark of an exhausted run, which are
// atomic; and its pool, to walk it, while all workers are kept parked by the idling mutex, which orders that after what the worker
// did before it parked. The deque's owner end is made by its worker only; of the host, others use what `Host` says they may.
unsafe impl Sync for Seat {}
// SAFETY: made by the builder, used by its worker from the start of its thread on, and retired after the join.
unsafe impl Send for Seat {}

/// What leaves wait for; for a report.
pub(crate) type Waits = HashMap<FrameRef, String>;

/// What a worker has beside its frames: nodes with objects, and a mailbox. The object room's.
///
/// All but `waits` and `tell_waits` are called by the worker itself.
pub(crate) trait Host {
    /// The worker begins: it is at the first of its nodes.
    fn attach(&self, context: &Context);
    /// The worker is at that node of its own from now on.
    fn enter_node(&self, context: &Context, node: u32);
    /// Whether there is a message to be handled, or one that could not be sent.
    fn any(&self) -> bool;
    /// Whether all that there is to do is to send what the receivers had no room for.
    fn is_stuck(&self) -> bool;
    /// Handles up to so many messages, and none behind one that has made a frame ready: whether it has handled, or sent, any.
    fn poll(&self, cx: Cx, messages: usize, ready: &Cell<Option<FrameRef>>) -> bool;
    /// Sends the message that has been withheld.
    fn send_withheld(&self, cx: Cx);
    /// The worker has found nothing to do.
    fn rest(&self);
    /// Whether there is a message to be handled; for any thread.
    fn waits(&self) -> bool;
    /// What leaves wait for, of those that wait for an object or an array of this worker's; for any thread, while all workers are
    /// parked.
    fn tell_waits(&self, waits: &mut Waits);
    /// The worker ends: its objects are destroyed.
    fn detach(&self, context: &Context);
}

impl Seat {
    /// The worker's own view.
    ///
    /// # Safety
    /// Only on the worker's thread.
    pub(crate) unsafe fn context(&self) -> &Context {
        &self.context
    }

    pub(crate) fn host(&self) -> &dyn Host {
        &*self.host
    }

    /// Frames that the worker has run.
    pub(crate) fn resumptions(&self) -> u64 {
        self.context.counters.resumptions.get()
    }

    /// The worker's frames; while all workers are parked, or have ended.
    pub(super) fn pool(&self) -> &Pool {
        self.context.pool()
    }

    pub(crate) fn request(&self, flags: Flags) {
        self.context.guard.request(flags);
    }
}

/// The workers of one runtime.
pub(crate) struct Team {
    pub(crate) id: TeamId,
    pub(crate) config: Config,
    pub(crate) seats: Box<[CachePadded<Seat>]>,
    pub(crate) idle: Idle,
    /// Frames made ready outside the workers.
    injected: CachePadded<Injector>,
    runs: Mutex<Runs>,
    pub(crate) groups: Groups,
    /// The memory of frames.
    pub(crate) budget: Arc<Budget>,
    /// Raised whenever a run is cancelled: each worker sweeps its frames once per value.
    sweeps: AtomicU32,
    /// Waits that something outside the tasks will end.
    pub(crate) external: Arc<Externals>,
    pub(crate) bell: Bell,
    /// There has been a message, or a frame that runs at one node only: before, nobody need look for either.
    nodes_in_use: CachePadded<AtomicBool>,
    /// What the team waits for when it is stuck.
    stuck: Mutex<Option<Stuck>>,
    /// The process that has its threads.
    process: u32,
}

/// The runs under way.
#[derive(Default)]
struct Runs {
    by_number: HashMap<u32, Arc<Run>>,
    next: u32,
    /// How many have been begun.
    begun: u64,
}

impl Team {
    /// The team, with a host for each worker.
    pub(crate) fn new(config: Config, hosts: Vec<Box<dyn Host>>) -> Result<Arc<Team>, teams::TooManyTeams> {
        watch_forks();
        let team = teams::register(|id| {
            let number = id.run(0);
            let seat = |host| {
                CachePadded::new(Seat {
                    deque: Deque::new(),
                    context: Context::new(number),
                    running: AtomicBool::new(false),
                    inbox: Injector::new(),
                    host,
                })
            };
            Arc::new_cyclic(|team: &Weak<Team>| Team {
                id,
                idle: Idle::new(config.workers),
                seats: hosts.into_iter().map(seat).collect(),
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
                            // Whoever wakes looks for a deadlock when it parks again.
                            team.idle.notify_one();
                        }
                    }
                })),
                bell: Bell::default(),
                nodes_in_use: CachePadded::new(AtomicBool::new(false)),
                stuck: Mutex::new(None),
                process: std::process::id(),
            })
        })?;
        deadlock::register(&team);
        Ok(team)
    }

    /// Is this process a fork of the one that has the team's threads?
    pub(crate) fn forked(&self) -> bool {
        std::process::id() != self.process
    }

    /// Takes the team out of the tables of teams, when its workers have ended.
    pub(crate) fn unregister(&self) {
        deadlock::unregister(self);
        budget::forget_team(self.id.run(0));
        teams::unregister(&self.id);
    }

    /// A new run, with a root to come.
    pub(crate) fn begin_run(&self) -> Arc<Run> {
        self.bell.begin();
        let inner = is_own_thread();
        let mut runs = lock(&self.runs);
        runs.begun += 1;
        loop {
            let number = self.id.run(runs.next);
            runs.next = (runs.next + 1) % teams::RUNS;
            if let Entry::Vacant(vacant) = runs.by_number.entry(number) {
                return Arc::clone(vacant.insert(Arc::new(Run::new(number, inner))));
            }
        }
    }

    /// Forgets a run that has ended.
    pub(crate) fn end_run(&self, run: &Run) {
        lock(&self.runs).by_number.remove(&run.number);
        self.groups.end_run(run.number);
        self.bell.end();
        if run.exhausted().is_some() {
            self.reclaim();
        }
        // Dekker: pairs with the fence in an examination that has marked the run and then looks whether it is under way.
        fence(Ordering::SeqCst);
        if run.is_watched() {
            deadlock::examine_if_stuck();
        }
    }

    /// A run under way.
    pub(crate) fn find_run(&self, number: u32) -> Option<Arc<Run>> {
        lock(&self.runs).by_number.get(&number).cloned()
    }

    /// A message is about to be sent, or a frame that runs at one node only is ready.
    pub(crate) fn use_nodes(&self) {
        // Relaxed: the look is to spare the line.
        if !self.nodes_in_use.load(Ordering::Relaxed) {
            // SeqCst: see `Run::await_sweeps`.
            self.nodes_in_use.store(true, Ordering::SeqCst);
        }
    }

    /// Whether there may be messages, or frames of nodes. Who goes idle looks at these themselves.
    #[inline]
    pub(crate) fn nodes_in_use(&self) -> bool {
        // Relaxed: a hint; see above.
        self.nodes_in_use.load(Ordering::Relaxed)
    }

    /// The worker that hosts a node.
    pub(crate) fn worker_of(&self, node: u32) -> usize {
        node as usize % self.seats.len()
    }

    /// Hands a ready frame to the worker that it must run on.
    pub(crate) fn inject_at(&self, worker: usize, frame: FrameRef) {
        self.use_nodes();
        self.seats[worker].inbox.put(frame, || {});
        self.idle.notify_worker(worker);
    }

    /// Whether there is something that only that worker can do.
    pub(crate) fn waits_for(&self, worker: usize) -> bool {
        let seat = &self.seats[worker];
        !seat.inbox.is_empty() || seat.host.waits()
    }

    /// Wakes who sleeps over a message: who sends one looks whether its receiver sleeps, but without a fence.
    pub(crate) fn wake_for_messages(&self) {
        for (worker, seat) in self.seats.iter().enumerate() {
            if seat.host.waits() {
                self.idle.notify_worker(worker);
            }
        }
    }

    /// Whether a run has been cancelled and has not ended.
    pub(crate) fn run_cancelled(&self, number: u32) -> bool {
        lock(&self.runs).by_number.get(&number).is_some_and(|run| run.is_cancelled())
    }

    /// Whether what has that number has been terminated, or lies beneath a group that has, or in a run that has been cancelled.
    /// A number that is nothing's any more, or another team's, may be either.
    pub(crate) fn is_terminated(&self, number: u32) -> bool {
        if number & GROUP == 0 {
            return self.run_cancelled(number);
        }
        let own = teams::same_team(number, self.id.run(0));
        let group = if own { self.groups.find(number) } else { None };
        group.is_some_and(|group| self.groups.is_terminated(group, |run| self.run_cancelled(run)))
    }

    pub(crate) fn any_run(&self) -> bool {
        !lock(&self.runs).by_number.is_empty()
    }

    /// Cancels a run: marks it, and has every worker sweep its waiting leaves and stop what it runs.
    pub(crate) fn cancel(&self, run: &Run) {
        let first = run.mark_cancelled();
        // Also by who is not the first: see `Groups::terminate`.
        self.groups.raise();
        if first {
            // SeqCst: see `Run::await_sweeps`.
            if self.nodes_in_use.load(Ordering::SeqCst) {
                run.await_sweeps(self.seats.len());
            }
            self.sweep();
        }
    }

    /// Ends a run that has taken too much memory. Every worker counts its frames of the run when it sweeps, before the run ends.
    pub(crate) fn exhaust(&self, run: &Run, error: FrameMemory) {
        let first = run.mark_exhausted(FrameMemory { frames: self.budget.large(), ..error });
        // Also if it was marked before: see `Groups::terminate`.
        self.groups.raise();
        if first {
            self.seats.iter().for_each(|seat| seat.context.set_exhausted());
            run.await_sweeps(self.seats.len());
            self.sweep();
        }
    }

    /// Has all workers reclaim memory.
    pub(crate) fn reclaim(&self) {
        self.budget.reclaim();
        self.sweep();
    }

    /// Terminates a group; whether this is the first time. By somebody whom its run does not end without.
    pub(crate) fn terminate(&self, group: u32) -> bool {
        let first = self.groups.terminate(group);
        if first {
            self.sweep();
        }
        first
    }

    /// The runs that have been cancelled and have not ended.
    pub(crate) fn cancelled_runs(&self) -> Vec<Arc<Run>> {
        lock(&self.runs).by_number.values().filter(|run| run.is_cancelled()).cloned().collect()
    }

    /// Cancels every run, and sleeps until all have ended.
    pub(crate) fn cancel_all(&self) {
        for run in self.cancel_runs() {
            run.wait();
        }
    }

    /// Cancels every run, and returns those that there were.
    pub(crate) fn cancel_runs(&self) -> Vec<Arc<Run>> {
        let runs: Vec<_> = lock(&self.runs).by_number.values().cloned().collect();
        for run in &runs {
            self.cancel(run);
        }
        runs
    }

    /// Has every worker end the waits of what has been terminated, and stop what it runs of that.
    pub(crate) fn sweep(&self) {
        // Release: whoever sees the new value sees the mark.
        self.sweeps.fetch_add(1, Ordering::Release);
        for seat in &self.seats {
            seat.request(Flags::CANCEL);
        }
        self.idle.notify_all();
    }

    /// Which sweep is due.
    pub(crate) fn sweeps(&self) -> u32 {
        // Acquire: pairs with the Release in `sweep`.
        self.sweeps.load(Ordering::Acquire)
    }

    /// The runs under way.
    pub(super) fn runs_under_way(&self) -> Vec<Arc<Run>> {
        lock(&self.runs).by_number.values().filter(|run| run.under_way()).cloned().collect()
    }

    /// The runs that have been begun and have not ended.
    pub(super) fn live_runs(&self) -> Vec<Arc<Run>> {
        lock(&self.runs).by_number.values().filter(|run| run.is_live()).cloned().collect()
    }

    /// How many runs have been begun.
    pub(super) fn runs_begun(&self) -> u64 {
        lock(&self.runs).begun
    }

    /// Calls `body` with what is known of the team while it is stuck.
    pub(super) fn with_stuck<R>(&self, body: impl FnOnce(&mut Option<Stuck>) -> R) -> R {
        body(&mut lock(&self.stuck))
    }

    /// Queues a frame behind all others, where any worker finds it.
    pub(crate) fn inject_last(&self, frame: FrameRef) {
        self.inject_with(frame, || {});
    }

    /// Hands a run's root to the workers.
    pub(crate) fn inject_root(&self, frame: FrameRef, run: &Run) {
        self.inject_with(frame, || run.start());
    }

    fn inject_with(&self, frame: FrameRef, mark: impl FnOnce()) {
        self.injected.put(frame, mark);
        self.idle.notify_one();
    }

    pub(crate) fn take_injected(&self) -> Option<FrameRef> {
        self.injected.take()
    }

    /// Whether there is something that an idle worker could take.
    pub(crate) fn work_visible(&self) -> bool {
        !self.injected.is_empty() || self.seats.iter().any(|seat| !seat.deque.is_empty())
    }

    /// Frames that are left when all workers have ended.
    ///
    /// # Safety
    /// The workers' threads have been joined.
    pub(crate) unsafe fn frames_left(&self) -> usize {
        self.seats.iter().map(|seat| seat.context.frames_left()).sum::<usize>() + self.budget.large()
    }

    /// Each worker's counters.
    pub(crate) fn stats(&self) -> Vec<Stats> {
        let mut stats: Vec<Stats> = self.seats.iter().map(|seat| seat.context.counters.read()).collect();
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

    fn terminate(&self, group: u32) {
        Team::terminate(self, group);
    }

    fn find_run(&self, number: u32) -> Option<Arc<Run>> {
        Team::find_run(self, number)
    }

    fn exhaust(&self, run: &Run, error: FrameMemory) {
        Team::exhaust(self, run, error);
    }

    fn externals(&self) -> Arc<Externals> {
        Arc::clone(&self.external)
    }

    fn reclaim(&self) -> Arc<Budget> {
        Team::reclaim(self);
        Arc::clone(&self.budget)
    }
}
