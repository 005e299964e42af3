//! A Hopfield network that recalls patterns, its neurons spread over the nodes.
//!
//! The third benchmark of the I-structure software cache (i-structure-software-cache, section 3.2, tables 2 and 4). A neuron is 1
//! or -1, as the sum of all others says, each weighted by how often the two agree in the patterns; a sweep looks at all neurons.
//! The weights of a neuron are where it is; the states are read from everywhere. Each sweep writes a new array of states: so
//! neurons may look at each other one after the other, in the order of their indices ([`Update::Sequential`]), and nobody says when
//! whose turn is: who needs a state that is not there yet waits for it. Or all look at the states of the last sweep
//! ([`Update::Synchronous`]), as in the paper. The three forms are those of [`densemm`](crate::densemm).
//!
//! Answers, sequential, by a program of its own in another language: 256 neurons, 16 patterns, seed 1, 32 drawn sites turned: all 16
//! recalled, 33 sweeps, 462 changes, energies -528,988 in sum; 1024 neurons, 64 patterns, seed 2, 128 sites: 63 recalled, mean overlap
//! 0.999969, 141 sweeps, 7,241 changes, -33,533,308.

use finespun::istructure::{Counts, IArray};
use finespun::prelude::*;
use finespun::{Replicated, layout};
use serde::{Deserialize, Serialize};

use crate::densemm::Form;

/// Whose states a neuron looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Update {
    /// Those of this sweep of all neurons before it, and those of the last sweep of the others.
    Sequential,
    /// Those of the last sweep.
    Synchronous,
}

/// A network, and how it is used.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// Neurons.
    pub neurons: usize,
    /// Patterns to be recalled.
    pub patterns: usize,
    /// Of the random numbers.
    pub seed: u32,
    /// Sites that are drawn, and turned, of a pattern, before it is recalled.
    pub turned: usize,
    /// Whose states a neuron looks at.
    pub update: Update,
    /// After so many sweeps a pattern is given up; two neurons may turn each other for ever if they are synchronous.
    pub sweeps: u32,
}

/// What has been found.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Found {
    /// Patterns that have been recalled exactly.
    pub recalled: u64,
    /// Sweeps, those that have changed nothing included.
    pub sweeps: u64,
    /// Neurons that a sweep has changed.
    pub changes: u64,
    /// The sum of the energies of the patterns.
    pub energy: i64,
    /// How much of the patterns has been recalled: the mean of the overlaps, 0 to 1.
    pub overlap: f64,
}

/// The patterns, and where their recall begins.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Net {
    patterns: Vec<Vec<i8>>,
    starts: Vec<Vec<i8>>,
}

impl Net {
    /// Draws them: the numbers are those of `lrand48`, the top bit of its state is a neuron of a pattern.
    pub fn draw(problem: &Problem) -> Net {
        let mut state = (u64::from(problem.seed) << 16) + 0x330E;
        let mut next = || {
            state = state.wrapping_mul(0x5_DEEC_E66D).wrapping_add(0xB) & ((1 << 48) - 1);
            state
        };
        let mut pattern = |_| (0..problem.neurons).map(|_| if next() >> 47 == 1 { 1 } else { -1 }).collect();
        let patterns: Vec<Vec<i8>> = (0..problem.patterns).map(&mut pattern).collect();
        let start = |pattern: &Vec<i8>| {
            let mut start = pattern.clone();
            for _ in 0..problem.turned {
                let site = (next() >> 17) as usize % problem.neurons;
                start[site] = -start[site];
            }
            start
        };
        let starts = patterns.iter().map(start).collect();
        Net { patterns, starts }
    }

    /// The weights of a neuron's sum.
    fn row(&self, i: usize) -> Vec<i32> {
        let neurons = self.patterns.first().map_or(0, Vec::len);
        let weight = |j: usize| self.patterns.iter().map(|x| i32::from(x[i]) * i32::from(x[j])).sum();
        (0..neurons).map(|j| if i == j { 0 } else { weight(j) }).collect()
    }

    /// Twice what a neuron has of the energies of all patterns.
    fn energy(&self, i: usize, row: &[i32]) -> i64 {
        let of =
            |x: &Vec<i8>| i64::from(x[i]) * row.iter().zip(x).map(|(w, &x)| i64::from(*w) * i64::from(x)).sum::<i64>();
        -self.patterns.iter().map(of).sum::<i64>()
    }

    /// How a recall has ended.
    fn tell(&self, found: &mut Found, pattern: usize, state: &[i8]) {
        let x = &self.patterns[pattern];
        let overlap: i64 = x.iter().zip(state).map(|(a, b)| i64::from(a * b)).sum();
        found.recalled += u64::from(x == state);
        found.overlap += overlap.unsigned_abs() as f64 / (x.len() * self.patterns.len()) as f64;
    }
}

/// The state that a sum tells; the old one if it tells nothing.
fn turned(sum: i32, old: i8) -> i8 {
    match sum {
        1.. => 1,
        0 => old,
        _ => -1,
    }
}

/// All recalls, by loops.
pub fn plain(problem: &Problem) -> Found {
    let net = Net::draw(problem);
    let rows: Vec<Vec<i32>> = (0..problem.neurons).map(|i| net.row(i)).collect();
    let energy: i64 = rows.iter().enumerate().map(|(i, row)| net.energy(i, row)).sum();
    let mut found = Found { energy: energy / 2, ..Found::default() };
    for (pattern, start) in net.starts.iter().enumerate() {
        let mut state = start.clone();
        for _ in 0..problem.sweeps {
            let last = state.clone();
            for (i, row) in rows.iter().enumerate() {
                let seen = if problem.update == Update::Sequential { &state } else { &last };
                let sum = row.iter().zip(seen).map(|(w, &x)| w * i32::from(x)).sum();
                state[i] = turned(sum, last[i]);
            }
            let changes = state.iter().zip(&last).filter(|(new, old)| new != old).count() as u64;
            found.sweeps += 1;
            found.changes += changes;
            if changes == 0 {
                break;
            }
        }
        net.tell(&mut found, pattern, &state);
    }
    found
}

/// The neurons of a node.
#[derive(Serialize, Deserialize)]
pub struct Owner {
    /// The first neuron.
    first: usize,
    /// The neuron behind the last one.
    end: usize,
    update: Update,
    rows: Vec<Replicated<Vec<i32>>>,
    /// The states, where there are no arrays; and those that the sweep writes.
    state: Vec<i8>,
    next: Vec<i8>,
}

#[object]
impl Owner {
    /// Computes the weights, and twice the own part of the energies.
    fn make(&mut self, net: Replicated<Net>) -> i64 {
        self.rows = (self.first..self.end).map(|i| Replicated::new(net.row(i))).collect();
        self.rows.iter().zip(self.first..).map(|(row, i)| net.energy(i, row)).sum()
    }

    fn row(&self, i: usize) -> Replicated<Vec<i32>> {
        self.rows[i - self.first].clone()
    }

    fn own(&self) -> (usize, usize, Update) {
        (self.first, self.end, self.update)
    }

    /// The states at the start of a recall.
    fn begin(&mut self, net: Replicated<Net>, pattern: usize) {
        self.state = net.starts[pattern][self.first..self.end].to_vec();
        self.next = self.state.clone();
    }

    fn state(&self, i: usize) -> i8 {
        self.state[i - self.first]
    }

    fn states(&self) -> Vec<i8> {
        self.state.clone()
    }

    fn turn(&mut self, i: usize, state: i8) {
        self.next[i - self.first] = state;
        if self.update == Update::Sequential {
            self.state[i - self.first] = state;
        }
    }

    /// The states of the sweep are those of the next one's start.
    fn end_sweep(&mut self) {
        self.state.clone_from(&self.next);
    }

    /// Looks at a neuron by requests; whether it changes.
    #[task(stack)]
    async fn look_by_requests(this: Ref<Self>, owners: Replicated<Vec<Ref<Owner>>>, i: usize) -> bool {
        let row: Replicated<Vec<i32>> = this.row(i).await;
        let n: usize = row.len();
        let mut sum: i32 = 0;
        for j in 0..n {
            let home: Ref<Owner> = owners[layout::block(n, owners.len())(j)];
            let x: i8 = home.state(j).await;
            sum += row[j] * i32::from(x);
        }
        let old: i8 = this.state(i).await;
        let new = turned(sum, old);
        this.turn(i, new).await;
        new != old
    }

    /// One after the other; how many change.
    async fn sweep_by_requests(this: Ref<Self>, owners: Replicated<Vec<Ref<Owner>>>) -> u64 {
        let (first, end, _) = this.own().await;
        let mut changes: u64 = 0;
        for i in first..end {
            let changed: bool = this.look_by_requests(owners.clone(), i).await;
            changes += u64::from(changed);
        }
        changes
    }

    /// Writes the own states at the start of a recall.
    async fn fill(this: Ref<Self>, states: IArray<i8>, net: Replicated<Net>, pattern: usize) {
        let _ = this;
        states.fill(|i| net.starts[pattern][i]).await;
    }

    /// Looks at a neuron, whenever all are there that it needs; whether it changes.
    #[task(stack)]
    async fn look(this: Ref<Self>, last: IArray<i8>, next: IArray<i8>, i: usize, update: Update) -> bool {
        let row: Replicated<Vec<i32>> = this.row(i).await;
        let n: usize = row.len();
        let mut sum: i32 = 0;
        for j in 0..n {
            let from: IArray<i8> = if update == Update::Sequential && j < i { next } else { last };
            let x: i8 = from.get(j).await;
            sum += row[j] * i32::from(x);
        }
        let old: i8 = last.get(i).await;
        let new: i8 = turned(sum, old);
        next.put(i, new).await;
        new != old
    }

    /// All own neurons; how many change.
    async fn sweep(this: Ref<Self>, last: IArray<i8>, next: IArray<i8>) -> u64 {
        let (first, end, update) = this.own().await;
        let changed = join_all((first..end).map(|i| this.look(last, next, i, update))).await;
        changed.into_iter().map(u64::from).sum()
    }
}

/// Makes an array of states.
#[task]
async fn states(neurons: usize, form: Form, counted: bool) -> IArray<i8> {
    let Form::Arrays(cache) = form else { unreachable!("asked for arrays only") };
    let array = IArray::create(neurons, layout::block(neurons, nodes())).cached(cache);
    if counted { array.counted().await } else { array.await }
}

/// All recalls; and what each node has read, if that is counted.
#[task]
pub async fn recall(problem: &Problem, form: Form, counted: bool) -> (Found, Vec<Counts>) {
    let (n, count) = (problem.neurons, nodes().min(problem.neurons));
    let home = layout::block(n, nodes());
    let mut owners: Vec<Ref<Owner>> = Vec::new();
    let mut first = 0;
    for node in 0..count {
        let end = (first..n).find(|&i| home(i) != node).unwrap_or(n);
        let (rows, state, next) = (Vec::new(), Vec::new(), Vec::new());
        let owner = Owner { first, end, update: problem.update, rows, state, next };
        owners.push(on(node).create(owner).await);
        first = end;
    }
    let net = Replicated::new(Net::draw(problem));
    let energies: Vec<i64> = join_all(owners.iter().map(|owner| owner.make(net.clone()))).await;
    let mut found = Found { energy: energies.iter().sum::<i64>() / 2, ..Found::default() };
    let mut counts = vec![Counts::default(); nodes()];
    let all = Replicated::new(owners.clone());
    for pattern in 0..problem.patterns {
        let state = match form {
            Form::Split => recall_by_requests(&all, &net, pattern, problem, &mut found).await,
            Form::Arrays(_) => {
                recall_by_arrays(&all, &net, pattern, problem, form, counted, &mut found, &mut counts).await
            }
        };
        net.tell(&mut found, pattern, &state);
    }
    for owner in owners {
        Ref::free(owner).await;
    }
    (found, counts)
}

#[task]
async fn recall_by_requests(
    owners: &Replicated<Vec<Ref<Owner>>>,
    net: &Replicated<Net>,
    pattern: usize,
    problem: &Problem,
    found: &mut Found,
) -> Vec<i8> {
    join_all(owners.iter().map(|owner| owner.begin(net.clone(), pattern))).await;
    for _ in 0..problem.sweeps {
        let mut changes = 0;
        if problem.update == Update::Sequential {
            for owner in owners.iter() {
                changes += owner.sweep_by_requests(owners.clone()).await;
            }
        } else {
            let each: Vec<u64> = join_all(owners.iter().map(|owner| owner.sweep_by_requests(owners.clone()))).await;
            join_all(owners.iter().map(|owner| owner.end_sweep())).await;
            changes += each.iter().sum::<u64>();
        }
        found.sweeps += 1;
        found.changes += changes;
        if changes == 0 {
            break;
        }
    }
    join_all(owners.iter().map(|owner| owner.states())).await.concat()
}

#[task]
#[allow(clippy::too_many_arguments, reason = "where it stands, and what it adds to")]
async fn recall_by_arrays(
    owners: &Replicated<Vec<Ref<Owner>>>,
    net: &Replicated<Net>,
    pattern: usize,
    problem: &Problem,
    form: Form,
    counted: bool,
    found: &mut Found,
    counts: &mut Vec<Counts>,
) -> Vec<i8> {
    let mut last = states(problem.neurons, form, counted).await;
    join_all(owners.iter().map(|owner| owner.fill(last, net.clone(), pattern))).await;
    for _ in 0..problem.sweeps {
        let next = states(problem.neurons, form, counted).await;
        let each: Vec<u64> = join_all(owners.iter().map(|owner| owner.sweep(last, next))).await;
        let read = last.counts().await;
        counts.iter_mut().zip(read).for_each(|(sum, more)| *sum += more);
        last.free().await;
        last = next;
        let changes: u64 = each.iter().sum();
        found.sweeps += 1;
        found.changes += changes;
        if changes == 0 {
            break;
        }
    }
    let read = last.counts().await;
    counts.iter_mut().zip(read).for_each(|(sum, more)| *sum += more);
    let state = last.get_range(0..problem.neurons).await;
    last.free().await;
    state
}

#[cfg(test)]
mod tests {
    use finespun::istructure::Cache;

    use super::*;

    const SMALL: Problem =
        Problem { neurons: 256, patterns: 16, seed: 1, turned: 32, update: Update::Sequential, sweeps: 100 };

    #[test]
    fn the_answers_are_those_that_are_known() {
        let known = Found { recalled: 16, sweeps: 33, changes: 462, energy: -528_988, overlap: 1.0 };
        assert_eq!(plain(&SMALL), known);
    }

    #[test]
    #[cfg_attr(debug_assertions, ignore = "10 s without a release build")]
    fn most_of_64_patterns_are_recalled() {
        let problem = Problem { neurons: 1024, patterns: 64, seed: 2, turned: 128, ..SMALL };
        let found = plain(&problem);
        assert_eq!((found.recalled, found.sweeps, found.changes, found.energy), (63, 141, 7241, -33_533_308));
        assert!((found.overlap - 0.999_969).abs() < 1e-6, "{}", found.overlap);
    }

    #[test]
    fn all_forms_agree_with_the_loops() {
        let forms = [Form::Split, Form::Arrays(Cache::Off), Form::Arrays(Cache::On { block: 8, capacity: 2 })];
        for update in [Update::Sequential, Update::Synchronous] {
            let problem = Problem { neurons: 40, patterns: 3, turned: 5, sweeps: 9, update, ..SMALL };
            let known = plain(&problem);
            for (workers, nodes) in [(1, 1), (1, 16), (2, 3), (3, 50)] {
                for n in [0, 1, 3] {
                    let runtime =
                        Runtime::builder().workers(workers).nodes(nodes).block_every(n).build().expect("a runtime");
                    for form in forms {
                        let (found, _) = runtime.run(recall(&problem, form, true));
                        assert_eq!(found, known, "{update:?} {form:?} on {nodes} nodes, blocking every {n}");
                    }
                    assert_eq!(runtime.close(), 0);
                }
            }
        }
    }

    /// 256 neurons on 16 nodes, two synchronous sweeps: the paper's 512 local and 7680 remote reads of a node, of which it counts
    /// 99.22 % as hits: all but 60.
    #[test]
    fn reads_are_as_many_as_in_the_paper() {
        let problem = Problem { patterns: 1, update: Update::Synchronous, sweeps: 2, ..SMALL };
        let runtime = Runtime::builder().workers(1).nodes(16).build().expect("a runtime");
        let form = Form::Arrays(Cache::On { block: 8, capacity: 1000 });
        let (found, counts) = runtime.run(recall(&problem, form, true));
        assert_eq!(found.sweeps, 2);
        for counts in counts {
            // And the neuron's own state, which the paper seems to keep elsewhere: 16 neurons, twice.
            assert_eq!((counts.local, counts.remote), (512 + 32, 7680));
            assert_eq!((counts.requests, counts.hits), (60, 7620));
        }
    }
}
