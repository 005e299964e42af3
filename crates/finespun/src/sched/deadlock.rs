//! Deadlock: when a run is reported as deadlocked, and when not.
//!
//! A report cancels its run, so it must not be wrong, but it may be late. A task of one runtime can wait for something
//! that a task of another runtime holds: a handle, a lock, a continuation. So it is not enough that the run's own
//! runtime has nothing to do.
//!
//! ```text
//!              (1) all workers parked, nothing ready, nothing outside
//!   ACTIVE ---------------------------------------------------------> STUCK(since, others)
//!      ^                                                                |            |
//!      |  (2) a frame or closure ran, a message was sent, a run began   |            | (3) examined
//!      +----------------------------------------------------------------+            v
//!                                                                                 REPORTED
//! ```
//!
//! **The rule.** The runs of a stuck runtime are reported (3) when no party that could end one of their waits can act:
//!
//! 1. *This runtime.* All its workers are parked, with no ready frame, no message, and no external wait
//!    ([`Externals`](crate::cancel::teams::Externals): `foreign`, `blocking`, `Continuation::external`, `outside`). A
//!    continuation or guard kept in a frame, or in memory that frames own, cannot be used.
//! 2. *Tasks of other runtimes.* The list `others` holds the runs of other runtimes that were live when this runtime
//!    became stuck. Each of them has ended since, or its runtime cannot act either: that runtime is stuck too, and so
//!    is every runtime with a run in *its* `others`, and so on ([`can_act`]). So no task exists that could still
//!    resolve a continuation that it obtained before. A run that begins later is added to `others` only if a thread of
//!    a runtime has begun it. A program's own thread that takes a continuation into a new run counts as outside: the
//!    program must declare this, as for any other way in which a plain thread may resolve the continuation.
//! 3. *Plain threads.* They are outside, and so are std futures. A plain thread's continuation must be marked as
//!    external. For a guard or permit, the library knows whether a plain thread has taken it itself, and for an end of a
//!    channel, whether a plain thread has made or used it last ([`TAKEN`]): while the process has any such permit or end,
//!    no runtime in which a task waits for a lock or channel is reported. A guard *moved* to a plain thread is invisible
//!    to the library, so such a runtime must also have been stuck for [`PATIENCE`]. A program that lends guards to
//!    plain threads for longer declares this with `outside`.
//!
//! All stuck runtimes that satisfy the rule are reported at once: a cycle of waits through two runtimes is one
//! deadlock.
//!
//! **A run may begin another run and end.** While [`note_others`] lists the runs, one of `others` may begin a run on a
//! third runtime and end: the list must contain one of the two. So a list is valid only if no run has begun from before
//! the listing until after the removal of ended runs. Then every run began before the listing: either it is in the
//! list, or it had ended by then, and all runs that it began had begun before the listing, too. A listed run is marked
//! as watched before the examination checks again whether the run is live. So if the run is found live, its end
//! triggers an examination.
//!
//! **The examination sees one moment.** [`examine`] holds the table of teams, which makes examinations exclusive, and
//! the idling mutexes of all parked teams, so that none of their workers can wake during the examination. A thread of
//! an active team that makes a frame of a parked team ready publishes the frame first, and then waits for that team's
//! mutex, so the thread's run is still under way. All conditions are checked under all mutexes, so the examination sees
//! that run.
//!
//! **No report is lost.** A report that the rule forbids now can become allowed only by an event that triggers an
//! examination. A team becomes stuck: the last worker to park examines. One of `others` ends: `end_run` examines if the
//! run is marked as watched (a Dekker pair with the check whether the run is live: both sides fence between their store
//! and their load). Plain threads give back their last permit. The patience ends: the examination has set the alarm of
//! the team's ticker. Except for these events, a stuck team costs no processor time.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::AtomicUsize;
use std::time::{Duration, Instant};

use super::peers::{Resting, RestingRun};
use super::report;
use super::team::{Team, Waits};
use crate::atomics::{Ordering, fence};
use crate::cancel::runs::{Cause, Run};
use crate::frame::number::same_team;
use crate::process::ProcessMutex;
use crate::run::release::resume;

/// Time that a runtime in which a task waits for a lock must have been stuck before its runs are reported.
const PATIENCE: Duration = Duration::from_secs(1);

/// All teams of the process. Locked during an examination.
static TEAMS: ProcessMutex<Vec<Arc<Team>>> = ProcessMutex::new(Vec::new());
/// Number of teams that have a [`Stuck`] record, which may be outdated. At zero, [`examine_if_stuck`] does nothing.
static STUCK: AtomicUsize = AtomicUsize::new(0);
/// Number of permits that plain threads have taken and still hold, and of ends of channels that they have used last.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// A snapshot of a team's activity: while it stays the same, the team has been stuck all the time.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Progress {
    resumptions: u64,
    messages: u64,
    threads: u64,
    runs: u64,
}

impl Progress {
    fn sum(self) -> u64 {
        self.resumptions + self.messages + self.threads + self.runs
    }
}

/// The record of a stuck team.
pub(super) struct Stuck {
    progress: Progress,
    since: Instant,
    /// Whether some task waits for a lock.
    waits_for_lock: bool,
    /// Runs of other teams that were live when the team became stuck, or that a thread of a runtime has begun since.
    /// Filled by the first examination, which follows at once.
    others: Vec<Arc<Run>>,
    noted: bool,
}

impl Stuck {
    /// Returns the end of the patience, for a team in which a task waits for a lock.
    fn patience(&self) -> Option<Instant> {
        self.waits_for_lock.then(|| self.since + PATIENCE)
    }
}

/// Counts a permit that a plain thread is about to take, or an end of a channel that it uses. If taking it fails, [`permit_returned`] must follow.
pub(crate) fn permit_taken() {
    // Relaxed: ordered by the fence.
    TAKEN.fetch_add(1, Ordering::Relaxed);
    // Release: pairs with the Acquire by which a task that finds the permit taken enqueues its request, so the
    // examination of that wait sees the count.
    fence(Ordering::Release);
}

/// Uncounts a permit that a plain thread had taken, after it has been given back or forgotten; or an end of a channel,
/// after it has been dropped or a task has begun to use it.
#[cold]
pub(crate) fn permit_returned() {
    // SeqCst (Dekker): a stuck team is counted in `STUCK` before its examination loads `TAKEN`. Either the examination
    // no longer finds this permit, or `examine_if_stuck` sees the team counted.
    if TAKEN.fetch_sub(1, Ordering::SeqCst) == 1 {
        examine_if_stuck();
        wake_teams_with_peers();
    }
}

/// Returns the number of permits and ends that count as held outside the tasks.
#[cfg(all(test, loom))]
pub(crate) fn held_outside() -> usize {
    TAKEN.load(Ordering::SeqCst)
}

/// Registers a new team.
pub(super) fn register(team: &Arc<Team>) {
    let mut teams = TEAMS.lock();
    // The workers of a parent's teams do not exist in a forked child: the child must not wait for these teams, and
    // cannot safely drop them.
    teams.extract_if(.., |team| team.forked()).for_each(std::mem::forget);
    teams.push(Arc::clone(team));
}

/// Removes a team whose workers have ended, before the last reference to the team is dropped.
pub(super) fn unregister(team: &Team) {
    let mut teams = TEAMS.lock();
    let own = teams.iter().position(|other| std::ptr::eq(&**other, team)).map(|at| teams.swap_remove(at));
    drop(teams);
    drop((own, team.forget_stuck()));
}

/// Examines all teams if any may be stuck. Called when a watched run or the last permit of plain threads has ended.
#[cold]
pub(super) fn examine_if_stuck() {
    // SeqCst: see the callers.
    if STUCK.load(Ordering::SeqCst) > 0 {
        examine();
    }
}

/// Wakes a worker of each team with peers, which looks again when it parks: the last permit of plain threads has ended.
fn wake_teams_with_peers() {
    let teams: Vec<_> = TEAMS.lock().iter().filter(|team| team.peers.is_some()).cloned().collect();
    teams.iter().for_each(|team| team.idle.notify_one());
}

impl Team {
    /// Looks for a deadlock, after the calling worker was the last to park. Does nothing if the team has no run, has an
    /// external wait, or a worker is awake again. If all open leaves of a run wait for its quiescence, the run is
    /// quiescent, and this resumes those waiters. Otherwise, unless all runs are cancelled, the team is stuck:
    /// [`examine`] follows. Returns true if any waiter was resumed; then the caller must look for work, since some of
    /// the waiters may run on the caller's worker only.
    pub(crate) fn look_for_deadlock(&self) -> bool {
        if let Some(peers) = &self.peers {
            return peers.all_parked(self);
        }
        if self.external.any() || !self.any_run() {
            return false;
        }
        let mut before = None;
        let found = self.idle.while_all_parked(|| {
            let under_way = self.runs_under_way();
            if !self.is_quiet() {
                return None;
            }
            let leaves: Vec<_> = under_way.iter().map(|run| self.open_leaves(run)).collect();
            // Again: a plain thread that gives back a permit may have completed a leaf before the count, and queues its
            // waiter afterwards.
            if !self.is_quiet() {
                return None;
            }
            let rested = under_way.iter().zip(leaves).flat_map(|(run, leaves)| run.take_quiescence_waiters(leaves));
            let rested: Vec<_> = rested.collect();
            // Waiters for quiescence may end other waits once they resume. Until all have been resumed, this thread
            // counts as an external wait, so that a worker that parks finds no deadlock.
            if !rested.is_empty() {
                self.external.enter();
            } else if under_way.iter().any(|run| !run.is_cancelled()) {
                before = self.note_stuck();
            } else {
                return None;
            }
            Some(rested)
        });
        drop(before);
        let Some(rested) = found.flatten() else { return false };
        if rested.is_empty() {
            examine();
            return false;
        }
        rested.into_iter().for_each(resume);
        self.idle.notify_all();
        self.external.leave();
        true
    }

    /// Returns what this process says about its team, or `None` unless all workers are parked and have nothing to do. If
    /// `with_runs`, which takes a look at each frame, also about the runs, and about waits for locks if no guard is away.
    pub(crate) fn resting(&self, with_runs: bool) -> Option<Resting> {
        self.idle
            .while_all_parked(|| {
                let under_way = self.runs_under_way();
                let external = self.external.any();
                if !self.has_nothing_to_do() {
                    return None;
                }
                // SeqCst: see `permit_returned`.
                let taken = TAKEN.load(Ordering::SeqCst) > 0;
                let waits_for_lock = (with_runs || taken) && self.waits_for_lock();
                let mut resting = Resting {
                    external,
                    progress: self.progress().sum(),
                    waits_for_lock,
                    others_act: waits_for_lock && taken,
                    ..Resting::default()
                };
                for entry in &self.workers {
                    let (sent, received) = entry.host().traffic();
                    resting.sent += sent;
                    resting.received += received;
                }
                let of_run = |run: &Arc<Run>| RestingRun {
                    name: run.name,
                    leaves: self.open_leaves(run) as u64,
                    waiters: run.quiescence_waiters() as u64,
                    listed: run.quiescence_list(),
                };
                if with_runs {
                    resting.runs = under_way.iter().filter(|run| !run.is_cancelled()).map(of_run).collect();
                }
                // Again: see `look_for_deadlock`.
                self.has_nothing_to_do().then_some(resting)
            })
            .flatten()
    }

    /// Cancels a run whose tasks cannot end, in no process, with these lines.
    pub(crate) fn report_stuck(&self, run: &Arc<Run>, lines: &[String]) {
        let mark = || {
            let first = run.mark_given_up(Cause::Deadlock);
            if first {
                lines.iter().for_each(|line| run.describe(|| line.clone()));
            }
            first
        };
        self.cancel_with(run, mark);
    }

    /// Returns a line for each wait of a run in this process, or `None` if a worker is awake.
    pub(crate) fn lines_of(&self, run: &Arc<Run>) -> Option<Vec<String>> {
        let lines = || run.lines(|| self.describe(std::slice::from_ref(run), &[]));
        self.idle.while_all_parked(lines)
    }

    /// Resumes the tasks of this process that wait for the quiescence of these runs, the first ones of each list. Returns
    /// whether there are any.
    pub(crate) fn resume_quiescent(&self, runs: &[(Arc<Run>, usize)]) -> bool {
        self.external.enter();
        let waiters: Vec<_> = runs.iter().flat_map(|(run, count)| run.take_first_quiescence_waiters(*count)).collect();
        let some = !waiters.is_empty();
        waiters.into_iter().for_each(resume);
        self.idle.notify_all();
        self.external.leave();
        some
    }

    /// Returns whether only another runtime, or an undeclared outside party, can wake a worker. Called while all
    /// workers are parked.
    ///
    /// The caller lists the runs under way before this call. The root of a listed run has been queued, and all workers
    /// have stayed parked since, so a root that no worker has taken is visible here. This function checks the externals
    /// first: a thread that ends an external wait makes the waiter visible before it decrements the count.
    fn is_quiet(&self) -> bool {
        !self.external.any() && self.has_nothing_to_do()
    }

    fn has_nothing_to_do(&self) -> bool {
        let messages = || (0..self.workers.len()).any(|worker| self.waits_for(worker));
        !self.work_visible() && (mutated!(EarlyRest) || !messages())
    }

    /// Returns whether some task waits for a lock. Called while all workers are parked.
    fn waits_for_lock(&self) -> bool {
        let mut waits = false;
        for entry in &self.workers {
            entry.pool().walk(|frame, table| waits = waits || report::waits_for_lock(frame, table));
        }
        waits
    }

    fn progress(&self) -> Progress {
        let mut sum = Progress { resumptions: 0, messages: 0, threads: 0, runs: self.runs_begun() };
        for stats in self.stats() {
            sum.resumptions += stats.resumptions;
            sum.messages += stats.messages_own + stats.messages_pushed + stats.messages_pulled;
            sum.threads += stats.threads;
        }
        sum
    }

    /// Performs transition 1, while all workers are parked. Returns the record that it replaces, if any, which the
    /// caller must drop without holding a lock.
    #[must_use]
    fn note_stuck(&self) -> Option<Stuck> {
        let progress = self.progress();
        if self.is_stuck_at(progress) {
            return None;
        }
        let waits_for_lock = self.waits_for_lock();
        let stuck = Stuck { progress, since: Instant::now(), waits_for_lock, others: Vec::new(), noted: false };
        let before = self.with_stuck(|own| own.replace(stuck));
        if before.is_none() {
            // SeqCst: pairs with the events that examine again, which store before they load `STUCK`.
            STUCK.fetch_add(1, Ordering::SeqCst);
        }
        before
    }

    /// Returns whether the team has been stuck ever since it made `progress`.
    fn is_stuck_at(&self, progress: Progress) -> bool {
        self.with_stuck(|stuck| stuck.as_ref().is_some_and(|stuck| stuck.progress == progress))
    }

    /// Performs transition 2 if the team has made progress. Returns whether the team is still stuck, and the record
    /// that was removed, if any, which the caller must drop without holding a lock.
    ///
    /// The progress is read under the lock: the team's last worker to park may be making a new record concurrently,
    /// which must not be compared with older progress.
    #[must_use]
    fn forget_unless_stuck(&self) -> (bool, Option<Stuck>) {
        let (known, before) = self.with_stuck(|stuck| {
            let known = stuck.as_ref().is_some_and(|stuck| stuck.progress == self.progress());
            (known, if known { None } else { stuck.take() })
        });
        if before.is_some() {
            // Relaxed: a stale count that is too high only costs an examination.
            STUCK.fetch_sub(1, Ordering::Relaxed);
        }
        (known, before)
    }

    /// Removes the record: for transition 3, or because the team ends. Returns the record, which the caller must drop
    /// without holding a lock.
    #[must_use]
    fn forget_stuck(&self) -> Option<Stuck> {
        let before = self.with_stuck(Option::take);
        if before.is_some() {
            // Relaxed: a stale count that is too high only costs an examination.
            STUCK.fetch_sub(1, Ordering::Relaxed);
        }
        before
    }

    /// Marks the stuck team's runs as deadlocked and cancelled, and describes their waits. The caller then starts the
    /// sweep.
    fn report(&self, runs: Vec<Arc<Run>>, teams: &[Arc<Team>]) {
        let stuck: Vec<_> = runs.into_iter().filter(|run| run.mark_given_up(Cause::Deadlock)).collect();
        self.groups.advance_epoch();
        self.describe(&stuck, teams);
    }

    /// Cancels all runs, also those that begin later, because a node of the simulated machine has died. Called by the
    /// machine's engine between the turns of the workers.
    #[cfg(feature = "simulation")]
    pub(crate) fn node_died(&self, node: usize, at: Duration) {
        let cause = Cause::NodeDied { node, at };
        let mut runs = self.give_up(cause);
        runs.retain(|run| self.cancel_for(run, cause));
        // Threads outside may complete leaves now. But the tasks that wait for those stay as they are: such a thread waits
        // for the engine before it queues them.
        self.describe(&runs, &TEAMS.lock());
    }

    /// Adds a line to the reports of these runs for each of their waits. Called while no worker of this team runs.
    fn describe(&self, stuck: &[Arc<Run>], teams: &[Arc<Team>]) {
        // Frames that tasks of other teams wait for are skipped: those teams may be active.
        let others = teams.iter().filter(|other| !ptr::eq(&***other, self)).map(|other| other.groups.keep_waiters());
        let others: Vec<_> = others.collect();
        let mut waits = Waits::new();
        self.workers.iter().for_each(|entry| entry.host().report_waits(&mut waits));
        for entry in &self.workers {
            entry.pool().walk(|frame, table| {
                if !others.iter().any(|waiters| waiters.wait_for(frame)) {
                    report::describe(frame, table, &self.groups, stuck, &mut waits);
                }
            });
        }
        drop(others);
        // Awaited tasks of other runtimes are in the pools of those runtimes, which are stuck as well.
        self.groups.each_awaited(|frame, group| {
            // SAFETY: `each_awaited` keeps `frame` live during the call.
            if !same_team(unsafe { frame.as_ref() }.group, group) {
                report::describe_spawned(frame, &self.groups, stuck);
            }
        });
    }

    /// Counts the leaves of `run` that have a waiter. Called while all workers are parked.
    fn open_leaves(&self, run: &Run) -> usize {
        let mut count = 0;
        for entry in &self.workers {
            entry
                .pool()
                .walk(|frame, table| count += usize::from(report::is_open_leaf(frame, table, &self.groups, run)));
        }
        count
    }
}

/// Examines all stuck teams, and reports those that the rule allows to report (3).
pub(super) fn examine() {
    let teams = TEAMS.lock();
    let mut reported = Vec::new();
    let mut alarms = Vec::new();
    // Dropped after all locks are released: dropping the last reference to a run runs user code.
    let mut dropped_runs = Vec::new();
    let mut dropped = Vec::new();
    let parked: Vec<_> = teams.iter().map(|team| if team.any_run() { team.idle.keep_parked() } else { None }).collect();
    let now = Instant::now();
    let mut stuck = vec![false; teams.len()];
    let mut patient = vec![false; teams.len()];
    // SeqCst: see `permit_returned`.
    let taken = TAKEN.load(Ordering::SeqCst) > 0;
    // Before the check whether anything can act: see `is_quiet`.
    let mut under_way: Vec<_> = teams.iter().map(|team| team.runs_under_way()).collect();
    for (at, team) in teams.iter().enumerate() {
        let (known, before) = team.forget_unless_stuck();
        dropped.extend(before);
        if !known {
            continue;
        }
        stuck[at] = parked[at].is_some() && team.is_quiet();
        if let Some(end) = team.with_stuck(|stuck| stuck.as_ref().and_then(Stuck::patience)) {
            patient[at] = taken || now < end;
            if now < end {
                alarms.push((at, end));
            }
        }
    }
    note_others(&teams, &stuck, &mut dropped_runs);
    let known: Vec<_> = (0..teams.len())
        .map(|at| Known { stuck: stuck[at] && !patient[at], awaits: teams[at].awaits(&teams) })
        .collect();
    for (at, can_act) in can_act(&known).into_iter().enumerate() {
        if !can_act {
            teams[at].report(std::mem::take(&mut under_way[at]), &teams);
            reported.push(at);
        }
    }
    drop(parked);
    for (at, end) in alarms {
        teams[at].bell.set_alarm(end);
    }
    let mut to_sweep = Vec::new();
    for at in reported {
        dropped.extend(teams[at].forget_stuck());
        to_sweep.push(Arc::clone(&teams[at]));
    }
    drop(teams);
    // Without the lock, for which a simulated worker may wait.
    for team in to_sweep {
        let _entered = team.enter();
        team.sweep();
    }
    drop((under_way, dropped_runs, dropped));
}

/// Updates the `others` of each stuck team: at the first call for a record adds all live runs of other teams, later
/// only those that a thread of a runtime has begun. Moves the ended runs to `dropped`, which the caller must drop
/// without holding a lock.
fn note_others(teams: &[Arc<Team>], stuck: &[bool], dropped: &mut Vec<Arc<Run>>) {
    let begun = || teams.iter().map(|team| team.runs_begun()).sum::<u64>();
    loop {
        let before = begun();
        let live: Vec<_> = teams.iter().map(|team| team.live_runs()).collect();
        let each = |with: &mut dyn FnMut(usize, &mut Stuck)| {
            for (at, team) in teams.iter().enumerate().filter(|&(at, _)| stuck[at]) {
                team.with_stuck(|own| own.as_mut().map(|own| with(at, own)));
            }
        };
        each(&mut |at, own| own.note((0..teams.len()).filter(|&other| other != at).flat_map(|other| &live[other])));
        // Dekker: the end of a run that is found live below triggers an examination (`Team::end_run`).
        fence(Ordering::SeqCst);
        each(&mut |_, own| dropped.extend(own.others.extract_if(.., |run| !run.is_live())));
        dropped.extend(live.into_iter().flatten());
        if begun() == before {
            return;
        }
    }
}

impl Stuck {
    fn note<'a>(&mut self, live: impl Iterator<Item = &'a Arc<Run>>) {
        let first = !std::mem::replace(&mut self.noted, true);
        for run in live.filter(|run| first || run.is_inner()) {
            if !self.others.iter().any(|other| Arc::ptr_eq(other, run)) {
                run.watch();
                self.others.push(Arc::clone(run));
            }
        }
    }
}

impl Team {
    /// Returns the indices of the teams with a run that could still end a wait of this team, if this team is stuck.
    fn awaits(&self, teams: &[Arc<Team>]) -> Vec<usize> {
        let of = |run: &Arc<Run>| teams.iter().position(|team| same_team(run.number, team.id.run(0)));
        self.with_stuck(|own| own.iter().flat_map(|own| &own.others).filter_map(of).collect())
    }
}

/// The facts about one team that the rule uses.
#[derive(Debug)]
struct Known {
    /// Nothing in the team can act, nor anything outside, as far as the library knows.
    stuck: bool,
    /// Indices of the teams with a run that may end a wait in this team.
    awaits: Vec<usize>,
}

/// Returns for each team whether it can still act: because it is not stuck, or because it awaits a team that can act.
/// The other teams must be reported.
fn can_act(teams: &[Known]) -> Vec<bool> {
    let mut can_act: Vec<_> = teams.iter().map(|team| !team.stuck).collect();
    loop {
        let woken =
            teams.iter().zip(&can_act).position(|(team, &acts)| !acts && team.awaits.iter().any(|&at| can_act[at]));
        match woken {
            Some(at) => can_act[at] = true,
            None => return can_act,
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    fn reports(stuck: &[bool], awaits: &[&[usize]]) -> Vec<usize> {
        let teams: Vec<_> =
            stuck.iter().zip(awaits).map(|(&stuck, awaits)| Known { stuck, awaits: awaits.to_vec() }).collect();
        (0..teams.len()).filter(|&at| !can_act(&teams)[at]).collect()
    }

    #[test]
    fn a_cycle_of_stuck_teams_is_reported_but_not_a_team_that_an_active_one_may_wake() {
        assert_eq!(reports(&[true], &[&[]]), [0]);
        assert_eq!(reports(&[true, true], &[&[1], &[0]]), [0, 1]);
        assert_eq!(reports(&[true, false], &[&[1], &[]]), []);
        assert_eq!(reports(&[true, false], &[&[], &[]]), [0]);
        // The first waits for the second, which is stuck but waits for a run of the third, which is active.
        assert_eq!(reports(&[true, true, false], &[&[1], &[2], &[]]), []);
        assert_eq!(reports(&[true, true, true, false], &[&[1], &[0], &[3], &[]]), [0, 1]);
    }

    /// Tries all states of four teams: a team is reported if it and all teams that it awaits, directly or indirectly,
    /// are stuck.
    #[test]
    fn a_team_is_reported_if_no_team_that_it_awaits_can_act() {
        const TEAMS: usize = 4;
        for picture in 0..1_u32 << (TEAMS * TEAMS) {
            let bit = |row: usize, column: usize| picture >> (row * TEAMS + column) & 1 == 1;
            // The diagonal says which teams are stuck.
            let known: [Known; TEAMS] = std::array::from_fn(|at| Known {
                stuck: bit(at, at),
                awaits: (0..TEAMS).filter(|&other| other != at && bit(at, other)).collect(),
            });
            let reaches = |from: usize| {
                let mut reached = vec![from];
                let mut next = 0;
                while let Some(&at) = reached.get(next) {
                    for &other in &known[at].awaits {
                        if !reached.contains(&other) {
                            reached.push(other);
                        }
                    }
                    next += 1;
                }
                reached
            };
            let expected: Vec<_> = (0..TEAMS).map(|at| reaches(at).iter().any(|&other| !known[other].stuck)).collect();
            assert_eq!(can_act(&known), expected, "{known:?}");
        }
    }
}
