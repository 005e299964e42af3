//! Asking running workers of other processes for frames: by the beginnings of their states, which near processes see.

use std::ops::Range;

use crate::fabric::placed::{Placed, Placement};
use crate::frame::front::StatePlace;

/// Of how many repeated requests one goes to another worker instead.
const PATIENCE: u64 = 4;
/// Of how many requests one goes to any worker; the others go to a near one, if one runs, which answers sooner.
const FAR: u64 = 4;

/// The places of the states of all workers.
pub(super) struct Places {
    /// Of the workers whose processes share memory with this one, from `first` on.
    near: Placed<StatePlace>,
    first: usize,
    /// This process's own copies for all others, by their numbers.
    far: Placed<StatePlace>,
    workers: usize,
}

/// Returns the number of bytes that [`Places::new`] places, for this number of workers whose processes share memory.
pub(super) fn placed_bytes(near: usize) -> usize {
    near * size_of::<StatePlace>()
}

impl Places {
    /// Places the states of `workers` workers, of which the processes of `near` share memory with this one.
    pub(super) fn new(workers: usize, near: Range<usize>, placement: &mut Placement) -> Places {
        let far = if near.len() < workers { workers } else { 0 };
        // SAFETY: zeros are a place without a state. The addresses in a state are used by its own process only; others
        // use its front, which contains none.
        let shared = unsafe { placement.place(near.len(), |_| StatePlace::new()) };
        // SAFETY: not in a segment.
        let far = unsafe { Placement::private().place(far, |_| StatePlace::new()) };
        Places { near: shared, first: near.start, far, workers }
    }

    pub(super) fn of(&self, worker: usize) -> &StatePlace {
        let near = worker.checked_sub(self.first).and_then(|at| self.near.get(at));
        near.unwrap_or_else(|| &self.far[worker])
    }

    /// Asks a running worker that is not among `own` to give frames to `worker`. See
    /// [`Peers::beg`](crate::sched::peers::Peers::beg).
    pub(super) fn beg(&self, worker: usize, own: Range<usize>, asked: Option<u32>, random: u64) -> Option<u32> {
        let worker = worker as u32;
        // Mostly the same again: an answer may take some time. But it may never come.
        if let Some(asked) = asked {
            let front = self.of(asked as usize).front();
            if !random.is_multiple_of(PATIENCE) && front.ask_again(worker) {
                return Some(asked);
            }
            let _answered = !front.take_back(worker);
        }
        // Each with the same probability among the near ones or among all: numbers of workers without the own ones.
        let begin = (random / PATIENCE) as usize;
        let from = |first: usize, others: usize| (0..others).map(move |at| first + (begin + at) % others);
        // Not if a request has been taken back: it went to a near one, probably.
        let near_first = asked.is_none() && !(random >> 32).is_multiple_of(FAR);
        let near = from(self.first, if near_first { self.near.len() - own.len() } else { 0 });
        let victims = near.chain(from(0, self.workers - own.len()));
        let mut victims = victims.map(|other| if other < own.start { other } else { other + own.len() });
        victims.find(|&victim| self.of(victim).front().ask(worker)).map(|victim| victim as u32)
    }
}
