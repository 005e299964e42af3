//! A runtime over several processes.
//!
//! Each process has a [`Team`], and the messages of tasks cross by the fabric (`fabric::processes`). This module does the
//! rest, and wakes workers of other processes ([`bells`]). For this the processes exchange messages of their own
//! ([`control`]), over a net of their own, which any thread may use.
//!
//! What arrives is not trusted: a message that makes no sense here is dropped.
//!
//! [`runs`] begins and ends runs in all processes, [`groups`] groups, and [`deadlocks`] finds out that the runtime rests.
//! Processes that share memory are *near* each other. If some are not, mostly since they are on other hosts, [`carrier`]
//! carries the messages to and from these. This file has what these share: it joins the processes, and exchanges and
//! dispatches their messages.

mod begging;
mod bells;
mod carrier;
mod control;
mod deadlocks;
mod groups;
#[cfg(all(feature = "processes", target_os = "linux"))]
pub(crate) mod host;
mod rest;
mod runs;

use std::io::{self, Write};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, TryLockError, Weak};
use std::time::Duration;

use crate::atomics::lock_std as lock;
use crate::atomics::{AtomicBool, AtomicU64, Ordering};
#[cfg(feature = "processes")]
use crate::cancel::runs::ProcessDied;
use crate::cancel::runs::{CompletionCallback, Run};
use crate::cancel::teams::GroupName;
use crate::fabric::placed::{Placement, Segment};
use crate::fabric::processes::{self, Link, Watch, links};
use crate::fabric::recorder::{self, Kind};
use crate::fabric::wire::{OF_TEAMS, OF_WORKERS, Outgoing, Way, Wire};
use crate::frame::budget::FrameMemory;
use crate::frame::front::StatePlace;
use crate::sched::peers::{Part, Peers};
use crate::sched::team::Team;
use crate::sim::{Simulator, Waited};
use begging::Places;
use bells::Bells;
use carrier::Carrier;
use control::Control;
use deadlocks::Deadlocks;
use groups::SharedGroups;
use rest::below;
use runs::Runs;

/// Time after which a wire that has failed ends this process, if no other process has died.
const PATIENCE: Duration = Duration::from_secs(2);

/// The processes of a runtime, and this process among them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// The number of processes.
    pub(crate) processes: usize,
    /// The number of workers in each.
    pub(crate) workers: usize,
    /// The number of this process.
    pub(crate) rank: usize,
    /// The processes that share memory with this one, and itself.
    pub(crate) near: Near,
}

/// Consecutive processes that share memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "processes", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Near {
    pub(crate) first: usize,
    pub(crate) processes: usize,
}

impl Near {
    /// Returns the processes near process `rank` of `processes`, if each `per_host` of them share memory.
    pub(crate) fn of(rank: usize, processes: usize, per_host: usize) -> Near {
        let first = rank - rank % per_host;
        Near { first, processes: per_host.min(processes - first) }
    }
}

impl Shape {
    /// Returns the number of workers of all processes.
    pub(crate) fn all(self) -> usize {
        self.processes * self.workers
    }

    /// Returns the size of the segment that the near processes share.
    pub(crate) fn segment_bytes(self) -> usize {
        let near = self.near.processes;
        processes::placed_bytes(self.processes, near)
            + bells::placed_bytes(near * self.workers, near)
            + processes::placed_bytes(self.all(), near * self.workers)
            + begging::placed_bytes(near * self.workers)
    }

    /// Returns the near processes.
    fn near(self) -> Range<usize> {
        self.near.first..self.near.first + self.near.processes
    }

    /// Returns the workers of the near processes.
    fn near_workers(self) -> Range<usize> {
        self.near().start * self.workers..self.near().end * self.workers
    }

    fn workers_of(self, process: usize) -> Range<usize> {
        process * self.workers..(process + 1) * self.workers
    }

    /// Returns the number among all of a worker of this process.
    fn own(self, worker: usize) -> usize {
        self.workers_of(self.rank).start + worker
    }

    fn part(self) -> Part {
        let own = self.workers_of(self.rank);
        Part { workers: self.all() as u32, own: own.start as u32..own.end as u32 }
    }
}

/// One process's view of the processes of a runtime.
pub(crate) struct Cluster {
    shape: Shape,
    me: Weak<Cluster>,
    team: OnceLock<Weak<Team>>,
    bells: Bells,
    places: Places,
    /// Carries the messages to the processes that are not near.
    carrier: Option<Carrier>,
    link: Mutex<Link>,
    arrivals: Watch,
    /// Whether the link waits for room.
    holds: AtomicBool,
    /// Set when another process has died: this one exchanges no messages any more.
    cut_off: AtomicBool,
    /// Messages to and from other processes that the detection of rest counts.
    sent: AtomicU64,
    received: AtomicU64,
    /// Locked while messages are handled, which keeps their order.
    handling: Mutex<()>,
    state: Mutex<State>,
}

struct State {
    runs: Runs,
    groups: SharedGroups,
    deadlocks: Deadlocks,
}

/// A process's view, and the endpoints of its workers.
pub(crate) type Joined = (Arc<Cluster>, Vec<Link>);

/// Creates this process's view. Each of the near processes calls this with the same segment, and with a wire to the others,
/// if there are any. On a simulated machine, the workers of all processes are its first processors, and the next ones carry.
pub(crate) fn join(
    shape: Shape,
    segment: &Arc<Segment>,
    wire: Option<Box<dyn Wire>>,
    machine: Option<Arc<dyn Simulator>>,
) -> Joined {
    let mut placement = Placement::shared(segment);
    let (near, near_workers) = (shape.near(), shape.near_workers());
    let own = shape.rank..shape.rank + 1;
    let (mut teams, far_teams) = links(shape.processes, &near, &own, &mut placement);
    let simulated = machine.clone().map(|machine| bells::Simulated { machine, own: shape.workers_of(shape.rank) });
    let bells = Bells::new(shape.all(), &near_workers, &near, &mut placement, simulated);
    let places = Places::new(shape.all(), near_workers.clone(), &mut placement);
    let own = shape.workers_of(shape.rank);
    let (mut workers, far_workers) = links(shape.all(), &near_workers, &own, &mut placement);
    assert_eq!(wire.is_some(), near.len() < shape.processes, "a wire leads to the processes that are not near");
    let carrier = wire.map(|wire| {
        let machine = machine.map(|machine| (machine, shape.all() + shape.rank));
        let call = machine.clone().map(|(machine, carrier)| {
            let call: Box<dyn Fn() + Send + Sync> = Box::new(move || machine.ring(carrier));
            call
        });
        let outgoing = Arc::new(Outgoing::new(shape.processes, call));
        for link in &mut teams {
            link.set_way(Way::new(&outgoing, OF_TEAMS, shape.rank, near.clone(), 1));
        }
        for (link, index) in workers.iter_mut().zip(own) {
            link.set_way(Way::new(&outgoing, OF_WORKERS, index, near_workers.clone(), shape.workers));
        }
        Carrier::new(shape, &outgoing, wire, far_workers, far_teams, machine)
    });
    let Some(link) = teams.pop() else { unreachable!("this process has a link") };
    let state = State {
        runs: Runs::new(),
        groups: SharedGroups::default(),
        deadlocks: Deadlocks::new(shape.rank, shape.processes),
    };
    let cluster = Arc::new_cyclic(|me| Cluster {
        shape,
        me: Weak::clone(me),
        team: OnceLock::new(),
        bells,
        places,
        carrier,
        arrivals: link.watch(),
        link: Mutex::new(link),
        holds: AtomicBool::new(false),
        cut_off: AtomicBool::new(false),
        sent: AtomicU64::new(0),
        received: AtomicU64::new(0),
        handling: Mutex::new(()),
        state: Mutex::new(state),
    });
    (cluster, workers)
}

impl Cluster {
    /// Sets the team of this process.
    pub(crate) fn set_team(&self, team: &Arc<Team>) {
        let first = self.team.set(Arc::downgrade(team));
        debug_assert!(first.is_ok(), "a cluster has one team");
        #[cfg(feature = "processes")]
        {
            // Either `process_died` finds the team, or this finds the process.
            let died = lock(&self.state).runs.died();
            died.into_iter().for_each(|died| self.end_all(team, died));
        }
    }

    /// Returns the workers of this process.
    pub(crate) fn part(&self) -> Part {
        self.shape.part()
    }

    fn leads(&self) -> bool {
        self.shape.rank == 0
    }

    fn send(&self, to: usize, control: &Control) {
        if self.is_cut_off() {
            return;
        }
        if control.counts() {
            // Release: before the message can be received.
            self.sent.fetch_add(1, Ordering::Release);
        }
        let bytes = control.to_bytes();
        recorder::sent(Kind::Teams, &bytes);
        self.send_bytes(to, bytes);
    }

    fn send_bytes(&self, to: usize, bytes: Vec<u8>) {
        let link = lock(&self.link);
        link.send(to, bytes);
        // Relaxed: a worker that looks before it parks takes the lock, or is woken by the next message.
        self.holds.store(link.holds(), Ordering::Relaxed);
        drop(link);
        self.bells.wake_for_message(self.shape.workers_of(to));
    }

    /// Starts what carries messages to the processes that are not near.
    ///
    /// # Errors
    /// If the system provides no more threads.
    pub(crate) fn start(&self, name: &str) -> io::Result<()> {
        self.carrier.as_ref().map_or(Ok(()), |carrier| carrier.start(Weak::clone(&self.me), name))
    }

    /// Carries on a simulated machine, until the runtime ends.
    #[cfg(feature = "simulation")]
    pub(crate) fn carry_simulated(&self) {
        if let Some(carrier) = &self.carrier {
            carrier.carry_simulated(self);
        }
    }

    /// The wire to the other processes has failed, mostly since one of them has died: then the first process says so.
    fn wire_failed(&self, reason: String) {
        let me = Weak::clone(&self.me);
        let wait = move || {
            std::thread::sleep(PATIENCE);
            if me.upgrade().is_some_and(|cluster| !cluster.is_cut_off()) {
                // The launcher may have closed the stream.
                let _ = writeln!(io::stderr(), "finespun: {reason}");
                std::process::exit(1);
            }
        };
        if let Err(error) = std::thread::Builder::new().name("finespun-wire".to_owned()).spawn(wait) {
            eprintln!("finespun: messages to other processes are lost, and no thread can wait for the reason: {error}");
        }
    }

    /// Returns whether a message of another team has arrived, or one of this team waits for room.
    fn has_message(&self) -> bool {
        (self.arrivals.waits() || self.holds.load(Ordering::Relaxed)) && !self.is_cut_off()
    }

    /// A worker has requested something of the state of a worker of another process.
    fn requested(&self, worker: u32) {
        if let Some(carrier) = self.carrier.as_ref().filter(|_| !self.shape.near_workers().contains(&(worker as usize)))
        {
            carrier.request();
        }
    }

    fn send_down(&self, control: &Control) {
        below(self.shape.rank, self.shape.processes).for_each(|to| self.send(to, control));
    }

    /// Receives the next message.
    fn receive(&self) -> Option<(usize, Control)> {
        let link = lock(&self.link);
        link.flush(|to| self.bells.wake_for_message(self.shape.workers_of(to)));
        self.holds.store(link.holds(), Ordering::Relaxed);
        loop {
            let (from, control) = link.receive(|from, bytes| (from, Control::of_bytes(bytes)))?;
            // A malformed message is dropped.
            if let Some(control) = control {
                return Some((from, control));
            }
        }
    }

    fn handle(&self, team: &Team, from: usize, control: Control) {
        let above = self.shape.rank > 0 && (from == 0 || from == (self.shape.rank - 1) / 2);
        match control {
            Control::Probe { .. } | Control::Quiescent { .. } | Control::Stuck { .. } | Control::End { .. }
                if !above => {}
            Control::JoinGroup { run, group } => self.share_group(team, from, run, group),
            Control::TerminateGroup { group } => self.terminate_group(team, group),
            Control::EndGroup { group } => self.end_group(team, group),
            Control::Probe { wave } => self.probed(team, wave),
            Control::Report { wave, resting } => self.reported(team, wave, resting),
            Control::Changed => self.changed(team),
            Control::Quiescent { runs } => self.quiescent(team, runs),
            Control::Stuck { runs } => self.stuck(team, runs),
            Control::Cancel { run, why } => self.cancel_for(team, from, run, why),
            Control::End { run, live } => self.end_run(team, run, live),
            Control::JoinRun { run } => self.joined_elsewhere(team, from, run),
            Control::Ended { run } => self.ended_elsewhere(run),
        }
    }
}

impl Peers for Cluster {
    fn close(&self, team: &Team) {
        Cluster::close(self, team);
    }

    fn forge(&self, to: usize, bytes: &[u8]) {
        self.send_bytes(to, bytes.to_vec());
    }

    fn leads(&self) -> bool {
        Cluster::leads(self)
    }

    fn poke(&self, worker: u32) {
        self.bells.wake_for_ticket(worker as usize);
    }

    fn place(&self, worker: usize) -> &StatePlace {
        self.places.of(self.shape.own(worker))
    }

    fn beg(&self, worker: usize, asked: Option<u32>, random: u64) -> Option<u32> {
        if self.is_cut_off() {
            return None;
        }
        let own = self.shape.workers_of(self.shape.rank);
        let before = asked;
        let asked = self.places.beg(self.shape.own(worker), own, asked, random);
        before.filter(|_| before != asked).into_iter().chain(asked).for_each(|asked| self.requested(asked));
        asked
    }

    fn nudge(&self, worker: u32) -> bool {
        if !Peers::is_elsewhere(self, worker) {
            return true;
        }
        let runs = self.places.of(worker as usize).front().nudge();
        self.requested(worker);
        runs
    }

    fn stop_begging(&self, worker: usize, asked: u32) {
        let own = self.shape.own(worker) as u32;
        let _answered = !self.places.of(asked as usize).front().take_back(own);
        self.requested(asked);
    }

    fn is_elsewhere(&self, worker: u32) -> bool {
        let worker = worker as usize;
        worker < self.shape.all() && !self.shape.workers_of(self.shape.rank).contains(&worker)
    }

    fn look_out(&self, worker: usize) -> bool {
        let rank = self.shape.rank;
        !self.is_cut_off() && self.bells.look_out(rank, &self.shape.workers_of(rank), self.shape.own(worker))
    }

    fn ring(&self, worker: usize) {
        self.bells.ring(self.shape.own(worker));
    }

    fn wait(&self, worker: usize, timeout: Option<Duration>) -> Waited {
        self.bells.wait(self.shape.own(worker), timeout)
    }

    fn set_asleep(&self, worker: usize, asleep: bool) {
        self.bells.set_asleep(self.shape.own(worker), asleep);
        if !asleep {
            self.bells.ring_lookouts(self.shape.near().filter(|process| *process != self.shape.rank));
        }
        if let Some(carrier) = &self.carrier {
            carrier.call();
        }
    }

    fn is_cut_off(&self) -> bool {
        // Acquire: pairs with the Release in `end_all`.
        self.cut_off.load(Ordering::Acquire)
    }

    fn waits(&self) -> bool {
        if let Some(carrier) = self.carrier.as_ref().filter(|carrier| carrier.is_by_workers()) {
            carrier.pass(self);
        }
        self.has_message()
    }

    fn holds(&self) -> bool {
        self.holds.load(Ordering::Relaxed)
    }

    fn carries(&self) -> bool {
        self.carrier.is_some()
    }

    fn has_near(&self) -> bool {
        self.shape.near.processes > 1
    }

    fn send_waiting(&self) {
        if let Some(carrier) = self.carrier.as_ref().filter(|carrier| carrier.is_by_workers() && carrier.is_loaded()) {
            carrier.pass(self);
        }
    }

    fn stop_carrying(&self) {
        if let Some(carrier) = &self.carrier {
            carrier.end();
        }
    }

    fn poll(&self, team: &Team) -> bool {
        if let Some(carrier) = self.carrier.as_ref().filter(|carrier| carrier.is_due()) {
            carrier.pass(self);
        }
        if !self.has_message() {
            return false;
        }
        let _handling = match self.handling.try_lock() {
            Ok(handling) => handling,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return false,
        };
        let mut some = false;
        while let Some((from, control)) = self.receive() {
            some = true;
            let counts = control.counts();
            self.handle(team, from, control);
            if counts {
                // Release: after all that the message causes here.
                self.received.fetch_add(1, Ordering::Release);
            }
        }
        some
    }

    fn all_parked(&self, team: &Team) -> bool {
        Cluster::all_parked(self, team)
    }

    fn begun(&self, team: &Team, run: &Arc<Run>) {
        Cluster::begun(self, team, run);
    }

    fn join_run(&self, team: &Team, name: u32) -> Option<u32> {
        Cluster::join_run(self, team, name)
    }

    fn defers(&self, run: &Run, exhausted: Option<&FrameMemory>) -> bool {
        Cluster::defers(self, run, exhausted)
    }

    fn group_name(&self, team: &Team, number: u32) -> GroupName {
        Cluster::group_name(self, team, number)
    }

    fn join_group(&self, team: &Team, run: u32, name: GroupName) -> Option<u32> {
        Cluster::join_group(self, team, run, name)
    }

    fn terminated(&self, team: &Team, group: u32) {
        Cluster::terminated(self, team, group);
    }

    fn group_ended(&self, team: &Team, run: u32, number: u32, uses: u64) {
        Cluster::group_ended(self, team, run, number, uses);
    }

    fn cancelled(&self, team: &Team, run: &Run) -> Option<CompletionCallback> {
        Cluster::cancelled(self, team, run)
    }

    #[cfg(feature = "processes")]
    fn process_died(&self, team: &Team, died: ProcessDied) {
        Cluster::end_all(self, team, died);
    }

    fn ended(&self, team: &Team, run: &Run) {
        Cluster::ended(self, team, run);
    }
}
