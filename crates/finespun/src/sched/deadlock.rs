//! Deadlock: when a run is reported as one, and when not.
//!
//! A report ends its run, so it must not be wrong; it may be late. A task of one runtime can wait for what a task of
//! another holds: a handle, a lock, a continuation. So it is not enough that the run's own runtime has nothing to do.
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
//! **The rule.** A stuck runtime's runs are reported (3) when nothing that could end one of their waits can act:
//!
//! 1. *This runtime.* All its workers are parked, with no ready frame, no message, and no wait that something outside is
//!    known to end ([`Externals`](crate::task::teams::Externals): `foreign`, `blocking`, `Continuation::external`,
//!    `outside`). Who keeps a continuation or a guard, in a frame or in memory that frames own, cannot act.
//! 2. *Tasks of other runtimes.* Of every other runtime, each run that was under way when this one became stuck (`others`)
//!    has ended since, or its runtime is stuck too. So no task exists that could still resolve a continuation that it has
//!    got hold of before. A run that begins later is none of `others`, unless a thread of a runtime has begun it: a
//!    program's own thread that carries a continuation into a new run is outside, and has to say so, as for any other
//!    way in which it may resolve it.
//! 3. *Plain threads.* They are outside. A continuation that one has must be marked as external. Of a guard or permit
//!    the library knows if a plain thread has taken it itself ([`Taken`]): while there is one in the process, no wait for
//!    a lock is reported. That a guard has been *moved* to a plain thread cannot be seen, so a runtime in which some task
//!    waits for a lock must have been stuck for [`PATIENCE`]; a program that lends guards for longer says so by `outside`.
//!
//! All stuck runtimes that the rule allows are reported at once: a cycle of waits through two runtimes is one.
//!
//! **The picture is of one moment.** [`examine`] holds the table of teams, which makes examinations exclusive, and the
//! idling mutexes of all parked teams, so that none of their workers can be woken meanwhile. A thread of an active team
//! that makes a frame ready here publishes it first, and then waits for that mutex, so its run is still under way. All
//! conditions are looked at under all mutexes, so such a run is seen.
//!
//! **No report is lost.** What blocks a report changes only by events that examine again: a team becomes stuck (its last
//! worker to park does); one of `others` ends (`end_run`, if the run is marked as watched: a Dekker pair with the look at
//! whether it is under way, since both sides fence between their store and their load); the last permit of a plain thread
//! is dropped; the patience ends, for which the team's ticker sets its alarm. A stuck team costs no processor time but
//! for these.

use std::sync::atomic::{AtomicUsize, Ordering, fence};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::report;
use super::team::Team;
use crate::atomics::lock_std as lock;
use crate::task::runs::Run;
use crate::task::suspend::Continuation;

/// How long a runtime in which a task waits for a lock must have been stuck before that is reported.
const PATIENCE: Duration = Duration::from_secs(1);

/// All teams of the process. Held during an examination.
static TEAMS: Mutex<Vec<Arc<Team>>> = Mutex::new(Vec::new());
/// How many of them are stuck, or have been: a hint, so that most ends of runs examine nothing.
static STUCK: AtomicUsize = AtomicUsize::new(0);
/// Permits in the hands of plain threads that have taken them.
static TAKEN: AtomicUsize = AtomicUsize::new(0);

/// What a team has done so far: as long as it stays the same, the team has been stuck all the time.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Progress {
    resumptions: u64,
    messages: u64,
    threads: u64,
    runs: u64,
}

/// A team that is stuck.
pub(super) struct Stuck {
    progress: Progress,
    since: Instant,
    /// Some task waits for a lock.
    lent: bool,
    /// Runs of other teams that were under way at that time, or have been begun by a thread of a runtime since; they are
    /// noted by the first examination, which follows at once.
    others: Vec<Arc<Run>>,
    noted: bool,
}

impl Stuck {
    /// When the patience ends, for a team that needs some.
    fn patience(&self) -> Option<Instant> {
        self.lent.then(|| self.since + PATIENCE)
    }
}

/// A permit has been taken by a plain thread.
pub(crate) fn permit_taken() {
    // Relaxed: the permit's own word orders it before any wait for the permit.
    TAKEN.fetch_add(1, Ordering::Relaxed);
}

/// A permit that a plain thread had taken has been given back, or will never be.
#[cold]
pub(crate) fn permit_returned() {
    // SeqCst: against an examination that has found this permit, whose team is counted as stuck before.
    if TAKEN.fetch_sub(1, Ordering::SeqCst) == 1 {
        examine_if_stuck();
    }
}

/// Enters a team that has just been made.
pub(super) fn register(team: &Arc<Team>) {
    lock(&TEAMS).push(Arc::clone(team));
}

/// Takes a team out whose workers have ended, before its last owner lets go of it.
pub(super) fn unregister(team: &Team) {
    let mut teams = lock(&TEAMS);
    let own = teams.iter().position(|other| std::ptr::eq(&**other, team)).map(|at| teams.swap_remove(at));
    drop(teams);
    drop((own, team.forget_stuck()));
}

/// A watched run has ended.
#[cold]
pub(super) fn examine_if_stuck() {
    // SeqCst: see the callers.
    if STUCK.load(Ordering::SeqCst) > 0 {
        examine();
    }
}

impl Team {
    /// All workers have parked: if some task waits all the same, and for nothing outside, finds out why. A run in which all
    /// that wait do so for its quiescence is quiescent: those are resumed. Otherwise the team is stuck, which is
    /// [examined](examine). Returns true if any waiter was resumed; then the caller looks for work, since some of them may
    /// be for it alone.
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
                rested.extend(run.at_rest(self.open_leaves(run)));
            }
            // Waiters for quiescence go on, and may end what others wait for. Until all of them have been resumed, a worker
            // that parks finds that something is waited for: this thread.
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

    /// While all workers are parked: whether nothing can wake one but another runtime, or something outside that has not
    /// been declared.
    ///
    /// The runs under way are looked at before: a run that has been seen under way has had its root queued, and no worker
    /// has left since. Externals first: what ends one has made its waiter visible before.
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

    /// Transition 1, while all workers are parked. Returns what was known before, to be dropped without a lock.
    #[must_use]
    fn note_stuck(&self) -> Option<Stuck> {
        let progress = self.progress();
        if self.is_stuck_at(progress) {
            return None;
        }
        let mut lent = false;
        for seat in &self.seats {
            seat.pool().walk(|frame, table| lent = lent || report::is_lent(frame, table));
        }
        let stuck = Stuck { progress, since: Instant::now(), lent, others: Vec::new(), noted: false };
        let before = self.with_stuck(|own| own.replace(stuck));
        if before.is_none() {
            // SeqCst: against the events that examine again, which store before they look at this.
            STUCK.fetch_add(1, Ordering::SeqCst);
        }
        before
    }

    /// Whether the team has been stuck since it had come so far.
    fn is_stuck_at(&self, progress: Progress) -> bool {
        self.with_stuck(|stuck| stuck.as_ref().is_some_and(|stuck| stuck.progress == progress))
    }

    /// Transitions 2 and 3. Returns what was known, to be dropped without a lock.
    #[must_use]
    fn forget_stuck(&self) -> Option<Stuck> {
        let before = self.with_stuck(Option::take);
        if before.is_some() {
            // Relaxed: the count is a hint downwards.
            STUCK.fetch_sub(1, Ordering::Relaxed);
        }
        before
    }

    /// Ends the waits of a stuck team's runs, and describes them.
    fn report(&self, runs: Vec<Arc<Run>>) {
        let stuck: Vec<_> = runs.into_iter().filter(|run| run.mark_deadlocked()).collect();
        self.groups.raise();
        for seat in &self.seats {
            let object = |leaf| self.seats.iter().find_map(|seat| seat.host().waits_for(leaf));
            seat.pool().walk(|frame, table| report::describe(frame, table, &self.groups, &stuck, object));
        }
    }

    /// How many leaves of a run are waited for, while all workers are parked.
    fn open_leaves(&self, run: &Run) -> usize {
        let mut count = 0;
        for seat in &self.seats {
            seat.pool()
                .walk(|frame, table| count += usize::from(report::is_open_leaf(frame, table, &self.groups, run)));
        }
        count
    }
}

/// Calls `body` with which of the teams have all workers parked, which stays so meanwhile.
fn while_parked(teams: &[Arc<Team>], parked: &mut Vec<bool>, body: &mut dyn FnMut(&[bool])) {
    let Some(team) = teams.get(parked.len()) else { return body(parked) };
    let quiet = team.any_run().then(|| {
        team.idle.while_all_parked(|| {
            parked.push(true);
            while_parked(teams, parked, body);
        })
    });
    if quiet.flatten().is_none() {
        parked.push(false);
        while_parked(teams, parked, body);
    }
}

/// Looks at all stuck teams, and reports those that the rule allows to report (3).
pub(super) fn examine() {
    let teams = lock(&TEAMS);
    let mut reported = Vec::new();
    let mut alarms = Vec::new();
    // What is dropped may be the last of a run, hence the program's: without a lock.
    let mut dropped_runs = Vec::new();
    let mut dropped = Vec::new();
    while_parked(&teams, &mut Vec::with_capacity(teams.len()), &mut |parked| {
        let now = Instant::now();
        let under_way: Vec<_> = teams.iter().map(|team| team.runs_under_way()).collect();
        let mut stuck = vec![false; teams.len()];
        let mut patient = vec![false; teams.len()];
        // SeqCst: see `permit_returned`.
        let taken = TAKEN.load(Ordering::SeqCst) > 0;
        for (at, team) in teams.iter().enumerate() {
            if !team.is_stuck_at(team.progress()) {
                dropped.extend(team.forget_stuck());
                continue;
            }
            stuck[at] = parked[at] && team.is_quiet();
            if let Some(end) = team.with_stuck(|stuck| stuck.as_ref().and_then(Stuck::patience)) {
                patient[at] = taken || now < end;
                if now < end {
                    alarms.push((at, end));
                }
            }
        }
        for (at, team) in teams.iter().enumerate().filter(|&(at, _)| stuck[at]) {
            let others = (0..teams.len()).filter(|&other| other != at);
            let can_act = |other: usize| !stuck[other] || patient[other];
            let blocked = team.with_stuck(|own| {
                let Some(own) = own else { return true };
                dropped_runs.extend(own.note_others(others.clone().flat_map(|other| &under_way[other])));
                others.clone().any(|other| can_act(other) && under_way[other].iter().any(|run| own.awaits(run)))
            });
            if !blocked && !patient[at] {
                teams[at].report(under_way[at].clone());
                reported.push(at);
            }
        }
        dropped_runs.extend(under_way.into_iter().flatten());
    });
    for (at, end) in alarms {
        teams[at].bell.set_alarm(end);
    }
    for at in reported {
        dropped.extend(teams[at].forget_stuck());
        teams[at].sweep();
    }
    drop(teams);
    drop((dropped_runs, dropped));
}

impl Stuck {
    /// Notes the runs of other teams that could still end a wait: at first all; then those that a thread of a runtime has
    /// begun. Returns those that could no more, to be dropped without a lock.
    #[must_use]
    fn note_others<'a>(&mut self, under_way: impl Iterator<Item = &'a Arc<Run>>) -> Vec<Arc<Run>> {
        let first = !std::mem::replace(&mut self.noted, true);
        for run in under_way.filter(|run| first || run.is_inner()) {
            if !self.awaits(run) {
                run.watch();
                self.others.push(Arc::clone(run));
            }
        }
        // Dekker: one that ends from now on examines again (`Team::end_run`).
        fence(Ordering::SeqCst);
        let (left, ended) = std::mem::take(&mut self.others).into_iter().partition(|run| run.under_way());
        self.others = left;
        ended
    }

    fn awaits(&self, run: &Arc<Run>) -> bool {
        self.others.iter().any(|other| Arc::ptr_eq(other, run))
    }
}
