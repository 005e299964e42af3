//! Runs over several processes.
//!
//! A run begins and ends in the first process, which *leads*. A message of the run contains its name. A process that
//! receives a message of a run that it does not know *joins* it: the run begins there, too. If anything of a run may be
//! left when its root has ended, the run is cancelled; a run of which a message has left the process is always
//! cancelled. The leader marks it, and tells all processes; each marks and ends its own part, and says so; then the run
//! has ended. Processes remember which runs have ended, and drop their late messages. A process with a reason to cancel
//! a run (a panic, say) tells the leader, which tells all. Since a forged message can name any run, a process with many
//! runs asks the leader about each more. If the leader tells that a run has ended which has not begun, no run gets its name.

use std::collections::{BTreeSet, HashMap};
use std::sync::{Arc, Weak};

use super::Cluster;
use super::control::{Control, Exhausted, Why};
use crate::atomics::{Ordering, lock_std as lock};
#[cfg(feature = "processes")]
use crate::cancel::runs::ProcessDied;
use crate::cancel::runs::{CompletionCallback, Run};
use crate::frame::budget::FrameMemory;
use crate::frame::{Payload, quietly};
use crate::message::wire::{Reader, Writer};
use crate::object::error::{known, read_payload, write_payload};
use crate::sched::peers::Peers;
use crate::sched::team::Team;

/// The runs that one process knows.
pub(super) struct Runs {
    /// The runs under way here, by their names.
    pub(super) live: HashMap<u32, Arc<Run>>,
    /// The runs that the leader has ended: all before `ended_before`, and those in `ended`.
    ended_before: u32,
    ended: BTreeSet<u32>,
    /// The runs of `live` that the leader has ended. At the leader: in how many processes the run has not ended yet.
    ending: HashMap<u32, usize>,
    /// At the leader: the name of the last run when it told which have ended.
    told: u32,
    /// The process that has died.
    #[cfg(feature = "processes")]
    died: Option<ProcessDied>,
}

/// The number of runs that a process joins without asking.
const UNASKED: usize = 64;
/// The number of ended runs that a process remembers, beside those that no message names any more.
const REMEMBERED: usize = 1 << 16;
/// The number of runs after which the leader tells which have ended, if no message leaves its process.
const UNTOLD: u32 = 1 << 24;
/// The number of last runs before the first live one whose late messages are known by their names. Others may have names of
/// runs to come: names wrap around, and a run may stay while many begin.
const LATE: u32 = 1 << 20;

/// Returns whether a run has begun before another. Names wrap around.
fn is_before(name: u32, other: u32) -> bool {
    (name.wrapping_sub(other) as i32) < 0
}

impl Runs {
    /// Remembers that a run has ended.
    fn note_ended(&mut self, name: u32) {
        if is_before(name, self.ended_before) {
            return;
        }
        self.ended.insert(name);
        if self.ended.len() > REMEMBERED {
            // The latest. Most likely, a forged one.
            let wrapped = self.ended.range(..self.ended_before).next_back();
            let latest = wrapped.or(self.ended.last()).copied();
            latest.map(|latest| self.ended.remove(&latest));
        }
    }

    /// Returns whether this process knows that a run has ended.
    fn has_ended(&self, name: u32) -> bool {
        let late = 1..=LATE;
        name == 0 || late.contains(&self.ended_before.wrapping_sub(name)) || self.ended.contains(&name)
    }

    /// All runs before `live` have ended.
    fn all_ended_before(&mut self, live: u32) {
        if is_before(self.ended_before, live) {
            self.ended_before = live;
            self.ended.retain(|&name| !is_before(name, live));
        }
    }

    /// Returns the process that has died.
    #[cfg(feature = "processes")]
    pub(super) fn died(&self) -> Option<ProcessDied> {
        self.died
    }

    pub(super) fn new() -> Runs {
        Runs {
            live: HashMap::new(),
            ended_before: 1,
            ended: BTreeSet::new(),
            ending: HashMap::new(),
            told: 0,
            #[cfg(feature = "processes")]
            died: None,
        }
    }
}

impl Cluster {
    pub(super) fn begun(&self, team: &Team, run: &Arc<Run>) {
        let mut state = lock(&self.state);
        let runs = &mut state.runs;
        runs.live.insert(run.name, Arc::clone(run));
        // Otherwise a new run's name could seem to be one of the last before these, once names wrap around.
        if run.name.wrapping_sub(runs.told) >= UNTOLD {
            runs.told = run.name;
            drop(state);
            self.send_down(&Control::End { run: 0, live: Some(team.first_run()) });
        }
    }

    pub(super) fn join_run(&self, team: &Team, name: u32) -> Option<u32> {
        let mut state = lock(&self.state);
        let runs = &mut state.runs;
        if let Some(run) = runs.live.get(&name) {
            return Some(run.number);
        }
        if self.leads() || self.is_cut_off() || runs.has_ended(name) {
            return None;
        }
        let run = team.begin_joined(name);
        let (me, ended) = (Weak::clone(&self.me), Arc::downgrade(&run));
        run.on_end(move || {
            if let (Some(me), Some(run)) = (me.upgrade(), ended.upgrade()) {
                me.ended_here(&run);
            }
        });
        runs.live.insert(name, Arc::clone(&run));
        if runs.live.len() > UNASKED {
            drop(state);
            self.send(0, &Control::JoinRun { run: name });
        }
        Some(run.number)
    }

    pub(super) fn defers(&self, run: &Run, exhausted: Option<&FrameMemory>) -> bool {
        if self.leads() || self.is_cut_off() || lock(&self.state).runs.ending.contains_key(&run.name) {
            return false;
        }
        self.send(0, &Control::Cancel { run: run.name, why: why(run, exhausted) });
        true
    }

    /// At the leader: another process has cancelled a run.
    pub(super) fn cancel_for(&self, team: &Team, from: usize, name: u32, why: Why) {
        let mut state = lock(&self.state);
        let Some(run) = state.runs.live.get(&name).cloned() else {
            drop(state);
            return self.end_unknown(team, from, name);
        };
        let Why { failure, exit, stuck, exhausted } = why;
        if let Some(lines) = stuck {
            let complete = state.deadlocks.answered(name, lines);
            drop(state);
            if complete {
                team.idle.notify_one();
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

    pub(super) fn cancelled(&self, team: &Team, run: &Run) -> Option<CompletionCallback> {
        if !self.leads() {
            return None;
        }
        let mut state = lock(&self.state);
        state.deadlocks.forget(run.name);
        // Under the lock, under which `end_all` takes the runs that the others have not ended.
        if self.is_cut_off() {
            drop(state);
            return run.leave();
        }
        state.runs.ending.insert(run.name, self.shape.processes - 1);
        drop(state);
        self.send_down(&Control::End { run: run.name, live: Some(team.first_run()) });
        None
    }

    /// Another process has died.
    #[cfg(all(feature = "processes", target_os = "linux"))]
    pub(super) fn process_died(&self, died: ProcessDied) {
        let mut state = lock(&self.state);
        state.runs.died = Some(died);
        drop(state);
        if let Some(team) = self.team.get().and_then(Weak::upgrade) {
            self.end_all(&team, died);
        }
    }

    /// Another process has died: ends all runs here, without the other processes.
    #[cfg(feature = "processes")]
    pub(super) fn end_all(&self, team: &Team, died: ProcessDied) {
        let mut state = lock(&self.state);
        // Release: pairs with the Acquire in `is_cut_off`.
        if self.cut_off.swap(true, Ordering::Release) {
            return;
        }
        let ending = std::mem::take(&mut state.runs.ending);
        let runs: Vec<_> = state.runs.live.values().cloned().collect();
        drop(state);
        team.process_died(died);
        for run in runs {
            // At the leader, the count of a run that is cancelled, until it has ended elsewhere. At another process, the
            // count with which the run began here, unless the leader has ended the run.
            if self.leads() == ending.contains_key(&run.name)
                && let Some(callback) = run.leave()
            {
                quietly(callback);
            }
        }
    }

    /// At the leader: another process has joined a run.
    pub(super) fn joined_elsewhere(&self, team: &Team, from: usize, name: u32) {
        if !lock(&self.state).runs.live.contains_key(&name) {
            self.end_unknown(team, from, name);
        }
    }

    /// At the leader: another process has a run that has ended, or that a forged message has begun there.
    pub(super) fn end_unknown(&self, team: &Team, from: usize, name: u32) {
        if self.leads() && name != 0 && team.refuse_run(name) {
            self.send(from, &Control::End { run: name, live: None });
        }
    }

    /// The team ends. At another process than the leader, which has ended before: ends the runs that forged messages have
    /// begun.
    pub(super) fn close(&self, team: &Team) {
        // Release: pairs with the Acquire in `is_cut_off`.
        if self.leads() || self.cut_off.swap(true, Ordering::Release) {
            return;
        }
        let mut state = lock(&self.state);
        let ending = std::mem::take(&mut state.runs.ending);
        let left: Vec<_> = state.runs.live.values().cloned().collect();
        drop(state);
        for run in left {
            team.cancel(&run);
            // The count with which the run began here, unless the leader has ended the run.
            if !ending.contains_key(&run.name)
                && let Some(callback) = run.leave()
            {
                quietly(callback);
            }
        }
    }

    /// At another process than the leader: the leader has ended a run.
    pub(super) fn end_run(&self, team: &Team, name: u32, live: Option<u32>) {
        if self.leads() {
            return;
        }
        self.send_down(&Control::End { run: name, live });
        let mut state = lock(&self.state);
        let runs = &mut state.runs;
        if let Some(live) = live {
            runs.all_ended_before(live);
        }
        if name == 0 || runs.ending.contains_key(&name) {
            return;
        }
        let Some(run) = runs.live.get(&name).cloned() else {
            runs.note_ended(name);
            drop(state);
            return self.send(0, &Control::Ended { run: name });
        };
        runs.ending.insert(name, 0);
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
        state.runs.live.remove(&run.name);
        state.runs.ending.remove(&run.name);
        state.runs.note_ended(run.name);
        drop(state);
        if let Some(team) = self.team.get().and_then(Weak::upgrade) {
            team.end_run(run);
        }
        self.send(0, &Control::Ended { run: run.name });
    }

    /// At the leader: nothing of a run is left in another process.
    pub(super) fn ended_elsewhere(&self, name: u32) {
        let mut state = lock(&self.state);
        let runs = &mut state.runs;
        // Not above 0 in a process that does not lead.
        let Some(missing) = runs.ending.get_mut(&name).filter(|missing| **missing > 0) else { return };
        *missing -= 1;
        if *missing > 0 {
            return;
        }
        runs.ending.remove(&name);
        let run = runs.live.get(&name).cloned();
        drop(state);
        // The count that `Team::cancel` has added.
        if let Some(callback) = run.and_then(|run| run.leave()) {
            quietly(callback);
        }
    }

    pub(super) fn ended(&self, team: &Team, run: &Run) {
        let mut state = lock(&self.state);
        if self.leads() {
            state.runs.live.remove(&run.name);
        }
        state.groups.end_run(team, run.number);
    }
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

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_process_knows_which_runs_have_ended_also_when_names_wrap_around() {
        let mut runs = Runs::new();
        for quarter in 1..4 {
            runs.all_ended_before(quarter << 30);
        }
        runs.all_ended_before(u32::MAX - 1);
        runs.note_ended(u32::MAX);
        runs.note_ended(2);
        let known = |runs: &Runs| [u32::MAX - 2, u32::MAX - 1, u32::MAX, 1, 2, 3].map(|name| runs.has_ended(name));
        assert_eq!(known(&runs), [true, false, true, false, true, false]);
        // Too many: the latest is forgotten.
        for name in (1 << 20..).take(REMEMBERED) {
            runs.note_ended(name);
        }
        assert_eq!(runs.ended.len(), REMEMBERED);
        assert_eq!(known(&runs), [true, false, true, false, true, false]);
        runs.all_ended_before(u32::MAX - 2);
        assert_eq!(runs.ended_before, u32::MAX - 1, "it told of more before");
        runs.all_ended_before(3);
        assert!(known(&runs)[..5].iter().all(|ended| *ended) && !runs.has_ended(3));
        assert!(runs.ended.contains(&(1 << 20)) && !runs.ended.contains(&2));
    }
}
