//! Deadlocks and quiescence over several processes.
//!
//! The first process finds by waves of probes (`rest`) that the whole runtime rests. It tells all processes which runs
//! are quiescent, and each resumes its own waits. If runs are deadlocked, it tells all, each answers with a line for each
//! wait, and the first process cancels the run when it has all lines.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Instant;

use super::Cluster;
use super::control::{Control, Said, Why};
use super::rest::{Rest, Step};
use crate::atomics::{Ordering, lock_std as lock};
use crate::cancel::runs::Run;
use crate::sched::peers::Peers;
use crate::sched::team::Team;

/// What one process knows about rest.
pub(super) struct Deadlocks {
    rest: Rest,
    /// When the leader looks again.
    again: Option<Instant>,
    /// At the leader: the runs that are deadlocked, with their lines so far and the number of processes missing.
    stuck: HashMap<u32, (Vec<String>, usize)>,
    /// Deadlocked runs to be cancelled when all workers of this process are parked.
    to_report: Vec<u32>,
}

impl Deadlocks {
    pub(super) fn new(rank: usize, processes: usize) -> Deadlocks {
        let rest = Rest::new(rank, processes);
        Deadlocks { rest, again: None, stuck: HashMap::new(), to_report: Vec::new() }
    }

    /// At the leader: another process has answered with the lines of a deadlocked run. Returns whether all have.
    pub(super) fn answered(&mut self, name: u32, lines: Vec<String>) -> bool {
        let Some((all, missing @ 1..)) = self.stuck.get_mut(&name) else { return false };
        all.extend(lines);
        *missing -= 1;
        let complete = *missing == 0;
        if complete {
            self.to_report.push(name);
        }
        complete
    }

    /// A run is cancelled for another reason.
    pub(super) fn forget(&mut self, name: u32) {
        self.stuck.remove(&name);
    }
}

impl Cluster {
    pub(super) fn probed(&self, team: &Team, wave: u32) {
        let step = lock(&self.state).deadlocks.rest.probe(wave);
        self.perform(team, step);
        team.idle.notify_one();
    }

    pub(super) fn reported(&self, team: &Team, wave: u32, resting: Said) {
        let step = lock(&self.state).deadlocks.rest.report(wave, resting, Instant::now());
        self.perform(team, step);
        team.idle.notify_one();
    }

    pub(super) fn changed(&self, team: &Team) {
        lock(&self.state).deadlocks.rest.want();
        team.idle.notify_one();
    }

    /// At another process than the leader: these runs are quiescent.
    pub(super) fn quiescent(&self, team: &Team, runs: Vec<u32>) {
        self.send_down(&Control::Quiescent { runs: runs.clone() });
        self.resume_quiescent(team, &runs);
    }

    /// At another process than the leader: these runs are deadlocked.
    pub(super) fn stuck(&self, team: &Team, runs: Vec<u32>) {
        self.send_down(&Control::Stuck { runs: runs.clone() });
        let mut state = lock(&self.state);
        let (known, unknown): (Vec<_>, _) = runs.into_iter().partition(|run| state.runs.live.contains_key(run));
        state.deadlocks.to_report.extend(known);
        drop(state);
        for run in unknown {
            let why = Why { stuck: Some(Vec::new()), ..Why::default() };
            self.send(0, &Control::Cancel { run, why });
        }
        team.idle.notify_one();
    }

    /// Performs a step of the detection of rest. Returns whether it has made frames ready.
    fn perform(&self, team: &Team, step: Step) -> bool {
        let Step { sends, quiescent, stuck, again } = step;
        let mut state = lock(&self.state);
        // Before the other processes are asked.
        for name in stuck {
            state.deadlocks.stuck.insert(name, (Vec::new(), self.shape.processes - 1));
        }
        state.deadlocks.again = again.or(state.deadlocks.again);
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
        let run = |name: &u32| Some((state.runs.live.get(name).cloned()?, state.deadlocks.rest.listed(*name)));
        let runs: Vec<_> = names.iter().filter_map(run).collect();
        drop(state);
        team.resume_quiescent(&runs)
    }

    pub(super) fn all_parked(&self, team: &Team) -> bool {
        if self.is_cut_off() {
            return false;
        }
        let mut state = lock(&self.state);
        let now = Instant::now();
        if state.deadlocks.again.take_if(|again| *again <= now).is_some() {
            state.deadlocks.rest.want();
        }
        let to_report = std::mem::take(&mut state.deadlocks.to_report);
        if !to_report.is_empty() {
            let of = |name: &u32| {
                let lines = state.deadlocks.stuck.remove(name).map(|(lines, _)| lines).unwrap_or_default();
                state.runs.live.get(name).cloned().map(|run| (run, lines))
            };
            let runs: Vec<_> = to_report.iter().filter_map(of).collect();
            drop(state);
            self.report(team, runs);
            return true;
        }
        if self.leads() && state.runs.live.is_empty() && !state.deadlocks.rest.is_due() {
            return false;
        }
        drop(state);
        let mut with_runs = false;
        let step = loop {
            // Acquire: see `send` and `poll`. Received ones first, so that the sum never has more of those than were sent.
            let received = self.received.load(Ordering::Acquire);
            let Some(mut resting) = team.resting(with_runs) else { return false };
            resting.received += received;
            resting.sent += self.sent.load(Ordering::Acquire);
            let mut state = lock(&self.state);
            // Most workers that park do not need what takes a look at each frame.
            if with_runs || !state.deadlocks.rest.needs_runs(&resting) {
                break state.deadlocks.rest.quiet(resting, now);
            }
            with_runs = true;
        };
        self.perform(team, step)
    }

    /// Sends the lines of deadlocked runs to the leader. At the leader, which has `lines` of the others: reports the runs.
    fn report(&self, team: &Team, runs: Vec<(Arc<Run>, Vec<String>)>) {
        for (run, mut lines) in runs {
            let Some(own) = team.lines_of(&run) else {
                // Another thread has woken a worker, which comes here when it parks again.
                let deadlocks = &mut lock(&self.state).deadlocks;
                deadlocks.to_report.push(run.name);
                deadlocks.stuck.insert(run.name, (lines, 0));
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
    }
}
