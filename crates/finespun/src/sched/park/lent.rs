//! Lending a parked worker to a visitor: see [`super`].

use std::sync::atomic::Ordering::Relaxed;

use super::{Idle, Parking, Prepared, core};

/// A worker that is awake and used by a visitor, while its thread waits. Dropping it gives the worker back, with work if the
/// visitor has not parked it.
#[must_use = "dropping it gives the worker back"]
#[derive(Debug)]
pub(crate) struct Lent<'a> {
    idle: &'a Idle,
    worker: usize,
}

/// What is left when a visitor has parked its worker.
#[must_use]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Left {
    /// Work is visible, or the worker was notified, or the team shuts down: the worker is awake.
    Work,
    /// The worker is parked.
    Nothing,
    /// All workers are parked now.
    AllParked,
}

impl Idle {
    /// Lends a parked worker whose thread waits (6). Makes another parked worker the scout if none is, as a worker that wakes
    /// does. With `shares`, an earlier scout asks at once, too.
    ///
    /// Prefers a worker whose thread has run last on the core of this thread: the system may wake another worker's thread
    /// where it has run last, and it should not share this core then.
    pub(crate) fn lend(&self, shares: bool) -> Option<Lent<'_>> {
        let mut stages = self.lock();
        let core = core();
        // Relaxed: a hint.
        let worker = stages.lend(|worker| self.spots[worker].core.load(Relaxed) == core)?;
        self.publish(&stages, worker, false);
        let hurried = if shares { stages.hurry_scout() } else { None };
        let appointed = hurried.or_else(|| stages.appoint_scout());
        drop(stages);
        if let Some(scout) = appointed {
            self.spots[scout].bell.ring();
        }
        Some(Lent { idle: self, worker })
    }
}

impl Lent<'_> {
    /// Returns the worker's number.
    pub(crate) fn worker(&self) -> usize {
        self.worker
    }

    /// Announces that the worker goes idle, looks for work once more with `work_visible`, and commits if it finds none
    /// (1, 2), like [`Idle::prepare_park`]. `runs` returns whether there is a run for which workers may need a scout; it is
    /// called under the mutex, so that a run which begins later finds the worker parked.
    pub(crate) fn park(&self, runs: impl FnOnce() -> bool, work_visible: impl FnOnce() -> bool) -> Left {
        let mut stages = self.idle.lock();
        stages.announce(self.worker);
        self.idle.publish(&stages, self.worker, true);
        drop(stages);
        // Dropped with `Prepared::Work` and in a panic, which withdraws the worker; forgotten when it is parked.
        let parking = Parking { idle: self.idle, worker: self.worker };
        let left = match parking.commit_by(work_visible, |stages, worker| stages.commit_visited(worker, runs())) {
            Prepared::Work | Prepared::Shutdown => return Left::Work,
            Prepared::Park(parking) => (parking, Left::Nothing),
            Prepared::Last(parking) => (parking, Left::AllParked),
        };
        std::mem::forget(left.0);
        left.1
    }

    /// Withdraws the parked worker (4), unless a notification already has: there is work for its thread.
    pub(crate) fn withdraw(&self) {
        drop(Parking { idle: self.idle, worker: self.worker });
    }
}

impl Drop for Lent<'_> {
    fn drop(&mut self) {
        let wakes = self.idle.lock().give_back(self.worker);
        if wakes {
            self.idle.spots[self.worker].bell.ring();
        }
    }
}
