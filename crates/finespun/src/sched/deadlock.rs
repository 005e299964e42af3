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
//!    has ended since, or its runtime cannot act either: it is stuck too, and so is every runtime with a run among *its*
//!    `others`, and so on ([`can_act`]). So no task exists that could still resolve a continuation that it has
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
//! **Runs that end beget runs.** One of `others` may begin a run on a third runtime and end, while the runs are being listed: what
//! is listed must hold one of the two. So a list counts only if no run has been begun from before it was made until the ended ones
//! had been taken out ([`note_others`]). Then each run had been begun before the list was made: it is listed, or had ended by then, and
//! so had begun all its own before. A run that has been listed is marked as watched before it is looked at once more, so that its
//! end examines again if it has been found live.
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

/// How long a runtime in which a task waits for a lock must have been stuck before that is reported.
const PATIENCE: Duration = Duration::from_secs(1);

/// All teams of the process. Held during an examination.
static TEAMS: ProcessMutex<Vec<Arc<Team>>> = ProcessMutex::new(Vec::new());
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

/// A permit is about to be taken by a plain thread; if it cannot be, [`permit_returned`] follows.
pub(crate) fn permit_taken() {
    // Relaxed: see the fence.
    TAKEN.fetch_add(1, Ordering::Relaxed);
    // Pairs with the Acquire of whoever finds the permit taken: the examination of that wait finds it counted.
    fence(Ordering::Release);
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
    let mut teams = TEAMS.lock();
    // A fork has no threads of its parent's teams: nothing that they do is waited for, nor is anything of theirs safe to drop.
    teams.extract_if(.., |team| team.forked()).for_each(std::mem::forget);
    teams.push(Arc::clone(team));
}

/// Takes a team out whose workers have ended, before its last owner lets go of it.
pub(super) fn unregister(team: &Team) {
    let mut teams = TEAMS.lock();
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

    /// Transition 2, if it is due: whether the team is stuck, and what was known, to be dropped without a lock.
    ///
    /// The progress is looked at under the lock: its last worker may be noting right now that the team is stuck again, and that note
    /// must not be compared with what the team had done before.
    #[must_use]
    fn forget_unless_stuck(&self) -> (bool, Option<Stuck>) {
        let (known, before) = self.with_stuck(|stuck| {
            let known = stuck.as_ref().is_some_and(|stuck| stuck.progress == self.progress());
            (known, if known { None } else { stuck.take() })
        });
        if before.is_some() {
            // Relaxed: the count is a hint downwards.
            STUCK.fetch_sub(1, Ordering::Relaxed);
        }
        (known, before)
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
    fn report(&self, runs: Vec<Arc<Run>>, teams: &[Arc<Team>]) {
        let stuck: Vec<_> = runs.into_iter().filter(|run| run.mark_deadlocked()).collect();
        self.groups.raise();
        // Another team may be active, and its tasks wait for some of this one: those are not looked at.
        let others = teams.iter().filter(|other| !ptr::eq(&***other, self)).map(|other| other.groups.keep_waiters());
        let others: Vec<_> = others.collect();
        let mut waits = Waits::new();
        self.seats.iter().for_each(|seat| seat.host().tell_waits(&mut waits));
        for seat in &self.seats {
            seat.pool().walk(|frame, table| {
                if !others.iter().any(|waiters| waiters.wait_for(frame)) {
                    report::describe(frame, table, &self.groups, &stuck, &mut waits);
                }
            });
        }
        drop(others);
        // What tasks of other runtimes are waited for is in the pools of those, which are stuck as well.
        self.groups.each_awaited(|frame, group| {
            // SAFETY: live meanwhile.
            if !same_team(unsafe { frame.as_ref() }.group, group) {
                report::describe_spawned(frame, &self.groups, &stuck);
            }
        });
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

/// Looks at all stuck teams, and reports those that the rule allows to report (3).
pub(super) fn examine() {
    let teams = TEAMS.lock();
    let mut reported = Vec::new();
    let mut alarms = Vec::new();
    // What is dropped may be the last of a run, hence the program's: without a lock.
    let mut dropped_runs = Vec::new();
    let mut dropped = Vec::new();
    let parked: Vec<_> = teams.iter().map(|team| if team.any_run() { team.idle.keep_parked() } else { None }).collect();
    let now = Instant::now();
    let mut stuck = vec![false; teams.len()];
    let mut patient = vec![false; teams.len()];
    // SeqCst: see `permit_returned`.
    let taken = TAKEN.load(Ordering::SeqCst) > 0;
    // Before it is looked whether anything can act: see `is_quiet`.
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

/// Notes for each stuck team which runs of others could still end its waits: at first all that are live; then those that a thread
/// of a runtime has begun. Takes those out that could no more, to be `dropped` without a lock.
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
        // Dekker: one that ends from now on examines again (`Team::end_run`).
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
    /// Of which of the teams some run could still end a wait of this one, if it is stuck.
    fn awaits(&self, teams: &[Arc<Team>]) -> Vec<usize> {
        let of = |run: &Arc<Run>| teams.iter().position(|team| same_team(run.number, team.id.run(0)));
        self.with_stuck(|own| own.iter().flat_map(|own| &own.others).filter_map(of).collect())
    }
}

/// What the rule has to know of a team.
#[derive(Debug)]
struct Known {
    /// Nothing in the team can act, nor outside for all that is known.
    stuck: bool,
    /// The teams of which some run may end a wait in this one.
    awaits: Vec<usize>,
}

/// Which of the teams can still act: those that are not stuck, and those that one of these may wake. The others are to be reported.
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
    fn a_cycle_is_reported_and_what_an_active_team_may_wake_is_not() {
        assert_eq!(reports(&[true], &[&[]]), [0]);
        assert_eq!(reports(&[true, true], &[&[1], &[0]]), [0, 1]);
        assert_eq!(reports(&[true, false], &[&[1], &[]]), []);
        assert_eq!(reports(&[true, false], &[&[], &[]]), [0]);
        // The first waits for the second, which is stuck, but for a run of the third, which is active.
        assert_eq!(reports(&[true, true, false], &[&[1], &[2], &[]]), []);
        assert_eq!(reports(&[true, true, true, false], &[&[1], &[0], &[3], &[]]), [0, 1]);
    }

    /// All pictures of four teams: a team is reported if it and all that it awaits, over however many others, are stuck.
    #[test]
    fn a_team_is_reported_if_nothing_that_it_awaits_can_act() {
        const TEAMS: usize = 4;
        for picture in 0..1_u32 << (TEAMS * TEAMS) {
            let bit = |row: usize, column: usize| picture >> (row * TEAMS + column) & 1 == 1;
            // On the diagonal: which are stuck.
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
