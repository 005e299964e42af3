//! The detection of rest: no worker of any process has anything to do, and no message is on its way.
//!
//! The processes form a binary tree, with the first process at its root. The root sends *probes* down the tree, one wave
//! after the other. A process reports up the tree when it has received the reports of those below it, and all of its own
//! workers are parked without anything to do: perhaps at once, perhaps much later. So a wave costs two messages for each
//! process, and waits for the busy ones.
//!
//! A report adds up the messages that workers have sent and received. The runtime rests if two waves in succession find
//! the same sums, and as many messages sent as received (Mattern: *Algorithms for distributed termination detection*,
//! 1987, the four-counter method). The argument: let t be the moment between the two waves. The counts of each process
//! grow only. The first wave saw at most what had been received by t, the second at least; so it was the same, and the
//! waves have found R, the number of messages received by t, and S, the number sent by t. Since S = R, no message
//! was on its way at t. And no process has been active from its first report to its second: it can be woken only by a
//! message, which it would have counted, or from outside, which it would have said.
//!
//! After a wave that finds a wait for something outside, the root waits until a process says that it has *changed*: it
//! has nothing to do again, after it has done something since its last report.
//!
//! This file is plain data: [`Rest`] says what to send, and the caller sends it.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use super::control::{Control, Said};
use crate::sched::peers::{Resting, RestingRun};

/// Time that a runtime in which a task waits for a lock must have rested before its runs are reported as deadlocked: a
/// guard may have been moved to a plain thread.
const PATIENCE: Duration = Duration::from_secs(1);

/// Sent and received messages, progress, and waits for something outside: equal counts mean that nothing has happened.
type Counts = (u64, u64, u64, bool, bool);

fn counts(resting: &Resting) -> Counts {
    (resting.sent, resting.received, resting.progress, resting.external, resting.others_act)
}

/// One process's part of the detection, of at least two.
pub(super) struct Rest {
    rank: usize,
    size: usize,
    /// The latest wave.
    wave: u32,
    /// Whether this process's own part of the wave is missing.
    due: bool,
    /// The number of reports from below that are missing.
    missing: usize,
    /// The sum of the reports of this wave so far.
    sum: Resting,
    /// What this process said last.
    said: Option<Counts>,
    /// At the root: whether a wave is under way.
    probing: bool,
    /// At the root: another wave is needed after this one.
    wanted: bool,
    /// At the root: the sums of the wave before.
    before: Option<Counts>,
    /// The runs that this process has reported itself, in this wave, with the lengths of their lists of waits.
    own_runs: Vec<(u32, usize)>,
    /// At the root: since when the runtime has rested with these sums, waiting for a lock.
    patient: Option<(Counts, Instant)>,
}

/// What follows from an event.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Step {
    /// Messages to send, with their receivers.
    pub(super) sends: Vec<(usize, Control)>,
    /// The runtime rests: these runs are quiescent.
    pub(super) quiescent: Vec<u32>,
    /// The runtime rests: these runs are deadlocked.
    pub(super) stuck: Vec<u32>,
    /// The root looks again at this time.
    pub(super) again: Option<Instant>,
}

/// Returns the processes below `rank` in a tree of `size` processes.
pub(super) fn below(rank: usize, size: usize) -> impl Iterator<Item = usize> {
    (2 * rank + 1..2 * rank + 3).filter(move |&child| child < size)
}

impl Rest {
    pub(super) fn new(rank: usize, size: usize) -> Rest {
        Rest {
            rank,
            size,
            wave: 0,
            due: false,
            missing: 0,
            sum: Resting::default(),
            said: None,
            probing: false,
            wanted: false,
            before: None,
            own_runs: Vec::new(),
            patient: None,
        }
    }

    /// Returns whether a wave waits for this process.
    pub(super) fn is_due(&self) -> bool {
        self.due
    }

    /// Returns whether [`quiet`](Rest::quiet) would use what `own` says about the runs.
    pub(super) fn needs_runs(&self, own: &Resting) -> bool {
        self.due || self.rank == 0 && !self.probing && (self.wanted || self.said != Some(counts(own)))
    }

    /// This process has nothing to do.
    pub(super) fn quiet(&mut self, own: Resting, now: Instant) -> Step {
        let mut step = Step::default();
        let changed = self.said != Some(counts(&own));
        if self.due {
            self.own_part(&own);
            self.finish(Some(&own), now, &mut step);
        } else if self.rank > 0 && changed {
            self.said = Some(counts(&own));
            step.sends.push((0, Control::Changed));
        } else if self.rank == 0 && !self.probing && (changed || self.wanted) {
            self.begin(Some(&own), &mut step);
        }
        step
    }

    /// A probe has arrived.
    pub(super) fn probe(&mut self, wave: u32) -> Step {
        self.start_wave(wave);
        let mut step = Step::default();
        self.send_down(&Control::Probe { wave }, &mut step);
        step
    }

    /// A report has arrived from below.
    pub(super) fn report(&mut self, wave: u32, said: Said, now: Instant) -> Step {
        let mut step = Step::default();
        if wave == self.wave && self.missing > 0 {
            self.missing -= 1;
            self.add(said.into());
            self.finish(None, now, &mut step);
        }
        step
    }

    /// Returns the length that a run's list of waits for quiescence had when this process reported last.
    pub(super) fn listed(&self, name: u32) -> usize {
        self.own_runs.iter().find(|run| run.0 == name).map_or(0, |run| run.1)
    }

    /// At the root: another wave is needed.
    pub(super) fn want(&mut self) {
        self.wanted = true;
    }

    fn start_wave(&mut self, wave: u32) {
        self.wave = wave;
        self.due = true;
        self.missing = below(self.rank, self.size).count();
        self.sum = Resting::default();
    }

    fn send_down(&self, control: &Control, step: &mut Step) {
        step.sends.extend(below(self.rank, self.size).map(|child| (child, control.clone())));
    }

    /// Adds this process's part to the wave.
    fn own_part(&mut self, own: &Resting) {
        self.due = false;
        self.said = Some(counts(own));
        self.own_runs = own.runs.iter().map(|run| (run.name, run.listed)).collect();
        self.add(own.clone());
    }

    fn add(&mut self, resting: Resting) {
        let sum = &mut self.sum;
        // Wrapping: what another process says may be forged.
        sum.sent = sum.sent.wrapping_add(resting.sent);
        sum.received = sum.received.wrapping_add(resting.received);
        sum.progress = sum.progress.wrapping_add(resting.progress);
        sum.external |= resting.external;
        sum.waits_for_lock |= resting.waits_for_lock;
        sum.others_act |= resting.others_act;
        let mut runs: BTreeMap<u32, RestingRun> = sum.runs.drain(..).map(|run| (run.name, run)).collect();
        for RestingRun { name, leaves, waiters, .. } in resting.runs {
            let run = runs.entry(name).or_insert(RestingRun { name, ..RestingRun::default() });
            run.leaves = run.leaves.wrapping_add(leaves);
            run.waiters = run.waiters.wrapping_add(waiters);
        }
        sum.runs = runs.into_values().collect();
    }

    /// At the root: begins a wave. `own` is what this process has to say, if it has nothing to do.
    fn begin(&mut self, own: Option<&Resting>, step: &mut Step) {
        self.probing = true;
        self.wanted = false;
        self.start_wave(self.wave.wrapping_add(1));
        self.send_down(&Control::Probe { wave: self.wave }, step);
        if let Some(own) = own {
            self.own_part(own);
        }
    }

    /// Reports, or concludes, if the wave is complete here.
    fn finish(&mut self, own: Option<&Resting>, now: Instant, step: &mut Step) {
        if self.due || self.missing > 0 {
            return;
        }
        let sum = std::mem::take(&mut self.sum);
        if self.rank > 0 {
            let report = Control::Report { wave: self.wave, resting: sum.into() };
            return step.sends.push(((self.rank - 1) / 2, report));
        }
        self.probing = false;
        let sums = counts(&sum);
        let same = self.before.replace(sums) == Some(sums);
        if sum.external {
            self.before = None;
            if self.wanted {
                self.begin(own, step);
            }
            return;
        }
        if sum.sent != sum.received || !same {
            return self.begin(own, step);
        }
        self.rests(&sum, now, step);
    }

    /// The runtime rests.
    fn rests(&mut self, sum: &Resting, now: Instant, step: &mut Step) {
        let quiescent = sum.runs.iter().filter(|run| run.waiters > 0 && run.waiters == run.leaves);
        step.quiescent.extend(quiescent.map(|run| run.name));
        if !step.quiescent.is_empty() {
            self.before = None;
            return self.send_down(&Control::Quiescent { runs: step.quiescent.clone() }, step);
        }
        // A run that the root has cancelled may still be live elsewhere.
        let stuck: Vec<_> = self.own_runs.iter().map(|&(name, _)| name).collect();
        // A process where nothing else may act any more says that it has changed.
        if stuck.is_empty() || sum.others_act {
            return;
        }
        if sum.waits_for_lock {
            let since = match self.patient {
                Some((sums, since)) if sums == counts(sum) => since,
                _ => now,
            };
            self.patient = Some((counts(sum), since));
            if now < since + PATIENCE {
                step.again = Some(since + PATIENCE);
                return;
            }
        }
        self.send_down(&Control::Stuck { runs: stuck.clone() }, step);
        step.stuck = stuck;
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::collections::VecDeque;

    use proptest::prelude::*;

    use super::*;

    /// A process, with its counts and its units of work.
    #[derive(Default)]
    struct Process {
        work: u32,
        external: bool,
        own: Resting,
    }

    /// Processes that send each other work, and their protocol, in an order that `choose` gives.
    struct Runtime {
        processes: Vec<Process>,
        rests: Vec<Rest>,
        /// Work on its way, by sender and receiver.
        work: Vec<(usize, usize)>,
        /// The protocol's messages on their way, in order for each pair.
        control: Vec<Vec<VecDeque<Control>>>,
        verdict: Option<Step>,
        now: Instant,
    }

    impl Runtime {
        fn new(size: usize) -> Runtime {
            let control = || (0..size).map(|_| VecDeque::new()).collect();
            Runtime {
                processes: (0..size).map(|_| Process::default()).collect(),
                rests: (0..size).map(|rank| Rest::new(rank, size)).collect(),
                work: Vec::new(),
                control: (0..size).map(|_| control()).collect(),
                verdict: None,
                now: Instant::now(),
            }
        }

        /// Returns whether only an event outside can make work.
        fn rests(&self) -> bool {
            self.work.is_empty() && self.processes.iter().all(|process| process.work == 0)
        }

        fn perform(&mut self, rank: usize, step: Step) {
            for (to, control) in &step.sends {
                self.control[rank][*to].push_back(control.clone());
            }
            if !step.stuck.is_empty() || !step.quiescent.is_empty() {
                let outside = self.processes.iter().any(|process| process.external);
                assert!(self.rests() && !outside, "found at rest too early");
                self.verdict = Some(step);
            }
        }

        /// Lets a process that has nothing to do say so.
        fn quiet(&mut self, rank: usize) {
            let process = &self.processes[rank];
            if process.work > 0 || self.work.iter().any(|&(_, to)| to == rank) {
                return;
            }
            let mut own = Resting { external: process.external, ..process.own.clone() };
            if !self.rests[rank].needs_runs(&own) {
                own.runs.clear();
            }
            let step = self.rests[rank].quiet(own, self.now);
            self.perform(rank, step);
        }

        fn deliver(&mut self, from: usize, to: usize) {
            let Some(control) = self.control[from][to].pop_front() else { return };
            let step = match control {
                Control::Probe { wave } => self.rests[to].probe(wave),
                Control::Report { wave, resting } => self.rests[to].report(wave, resting, self.now),
                Control::Changed => {
                    self.rests[to].want();
                    Step::default()
                }
                _ => return,
            };
            self.perform(to, step);
        }

        /// Lets something happen that `choice` chooses.
        fn step(&mut self, choice: u32) {
            let size = self.processes.len();
            let (what, a, b) = (choice % 8, (choice >> 3) as usize % size, (choice >> 13) as usize % size);
            match what {
                // Work is done, and perhaps makes work elsewhere.
                0 | 1 if self.processes[a].work > 0 => {
                    let process = &mut self.processes[a];
                    process.work -= 1;
                    process.own.progress += 1;
                    if what == 0 && a != b {
                        process.own.sent += 1;
                        self.work.push((a, b));
                    }
                }
                2 if !self.work.is_empty() => {
                    let (_, to) = self.work.swap_remove((choice >> 13) as usize % self.work.len());
                    self.processes[to].own.received += 1;
                    self.processes[to].work += 1;
                }
                // What something outside ends.
                3 if self.processes[a].external => {
                    self.processes[a].external = false;
                    self.processes[a].work += 1;
                }
                4 | 5 => self.quiet(a),
                _ => self.deliver(a, b),
            }
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 3000, failure_persistence: None, ..ProptestConfig::default() })]

        /// A deadlock is found, but not before all processes rest.
        #[test]
        fn rest_is_found_and_never_early(
            size in 2_usize..9,
            begin in proptest::collection::vec((0_u32..4, any::<bool>()), 9),
            choices in proptest::collection::vec(any::<u32>(), 0..400),
        ) {
            let mut runtime = Runtime::new(size);
            for (process, (work, external)) in runtime.processes.iter_mut().zip(begin) {
                (process.work, process.external) = (work, external);
            }
            // A run whose root waits for ever.
            runtime.processes[0].own.runs = vec![RestingRun { name: 1, leaves: 1, ..RestingRun::default() }];
            for choice in choices {
                runtime.step(choice);
                if runtime.verdict.is_some() {
                    return Ok(());
                }
            }
            // Everything happens in the end.
            for _ in 0..10_000 {
                for rank in 0..size {
                    while runtime.processes[rank].external || runtime.processes[rank].work > 0 || !runtime.work.is_empty() {
                        let rank = rank as u32;
                        [3, 1, 2].into_iter().for_each(|what| runtime.step(what | rank << 3));
                    }
                }
                for from in 0..size {
                    (0..size).for_each(|to| runtime.deliver(from, to));
                    runtime.quiet(from);
                }
                if runtime.verdict.is_some() {
                    break;
                }
            }
            let verdict = runtime.verdict.expect("rest is found");
            prop_assert_eq!(verdict.stuck, vec![1]);
        }
    }

    /// Returns the verdict about these runs of two processes that have nothing to do, and when it came.
    fn verdict(runs: [Vec<RestingRun>; 2], waits_for_lock: bool) -> (Step, Duration) {
        let mut runtime = Runtime::new(2);
        for (process, runs) in runtime.processes.iter_mut().zip(runs) {
            process.own = Resting { runs, waits_for_lock, ..Resting::default() };
        }
        let begun = runtime.now;
        for _ in 0..100 {
            for (from, to) in [(0, 1), (1, 0)] {
                runtime.quiet(from);
                runtime.deliver(from, to);
            }
            if let Some(verdict) = runtime.verdict {
                return (verdict, runtime.now - begun);
            }
            // As the alarm of the root does.
            runtime.now += Duration::from_millis(50);
            runtime.rests[0].want();
        }
        panic!("no verdict");
    }

    #[test]
    fn runs_are_quiescent_if_all_their_tasks_wait_for_that() {
        let run = |name, leaves, waiters| RestingRun { name, leaves, waiters, listed: 0 };
        let (found, _) = verdict([vec![run(1, 1, 1), run(2, 2, 2)], vec![run(2, 1, 0)]], false);
        assert_eq!((found.quiescent, found.stuck), (vec![1], vec![]));
        let (found, _) = verdict([vec![run(2, 2, 2)], vec![run(2, 1, 0), run(3, 1, 1)]], false);
        assert_eq!((found.quiescent, found.stuck), (vec![3], vec![]));
        let (found, _) = verdict([vec![run(2, 2, 2)], vec![run(2, 1, 0)]], false);
        assert_eq!((found.quiescent, found.stuck), (vec![], vec![2]));
    }

    #[test]
    fn a_deadlock_with_a_lock_is_reported_later() {
        let run = RestingRun { name: 1, leaves: 1, ..RestingRun::default() };
        let (found, at) = verdict([vec![run], vec![]], true);
        assert!(found.stuck == vec![1] && at >= PATIENCE, "too early: {at:?}");
        let (found, at) = verdict([vec![run], vec![]], false);
        assert!(found.stuck == vec![1] && at < PATIENCE, "too late: {at:?}");
    }
}
