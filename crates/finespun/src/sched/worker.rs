//! One worker: its loop and its search for work. What running code asks it is answered in [`asked`].
//!
//! Order of the loop: own deque (youngest first), ready frames of its nodes, its mailbox, frames injected from outside,
//! the other workers' deques (oldest first), a request for promotion, idling. Every [`FAIR`]th frame is taken from
//! outside first, and the mailbox is looked at before every frame, so that a worker whose queues never run dry still serves
//! others.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::hint;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use crate::task::context::{Context, Cx, Scheduler};
use crate::task::frame::{FrameRef, quietly};
use crate::task::{run, suspend};

use super::deque::Steal;
use super::park::{Prepared, Wake};
use super::team::{Seat, Team};
use crate::task::guard::{Flags, stack_pointer};

/// How often a busy worker looks outside first.
const FAIR: u32 = 61;

/// Of how many of those looks one takes the oldest of its own frames: what has been waiting beneath a program that makes
/// frames without end. More often, and a tree would be gone through by its breadth, which takes memory.
const RARE: u32 = 1024;

/// How many messages a worker takes at most before it looks for something else to do.
const MESSAGES: usize = 1024;
/// The same on top of a stack.
const MESSAGES_IN_PLACE: usize = 64;

/// How often a worker that talks to others looks for a message, before it does anything else about having nothing to do:
/// a few microseconds.
const LISTEN: u32 = 50;

/// After how many vain tries to send a worker lets others have its core: some microseconds.
const STUCK: u32 = 64;

/// How long a worker that has just run dry looks around before it parks.
const SPIN: Duration = Duration::from_micros(20);
/// How long the scout looks after it has asked: half a per cent of its longest timeout.
const SCOUT_SPIN: Duration = Duration::from_micros(5);

mod asked;

/// A worker, on its own thread.
pub(crate) struct Worker<'t> {
    team: &'t Arc<Team>,
    /// Its place in the team.
    seat: &'t Seat,
    index: usize,
    tick: Cell<u32>,
    random: Cell<u64>,
    blocked: Cell<u32>,
    leaving_for: Cell<Reason>,
    swept: Cell<u32>,
    left_at: Cell<Option<Instant>>,
    promote_after: Cell<Option<Instant>>,
    /// Messages are being handled.
    handles: Cell<bool>,
    /// What the last of them has made ready: to be run next, and not worth a way through the deque.
    next: Cell<Option<FrameRef>>,
    /// Times that nothing could be done but to send what the receivers had no room for.
    stuck: Cell<u32>,
    /// There have been messages since the worker last ran dry: the next may be on its way.
    talks: Cell<bool>,
    /// Ready frames of this worker's nodes, in the order in which they became ready.
    located: RefCell<VecDeque<FrameRef>>,
}

/// A worker that unwinds would end silently, and its frames with it: rather end the process, after the panic's message.
struct Alive;
impl Drop for Alive {
    fn drop(&mut self) {
        std::process::abort();
    }
}

/// Why a stack is being given up.
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
        let worker = Worker {
            index,
            tick: Cell::new(0),
            random: Cell::new(0x9E37_79B9_7F4A_7C15 ^ ((index as u64 + 1) << 17)),
            blocked: Cell::new(0),
            leaving_for: Cell::new(Reason::Thief),
            swept: Cell::new(0),
            left_at: Cell::new(None),
            promote_after: Cell::new(None),
            handles: Cell::new(false),
            next: Cell::new(None),
            stuck: Cell::new(0),
            talks: Cell::new(false),
            located: RefCell::new(VecDeque::new()),
            team,
            seat: &team.seats[index],
        };
        if worker.team.config.pin {
            pin(index);
        }
        let context = worker.context();
        context.guard.set_limit(stack_limit);
        context.pool().set_budget(Arc::clone(&team.budget));
        worker.arm_block_every();
        context.set_scheduler(NonNull::from(&worker as &dyn Scheduler));
        let here = &context.here;
        here.worker.set(index as u32);
        here.workers.set(worker.team.seats.len() as u32);
        here.policy.set(worker.team.config.policy);
        let entered = context.enter();
        worker.seat.host().attach(context);
        worker.work(context.cx());
        worker.seat.host().detach(context);
        drop(entered);
        context.clear_scheduler();
    }

    /// A frame may run, here or on any other worker.
    #[inline(always)]
    fn publish(&self, frame: FrameRef) {
        self.deque().push(frame);
        // Without the fence of the idling protocol: while this worker runs, the scout finds what is missed here.
        if self.team.idle.anyone_idle() {
            self.team.idle.notify_one();
        }
    }

    /// A frame of that node may run.
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
        // SAFETY: this is the worker's thread: a `Worker` does not leave `main`.
        unsafe { self.seat.context() }
    }

    fn deque(&self) -> super::deque::Owner<'_, crate::task::frame::Header> {
        // SAFETY: only this worker makes the token of its own deque, on its own thread.
        unsafe { self.seat.deque.owner() }
    }

    fn work(&self, cx: Cx) {
        loop {
            while let Some(frame) = self.next() {
                // Relaxed: a hint for thieves.
                self.seat.running.store(true, Ordering::Relaxed);
                let alive = Alive;
                // SAFETY: what a queue gives out is ready and in no queue any more.
                unsafe { run::run(cx, frame) };
                std::mem::forget(alive);
                self.seat.running.store(false, Ordering::Relaxed);
            }
            if self.look_around() {
                continue;
            }
            if !self.idle() {
                return;
            }
        }
    }

    fn next(&self) -> Option<FrameRef> {
        let tick = self.tick.get().wrapping_add(1);
        self.tick.set(tick);
        if self.sweep_due() {
            let alive = Alive;
            self.sweep();
            std::mem::forget(alive);
        }
        if tick.is_multiple_of(FAIR)
            && let Some(frame) = self.oldest(tick)
        {
            return Some(frame);
        }
        let own = if self.team.nodes_in_use() { self.next_of_nodes(tick) } else { self.youngest() };
        own.or_else(|| self.team.take_injected()).or_else(|| self.steal())
    }

    /// What has waited longest: outside, and now and then beneath everything else here.
    #[cold]
    #[inline(never)]
    fn oldest(&self, tick: u32) -> Option<FrameRef> {
        self.team.take_injected().or_else(|| match tick.is_multiple_of(FAIR * RARE) {
            true => {
                self.show();
                match self.seat.deque.steal() {
                    Steal::Success(frame) => Some(frame),
                    Steal::Retry | Steal::Empty => None,
                }
            }
            false => None,
        })
    }

    /// The youngest of the frames that any worker could run.
    #[inline(always)]
    fn youngest(&self) -> Option<FrameRef> {
        self.context().threads.pop().or_else(|| self.deque().pop())
    }

    /// A frame that is ready here, or becomes so by a message.
    #[inline(never)]
    fn next_of_nodes(&self, tick: u32) -> Option<FrameRef> {
        if tick.is_multiple_of(FAIR)
            && let Some(frame) = self.take_located()
        {
            return Some(frame);
        }
        self.poll();
        // Who talks to another worker waits a little for what that says next, before it looks at what others have. But
        // not for ever.
        let mut turns = 0..FAIR;
        loop {
            let own = self.next.take().or_else(|| self.youngest()).or_else(|| self.take_located());
            if own.is_some() || turns.next().is_none() || !(self.poll() || self.listen()) {
                return own;
            }
        }
    }

    /// A ready frame of this worker's nodes. One that somebody else has made ready stands behind those that are there, and
    /// not behind all that may come.
    fn take_located(&self) -> Option<FrameRef> {
        let mut located = self.located.borrow_mut();
        if !self.seat.inbox.is_empty()
            && let Some(frame) = self.seat.inbox.take()
        {
            located.push_back(frame);
        }
        located.pop_front()
    }

    /// Handles messages; whether there were any.
    fn poll(&self) -> bool {
        self.seat.host().any() && self.handle(MESSAGES)
    }

    fn handle(&self, messages: usize) -> bool {
        // Relaxed: a hint for thieves.
        self.seat.running.store(true, Ordering::Relaxed);
        let alive = Alive;
        self.handles.set(true);
        let some = self.seat.host().poll(self.context().cx(), messages, &self.next);
        self.handles.set(false);
        std::mem::forget(alive);
        self.talks.set(self.talks.get() || some);
        self.seat.running.store(false, Ordering::Relaxed);
        some
    }

    /// Whether there is something that this worker could do.
    fn work_visible(&self) -> bool {
        self.team.work_visible() || self.addressed()
    }

    fn sweep_due(&self) -> bool {
        self.team.sweeps() != self.swept.get()
    }

    /// Ends the waits of terminated groups and cancelled runs that were begun on this worker: leaves, and waits for spawned
    /// tasks, which may stand in a cycle or be another group's.
    fn sweep(&self) {
        self.swept.set(self.team.sweeps());
        self.context().pool().reclaim_once(&self.team.budget);
        let mut waits = Vec::new();
        let mut counted: Vec<_> = self.team.cancelled_runs().into_iter().map(|run| (run, Vec::new())).collect();
        counted.retain(|(run, _)| run.counts_frames(self.index));
        self.context().pool().walk(|frame, table| {
            for (run, found) in &mut counted {
                // SAFETY: as below.
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
            // SAFETY: the group of a block that was not free stays what it was until this worker allocates again, or reclaims
            // the block's page.
            if self.team.is_terminated(unsafe { (*frame.as_ptr()).group }) {
                waits.push((frame, table.spawned));
            }
        });
        counted.iter().for_each(|(run, found)| run.add_frames(found));
        drop(counted);
        let mut parted = Vec::new();
        self.team.groups.each_awaited(|frame, group| {
            if self.team.is_terminated(group) {
                // SAFETY: spawned frames, live while they are awaited.
                parted.extend(unsafe { run::part(frame) });
            }
        });
        parted.into_iter().for_each(suspend::make_ready);
        for (frame, spawned) in waits {
            let waiter = if spawned {
                // SAFETY: a spawned frame of this pool; one that is freed meanwhile keeps its slot, which has ended: it is not
                // allocated again before this sweep ends, nor is its page reclaimed.
                unsafe { run::part(frame) }
            } else {
                // SAFETY: a leaf of this pool; one that is freed meanwhile keeps its claim, as above.
                unsafe { suspend::cancel(frame) }
            };
            if let Some(waiter) = waiter {
                suspend::make_ready(waiter);
            }
        }
        for run in self.team.cancelled_runs() {
            if let Some(told) = run.swept(self.index) {
                // As in `run::run`.
                self.context().cx().leave_run();
                quietly(told);
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

    /// The other workers, from a random one on.
    fn others(&self) -> impl Iterator<Item = &Seat> {
        let seats = &self.team.seats;
        let start = (self.random() % seats.len() as u64) as usize;
        (0..seats.len())
            .map(move |i| (start + i) % seats.len())
            .filter(move |&i| i != self.index)
            .map(move |i| &*seats[i])
    }

    fn steal(&self) -> Option<FrameRef> {
        for seat in self.others() {
            loop {
                match seat.deque.steal() {
                    Steal::Success(frame) => {
                        self.context().counters.steals.add(1);
                        if !seat.deque.is_empty() {
                            // There is more: somebody else may come too.
                            self.team.idle.notify_one();
                        }
                        return Some(frame);
                    }
                    Steal::Retry => hint::spin_loop(),
                    Steal::Empty => break,
                }
            }
        }
        None
    }

    /// Asks running workers to give up their stacks; whether there is one to ask.
    fn ask(&self) -> bool {
        let mut asked = false;
        for seat in self.others() {
            // Relaxed: a hint; a request that comes too late trips one check for nothing.
            if seat.running.load(Ordering::Relaxed) && (seat.deque.is_empty() || seat.host().waits()) {
                seat.request(Flags::STEAL);
                asked = true;
            }
        }
        asked
    }

    /// Asks, and looks for a short while for what comes of it; whether there is work.
    fn look_around(&self) -> bool {
        self.seat.host().rest();
        if self.seat.host().is_stuck() {
            // The receiver may be waiting for this core.
            let turns = self.stuck.get().wrapping_add(1);
            self.stuck.set(turns);
            if turns.is_multiple_of(STUCK) {
                std::thread::yield_now();
            }
            return true;
        }
        if self.team.seats.len() == 1 {
            return false;
        }
        self.context().counters.failed_steals.add(1);
        self.ask();
        self.look(SPIN)
    }

    /// Looks for a short while whether a message comes, without disturbing anybody: who talks to another worker waits for
    /// its answer rather than for its work.
    fn listen(&self) -> bool {
        if !self.talks.get() {
            return false;
        }
        for _ in 0..LISTEN {
            // A pause may be as long as the answer takes.
            for _ in 0..8 {
                if self.seat.host().any() {
                    return self.handle(MESSAGES);
                }
            }
            if !self.seat.inbox.is_empty() {
                return true;
            }
            hint::spin_loop();
        }
        self.talks.set(false);
        false
    }

    /// Whether there is something that only this worker can do.
    fn addressed(&self) -> bool {
        let seat = self.seat;
        seat.host().any() || !seat.inbox.is_empty()
    }

    /// Looks for so long whether there is work.
    fn look(&self, spin: Duration) -> bool {
        let start = Instant::now();
        while start.elapsed() < spin {
            // Of what is others', too often a look would slow them down.
            for _ in 0..32 {
                if self.addressed() {
                    return true;
                }
                hint::spin_loop();
            }
            if self.team.work_visible() {
                return true;
            }
        }
        false
    }

    /// Parks until there may be work; `false` at shutdown.
    fn idle(&self) -> bool {
        let team = &**self.team;
        self.context().cx().leave_run();
        let visible = || self.work_visible() || self.sweep_due();
        let mut prepared = team.idle.prepare_park(self.index, visible);
        loop {
            let parking = match prepared {
                Prepared::Work => return true,
                Prepared::Shutdown => return false,
                Prepared::Park(parking) => parking,
                Prepared::Last(parking) => {
                    team.wake_for_messages();
                    if team.look_for_deadlock() {
                        return true;
                    }
                    parking
                }
            };
            self.context().counters.parks.add(1);
            match parking.park() {
                Wake::Work => return true,
                Wake::Shutdown => return false,
                Wake::ScoutTimeout(scout) => {
                    team.wake_for_messages();
                    if self.ask() {
                        // An answer takes a microsecond or two; to be woken by it would take fifty.
                        self.look(SCOUT_SPIN);
                    }
                    prepared = scout.park_again(visible);
                }
            }
        }
    }
}

/// Binds this thread to the `index`th core that the process may use. Best effort: without it, all goes on as before.
fn pin(index: usize) {
    if let Some(cores) = core_affinity::get_core_ids()
        && !cores.is_empty()
    {
        core_affinity::set_for_current(cores[index % cores.len()]);
    }
}
