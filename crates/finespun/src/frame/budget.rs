//! The limit on the memory of frames, and the steps taken when frames exceed it.
//!
//! Frames are counted where their memory is allocated, which is off the path of a call: a pool counts its pages, of 64
//! KiB, and each frame that is too large for a pool counts itself. A pool keeps its pages when their frames have been
//! freed, for frames of the same size class. So before a run is ended for lack of memory, pages without a live frame
//! are *reclaimed*: they move to a list of the process, from which any pool takes them for frames of any size class.
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
//! (1) Each worker reclaims its own pool's pages in a sweep between two frames, or earlier, at the guard check that the
//! request makes trip. Above 7/8 of the limit, the team is asked each time that another 1/32 of the limit has been
//! taken. (2) Before a run is ended, the worker that found too little memory asks once more, and waits until all
//! workers have answered. It waits for at most [`PATIENCE`] unless a worker is reclaiming, because a worker that
//! computes without a call does not answer. The run to end is the one that has allocated most of the last [`RECENT`]
//! pages, among the runs that have not ended. This is usually the allocating run, but not if it allocates once while
//! another grows without bound. It is cancelled as a deadlocked run is, so its destructors run. An allocation does not
//! fail: the memory that the cancelled run needs until it has ended, and that other runs need in this time, may exceed
//! the limit. When the run has ended, (1) is requested once more.
//!
//! By default all runtimes of the process share one limit: half of the memory that the process may use. The other half
//! is for the program's own data, the stacks, and allocations beyond the limit. These runtimes share one list of the
//! last pages. Before a run is ended, all runtimes are asked, and the pages of pools without a worker are reclaimed
//! too. A runtime with a limit of its own is measured by its own frames: its large frames, and the pages that its pools
//! have allocated since it was built.
//!
//! [`asked`] describes the protocol of asking and answering.

use std::collections::VecDeque;
use std::fmt;
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use self::asked::Asked;
use super::number::same_team;
use super::origin::task_name;
use crate::atomics::{AtomicU32, AtomicUsize, Ordering};
use crate::process::{ProcessMutex, unforked};

mod asked;
mod available;

/// The number of last allocations, of pages and of large frames, by which the growing run is found.
const RECENT: usize = 64;
/// How long a worker waits for others to reclaim their pages, before it ends a run.
const PATIENCE: Duration = Duration::from_millis(100);

/// The bytes of all pools' pages and of all large frames.
static PROCESS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// The run that has allocated each of the last pages, and the type name of the body that ran at the time.
type Recent = VecDeque<(u32, &'static str)>;
/// The last pages of the runtimes that share the process's limit.
static RECENT_OF_PROCESS: ProcessMutex<Recent> = ProcessMutex::new(Recent::new());

/// Returns the limit of runtimes that have none of their own: half of the memory that the process may use.
pub(crate) fn share() -> usize {
    static SHARE: OnceLock<usize> = OnceLock::new();
    unforked(|| *SHARE.get_or_init(|| available::memory().map_or(usize::MAX, |bytes| bytes / 2)))
}

/// Returns the address space left below the process's limit, if it has one.
#[cfg(feature = "objects")]
pub(crate) fn address_space_left() -> Option<usize> {
    available::address_space_left()
}

/// The state of a budget after an allocation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use]
pub(crate) enum Room {
    Enough,
    /// Pages should be reclaimed. `ask` says that the budget has asked all workers: the caller must make them sweep.
    Tight {
        ask: bool,
    },
    /// The caller must ask all workers, and end a run if that frees too little.
    Over,
}

/// The budget of one team: the memory that its frames use and may use.
pub(crate) struct Budget {
    /// The team's own limit, if any.
    limit: Option<usize>,
    used: AtomicUsize,
    /// The number of frames that are too large for a pool.
    large: AtomicUsize,
    /// The use, in bytes, at which all workers are asked next.
    ask_at: AtomicUsize,
    /// The number of workers in the team.
    workers: u32,
    /// Which pools have reclaimed their pages since they were asked.
    asked: Asked,
    /// The number of pools that are reclaiming their pages.
    reclaiming: AtomicU32,
    /// The runs that have allocated the last pages, if the limit is the team's own.
    recent: ProcessMutex<Recent>,
}

impl Budget {
    /// The epoch of a new budget.
    pub(crate) const FIRST_EPOCH: u32 = Asked::FIRST;

    /// Creates the budget of a team of `workers` workers.
    pub(crate) fn new(limit: Option<usize>, workers: usize) -> Budget {
        Budget {
            limit,
            used: AtomicUsize::new(0),
            large: AtomicUsize::new(0),
            ask_at: AtomicUsize::new(0),
            workers: workers as u32,
            asked: Asked::new(),
            reclaiming: AtomicU32::new(0),
            recent: ProcessMutex::new(Recent::new()),
        }
    }

    /// Returns whether the limit is the process's, which all teams without their own limit share.
    pub(crate) fn is_shared(&self) -> bool {
        self.limit.is_none()
    }

    pub(crate) fn limit(&self) -> usize {
        self.limit.unwrap_or_else(share)
    }

    /// Returns the bytes that count against the limit.
    pub(crate) fn used(&self) -> usize {
        // Relaxed, both: a sum that several threads update.
        match self.limit {
            Some(_) => self.used.load(Ordering::Relaxed),
            None => PROCESS.load(Ordering::Relaxed),
        }
    }

    /// Counts memory that has been allocated.
    pub(crate) fn charge(&self, bytes: usize) -> Room {
        // Relaxed, all: as in `used`. The accesses to `ask_at` decide only when workers are asked; a race costs at most
        // one request more or less.
        let own = self.used.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let all = PROCESS.fetch_add(bytes, Ordering::Relaxed) + bytes;
        let (used, limit) = if self.limit.is_some() { (own, self.limit()) } else { (all, self.limit()) };
        if used <= limit - limit / 8 {
            return Room::Enough;
        }
        if used > limit {
            return Room::Over;
        }
        let ask_at = self.ask_at.load(Ordering::Relaxed);
        // The second condition holds if much memory has been given back since `ask_at` was set.
        let ask = used >= ask_at || used + limit / 8 < ask_at;
        if ask {
            self.ask_at.store(used + limit / 32, Ordering::Relaxed);
            self.reclaim();
        }
        Room::Tight { ask }
    }

    /// Counts an allocated frame that is too large for a pool.
    pub(crate) fn charge_large(&self, bytes: usize) -> Room {
        // Relaxed: as in `used`.
        self.large.fetch_add(1, Ordering::Relaxed);
        self.charge(bytes)
    }

    /// Counts a freed frame that was too large for a pool.
    pub(crate) fn credit_large(&self, bytes: usize) {
        // Relaxed: as in `used`.
        self.large.fetch_sub(1, Ordering::Relaxed);
        self.credit(bytes, bytes);
    }

    /// Returns the number of frames that are too large for a pool.
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

    /// Asks all pools to reclaim their pages. They do so when they next check the epoch.
    pub(crate) fn reclaim(&self) {
        self.asked.ask(self.workers);
    }

    pub(crate) fn epoch(&self) -> u32 {
        self.asked.epoch()
    }

    /// Runs `reclaim`, which reclaims a pool's pages, and records the answer to `epoch`.
    pub(crate) fn answer(&self, epoch: u32, reclaim: impl FnOnce()) {
        // Relaxed, both: the counter decides only how long a worker waits.
        self.reclaiming.fetch_add(1, Ordering::Relaxed);
        reclaim();
        self.reclaiming.fetch_sub(1, Ordering::Relaxed);
        self.asked.answer(epoch);
    }

    /// Waits until all workers of this team and of the `others` have reclaimed their pages, or the use is below the
    /// limit, or the wait has taken too long. Calls `turn` repeatedly while it waits. Returns the bytes that then count
    /// against the limit.
    pub(crate) fn used_at_last(&self, others: &[Arc<Budget>], turn: impl Fn()) -> usize {
        let start = Instant::now();
        let all = || others.iter().map(|other| &**other).chain([self]);
        // Relaxed: as in `answer`.
        let begun = || all().any(|budget| budget.reclaiming.load(Ordering::Relaxed) > 0);
        while self.used() > self.limit()
            && !all().all(|budget| budget.asked.is_answered())
            && (start.elapsed() < PATIENCE || begun())
        {
            turn();
            thread::yield_now();
        }
        self.used()
    }

    fn recent(&self) -> &ProcessMutex<Recent> {
        if self.is_shared() { &RECENT_OF_PROCESS } else { &self.recent }
    }

    /// Records an allocation: the run that made it, and the task that ran.
    pub(crate) fn note(&self, run: u32, task: &'static str) {
        let mut recent = self.recent().lock();
        if recent.len() == RECENT {
            recent.pop_front();
        }
        recent.push_back((run, task));
    }

    /// Returns the task that has allocated most of the run's pages among the last ones.
    pub(crate) fn growing_task(&self, run: u32) -> Option<&'static str> {
        let recent = self.recent().lock();
        let tasks = || recent.iter().filter(|page| page.0 == run).filter_map(|page| task_name(page.1));
        tasks().max_by_key(|task| tasks().filter(|other| other == task).count())
    }

    /// Returns `find` of the run that has allocated most of the last pages, among the runs for which `find` succeeds.
    /// If it succeeds for none of them, returns `find` of the asking run.
    pub(crate) fn growing<R>(&self, asking: u32, find: impl Fn(u32) -> Option<R>) -> Option<R> {
        let mut recent: Vec<u32> = self.recent().lock().iter().map(|page| page.0).collect();
        recent.sort_unstable();
        let mut runs: Vec<&[u32]> = recent.chunk_by(|a, b| a == b).collect();
        runs.sort_by_key(|pages| (pages.len(), pages[0] == asking));
        runs.iter().rev().find_map(|pages| find(pages[0])).or_else(|| find(asking))
    }
}

/// Forgets the pages of the runs of a team that has ended: another team may get the team's number.
pub(crate) fn forget_team(run: u32) {
    RECENT_OF_PROCESS.lock().retain(|&(other, _)| !same_team(other, run));
}

/// The error of a run that was ended because frames took more memory than they may.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FrameMemory {
    /// The task that asked for the memory, if it belongs to the run. `None` for a thread of a closure.
    pub task: Option<&'static str>,
    /// The number of frames in the chain of waiters above that task.
    pub depth: usize,
    /// The task with the most frames of the run, and their number; 0 if the number is not known.
    pub most: Option<(&'static str, usize)>,
    /// The number of frames of the run. Frames above 1 KiB are counted for the run's whole runtime.
    pub frames: usize,
    /// The memory of the frames, in bytes: all frames of the runtime if it has a limit of its own, else all frames of
    /// the runtimes without one.
    pub bytes: usize,
    /// The limit for that memory, in bytes.
    pub limit: usize,
}

impl fmt::Display for FrameMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FrameMemory { task, depth, most, frames, bytes, limit } = self;
        write!(
            f,
            "out of frame memory: frames take {bytes} of at most {limit} bytes (by default, the frames of all runtimes \
             of the process together), and {frames} frames belong to this run"
        )?;
        if let Some(task) = task {
            write!(f, ", of which {depth} wait in a chain for the task `{task}`")?;
        } else if let Some((task, 0)) = most {
            write!(f, ", most of them the task `{task}`'s")?;
        } else if let Some((task, count)) = most {
            write!(f, ", {count} of them the task `{task}`'s")?;
        }
        f.write_str("; end the recursion, have fewer tasks at once, or allow more by Builder::frame_memory")
    }
}

/// Counts given-back pages that belong to a pool without an owner, or are charged to no budget.
pub(crate) fn credit_process(bytes: usize) {
    // Relaxed: as in `Budget::used`.
    PROCESS.fetch_sub(bytes, Ordering::Relaxed);
}

/// Counts memory that is charged to no budget.
pub(crate) fn charge_process(bytes: usize) {
    // Relaxed: as in `Budget::used`.
    PROCESS.fetch_add(bytes, Ordering::Relaxed);
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::sync::Barrier;

    use super::*;

    #[test]
    fn room_shrinks_in_steps() {
        let budget = Budget::new(Some(3200), 1);
        assert_eq!(budget.charge(2800), Room::Enough);
        assert_eq!(budget.charge(1), Room::Tight { ask: true });
        assert_eq!(budget.charge(1), Room::Tight { ask: false });
        assert_eq!(budget.charge(99), Room::Tight { ask: true });
        assert_eq!(budget.charge(300), Room::Over);
        budget.credit(3000, 3000);
        assert_eq!(budget.charge(1), Room::Enough);
        assert_eq!(budget.used(), 202);
        budget.credit(202, 202);
    }

    #[test]
    fn the_wait_ends_when_all_workers_have_answered_or_memory_suffices() {
        let budget = Budget::new(Some(3200), 2);
        assert_eq!(budget.charge(4000), Room::Over);
        budget.reclaim();
        let turns = AtomicU32::new(0);
        let used = budget.used_at_last(&[], || {
            // An answer to an earlier request does not count.
            budget.answer(budget.epoch().wrapping_sub(1), || ());
            assert!(!budget.asked.is_answered());
            budget.answer(budget.epoch(), || ());
            turns.fetch_add(1, Ordering::Relaxed);
        });
        assert_eq!((used, turns.load(Ordering::Relaxed)), (4000, 2));
        budget.reclaim();
        let used = budget.used_at_last(&[], || budget.credit(1000, 1000));
        assert_eq!((used, budget.asked.is_answered()), (3000, false));
        budget.credit(3000, 3000);
    }

    #[test]
    fn the_wait_for_a_silent_worker_is_bounded() {
        let budget = Budget::new(Some(1), 1);
        assert_eq!(budget.charge(2), Room::Over);
        budget.reclaim();
        let start = Instant::now();
        assert_eq!(budget.used_at_last(&[], || ()), 2);
        assert!(start.elapsed() >= PATIENCE);
        budget.credit(2, 2);
    }

    #[test]
    fn the_wait_continues_while_a_worker_reclaims() {
        let (budget, other) = (Budget::new(Some(1), 1), Arc::new(Budget::new(Some(1), 1)));
        assert_eq!(budget.charge(2), Room::Over);
        budget.reclaim();
        budget.answer(budget.epoch(), || ());
        other.reclaim();
        let begun = Barrier::new(2);
        thread::scope(|threads| {
            threads.spawn(|| {
                other.answer(other.epoch(), || {
                    begun.wait();
                    thread::sleep(3 * PATIENCE);
                    budget.credit(1, 1);
                });
            });
            begun.wait();
            assert_eq!(budget.used_at_last(&[Arc::clone(&other)], || ()), 1);
        });
        budget.credit(1, 1);
    }

    #[test]
    fn the_growing_run_is_chosen_over_one_that_asks_once() {
        let budget = Budget::new(Some(1), 1);
        assert_eq!(budget.growing(7, Some), Some(7));
        for _ in 0..200 {
            budget.note(3, "");
        }
        budget.note(7, "");
        assert_eq!(budget.growing(7, Some), Some(3));
        for _ in 0..40 {
            budget.note(8, "");
        }
        assert_eq!(budget.growing(7, Some), Some(8));
        budget.note(8, "some::away::__Task");
        assert_eq!((budget.growing_task(8), budget.growing_task(7)), (Some("some::away"), None));
    }

    #[test]
    fn an_ended_run_is_not_chosen_as_growing() {
        let budget = Budget::new(Some(1), 1);
        for run in [3, 3, 3, 8, 8, 7] {
            budget.note(run, "");
        }
        let left = |left: &'static [u32]| move |run| left.contains(&run).then_some(run);
        assert_eq!(budget.growing(7, left(&[7, 8])), Some(8));
        assert_eq!(budget.growing(7, left(&[7])), Some(7));
        assert_eq!(budget.growing(9, left(&[9])), Some(9));
        assert_eq!(budget.growing(9, left(&[])), None);
    }

    #[test]
    fn teams_without_a_limit_share_the_list_of_runs_that_grow() {
        // Run numbers of a team that no other test uses.
        const TEAM: u32 = 1000 << 22;
        let (one, another) = (Budget::new(None, 1), Budget::new(None, 1));
        let find = |run| same_team(run, TEAM).then_some(run);
        for _ in 0..40 {
            one.note(TEAM + 1, "");
        }
        another.note(TEAM + 2, "");
        assert_eq!(another.growing(TEAM + 2, find), Some(TEAM + 1));
        forget_team(TEAM);
        assert_eq!(another.growing(TEAM + 2, |run| (run == TEAM + 1).then_some(run)), None);
    }
}
