//! The runs of a team: they begin, end and are cancelled here.

use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasherDefault, Hasher};
use std::sync::Arc;

use crate::atomics::{Ordering, fence, lock_std as lock};
use crate::cancel::groups::Group;
#[cfg(feature = "processes")]
use crate::cancel::runs::ProcessDied;
use crate::cancel::runs::{Cause, Run};
use crate::frame::budget::FrameMemory;
use crate::frame::context::{Cx, try_cx};
use crate::frame::number::{GROUP, RUNS, same_team};
use crate::frame::quietly;
use crate::wait::foreign::is_own_thread;

use super::super::deadlock;
use super::Team;

/// The runs that have begun and have not been removed.
#[derive(Default)]
pub(super) struct Runs {
    by_number: HashMap<u32, Arc<Run>, BuildHasherDefault<OfNumber>>,
    next: u32,
    /// Number of runs begun, and of names left out.
    begun: u64,
    /// Names that no run gets: see [`Team::refuse_run`].
    refused: BTreeSet<u32>,
    /// Why no run can end any more, if a node of a simulated machine or another process has died.
    given_up: Option<Cause>,
}

/// A hash of a run's number: numbers are given in order, so any hash spreads them.
#[derive(Default)]
struct OfNumber(u64);

impl Hasher for OfNumber {
    fn write(&mut self, _: &[u8]) {
        unreachable!("a run's number is a `u32`")
    }

    fn write_u32(&mut self, number: u32) {
        // Fibonacci hashing: the table uses the highest bits, and the lowest.
        self.0 = u64::from(number).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        self.0 ^= self.0 >> 32;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

/// The most names that are refused. Only forged messages make any.
#[cfg(feature = "objects")]
const REFUSED: usize = 1 << 16;

impl Runs {
    /// Returns a name for a run. Names are not used again before 2^32 runs have begun.
    fn next_name(&mut self) -> u32 {
        loop {
            self.begun += 1;
            let name = self.begun as u32;
            // Names are used again: a live run may have this one.
            let is_live = || self.begun > u64::from(u32::MAX) && self.by_number.values().any(|run| run.name == name);
            // Zero names no run.
            if name != 0 && !is_live() && !self.refused.remove(&name) {
                return name;
            }
        }
    }

    /// See [`Team::refuse_run`]. A name that does not belong to a run here is that of an ended run, or a forged message has
    /// named a run that has not begun.
    #[cfg(feature = "objects")]
    fn refuse(&mut self, name: u32) -> bool {
        if self.by_number.values().any(|run| run.name == name) {
            return false;
        }
        // Names wrap around.
        let has_begun = (name.wrapping_sub(self.begun as u32) as i32) <= 0;
        if has_begun || self.refused.contains(&name) {
            return true;
        }
        self.refused.len() < REFUSED && self.refused.insert(name)
    }
}

impl Team {
    /// Keeps this name from runs to come: another process is told that the run has ended. Returns false if it must not be told,
    /// since the run is here, or too many names are refused.
    #[cfg(feature = "objects")]
    pub(crate) fn refuse_run(&self, name: u32) -> bool {
        lock(&self.runs).refuse(name)
    }

    /// Begins a run. The caller then queues the root by [`inject_root`](Team::inject_root). It [enters](Team::enter) before,
    /// so that both happen at the same moment of a simulated machine.
    pub(crate) fn begin_run(&self) -> Arc<Run> {
        let run = self.begin_named(None);
        if let Some(peers) = &self.peers {
            peers.begun(self, &run);
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
        let name = match name {
            Some(name) => {
                runs.begun += 1;
                name
            }
            None => runs.next_name(),
        };
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
        self.bell.end();
        if let Some(peers) = &self.peers {
            peers.ended(self, run);
        }
        self.groups.end_run(run.number);
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

    /// Returns whether runs other than `run` have begun and have not been removed.
    #[cfg(feature = "visits")]
    pub(in super::super) fn has_other_runs(&self, run: &Run) -> bool {
        let runs = lock(&self.runs);
        // The table may have room for many more.
        runs.by_number.len() > usize::from(runs.by_number.contains_key(&run.number))
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
    pub(in super::super) fn cancel_for(&self, run: &Run, cause: Cause) -> bool {
        self.cancel_with(run, || run.mark_given_up(cause))
    }

    /// Cancels a run that `mark` marks. Returns whether it was not cancelled before.
    pub(in super::super) fn cancel_with(&self, run: &Run, mark: impl FnOnce() -> bool) -> bool {
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

    /// Returns the name of the first run that has not been removed: all before have ended. If there is none, the name of the
    /// next run, or a name before. Called in the process in which runs begin.
    #[cfg(feature = "objects")]
    pub(crate) fn first_run(&self) -> u32 {
        let runs = lock(&self.runs);
        let next = (runs.begun as u32).wrapping_add(1);
        // Names wrap around.
        runs.by_number.values().map(|run| run.name).max_by_key(|name| next.wrapping_sub(*name)).unwrap_or(next)
    }

    /// For tests: lets the names of the next runs follow this one.
    #[cfg(feature = "objects")]
    pub(crate) fn name_runs_after(&self, name: u32) {
        lock(&self.runs).begun = u64::from(name);
    }

    /// Returns the runs under way.
    pub(crate) fn runs_under_way(&self) -> Vec<Arc<Run>> {
        lock(&self.runs).by_number.values().filter(|run| run.under_way()).cloned().collect()
    }

    /// Returns the runs that have begun and have not ended.
    pub(in super::super) fn live_runs(&self) -> Vec<Arc<Run>> {
        lock(&self.runs).by_number.values().filter(|run| run.is_live()).cloned().collect()
    }

    /// Lets every later run end at once, for this cause. Returns the runs so far that have not ended.
    #[cfg(any(feature = "simulation", feature = "processes"))]
    pub(in super::super) fn give_up(&self, cause: Cause) -> Vec<Arc<Run>> {
        let mut runs = lock(&self.runs);
        runs.given_up = Some(cause);
        // A run that has ended is there until the thread that has begun it removes it, at no definite virtual time.
        runs.by_number.values().filter(|run| run.is_live()).cloned().collect()
    }

    /// Returns the number of runs begun.
    pub(in super::super) fn runs_begun(&self) -> u64 {
        lock(&self.runs).begun
    }
}

#[cfg(all(test, not(loom), feature = "objects"))]
mod tests {
    use super::*;

    #[test]
    fn no_run_gets_a_refused_name() {
        let mut runs = Runs::default();
        assert!([2, 3, 7].iter().all(|&name| runs.refuse(name)));
        assert_eq!([1, 4, 5, 6, 8], std::array::from_fn(|_| runs.next_name()));
        assert!(runs.refused.is_empty());
        // An ended run's name needs no room.
        assert!(runs.refuse(8) && runs.refused.is_empty());
        // The names wrap around.
        runs.begun = u64::from(u32::MAX) - 1;
        assert!(runs.refuse(u32::MAX) && runs.refuse(2));
        assert_eq!([1, 3, 4], std::array::from_fn(|_| runs.next_name()));
    }

    #[test]
    fn no_process_is_told_of_more_names_than_are_refused() {
        let mut runs = Runs::default();
        let room = REFUSED as u32;
        assert!((1..=room).all(|name| runs.refuse(name)));
        assert!(!runs.refuse(room + 1));
        assert!(runs.refuse(room), "it is refused");
        assert_eq!(runs.next_name(), room + 1);
    }
}
