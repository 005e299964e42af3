//! Asking running workers of other processes for frames: by the beginnings of their states, which all processes see.

use std::ops::Range;

use crate::fabric::placed::{Placed, Placement};
use crate::frame::front::StatePlace;

/// Of how many repeated requests one goes to another worker instead.
const PATIENCE: u64 = 4;

/// The places of the states of all workers.
pub(super) struct Places(Placed<StatePlace>);

/// Returns the number of bytes that [`Places::new`] places.
pub(super) fn placed_bytes(workers: usize) -> usize {
    workers * size_of::<StatePlace>()
}

impl Places {
    pub(super) fn new(workers: usize, placement: &mut Placement) -> Places {
        // SAFETY: zeros are a place without a state. The addresses in a state are used by its own process only; others
        // use its front, which contains none.
        Places(unsafe { placement.place(workers, |_| StatePlace::new()) })
    }

    pub(super) fn of(&self, worker: usize) -> &StatePlace {
        &self.0[worker]
    }

    /// Asks a running worker that is not among `own` to give frames to `worker`. See
    /// [`Peers::beg`](crate::sched::peers::Peers::beg).
    pub(super) fn beg(&self, worker: usize, own: Range<usize>, asked: Option<u32>, random: u64) -> Option<u32> {
        let worker = worker as u32;
        // Mostly the same again: an answer may take some time. But it may never come.
        if let Some(asked) = asked {
            let front = self.0[asked as usize].front();
            if !random.is_multiple_of(PATIENCE) && front.ask_again(worker) {
                return Some(asked);
            }
            let _answered = !front.take_back(worker);
        }
        let others = (self.0.len() - own.len()) as u64;
        let victim = |at: u64| match (random / PATIENCE % others + at) % others {
            before if before < own.start as u64 => before as usize,
            behind => behind as usize + own.len(),
        };
        (0..others).map(victim).find(|&victim| self.0[victim].front().ask(worker)).map(|victim| victim as u32)
    }
}
