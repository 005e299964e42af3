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

/// The idle workers, the scout, and the shutdown flag.
///
/// Invariants: the scout is on the list. When all workers are parked, no worker is the scout. When only some workers
/// are parked, one worker is the scout, or a worker that left the list has yet to appoint one.
#[derive(Debug)]
pub(super) struct Stages {
    stages: Box<[Stage]>,
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

    /// (5) parked -> announced, if `worker` is still the scout. Returns whether it is.
    pub(super) fn time_out(&mut self, worker: usize) -> bool {
        if self.scout != Some(worker) || self.stages[worker] != Stage::Parked {
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

    /// Makes a parked worker the scout if none is. Returns the new scout, which the caller must ring. Called by a
    /// worker that has left the list.
    pub(super) fn appoint_scout(&mut self) -> Option<usize> {
        if self.scout.is_some() || self.all_parked() || self.shut_down {
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

    /// Returns whether `worker` is not on the list.
    pub(super) fn is_awake(&self, worker: usize) -> bool {
        self.stages[worker] == Stage::Awake
    }

    /// Returns whether no worker is awake or announced.
    pub(super) fn all_parked(&self) -> bool {
        self.parked == self.stages.len()
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
    }
}
