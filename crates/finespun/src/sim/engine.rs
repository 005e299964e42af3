//! The engine of a simulated machine: its clocks, its events, and the stacks of its workers.
//!
//! ```text
//!             1 its turn                2 waits
//!   +-------+ ----------> +---------+ ---------> +---------+
//!   | ready |             | running |            | waiting |
//!   +-------+ <---------- +---------+            +---------+
//!      ^       3 is ahead                              |
//!      +-----------------------------------------------+
//!                4 rung, a message, or the time
//! ```
//!
//! One thread runs all workers, one at a time. A worker has a **clock**, which its own work and waits advance. The
//! **events** are kept in the order of their times, equal times in order of creation (random with an adversary): a
//! ready worker's turn (1, 3), and the ends of waits (4). The loop takes the first event and resumes its worker, which
//! runs until it waits (2) or is ahead (3).
//!
//! **No message arrives in a worker's past.** A worker may run on while its clock is at most the network's latency later
//! than the first event ([`State::horizon`]). Whatever another worker sends from now on, it sends at the time of that
//! event or later, so it arrives later than that time plus the latency. (This is the conservative lookahead of Chandy,
//! Misra and Bryant.) An access to another worker's memory by [`access`](Simulator::access) allows no such advance:
//! there the worker first lets all workers catch up. Before it sends, it lets those catch up that are behind by more than
//! the latency, since the receiver's buffers and network interface depend on them. What workers of one machine share
//! beside that (the list of idle workers, the records of runs and groups) may be seen early by up to the latency.
//!
//! **Threads outside** ring workers, queue frames for them, and begin and cancel runs by way of the
//! [`gate`](super::gate), which is open while the simulation *rests*, that is, while all workers wait and no event is
//! left. So all of this happens at a definite virtual time, and two programs that differ only in real time have the same
//! events. A simulation that never rests, since a task waits for a thread by looking again and again, opens the gate now
//! and then. A thread that waits for the gate must not hold a lock that a simulated task takes.

mod death;
mod messages;
pub(crate) mod part;
mod timers;

use std::cell::{Cell, RefCell};
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use corosensei::stack::DefaultStack;
use corosensei::{Coroutine, CoroutineResult, Yielder};

use super::gate::Gate;
use super::machine::{Adversary, Costs, Machine, Overheads, WhenFull};
use super::trace::{Activity, Recorder, Trace};
use super::{MACHINES, Read, Simulator, Waited};
use crate::frame::context;
use crate::observe::Counters;
use death::Death;
use timers::Timers;

/// Events, or guard checks, after which a simulation that does not rest looks outside.
const INTERRUPT: u64 = 1 << 20;
/// Workers that an idle worker tries in one search for work.
const VICTIMS: usize = 8;

/// A time that is never reached.
const NEVER: u64 = u64::MAX;

/// On a machine with pauses, a guard check pauses with probability 1 / `PAUSE_EVERY`.
const PAUSE_EVERY: u64 = 64;

/// The engine of one machine.
pub(crate) struct Engine {
    costs: Costs,
    push: Overheads,
    pull: Overheads,
    buffers: u32,
    source_buffers: u32,
    stalls: bool,
    seed: u64,
    adversary: Adversary,
    /// The instant that the workers take for virtual time 0.
    origin: Instant,
    /// Number of nodes of the machine. Worker w is a processor of node w modulo this number.
    nodes: usize,
    state: State,
    gate: Gate,
    /// The virtual time at which the gate was opened last.
    opened: AtomicU64,
    /// The virtual time from the beginning to the end of the last run.
    last_run: AtomicU64,
    /// Number of events so far: turns of processors, and messages received.
    events: AtomicU64,
    /// The number of the node whose death has been noticed, or `NEVER`.
    died: AtomicU64,
    made: OnceLock<()>,
    recorder: Option<Recorder>,
    /// The factor from the time that code takes on this computer to virtual time.
    host_time: f64,
}

/// What only the simulation's thread uses.
struct State {
    processors: Box<[Processor]>,
    events: RefCell<BinaryHeap<Reverse<Event>>>,
    serial: Cell<u64>,
    /// The worker that runs.
    current: Cell<usize>,
    /// The clock that the running worker must not pass without letting others run.
    horizon: Cell<u64>,
    /// The time of the latest event.
    now: Cell<u64>,
    tick: Cell<u64>,
    random: Cell<u64>,
    /// Number of guard checks.
    checks: Cell<u64>,
    death: Cell<Death>,
    timers: Timers,
    /// Since when the running worker has not been charged for the time on this computer.
    uncharged: Cell<Instant>,
    /// By sender and receiver: the time at which the last message arrives that is delayed, or waits in the network.
    last_arrivals: RefCell<BTreeMap<(usize, usize), u64>>,
}

impl State {
    /// Returns a number below `end`, or 0.
    fn below(&self, end: u64) -> u64 {
        // splitmix64
        let state = self.random.get().wrapping_add(0x9E37_79B9_7F4A_7C15);
        self.random.set(state);
        let mixed = (state ^ (state >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        ((u128::from(mixed ^ (mixed >> 31)) * u128::from(end)) >> 64) as u64
    }
}

/// One worker.
struct Processor {
    clock: Cell<u64>,
    /// Identifies the wait or turn that is due: events of earlier ones are void.
    token: Cell<u64>,
    waits: Cell<bool>,
    rung: Cell<bool>,
    /// Rung for a message.
    called: Cell<bool>,
    rung_by: Cell<Option<usize>>,
    /// Why the worker has been resumed.
    reason: Cell<Waited>,
    /// The time at which the next message arrives.
    arrival: Cell<u64>,
    /// The times from which the network interface is free for the next message to send, and to receive.
    sends_from: Cell<u64>,
    receives_from: Cell<u64>,
    /// The time that the network interface needs for the pushed messages to this worker which are there, and the latest
    /// arrival among them.
    backlog: Cell<u64>,
    backlog_at: Cell<u64>,
    yielder: Cell<*const Yielder<(), ()>>,
    charged: Charged,
    /// The first event since the death of the processor's node.
    missed: Cell<Option<Event>>,
    /// The frame that runs, and since when, if activities are recorded.
    frame: Cell<Option<(&'static str, u64)>>,
    /// The factor by which the worker is slower than described, in 256ths.
    slowness: Cell<u64>,
}

/// The counters of a worker that have been charged.
#[derive(Default)]
struct Charged {
    guard_trips: Cell<u64>,
    frames: Cell<u64>,
    fallbacks: Cell<u64>,
    resumptions: Cell<u64>,
    threads: Cell<u64>,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Event {
    time: u64,
    serial: u64,
    worker: usize,
    token: u64,
    reason: Reason,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Reason {
    Turn,
    Rung,
    Arrived,
    TimedOut,
    /// A timer: the event's token is its number, and the worker is none.
    Timer,
}

// SAFETY: only the simulation's thread uses `state`: each method that does is called by a simulated worker or by `run`,
// both of which are on that thread, or checks it by `is_here`.
unsafe impl Sync for Engine {}
// SAFETY: the pointers to the coroutines' yielders are used by the simulation's thread only, as all of `state`.
unsafe impl Send for Engine {}

thread_local! {
    /// The engine whose workers this thread runs.
    static HERE: Cell<*const Engine> = const { Cell::new(ptr::null()) };
    /// How many times this thread, which runs an engine's workers, has entered other engines and not left them.
    static AWAY: Cell<u32> = const { Cell::new(0) };
}

impl Engine {
    /// Creates a machine of this many nodes, with `workers` processors on them, and as many more as `carriers` says that have
    /// no workers.
    pub(crate) fn new(machine: &Machine, workers: usize, carriers: usize, nodes: usize) -> Engine {
        let description = &machine.description;
        let processor = |_| Processor {
            clock: Cell::new(0),
            token: Cell::new(0),
            waits: Cell::new(false),
            rung: Cell::new(false),
            called: Cell::new(false),
            rung_by: Cell::new(None),
            reason: Cell::new(Waited::Rung),
            arrival: Cell::new(NEVER),
            sends_from: Cell::new(0),
            receives_from: Cell::new(0),
            backlog: Cell::new(0),
            backlog_at: Cell::new(0),
            yielder: Cell::new(ptr::null()),
            charged: Charged::default(),
            missed: Cell::new(None),
            frame: Cell::new(None),
            slowness: Cell::new(256),
        };
        // Relaxed: see `sim::any`.
        MACHINES.fetch_add(1, Ordering::Relaxed);
        let adversary = machine.adversary.clone();
        let state = State {
            processors: (0..workers + carriers).map(processor).collect(),
            events: RefCell::new(BinaryHeap::new()),
            serial: Cell::new(0),
            current: Cell::new(0),
            horizon: Cell::new(0),
            now: Cell::new(0),
            tick: Cell::new(NEVER),
            random: Cell::new(machine.seed),
            checks: Cell::new(0),
            death: Cell::new(Death::of(&adversary)),
            timers: Timers::default(),
            uncharged: Cell::new(Instant::now()),
            last_arrivals: RefCell::default(),
        };
        if adversary.slow > 1 {
            for processor in &state.processors {
                processor.slowness.set(256 + state.below(u64::from(adversary.slow - 1) * 256 + 1));
            }
        }
        Engine {
            costs: description.costs(),
            push: description.push.clone(),
            pull: description.pull.clone(),
            buffers: description.network.buffers,
            source_buffers: description.network.source_buffers,
            stalls: description.network.when_full == WhenFull::Stall,
            seed: machine.seed,
            origin: Instant::now(),
            nodes: nodes.min(workers),
            state,
            adversary,
            gate: Gate::new(),
            opened: AtomicU64::new(0),
            last_run: AtomicU64::new(0),
            events: AtomicU64::new(0),
            died: AtomicU64::new(NEVER),
            made: OnceLock::new(),
            host_time: machine.host_time,
            recorder: (machine.traces > 0).then(|| Recorder::new(machine.traces, nodes.min(workers))),
        }
    }

    /// Runs the workers on this thread until all have ended. `main` is the body of a worker. `tick` is called each time
    /// when `pause` of virtual time has passed. `died` is called when a node's death is noticed, with the node and the
    /// time of its death.
    pub(crate) fn run(
        self: &Arc<Engine>,
        stacks: Vec<DefaultStack>,
        main: Arc<dyn Fn(usize)>,
        pause: Duration,
        mut tick: impl FnMut(),
        died: impl Fn(usize, Duration),
    ) {
        assert!(self.made.set(()).is_ok(), "an engine runs once");
        let pause = picoseconds(pause);
        HERE.set(Arc::as_ptr(self));
        let mut coroutines = Vec::with_capacity(stacks.len());
        for (worker, stack) in stacks.into_iter().enumerate() {
            let (engine, main) = (Arc::clone(self), Arc::clone(&main));
            let coroutine = Coroutine::with_stack(stack, move |yielder: &Yielder<(), ()>, ()| {
                engine.state.processors[worker].yielder.set(yielder);
                main(worker);
            });
            coroutines.push(coroutine);
            self.push(worker, 0, Reason::Turn);
        }
        let mut live = coroutines.len();
        let state = &self.state;
        state.tick.set(pause);
        let (mut until_interrupt, mut interrupted) = (INTERRUPT, 0);
        while live > 0 {
            let event = state.events.borrow_mut().pop();
            let next = event.map_or(NEVER, |Reverse(event)| event.time);
            if self.update_death(next, &died) {
                // Runs are cancelled: what has been popped is not the first event any more.
                state.events.borrow_mut().extend(event);
                continue;
            }
            let Some(Reverse(event)) = event else {
                self.rest();
                state.tick.set(state.now.get().saturating_add(pause));
                continue;
            };
            if event.reason == Reason::Timer {
                self.fire_timer(event);
                continue;
            }
            let processor = &state.processors[event.worker];
            if processor.token.get() != event.token {
                continue;
            }
            if self.misses(event) {
                continue;
            }
            self.count_event();
            state.now.set(state.now.get().max(event.time));
            if state.now.get() >= state.tick.get() {
                state.tick.set(state.now.get().saturating_add(pause));
                tick();
            }
            until_interrupt -= 1;
            if until_interrupt == 0 || interrupted != self.state.checks.get() / INTERRUPT {
                (until_interrupt, interrupted) = (INTERRUPT, self.state.checks.get() / INTERRUPT);
                if self.gate.is_called() {
                    // Relaxed: ordered by the lock of the gate, as in `rest`.
                    self.opened.store(state.now.get(), Ordering::Relaxed);
                    self.ring_all(self.gate.glance());
                }
            }
            processor.token.set(event.token + 1);
            processor.clock.set(processor.clock.get().max(event.time));
            processor.waits.set(false);
            processor.reason.set(match event.reason {
                Reason::Turn | Reason::Rung => Waited::Rung,
                Reason::Arrived => Waited::Arrived,
                Reason::TimedOut => Waited::TimedOut,
                Reason::Timer => unreachable!("timers are events of no worker"),
            });
            match event.reason {
                Reason::Rung => processor.rung.set(false),
                Reason::Arrived => processor.called.set(false),
                Reason::Turn | Reason::TimedOut | Reason::Timer => {}
            }
            state.current.set(event.worker);
            self.set_horizon();
            if self.host_time > 0.0 {
                state.uncharged.set(Instant::now());
            }
            if let CoroutineResult::Return(()) = coroutines[event.worker].resume(()) {
                live -= 1;
                processor.token.set(NEVER);
            }
        }
        HERE.set(ptr::null());
        // A simulation that has ended keeps no thread waiting.
        self.gate.open();
    }

    /// Returns the virtual time that the last run took, the number of events so far, and the node that has died. Waits
    /// until the simulation rests.
    pub(crate) fn measured(&self) -> (Duration, u64, Option<usize>) {
        self.enter();
        // Relaxed, all: ordered by the lock of the gate.
        let [last_run, events, died] = [&self.last_run, &self.events, &self.died].map(|at| at.load(Ordering::Relaxed));
        self.leave();
        (duration(last_run), events, (died != NEVER).then_some(died as usize))
    }

    /// Returns the engine whose workers this thread runs, if any.
    fn of_this_thread<'a>() -> Option<&'a Engine> {
        // SAFETY: the pointer is null, or points to the engine whose `run` this thread is in; callers do not keep the
        // result.
        unsafe { HERE.get().as_ref() }
    }

    fn is_here(&self) -> bool {
        ptr::eq(HERE.get(), self)
    }

    fn processor(&self) -> &Processor {
        debug_assert!(self.is_here());
        &self.state.processors[self.state.current.get()]
    }

    /// Counts a turn of a processor, or a message received.
    fn count_event(&self) {
        // Relaxed: only this thread writes, and readers are ordered by the lock of the gate.
        self.events.store(self.events.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// Charges the running worker for the time that its code has taken on this computer.
    fn charge_host_time(&self) {
        if self.host_time > 0.0 {
            let now = Instant::now();
            let taken = now - self.state.uncharged.replace(now);
            self.advance((taken.as_secs_f64() * self.host_time * 1e12) as u64);
        }
    }

    /// Makes an event of a worker's current wait or turn.
    fn push(&self, worker: usize, time: u64, reason: Reason) {
        self.push_event(worker, time, self.state.processors[worker].token.get(), reason);
    }

    fn push_event(&self, worker: usize, time: u64, token: u64, reason: Reason) {
        let state = &self.state;
        let mut serial = state.serial.get();
        state.serial.set(serial + 1);
        if self.adversary.exists() {
            // Events at the same time happen in any order.
            serial |= state.below(1 << 31) << 32;
        }
        state.events.borrow_mut().push(Reverse(Event { time, serial, worker, token, reason }));
        state.horizon.set(state.horizon.get().min(time.saturating_add(self.costs.latency)));
    }

    fn set_horizon(&self) {
        let state = &self.state;
        let first = state.events.borrow().peek().map_or(NEVER, |Reverse(event)| event.time);
        let horizon = first.saturating_add(self.costs.latency).min(state.tick.get());
        state.horizon.set(horizon.min(self.next_of_death()));
    }

    /// Suspends the current worker until one of its events.
    fn suspend(&self) {
        let yielder = self.processor().yielder.get();
        context::step_out(|| {
            // SAFETY: the worker's coroutine has set its own yielder, which lives as long as the coroutine; and this
            // code runs on that coroutine, since it is the current worker.
            unsafe { &*yielder }.suspend(());
        });
    }

    /// Lets the workers run that are behind the current one (3).
    fn give_way(&self) {
        self.charge_host_time();
        self.push(self.state.current.get(), self.processor().clock.get(), Reason::Turn);
        self.suspend();
    }

    /// If the current worker is beyond the horizon, lets the workers behind it run.
    pub(crate) fn let_others_catch_up(&self) {
        self.charge_host_time();
        // While a panic unwinds the stack, the thread's panic count belongs to this worker's panic.
        if self.processor().clock.get() > self.state.horizon.get() && !std::thread::panicking() {
            self.give_way();
        }
    }

    fn advance(&self, time: u64) {
        let processor = self.processor();
        let time = match processor.slowness.get() {
            256 => time,
            slowness => ((u128::from(time) * u128::from(slowness)) >> 8) as u64,
        };
        let clock = processor.clock.get().checked_add(time).filter(|clock| clock.leading_zeros() > 0);
        processor.clock.set(clock.expect("a simulation lasts at most 100 days of virtual time"));
    }

    fn same_node(&self, one: usize, other: usize) -> bool {
        one % self.nodes == other % self.nodes
    }

    /// Returns the current worker's clock.
    pub(crate) fn clock(&self) -> u64 {
        self.processor().clock.get()
    }

    /// Notes which frame runs on the current worker: a frame is seen from its first guard check on, until another is.
    fn note_frame(&self, frame: Option<&'static str>) {
        let Some(recorder) = &self.recorder else { return };
        let (seen, now) = (&self.processor().frame, self.clock());
        if seen.get().map(|(seen, _)| seen) == frame {
            return;
        }
        if let Some((body, from)) = seen.replace(frame.map(|frame| (frame, now))) {
            recorder.record_frame(self.state.current.get(), body, from, now);
        }
    }

    /// Records an activity of the current worker that began at this time.
    pub(crate) fn record(&self, activity: impl FnOnce() -> Activity, from: u64) {
        if let Some(recorder) = &self.recorder {
            recorder.record(self.state.current.get(), activity(), from, self.clock());
        }
    }

    /// Returns what has been recorded, and begins a new record; `None` if nothing is. Waits until the simulation rests.
    pub(crate) fn trace(&self) -> Option<Trace> {
        let recorder = self.recorder.as_ref()?;
        self.enter();
        let trace = recorder.take();
        self.leave();
        Some(trace)
    }

    /// Waits for threads outside while all workers wait.
    fn rest(&self) {
        let clocks = self.state.processors.iter().map(|processor| processor.clock.get());
        let now = clocks.fold(self.state.now.get(), u64::max);
        self.state.now.set(now);
        self.opened.store(now, Ordering::Relaxed);
        self.ring_all(self.gate.rest());
    }

    /// Rings workers for threads outside.
    fn ring_all(&self, workers: Vec<usize>) {
        for worker in workers {
            self.ring_at(worker, self.state.now.get());
        }
    }

    /// Rings a worker at a time.
    fn ring_at(&self, worker: usize, time: u64) {
        let processor = &self.state.processors[worker];
        processor.rung.set(true);
        if processor.waits.get() {
            self.push(worker, time.max(processor.clock.get()), Reason::Rung);
        }
    }
}

impl Drop for Engine {
    fn drop(&mut self) {
        // Relaxed: see `sim::any`.
        MACHINES.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Simulator for Engine {
    fn now(&self) -> Instant {
        self.charge_host_time();
        self.origin + duration(self.processor().clock.get())
    }

    fn check(&self, counters: &Counters, frame: Option<&'static str>) {
        self.note_frame(frame);
        self.charge(counters);
        self.state.checks.set(self.state.checks.get() + 1);
        if self.state.checks.get().is_multiple_of(INTERRUPT) && !std::thread::panicking() {
            // A worker that alone is busy makes no events: the loop, which looks outside, must get a turn.
            self.give_way();
        }
        if !self.adversary.pause.is_zero() && self.state.below(PAUSE_EVERY) == 0 {
            self.advance(self.state.below(picoseconds(self.adversary.pause)));
        }
        self.let_others_catch_up();
    }

    fn charge(&self, counters: &Counters) {
        self.charge_host_time();
        let (costs, charged) = (&self.costs, &self.processor().charged);
        let since = |seen: &Cell<u64>, now: u64| now - seen.replace(now);
        self.advance(
            since(&charged.guard_trips, counters.guard_trips.get()) * costs.call
                + since(&charged.frames, counters.frames.get()) * costs.frame
                + since(&charged.fallbacks, counters.fallbacks.get()) * costs.fallback
                + since(&charged.resumptions, counters.resumptions.get()) * costs.resume
                + since(&charged.threads, counters.threads.get()) * (costs.frame + costs.resume),
        );
    }

    fn work(&self, time: Duration) {
        self.advance(picoseconds(time));
        self.let_others_catch_up();
    }

    fn compute(&self, operations: u64) {
        self.advance(self.costs.operation.saturating_mul(operations));
        self.let_others_catch_up();
    }

    fn access(&self, other: usize) {
        let near = self.same_node(self.state.current.get(), other);
        self.advance(if near { self.costs.wake } else { self.costs.access });
        let first = self.state.events.borrow().peek().map_or(NEVER, |Reverse(event)| event.time);
        if self.processor().clock.get() > first {
            self.give_way();
        }
    }

    fn seed(&self) -> u64 {
        self.seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) & !1
    }

    fn victims(&self) -> usize {
        VICTIMS
    }

    fn stalls(&self) -> bool {
        self.stalls
    }

    fn wait(&self, timeout: Option<Duration>) -> Waited {
        let (worker, processor) = (self.state.current.get(), self.processor());
        if processor.rung.replace(false) {
            return Waited::Rung;
        }
        if processor.called.replace(false) {
            return Waited::Arrived;
        }
        self.charge_host_time();
        self.note_frame(None);
        let clock = processor.clock.get();
        processor.waits.set(true);
        if let Some(timeout) = timeout {
            self.push(worker, clock.saturating_add(picoseconds(timeout)), Reason::TimedOut);
        }
        if processor.arrival.get() != NEVER {
            self.push(worker, processor.arrival.get().max(clock), Reason::Arrived);
        }
        self.suspend();
        processor.reason.get()
    }

    fn ring(&self, worker: usize) {
        if self.is_here() {
            if let Some(time) = self.state.timers.firing() {
                return self.ring_at(worker, time);
            }
            let from = self.state.current.get();
            let delay = if self.same_node(from, worker) { self.costs.wake } else { self.costs.latency };
            self.state.processors[worker].rung_by.set(Some(from));
            self.ring_at(worker, self.processor().clock.get().saturating_add(delay));
            return;
        }
        self.gate.ring(worker);
    }

    fn ring_for_message(&self, worker: usize) {
        if !self.is_here() {
            return self.gate.ring(worker);
        }
        let processor = &self.state.processors[worker];
        debug_assert!(self.state.timers.firing().is_none(), "a timer sends no message");
        let delay = if self.same_node(self.state.current.get(), worker) { self.costs.wake } else { self.costs.latency };
        processor.called.set(true);
        if processor.waits.get() {
            let time = self.processor().clock.get().saturating_add(delay);
            self.push(worker, time.max(processor.clock.get()), Reason::Arrived);
        }
    }

    fn rung_by(&self) -> Option<usize> {
        self.processor().rung_by.get()
    }

    fn request_costs(&self) -> [Duration; 3] {
        const REQUEST: usize = 32;
        const ELEMENT: usize = 8;
        let side = |bytes| self.push.send(bytes) + self.push.receive(bytes) + 2 * self.costs.message;
        const ELEMENTS: usize = 8;
        let [hit, miss] = [Read::Hit, Read::Miss].map(|read| self.costs.reads[read as usize]);
        let more = side(REQUEST + ELEMENTS * ELEMENT) - side(REQUEST);
        let element = more / ELEMENTS as u64 + miss / (ELEMENTS - 1) as u64;
        // The call, which each read has, is left out.
        [2 * side(REQUEST), element, hit].map(duration)
    }

    fn reads_take_time(&self) -> bool {
        self.costs.reads.iter().any(|&time| time > 0)
    }

    fn read(&self, read: Read) {
        self.advance(self.costs.reads[read as usize]);
    }

    fn set_timer(&self, number: u64, at: Instant, fire: Box<dyn FnOnce() + Send>) {
        self.begin_timer(number, at, fire);
    }

    fn cancel_timer(&self, number: u64) -> Option<Box<dyn FnOnce() + Send>> {
        self.state.timers.take(number)
    }

    fn has_begun(&self) -> bool {
        self.made.get().is_some()
    }

    fn begin(&self) -> u64 {
        if self.is_here() {
            return self.clock();
        }
        // Relaxed: ordered by the lock of the gate, which the caller has entered.
        self.opened.load(Ordering::Relaxed)
    }

    fn root_ended(&self, begun: u64) {
        self.charge_host_time();
        // Relaxed: ordered by the lock of the gate.
        self.last_run.store(self.clock().saturating_sub(begun), Ordering::Relaxed);
    }

    fn enter(&self) {
        if self.is_here() {
            return;
        }
        // Two simulations whose threads enter each other's gates must not wait for each other: each opens its own before
        // it enters, and closes it after it has left all others.
        if let Some(own) = Engine::of_this_thread()
            && AWAY.replace(AWAY.get() + 1) == 0
        {
            // Relaxed: ordered by the lock of the gate.
            own.opened.store(own.clock().max(own.state.now.get()), Ordering::Relaxed);
            own.gate.open();
        }
        self.gate.enter();
    }

    fn leave(&self) {
        if self.is_here() {
            return;
        }
        self.gate.leave();
        if let Some(own) = Engine::of_this_thread()
            && AWAY.replace(AWAY.get() - 1) == 1
        {
            own.gate.close();
        }
    }
}

fn picoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX).saturating_mul(1000)
}

pub(super) fn duration(picoseconds: u64) -> Duration {
    Duration::new(picoseconds / 1_000_000_000_000, (picoseconds % 1_000_000_000_000 / 1000) as u32)
}
