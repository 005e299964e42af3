//! Deadlock: when a run is reported as deadlocked, and when not.
//!
//! A report ends its run, so it must not be wrong; it may be late. A task of one runtime can wait for something that a
//! task of another runtime holds: a handle, a lock, a continuation. So it is not enough that the run's own runtime has
//! nothing to do.
//!
//! ```text
//!              (1) all workers parked, nothing ready, nothing outside
//!   ACTIVE ---------------------------------------------------------> STUCK(since, others)
//!      ^                                                                |            |
//!      |  (2) a frame has run, a message or a run has begun             |            | (3) examined
//!      +----------------------------------------------------------------+            v
//!                                                                                 REPORTED
//! ```
//!
//! **The rule.** The runs of a stuck runtime are reported (3) when no party that could end one of their waits can act:
//!
//! 1. *This runtime.* All its workers are parked, with no ready frame, no message, and no external wait
//!    ([`Externals`](crate::task::teams::Externals): `foreign`, `blocking`, `Continuation::external`, `outside`). A
//!    continuation or guard kept in a frame, or in memory that frames own, cannot be used.
//! 2. *Tasks of other runtimes.* For every other runtime, each run that was under way when this runtime became stuck
//!    (`others`) has ended since, or its runtime cannot act either: it is stuck, too, and so is every runtime with a
//!    run among *its* `others`, and so on ([`can_act`]). So no task exists that could still resolve a continuation that
//!    it has obtained before. A run that begins later does not join `others`, unless a thread of a runtime has begun
//!    it: a program's own thread that carries a continuation into a new run counts as outside, and must declare this,
//!    as for any other way in which it may resolve the continuation.
//! 3. *Plain threads.* They are outside. A plain thread's continuation must be marked as external. For a guard or
//!    permit, the library knows whether a plain thread has taken it itself ([`TAKEN`]): while the process has any such
//!    permit, no wait for a lock is reported. A guard *moved* to a plain thread is invisible to the library, so a
//!    runtime in which some task waits for a lock must have been stuck for [`PATIENCE`]; a program that lends guards
//!    for longer declares it with `outside`.
//!
//! All stuck runtimes that satisfy the rule are reported at once: a cycle of waits through two runtimes is one
//! deadlock.
//!
//! **Ending runs begin new runs.** While the runs are being listed, one of `others` may begin a run on a third runtime
//! and end: the list must contain one of the two. So a list is valid only if no run has begun between the moment before
//! it was made and the moment after the ended runs were removed ([`note_others`]). Then every run began before the list
//! was made: it is in the list, or it had ended by then, and its own runs had begun before. A listed run is marked as
//! watched before the examination checks again whether it is live, so that its end examines again if it was found live.
//!
//! **The examination sees one moment.** [`examine`] holds the table of teams, which makes examinations exclusive, and
//! the idling mutexes of all parked teams, so that none of their workers can wake during the examination. A thread of
//! an active team that makes a frame ready here publishes it first, and then waits for that mutex, so its run is still
//! under way. All conditions are checked under all mutexes, so the examination sees that run.
//!
//! **No report is lost.** A blocked report becomes possible only by an event that examines again: a team becomes stuck
//! (the last worker to park examines); one of `others` ends (`end_run`, if the run is marked as watched: a Dekker pair
//! with the check whether it is live, since both sides fence between their store and their load); a plain thread drops
//! its last permit; the patience ends, for which the team's ticker sets its alarm. Except for these events, a stuck
//! team costs no processor time.

use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::time::{Duration, Instant};

use super::report;
use super::team::{Team, Waits};
use crate::process::ProcessMutex;
use crate::task::runs::Run;
use crate::task::suspend::Continuation;
use crate::task::teams::same_team;

/// Time that a runtime in which a task waits for a lock must have been stuck before its runs are reported.
const PATIENCE: Duration = Duration::from_secs(1);

/// All teams of the process. Locked during an examination.
static TEAMS: ProcessMutex<Vec<Arc<Team>>> = ProcessMutex::new(Vec::new());
/// Number of teams that are stuck, or have been: a hint, so that most ends of runs examine nothing.
static STUCK: AtomicUsize = AtomicUsize::new(0);
/// Number of permits that plain threads have taken and still hold.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// A snapshot of a team's activity: while it stays the same, the team has been stuck all the time.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Progress {
    resumptions: u64,
    messages: u64,
    threads: u64,
    runs: u64,
}

/// The record of a stuck team.
pub(super) struct Stuck {
    progress: Progress,
    since: Instant,
    /// Whether some task waits for a lock.
    waits_for_lock: bool,
    /// Runs of other teams that were under way when the team became stuck, or that a thread of a runtime has begun
    /// since. The first examination, which follows at once, fills this list.
    others: Vec<Arc<Run>>,
    noted: bool,
}

impl Stuck {
    /// Returns the end of the patience, for a team in which a task waits for a lock.
    fn patience(&self) -> Option<Instant> {
        self.waits_for_lock.then(|| self.since + PATIENCE)
    }
}

/// Counts a permit that a plain thread is about to take. If taking it fails, [`permit_returned`] must follow.
pub(crate) fn permit_taken() {
    // Relaxed: ordered by the fence.
    TAKEN.fetch_add(1, Ordering::Relaxed);
    // Pairs with the Acquire that finds the permit taken: the examination of that wait sees it counted.
    fence(Ordering::Release);
}

/// Uncounts a permit that a plain thread had taken, and that has been given back or forgotten.
#[cold]
pub(crate) fn permit_returned() {
    // SeqCst: pairs with an examination that has found this permit, and whose team is counted as stuck before.
    if TAKEN.fetch_sub(1, Ordering::SeqCst) == 1 {
        examine_if_stuck();
    }
}

/// Registers a new team.
pub(super) fn register(team: &Arc<Team>) {
    let mut teams = TEAMS.lock();
    // A forked child has no threads of its parent's teams: it must not wait for them, and cannot safely drop them.
    teams.extract_if(.., |team| team.forked()).for_each(std::mem::forget);
    teams.push(Arc::clone(team));
}

/// Removes a team whose workers have ended, before its last owner releases it.
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

impl Team {
    /// Looks for a deadlock when all workers are parked. Does nothing if the team has no run, or has an external wait.
    /// If all open leaves of a run wait for its quiescence, the run is quiescent, and this resumes those waiters.
    /// Otherwise, unless all runs are cancelled, the team is stuck: [`examine`] follows. Returns true if any waiter was
    /// resumed; then the caller must look for work, since some of the waiters may run on the caller's worker only.
    pub(crate) fn look_for_deadlock(&self) -> bool {
        if self.external.any() || !self.any_run() {
            return false;
        }
        let mut before = None;
        let found = self.idle.while_all_parked(|| {
            let under_way = self.runs_under_way();
            if !self.is_quiet() {
                return None;
            }
            let mut rested = Vec::new();
            for run in &under_way {
                rested.extend(run.take_quiescence_waiters(self.open_leaves(run)));
            }
            // Waiters for quiescence resume, and may end the waits of others. Until all have been resumed, this
            // thread counts as an external wait, which a worker that parks finds.
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
        rested.into_iter().for_each(|k: Continuation<()>| k.resolve(()));
        self.idle.notify_all();
        self.external.leave();
        true
    }

    /// Returns whether only another runtime, or an undeclared outside party, can wake a worker. Called while all
    /// workers are parked.
    ///
    /// The caller lists the runs under way before this call: a run that was seen under way has had its root queued, and
    /// all workers have stayed parked since. This checks the externals first: a thread that ends an external wait makes
    /// the waiter visible before it leaves.
    fn is_quiet(&self) -> bool {
        !self.external.any() && !self.work_visible() && !(0..self.seats.len()).any(|worker| self.waits_for(worker))
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

    /// Performs transition 1, while all workers are parked. Returns the previous record, which the caller must drop
    /// without a lock.
    #[must_use]
    fn note_stuck(&self) -> Option<Stuck> {
        let progress = self.progress();
        if self.is_stuck_at(progress) {
            return None;
        }
        let mut waits_for_lock = false;
        for seat in &self.seats {
            seat.pool().walk(|frame, table| waits_for_lock = waits_for_lock || report::waits_for_lock(frame, table));
        }
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

    /// Performs transition 2 if it is due. Returns whether the team is stuck, and the previous record, which the caller
    /// must drop without a lock.
    ///
    /// The progress is read under the lock: the last worker may be noting right now that the team is stuck again, and
    /// this note must not be compared with older progress.
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

    /// Performs transitions 2 and 3. Returns the previous record, which the caller must drop without a lock.
    #[must_use]
    fn forget_stuck(&self) -> Option<Stuck> {
        let before = self.with_stuck(Option::take);
        if before.is_some() {
            // Relaxed: a stale count that is too high only costs an examination.
            STUCK.fetch_sub(1, Ordering::Relaxed);
        }
        before
    }

    /// Cancels the stuck team's runs, and describes their waits.
    fn report(&self, runs: Vec<Arc<Run>>, teams: &[Arc<Team>]) {
        let stuck: Vec<_> = runs.into_iter().filter(|run| run.mark_deadlocked()).collect();
        self.groups.advance_epoch();
        // Another team may be active, and its tasks may wait for frames of this team: these are skipped.
        let others = teams.iter().filter(|other| !ptr::eq(&***other, self)).map(|other| other.groups.keep_waiters());
        let others: Vec<_> = others.collect();
        let mut waits = Waits::new();
        self.seats.iter().for_each(|seat| seat.host().report_waits(&mut waits));
        for seat in &self.seats {
            seat.pool().walk(|frame, table| {
                if !others.iter().any(|waiters| waiters.wait_for(frame)) {
                    report::describe(frame, table, &self.groups, &stuck, &mut waits);
                }
            });
        }
        drop(others);
        // Awaited tasks of other runtimes are in the pools of those runtimes, which are stuck as well.
        self.groups.each_awaited(|frame, group| {
            // SAFETY: `each_awaited` keeps `frame` live during the call.
            if !same_team(unsafe { frame.as_ref() }.group, group) {
                report::describe_spawned(frame, &self.groups, &stuck);
            }
        });
    }

    /// Counts the leaves of `run` that have a waiter. Called while all workers are parked.
    fn open_leaves(&self, run: &Run) -> usize {
        let mut count = 0;
        for seat in &self.seats {
            seat.pool()
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
    // Dropping these may drop the last reference to a run, which runs user code: no lock is held then.
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
    for at in reported {
        dropped.extend(teams[at].forget_stuck());
        teams[at].sweep();
    }
    drop(teams);
    drop((under_way, dropped_runs, dropped));
}

/// Updates, for each stuck team, the runs of other teams that could still end its waits: initially all live runs, later
/// those that a thread of a runtime has begun. Moves the ended runs to `dropped`, which the caller must drop without a
/// lock.
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
        // Dekker: a run that ends from now on examines again (`Team::end_run`).
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
    /// As far as the library knows, nothing in the team and nothing outside can act.
    stuck: bool,
    /// Indices of the teams with a run that may end a wait in this team.
    awaits: Vec<usize>,
}

/// Returns which teams can still act: those that are not stuck, and those that a team which can act may wake. The
/// others must be reported.
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
