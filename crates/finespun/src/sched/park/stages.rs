//! The stages of all workers of a pool, as plain data: the transitions of
//! `park.rs` without its locks and waits. `Idle` keeps it under its mutex.

use super::{SCOUT_TIMEOUT_MAX, SCOUT_TIMEOUT_MIN};
use std::time::Duration;

/// The stage of one worker; `park.rs` draws the transitions.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// Runs, searches, or is about to: not on the list.
    Awake,
    /// On the list, but still looking (or asking, as the scout).
    Announced,
    /// On the list, and has found nothing since it announced.
    Parked,
}

/// Who is idle, who is the scout, and whether the pool shuts down.
///
/// What always holds: the scout is on the list; when all are parked there is no
/// scout; when some are parked and some are not, there is a scout, or somebody
/// who left the list has yet to appoint one.
#[derive(Debug)]
pub(super) struct Stages {
    stages: Box<[Stage]>,
    /// The workers that are announced or parked, in the order they announced.
    list: Vec<usize>,
    /// How many of them are parked.
    parked: usize,
    scout: Option<usize>,
    /// The timeout of the scout's next wait.
    timeout: Duration,
    shut_down: bool,
}

impl Stages {
    /// All of `workers` awake.
    pub(super) fn new(workers: usize) -> Self {
        Self {
            stages: vec![Stage::Awake; workers].into(),
            list: Vec::with_capacity(workers),
            parked: 0,
            scout: None,
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

    /// (2) announced -> parked; whether all are parked now.
    pub(super) fn commit(&mut self, worker: usize) -> bool {
        debug_assert_eq!(self.stages[worker], Stage::Announced);
        self.stages[worker] = Stage::Parked;
        self.parked += 1;
        if self.all_parked() {
            self.scout = None;
            return true;
        }
        self.scout.get_or_insert(worker);
        false
    }

    /// (3, 4) announced or parked -> awake; false if it was awake.
    ///
    /// It then calls [`Stages::appoint_scout`] itself, when it is up.
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
        // Somebody has found work: more of it may be asked for soon.
        self.timeout = SCOUT_TIMEOUT_MIN;
        true
    }

    /// (5) parked -> announced, if `worker` is still the scout; whether it is.
    pub(super) fn time_out(&mut self, worker: usize) -> bool {
        if self.scout != Some(worker) || self.stages[worker] != Stage::Parked {
            return false;
        }
        self.stages[worker] = Stage::Announced;
        self.parked -= 1;
        self.timeout = (self.timeout * 2).clamp(SCOUT_TIMEOUT_MIN, SCOUT_TIMEOUT_MAX);
        true
    }

    /// Makes a parked worker the scout if there is none, and says which: it must
    /// be rung. Called by a worker that has left the list.
    pub(super) fn appoint_scout(&mut self) -> Option<usize> {
        if self.scout.is_some() || self.all_parked() || self.shut_down {
            return None;
        }
        self.scout = self.youngest(|stage, _| stage == Stage::Parked);
        if self.scout.is_some() {
            // It is up anyway, and somebody has just begun to work: it asks at once.
            self.timeout = Duration::ZERO;
        }
        self.scout
    }

    /// Whom to notify: the worker that announced last, since its caches are
    /// warmest, and the scout only if there is nobody else, since waking it costs
    /// a second wake-up for its successor.
    pub(super) fn choose(&self) -> Option<usize> {
        self.youngest(|_, worker| self.scout != Some(worker)).or(self.scout)
    }

    /// How long `worker` may wait, if it is the scout.
    pub(super) fn timeout_of(&self, worker: usize) -> Option<Duration> {
        (self.scout == Some(worker)).then_some(self.timeout)
    }

    /// Whether `worker` is not on the list.
    pub(super) fn is_awake(&self, worker: usize) -> bool {
        self.stages[worker] == Stage::Awake
    }

    /// Whether no worker is awake or announced.
    pub(super) fn all_parked(&self) -> bool {
        self.parked == self.stages.len()
    }

    /// How many workers are on the list.
    pub(super) fn sleepers(&self) -> usize {
        self.list.len()
    }

    /// Nobody parks from now on.
    pub(super) fn shut_down(&mut self) {
        self.shut_down = true;
    }

    /// Whether [`Stages::shut_down`] was called.
    pub(super) fn is_shut_down(&self) -> bool {
        self.shut_down
    }

    fn youngest(&self, fits: impl Fn(Stage, usize) -> bool) -> Option<usize> {
        let fits = |&&worker: &&usize| fits(self.stages[worker], worker);
        self.list.iter().rev().find(fits).copied()
    }

    /// Asserts what always holds. `leaving` tells whether somebody has left the
    /// list and not appointed a scout yet.
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
