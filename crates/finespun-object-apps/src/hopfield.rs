//! A Hopfield network that recalls patterns, its neurons spread over the nodes.
//!
//! The third benchmark of the I-structure software cache (i-structure-software-cache, section 3.2, tables 2 and 4). A
//! neuron's state is 1 or -1, the sign of the sum over all other states, each weighted by the agreement of the two
//! neurons in the patterns. A sweep updates all neurons. Each node owns the weights of its neurons; the states are read
//! from all nodes. Each sweep writes a new array of states. So the neurons of a sweep can be updated in the order of
//! their indices ([`Update::Sequential`]) without explicit synchronization: a read of a state that has not been written
//! yet waits for it. Or all updates read the states of the last sweep ([`Update::Synchronous`]), as in the paper. The
//! three forms are the same as in [`densemm`](crate::densemm).
//!
//! Answers, sequential, by an independent program in another language: 256 neurons, 16 patterns, seed 1, 32 drawn sites
//! flipped: all 16 recalled, 33 sweeps, 462 changes, energies -528,988 in sum; 1024 neurons, 64 patterns, seed 2, 128
//! sites: 63 recalled, mean overlap 0.999969, 141 sweeps, 7,241 changes, -33,533,308.

use finespun::istructure::{Counts, IArray};
use finespun::prelude::*;
use finespun::simulation;
use finespun::{layout, objects::Replicated};
use serde::{Deserialize, Serialize};

use crate::densemm::Form;

/// The order of updates in a sweep.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Update {
    /// A neuron reads the states of this sweep for lower indices, and of the last sweep for the others.
    Sequential,
    /// A neuron reads the states of the last sweep.
    Synchronous,
}

/// The parameters of a network and its recalls.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// Number of neurons.
    pub neurons: usize,
    /// Number of patterns to recall.
    pub patterns: usize,
    /// Seed of the random numbers.
    pub seed: u32,
    /// Number of random sites, possibly repeated, that are flipped in a pattern before its recall.
    pub turned: usize,
    /// The order of updates in a sweep.
    pub update: Update,
    /// Maximum number of sweeps for a pattern. With synchronous updates two neurons can flip each other for ever.
    pub sweeps: u32,
}

/// The results of all recalls.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Found {
    /// Number of patterns that have been recalled exactly.
    pub recalled: u64,
    /// Number of sweeps, including those that changed no state.
    pub sweeps: u64,
    /// Number of state changes in all sweeps.
    pub changes: u64,
    /// The sum of the energies of the patterns.
    pub energy: i64,
    /// The mean overlap of the recalled states with their patterns, 0 to 1.
    pub overlap: f64,
}

/// The patterns, and the initial states of their recalls.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Net {
    patterns: Vec<Vec<i8>>,
    starts: Vec<Vec<i8>>,
}

impl Net {
    /// Draws the patterns and initial states with the generator of `lrand48`; the top bit of its state is one neuron of
    /// a pattern.
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

    /// Returns the weights of a neuron's sum.
    fn row(&self, i: usize) -> Vec<i32> {
        let neurons = self.patterns.first().map_or(0, Vec::len);
        let weight = |j: usize| self.patterns.iter().map(|x| i32::from(x[i]) * i32::from(x[j])).sum();
        (0..neurons).map(|j| if i == j { 0 } else { weight(j) }).collect()
    }

    /// Returns twice the contribution of neuron `i` to the energies of all patterns.
    fn energy(&self, i: usize, row: &[i32]) -> i64 {
        let of =
            |x: &Vec<i8>| i64::from(x[i]) * row.iter().zip(x).map(|(w, &x)| i64::from(*w) * i64::from(x)).sum::<i64>();
        -self.patterns.iter().map(of).sum::<i64>()
    }

    /// Adds the result of one recall to `found`.
    fn tell(&self, found: &mut Found, pattern: usize, state: &[i8]) {
        let x = &self.patterns[pattern];
        let overlap: i64 = x.iter().zip(state).map(|(a, b)| i64::from(a * b)).sum();
        found.recalled += u64::from(x == state);
        found.overlap += overlap.unsigned_abs() as f64 / (x.len() * self.patterns.len()) as f64;
    }
}

/// Returns the sign of the sum, or the old state if the sum is 0.
fn turned(sum: i32, old: i8) -> i8 {
    match sum {
        1.. => 1,
        0 => old,
        _ => -1,
    }
}

/// Performs all recalls by loops.
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
    /// The current states, and the states that the sweep writes; empty if there are arrays.
    state: Vec<i8>,
    next: Vec<i8>,
}

#[object]
impl Owner {
    /// Computes the weights. Returns twice the own neurons' contribution to the energies.
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

    /// Sets the initial states of a recall.
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

    /// Makes the states that the sweep has written the current ones.
    fn end_sweep(&mut self) {
        self.state.clone_from(&self.next);
    }

    /// Updates a neuron, by requests. Returns whether its state has changed.
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
        simulation::compute(2 * n as u64);
        let old: i8 = this.state(i).await;
        let new = turned(sum, old);
        this.turn(i, new).await;
        new != old
    }

    /// Updates the own neurons one after the other. Returns the number of changes.
    async fn sweep_by_requests(this: Ref<Self>, owners: Replicated<Vec<Ref<Owner>>>) -> u64 {
        let (first, end, _) = this.own().await;
        let mut changes: u64 = 0;
        for i in first..end {
            let changed: bool = this.look_by_requests(owners.clone(), i).await;
            changes += u64::from(changed);
        }
        changes
    }

    /// Writes the own initial states of a recall.
    async fn fill(this: Ref<Self>, states: IArray<i8>, net: Replicated<Net>, pattern: usize) {
        let _ = this;
        states.fill(|i| net.starts[pattern][i]).await;
    }

    /// Updates a neuron; waits for states that have not been written yet. Returns whether its state has changed.
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
        simulation::compute(2 * n as u64);
        let old: i8 = last.get(i).await;
        let new: i8 = turned(sum, old);
        next.put(i, new).await;
        new != old
    }

    /// Updates all own neurons. Returns the number of changes.
    async fn sweep(this: Ref<Self>, last: IArray<i8>, next: IArray<i8>) -> u64 {
        let (first, end, update) = this.own().await;
        let changed = join_all((first..end).map(|i| this.look(last, next, i, update))).await;
        changed.into_iter().map(u64::from).sum()
    }
}

/// Creates an array of states.
#[task]
async fn states(neurons: usize, form: Form, counted: bool) -> IArray<i8> {
    let Form::Arrays(cache) = form else { unreachable!("asked for arrays only") };
    let array = IArray::create(neurons, layout::block(neurons, nodes())).cached(cache);
    if counted { array.counted().await } else { array.await }
}

/// Performs all recalls. Returns the results, and each node's counts of reads: zeros if the arrays are not counted.
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
    use finespun::testing::*;

    const SMALL: Problem =
        Problem { neurons: 256, patterns: 16, seed: 1, turned: 32, update: Update::Sequential, sweeps: 100 };

    #[test]
    fn answers_match_the_known_ones() {
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

    /// 256 neurons on 16 nodes, two synchronous sweeps. The paper reports 512 local and 7680 remote reads of a node,
    /// and 99.22 % of the latter as hits: all but 60.
    #[test]
    fn read_counts_match_the_paper() {
        let problem = Problem { patterns: 1, update: Update::Synchronous, sweeps: 2, ..SMALL };
        let runtime = Runtime::builder().workers(1).nodes(16).build().expect("a runtime");
        let form = Form::Arrays(Cache::On { block: 8, capacity: 1000 });
        let (found, counts) = runtime.run(recall(&problem, form, true));
        assert_eq!(found.sweeps, 2);
        for counts in counts {
            // The reads of the neuron's own state come on top (16 neurons, twice); the paper seems to keep that state
            // outside the array.
            assert_eq!((counts.local, counts.remote), (512 + 32, 7680));
            assert_eq!((counts.requests, counts.hits), (60, 7620));
        }
    }
}
