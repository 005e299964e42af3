//! Threads that gather and then compute: the communicate-compute microkernel.
//!
//! The running example of the Concert papers (concert-runtime-mechanisms, section 3, figure 3; experiments in section 5.1,
//! table 6): on each of many places there are many threads; each reads three values of one object, all three at once, and
//! computes with them. Four parameters say how irregular that is:
//!
//! | parameter | in the paper | here |
//! |---|---|---|
//! | share of accesses to other places | 0 to 100 % | `remote` |
//! | which places these go to | all-to-all, random, hotspot (4x, 16x) | [`Destinations`] |
//! | compute grain, in time | 10 to 5000 us | `grain`, in rounds of [`compute`] |
//! | its standard deviation over its mean | 0, 0.5, 1 | `variance` |
//!
//! The paper says neither how a hot spot is hot nor how grains are distributed. Here, the hot place is so many times as
//! likely as each of the others; and a grain is (1 - V) times the mean, and V times the mean times a number that is
//! exponentially distributed with mean 1, so that its standard deviation is V times the mean.
//!
//! A *place* is a processor of the paper's machine. Places are dealt to the nodes of the runtime, so the answer depends on
//! the places and not on the nodes; if there are as many nodes, each place is one.
//!
//! Answer, by a program of its own in another language: 8 places with 50 threads, half of the accesses remote, to a hot spot
//! of 4, grain 100, variance 0.5, seed 1: 208 threads read elsewhere, 38,729 rounds, checksum 16,321,917,139,484,510,171.

use finespun::prelude::*;
use serde::{Deserialize, Serialize};

/// Objects of each place.
pub const OBJECTS: usize = 64;

/// Which places those accesses go to that leave their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destinations {
    /// To all others in turn, beginning with the next: the load is balanced.
    AllToAll,
    /// To any other, with the same probability.
    Random,
    /// To any other, but so many times as often to the first place.
    Hotspot(u32),
}

/// How many threads do what.
#[derive(Clone, Copy, Debug)]
pub struct Problem {
    /// The processors of the program.
    pub places: usize,
    /// Threads of each place.
    pub threads: usize,
    /// The probability that a thread reads an object of another place.
    pub remote: f64,
    /// Which place that is.
    pub destinations: Destinations,
    /// The mean number of rounds that a thread computes.
    pub grain: u32,
    /// The standard deviation of that number over its mean: 0 to 1.
    pub variance: f64,
    /// Where the generator begins.
    pub seed: u64,
}

impl Problem {
    /// The node of a place, if there are so many nodes.
    pub fn node(&self, place: usize, nodes: usize) -> usize {
        place * nodes / self.places
    }
}

/// What a thread does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Job {
    /// The object that it reads; each place has [`OBJECTS`], those of one place after those of another.
    pub object: usize,
    /// The rounds that it computes.
    pub grain: u64,
}

/// What is there at the start, drawn by a seed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// From what it was drawn.
    pub problem: Problem,
    /// The values of each object.
    pub values: Vec<[u64; 3]>,
    /// What each thread does, those of one place after those of another.
    pub jobs: Vec<Job>,
}

impl Plan {
    /// Draws the values of all objects; then, for each thread, whether it reads elsewhere, the place if that is drawn, the
    /// object, and the grain if it varies.
    ///
    /// # Panics
    /// If there is no place, or if accesses are to leave the only one.
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

    /// The place of a thread.
    pub fn place(&self, thread: usize) -> usize {
        thread / self.problem.threads
    }

    /// Threads that read an object of their node, and that do not, if there are so many nodes.
    pub fn threads(&self, nodes: usize) -> (u64, u64) {
        let node = |place| self.problem.node(place, nodes);
        let away = |&(thread, job): &(usize, &Job)| node(self.place(thread)) != node(job.object / OBJECTS);
        let remote = self.jobs.iter().enumerate().filter(away).count();
        ((self.jobs.len() - remote) as u64, remote as u64)
    }

    /// Rounds that all threads compute.
    pub fn rounds(&self) -> u64 {
        self.jobs.iter().map(|job| job.grain).sum()
    }
}

impl Destinations {
    /// Where a message goes from `place`, one of at least two, from which so many have gone before.
    pub fn pick(self, places: usize, place: usize, left: usize, draw: &mut Draw) -> usize {
        // Counted without the own place, or also without the first.
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
    /// The generator that begins there.
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

    /// From 0 to below 1.
    fn real(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Exponentially distributed with mean 1, by comparisons alone (von Neumann): the same on every machine, which a
    /// logarithm is not.
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

/// The work of a thread: each round is a shift, an exclusive or, a multiplication and an addition, all of which wait for
/// the round before. That is the unit of the grain: about six cycles of a processor on which a multiplication takes three.
pub fn compute([x, y, z]: [u64; 3], rounds: u64) -> u64 {
    (0..rounds).fold(x, |state, _| (state ^ state >> 29).wrapping_mul(y | 1).wrapping_add(z))
}

fn checksum(results: impl Iterator<Item = u64>) -> u64 {
    results.fold(0, |sum: u64, result| sum.rotate_left(1).wrapping_add(result))
}

/// One thread after the other, over objects that are known by index.
pub struct Plain {
    objects: Vec<Object>,
    jobs: Vec<Job>,
}

impl Plain {
    /// Objects and threads at the start.
    pub fn new(plan: &Plan) -> Plain {
        let objects = plan.values.iter().map(|&values| Object { values, accesses: 0 }).collect();
        Plain { objects, jobs: plan.jobs.clone() }
    }

    /// Runs all threads and delivers the checksum.
    pub fn run(&mut self) -> u64 {
        checksum(self.jobs.iter().map(|job| {
            let object = &mut self.objects[job.object];
            let values = [object.x(), object.y(), object.z()];
            compute(values, job.grain)
        }))
    }

    /// How often a value of each object has been read.
    pub fn accesses(&self) -> Vec<u64> {
        self.objects.iter().map(|object| object.accesses).collect()
    }
}

/// What threads read.
#[derive(Serialize, Deserialize)]
pub struct Object {
    values: [u64; 3],
    accesses: u64,
}

#[object]
impl Object {
    /// The first value. Counted, so it excludes others.
    pub fn x(&mut self) -> u64 {
        self.accesses += 1;
        self.values[0]
    }

    /// The second value.
    pub fn y(&mut self) -> u64 {
        self.accesses += 1;
        self.values[1]
    }

    /// The third value.
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

/// A thread, before it is started: an object, since it belongs to a place.
#[derive(Serialize, Deserialize)]
pub struct Thread {
    job: Option<(Ref<Object>, u64)>,
}

#[object]
impl Thread {
    fn set(&mut self, job: (Ref<Object>, u64)) {
        self.job = Some(job);
    }

    fn job(&self) -> Option<(Ref<Object>, u64)> {
        self.job
    }

    /// The paper's `WorkThread`: gathers, then computes.
    #[task(stack)]
    async fn work(this: Ref<Self>) -> u64 {
        let job: Option<(Ref<Object>, u64)> = this.job().await;
        let Some(job) = job else { return 0 };
        let (object, grain): (Ref<Object>, u64) = job;
        let (x, y, z) = join!(object.x(), object.y(), object.z());
        compute([x, y, z], grain)
    }
}

/// Objects and threads, spread over the nodes of the runtime.
#[derive(Clone)]
pub struct Places {
    objects: Array<Object>,
    threads: Array<Thread>,
}

/// Makes them.
#[task]
pub async fn create(plan: &Plan) -> Places {
    let (problem, nodes) = (plan.problem, nodes());
    let at = move |index: usize| problem.node(index / OBJECTS, nodes);
    let make = |_: usize, _: &()| Object { values: [0; 3], accesses: 0 };
    let objects: Array<Object> = Array::create(plan.values.len(), at, make, ()).await;
    objects.each_with(plan.values.clone(), |object, values| object.set(values)).await;
    let at = move |index: usize| problem.node(index / problem.threads, nodes);
    let threads: Array<Thread> = Array::create(plan.jobs.len(), at, |_, &()| Thread { job: None }, ()).await;
    let jobs: Vec<_> = plan.jobs.iter().map(|job| (objects.get(job.object), job.grain)).collect();
    threads.each_with(jobs, |thread, job| thread.set(job)).await;
    Places { objects, threads }
}

/// Runs all threads, each at its place, and delivers the checksum: the paper's `main`.
#[task]
pub async fn run(places: &Places) -> u64 {
    let results: Vec<u64> = places.threads.each(|thread| thread.work()).await;
    checksum(results.into_iter())
}

/// How often a value of each object has been read.
#[task]
pub async fn accesses(places: &Places) -> Vec<u64> {
    places.objects.each(|object| object.accesses()).await
}

/// Drops objects and threads.
#[task]
pub async fn free(places: &Places) {
    join!(places.objects.free(), places.threads.free());
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    fn problem(places: usize, threads: usize, remote: f64, destinations: Destinations) -> Problem {
        Problem { places, threads, remote, destinations, grain: 20, variance: 1.0, seed: 3 }
    }

    /// By a program of its own, which shares nothing with this one but the text above.
    #[test]
    fn the_definition() {
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

    /// Accesses by place.
    fn load(problem: Problem) -> Vec<u64> {
        let mut plain = Plain::new(&Plan::draw(Problem { grain: 1, ..problem }));
        plain.run();
        plain.accesses().chunks(OBJECTS).map(|place| place.iter().sum()).collect()
    }

    #[test]
    fn accesses_go_where_they_should() {
        assert!(load(problem(6, 100, 0.0, Destinations::Hotspot(9))).iter().all(|&load| load == 300));
        assert!(load(problem(6, 100, 1.0, Destinations::AllToAll)).iter().all(|&load| load == 300));
        let plan = Plan::draw(problem(6, 100, 1.0, Destinations::Random));
        assert_eq!(plan.threads(6), (0, 600));
        // Of the others' threads, each of three places gets 1 / (times + 3) and the hot one the rest; its own are dealt evenly.
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
    fn objects_agree_with_plain_structs_anywhere() {
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
                        let found = (runtime.run(run(&places)), runtime.run(accesses(&places)));
                        assert_eq!(found, known, "{destinations:?} {nodes} {workers} {n}");
                        runtime.run(free(&places));
                        assert_eq!(runtime.close(), 0);
                    }
                }
            }
        }
    }

    /// A thread that reads an object of its place stays on the stack; another becomes one frame, and is resumed once, when
    /// the three values have come.
    #[test]
    fn frames_are_made_for_threads_that_read_elsewhere_only() {
        for remote in [0.0, 0.5, 1.0] {
            let plan = Plan::draw(problem(4, 100, remote, Destinations::Random));
            let runtime = Runtime::builder().workers(1).nodes(4).quantum(Duration::from_secs(60)).build();
            let runtime = runtime.expect("a runtime");
            let places = runtime.run(create(&plan));
            let before = runtime.stats();
            runtime.run(run(&places));
            let after = runtime.stats();
            let (_, remote) = plan.threads(4);
            // Three more: the run, its call of the array, and that one's loop over the nodes, each of which has a message.
            assert_eq!(after.fallbacks - before.fallbacks, remote + 3);
            assert_eq!(after.messages_own - before.messages_own, 3 * remote + 3);
            let resumptions = after.resumptions - before.resumptions;
            assert!((remote..remote + 20).contains(&resumptions), "{resumptions} for {remote}");
        }
    }
}
