//! Groups, as the scheduler and frames see them. A group is the unit of termination within a run.
//!
//! Each frame stores the number of its innermost group, or of its run if it belongs to none. A group gets a number when
//! the first frame is made within it; a group whose activities all stay on the stack has none
//! (see [`membership`](crate::run::membership)). The number is an index into the team's table of group records.
//!
//! **Termination** marks a group, once, by the first caller. From then on the members of its subtree are treated like
//! the frames of a cancelled run: ready frames are destroyed instead of polled, the workers' sweeps end waiting leaves,
//! and activations on a stack become frames at their next guard check. So destruction proceeds leaf first, and the
//! frame of the construct itself, which belongs to the enclosing group, continues when the last member has ended (a
//! waiter outlives the frames that may borrow from it).
//!
//! **Membership** in a terminated subtree is determined by range codes ([`codes`]), or bottom up by following the
//! numbers of the enclosing groups; the result is cached ([`mark`]). A group without a code always uses the bottom-up
//! search.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock};

use crate::atomics::{AtomicU32, AtomicU64, Ordering, lock_std as lock};
use crate::frame::FrameRef;
use crate::frame::leaf::Waiting;

mod barrier;
mod codes;
mod mark;

use barrier::Barrier;
pub(crate) use barrier::SHARDS;
use codes::{Code, Parts};
use mark::{Known, Mark, Seen};

use crate::frame::number::{GROUP, GROUPS, index_of, same_team};

/// The method of finding the members of a terminated subtree (Feitelson, Ben-Asher, Ben Ezra, Exman, Picherski,
/// Rudolph, Zernik: *Run-Time Support for Parallel Language Constructs in a Tightly Coupled Multiprocessor*, section
/// 6.2).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "processes", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Members {
    /// Each group has a range of numbers, and its nested groups have ranges within that range. Costs a division and a
    /// lock when a group begins whose activities leave the stack; a membership test is then two comparisons for each
    /// terminated group. With k activities in each group, ranges suffice for about 64 / log2(k) levels. Groups nested
    /// deeper are searched bottom up, as are groups that find no range left because some activities of the enclosing
    /// group have several groups at once.
    RangeCodes,
    /// Each group knows its enclosing group. The search follows this chain up to a group with a cached result.
    #[default]
    BottomUp,
}

/// The policy by which workers obtain the activities of a group (Feitelson, Ben-Asher, Ben Ezra, Exman, Picherski,
/// Rudolph, Zernik: *Run-Time Support for Parallel Language Constructs in a Tightly Coupled Multiprocessor*, sections 4
/// and 5).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "processes", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Policy {
    /// The worker that begins the group calls the activities one after the other. An idle worker asks for work and
    /// takes half of the remaining ones.
    #[default]
    Steal,
    /// The paper's first version: an idle worker takes one activity at a time from the oldest group, and makes a frame
    /// for it.
    Global,
    /// As `Global`, but the worker calls the activity, which becomes a frame only if it waits or outlasts its quantum
    /// (section 5.1).
    Envelopes,
    /// As `Envelopes`, but a worker takes 1/P of the remaining activities at a time, for P workers: guided
    /// self-scheduling (section 5.2).
    Representatives,
}

/// A group's record. Records are reused after their group has ended, so every field that late readers access is atomic.
pub(crate) struct Group {
    /// The enclosing group, or the run, in the upper half; the run in the lower half.
    above: AtomicU64,
    /// The enclosing group's [`uses`](Group::uses). They differ only if a forged message has begun work in that group which
    /// has outlasted it.
    above_uses: AtomicU64,
    /// The number of groups that have used the record, this one included.
    uses: AtomicU64,
    mark: Mark,
    from: AtomicU64,
    to: AtomicU64,
    /// The parts of this group's range that are free for nested groups.
    parts: Mutex<Parts>,
    barrier: Barrier<Waiting, SHARDS>,
    sharing: AtomicU32,
}

/// In [`Group::sharing`]: the group is known in this process only.
const OWN: u32 = 0;
/// In [`Group::sharing`]: other processes know the group, and learn its end.
const SHARED: u32 = 1;
/// In [`Group::sharing`]: the group has ended.
const ENDED: u32 = 2;

/// Packs the numbers of the enclosing group and of the run into one word.
fn pack(above: u32, run: u32) -> u64 {
    u64::from(above) << 32 | u64::from(run)
}

impl Group {
    fn new() -> Group {
        Group {
            above: AtomicU64::new(0),
            above_uses: AtomicU64::new(0),
            uses: AtomicU64::new(0),
            mark: Mark::new(),
            from: AtomicU64::new(1),
            to: AtomicU64::new(0),
            parts: Mutex::new(Parts::default()),
            barrier: Barrier::new(),
            sharing: AtomicU32::new(ENDED),
        }
    }

    /// Records that another process knows the group in its use `uses`. Returns false if that has ended.
    pub(crate) fn share(&self, uses: u64) -> bool {
        let share = |sharing| (sharing != ENDED).then_some(SHARED);
        // AcqRel: pairs with the swap in `Groups::end`.
        let live = self.uses() == uses && self.sharing.fetch_update(Ordering::AcqRel, Ordering::Acquire, share).is_ok();
        // Again: another group may have begun to use the record in between.
        live && self.uses() == uses
    }

    /// Returns whether no group uses the record: it has ended.
    pub(crate) fn has_ended(&self) -> bool {
        // Acquire: pairs with the swap in `Groups::end`.
        self.sharing.load(Ordering::Acquire) == ENDED
    }

    /// Returns the number of the enclosing group, or of the run.
    fn parent(&self) -> u32 {
        // Relaxed: written before the group's number is handed out.
        (self.above.load(Ordering::Relaxed) >> 32) as u32
    }

    /// Returns the record of the enclosing group; the run, if there is none, or another group uses its record now. So a
    /// chain of enclosing groups has no cycle.
    fn enclosing<'a>(&self, groups: &'a Groups) -> Result<&'a Group, u32> {
        let above = self.parent();
        if above & GROUP == 0 {
            return Err(above);
        }
        let group = groups.get(above);
        // Relaxed: written before this group's number is handed out.
        if group.uses() == self.above_uses.load(Ordering::Relaxed) { Ok(group) } else { Err(self.run()) }
    }

    /// Returns the number of the run.
    #[inline]
    pub(crate) fn run(&self) -> u32 {
        // Relaxed: written before the group's number is handed out.
        self.above.load(Ordering::Relaxed) as u32
    }

    /// Returns the record's use count. Together with the number it identifies the group uniquely within the team.
    pub(crate) fn uses(&self) -> u64 {
        // Relaxed: written before the group's number is handed out.
        self.uses.load(Ordering::Relaxed)
    }

    /// Arrives at the barrier. Returns the waiters to resume: all that have arrived, if this is the last live activity
    /// to arrive; else none. `shard` selects the shard, and is preferably the worker's number.
    #[must_use]
    pub(crate) fn arrive(&self, waiting: Waiting, shard: usize) -> Released {
        self.barrier.arrive(waiting, shard)
    }

    /// Counts `activities` of the group as ended. Returns the waiters to resume.
    #[must_use]
    pub(crate) fn leave(&self, activities: u64, shard: usize) -> Released {
        self.barrier.leave(activities, shard)
    }

    fn code(&self) -> Code {
        // Relaxed: written before the group's number is handed out.
        Code { from: self.from.load(Ordering::Relaxed), to: self.to.load(Ordering::Relaxed) }
    }
}

/// The waiters of a barrier that can be resumed, by shard.
pub(crate) type Released = barrier::Released<Waiting, SHARDS>;

/// The size of the first chunk of records; each chunk is twice as large as the previous one.
const FIRST_CHUNK: u32 = 64;
const CHUNKS: usize = 32 - FIRST_CHUNK.ilog2() as usize;

/// The groups of a team.
pub(crate) struct Groups {
    members: Members,
    chunks: [OnceLock<Box<[Group]>>; CHUNKS],
    free: Mutex<Free>,
    /// The termination epoch: incremented by each call that terminates a group or cancels a run. Only equality matters:
    /// see [`mark`].
    terminations: AtomicU64,
    /// The codes of terminated groups that have not ended, each with its run.
    terminated: Mutex<Vec<(u32, Code)>>,
    /// The ranges of runs, from which their outermost groups take parts.
    runs: Mutex<HashMap<u32, Parts>>,
    /// The number of groups that found no range left, although ranges are in use.
    uncoded: AtomicU64,
    /// The number of steps taken by membership searches.
    steps: AtomicU64,
    /// Waits of a frame for a frame of another group, keyed by the address of the awaited frame: see
    /// [`Groups::awaits`].
    awaited: Mutex<HashMap<usize, Awaited>>,
}

/// Indices of unused records.
#[derive(Default)]
struct Free {
    indices: Vec<u32>,
    /// Those that only another group of the same run may use, by its number: other processes knew the group. If one of
    /// them has forged a message, work may have outlasted its group. The number still leads to the run, whose end it delays.
    of_runs: HashMap<u32, Vec<u32>>,
    /// The first index that has never been used.
    next: u32,
}

/// A lock guard: while it lives, no frame of the team begins or ends a wait for a frame of another group.
pub(crate) struct Waiters<'a>(MutexGuard<'a, HashMap<usize, Awaited>>);

impl Waiters<'_> {
    /// Returns whether a frame of the team waits for `frame`, which belongs to another group.
    pub(crate) fn wait_for(&self, frame: FrameRef) -> bool {
        self.0.contains_key(&frame.addr().get())
    }
}

struct Awaited {
    frame: FrameRef,
    group: u32,
}

// SAFETY: the address is followed only under the lock, and the frame is live as long as its entry exists.
unsafe impl Send for Awaited {}

/// The number of parts that a run's range is divided into.
const ROOT_PARTS: u64 = 16;

impl Groups {
    pub(crate) fn new(members: Members) -> Groups {
        Groups {
            members,
            chunks: [const { OnceLock::new() }; CHUNKS],
            free: Mutex::default(),
            terminations: AtomicU64::new(0),
            terminated: Mutex::default(),
            runs: Mutex::default(),
            uncoded: AtomicU64::new(0),
            steps: AtomicU64::new(0),
            awaited: Mutex::default(),
        }
    }

    /// Returns the record of a group that has begun.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> &Group {
        match self.find(number) {
            Some(group) => group,
            None => unreachable!("a number is handed out with its record"),
        }
    }

    /// As [`get`](Groups::get), for a number that may be stale: from a frame that may have been freed, or left by an
    /// earlier team with the same number. The record may then belong to another group, or may not exist.
    #[inline]
    pub(crate) fn find(&self, number: u32) -> Option<&Group> {
        debug_assert!(number & GROUP != 0, "a run has no record");
        let index = index_of(number) + FIRST_CHUNK;
        let chunk = (index.ilog2() - FIRST_CHUNK.ilog2()) as usize;
        let at = index - (FIRST_CHUNK << chunk);
        Some(&self.chunks[chunk].get()?[at as usize])
    }

    /// Begins a group of `activities` activities, nested in `above`, in `run`. Returns the index of its record.
    ///
    /// # Panics
    /// Panics if `GROUPS` groups exist at once.
    pub(crate) fn begin(&self, above: u32, run: u32, activities: u64) -> u32 {
        let index = {
            let mut free = lock(&self.free);
            let of_run = free.of_runs.get_mut(&run).and_then(Vec::pop);
            of_run.or_else(|| free.indices.pop()).unwrap_or_else(|| {
                if free.next == GROUPS
                    && let Some(index) = free.of_runs.values_mut().find_map(Vec::pop)
                {
                    return index;
                }
                assert!(free.next < GROUPS, "more than {GROUPS} groups with waiting activities at once");
                free.next += 1;
                free.next - 1
            })
        };
        let at = index + FIRST_CHUNK;
        let chunk = (at.ilog2() - FIRST_CHUNK.ilog2()) as usize;
        self.chunks[chunk].get_or_init(|| (0..FIRST_CHUNK << chunk).map(|_| Group::new()).collect());
        let group = self.get(index | GROUP);
        // Relaxed, all: published when the number is handed out.
        group.above.store(pack(above, run), Ordering::Relaxed);
        let above_uses = if above & GROUP == 0 { 0 } else { self.get(above).uses() };
        group.above_uses.store(above_uses, Ordering::Relaxed);
        group.uses.fetch_add(1, Ordering::Relaxed);
        group.barrier.begin(activities);
        if self.members == Members::RangeCodes {
            let code = self.take_code(above);
            group.from.store(code.from, Ordering::Relaxed);
            group.to.store(code.to, Ordering::Relaxed);
            lock(&group.parts).begin(code, activities);
        }
        // Release: a thread that shares the group in this state, though it means an earlier use, sees the new use count.
        group.sharing.store(OWN, Ordering::Release);
        group.mark.begin();
        index
    }

    fn take_code(&self, above: u32) -> Code {
        let code = if above & GROUP != 0 {
            lock(&self.get(above).parts).take()
        } else {
            let mut runs = lock(&self.runs);
            let parts = runs.entry(above).or_insert_with(|| {
                let mut parts = Parts::default();
                parts.begin(Code::WHOLE, ROOT_PARTS);
                parts
            });
            parts.take()
        };
        if code.is_none() {
            // Relaxed: a statistic.
            self.uncoded.fetch_add(1, Ordering::Relaxed);
        }
        code
    }

    /// Ends a group. Nothing is left within it, and only late sweeps still look up its number. Passes the waiters at
    /// its barrier to `release`, before the number can be used again. Returns the group's run and [`uses`](Group::uses) if
    /// other processes know the group.
    #[must_use]
    pub(crate) fn end(&self, number: u32, release: impl FnOnce(Released)) -> Option<(u32, u64)> {
        let group = self.get(number);
        // AcqRel: pairs with `Group::share`.
        let shared = (group.sharing.swap(ENDED, Ordering::AcqRel) == SHARED).then(|| (group.run(), group.uses()));
        let (above, run, code) = (group.parent(), group.run(), group.code());
        // Waiters are left only if the group has been terminated. Their waits have been cancelled.
        release(group.barrier.take());
        if self.members == Members::RangeCodes && !code.is_none() {
            if group.mark.look().is_in() {
                let mut terminated = lock(&self.terminated);
                if let Some(at) = terminated.iter().position(|&entry| entry == (run, code)) {
                    terminated.swap_remove(at);
                }
            }
            if shared.is_some() {
                // Work may have outlasted the group, and uses parts of its range.
            } else if above & GROUP != 0 {
                lock(&self.get(above).parts).give_back(code);
            } else if let Some(parts) = lock(&self.runs).get_mut(&above) {
                parts.give_back(code);
            }
        }
        let mut free = lock(&self.free);
        let free = if shared.is_some() { free.of_runs.entry(run).or_default() } else { &mut free.indices };
        free.push(index_of(number));
        shared
    }

    /// Ends a run, whose groups have ended: drops its range, and lets other runs use its records.
    pub(crate) fn end_run(&self, run: u32) {
        let mut free = lock(&self.free);
        // Mostly empty: then nothing is hashed.
        if !free.of_runs.is_empty()
            && let Some(indices) = free.of_runs.remove(&run)
        {
            free.indices.extend(indices);
        }
        drop(free);
        if self.members == Members::RangeCodes {
            let mut runs = lock(&self.runs);
            if !runs.is_empty() {
                runs.remove(&run);
            }
        }
    }

    /// Marks a group as terminated. Returns true for the first caller. The caller must make the workers sweep.
    #[must_use]
    pub(crate) fn terminate(&self, number: u32) -> bool {
        let group = self.get(number);
        let code = group.code();
        let first = if self.members == Members::RangeCodes && !code.is_none() {
            // Mark and list entry are written under the lock, so a later caller increments the epoch after both.
            let mut terminated = lock(&self.terminated);
            let first = group.mark.terminate();
            if first {
                terminated.push((group.run(), code));
            }
            first
        } else {
            group.mark.terminate()
        };
        // Later callers increment the epoch too: the first may not have done so yet, and each caller relies on the
        // group being found terminated from here on.
        self.advance_epoch();
        first
    }

    /// Increments the termination epoch, which invalidates cached `Live` results.
    pub(crate) fn advance_epoch(&self) {
        // Release: pairs with the Acquire in `is_terminated`; see `mark`.
        self.terminations.fetch_add(1, Ordering::Release);
    }

    /// Returns whether the group, one of its enclosing groups or its run has been terminated. `run_cancelled` answers
    /// for the run.
    #[inline]
    pub(crate) fn is_terminated(&self, group: &Group, run_cancelled: impl Fn(u32) -> bool) -> bool {
        // Acquire: pairs with the Release in `advance_epoch`; see `mark`.
        let now = self.terminations.load(Ordering::Acquire);
        let seen = group.mark.look();
        match seen.known(now) {
            Known::Terminated => true,
            Known::Live => false,
            Known::Unknown => self.look_up(group, seen, now, run_cancelled),
        }
    }

    #[cold]
    fn look_up(&self, group: &Group, seen: Seen, now: u64, run_cancelled: impl Fn(u32) -> bool) -> bool {
        let code = group.code();
        let mut steps = 1;
        let found = if self.members == Members::RangeCodes && !code.is_none() {
            let run = group.run();
            let terminated = lock(&self.terminated);
            let at = terminated.iter().position(|&(of, above)| of == run && code.is_within(above));
            steps += at.map_or(terminated.len(), |at| at + 1) as u64;
            at.is_some() || run_cancelled(run)
        } else {
            self.find_out_from(group, now, run_cancelled, &mut steps)
        };
        group.mark.note(seen, found, now);
        // Relaxed: a statistic.
        self.steps.fetch_add(steps, Ordering::Relaxed);
        found
    }

    /// Searches bottom up: follows the enclosing groups to one with a cached result, or to the run, and caches the
    /// result in each group on the way.
    fn find_out_from(&self, group: &Group, now: u64, run_cancelled: impl Fn(u32) -> bool, steps: &mut u64) -> bool {
        let mut above = group.enclosing(self);
        let mut way = Vec::new();
        let found = loop {
            *steps += 1;
            let next = match above {
                Ok(next) => next,
                Err(run) => break run_cancelled(run),
            };
            let seen = next.mark.look();
            match seen.known(now) {
                Known::Terminated => break true,
                Known::Live => break false,
                Known::Unknown => {
                    way.push((next, seen));
                    above = next.enclosing(self);
                }
            }
        };
        *steps += way.len() as u64;
        way.into_iter().for_each(|(group, seen)| group.mark.note(seen, found, now));
        found
    }

    /// Returns whether `number` is `run` or a group in `run`. May return true for a stale number.
    pub(crate) fn is_of(&self, number: u32, run: u32) -> bool {
        let is_group = number & GROUP != 0 && same_team(number, run);
        number == run || is_group && self.find(number).is_some_and(|group| group.run() == run)
    }

    /// Returns whether `number` is the group `above` in its use `uses` (see [`Group::uses`]), or a group nested in it.
    /// `number` names a run or group that has not ended. If the result is true, `above` has not ended either.
    pub(crate) fn is_beneath(&self, number: u32, above: u32, uses: u64) -> bool {
        if number & GROUP == 0 {
            return false;
        }
        let above = self.get(above);
        let mut next = Ok(self.get(number));
        while let Ok(group) = next {
            if std::ptr::eq(group, above) {
                return group.uses() == uses;
            }
            next = group.enclosing(self);
        }
        false
    }

    /// Records that a frame of `group` is about to wait for `frame`, a spawned frame of another group or run. A sweep
    /// that ends the waits of `group` finds a wait through the awaited frame; it would pass over `frame`, which belongs
    /// to another group, and finds it in this table instead.
    pub(crate) fn awaits(&self, frame: FrameRef, group: u32) {
        lock(&self.awaited).insert(frame.addr().get(), Awaited { frame, group });
    }

    /// Removes the record of a wait for `frame`.
    pub(crate) fn unregister_wait(&self, frame: FrameRef) {
        lock(&self.awaited).remove(&frame.addr().get());
    }

    /// Locks the table of waits, which keeps the team's frames that wait for frames of other groups from being freed.
    pub(crate) fn keep_waiters(&self) -> Waiters<'_> {
        Waiters(lock(&self.awaited))
    }

    /// Calls `end` for each frame that a frame of another group waits for, with the waiter's group. The awaited frames
    /// stay live during the call.
    pub(crate) fn each_awaited(&self, mut end: impl FnMut(FrameRef, u32)) {
        lock(&self.awaited).values().for_each(|awaited| end(awaited.frame, awaited.group));
    }

    /// Returns the number of groups that found no range left, although ranges are in use, and the number of search
    /// steps.
    pub(crate) fn counts(&self) -> (u64, u64) {
        // Relaxed, both: statistics.
        (self.uncoded.load(Ordering::Relaxed), self.steps.load(Ordering::Relaxed))
    }
}
