//! One worker: its loop, and where it takes frames. [`asked`] answers the requests of running code, [`begging`] exchanges
//! tasks with other processes, [`idle`] waits for work, and `visited` lets the thread of a caller use the worker.
//!
//! Order of the loop: its mailbox, its ready closures and its deque (youngest first), ready frames of its nodes, frames
//! injected from outside, the other workers' deques (oldest first), a request for promotion, idling. Every [`FAIR`]th
//! turn first takes a frame from outside, or else one of its nodes. So a worker with a full deque still serves others.
//! Until the team uses nodes, only an idle worker checks its mailbox.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::ptr::NonNull;
use std::sync::Arc;
use std::time::{Duration, Instant};

use crate::atomics::Ordering;
use crate::cancel::runs::Run;
use crate::cancel::teams;
use crate::frame::context::{Cx, Scheduler};
use crate::frame::{FrameRef, quietly};
use crate::run;
use crate::run::context::Context;
use crate::sim::Simulator;

use self::begging::Begging;
use super::deque::Steal;
use super::team::{Team, WorkerEntry};
use crate::frame::guard::stack_pointer;

/// Number of turns of the loop after which a worker checks the injector before its own frames.
const FAIR: u32 = 61;

/// Of the turns that check the injector first, every `RARE`th takes the worker's own oldest frame if the injector is
/// empty. Otherwise a program that keeps making frames would never run that frame. With a smaller value, a worker would
/// traverse trees breadth-first, which takes memory.
const RARE: u32 = 1024;

/// After so many expired quanta, a worker takes its own oldest frame. An even number.
const STALE: u32 = 6;

/// Maximum number of messages that a worker handles before it looks for other work.
const MESSAGES: usize = 1024;
/// Maximum number of messages that a worker handles on top of a stack.
const MESSAGES_IN_PLACE: usize = 64;

/// Time after which a simulated worker tries again to send.
const RETRY: Duration = Duration::from_micros(1);
mod asked;
mod begging;
mod idle;
#[cfg(feature = "visits")]
mod visited;

/// A worker, used on its own thread only.
pub(crate) struct Worker<'t> {
    team: &'t Arc<Team>,
    /// The worker's entry in the team.
    entry: &'t WorkerEntry,
    /// The worker's state.
    cx: Cx,
    /// The machine, if it is simulated.
    simulator: Option<&'t dyn Simulator>,
    /// Whether every guard check must trip: for block-every-n, or because the machine is simulated.
    trips_always: bool,
    index: usize,
    /// The guard's limit on the stack of the worker's own thread.
    #[cfg(feature = "visits")]
    stack_limit: usize,
    /// The run of the visitor that uses the worker.
    #[cfg(feature = "visits")]
    visitor: Cell<Option<NonNull<Run>>>,
    tick: Cell<u32>,
    /// Set when a frame's quantum has expired, until the next turn.
    quantum_expired: Cell<bool>,
    /// Number of quanta that have expired.
    quanta: Cell<u32>,
    random: Cell<u64>,
    /// On a simulated machine: where a search for work begins, modulo the number of workers.
    victims_from: Cell<u64>,
    blocked: Cell<u32>,
    leaving_for: Cell<Reason>,
    swept: Cell<u32>,
    /// The beginning of the promotion under way: the time, and the number of frames made before it.
    left_at: Cell<Option<(Instant, u64)>>,
    promote_after: Cell<Option<Instant>>,
    begging: Begging,
    /// Whether the worker is handling messages.
    handles: Cell<bool>,
    /// The frame that the last handled message made ready. It runs next, without passing through the deque.
    next: Cell<Option<FrameRef>>,
    /// Number of turns in which the worker could only retry sends that failed because the receivers had no room.
    stuck: Cell<u32>,
    /// Set when a poll has handled a message, sent one from the outbox, or resumed a stalled sender; cleared when
    /// [`listen`](Worker::listen) polls in vain. While set, an answer may be on its way.
    talks: Cell<bool>,
    /// Ready frames of this worker's nodes, in the order in which they became ready.
    located: RefCell<VecDeque<FrameRef>>,
}

/// Aborts the process when a panic unwinds a worker, after the panic's message is printed. Otherwise the worker would
/// end silently, and its frames would be lost.
pub(super) struct AbortOnUnwind;
impl Drop for AbortOnUnwind {
    fn drop(&mut self) {
        std::process::abort();
    }
}

/// The reason why the worker unwinds its stack to frames.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Reason {
    Thief,
    StackLimit,
    Quantum,
    Cancelled,
}

impl Worker<'_> {
    /// Runs worker `index` of `team` on this thread until the team shuts down.
    pub(crate) fn main(team: &Arc<Team>, index: usize) {
        let base = stack_pointer();
        let stack_limit = base.saturating_sub(team.config.stack_size);
        let seed = team.simulator.as_ref().map_or(0, |simulator| simulator.seed());
        let worker = Worker {
            index,
            #[cfg(feature = "visits")]
            stack_limit,
            #[cfg(feature = "visits")]
            visitor: Cell::new(None),
            tick: Cell::new(0),
            quantum_expired: Cell::new(false),
            quanta: Cell::new(0),
            random: Cell::new((0x9E37_79B9_7F4A_7C15 ^ ((index as u64 + 1) << 17)) ^ seed),
            victims_from: Cell::new(index as u64 + 1),
            blocked: Cell::new(0),
            leaving_for: Cell::new(Reason::Thief),
            swept: Cell::new(0),
            left_at: Cell::new(None),
            promote_after: Cell::new(None),
            begging: Begging::default(),
            handles: Cell::new(false),
            next: Cell::new(None),
            stuck: Cell::new(0),
            talks: Cell::new(false),
            located: RefCell::new(VecDeque::new()),
            team,
            entry: &team.workers[index],
            simulator: team.simulator.as_deref(),
            trips_always: team.config.block_every > 0 || team.simulator.is_some(),
            // SAFETY: this is the worker's thread, and `team` is borrowed by the worker.
            cx: unsafe { team.workers[index].cx() },
        };
        #[cfg(feature = "pinning")]
        if worker.team.config.pin {
            pin(index);
        }
        let (cx, context) = (worker.cx, worker.context());
        context.front.guard.set_limit(stack_limit);
        context.pool().set_budget(Arc::clone(&team.budget));
        worker.arm_guard();
        context.attach(NonNull::from(&worker as &dyn Scheduler));
        context.enter_team(NonNull::from(&**team as &dyn teams::Team));
        cx.set_worker(Some(&worker));
        context.worker.set(index as u32);
        context.workers.set(worker.team.workers.len() as u32);
        context.all_workers.set(worker.team.part.workers);
        context.policy.set(worker.team.config.policy);
        let entered = cx.enter();
        worker.entry.host().attach(cx);
        #[cfg(feature = "visits")]
        worker.entry.door.open(&worker);
        worker.work(cx);
        worker.entry.host().detach(cx);
        drop(entered);
        cx.set_worker(None);
        context.leave_team();
        context.detach();
    }

    /// Queues a frame that may run on any worker.
    #[inline(always)]
    fn publish(&self, frame: FrameRef) {
        self.deque().push(frame);
        // No fence: if this check misses an idle worker, the scout finds the frame while this worker runs.
        if self.team.idle.anyone_idle() {
            self.team.idle.notify_one();
        }
    }

    /// Queues a frame that may run at `node` only.
    #[cold]
    #[inline(never)]
    fn ready_at(&self, node: u32, frame: FrameRef) {
        self.team.use_nodes();
        match self.team.worker_of(node) {
            worker if worker == self.index => self.located.borrow_mut().push_back(frame),
            worker => self.team.inject_at(worker, frame),
        }
    }

    fn context(&self) -> &Context {
        self.cx.context()
    }

    fn deque(&self) -> super::deque::Owner<'_, crate::frame::Header> {
        // SAFETY: only this worker makes tokens of its own deque, always on its own thread: conditions 1 and 2.
        unsafe { self.entry.deque.owner() }
    }

    fn work(&self, cx: Cx) {
        loop {
            self.run_ready(cx);
            let go_on = self.look_around() || self.idle();
            self.stop_begging();
            if !go_on {
                return;
            }
        }
    }

    /// Runs frames while there are some. Not inlined: the loop keeps its registers, which the search for work would use.
    #[inline(never)]
    fn run_ready(&self, cx: Cx) {
        while let Some(frame) = self.next() {
            // SAFETY: `next` returns a ready frame, which is in no queue any more.
            unsafe { run_frame(cx, frame) };
        }
    }

    // Always inlined in the worker's loop, although visitors have a loop of their own.
    #[inline(always)]
    fn next(&self) -> Option<FrameRef> {
        let tick = self.tick.get().wrapping_add(1);
        self.tick.set(tick);
        if self.sweep_due() {
            let alive = AbortOnUnwind;
            self.sweep();
            std::mem::forget(alive);
        }
        if tick.is_multiple_of(FAIR)
            && let Some(frame) = self.oldest(tick)
        {
            return Some(frame);
        }
        let own = if self.team.nodes_in_use() { self.next_of_nodes(tick) } else { self.youngest() };
        own.or_else(|| self.take_from_others())
    }

    /// Takes a frame from outside, or of another worker.
    #[cold]
    #[inline(never)]
    fn take_from_others(&self) -> Option<FrameRef> {
        self.team.take_injected().or_else(|| self.steal())
    }

    /// Lets the next turn first take the root of a new run: a frame's quantum has expired.
    fn serve_roots_next(&self) {
        self.quantum_expired.set(true);
        self.tick.update(|tick| tick.wrapping_add(FAIR - 1 - tick % FAIR));
    }

    /// Takes the frame that has waited longest: one from outside, or, once in [`RARE`] calls, the oldest of the
    /// worker's own.
    #[cold]
    #[inline(never)]
    fn oldest(&self, tick: u32) -> Option<FrameRef> {
        if self.quantum_expired.take() {
            let quanta = self.quanta.get().wrapping_add(1);
            self.quanta.set(quanta);
            // The preempted frames come after the worker's own, but not always: quanta may expire before each fair turn.
            // Loops that are preempted again and again must not keep the worker from its oldest frames either.
            match quanta % STALE {
                0 => return self.team.take_root().or_else(|| self.own_oldest()),
                n if n % 2 == 1 => return self.team.take_root(),
                _ => {}
            }
        }
        let due = tick.is_multiple_of(FAIR * RARE);
        self.team.take_injected().or_else(|| due.then(|| self.own_oldest()).flatten())
    }

    /// Takes the oldest of this worker's own frames.
    fn own_oldest(&self) -> Option<FrameRef> {
        self.show();
        match self.entry.deque.steal() {
            Steal::Success(frame) => Some(frame),
            Steal::Retry | Steal::Empty => None,
        }
    }

    /// Takes the youngest of the worker's frames that may run on any worker.
    #[inline(always)]
    fn youngest(&self) -> Option<FrameRef> {
        self.context().take_hidden().or_else(|| self.deque().pop())
    }

    /// Takes a frame of this worker, after handling messages, which may make one ready.
    #[inline(never)]
    fn next_of_nodes(&self, tick: u32) -> Option<FrameRef> {
        self.give_if_noticed();
        if tick.is_multiple_of(FAIR)
            && let Some(frame) = self.take_located()
        {
            return Some(frame);
        }
        self.poll();
        // A worker that exchanges messages waits briefly for the next message before it takes frames from elsewhere, in
        // at most `FAIR` rounds.
        let mut turns = 0..FAIR;
        loop {
            let own = self.next.take().or_else(|| self.youngest()).or_else(|| self.take_located());
            if own.is_some() || turns.next().is_none() || !(self.poll() || self.listen()) {
                return own;
            }
        }
    }

    /// Takes a ready frame of this worker's nodes. Each call first moves one frame from the inbox to the end of the
    /// list, so that frames which become ready later do not delay the inbox.
    fn take_located(&self) -> Option<FrameRef> {
        let mut located = self.located.borrow_mut();
        if !self.entry.inbox.is_empty()
            && let Some(frame) = self.entry.inbox.take()
        {
            located.push_back(frame);
        }
        located.pop_front()
    }

    /// Handles messages. Returns whether it handled or sent any.
    fn poll(&self) -> bool {
        let peers = self.team.poll_peers();
        self.entry.host().any() && self.handle(MESSAGES) || peers
    }

    fn handle(&self, messages: usize) -> bool {
        if !self.cx.may_host() {
            return false;
        }
        // As in `work`.
        self.context().front.running.store(true, Ordering::Release);
        let alive = AbortOnUnwind;
        self.handles.set(true);
        let some = self.entry.host().poll(self.cx, messages, &self.next);
        self.handles.set(false);
        std::mem::forget(alive);
        self.talks.set(self.talks.get() || some);
        self.context().front.running.store(false, Ordering::Release);
        some
    }

    /// Returns whether work that this worker could do is visible.
    fn work_visible(&self) -> bool {
        self.team.work_visible() || self.addressed()
    }

    fn sweep_due(&self) -> bool {
        self.team.sweeps() != self.swept.get()
    }

    /// Ends waits of terminated groups and cancelled runs: leaves and spawned tasks in this pool, and the team's
    /// recorded waits for other groups' tasks. For an exhausted run, also counts its frames in the pool.
    #[cold]
    #[inline(never)]
    fn sweep(&self) {
        self.swept.set(self.team.sweeps());
        self.context().pool().reclaim_once(&self.team.budget);
        let mut waits = Vec::new();
        // Listed once, before the walk: a run that asks for a sweep during the walk waits for the next one.
        let mut swept = self.team.cancelled_runs();
        swept.retain(|run| run.awaits_sweep(self.index));
        let counted = swept.iter().filter(|run| run.counts_frames());
        let mut counted: Vec<_> = counted.map(|run| (run, Vec::new())).collect();
        self.context().pool().walk(|frame, table| {
            if mutated!(Unswept) && self.index == 1 {
                return;
            }
            for (run, found) in &mut counted {
                // SAFETY: `walk` passes blocks that are not free, so `frame` holds a header with a valid group.
                if self.team.groups.is_of(unsafe { (*frame.as_ptr()).group }, run.number) {
                    let body = (table.name)();
                    match found.iter_mut().find(|(other, _)| *other == body) {
                        Some((_, count)) => *count += 1,
                        None => found.push((body, 1)),
                    }
                }
            }
            if table.leaf.is_none() && !table.spawned {
                return;
            }
            // SAFETY: `walk` passes blocks that are not free. If another thread frees the block now, the group keeps
            // its value until this worker allocates again or reclaims the block's page.
            if self.team.is_terminated(unsafe { (*frame.as_ptr()).group }) {
                waits.push((frame, table.spawned));
            }
        });
        counted.iter().for_each(|(run, found)| run.add_frames(found));
        let mut orphaned = Vec::new();
        self.team.groups.each_awaited(|frame, group| {
            if self.team.is_terminated(group) {
                // SAFETY: the callback receives spawned frames, and `each_awaited` keeps them live during the call.
                orphaned.extend(unsafe { run::orphan(frame) });
            }
        });
        orphaned.into_iter().for_each(run::make_ready);
        for (frame, spawned) in waits {
            let waiter = if spawned {
                // SAFETY: `frame` is a spawned frame of this pool. If it has been freed since, its slot stays ended:
                // this worker neither allocates the block again nor reclaims its page before this sweep ends.
                unsafe { run::orphan(frame) }
            } else {
                // SAFETY: `frame` is a leaf of this pool. If it has been freed since, it keeps its claim, since the
                // sweep neither allocates nor reclaims.
                unsafe { run::continuation::cancel(frame) }
            };
            if let Some(waiter) = waiter {
                run::make_ready(waiter);
            }
        }
        if self.team.peers.is_some() && !swept.is_empty() {
            self.entry.host().sweep(&|number| swept.iter().any(|run| run.number == number));
        }
        // Callbacks, and payloads that are dropped with the last reference to a run, are user code: it must not find
        // this worker in a run, which may have ended.
        self.cx.leave_run();
        for run in swept {
            if let Some(callback) = run.swept(self.index) {
                quietly(callback);
            }
        }
        self.team.idle.notify_all();
    }

    fn random(&self) -> u64 {
        // xorshift64
        let mut x = self.random.get();
        x ^= x << 13;
        x ^= x >> 7;
        x ^= x << 17;
        self.random.set(x);
        x
    }

    /// Iterates over the victims of a search for work: all other workers, or some on a simulated machine.
    fn others(&self) -> impl Iterator<Item = (usize, &WorkerEntry)> {
        self.others_of(self.simulator.map_or(self.team.workers.len(), |simulator| simulator.victims()))
    }

    /// Iterates over `count` other workers, from a random one on; on a simulated machine from `victims_from` on, which
    /// `ask` changes.
    fn others_of(&self, count: usize) -> impl Iterator<Item = (usize, &WorkerEntry)> {
        let workers = &self.team.workers;
        let start = if self.simulator.is_some() { self.victims_from.get() } else { self.random() };
        let start = (start % workers.len() as u64) as usize;
        (0..workers.len())
            .map(move |i| (start + i) % workers.len())
            .filter(move |&i| i != self.index)
            .take(count)
            .map(move |i| (i, &*workers[i]))
    }

    fn steal(&self) -> Option<FrameRef> {
        if self.team.workers.len() == 1 {
            return None;
        }
        for (index, entry) in self.others() {
            if let Some(simulator) = self.simulator {
                simulator.access(index);
            }
            loop {
                match entry.deque.steal() {
                    Steal::Success(frame) => {
                        self.context().counters.steals.add(1);
                        if !entry.deque.is_empty() {
                            // The victim has more frames: wakes another worker to steal, too.
                            self.team.idle.notify_one();
                        }
                        return Some(frame);
                    }
                    Steal::Retry => std::hint::spin_loop(),
                    Steal::Empty => break,
                }
            }
        }
        None
    }

    /// Returns the machine, if it is simulated.
    pub(crate) fn simulator(&self) -> Option<&dyn Simulator> {
        self.simulator
    }

    /// Notes that a run's root has ended.
    pub(crate) fn root_ended(&self, run: &Run) {
        if let Some(simulator) = self.simulator {
            simulator.root_ended(run.begun());
        }
    }
}

/// Runs a frame.
///
/// # Safety
/// The frame is ready and in no queue, and `cx` is the current worker's.
#[inline(always)]
unsafe fn run_frame(cx: Cx, frame: FrameRef) {
    // A hint for thieves; Release for those of other processes.
    cx.core().front.running.store(true, Ordering::Release);
    let alive = AbortOnUnwind;
    // SAFETY: the caller guarantees it.
    unsafe { run::run(cx, frame) };
    std::mem::forget(alive);
    cx.core().front.running.store(false, Ordering::Release);
}

/// Binds this thread to the `index`th core that the process may use. Best effort: errors are ignored.
#[cfg(feature = "pinning")]
fn pin(index: usize) {
    if let Some(cores) = core_affinity::get_core_ids()
        && !cores.is_empty()
    {
        core_affinity::set_for_current(cores[index % cores.len()]);
    }
}
