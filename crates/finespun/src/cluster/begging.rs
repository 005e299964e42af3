//! Where a worker of one process asks a running worker of another for frames: in the beginning of that worker's state,
//! which all processes see.
//!
//! ```text
//!              1 a worker of another process asks            2 the worker answers
//!     +------+ -----------------------------------> +-----+ ----------------------> free
//!     | free |                                      | one |
//!     +------+ <----------------------------------- +-----+
//!              3 the other has found work elsewhere
//! ```
//!
//! The word `beggar` of a state names the worker that asks; all transitions are single read-modify-writes, so a request
//! is either answered or taken back. After (1) the guard is requested, whose protocol orders the word before: a worker
//! that takes the request finds the beggar, unless it has been taken back. The answer is frames, in messages
//! (`sched::worker::begging`), or nothing: the beggar asks again from time to time.

use std::ops::Range;

use crate::atomics::Ordering;
use crate::fabric::placed::{Placed, Placement};
use crate::frame::context::{Front, StatePlace};
use crate::frame::guard::Flags;

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

    /// Asks a running worker that is not among `own` to give frames to `worker`. See [`Peers::beg`].
    ///
    /// [`Peers::beg`]: crate::sched::peers::Peers::beg
    pub(super) fn beg(&self, worker: usize, own: Range<usize>, asked: Option<u32>, random: u64) -> Option<u32> {
        let name = worker as u32 + 1;
        if let Some(asked) = asked {
            let front = self.0[asked as usize].front();
            // Relaxed: only this worker writes its name.
            if front.beggar.load(Ordering::Relaxed) == name {
                if is_running(front) {
                    front.guard.request(Flags::BEG);
                    return Some(asked);
                }
                self.take_back(worker, asked);
            }
        }
        let others = (self.0.len() - own.len()) as u64;
        let victim = |at: u64| match (random % others + at) % others {
            before if before < own.start as u64 => before as usize,
            behind => behind as usize + own.len(),
        };
        (0..others).map(victim).find(|&victim| ask(self.0[victim].front(), name)).map(|victim| victim as u32)
    }

    /// Takes back the request of `worker`.
    pub(super) fn take_back(&self, worker: usize, asked: u32) {
        // (3) Relaxed, both: the word protects nothing.
        let beggar = &self.0[asked as usize].front().beggar;
        let _ = beggar.compare_exchange(worker as u32 + 1, 0, Ordering::Relaxed, Ordering::Relaxed);
    }
}

/// Returns whether the worker runs a frame or handles messages.
fn is_running(front: &Front) -> bool {
    // Acquire: pairs with the Release of the worker, so that its state is there.
    front.running.load(Ordering::Acquire)
}

/// (1) Asks a worker, if it runs and nobody else has asked it.
fn ask(front: &Front, name: u32) -> bool {
    let free = is_running(front) && front.beggar.load(Ordering::Relaxed) == 0;
    // Relaxed, both: `request` publishes the word.
    let asked = free && front.beggar.compare_exchange(0, name, Ordering::Relaxed, Ordering::Relaxed).is_ok();
    if asked {
        front.guard.request(Flags::BEG);
    }
    asked
}
