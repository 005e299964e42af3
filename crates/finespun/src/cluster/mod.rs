//! A runtime over several processes.
//!
//! Each process has a [`Team`], and the messages of tasks cross by the fabric (`fabric::processes`). This module does the
//! rest: it begins and ends runs everywhere, finds out when the whole runtime rests ([`rest`]), and wakes workers of
//! other processes ([`bells`]). For this the processes exchange messages of their own ([`control`]), over a net of their
//! own, which any thread may use.
//!
//! **A run** begins and ends in the first process, which *leads*. A message of the run contains its name. A process that
//! receives a message of a run that it does not know *joins* it: the run begins there, too. If anything of a run may be
//! left when its root has ended, the run is cancelled; a run of which a message has left the process is always
//! cancelled. The leader marks it, and tells all processes; each marks and ends its own part, and says so; then the run
//! has ended. Processes remember which runs have ended, and drop their late messages. A process with a reason to cancel
//! a run (a panic, say) tells the leader, which tells all.
//!
//! **A group** begins in one process, its *home*. A process that receives a message of a group that it does not know
//! joins it, as a group of its own within the run, and says so to the home. The home tells the processes that know the
//! group when it is terminated, alone or with a group around it, and when it ends.
//!
//! **A deadlock** is found by the first process. It tells all, each answers with a line for each wait, and the first
//! process cancels the run when it has all lines.

mod bells;
mod control;
#[cfg(all(feature = "processes", target_os = "linux"))]
pub(crate) mod host;
mod rest;

use std::collections::{BTreeSet, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, OnceLock, TryLockError, Weak};
use std::time::{Duration, Instant};

use crate::atomics::lock_std as lock;
use crate::atomics::{AtomicBool, AtomicU64, Ordering};
use crate::cancel::runs::Run;
use crate::cancel::teams::GroupName;
use crate::fabric::placed::{Placement, Segment};
use crate::fabric::processes::{self, Link, Watch, links};
use crate::frame::budget::FrameMemory;
use crate::frame::number::{GROUPS, index_of};
use crate::frame::{Payload, quietly};
use crate::message::wire::{Reader, Writer};
use crate::object::error::{known, read_payload, write_payload};
use crate::run::release::end_group;
use crate::sched::peers::{Part, Peers};
use crate::sched::team::Team;
use crate::sim::Waited;
use bells::Bells;
use control::{Control, Exhausted, Why};
use rest::{Rest, Step, below};

/// The processes of a runtime, and this process among them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// The number of processes.
    pub(crate) processes: usize,
    /// The number of workers in each.
    pub(crate) workers: usize,
    /// The number of this process.
    pub(crate) rank: usize,
}

impl Shape {
    /// Returns the number of workers of all processes.
    pub(crate) fn all(self) -> usize {
        self.processes * self.workers
    }

    /// Returns the size of the segment that the processes share.
    pub(crate) fn segment_bytes(self) -> usize {
        processes::placed_bytes(self.processes) + bells::placed_bytes(self.all()) + processes::placed_bytes(self.all())
    }

    fn workers_of(self, process: usize) -> Range<usize> {
        process * self.workers..(process + 1) * self.workers
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
    link: Mutex<Link>,
    arrivals: Watch,
    /// Whether the link waits for room.
    holds: AtomicBool,
    /// Messages to and from other processes that the detection of rest counts.
    sent: AtomicU64,
    received: AtomicU64,
    /// Locked while messages are handled, which keeps their order.
    handling: Mutex<()>,
    state: Mutex<State>,
}

struct State {
    /// The runs under way here, by their names.
    runs: HashMap<u32, Arc<Run>>,
    /// The runs that the leader has ended: all before `ended_before`, and those in `ended`.
    ended_before: u32,
    ended: BTreeSet<u32>,
    /// The runs of `runs` that the leader has ended. At the leader: in how many processes the run has not ended yet.
    ending: HashMap<u32, usize>,
    /// At the leader: the runs that are deadlocked, with their lines so far and the number of processes missing.
    stuck: HashMap<u32, (Vec<String>, usize)>,
    /// Deadlocked runs to be cancelled when all workers of this process are parked.
    to_report: Vec<u32>,
    /// The groups of other processes that are known here, with their numbers here, and the reverse.
    joined: HashMap<GroupName, u32>,
    names: HashMap<u32, GroupName>,
    /// By number and use count: the processes that know a group of this process.
    shared: HashMap<(u32, u64), Vec<u32>>,
    rest: Rest,
    again: Option<Instant>,
}

/// A process's view, and the endpoints of its workers.
pub(crate) type Joined = (Arc<Cluster>, Vec<Link>);

/// Creates this process's view. Each process calls this with the same segment.
pub(crate) fn join(shape: Shape, segment: &Arc<Segment>) -> Joined {
    let mut placement = Placement::shared(segment);
    let own = shape.rank..shape.rank + 1;
    let Some(link) = links(shape.processes, &mut placement, own).pop() else { unreachable!("one link was asked for") };
    let bells = Bells::new(shape.all(), &mut placement);
    let ends = links(shape.all(), &mut placement, shape.workers_of(shape.rank));
    let state = State {
        runs: HashMap::new(),
        ended_before: 1,
        ended: BTreeSet::new(),
        ending: HashMap::new(),
        stuck: HashMap::new(),
        to_report: Vec::new(),
        joined: HashMap::new(),
        names: HashMap::new(),
        shared: HashMap::new(),
        rest: Rest::new(shape.rank, shape.processes),
        again: None,
    };
    let cluster = Arc::new_cyclic(|me| Cluster {
        shape,
        me: Weak::clone(me),
        team: OnceLock::new(),
        bells,
        arrivals: link.watch(),
        link: Mutex::new(link),
        holds: AtomicBool::new(false),
        sent: AtomicU64::new(0),
        received: AtomicU64::new(0),
        handling: Mutex::new(()),
        state: Mutex::new(state),
    });
    (cluster, ends)
}

impl Cluster {
    /// Sets the team of this process.
    pub(crate) fn set_team(&self, team: &Arc<Team>) {
        let first = self.team.set(Arc::downgrade(team));
        debug_assert!(first.is_ok(), "a cluster has one team");
    }

    /// Returns the workers of this process.
    pub(crate) fn part(&self) -> Part {
        self.shape.part()
    }

    fn leads(&self) -> bool {
        self.shape.rank == 0
    }

    fn send(&self, to: usize, control: &Control) {
        if control.counts() {
            // Release: before the message can be received.
            self.sent.fetch_add(1, Ordering::Release);
        }
        let link = lock(&self.link);
        link.send(to, control.to_bytes());
        // Relaxed: a worker that looks before it parks takes the lock, or is woken by the next message.
        self.holds.store(link.holds(), Ordering::Relaxed);
        drop(link);
        self.bells.wake_for_message(self.shape.workers_of(to));
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
            let (from, bytes) = link.receive()?;
            // A malformed message is dropped.
            if let Some(control) = Control::of_bytes(&bytes) {
                return Some((from, control));
            }
        }
    }

    fn handle(&self, team: &Team, from: usize, control: Control) {
        match control {
            Control::JoinGroup { group } => self.share_group(team, from, group),
            Control::TerminateGroup { group } => {
                let state = lock(&self.state);
                let Some(&number) = state.joined.get(&group) else { return };
                // Under the lock, which keeps the number from being used again.
                let first = team.groups.terminate(number);
                let told = self.beneath(&state, team, number);
                drop(state);
                if first {
                    team.sweep();
                    self.tell_terminated(told);
                }
            }
            Control::EndGroup { group } => {
                let mut state = lock(&self.state);
                if let Some(number) = state.joined.remove(&group) {
                    state.end_group(team, number);
                }
            }
            Control::Probe { wave } => {
                let step = lock(&self.state).rest.probe(wave);
                self.perform(team, step);
                team.idle.notify_one();
            }
            Control::Report { wave, resting } => {
                let step = lock(&self.state).rest.report(wave, resting, Instant::now());
                self.perform(team, step);
                team.idle.notify_one();
            }
            Control::Changed => {
                lock(&self.state).rest.want();
                team.idle.notify_one();
            }
            Control::Quiescent { runs } => {
                self.send_down(&Control::Quiescent { runs: runs.clone() });
                self.resume_quiescent(team, &runs);
            }
            Control::Stuck { runs } => {
                self.send_down(&Control::Stuck { runs: runs.clone() });
                let mut state = lock(&self.state);
                let (known, unknown): (Vec<_>, _) = runs.into_iter().partition(|run| state.runs.contains_key(run));
                state.to_report.extend(known);
                drop(state);
                for run in unknown {
                    let why = Why { stuck: Some(Vec::new()), ..Why::default() };
                    self.send(0, &Control::Cancel { run, why });
                }
                team.idle.notify_one();
            }
            Control::Cancel { run, why } => self.cancel_for(team, run, why),
            Control::End { run, live } => self.end(team, run, live),
            Control::Ended { run: name } => {
                let mut state = lock(&self.state);
                let Some(missing) = state.ending.get_mut(&name) else { return };
                *missing -= 1;
                if *missing > 0 {
                    return;
                }
                state.ending.remove(&name);
                let run = state.runs.get(&name).cloned();
                drop(state);
                // The count that `Team::cancel` has added.
                if let Some(callback) = run.and_then(|run| run.leave()) {
                    quietly(callback);
                }
            }
        }
    }

    /// Performs a step of the detection of rest. Returns whether it has made frames ready.
    fn perform(&self, team: &Team, step: Step) -> bool {
        let Step { sends, quiescent, stuck, again } = step;
        let mut state = lock(&self.state);
        // Before the other processes are asked.
        for name in stuck {
            state.stuck.insert(name, (Vec::new(), self.shape.processes - 1));
        }
        state.again = again.or(state.again);
        drop(state);
        if let Some(again) = again {
            team.bell.set_alarm(again);
        }
        for (to, control) in sends {
            self.send(to, &control);
        }
        !quiescent.is_empty() && self.resume_quiescent(team, &quiescent)
    }

    fn resume_quiescent(&self, team: &Team, names: &[u32]) -> bool {
        let state = lock(&self.state);
        let run = |name: &u32| Some((state.runs.get(name).cloned()?, state.rest.listed(*name)));
        let runs: Vec<_> = names.iter().filter_map(run).collect();
        drop(state);
        team.resume_quiescent(&runs)
    }

    /// At the leader: another process has cancelled a run.
    fn cancel_for(&self, team: &Team, name: u32, why: Why) {
        let mut state = lock(&self.state);
        let Some(run) = state.runs.get(&name).cloned() else { return };
        let Why { failure, exit, stuck, exhausted } = why;
        if let Some(lines) = stuck {
            if let Some((all, missing)) = state.stuck.get_mut(&name) {
                all.extend(lines);
                *missing -= 1;
                if *missing == 0 {
                    state.to_report.push(name);
                    drop(state);
                    team.idle.notify_one();
                }
            }
            return;
        }
        drop(state);
        if let Some(Exhausted { task, depth, most, frames, bytes, limit }) = exhausted {
            let (task, most) = (task.map(known), most.map(|(task, count)| (known(task), count)));
            return team.exhaust(&run, FrameMemory { task, depth, most, frames, bytes, limit });
        }
        if let Some(code) = exit {
            run.exit(code);
        }
        if let Some(failure) = failure {
            // The run is cancelled below, whether or not this is its first failure.
            let _ = run.fail(read_payload(&mut Reader::arrived(&failure)));
        }
        team.cancel(&run);
    }

    /// At another process than the leader: the leader has ended a run.
    fn end(&self, team: &Team, name: u32, live: u32) {
        self.send_down(&Control::End { run: name, live });
        let mut state = lock(&self.state);
        state.ended_before = state.ended_before.max(live);
        let before = state.ended_before;
        state.ended.retain(|&name| name >= before);
        let Some(run) = state.runs.get(&name).cloned() else {
            state.ended.insert(name);
            drop(state);
            return self.send(0, &Control::Ended { run: name });
        };
        state.ending.insert(name, 0);
        drop(state);
        team.cancel(&run);
        // The count with which the run began here, in place of a root.
        if let Some(callback) = run.leave() {
            quietly(callback);
        }
    }

    /// At another process than the leader: nothing of a run is left here.
    fn ended_here(&self, run: &Run) {
        let mut state = lock(&self.state);
        state.runs.remove(&run.name);
        state.ending.remove(&run.name);
        state.ended.insert(run.name);
        drop(state);
        if let Some(team) = self.team.get().and_then(Weak::upgrade) {
            team.end_run(run);
        }
        self.send(0, &Control::Ended { run: run.name });
    }

    /// At the home of a group: another process knows it.
    fn share_group(&self, team: &Team, process: usize, name: GroupName) {
        let number = team.id.group(name.index % GROUPS);
        let mut state = lock(&self.state);
        let group = team.groups.find(number).filter(|group| group.share(name.uses));
        let Some(group) = group else {
            drop(state);
            return self.send(process, &Control::EndGroup { group: name });
        };
        state.shared.entry((number, name.uses)).or_default().push(process as u32);
        // Under the lock: if the group is terminated later, `terminated` finds the process.
        let terminated = team.groups.is_terminated(group, |run| team.run_cancelled(run));
        drop(state);
        if terminated {
            self.send(process, &Control::TerminateGroup { group: name });
        }
    }

    /// Returns the groups of this process at or beneath `group` that other processes know, with those processes.
    fn beneath(&self, state: &State, team: &Team, group: u32) -> Vec<(GroupName, Vec<u32>)> {
        let uses = team.groups.get(group).uses();
        let beneath = state.shared.iter().filter(|((number, _), _)| team.groups.is_beneath(*number, group, uses));
        beneath.map(|(&(number, uses), to)| (self.name_of_own(number, uses), to.clone())).collect()
    }

    fn tell_terminated(&self, groups: Vec<(GroupName, Vec<u32>)>) {
        for (group, processes) in groups {
            processes.into_iter().for_each(|to| self.send(to as usize, &Control::TerminateGroup { group }));
        }
    }

    fn name_of_own(&self, number: u32, uses: u64) -> GroupName {
        GroupName { home: self.shape.rank as u32, index: index_of(number), uses }
    }

    /// Returns the reason for cancelling a run.
    fn why(run: &Run, exhausted: Option<&FrameMemory>) -> Why {
        let failure = run.failure().map(|payload: Payload| {
            let mut to = Writer::of_bytes();
            write_payload(payload, &mut to);
            to.into_bytes()
        });
        let exhausted = exhausted.map(|error| Exhausted {
            task: error.task.map(str::to_owned),
            depth: error.depth,
            most: error.most.map(|(task, count)| (task.to_owned(), count)),
            frames: error.frames,
            bytes: error.bytes,
            limit: error.limit,
        });
        Why { failure, exit: run.exit_code(), stuck: None, exhausted }
    }
}

impl State {
    /// Ends a group of another process here, which has been removed from `joined`.
    fn end_group(&mut self, team: &Team, number: u32) {
        self.names.remove(&number);
        // No other process knows it by this number.
        let _ = end_group(&team.groups, number);
    }
}

impl Peers for Cluster {
    fn leads(&self) -> bool {
        Cluster::leads(self)
    }

    fn poke(&self, worker: u32) {
        self.bells.wake_for_message(worker as usize..worker as usize + 1);
    }

    fn ring(&self, worker: usize) {
        self.bells.ring(self.shape.workers_of(self.shape.rank).start + worker);
    }

    fn wait(&self, worker: usize, timeout: Option<Duration>) -> Waited {
        self.bells.wait(self.shape.workers_of(self.shape.rank).start + worker, timeout)
    }

    fn set_asleep(&self, worker: usize, asleep: bool) {
        self.bells.set_asleep(self.shape.workers_of(self.shape.rank).start + worker, asleep);
    }

    fn waits(&self) -> bool {
        self.arrivals.waits() || self.holds.load(Ordering::Relaxed)
    }

    fn poll(&self, team: &Team) -> bool {
        if !self.waits() {
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
        let mut state = lock(&self.state);
        let now = Instant::now();
        if state.again.take_if(|again| *again <= now).is_some() {
            state.rest.want();
        }
        let to_report: Vec<_> = std::mem::take(&mut state.to_report);
        if !to_report.is_empty() {
            let of = |name: &u32| {
                let lines = state.stuck.remove(name).map(|(lines, _)| lines).unwrap_or_default();
                state.runs.get(name).cloned().map(|run| (run, lines))
            };
            let runs: Vec<_> = to_report.iter().filter_map(of).collect();
            drop(state);
            for (run, mut lines) in runs {
                let Some(own) = team.lines_of(&run) else {
                    // Another thread has woken a worker, which comes here when it parks again.
                    let mut state = lock(&self.state);
                    state.to_report.push(run.name);
                    state.stuck.insert(run.name, (lines, 0));
                    continue;
                };
                if self.leads() {
                    lines.extend(own);
                    team.report_stuck(&run, &lines);
                } else {
                    let why = Why { stuck: Some(own), ..Why::default() };
                    self.send(0, &Control::Cancel { run: run.name, why });
                }
            }
            return true;
        }
        if self.leads() && state.runs.is_empty() && !state.rest.is_due() {
            return false;
        }
        drop(state);
        // Acquire: see `send` and `poll`. Received ones first, so that the sum never has more of those than were sent.
        let received = self.received.load(Ordering::Acquire);
        let Some(mut resting) = team.resting() else { return false };
        resting.received += received;
        resting.sent += self.sent.load(Ordering::Acquire);
        let step = lock(&self.state).rest.quiet(resting, now);
        self.perform(team, step)
    }

    fn begun(&self, run: &Arc<Run>) {
        lock(&self.state).runs.insert(run.name, Arc::clone(run));
    }

    fn join_run(&self, team: &Team, name: u32) -> Option<u32> {
        let mut state = lock(&self.state);
        if let Some(run) = state.runs.get(&name) {
            return Some(run.number);
        }
        if self.leads() || name < state.ended_before || state.ended.contains(&name) {
            return None;
        }
        let run = team.begin_joined(name);
        let (me, ended) = (Weak::clone(&self.me), Arc::downgrade(&run));
        run.on_end(move || {
            if let (Some(me), Some(run)) = (me.upgrade(), ended.upgrade()) {
                me.ended_here(&run);
            }
        });
        state.runs.insert(name, Arc::clone(&run));
        Some(run.number)
    }

    fn cancelled(&self, team: &Team, run: &Run) {
        let mut state = lock(&self.state);
        if self.leads() {
            state.stuck.remove(&run.name);
            state.ending.insert(run.name, self.shape.processes - 1);
            drop(state);
            self.send_down(&Control::End { run: run.name, live: team.first_run().unwrap_or(run.name) });
        }
    }

    fn ended(&self, team: &Team, run: &Run) {
        let mut state = lock(&self.state);
        if self.leads() {
            state.runs.remove(&run.name);
        }
        let left = state.joined.extract_if(|_, number| team.groups.get(*number).run() == run.number);
        let left: Vec<_> = left.map(|(_, number)| number).collect();
        left.into_iter().for_each(|number| state.end_group(team, number));
    }

    fn defers(&self, run: &Run, exhausted: Option<&FrameMemory>) -> bool {
        if self.leads() || lock(&self.state).ending.contains_key(&run.name) {
            return false;
        }
        self.send(0, &Control::Cancel { run: run.name, why: Cluster::why(run, exhausted) });
        true
    }

    fn group_name(&self, team: &Team, number: u32) -> GroupName {
        let joined = lock(&self.state).names.get(&number).copied();
        joined.unwrap_or_else(|| self.name_of_own(number, team.groups.get(number).uses()))
    }

    fn join_group(&self, team: &Team, run: u32, name: GroupName) -> Option<u32> {
        if name.home == self.shape.rank as u32 {
            let number = team.id.group(name.index % GROUPS);
            let group = team.groups.find(number)?;
            return (group.uses() == name.uses && group.run() == run).then_some(number);
        }
        if name.home >= self.shape.processes as u32 {
            return None;
        }
        let mut state = lock(&self.state);
        if let Some(&number) = state.joined.get(&name) {
            return Some(number);
        }
        let number = team.id.group(team.groups.begin(run, run, 1));
        state.joined.insert(name, number);
        state.names.insert(number, name);
        drop(state);
        self.send(name.home as usize, &Control::JoinGroup { group: name });
        Some(number)
    }

    fn terminated(&self, team: &Team, group: u32) {
        let told = self.beneath(&lock(&self.state), team, group);
        self.tell_terminated(told);
    }

    fn group_ended(&self, number: u32, uses: u64) {
        let processes = lock(&self.state).shared.remove(&(number, uses)).unwrap_or_default();
        let group = self.name_of_own(number, uses);
        processes.into_iter().for_each(|to| self.send(to as usize, &Control::EndGroup { group }));
    }
}
