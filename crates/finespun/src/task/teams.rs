//! The way back to a frame's workers from a thread that is none of them.
//!
//! A frame's number names its team (the upper bits) and within that its run, or the innermost group that it belongs to (the
//! lower ones; which of the two, says the highest of these). A continuation that is resolved on a foreign thread, or on a
//! worker of another runtime, finds the team here.

use std::sync::Arc;

use super::budget::{Budget, FrameMemory};
use super::frame::FrameRef;
use super::runs::Run;
use crate::atomics::{AtomicUsize, Ordering};
use crate::process::{Guard, ProcessMutex};

/// Runs and groups within one team that can be under way at once: 2^22.
const RUN_BITS: u32 = 22;
/// In the numbers of groups.
pub(crate) const GROUP: u32 = 1 << (RUN_BITS - 1);
/// Runs of a team at once, numbered from 0 on.
pub(crate) const RUNS: u32 = GROUP;
/// Groups of a team at once, numbered from [`GROUP`] on.
pub(crate) const GROUPS: u32 = GROUP;
/// Teams of a process at once. One less than the bits allow: the numbers above are no run's of any team, nor any group's.
pub(crate) const TEAMS: usize = (1 << (32 - RUN_BITS)) - 1;

/// Which of its team's runs, or of its groups, a number names.
pub(crate) const fn index_of(number: u32) -> u32 {
    number & (GROUP - 1)
}

/// A team's waits that something outside the tasks will end, and what [`outside`](super::outside::outside) has declared; the team
/// itself is that, while it resumes waiters for quiescence.
///
/// Dekker's pattern against the last worker to idle: who leaves counts down, then looks for idle workers to wake; the
/// worker announces itself, then looks at the count (`sched::park`).
pub(crate) struct Externals {
    count: AtomicUsize,
    /// Called when there is none left: all workers may be parked, and nobody else would look for a deadlock.
    none_left: Box<dyn Fn() + Send + Sync>,
}

impl Externals {
    pub(crate) fn new(none_left: impl Fn() + Send + Sync + 'static) -> Externals {
        Externals { count: AtomicUsize::new(0), none_left: Box::new(none_left) }
    }

    pub(crate) fn enter(&self) {
        // Relaxed: the deadlock report reads it when all workers have parked, the caller's included, or after the caller has
        // let go of the mutex that the report takes.
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn leave(&self) {
        // Release: the waiter has been made ready before.
        if self.count.fetch_sub(1, Ordering::Release) == 1 {
            (self.none_left)();
        }
    }

    pub(crate) fn any(&self) -> bool {
        // Acquire: pairs with the Release in `leave`.
        self.count.load(Ordering::Acquire) > 0
    }
}

/// What a foreign thread can ask of a team of workers.
pub(crate) trait Team: Send + Sync {
    /// A frame of this team may run: queue it where any worker finds it.
    fn inject(&self, frame: FrameRef);
    /// Terminate a group of this team.
    fn terminate(&self, group: u32);
    /// The state of a run of this team; `None` if it has ended.
    fn find_run(&self, number: u32) -> Option<Arc<Run>>;
    /// End a run of this team that has taken too much memory.
    fn exhaust(&self, run: &Run, error: FrameMemory);
    /// The waits that something outside will end.
    fn externals(&self) -> Arc<Externals>;
    /// Have all workers of this team reclaim memory; they answer there.
    fn reclaim(&self) -> Arc<Budget>;
}

static TABLE: ProcessMutex<Vec<Option<Arc<dyn Team>>>> = ProcessMutex::new(Vec::new());

/// Too many runtimes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooManyTeams;

/// A place in the table, before the team exists.
pub(crate) struct TeamId(u32);

impl TeamId {
    /// The run number of run `index` of this team.
    pub(crate) fn run(&self, index: u32) -> u32 {
        debug_assert!(index < RUNS);
        self.0 << RUN_BITS | index
    }

    /// The number of group `index` of this team.
    pub(crate) fn group(&self, index: u32) -> u32 {
        debug_assert!(index < GROUPS);
        self.0 << RUN_BITS | GROUP | index
    }
}

fn table() -> Guard<'static, Vec<Option<Arc<dyn Team>>>> {
    TABLE.lock()
}

/// Enters a team, made from its number.
pub(crate) fn register<T: Team + 'static>(make: impl FnOnce(TeamId) -> Arc<T>) -> Result<Arc<T>, TooManyTeams> {
    let mut table = table();
    let index = match table.iter().position(Option::is_none) {
        Some(index) => index,
        None if table.len() < TEAMS => {
            table.push(None);
            table.len() - 1
        }
        None => return Err(TooManyTeams),
    };
    let team = make(TeamId(index as u32));
    table[index] = Some(team.clone());
    Ok(team)
}

/// Takes a team out, when its last run has ended.
pub(crate) fn unregister(id: &TeamId) {
    let team = table()[id.0 as usize].take();
    drop(team);
}

/// Makes a frame ready from a thread that is not one of its workers.
pub(crate) fn inject(frame: FrameRef) {
    // SAFETY: a frame that somebody makes ready is live.
    let group = unsafe { frame.as_ref() }.group;
    match team_of(group) {
        Some(team) => team.inject(frame),
        None => unreachable!("a team outlives its frames"),
    }
}

/// Terminates a group, from a thread that is not one of its team's workers.
pub(crate) fn terminate(group: u32) {
    match team_of(group) {
        Some(team) => team.terminate(group),
        None => unreachable!("a team outlives its groups"),
    }
}

/// The team of a run or group, if there is one.
fn team_of(number: u32) -> Option<Arc<dyn Team>> {
    table().get((number >> RUN_BITS) as usize)?.clone()
}

/// While `end` ends a wait of that team from a thread that is no worker, nothing is reported: the wait has ended before who waited
/// can be seen as ready.
pub(crate) fn end_from_outside<T>(number: u32, end: impl FnOnce() -> T) -> T {
    let externals = team_of(number).map(|team| team.externals());
    externals.iter().for_each(|externals| externals.enter());
    let ended = end();
    externals.iter().for_each(|externals| externals.leave());
    ended
}

/// The state of a run of any team; `None` if it has ended.
pub(crate) fn find_run(number: u32) -> Option<Arc<Run>> {
    team_of(number)?.find_run(number)
}

/// Ends a run of any team that has taken too much memory.
pub(crate) fn exhaust(run: &Run, error: FrameMemory) {
    if let Some(team) = team_of(run.number) {
        team.exhaust(run, error);
    }
}

/// Has all workers of all teams reclaim memory; they answer there.
pub(crate) fn reclaim() -> Vec<Arc<Budget>> {
    let teams: Vec<_> = table().iter().flatten().cloned().collect();
    teams.iter().map(|team| team.reclaim()).collect()
}

/// Whether two runs or groups belong to one team.
pub(crate) fn same_team(a: u32, b: u32) -> bool {
    a >> RUN_BITS == b >> RUN_BITS
}
