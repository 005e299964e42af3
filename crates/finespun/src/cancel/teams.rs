//! The table of teams: the path from any thread to the workers of a frame.
//!
//! A frame's number names its team ([`number`]). A continuation that is resolved on a foreign thread,
//! or on a worker of another runtime, finds the team here.

use std::sync::Arc;

use super::groups::Groups;
use super::runs::Run;
use crate::atomics::{AtomicUsize, Ordering};
use crate::frame::budget::{Budget, FrameMemory};
use crate::frame::number::{self, TEAMS, TeamId};
use crate::frame::{FrameRef, Payload};
use crate::process::{Guard, ProcessMutex};

/// The number of a team's external waits, which something outside the tasks will complete, plus the number of live
/// declarations by [`outside`](crate::wait::outside::outside). The team adds one while it resumes the waiters for
/// quiescence, and so does a plain thread while it completes a wait ([`end_from_outside`]).
///
/// Dekker's pattern against the last worker to park: a completer counts down, then checks for idle workers to wake; the
/// worker announces itself, then checks the count (`sched::park`).
pub(crate) struct Externals {
    count: AtomicUsize,
    /// Called when the count becomes zero: all workers may be parked, and then no other thread would detect a deadlock.
    none_left: Box<dyn Fn() + Send + Sync>,
}

impl Externals {
    pub(crate) fn new(none_left: impl Fn() + Send + Sync + 'static) -> Externals {
        Externals { count: AtomicUsize::new(0), none_left: Box::new(none_left) }
    }

    pub(crate) fn enter(&self) {
        // Relaxed: deadlock detection reads the count under the mutex of the parked workers. A worker that calls this
        // locks that mutex later, when it parks; the team calls this under it. A plain thread that completes a wait
        // calls this first (`end_from_outside`): detection that sees the wait completed, by an Acquire, sees the count
        // when it checks again.
        self.count.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn leave(&self) {
        // Release: the waiter has been made ready before this.
        if self.count.fetch_sub(1, Ordering::Release) == 1 {
            (self.none_left)();
        }
    }

    pub(crate) fn any(&self) -> bool {
        // Acquire: pairs with the Release in `leave`.
        self.count.load(Ordering::Acquire) > 0
    }
}

/// The name of a group in all processes of its runtime.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[cfg_attr(feature = "objects", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct GroupName {
    /// The process in which the group has begun.
    pub(crate) home: u32,
    /// The group's index there.
    pub(crate) index: u32,
    /// The group's [use count](super::groups::Group::uses) there.
    pub(crate) uses: u64,
}

/// The operations of a team, for its workers and for other threads.
pub(crate) trait Team: Send + Sync {
    /// Queues a ready frame of this team where any worker finds it.
    fn inject(&self, frame: FrameRef);
    /// Returns whether this process is a fork of the process that has the team's threads. In a fork, any lock of the
    /// team may be held for ever.
    fn forked(&self) -> bool;
    /// Returns the state of a run of this team; `None` if it has ended.
    fn find_run(&self, number: u32) -> Option<Arc<Run>>;
    /// Returns the number of the run that has this name in all processes, which begins here if it has not. `None` if it
    /// has ended.
    fn join_run(&self, name: u32) -> Option<u32>;
    /// Returns the name, valid in all processes, of a group of this team that has not ended.
    fn group_name(&self, number: u32) -> GroupName;
    /// Returns the number of the group of `run` that has this name in all processes, which begins here if it has not.
    /// `None` if there is no such group.
    fn join_group(&self, run: u32, name: GroupName) -> Option<u32>;
    /// Called after a group of `run` has ended that other processes know.
    fn shared_group_ended(&self, run: u32, number: u32, uses: u64);
    /// Returns whether a run of this team has been cancelled and has not ended.
    fn run_cancelled(&self, number: u32) -> bool;
    /// Cancels a run of this team.
    fn cancel(&self, run: &Run);
    /// Ends a run of this team whose frames take too much memory.
    fn exhaust(&self, run: &Run, error: FrameMemory);
    /// Returns the groups of this team.
    fn groups(&self) -> &Groups;
    /// Registers a new group of `activities` activities beneath `above`, in `run`. Returns its number.
    fn begin_group(&self, above: u32, run: u32, activities: u64) -> u32;
    /// Terminates a group of this team. Returns true for the first caller.
    fn terminate(&self, group: u32) -> bool;
    /// Makes all workers of this team sweep; a sweep also reclaims memory.
    fn sweep(&self);
    /// Records that the team uses messages, before the first one is sent.
    fn use_nodes(&self);
    /// Wakes `worker`, numbered over all processes, which has a message, if it is parked. Issues no fence for a worker of
    /// this process, so it may miss one that is about to park.
    fn poke(&self, worker: u32);
    /// Returns the count of waits that something outside will complete.
    fn externals(&self) -> Arc<Externals>;
    /// Asks all workers of this team to reclaim memory. Returns the budget that records their answers.
    fn reclaim(&self) -> Arc<Budget>;
}

static TABLE: ProcessMutex<Vec<Option<Arc<dyn Team>>>> = ProcessMutex::new(Vec::new());

/// The error of a process with too many runtimes at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct TooManyTeams;

fn table() -> Guard<'static, Vec<Option<Arc<dyn Team>>>> {
    TABLE.lock()
}

/// Registers a team, which `make` makes from its index.
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
    let team = make(TeamId::new(index));
    table[index] = Some(team.clone());
    Ok(team)
}

/// Unregisters a team after its last run has ended.
pub(crate) fn unregister(id: &TeamId) {
    let team = table()[id.index()].take();
    drop(team);
}

/// Makes a frame ready, from a thread that is not one of its team's workers.
pub(crate) fn inject(frame: FrameRef) {
    // SAFETY: a frame that becomes ready is live.
    let group = unsafe { frame.as_ref() }.group;
    match find(group) {
        Some(team) => team.inject(frame),
        None => unreachable!("a team outlives its frames"),
    }
}

/// Terminates a group, from a thread that is not one of its team's workers. Returns true for the first caller.
pub(crate) fn terminate(group: u32) -> bool {
    match find(group) {
        Some(team) => team.terminate(group),
        None => unreachable!("a team outlives its groups"),
    }
}

/// Returns the team of a run or group, if it is registered.
fn find(number: u32) -> Option<Arc<dyn Team>> {
    table().get(number::team_of(number))?.clone()
}

/// Calls `end`, which completes a wait of the team of `number`, from a thread that is not a worker. Suspends deadlock
/// reports during the call, because the waiter is neither waiting nor visible as ready for a moment.
pub(crate) fn end_from_outside<T>(number: u32, end: impl FnOnce() -> T) -> T {
    let externals = find(number).map(|team| team.externals());
    externals.iter().for_each(|externals| externals.enter());
    let ended = end();
    externals.iter().for_each(|externals| externals.leave());
    ended
}

/// Returns the state of a run of any team; `None` if it has ended.
pub(crate) fn find_run(number: u32) -> Option<Arc<Run>> {
    find(number)?.find_run(number)
}

/// Ends a run of any team because its frames take too much memory.
pub(crate) fn exhaust(run: &Run, error: FrameMemory) {
    if let Some(team) = find(run.number) {
        team.exhaust(run, error);
    }
}

/// Ends the run with this number and [serial](Run::serial) with the panic of one of its detached tasks: from a thread
/// that is not in the run. Drops the payload if the run has ended, or this process is a fork of the run's.
pub(crate) fn fail(number: u32, serial: u64, payload: Payload) {
    let Some(team) = find(number).filter(|team| !team.forked()) else { return };
    // A number is used again after its run has ended.
    if let Some(run) = team.find_run(number).filter(|run| run.serial == serial)
        && run.fail(payload)
    {
        team.cancel(&run);
    }
}

/// Asks all workers of all teams to reclaim memory. Returns the budgets that record their answers.
pub(crate) fn reclaim() -> Vec<Arc<Budget>> {
    let teams: Vec<_> = table().iter().flatten().cloned().collect();
    teams.iter().map(|team| team.reclaim()).collect()
}
