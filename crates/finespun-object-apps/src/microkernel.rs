//! Threads that gather and then compute: the communicate-compute microkernel.
//!
//! The running example of the Concert papers (concert-runtime-mechanisms, section 3, figure 3; experiments in section
//! 5.1, table 6): each of many places has many threads; each thread reads three values of one object concurrently, and
//! computes with them. Four parameters control the irregularity:
//!
//! | parameter | in the paper | here |
//! |---|---|---|
//! | share of accesses to other places | 0 to 100 % | `remote` |
//! | destinations of remote accesses | all-to-all, random, hotspot (4x, 16x) | [`Destinations`] |
//! | compute grain, in time | 10 to 5000 us | `grain`, in rounds of [`compute`] |
//! | its standard deviation over its mean | 0, 0.5, 1 | `variance` |
//!
//! The paper defines neither the weight of a hot spot nor the distribution of grains. Here, the hot place is N times as
//! likely as each other place, for [`Hotspot(N)`](Destinations::Hotspot). A grain is (1 - V) times the mean, plus V
//! times the mean times an exponentially distributed number with mean 1, so that its standard deviation is V times the
//! mean.
//!
//! A *place* is a processor of the paper's machine. The places are distributed over the nodes of the runtime, so the
//! answer depends on the places and not on the nodes; with as many nodes as places, each place is a node.
//!
//! Answer, by an independent program in another language: 8 places with 50 threads, half of the accesses remote, to a
//! hot spot of 4, grain 100, variance 0.5, seed 1: 208 threads with remote reads, 38,729 rounds, checksum
//! 16,321,917,139,484,510,171.

use finespun::prelude::*;
use finespun::simulation;
use serde::{Deserialize, Serialize};

/// Number of objects of each place.
pub const OBJECTS: usize = 64;

/// The distribution of the destinations of accesses to other places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destinations {
    /// All other places in turn, beginning with the next: the load is balanced.
    AllToAll,
    /// Any other place, with equal probability.
    Random,
    /// Any other place; the first place is this many times as likely as each of the others.
    Hotspot(u32),
}

/// The parameters of the program.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// Number of places: the processors of the paper.
    pub places: usize,
    /// Number of threads of each place.
    pub threads: usize,
    /// The probability that a thread reads an object of another place.
    pub remote: f64,
    /// The distribution of the other places.
    pub destinations: Destinations,
    /// The mean number of rounds that a thread computes.
    pub grain: u32,
    /// The standard deviation of the number of rounds over its mean: 0 to 1.
    pub variance: f64,
    /// The seed of the generator.
    pub seed: u64,
}

impl Problem {
    /// Returns the node of `place` on a runtime with `nodes` nodes.
    pub fn node(&self, place: usize, nodes: usize) -> usize {
        place * nodes / self.places
    }
}

/// The work of a thread.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// Index of the object that the thread reads; each place has [`OBJECTS`] consecutive indices.
    pub object: usize,
    /// The number of rounds that the thread computes.
    pub grain: u64,
}

/// The initial values and the jobs, drawn from a seed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The parameters.
    pub problem: Problem,
    /// The values of each object.
    pub values: Vec<[u64; 3]>,
    /// The job of each thread; the threads of a place are consecutive.
    pub jobs: Vec<Job>,
}

impl Plan {
    /// Draws the values of all objects; then, for each thread, whether it reads from another place, the place if it is
    /// random, the object, and the grain if it varies.
    ///
    /// # Panics
    /// Panics if the problem has no place, or one place and a `remote` other than 0.
    pub fn draw(problem: Problem) -> Plan {
        let Problem { places, threads, remote, destinations, grain, variance, seed } = problem;
        assert!(places > 1 || places == 1 && remote == 0.0, "{places} places, of which accesses are to leave {remote}");
        let mut draw = Draw::new(seed);
        let values = (0..places * OBJECTS).map(|_| [draw.next(), draw.next(), draw.next()]).collect();
        let mut jobs = Vec::with_capacity(places * threads);
        for place in 0..places {
            let mut left = 0;
            for _ in 0..threads {
                let other = draw.real() < remote;
                let at = if other { destinations.pick(places, place, left, &mut draw) } else { place };
                left += usize::from(other);
                let object = at * OBJECTS + draw.below(OBJECTS);
                let varied = if variance > 0.0 { variance * (draw.exponential() - 1.0) } else { 0.0 };
                jobs.push(Job { object, grain: (f64::from(grain) * (1.0 + varied)).round() as u64 });
            }
        }
        Plan { problem, values, jobs }
    }

    /// Returns the place of a thread.
    pub fn place(&self, thread: usize) -> usize {
        thread / self.problem.threads
    }

    /// Returns the number of threads that read an object of their own node and of threads that read from another node,
    /// on a runtime with `nodes` nodes.
    pub fn threads(&self, nodes: usize) -> (u64, u64) {
        let node = |place| self.problem.node(place, nodes);
        let away = |&(thread, job): &(usize, &Job)| node(self.place(thread)) != node(job.object / OBJECTS);
        let remote = self.jobs.iter().enumerate().filter(away).count();
        ((self.jobs.len() - remote) as u64, remote as u64)
    }

    /// Returns the number of rounds of all threads together.
    pub fn rounds(&self) -> u64 {
        self.jobs.iter().map(|job| job.grain).sum()
    }
}

impl Destinations {
    /// Returns the destination of the next remote access from `place`, which has sent `left` remote accesses before.
    /// Requires at least two places.
    pub fn pick(self, places: usize, place: usize, left: usize, draw: &mut Draw) -> usize {
        // Maps an index that does not count `skipped` to a place.
        let without = |skipped: usize, k: usize| k + usize::from(k >= skipped);
        match self {
            Destinations::AllToAll => (place + 1 + left % (places - 1)) % places,
            Destinations::Hotspot(times) if place > 0 => {
                let (times, drawn) = (times as usize, draw.below(times as usize + places - 2));
                if drawn < times { 0 } else { without(place, drawn - times + 1) }
            }
            Destinations::Random | Destinations::Hotspot(_) => without(place, draw.below(places - 1)),
        }
    }
}

/// The generator `splitmix64`.
#[derive(Debug)]
pub struct Draw(u64);

impl Draw {
    /// Makes the generator with the given seed.
    pub fn new(seed: u64) -> Draw {
        Draw(seed)
    }

    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        let z = (z ^ z >> 27).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ z >> 31
    }

    fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    /// Returns a number in `[0, 1)`.
    fn real(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Returns an exponentially distributed number with mean 1, by comparisons alone (von Neumann): the result is the
    /// same on every machine, unlike a logarithm's.
    pub fn exponential(&mut self) -> f64 {
        let mut whole = 0.0;
        loop {
            let first = self.real();
            let (mut least, mut falling) = (first, 1);
            loop {
                let next = self.real();
                if next >= least {
                    break;
                }
                (least, falling) = (next, falling + 1);
            }
            if falling % 2 == 1 {
                return whole + first;
            }
            whole += 1.0;
        }
    }
}

/// Elementary operations of a round of [`compute`].
pub const OPERATIONS: u64 = 4;

/// Performs the work of a thread. Each round is a shift, an exclusive or, a multiplication and an addition, and depends
/// on the round before. A round is the unit of the grain: about six cycles on a processor with a multiplication latency
/// of three.
pub fn compute([x, y, z]: [u64; 3], rounds: u64) -> u64 {
    (0..rounds).fold(x, |state, _| (state ^ state >> 29).wrapping_mul(y | 1).wrapping_add(z))
}

fn checksum_of(results: impl Iterator<Item = u64>) -> u64 {
    results.fold(0, |sum: u64, result| sum.rotate_left(1).wrapping_add(result))
}

/// The sequential version, over objects that are known by index.
pub struct Plain {
    objects: Vec<Object>,
    jobs: Vec<Job>,
}

impl Plain {
    /// Makes the objects and threads of a plan.
    pub fn new(plan: &Plan) -> Plain {
        let objects = plan.values.iter().map(|&values| Object { values, accesses: 0 }).collect();
        Plain { objects, jobs: plan.jobs.clone() }
    }

    /// Runs all threads and returns the checksum.
    pub fn run(&mut self) -> u64 {
        checksum_of(self.jobs.iter().map(|job| {
            let object = &mut self.objects[job.object];
            let values = [object.x(), object.y(), object.z()];
            compute(values, job.grain)
        }))
    }

    /// Returns the number of reads of each object's values.
    pub fn accesses(&self) -> Vec<u64> {
        self.objects.iter().map(|object| object.accesses).collect()
    }
}

/// An object with three values, which threads read.
#[derive(Serialize, Deserialize)]
pub struct Object {
    values: [u64; 3],
    accesses: u64,
}

#[object]
impl Object {
    /// Returns the first value. Counts the access, so it needs exclusive access.
    pub fn x(&mut self) -> u64 {
        self.accesses += 1;
        self.values[0]
    }

    /// Returns the second value.
    pub fn y(&mut self) -> u64 {
        self.accesses += 1;
        self.values[1]
    }

    /// Returns the third value.
    pub fn z(&mut self) -> u64 {
        self.accesses += 1;
        self.values[2]
    }

    fn set(&mut self, values: [u64; 3]) {
        self.values = values;
    }

    fn accesses(&self) -> u64 {
        self.accesses
    }
}

/// A thread that has not been started: an object, since it belongs to a place.
#[derive(Serialize, Deserialize)]
pub struct Thread {
    job: Option<(Ref<Object>, u64)>,
    result: u64,
}

#[object]
impl Thread {
    fn set(&mut self, job: (Ref<Object>, u64)) {
        self.job = Some(job);
    }

    fn job(&self) -> Option<(Ref<Object>, u64)> {
        self.job
    }

    fn keep(&mut self, result: u64) {
        self.result = result;
    }

    fn result(&self) -> u64 {
        self.result
    }

    /// Runs the paper's `WorkThread`: gathers, then computes.
    #[task(stack)]
    async fn work(this: Ref<Self>) {
        let job: Option<(Ref<Object>, u64)> = this.job().await;
        let Some(job) = job else { return };
        let (object, grain): (Ref<Object>, u64) = job;
        let (x, y, z) = join!(object.x(), object.y(), object.z());
        simulation::compute(grain * OPERATIONS);
        this.keep(compute([x, y, z], grain)).await
    }
}

/// Objects and threads, spread over the nodes of the runtime.
#[derive(Clone)]
pub struct Places {
    objects: Array<Object>,
    threads: Array<Thread>,
}

/// Creates the objects and threads of `plan`.
#[task]
pub async fn create(plan: &Plan) -> Places {
    let (problem, nodes) = (plan.problem, nodes());
    let at = move |index: usize| problem.node(index / OBJECTS, nodes);
    let make = |_: usize, _: &()| Object { values: [0; 3], accesses: 0 };
    let objects: Array<Object> = Array::create(plan.values.len(), at, make, ()).await;
    objects.each_with(plan.values.clone(), |object, values| object.set(values)).await;
    let at = move |index: usize| problem.node(index / problem.threads, nodes);
    let threads: Array<Thread> = Array::create(plan.jobs.len(), at, |_, &()| Thread { job: None, result: 0 }, ()).await;
    let jobs: Vec<_> = plan.jobs.iter().map(|job| (objects.get(job.object), job.grain)).collect();
    threads.each_with(jobs, |thread, job| thread.set(job)).await;
    Places { objects, threads }
}

/// Runs all threads, each at its place: the paper's `main`.
#[task]
pub async fn run(places: &Places) {
    places.threads.each(|thread| thread.work()).await;
}

/// Returns the checksum of what the threads have computed.
#[task]
pub async fn checksum(places: &Places) -> u64 {
    let results: Vec<u64> = places.threads.each(|thread| thread.result()).await;
    checksum_of(results.into_iter())
}

/// Returns the number of reads of each object's values.
#[task]
pub async fn accesses(places: &Places) -> Vec<u64> {
    places.objects.each(|object| object.accesses()).await
}

/// Frees the objects and threads.
#[task]
pub async fn free(places: &Places) {
    join!(places.objects.free(), places.threads.free());
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use finespun::testing::*;

    fn problem(places: usize, threads: usize, remote: f64, destinations: Destinations) -> Problem {
        Problem { places, threads, remote, destinations, grain: 20, variance: 1.0, seed: 3 }
    }

    /// The expected values are from an independent program, which shares only the module documentation with this one.
    #[test]
    fn plans_match_an_independent_program() {
        let hot = problem(8, 50, 0.5, Destinations::Hotspot(4));
        for (problem, remote, rounds, checksum) in [
            (Problem { grain: 100, variance: 0.5, seed: 1, ..hot }, 208, 38_729, 16_321_917_139_484_510_171),
            (
                Problem { variance: 0.0, seed: 2, ..problem(5, 40, 1.0, Destinations::AllToAll) },
                200,
                4000,
                8_309_942_534_644_227_294,
            ),
            (problem(5, 40, 0.3, Destinations::Random), 74, 3632, 10_486_483_312_086_258_101),
        ] {
            let plan = Plan::draw(problem);
            let mut plain = Plain::new(&plan);
            assert_eq!((plan.threads(problem.places).1, plan.rounds(), plain.run()), (remote, rounds, checksum));
            assert_eq!(plain.accesses().iter().sum::<u64>(), 3 * plan.jobs.len() as u64);
        }
    }

    /// Returns the number of accesses to each place.
    fn load(problem: Problem) -> Vec<u64> {
        let mut plain = Plain::new(&Plan::draw(Problem { grain: 1, ..problem }));
        plain.run();
        plain.accesses().chunks(OBJECTS).map(|place| place.iter().sum()).collect()
    }

    #[test]
    fn accesses_follow_the_distribution() {
        assert!(load(problem(6, 100, 0.0, Destinations::Hotspot(9))).iter().all(|&load| load == 300));
        assert!(load(problem(6, 100, 1.0, Destinations::AllToAll)).iter().all(|&load| load == 300));
        let plan = Plan::draw(problem(6, 100, 1.0, Destinations::Random));
        assert_eq!(plan.threads(6), (0, 600));
        // Each of the four other places sends 1 / (times + 3) of its accesses to each of three places and the rest to
        // the hot place, whose own accesses are spread evenly.
        for times in [1, 4, 16] {
            let load = load(problem(5, 10_000, 1.0, Destinations::Hotspot(times)));
            let share = 1.0 / f64::from(times + 3);
            let wanted = [4.0 * (1.0 - 3.0 * share), 0.25 + 3.0 * share].map(|places| places * 30_000.0);
            let near = |found: u64, wanted: f64| (found as f64 / wanted - 1.0).abs() < 0.05;
            assert!(
                near(load[0], wanted[0]) && load[1..].iter().all(|&load| near(load, wanted[1])),
                "{load:?} {wanted:?}"
            );
        }
    }

    #[test]
    fn grains_have_the_mean_and_the_deviation() {
        for variance in [0.0, 0.5, 1.0] {
            let problem = Problem { grain: 1000, variance, ..problem(1, 50_000, 0.0, Destinations::Random) };
            let plan = Plan::draw(problem);
            let grains: Vec<f64> = plan.jobs.iter().map(|job| job.grain as f64).collect();
            let mean = grains.iter().sum::<f64>() / grains.len() as f64;
            let squares = grains.iter().map(|grain| (grain - mean).powi(2)).sum::<f64>();
            let deviation = (squares / grains.len() as f64).sqrt();
            assert!((mean - 1000.0).abs() < 15.0 * variance + 1e-9, "{mean}");
            assert!((deviation - 1000.0 * variance).abs() < 30.0 * variance + 1e-9, "{deviation}");
        }
    }

    #[test]
    fn objects_agree_with_plain_structs_on_every_runtime() {
        for destinations in [Destinations::AllToAll, Destinations::Random, Destinations::Hotspot(4)] {
            let plan = Plan::draw(problem(4, 12, 0.6, destinations));
            let mut plain = Plain::new(&plan);
            let known = (plain.run(), plain.accesses());
            for nodes in [1, 2, 4, 8] {
                for workers in [1, 2, 3] {
                    for n in [0, 1, 2, 3, 5, 7] {
                        let runtime = Runtime::builder().workers(workers).nodes(nodes).block_every(n);
                        let runtime = runtime.encode(n % 2 == 1).build().expect("a runtime");
                        let places = runtime.run(create(&plan));
                        runtime.run(run(&places));
                        let found = (runtime.run(checksum(&places)), runtime.run(accesses(&places)));
                        assert_eq!(found, known, "{destinations:?} {nodes} {workers} {n}");
                        runtime.run(free(&places));
                        assert_eq!(runtime.close(), 0);
                    }
                }
            }
        }
    }

    /// A thread that reads an object of its node stays on the stack. A thread with a remote read becomes one frame,
    /// which is resumed once, when all three values have arrived.
    #[test]
    fn only_threads_with_remote_reads_become_frames() {
        for remote in [0.0, 0.5, 1.0] {
            let plan = Plan::draw(problem(4, 100, remote, Destinations::Random));
            let runtime = Runtime::builder().workers(1).nodes(4).quantum(Duration::from_secs(60)).build();
            let runtime = runtime.expect("a runtime");
            let places = runtime.run(create(&plan));
            let before = runtime.stats();
            runtime.run(run(&places));
            let after = runtime.stats();
            let (_, remote) = plan.threads(4);
            // Three more fallbacks: the run, its call of the array, and the array's loop over the nodes. Each of the
            // three other nodes gets one message.
            assert_eq!(after.fallbacks - before.fallbacks, remote + 3);
            assert_eq!(after.messages_own - before.messages_own, 3 * remote + 3);
            let resumptions = after.resumptions - before.resumptions;
            assert!((remote..remote + 20).contains(&resumptions), "{resumptions} for {remote}");
        }
    }
}
