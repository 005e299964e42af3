//! Groups, as the frames beneath them see them: what is terminated as a whole within a run.
//!
//! Each frame has the number of the innermost group that it belongs to, or of its run. A group gets a number when the first
//! frame is made beneath it; one whose activities all stay on the stack has none ([`super::context::Cx::begin_group`]). The
//! number leads to the group's record, in a table of the team.
//!
//! **Termination** marks a group, once, by whoever is first. From then on what lies beneath it is treated as a cancelled
//! run's frames are: those that are ready are destroyed instead of polled, waiting leaves are ended by their workers' sweeps,
//! and what is on a stack becomes frames at its next guard check. So destruction goes leaf first, and the frame of the
//! construct itself, which belongs to the group outside, goes on when the last has ended (a waiter outlives what may borrow from it).
//!
//! **Who lies beneath** is found out by range codes ([`codes`]) or from the bottom up, by the numbers of the groups above;
//! what is found is noted ([`mark`]). A group that has no code is found from the bottom up in either case.

use std::collections::HashMap;
use std::sync::{Mutex, MutexGuard, OnceLock};

use super::context::try_cx;
use super::frame::FrameRef;
use super::spawn::release_later;
use crate::atomics::{AtomicU64, Ordering, lock_std as lock};

mod barrier;
mod codes;
mod mark;

use barrier::{Barrier, LINES, Released};
use codes::{Code, Parts};
use mark::{Known, Mark, Seen};

use super::suspend::Continuation;
use super::teams::{GROUP, GROUPS, index_of, same_team};

/// How the members of a terminated subtree are found: maxi-parc-runtime, section 6.2.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Members {
    /// Each group has a range of numbers, and what is beneath it has ranges within that. Costs a division and a lock when a
    /// group begins whose activities leave the stack; then whether one lies beneath another is two comparisons. With k
    /// activities in each group there are 64 / log2(k) levels; groups further down, and those that an activity has beside
    /// its first, are found bottom up.
    RangeCodes,
    /// Each group knows the one above it, and the chain is followed up to one of which it is known.
    #[default]
    BottomUp,
}

/// How the activities of a group come to the workers: maxi-parc-runtime, sections 4 and 5.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Policy {
    /// They are called one after the other by the worker that begins the group. An idle worker asks, and takes half of what is
    /// left.
    #[default]
    Steal,
    /// The paper's first version: a worker that has nothing else to do takes one activity at a time from the oldest group, and
    /// makes a frame for it.
    Global,
    /// The same, but calls it: an activity becomes a frame if it waits, or outlasts its quantum (section 5.1).
    Envelopes,
    /// As envelopes, but a worker takes one P-th of what is left at a time, for P workers: guided self-scheduling
    /// (section 5.2).
    Representatives,
}

/// A group's record. Used again when the group has ended; so all that others may still look at is atomic.
pub(crate) struct Group {
    /// The group above, or the run.
    above: AtomicU64,
    /// How many groups have had the record, this one included.
    uses: AtomicU64,
    mark: Mark,
    from: AtomicU64,
    to: AtomicU64,
    /// What is left for groups beneath.
    parts: Mutex<Parts>,
    barrier: Barrier<Continuation<()>, LINES>,
}

/// Both numbers in one word.
fn pack(above: u32, run: u32) -> u64 {
    u64::from(above) << 32 | u64::from(run)
}

impl Group {
    fn new() -> Group {
        Group {
            above: AtomicU64::new(0),
            uses: AtomicU64::new(0),
            mark: Mark::new(),
            from: AtomicU64::new(1),
            to: AtomicU64::new(0),
            parts: Mutex::new(Parts::default()),
            barrier: Barrier::new(),
        }
    }

    /// The number of the group above, or of the run.
    fn above(&self) -> u32 {
        // Relaxed: written before the group's number was handed out.
        (self.above.load(Ordering::Relaxed) >> 32) as u32
    }

    /// The number of the run.
    #[inline]
    pub(crate) fn run(&self) -> u32 {
        // Relaxed: as above.
        self.above.load(Ordering::Relaxed) as u32
    }

    /// Together with the number, what no other group of this team has had or will have.
    pub(crate) fn uses(&self) -> u64 {
        // Relaxed: written before the group's number was handed out.
        self.uses.load(Ordering::Relaxed)
    }

    /// An activity waits for all others of its group that have not ended. `line` is best the worker's number.
    pub(crate) fn arrive(&self, k: Continuation<()>, line: usize) {
        release(self.run(), self.barrier.arrive(k, line));
    }

    /// So many activities of the group have ended.
    pub(crate) fn leave(&self, activities: u64) {
        let line = try_cx().map_or(0, |cx| cx.context().here.worker.get() as usize);
        release(self.run(), self.barrier.leave(activities, line));
    }

    fn code(&self) -> Code {
        // Relaxed: as above.
        Code { from: self.from.load(Ordering::Relaxed), to: self.to.load(Ordering::Relaxed) }
    }
}

/// How many waiters are worth a frame that releases them.
const MANY: usize = 32;

/// Releases those of a group in `run`, which has not ended, who stood in this worker's line. For each of the others, if they are many, a frame does so, which another
/// worker may take, best the one that they have run on.
fn release(run: u32, mut waiting: Released<Continuation<()>, LINES>) {
    if waiting.iter().all(Vec::is_empty) {
        return;
    }
    if let Some(cx) = try_cx().filter(|cx| cx.of_team(run)) {
        let own = cx.context().here.worker.get() as usize % LINES;
        for (line, waiters) in waiting.iter_mut().enumerate() {
            if line != own && waiters.len() >= MANY {
                release_later(cx, run, std::mem::take(waiters));
            }
        }
    }
    waiting.into_iter().flatten().for_each(|k| k.resolve(()));
}

/// Records come in chunks, each twice as large as the one before.
const FIRST_CHUNK: u32 = 64;
const CHUNKS: usize = 32 - FIRST_CHUNK.ilog2() as usize;

/// The groups of a team.
pub(crate) struct Groups {
    members: Members,
    chunks: [OnceLock<Box<[Group]>>; CHUNKS],
    free: Mutex<Free>,
    /// How many groups and runs have been terminated: see [`mark`].
    terminations: AtomicU64,
    /// The codes of terminated groups that have not ended, by run.
    terminated: Mutex<Vec<(u32, Code)>>,
    /// The ranges of runs, from which their groups take theirs.
    runs: Mutex<HashMap<u32, Parts>>,
    /// Groups whose code is none although ranges were asked for.
    uncoded: AtomicU64,
    /// Steps taken to find out who lies beneath a terminated group.
    steps: AtomicU64,
    /// Waits of one group's frames for frames of another, by the address of what is waited for: see [`Groups::awaits`].
    awaited: Mutex<HashMap<usize, Awaited>>,
}

/// Indices of records that are no group's.
#[derive(Default)]
struct Free {
    indices: Vec<u32>,
    /// The first index that has never been a group's.
    next: u32,
}

/// While it lives, no frame of a team that waits for a frame of another group begins or ends to do so.
pub(crate) struct Waiters<'a>(MutexGuard<'a, HashMap<usize, Awaited>>);

impl Waiters<'_> {
    /// Whether one waits for that frame.
    pub(crate) fn wait_for(&self, frame: FrameRef) -> bool {
        self.0.contains_key(&frame.addr().get())
    }
}

struct Awaited {
    frame: FrameRef,
    group: u32,
}

// SAFETY: a frame's address; whoever follows it holds the lock, which keeps it alive.
unsafe impl Send for Awaited {}

/// How many parts the range of a run is divided into.
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

    /// The record of a group that has begun.
    #[inline]
    pub(crate) fn get(&self, number: u32) -> &Group {
        match self.find(number) {
            Some(group) => group,
            None => unreachable!("a number is handed out with its record"),
        }
    }

    /// The same for a number from a frame that may have been freed, or may be what an earlier team of this number has left: then
    /// it is another group's, or nothing's.
    #[inline]
    pub(crate) fn find(&self, number: u32) -> Option<&Group> {
        debug_assert!(number & GROUP != 0, "a run has no record");
        let index = index_of(number) + FIRST_CHUNK;
        let chunk = (index.ilog2() - FIRST_CHUNK.ilog2()) as usize;
        let at = index - (FIRST_CHUNK << chunk);
        Some(&self.chunks[chunk].get()?[at as usize])
    }

    /// A group beneath `above`, in `run`, of so many activities: the index of its record.
    ///
    /// # Panics
    /// If there are too many.
    pub(crate) fn begin(&self, above: u32, run: u32, activities: u64) -> u32 {
        let index = {
            let mut free = lock(&self.free);
            free.indices.pop().unwrap_or_else(|| {
                assert!(free.next < GROUPS, "more than {GROUPS} groups with waiting activities at once");
                free.next += 1;
                free.next - 1
            })
        };
        let at = index + FIRST_CHUNK;
        let chunk = (at.ilog2() - FIRST_CHUNK.ilog2()) as usize;
        self.chunks[chunk].get_or_init(|| (0..FIRST_CHUNK << chunk).map(|_| Group::new()).collect());
        let group = self.get(index | GROUP);
        // Relaxed, all: handed out with the number.
        group.above.store(pack(above, run), Ordering::Relaxed);
        group.uses.fetch_add(1, Ordering::Relaxed);
        group.barrier.begin(activities);
        if self.members == Members::RangeCodes {
            let code = self.take_code(above);
            group.from.store(code.from, Ordering::Relaxed);
            group.to.store(code.to, Ordering::Relaxed);
            lock(&group.parts).begin(code, activities);
        }
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
            // Relaxed: for people.
            self.uncoded.fetch_add(1, Ordering::Relaxed);
        }
        code
    }

    /// A group has ended: nothing is left beneath it, and nobody will ask for it but late sweeps.
    pub(crate) fn end(&self, number: u32) {
        let group = self.get(number);
        let (above, run, code) = (group.above(), group.run(), group.code());
        // If it has been terminated, these wait no more.
        release(run, group.barrier.take());
        if self.members == Members::RangeCodes && !code.is_none() {
            if group.mark.look().is_in() {
                let mut terminated = lock(&self.terminated);
                if let Some(at) = terminated.iter().position(|&entry| entry == (run, code)) {
                    terminated.swap_remove(at);
                }
            }
            if above & GROUP != 0 {
                lock(&self.get(above).parts).give_back(code);
            } else if let Some(parts) = lock(&self.runs).get_mut(&above) {
                parts.give_back(code);
            }
        }
        lock(&self.free).indices.push(index_of(number));
    }

    /// A run has ended.
    pub(crate) fn end_run(&self, run: u32) {
        if self.members == Members::RangeCodes {
            lock(&self.runs).remove(&run);
        }
    }

    /// Marks a group as terminated; whether this is the first time. The caller has the workers sweep.
    #[must_use]
    pub(crate) fn terminate(&self, number: u32) -> bool {
        let group = self.get(number);
        let first = group.mark.terminate();
        let code = group.code();
        if first && self.members == Members::RangeCodes && !code.is_none() {
            lock(&self.terminated).push((group.run(), code));
        }
        // Also by who is not the first, who may not have raised it yet: the caller counts on being found terminated.
        self.raise();
        first
    }

    /// Something has been terminated: all have to look again.
    pub(crate) fn raise(&self) {
        // Release: see `mark`.
        self.terminations.fetch_add(1, Ordering::Release);
    }

    /// Whether a group, or one above it, or its run has been terminated; `run_cancelled` says so of the run.
    #[inline]
    pub(crate) fn is_terminated(&self, group: &Group, run_cancelled: impl Fn(u32) -> bool) -> bool {
        // Acquire: see `mark`.
        let now = self.terminations.load(Ordering::Acquire);
        let seen = group.mark.look();
        match seen.known(now) {
            Known::In => true,
            Known::Out => false,
            Known::Unknown => self.find_out(group, seen, now, run_cancelled),
        }
    }

    #[cold]
    fn find_out(&self, group: &Group, seen: Seen, now: u64, run_cancelled: impl Fn(u32) -> bool) -> bool {
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
        // Relaxed: for people.
        self.steps.fetch_add(steps, Ordering::Relaxed);
        found
    }

    /// From the bottom up: what is known of the next group above, for all on the way.
    fn find_out_from(&self, group: &Group, now: u64, run_cancelled: impl Fn(u32) -> bool, steps: &mut u64) -> bool {
        let mut above = group.above();
        let mut way = Vec::new();
        let found = loop {
            *steps += 1;
            if above & GROUP == 0 {
                break run_cancelled(above);
            }
            let next = self.get(above);
            let seen = next.mark.look();
            match seen.known(now) {
                Known::In => break true,
                Known::Out => break false,
                Known::Unknown => {
                    way.push((next, seen));
                    above = next.above();
                }
            }
        };
        *steps += way.len() as u64;
        way.into_iter().for_each(|(group, seen)| group.mark.note(seen, found, now));
        found
    }

    /// Whether a number is that of a run of this team, or of a group in it. Of a number that is nothing's any more, it may say so too.
    pub(crate) fn is_of(&self, number: u32, run: u32) -> bool {
        let is_group = number & GROUP != 0 && same_team(number, run);
        number == run || is_group && self.find(number).is_some_and(|group| group.run() == run)
    }

    /// Whether a group that has not ended, or run, is the group `above` of that [use](Group::uses), or lies beneath it. If so,
    /// that has not ended either.
    pub(crate) fn is_beneath(&self, mut number: u32, above: u32, uses: u64) -> bool {
        while number & GROUP != 0 {
            let group = self.get(number);
            if number == above {
                return group.uses() == uses;
            }
            number = group.above();
        }
        false
    }

    /// A frame of `group` is about to wait for a spawned one of another group or run. A sweep that ends that group's waits
    /// goes by the frames that are waited for, and finds this one here.
    pub(crate) fn awaits(&self, frame: FrameRef, group: u32) {
        lock(&self.awaited).insert(frame.addr().get(), Awaited { frame, group });
    }

    /// The wait for `frame` is over.
    pub(crate) fn awaits_no_more(&self, frame: FrameRef) {
        lock(&self.awaited).remove(&frame.addr().get());
    }

    /// Keeps the frames of this team that wait for those of other groups from being freed.
    pub(crate) fn keep_waiters(&self) -> Waiters<'_> {
        Waiters(lock(&self.awaited))
    }

    /// Calls `end` for each frame that a frame of another group waits for, with that group's number. They are live meanwhile.
    pub(crate) fn each_awaited(&self, mut end: impl FnMut(FrameRef, u32)) {
        lock(&self.awaited).values().for_each(|awaited| end(awaited.frame, awaited.group));
    }

    /// How many groups have no code although ranges were asked for, and how many steps it took to find members.
    pub(crate) fn counts(&self) -> (u64, u64) {
        // Relaxed, both: for people.
        (self.uncoded.load(Ordering::Relaxed), self.steps.load(Ordering::Relaxed))
    }
}
