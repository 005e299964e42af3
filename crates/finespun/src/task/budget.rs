//! How much memory frames may take, and what happens when they take more.
//!
//! Frames are counted where their memory is got, which is off the path of a call: a pool counts its pages, of 64 KiB, and
//! each frame that is too large for a pool counts itself. A pool keeps its pages when their frames have been freed, for
//! frames of the same size. So before memory is refused, pages without a live frame are *reclaimed*: they go to a list of
//! the process, from where any pool takes them for frames of any size.
//!
//! ```text
//!            7/8 of the limit                    the limit
//!   ROOM ----------------------> TIGHT ------------------------> OVER
//!    ^   (1) pools reclaim pages   |   (2) a run is ended, with     |
//!    |       when asked            |       an error that says why   |
//!    +-----------------------------+--------------------------------+
//!                (3) pages are reclaimed, large frames are freed
//! ```
//!
//! (1) Each worker reclaims its own pool's pages in a sweep, which the team is asked for whenever another 1/32 of the limit
//! has been taken above 7/8. (2) Before it comes to that, the worker that found too little waits until all have answered,
//! but for [`PATIENCE`] at most, since one of them may compute without a call. The run is the one that has asked for most of the last [`RECENT`] pages: the asking run,
//! unless that has asked once while another one runs away. It is cancelled as a deadlocked one is, so its destructors run.
//! An allocation does not fail: what a cancelled run needs until it has ended comes on top of the limit, and so does what
//! others need meanwhile. When the run has ended, (1) is asked for once more.
//!
//! By default all runtimes of the process share one limit: half of the memory that the process may use. The other half is
//! for the program's own data, the stacks, and what is needed on top. A runtime with a limit of its own is measured by
//! what its own frames take: the pages that its pools have got since it was built.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use crate::atomics::lock_std as lock;

mod available;

/// How many of the last pages say which run has grown.
const RECENT: usize = 64;
/// How long the end of a run is put off for workers that have been asked to reclaim their pages.
const PATIENCE: Duration = Duration::from_millis(100);

/// Bytes of the pages and large frames of all pools.
static PROCESS: AtomicUsize = AtomicUsize::new(0);

/// The limit of runtimes that have none of their own: half of what the process may use.
fn share() -> usize {
    static SHARE: OnceLock<usize> = OnceLock::new();
    *SHARE.get_or_init(|| available::memory().map_or(usize::MAX, |bytes| bytes / 2))
}

/// How much is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Room {
    Enough,
    /// Pages should be reclaimed. `ask` says that it is time to ask all workers.
    Tight {
        ask: bool,
    },
    /// A run must end. Pages should be reclaimed as above.
    Over {
        ask: bool,
    },
}

/// The frame memory of one team.
pub(crate) struct Budget {
    /// Its own limit.
    limit: Option<usize>,
    used: AtomicUsize,
    /// Frames that are too large for a pool.
    large: AtomicUsize,
    /// At which use all workers are asked next.
    ask_at: AtomicUsize,
    /// The workers of the team.
    workers: u32,
    /// An epoch, raised when pools are to reclaim their pages, over how many of them have not yet answered it.
    asked: AtomicU64,
    /// The runs that have got the last pages.
    recent: Mutex<VecDeque<u32>>,
}

impl Budget {
    /// The epoch of a new one.
    pub(crate) const FIRST_EPOCH: u32 = 0;

    /// The budget of a team of so many workers.
    pub(crate) fn new(limit: Option<usize>, workers: usize) -> Budget {
        let recent = Mutex::new(VecDeque::new());
        let (used, large, ask_at) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
        Budget { limit, used, large, ask_at, workers: workers as u32, asked: AtomicU64::new(0), recent }
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit.unwrap_or_else(share)
    }

    /// What counts against the limit.
    pub(crate) fn used(&self) -> usize {
        // Relaxed, both: a sum of what several threads count.
        match self.limit {
            Some(_) => self.used.load(Ordering::Relaxed),
            None => PROCESS.load(Ordering::Relaxed),
        }
    }

    /// Counts memory that has been got.
    pub(crate) fn charge(&self, bytes: usize) -> Room {
        // Relaxed, all: as in `used`; the rest is a matter of when, and of at most once more or less.
        let own = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let all = PROCESS.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let (used, limit) = if self.limit.is_some() { (own, self.limit()) } else { (all, self.limit()) };
        if used <= limit - limit / 8 {
            return Room::Enough;
        }
        let ask_at = self.ask_at.load(Ordering::Relaxed);
        // Memory may have been given back since.
        let ask = used >= ask_at || used + limit / 8 < ask_at;
        if ask {
            self.ask_at.store(used + limit / 32, Ordering::Relaxed);
            self.reclaim();
        }
        if used > limit { Room::Over { ask } } else { Room::Tight { ask } }
    }

    /// Counts a frame that is too large for a pool.
    pub(crate) fn charge_large(&self, bytes: usize) -> Room {
        // Relaxed: as in `used`.
        self.large.fetch_add(1, Ordering::Relaxed);
        self.charge(bytes)
    }

    /// Counts such a frame that has been freed.
    pub(crate) fn credit_large(&self, bytes: usize) {
        // Relaxed: as in `used`.
        self.large.fetch_sub(1, Ordering::Relaxed);
        self.credit(bytes, bytes);
    }

    /// Frames that are too large for a pool.
    pub(crate) fn large(&self) -> usize {
        // Relaxed: as in `used`.
        self.large.load(Ordering::Relaxed)
    }

    /// Counts memory that has been given back, of which `own` bytes had been charged to this budget.
    pub(crate) fn credit(&self, bytes: usize, own: usize) {
        // Relaxed, both: as in `used`.
        self.used.fetch_sub(own, Ordering::Relaxed);
        PROCESS.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// Has pools reclaim their pages when they next look.
    pub(crate) fn reclaim(&self) {
        // Relaxed: a hint, which decides when pools look and how long somebody waits for them.
        let ask = |asked| Some(u64::from(epoch_of(asked).wrapping_add(1)) << 32 | u64::from(self.workers));
        let _ = self.asked.fetch_update(Ordering::Relaxed, Ordering::Relaxed, ask);
    }

    pub(crate) fn epoch(&self) -> u32 {
        // Relaxed: as in `reclaim`.
        epoch_of(self.asked.load(Ordering::Relaxed))
    }

    /// A pool has reclaimed its pages, as it was asked to in that epoch.
    pub(crate) fn answer(&self, epoch: u32) {
        let answer = |asked: u64| (epoch_of(asked) == epoch && asked as u32 > 0).then(|| asked - 1);
        // Release: pairs with the Acquire in `answered`: what has been given back has been counted.
        let _ = self.asked.fetch_update(Ordering::Release, Ordering::Relaxed, answer);
    }

    /// Whether all workers have answered.
    fn answered(&self) -> bool {
        self.asked.load(Ordering::Acquire) as u32 == 0
    }

    /// Waits until all workers have reclaimed their pages, or long enough; calls `turn` meanwhile. What counts against the
    /// limit afterwards.
    pub(crate) fn used_at_last(&self, turn: impl Fn()) -> usize {
        let start = Instant::now();
        while self.used() > self.limit() && !self.answered() && start.elapsed() < PATIENCE {
            turn();
            thread::yield_now();
        }
        self.used()
    }

    /// Notes which run has got a page.
    pub(crate) fn note(&self, run: u32) {
        let mut recent = lock(&self.recent);
        if recent.len() == RECENT {
            recent.pop_front();
        }
        recent.push_back(run);
    }

    /// The run that has got most of the last pages; the asking one if there are none.
    pub(crate) fn growing(&self, asking: u32) -> u32 {
        let recent = lock(&self.recent);
        let count = |run: u32| recent.iter().filter(|&&other| other == run).count();
        recent.iter().copied().max_by_key(|&run| count(run)).unwrap_or(asking)
    }
}

fn epoch_of(asked: u64) -> u32 {
    (asked >> 32) as u32
}

/// A run was ended because frames took more memory than they may.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FrameMemory {
    /// The task that asked for the memory, if it was one of the run.
    pub task: Option<&'static str>,
    /// How many frames wait for that task, one for the other.
    pub depth: usize,
    /// The frames of the run; of those above 1 KiB, all of the runtime.
    pub frames: usize,
    /// The memory that frames took, in bytes.
    pub bytes: usize,
    /// What they may take, in bytes.
    pub limit: usize,
}

impl fmt::Display for FrameMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FrameMemory { task, depth, frames, bytes, limit } = self;
        write!(
            f,
            "out of frame memory: frames take {bytes} bytes, of {limit} that they may; the run has {frames} frames"
        )?;
        if let Some(task) = task {
            write!(f, ", and {depth} of them wait for the task `{task}`, one for the other")?;
        }
        f.write_str(": end the recursion, have fewer tasks at once, or allow more by Builder::frame_memory")
    }
}

/// Pages of a pool that nobody has any more, or of no budget.
pub(crate) fn credit_process(bytes: usize) {
    // Relaxed: as in `Budget::used`.
    PROCESS.fetch_sub(bytes, Ordering::Relaxed);
}

/// Memory that no budget has been charged for.
pub(crate) fn charge_process(bytes: usize) {
    // Relaxed: as in `Budget::used`.
    PROCESS.fetch_add(bytes, Ordering::Relaxed);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::atomic::AtomicU32;

    use super::*;

    #[test]
    fn room_shrinks_in_steps() {
        let budget = Budget::new(Some(3200), 1);
        assert_eq!(budget.charge(2800), Room::Enough);
        assert_eq!(budget.charge(1), Room::Tight { ask: true });
        assert_eq!(budget.charge(1), Room::Tight { ask: false });
        assert_eq!(budget.charge(99), Room::Tight { ask: true });
        assert_eq!(budget.charge(300), Room::Over { ask: true });
        budget.credit(3000, 3000);
        assert_eq!(budget.charge(1), Room::Enough);
        assert_eq!(budget.used(), 202);
        budget.credit(202, 202);
    }

    #[test]
    fn a_run_is_not_ended_before_all_have_answered() {
        let budget = Budget::new(Some(3200), 2);
        assert_eq!(budget.charge(4000), Room::Over { ask: true });
        let turns = AtomicU32::new(0);
        let used = budget.used_at_last(|| {
            // An answer to what was asked before counts for nothing.
            budget.answer(budget.epoch().wrapping_sub(1));
            assert!(!budget.answered());
            budget.answer(budget.epoch());
            turns.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!((used, turns.load(Ordering::Relaxed)), (4000, 2));
        budget.reclaim();
        let used = budget.used_at_last(|| budget.credit(1000, 1000));
        assert_eq!((used, budget.answered()), (3000, false));
        budget.credit(3000, 3000);
    }

    #[test]
    fn a_worker_that_does_not_answer_is_not_waited_for_long() {
        let budget = Budget::new(Some(1), 1);
        assert_eq!(budget.charge(2), Room::Over { ask: true });
        let start = Instant::now();
        assert_eq!(budget.used_at_last(|| ()), 2);
        assert!(start.elapsed() >= PATIENCE);
        budget.credit(2, 2);
    }

    #[test]
    fn the_run_that_grows_is_not_the_one_that_asks_once() {
        let budget = Budget::new(Some(1), 1);
        assert_eq!(budget.growing(7), 7);
        for _ in 0..200 {
            budget.note(3);
        }
        budget.note(7);
        assert_eq!(budget.growing(7), 3);
        for _ in 0..40 {
            budget.note(8);
        }
        assert_eq!(budget.growing(7), 8);
    }
}
