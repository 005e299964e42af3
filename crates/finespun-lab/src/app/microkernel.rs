//! The communicate-compute microkernel.

use finespun::{RunError, task};
use finespun_apps::Progress;
use finespun_object_apps::microkernel::{self, Destinations, OBJECTS, Plain, Plan, Problem};
use serde_json::{Map, Value};

use super::{Answer, App, Executor, Timed, object};
use crate::args::values::{number, real};
use crate::failure::Failure;

/// `microkernel`.
#[derive(Debug, clap::Args)]
#[command(
    allow_negative_numbers = true,
    after_help = "\
On each of --places places there are --threads threads; each reads three values of one object, all three at once, and then
computes with them. Four parameters say how irregular that is: the share of threads whose object is at another place, which
places these are, how long a thread computes, and how much that varies.
--destinations is all-to-all (the others in turn, beginning with the next), random, or hotspotK (the first place is K times
as likely as each other). --grain counts rounds of a loop of a shift, an exclusive or, a multiplication and an addition that
wait for each other: about six cycles each. A grain is 1 - V times the mean, and V times the mean times a number that is
exponentially distributed with mean 1.
A place is a processor of the program and is on one node, so the answer does not depend on --nodes. With as many nodes as
places --remote is the share of threads that send messages; with fewer nodes some places share one.
The plain version runs one thread after the other. The time is that of the threads alone.
Answer: a checksum of what they computed, the rounds that took, and how often values of the busiest place were read; and of
the layout, threads that read an object of their node and that do not.

Example: finespun run microkernel --remote 0.8 --destinations hotspot4 --grain 2000 --variance 0.5 --nodes 32"
)]
pub struct Microkernel {
    /// The share of threads that read an object of another place, 0 to 1
    #[arg(long, value_name = "F", default_value = "0.5", value_parser = share())]
    remote: f64,
    /// Which places these objects are at: all-to-all, random, or hotspotK with K from 1 to 1000
    #[arg(long, value_name = "HOW", default_value = "random", value_parser = destinations)]
    destinations: Destinations,
    /// Rounds that a thread computes on average
    #[arg(long, value_name = "N", default_value = "5000", value_parser = number(0..=1_000_000_000u32))]
    grain: u32,
    /// The standard deviation of that over the average, 0 to 1
    #[arg(long, value_name = "V", default_value = "0", value_parser = share())]
    variance: f64,
    /// Processors of the program
    #[arg(long, value_name = "P", default_value = "32", value_parser = number(1..=4096usize))]
    places: usize,
    /// Threads of each place
    #[arg(long, value_name = "T", default_value = "500", value_parser = number(1..=1_000_000usize))]
    threads: usize,
    /// Seed of the random generator
    #[arg(long, value_name = "S", default_value = "1", value_parser = number(0..=u64::MAX))]
    seed: u64,
}

fn share() -> impl Fn(&str) -> Result<f64, String> + Clone + Send + Sync + 'static {
    real("it takes a number from 0 to 1", |share| (0.0..=1.0).contains(&share))
}

/// Parses the name of a distribution.
fn destinations(text: &str) -> Result<Destinations, String> {
    let hot = text.strip_prefix("hotspot").and_then(|times| number(1..=1000)(times).ok());
    match (text, hot) {
        ("all-to-all", _) => Ok(Destinations::AllToAll),
        ("random", _) => Ok(Destinations::Random),
        (_, Some(times)) => Ok(Destinations::Hotspot(times)),
        _ => Err("use one of all-to-all, random, hotspotK with K from 1 to 1000".to_owned()),
    }
}

/// Objects and threads, for the plain version or for the tasks.
enum Kernel {
    Plain(Plain),
    Places(microkernel::Places),
}

impl Kernel {
    fn plain(&mut self) -> &mut Plain {
        match self {
            Kernel::Plain(plain) => plain,
            Kernel::Places(_) => unreachable!("whoever made the threads runs them"),
        }
    }
}

#[task]
async fn make(plan: &Plan) -> Kernel {
    let places = microkernel::create(plan).await;
    Kernel::Places(places)
}

/// Runs the threads. Returns the checksum if that is no further work.
#[task]
async fn work(kernel: &mut Kernel) -> Option<u64> {
    match kernel {
        Kernel::Places(places) => {
            microkernel::run(places).await;
            None
        }
        Kernel::Plain(plain) => Some(plain.run()),
    }
}

#[task]
async fn checksum(kernel: &mut Kernel) -> u64 {
    match kernel {
        Kernel::Places(places) => microkernel::checksum(places).await,
        Kernel::Plain(_) => unreachable!("the plain version has returned it"),
    }
}

#[task]
async fn accesses(kernel: &mut Kernel) -> Vec<u64> {
    match kernel {
        Kernel::Places(places) => microkernel::accesses(places).await,
        Kernel::Plain(plain) => plain.accesses(),
    }
}

#[task]
async fn free(kernel: Kernel) {
    if let Kernel::Places(places) = kernel {
        microkernel::free(&places).await;
    }
}

impl Microkernel {
    /// Returns the application, if remote accesses have a destination.
    pub fn open(self) -> Result<Microkernel, Failure> {
        if self.places == 1 && self.remote > 0.0 {
            return Err(Failure::Usage(
                "--remote: accesses cannot leave the only place: give --remote 0, or more --places".to_owned(),
            ));
        }
        Ok(self)
    }

    fn problem(&self) -> Problem {
        let &Microkernel { places, threads, remote, destinations, grain, variance, seed } = self;
        Problem { places, threads, remote, destinations, grain, variance, seed }
    }

    fn destinations(&self) -> String {
        match self.destinations {
            Destinations::AllToAll => "all-to-all".to_owned(),
            Destinations::Random => "random".to_owned(),
            Destinations::Hotspot(times) => format!("hotspot{times}"),
        }
    }
}

impl App for Microkernel {
    fn name(&self) -> &'static str {
        "microkernel"
    }

    fn parameters(&self) -> Map<String, Value> {
        object([
            ("remote", self.remote.into()),
            ("destinations", self.destinations().into()),
            ("grain", self.grain.into()),
            ("variance", self.variance.into()),
            ("places", self.places.into()),
            ("threads", self.threads.into()),
            ("seed", self.seed.into()),
        ])
    }

    fn memory(&self) -> u64 {
        let (threads, objects) = (self.places * self.threads, self.places * OBJECTS);
        400 * threads as u64 + 200 * objects as u64
    }

    fn run(&self, executor: &Executor, _: &Progress) -> Result<Timed<Answer>, RunError> {
        let plan = Plan::draw(self.problem());
        let mut kernel = executor.compute(&plan, |plan| Kernel::Plain(Plain::new(plan)), make)?.value;
        let worked = executor.compute(&mut kernel, |kernel| Some(kernel.plain().run()), work)?;
        let checksum = match worked.value {
            Some(checksum) => checksum,
            None => executor.compute(&mut kernel, |_| 0, checksum)?.value,
        };
        let accesses = executor.compute(&mut kernel, |kernel| kernel.plain().accesses(), accesses)?.value;
        executor.compute(kernel, drop, free)?;
        let busiest = accesses.chunks(OBJECTS).map(|place| place.iter().sum::<u64>()).max();
        let (local, remote) = plan.threads(executor.nodes());
        Ok(worked.map(|_| {
            let answer = Answer::new([
                ("checksum", checksum.into()),
                ("rounds", plan.rounds().into()),
                ("busiest_reads", busiest.into()),
            ]);
            answer.laid_out([("local_threads", local.into()), ("remote_threads", remote.into())])
        }))
    }
}
