//! The stages of all workers of a team, as plain data: the transitions of `park.rs` without its locks and waits. `Idle`
//! protects it with its mutex.

use super::{SCOUT_TIMEOUT_MAX, SCOUT_TIMEOUT_MIN};
use std::time::Duration;

/// The stage of one worker; `park.rs` shows the transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Runs, searches for work, or is about to: not on the list.
    Awake,
    /// On the list, but still looking for work (or asking for it, as the scout).
    Announced,
    /// On the list, and has found no work since it announced.
    Parked,
}

/// Where the thread of a worker is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Thread {
    /// Uses the worker.
    Works,
    /// Waits on its bell, or is about to, and does not use the worker until it has locked the stages again.
    Waits,
    /// Waits, while a visitor uses the worker.
    Lent,
}

/// The idle workers, the scout, and the shutdown flag.
///
/// Invariants: the scout is on the list. When only some workers are parked, one worker is the scout, or a worker that left
/// the list has yet to appoint one, or a visitor has parked its worker when no run was left. When all workers are parked, no
/// worker is the scout, unless a visitor has parked its worker last: then the scout keeps its timed wait until the timeout, so
/// that the next visitor need not wake it.
#[derive(Debug)]
pub(super) struct Stages {
    stages: Box<[Stage]>,
    threads: Box<[Thread]>,
    /// The workers that are announced or parked, in the order in which they announced.
    list: Vec<usize>,
    /// Number of parked workers in `list`.
    parked: usize,
    scout: Option<usize>,
    /// The worker that parked last: while all are parked, it looks out for work in other processes.
    lookout: Option<usize>,
    /// The timeout of the next wait of the scout or lookout.
    timeout: Duration,
    shut_down: bool,
}

impl Stages {
    /// Creates the stages of `workers` workers, all awake.
    pub(super) fn new(workers: usize) -> Self {
        Self {
            stages: vec![Stage::Awake; workers].into(),
            threads: vec![Thread::Works; workers].into(),
            list: Vec::with_capacity(workers),
            parked: 0,
            scout: None,
            lookout: None,
            timeout: SCOUT_TIMEOUT_MIN,
            shut_down: false,
        }
    }

    /// (1) awake -> announced.
    pub(super) fn announce(&mut self, worker: usize) {
        debug_assert!(self.is_awake(worker), "worker {worker} idles twice");
        self.stages[worker] = Stage::Announced;
        self.list.push(worker);
    }

    /// (2) announced -> parked. Returns whether all workers are parked now.
    pub(super) fn commit(&mut self, worker: usize) -> bool {
        debug_assert_eq!(self.stages[worker], Stage::Announced);
        self.stages[worker] = Stage::Parked;
        self.parked += 1;
        if self.all_parked() {
            self.scout = None;
            self.lookout = Some(worker);
            return true;
        }
        self.scout.get_or_insert(worker);
        false
    }

    /// (3, 4) announced or parked -> awake. Returns false if the worker was already awake.
    ///
    /// The worker calls [`Stages::appoint_scout`] itself after it has woken.
    pub(super) fn rouse(&mut self, worker: usize) -> bool {
        match self.stages[worker] {
            Stage::Awake => return false,
            Stage::Announced => {}
            Stage::Parked => self.parked -= 1,
        }
        self.stages[worker] = Stage::Awake;
        self.list.retain(|&other| other != worker);
        if self.scout == Some(worker) {
            self.scout = None;
        }
        // A worker has found work: it may soon have more to share.
        self.timeout = SCOUT_TIMEOUT_MIN;
        true
    }

    /// (5) parked -> announced, if `worker` is still the scout, and not all workers are parked. Returns whether it is.
    pub(super) fn time_out(&mut self, worker: usize) -> bool {
        if self.scout != Some(worker) || self.stages[worker] != Stage::Parked {
            return false;
        }
        if self.all_parked() {
            self.scout = None;
            return false;
        }
        self.stages[worker] = Stage::Announced;
        self.parked -= 1;
        self.lengthen();
        true
    }

    /// Returns whether all workers are parked and `worker` is the lookout.
    pub(super) fn is_lookout(&self, worker: usize) -> bool {
        self.all_parked() && self.lookout == Some(worker)
    }

    /// Returns the timeout of the lookout's next wait.
    pub(super) fn lookout_timeout(&self) -> Duration {
        self.timeout.max(SCOUT_TIMEOUT_MIN)
    }

    /// Doubles the timeout.
    pub(super) fn lengthen(&mut self) {
        self.timeout = (self.timeout * 2).clamp(SCOUT_TIMEOUT_MIN, SCOUT_TIMEOUT_MAX);
    }

    /// Returns whether a worker is parked, but not all are, and none is the scout.
    pub(super) fn lacks_scout(&self) -> bool {
        self.parked > 0 && self.scout.is_none() && !self.all_parked() && !self.shut_down
    }

    /// Makes a parked worker the scout if none is. Returns the new scout, which the caller must ring. Called by a
    /// worker that has left the list.
    pub(super) fn appoint_scout(&mut self) -> Option<usize> {
        if !self.lacks_scout() {
            return None;
        }
        self.scout = self.youngest(|stage, _| stage == Stage::Parked);
        if self.scout.is_some() {
            // A timeout of zero makes the new scout, which the ring wakes anyway, ask the caller for work at once.
            self.timeout = Duration::ZERO;
        }
        self.scout
    }

    /// Chooses the worker to notify: the worker that announced last, since its caches are warmest. Chooses the scout
    /// only if the list has no other worker, since waking the scout costs a second wake-up for its successor.
    pub(super) fn choose(&self) -> Option<usize> {
        self.youngest(|_, worker| self.scout != Some(worker)).or(self.scout)
    }

    /// Returns the timeout of the next wait of `worker` if it is the scout, else `None`.
    pub(super) fn timeout_of(&self, worker: usize) -> Option<Duration> {
        (self.scout == Some(worker)).then_some(self.timeout)
    }

    /// Notes that the worker's thread waits, and does not use the worker.
    pub(super) fn wait(&mut self, worker: usize) {
        if self.threads[worker] == Thread::Works {
            self.threads[worker] = Thread::Waits;
        }
    }

    /// Notes that the worker's thread uses the worker again. Returns false if a visitor uses it: the thread must wait on.
    pub(super) fn use_again(&mut self, worker: usize) -> bool {
        let may = self.threads[worker] != Thread::Lent;
        if may {
            self.threads[worker] = Thread::Works;
        }
        may
    }

    /// (6) parked -> awake, for a visitor. Returns the worker, one whose thread waits: one that is `near`, if possible, and
    /// rather not the scout, since another would have to be woken in its place.
    #[cfg(any(feature = "visits", test))]
    pub(super) fn lend(&mut self, near: impl Fn(usize) -> bool) -> Option<usize> {
        let lends = |stages: &Stages, worker: usize| {
            stages.stages[worker] == Stage::Parked && stages.threads[worker] == Thread::Waits
        };
        let list = || self.list.iter().rev().copied().filter(|&worker| lends(self, worker));
        let worker = list().find(|&worker| near(worker));
        let worker = worker.or_else(|| list().find(|&worker| self.scout != Some(worker))).or_else(|| list().next())?;
        self.threads[worker] = Thread::Lent;
        let timeout = self.timeout;
        self.rouse(worker);
        if self.scout.is_some() {
            // It waits already.
            self.timeout = timeout;
        }
        Some(worker)
    }

    /// (7) announced -> parked, by a visitor. The worker becomes the scout only if `runs`: there are other runs. Returns
    /// whether all workers are parked now.
    #[cfg(any(feature = "visits", test))]
    pub(super) fn commit_visited(&mut self, worker: usize, runs: bool) -> bool {
        debug_assert_eq!(self.stages[worker], Stage::Announced);
        debug_assert_eq!(self.threads[worker], Thread::Lent);
        self.stages[worker] = Stage::Parked;
        self.parked += 1;
        if self.all_parked() {
            self.lookout = Some(worker);
            return true;
        }
        if runs {
            self.scout.get_or_insert(worker);
        }
        false
    }

    /// Ends a visit. Returns whether the worker's thread must be woken: the worker is awake or the scout, or must end.
    #[cfg(any(feature = "visits", test))]
    pub(super) fn give_back(&mut self, worker: usize) -> bool {
        debug_assert_eq!(self.threads[worker], Thread::Lent);
        self.threads[worker] = Thread::Waits;
        self.is_awake(worker) || self.scout == Some(worker) || self.shut_down
    }

    /// Returns whether `worker` is not on the list.
    pub(super) fn is_awake(&self, worker: usize) -> bool {
        self.stages[worker] == Stage::Awake
    }

    /// Returns whether no worker is awake or announced.
    pub(super) fn all_parked(&self) -> bool {
        self.parked == self.stages.len()
    }

    /// Lets the scout, if it is parked, ask at once. Returns the scout, which the caller must ring.
    #[cfg(any(feature = "visits", test))]
    pub(super) fn hurry_scout(&mut self) -> Option<usize> {
        let scout = self.scout.filter(|&scout| self.stages[scout] == Stage::Parked)?;
        self.timeout = Duration::ZERO;
        Some(scout)
    }

    /// Returns the number of workers on the list.
    pub(super) fn sleepers(&self) -> usize {
        self.list.len()
    }

    /// Keeps every worker from parking from now on.
    pub(super) fn shut_down(&mut self) {
        self.shut_down = true;
    }

    /// Returns whether [`Stages::shut_down`] was called.
    pub(super) fn is_shut_down(&self) -> bool {
        self.shut_down
    }

    fn youngest(&self, fits: impl Fn(Stage, usize) -> bool) -> Option<usize> {
        let fits = |&&worker: &&usize| fits(self.stages[worker], worker);
        self.list.iter().rev().find(fits).copied()
    }

    /// Asserts the invariants. `leaving` says whether a worker has left the list and not appointed a scout yet.
    #[cfg(all(test, not(loom)))]
    pub(super) fn check(&self, leaving: bool) {
        let on_list = |stage: &&Stage| **stage != Stage::Awake;
        let parked = |stage: &&Stage| **stage == Stage::Parked;
        assert_eq!(self.list.len(), self.stages.iter().filter(on_list).count());
        assert_eq!(self.parked, self.stages.iter().filter(parked).count());
        match self.scout {
            Some(scout) => assert!(!self.is_awake(scout) && !self.all_parked(), "{self:?}"),
            None => assert!(self.parked == 0 || self.all_parked() || leaving, "{self:?}"),
        }
        for (stage, thread) in self.stages.iter().zip(&self.threads) {
            assert!(*thread != Thread::Waits || *stage != Stage::Announced, "{self:?}");
        }
    }
}
