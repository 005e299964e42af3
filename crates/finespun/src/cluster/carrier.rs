//! The messages of a process whose runtime has processes on other hosts.
//!
//! The processes of one host share memory, with rings, bells and the workers' states; their messages to each other need no
//! carrier. Each process carries its own messages to and from the *far* processes, those of other hosts: its carrier
//! represents their workers:
//!
//! - what its own workers send to them waits in [`Outgoing`]; the carrier sends it in bundles over a [`Wire`];
//! - messages that arrive, it puts into the rings of its own workers, as their senders would;
//! - requests for frames and nudges of remote workers find the carrier's copies of their states (`frame/front.rs`), and are
//!   repeated where the workers are;
//! - when a worker falls asleep or wakes, the carrier tells the far processes, which beg only where work is.
//!
//! In the shared memory, each ring of a worker has a sender's place for each far worker, which only the carrier of the
//! ring's process uses. The copies of far workers' states and bells are each process's own.
//!
//! A pass of the carrier does all this once. Workers that look for messages do it, at most one at a time; while they are
//! busy or parked, a thread of the carrier's own does, from time to time.
//!
//! **Memory.** At most [`WINDOW`] bundles are under way from one process to another: the receiver acknowledges a bundle
//! when all of its messages are in rings. Until then, further messages wait, and are aggregated; when 256 KiB wait, their
//! senders do, as they do if a ring is full. So each pair of processes keeps at most [`WINDOW`] times 256 KiB at either
//! side, and what exceeds that in one message.

use std::io;
use std::sync::{Arc, Mutex, Weak};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use super::{Cluster, Shape};
use crate::atomics::lock_std as lock;
use crate::atomics::{AtomicBool, AtomicU64, Ordering};
use crate::fabric::buffers;
use crate::fabric::notice::Notice;
use crate::fabric::processes::Link;
use crate::fabric::wire::{Entry, OF_TEAMS, OF_WORKERS, Outgoing, Wire};
use crate::process::start_thread;
use crate::sched::peers::Peers;
use crate::sim::Simulator;

/// Bundles that may be under way from one process to another.
const WINDOW: u32 = 4;
/// Time between two passes of workers that have frames to run.
const BETWEEN: Duration = Duration::from_micros(5);
/// The least time between two messages about the workers' sleep.
const TELL: Duration = Duration::from_micros(100);

/// More kinds of entries than those of `fabric/wire.rs`. Process `from` has delivered `to` bundles of the receiver.
const ACKNOWLEDGED: u32 = 2;
/// The bytes say of each worker of the sending process whether it sleeps.
const STATES: u32 = 3;
/// Worker `from` asks worker `to` for frames.
const ASK: u32 = 4;
/// Worker `from` takes back what it has asked of `to`.
const TAKE_BACK: u32 = 5;
/// Worker `from` has answered `to`, or does not run.
const ANSWERED: u32 = 6;
/// Asks worker `to` to handle its messages.
const NUDGE: u32 = 7;

/// The carrier of one process.
pub(super) struct Carrier {
    shape: Shape,
    outgoing: Arc<Outgoing>,
    /// Posted when a worker has requested something of the copy of a remote worker's state.
    requested: Notice,
    begun: Instant,
    /// When the last pass began, in nanoseconds since `begun`.
    last: AtomicU64,
    ended: AtomicBool,
    /// A simulated machine, and the processor on it that passes instead of workers and a thread.
    simulated: Option<(Arc<dyn Simulator>, usize)>,
    inner: Mutex<Inner>,
    thread: Mutex<Option<JoinHandle<()>>>,
}

struct Inner {
    wire: Box<dyn Wire>,
    /// The links as which messages are delivered, by worker and by process; none for near processes.
    workers: Vec<Option<Link>>,
    teams: Vec<Option<Link>>,
    lines: Vec<Line>,
    /// Requests of own workers for frames: the remote worker, and the own one.
    asked: Vec<(u32, u32)>,
    /// Requests of remote workers: the own worker, and the remote one.
    asking: Vec<(u32, u32)>,
    /// By own worker: its sleep, as the other processes know it.
    told: Vec<u8>,
    told_at: Instant,
    /// Whether the last pass has left something to send or to deliver.
    behind: bool,
    failed: bool,
}

/// Numbers of bundles to and from one process. They wrap around.
#[derive(Clone, Copy, Default)]
struct Line {
    sent: u32,
    /// Of these, the number that the receiver has acknowledged.
    acknowledged: u32,
    received: u32,
    /// Of these, the number that this process has acknowledged.
    answered: u32,
}

impl Line {
    /// Returns whether one more bundle may be sent.
    fn is_free(&self) -> bool {
        self.sent.wrapping_sub(self.acknowledged) < WINDOW
    }
}

impl Carrier {
    /// Makes the carrier of a process. `workers` and `teams` are the links of the far processes' ends, by their numbers.
    pub(super) fn new(
        shape: Shape,
        outgoing: &Arc<Outgoing>,
        wire: Box<dyn Wire>,
        workers: Vec<Option<Link>>,
        teams: Vec<Option<Link>>,
        simulated: Option<(Arc<dyn Simulator>, usize)>,
    ) -> Carrier {
        let begun = Instant::now();
        let inner = Inner {
            wire,
            workers,
            teams,
            lines: vec![Line::default(); shape.processes],
            asked: Vec::new(),
            asking: Vec::new(),
            told: Vec::new(),
            told_at: begun,
            behind: false,
            failed: false,
        };
        Carrier {
            shape,
            outgoing: Arc::clone(outgoing),
            requested: Notice::new(),
            begun,
            last: AtomicU64::new(0),
            ended: AtomicBool::new(false),
            simulated,
            inner: Mutex::new(inner),
            thread: Mutex::new(None),
        }
    }

    /// Called when a worker has requested something of a remote worker's state.
    pub(super) fn request(&self) {
        self.requested.post();
        self.call();
    }

    /// Has the carrier's processor on a simulated machine pass.
    pub(super) fn call(&self) {
        if let Some((machine, processor)) = &self.simulated {
            machine.ring(*processor);
        }
    }

    /// Returns whether a worker that has frames to run should pass now.
    pub(super) fn is_due(&self) -> bool {
        self.simulated.is_none() && self.since_last() >= BETWEEN
    }

    /// Returns whether something waits to be sent.
    pub(super) fn is_loaded(&self) -> bool {
        self.outgoing.is_loaded()
    }

    /// Returns whether workers pass when they look for messages.
    pub(super) fn is_by_workers(&self) -> bool {
        self.simulated.is_none()
    }

    /// Returns the time since the last pass began.
    fn since_last(&self) -> Duration {
        // Relaxed: a hint.
        self.begun.elapsed().saturating_sub(Duration::from_nanos(self.last.load(Ordering::Relaxed)))
    }

    /// Sends and receives, unless another thread does. Returns whether anything has been sent or received.
    pub(super) fn pass(&self, cluster: &Cluster) -> bool {
        if cluster.is_cut_off() {
            return false;
        }
        let Ok(mut inner) = self.inner.try_lock() else { return false };
        if inner.failed {
            return false;
        }
        // Relaxed: a hint.
        self.last.store(self.begun.elapsed().as_nanos() as u64, Ordering::Relaxed);
        match self.exchange(cluster, &mut inner) {
            Ok(some) => some,
            Err(reason) => {
                inner.failed = true;
                drop(inner);
                cluster.wire_failed(reason);
                false
            }
        }
    }

    fn exchange(&self, cluster: &Cluster, inner: &mut Inner) -> Result<bool, String> {
        self.deliver_rest(cluster, inner);
        self.forward(cluster, inner);
        self.tell(cluster, inner);
        // First, since a look for arrivals may take longer.
        let mut some = self.send_all(inner)?;
        // One: the caller may wait for it. The next pass looks for more.
        if let Some((from, bundle)) = inner.wire.receive()? {
            some = true;
            self.unpack(cluster, inner, from, &bundle);
            inner.behind = true;
        }
        Ok(some)
    }

    fn send_all(&self, inner: &mut Inner) -> Result<bool, String> {
        let mut some = false;
        if self.outgoing.take_loaded() || inner.behind {
            inner.behind = false;
            for to in self.far() {
                some |= self.send(inner, to)?;
            }
        }
        Ok(some)
    }

    fn far(&self) -> impl Iterator<Item = usize> + use<> {
        let near = self.shape.near();
        (0..self.shape.processes).filter(move |rank| !near.contains(rank))
    }

    /// Sends what waits for a process, and acknowledgements.
    fn send(&self, inner: &mut Inner, to: usize) -> Result<bool, String> {
        // A bundle is acknowledged when all its messages are in rings.
        let mut theirs = inner.workers[self.shape.workers_of(to)].iter().chain(&inner.teams[to..=to]).flatten();
        let all = theirs.all(|link| !link.holds());
        let line = &mut inner.lines[to];
        let owed = if all { line.received.wrapping_sub(line.answered) } else { 0 };
        let free = line.is_free();
        let waits = self.outgoing.waits(to);
        inner.behind |= (waits && !free) || !all;
        // The last bundle may stay without an answer: the sender still has a part of its window.
        if !(waits && free) && owed < WINDOW / 2 {
            return Ok(false);
        }
        let mut bundle = Vec::new();
        if owed > 0 {
            line.answered = line.received;
            let entry = Entry { kind: ACKNOWLEDGED, from: self.shape.rank as u32, to: line.received, length: 0 };
            entry.append_to(&mut bundle);
        }
        if free && self.outgoing.take(to, &mut bundle) {
            line.sent = line.sent.wrapping_add(1);
        }
        inner.wire.send(to, bundle)?;
        Ok(true)
    }

    /// Does what the entries of a bundle say. Those that make no sense are dropped.
    fn unpack(&self, cluster: &Cluster, inner: &mut Inner, process: usize, mut bundle: &[u8]) {
        if process >= self.shape.processes || self.shape.near().contains(&process) {
            return;
        }
        let theirs = self.shape.workers_of(process);
        let own = self.shape.workers_of(self.shape.rank);
        let own_process = self.shape.rank..self.shape.rank + 1;
        let mut counts = false;
        while let Some((entry, bytes)) = Entry::split_off(&mut bundle) {
            counts |= entry.kind != ACKNOWLEDGED;
            let (from, to) = (entry.from as usize, entry.to as usize);
            let between_workers = theirs.contains(&from) && own.contains(&to);
            let front = || cluster.places.of(to).front();
            match entry.kind {
                OF_WORKERS if between_workers => {
                    deliver(inner.workers[from].as_ref(), to, bytes);
                    cluster.bells.wake_for_ticket(to);
                }
                OF_TEAMS if from == process && to == self.shape.rank => {
                    deliver(inner.teams[from].as_ref(), to, bytes);
                    cluster.bells.wake_for_message(own.clone());
                }
                ACKNOWLEDGED if from == process => {
                    let line = &mut inner.lines[process];
                    if entry.to.wrapping_sub(line.acknowledged) <= line.sent.wrapping_sub(line.acknowledged) {
                        line.acknowledged = entry.to;
                    }
                }
                STATES if from == process && bytes.len() == theirs.len() => {
                    for (worker, &state) in theirs.clone().zip(bytes) {
                        cluster.bells.set_asleep(worker, state != 0);
                        // Release: as the worker itself does.
                        cluster.places.of(worker).front().running.store(state == 0, Ordering::Release);
                    }
                    if bytes.contains(&0) {
                        cluster.bells.ring_lookouts(own_process.clone());
                    }
                }
                ASK if between_workers => {
                    let asks = (entry.to, entry.from);
                    if !(front().ask(entry.from) || front().ask_again(entry.from)) {
                        self.answer(process, asks);
                    } else if !inner.asking.contains(&asks) {
                        inner.asking.push(asks);
                    }
                }
                TAKE_BACK if between_workers => {
                    inner.asking.retain(|asks| *asks != (entry.to, entry.from));
                    let _answered = !front().take_back(entry.from);
                }
                ANSWERED if between_workers => {
                    inner.asked.retain(|asked| *asked != (entry.from, entry.to));
                    let _taken_back = !cluster.places.of(from).front().take_back(entry.to);
                }
                NUDGE if own.contains(&to) => {
                    let _runs = front().nudge();
                }
                _ => {}
            }
        }
        let line = &mut inner.lines[process];
        line.received = line.received.wrapping_add(counts.into());
    }

    /// Tells the worker that has asked that the one that was asked has answered, or does not run.
    fn answer(&self, process: usize, (asked, by): (u32, u32)) {
        self.outgoing.push(process, ANSWERED, asked as usize, by as usize, &[]);
    }

    /// Delivers messages for which rings had no room.
    fn deliver_rest(&self, cluster: &Cluster, inner: &Inner) {
        if !inner.behind {
            return;
        }
        for link in inner.workers.iter().flatten() {
            link.flush(|to| cluster.bells.wake_for_ticket(to));
        }
        for link in inner.teams.iter().flatten() {
            link.flush(|_| cluster.bells.wake_for_message(self.shape.workers_of(self.shape.rank)));
        }
    }

    /// Repeats requests at the processes of the workers for which they are, and answers.
    fn forward(&self, cluster: &Cluster, inner: &mut Inner) {
        let front = |worker: u32| cluster.places.of(worker as usize).front();
        let process = |worker: u32| worker as usize / self.shape.workers;
        inner.asking.retain(|&(asked, by)| {
            let waits = front(asked).beggar() == Some(by);
            if !waits {
                self.answer(process(by), (asked, by));
            }
            waits
        });
        if !self.requested.take() {
            return;
        }
        inner.asked.retain(|&(asked, by)| {
            let waits = front(asked).beggar() == Some(by);
            if !waits {
                self.outgoing.push(process(asked), TAKE_BACK, by as usize, asked as usize, &[]);
            }
            waits
        });
        for process in self.far() {
            for worker in self.shape.workers_of(process) {
                let copy = front(worker as u32);
                if !copy.guard.is_armed() {
                    continue;
                }
                let flags = copy.guard.take();
                if flags.messages() {
                    self.outgoing.push(process, NUDGE, self.shape.own(0), worker, &[]);
                }
                if flags.beg()
                    && let Some(by) = copy.beggar()
                {
                    self.outgoing.push(process, ASK, by as usize, worker, &[]);
                    if !inner.asked.contains(&(worker as u32, by)) {
                        inner.asked.push((worker as u32, by));
                    }
                }
            }
        }
    }

    /// Tells the far processes which workers of this one sleep, if that has changed.
    fn tell(&self, cluster: &Cluster, inner: &mut Inner) {
        let own = self.shape.workers_of(self.shape.rank);
        let asleep = |worker: usize| u8::from(cluster.bells.is_asleep(worker));
        let same =
            inner.told.len() == own.len() && inner.told.iter().zip(own.clone()).all(|(told, own)| *told == asleep(own));
        if same || (!inner.told.is_empty() && self.simulated.is_none() && inner.told_at.elapsed() < TELL) {
            return;
        }
        // Nothing piles up for a process that receives nothing.
        if self.far().any(|to| !inner.lines[to].is_free() && self.outgoing.waits(to)) {
            return;
        }
        inner.told = own.map(asleep).collect();
        inner.told_at = Instant::now();
        for to in self.far() {
            self.outgoing.push(to, STATES, self.shape.rank, to, &inner.told);
        }
    }
}

/// Delivers a message as its sender would.
fn deliver(from: Option<&Link>, to: usize, bytes: &[u8]) {
    let Some(from) = from else { return };
    let mut message = buffers::take();
    message.extend_from_slice(bytes);
    let _begun = from.send(to, message);
}

/// The carrier's thread.
impl Carrier {
    /// Starts the thread.
    ///
    /// # Errors
    /// If the system provides no more threads.
    pub(super) fn start(&self, cluster: Weak<Cluster>, name: &str) -> io::Result<()> {
        if self.simulated.is_some() {
            return Ok(());
        }
        let thread = std::thread::Builder::new().name(format!("{name}-carrier")).stack_size(STACK);
        let mut slot = lock(&self.thread);
        *slot = Some(start_thread(thread, move || carry(&cluster))?);
        Ok(())
    }

    /// Ends the thread and the wire.
    pub(super) fn end(&self) {
        // Relaxed: only ends a loop.
        self.ended.store(true, Ordering::Relaxed);
        self.call();
        if let Some(thread) = lock(&self.thread).take() {
            // Only a defect of the library would make it panic.
            let _ = thread.join();
        }
        lock(&self.inner).wire.end();
    }
}

/// The carrier's processor on a simulated machine.
#[cfg(feature = "simulation")]
impl Carrier {
    /// Passes when it is called and when a bundle arrives, until the runtime ends.
    pub(super) fn carry_simulated(&self, cluster: &Cluster) {
        let Some((machine, _)) = &self.simulated else { return };
        loop {
            while self.pass(cluster) {
                // The carrier must not run ahead of the workers.
                machine.work(Duration::ZERO);
            }
            // Relaxed: only ends a loop.
            if self.ended.load(Ordering::Relaxed) {
                return;
            }
            let mut inner = lock(&self.inner);
            let cut_off = cluster.is_cut_off();
            // Otherwise it would always be about to arrive.
            while cut_off && matches!(inner.wire.receive(), Ok(Some(_))) {}
            // What waits for a free line goes on with an acknowledgement, which arrives.
            let no_room = inner.workers.iter().chain(&inner.teams).flatten().any(Link::holds);
            let again = (no_room && !cut_off).then_some(UNCARRIED);
            drop(inner);
            machine.wait(again);
        }
    }
}

const STACK: usize = 1 << 18;

/// Time without a pass after which the carrier's thread does one.
const UNCARRIED: Duration = Duration::from_micros(50);

/// Time between two passes of the carrier's thread: shortly after it has sent or received something; some time later, or
/// while workers pass; and after a longer time.
const PAUSES: [(u32, Duration); 2] = [(200, Duration::from_micros(50)), (5000, Duration::from_micros(200))];
const LONG_PAUSE: Duration = Duration::from_millis(1);

/// Passes from time to time, until the runtime ends.
fn carry(cluster: &Weak<Cluster>) {
    let mut quiet = 0_u32;
    loop {
        let Some(cluster) = cluster.upgrade() else { return };
        let Some(carrier) = &cluster.carrier else { return };
        // Relaxed: only ends a loop.
        if carrier.ended.load(Ordering::Relaxed) {
            return;
        }
        let due = carrier.since_last() >= UNCARRIED;
        quiet = if due && !carrier.pass(&cluster) { quiet.saturating_add(1) } else { 0 };
        drop(cluster);
        let pause = PAUSES.iter().find(|(until, _)| due && quiet < *until);
        let pause = pause.or(PAUSES.last().filter(|_| !due)).map_or(LONG_PAUSE, |(_, pause)| *pause);
        std::thread::sleep(pause);
    }
}
