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
//! (1) Each worker reclaims its own pool's pages in a sweep, or at the guard check that the sweep trips. The team is asked
//! whenever another 1/32 of the limit has been taken above 7/8. (2) Before a run is ended, the worker that found too little asks
//! once more, and waits until all have answered; for [`PATIENCE`] at most if one has not begun to, since it may compute without a
//! call. The run is the one that has asked for most of the last [`RECENT`] pages among those that have not ended: the asking
//! run, unless that has asked once while another one runs away. It is cancelled as a deadlocked one is, so its destructors run.
//! An allocation does not fail: what a cancelled run needs until it has ended comes on top of the limit, and so does what
//! others need meanwhile. When the run has ended, (1) is asked for once more.
//!
//! By default all runtimes of the process share one limit: half of the memory that the process may use. The other half is
//! for the program's own data, the stacks, and what is needed on top. Of those runtimes one list says which run has grown, and
//! before a run is ended all runtimes are asked, and the pools that no worker has are reclaimed too. A runtime with a limit of its
//! own is measured by what its own frames take: the pages that its pools have got since it was built.
//!
//! [`asked`] has the protocol of asking and answering.

use std::collections::VecDeque;
use std::fmt;
use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use self::asked::Asked;
use super::frame::task_name;
use super::teams::same_team;
use crate::process::{ProcessMutex, unforked};

mod asked;
mod available;

/// How many of the last pages say which run has grown.
const RECENT: usize = 64;
/// How long the end of a run is put off for workers that have been asked to reclaim their pages.
const PATIENCE: Duration = Duration::from_millis(100);

/// Bytes of the pages and large frames of all pools.
static PROCESS: AtomicUsize = AtomicUsize::new(0);

/// The runs that have got the last pages, and the tasks that ran then, by the names of their bodies' types.
type Recent = VecDeque<(u32, &'static str)>;
/// Those of the runtimes that share the process's limit.
static RECENT_OF_PROCESS: ProcessMutex<Recent> = ProcessMutex::new(Recent::new());

/// The limit of runtimes that have none of their own: half of what the process may use.
fn share() -> usize {
    static SHARE: OnceLock<usize> = OnceLock::new();
    unforked(|| *SHARE.get_or_init(|| available::memory().map_or(usize::MAX, |bytes| bytes / 2)))
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
    /// All workers are to be asked; if that does not help, a run must end.
    Over,
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
    /// Whether the pools have reclaimed their pages since they were asked to.
    asked: Asked,
    /// How many pools reclaim their pages now.
    reclaiming: AtomicU32,
    /// The runs that have got the last pages, if the limit is the team's own.
    recent: ProcessMutex<Recent>,
}

impl Budget {
    /// The epoch of a new one.
    pub(crate) const FIRST_EPOCH: u32 = Asked::FIRST;

    /// The budget of a team of so many workers.
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

    /// Whether the limit is the process's, for all teams that have none of their own.
    pub(crate) fn is_shared(&self) -> bool {
        self.limit.is_none()
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
        if used > limit {
            return Room::Over;
        }
        let ask_at = self.ask_at.load(Ordering::Relaxed);
        // Memory may have been given back since.
        let ask = used >= ask_at || used + limit / 8 < ask_at;
        if ask {
            self.ask_at.store(used + limit / 32, Ordering::Relaxed);
            self.reclaim();
        }
        Room::Tight { ask }
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
        self.asked.ask(self.workers);
    }

    pub(crate) fn epoch(&self) -> u32 {
        self.asked.epoch()
    }

    /// Has a pool reclaim its pages, as it was asked to in that epoch, by `reclaim`.
    pub(crate) fn answer(&self, epoch: u32, reclaim: impl FnOnce()) {
        // Relaxed, both: it decides how long a worker waits.
        self.reclaiming.fetch_add(1, Ordering::Relaxed);
        reclaim();
        self.reclaiming.fetch_sub(1, Ordering::Relaxed);
        self.asked.answer(epoch);
    }

    /// Waits until all workers of this team and of the others have reclaimed their pages, or long enough; calls `turn`
    /// meanwhile. What counts against the limit afterwards.
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

    /// Notes which run has got a page, and for which task.
    pub(crate) fn note(&self, run: u32, task: &'static str) {
        let mut recent = self.recent().lock();
        if recent.len() == RECENT {
            recent.pop_front();
        }
        recent.push_back((run, task));
    }

    /// The task of a run that has got most of the last pages.
    pub(crate) fn growing_task(&self, run: u32) -> Option<&'static str> {
        let recent = self.recent().lock();
        let tasks = || recent.iter().filter(|page| page.0 == run).filter_map(|page| task_name(page.1));
        tasks().max_by_key(|task| tasks().filter(|other| other == task).count())
    }

    /// The run that has got most of the last pages, among those that `find` finds; the asking one if there are none.
    pub(crate) fn growing<R>(&self, asking: u32, find: impl Fn(u32) -> Option<R>) -> Option<R> {
        let mut recent: Vec<u32> = self.recent().lock().iter().map(|page| page.0).collect();
        recent.sort_unstable();
        let mut runs: Vec<&[u32]> = recent.chunk_by(|a, b| a == b).collect();
        runs.sort_by_key(|pages| (pages.len(), pages[0] == asking));
        runs.iter().rev().find_map(|pages| find(pages[0])).or_else(|| find(asking))
    }
}

/// Forgets the runs of a team that has ended: its number may be another's soon.
pub(crate) fn forget_team(run: u32) {
    RECENT_OF_PROCESS.lock().retain(|&(other, _)| !same_team(other, run));
}

/// A run was ended because frames took more memory than they may.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct FrameMemory {
    /// The task that asked for the memory, if it was one of the run; a thread of a closure is none.
    pub task: Option<&'static str>,
    /// How many frames wait for that task, one for the other.
    pub depth: usize,
    /// The task of which the run has most frames, and how many these are; 0 if that is not known.
    pub most: Option<(&'static str, usize)>,
    /// The frames of the run; of those above 1 KiB, all of the run's runtime.
    pub frames: usize,
    /// The memory that frames took, in bytes: those of the runtime if it has a limit of its own, else those of all runtimes that
    /// have none.
    pub bytes: usize,
    /// What they may take, in bytes.
    pub limit: usize,
}

impl fmt::Display for FrameMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FrameMemory { task, depth, most, frames, bytes, limit } = self;
        write!(
            f,
            "out of frame memory: frames take {bytes} bytes of the {limit} that they may (by default, those of all runtimes of \
             the process together), and {frames} of the frames are this run's"
        )?;
        if let Some(task) = task {
            write!(f, ", of which {depth} wait for the task `{task}`, one for the other")?;
        } else if let Some((task, 0)) = most {
            write!(f, ", most of them the task `{task}`'s")?;
        } else if let Some((task, count)) = most {
            write!(f, ", {count} of them the task `{task}`'s")?;
        }
        f.write_str("; end the recursion, have fewer tasks at once, or allow more by Builder::frame_memory")
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
    fn a_run_is_not_ended_before_all_have_answered() {
        let budget = Budget::new(Some(3200), 2);
        assert_eq!(budget.charge(4000), Room::Over);
        budget.reclaim();
        let turns = AtomicU32::new(0);
        let used = budget.used_at_last(&[], || {
            // An answer to what was asked before counts for nothing.
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
    fn a_worker_that_does_not_answer_is_not_waited_for_long() {
        let budget = Budget::new(Some(1), 1);
        assert_eq!(budget.charge(2), Room::Over);
        budget.reclaim();
        let start = Instant::now();
        assert_eq!(budget.used_at_last(&[], || ()), 2);
        assert!(start.elapsed() >= PATIENCE);
        budget.credit(2, 2);
    }

    #[test]
    fn a_worker_that_has_begun_to_answer_is_waited_for() {
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
    fn the_run_that_grows_is_not_the_one_that_asks_once() {
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
    fn a_run_that_has_ended_does_not_grow() {
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
        // Numbers of a team that no other test has.
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
