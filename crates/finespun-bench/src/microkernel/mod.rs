//! Threads that gather and compute, by stack or frames and by transport: the concert paper's section 5.1.
//!
//! The figure is efficiency: the time of the computing alone, divided evenly among all workers, over the time of the
//! program. Four versions of the runtime are the paper's: a base, and additions to it; the fifth is the default of this
//! library.
//!
//! - *impact*: by the share of local accesses, for several grains (figure 11)
//! - *contention*: by the destinations of remote accesses, and by the variance of grains (figure 12)
//! - *region*: the least grain at which a version is efficient, by the local share; from the same runs as *impact*
//!   (figure 13)

mod region;

use std::hint::black_box;
use std::time::Instant;

use finespun::runtime::{Fabric, Schema, Transport};
use finespun::{Runtime, simulation::Machine};
use finespun_object_apps::microkernel::{self, Destinations, OPERATIONS, Places, Plan, Problem, compute};
use serde_json::{Value, json};

use super::measure::alternate;
use super::report::{Report, Table};
use super::{Bench, Extra, figures, wanted};
use finespun_lab::args::{BenchOptions, refused};
use finespun_lab::failure::Failure;
use finespun_lab::machine::cores;
use finespun_lab::sample::Sample;
use finespun_lab::show::{self, Panel, Up};

/// A version of the runtime.
struct Version {
    name: &'static str,
    schema: Schema,
    transport: Transport,
}

const fn version(name: &'static str, schema: Schema, transport: Transport) -> Version {
    Version { name, schema, transport }
}

const VERSIONS: [Version; 5] = [
    version("base", Schema::Heap, Transport::Push),
    version("+stack", Schema::Auto, Transport::Push),
    version("+pull", Schema::Heap, Transport::Pull),
    version("+stack+pull", Schema::Auto, Transport::Pull),
    version("adaptive", Schema::Auto, Transport::Adaptive),
];

/// The versions that figure 12 compares, and ours.
const CONTENDING: [usize; 3] = [1, 3, 4];

/// The number of processors of the paper's machine.
const PLACES: usize = 32;

/// Shares of remote accesses, as in the paper.
const REMOTE: [f64; 6] = [0.0, 0.2, 0.4, 0.6, 0.8, 1.0];
/// Mean grains in rounds of about 2 ns. The paper's 10 to 5000 us on a machine of 150 MHz are in proportion to its
/// overheads, as these are to ours.
const GRAINS: [u32; 6] = [50, 200, 1000, 5000, 20_000, 100_000];
const FEW_GRAINS: [u32; 3] = [200, 1000, 20_000];
const QUICK_GRAINS: [u32; 2] = [10, 100];
/// The standard deviation of the grain over its mean, as in the paper.
const VARIANCES: [f64; 3] = [0.0, 0.5, 1.0];
const DESTINATIONS: [(&str, Destinations); 4] = [
    ("all-to-all", Destinations::AllToAll),
    ("random", Destinations::Random),
    ("hotspot4", Destinations::Hotspot(4)),
    ("hotspot16", Destinations::Hotspot(16)),
];

/// Rounds per run, within the numbers of threads below.
const ROUNDS: usize = 10_000_000;
/// Threads per place: minimum and maximum; and with `--quick`.
const THREADS: (usize, usize) = (8, 500);
const QUICK_THREADS: usize = 4;

/// The grains of the paper in microseconds, for its machine simulated, and those between which the text places corners.
const SIMULATED_GRAINS: [f64; 11] = [10.0, 20.0, 30.0, 50.0, 100.0, 150.0, 200.0, 300.0, 500.0, 1000.0, 5000.0];
const FEW_SIMULATED_GRAINS: [f64; 3] = [100.0, 500.0, 5000.0];
/// Threads per place on a simulated machine.
const SIMULATED_THREADS: usize = 200;

/// The settings that are the same for all points.
struct Setting<'a> {
    runtimes: Vec<Runtime>,
    /// The machine, if it is simulated.
    machine: Option<Machine>,
    workers: usize,
    places: usize,
    options: &'a BenchOptions,
}

/// The parameters of the program.
#[derive(Clone, Copy)]
struct Point {
    remote: f64,
    destinations: (&'static str, Destinations),
    grain: u32,
    variance: f64,
}

/// The side that computes.
enum Runner {
    /// Only the measuring thread: the computing alone.
    Ideal,
    /// A version of the runtime, with the program that it has created.
    Version(usize, Places),
}

/// The results at a point.
struct Found {
    point: Point,
    /// The threads of all places together.
    threads: usize,
    /// The computing alone, divided evenly among all workers.
    ideal: Sample,
    /// The times by version, without versions that were not measured.
    times: Vec<(usize, Sample)>,
}

/// The `microkernel` bench.
#[derive(Debug)]
pub struct Microkernel;

impl Bench for Microkernel {
    fn rows(&self) -> Vec<String> {
        ["impact", "contention"].map(str::to_owned).to_vec()
    }

    fn check(&self, extra: &Extra) -> Result<(), Failure> {
        match extra.nodes {
            Some(nodes) if !(2..=4096).contains(&nodes) => {
                let reason = "the microkernel takes a whole number of nodes from 2 to 4096";
                Err(Failure::Usage(refused("--nodes", &nodes.to_string(), reason)))
            }
            _ => Ok(()),
        }
    }

    fn simulated_rows(&self) -> Vec<String> {
        self.rows()
    }

    fn run(&self, options: &BenchOptions, extra: &Extra, report: &mut Report) -> Result<(), Failure> {
        let places = extra.nodes.unwrap_or(PLACES);
        let machine = extra.simulation.machines(&["t3d"])?.pop();
        let workers = match machine {
            Some(_) => places,
            None => options.workers.unwrap_or_else(cores::default_workers),
        };
        let start = |version: &Version| {
            let mut runtime = Runtime::builder().workers(workers).nodes(places);
            if let Some(machine) = &machine {
                runtime = runtime.fabric(Fabric::Simulated(machine.clone()));
            }
            runtime.schema(version.schema).transport(version.transport).build()
        };
        let runtimes = VERSIONS.iter().map(start).collect::<Result<_, _>>()?;
        let setting = Setting { runtimes, machine, workers, places, options };
        let (impact, contention) = (wanted(options, "impact"), wanted(options, "contention"));
        let points = |grains: &[u32], of_each| grains.len() * of_each;
        if impact {
            report.expect(points(&setting.grains(), REMOTE.len()));
        }
        if contention {
            report.expect(points(&setting.few_grains(), VARIANCES.len() * DESTINATIONS.len()));
        }
        let mut panels = Vec::new();
        if impact {
            panels.push(setting.impact(report)?);
        }
        if contention {
            panels.push(setting.contention(report)?);
        }
        let title = "The microkernel: efficiency by grain";
        report.plot = Some(show::curves(title, &report.about, "grain, us", Up::PerCent("efficiency, %"), &panels)?);
        report.say(&setting.notes())
    }
}

impl Setting<'_> {
    fn grains(&self) -> Vec<u32> {
        match &self.machine {
            Some(machine) if self.options.quick => rounds(machine, &FEW_SIMULATED_GRAINS[..1]),
            Some(machine) => rounds(machine, &SIMULATED_GRAINS),
            None if self.options.quick => QUICK_GRAINS.to_vec(),
            None => GRAINS.to_vec(),
        }
    }

    fn few_grains(&self) -> Vec<u32> {
        match &self.machine {
            Some(machine) if self.options.quick => rounds(machine, &FEW_SIMULATED_GRAINS[..1]),
            Some(machine) => rounds(machine, &FEW_SIMULATED_GRAINS),
            None if self.options.quick => QUICK_GRAINS[..1].to_vec(),
            None => FEW_GRAINS.to_vec(),
        }
    }

    /// Measures figures 11 and 13.
    fn impact(&self, report: &mut Report) -> Result<Vec<Panel>, Failure> {
        let all: Vec<usize> = (0..VERSIONS.len()).collect();
        let mut by_grain: Vec<Vec<Found>> = Vec::new();
        report.say(
            "Efficiency in % by the share of local accesses, to random places; grains do not vary (figure 11)\n\n",
        )?;
        for grain in self.grains() {
            let table = table(&format!("{} rounds, local", show::thousands(grain.into())), &all, report)?;
            let mut by_share = Vec::new();
            for remote in REMOTE {
                let point = Point { remote, destinations: DESTINATIONS[1], grain, variance: 0.0 };
                let found = self.measure(point, &all, report)?;
                let share = format!("{:.0} %", 100.0 * found.local());
                report.rows(found.json("impact", self));
                report.line(&table, &[vec![share], found.cells()].concat())?;
                by_share.push(found);
            }
            report.say(&format!("{}\n\n", grain_text(&by_share, self.workers)))?;
            by_grain.push(by_share);
        }
        let (text, rows) = region::region(&by_grain, self.workers);
        report.say(&text)?;
        report.rows(rows);
        Ok(by_share(&by_grain, self.workers))
    }

    /// Measures figure 12.
    fn contention(&self, report: &mut Report) -> Result<Vec<Panel>, Failure> {
        report.say("Efficiency in %, 80 % of the accesses remote, by where they go; V: deviation of grains over their mean (figure 12)\n\n")?;
        let mut by_grain = Vec::new();
        for grain in self.few_grains() {
            let table = table(&format!("{} rounds", show::thousands(grain.into())), &CONTENDING, report)?;
            let mut all = Vec::new();
            for variance in VARIANCES {
                for destinations in DESTINATIONS {
                    let point = Point { remote: 0.8, destinations, grain, variance };
                    let found = self.measure(point, &CONTENDING, report)?;
                    let name = format!("V {variance:.1}, {}", destinations.0);
                    report.rows(found.json("contention", self));
                    report.line(&table, &[vec![name], found.cells()].concat())?;
                    all.push(found);
                }
            }
            report.say(&format!("{}\n\n", grain_text(&all, self.workers)))?;
            by_grain.push(all);
        }
        Ok(by_variance(&by_grain, self.workers))
    }

    fn problem(&self, point: Point) -> Problem {
        let Point { remote, destinations: (_, destinations), grain, variance } = point;
        let threads = match (self.options.quick, &self.machine) {
            (true, _) => QUICK_THREADS,
            (false, Some(_)) => SIMULATED_THREADS,
            (false, None) => (ROUNDS / (grain as usize * self.places)).clamp(THREADS.0, THREADS.1),
        };
        Problem { places: self.places, threads, remote, destinations, grain, variance, seed: 1 }
    }

    /// Times the computing alone and some versions in turn. Fails if a version's result differs from the plain
    /// version's.
    fn measure(&self, point: Point, versions: &[usize], report: &Report) -> Result<Found, Failure> {
        let Point { remote, destinations, grain, variance } = point;
        report.step(&format!("grain {grain}, {:.0} % remote to {}, V {variance:.1}", 100.0 * remote, destinations.0));
        let plan = Plan::draw(self.problem(point));
        let known = microkernel::Plain::new(&plan).run();
        let failed = |source| Failure::Run { app: "microkernel", source };
        let make = |&version: &usize| {
            let places = self.runtimes[version].try_run(microkernel::create(&plan)).map_err(failed)?;
            Ok::<_, Failure>(Runner::Version(version, places))
        };
        let mut runners = vec![Runner::Ideal];
        for version in versions {
            runners.push(make(version)?);
        }
        // Virtual time does not vary.
        let rounds = if self.machine.is_some() { 1 } else { self.options.rounds };
        let samples = alternate(rounds, &runners, |runner| match runner {
            Runner::Ideal => Ok(self.alone(&plan) / self.workers as f64),
            Runner::Version(version, places) => {
                let runtime = &self.runtimes[*version];
                let start = Instant::now();
                runtime.try_run(microkernel::run(places)).map_err(failed)?;
                let seconds = runtime.simulated().map_or_else(|| start.elapsed(), |simulated| simulated.last_run);
                let found = runtime.try_run(microkernel::checksum(places)).map_err(failed)?;
                check(known, found).map(|()| seconds.as_secs_f64())
            }
        })?;
        for runner in &runners {
            if let Runner::Version(version, places) = runner {
                self.runtimes[*version].try_run(microkernel::free(places)).map_err(failed)?;
            }
        }
        let mut samples = samples.into_iter();
        let ideal = samples.next().expect("the computing alone comes first");
        Ok(Found { point, threads: plan.jobs.len(), ideal, times: versions.iter().copied().zip(samples).collect() })
    }

    /// Returns the seconds of the computing of all threads.
    fn alone(&self, plan: &Plan) -> f64 {
        match &self.machine {
            Some(machine) => (plan.rounds() * OPERATIONS) as f64 * machine.operation().as_secs_f64(),
            None => alone(plan),
        }
    }

    fn notes(&self) -> String {
        if let Some(machine) = &self.machine {
            return format!(
                "Virtual times of a simulated {machine} with {} processors, {SIMULATED_THREADS} threads each. Efficiency: the time of the computing alone,\n\
                 dealt evenly to the processors, over that of the program. Heap: a frame for every call. base: heap, push; +stack: push; +pull:\n\
                 heap, pull; +stack+pull: pull; adaptive: what a program gets that asks for nothing.\n",
                self.places
            );
        }
        format!(
            "Efficiency: the time of the computing alone, dealt evenly to {} workers, over that of the program on as many, both the\n\
             least of {} runs in turn. {} places on as many nodes, {} to {} threads each. Heap: a frame for every call. base: heap, push; +stack: push; +pull: heap, pull; +stack+pull: pull; adaptive: what a\n\
             program gets that asks for nothing.\n",
            self.workers,
            self.options.rounds,
            self.places,
            if self.options.quick { QUICK_THREADS } else { THREADS.0 },
            if self.options.quick { QUICK_THREADS } else { THREADS.1 },
        )
    }
}

/// Returns grains of some microseconds, in rounds on this machine.
fn rounds(machine: &Machine, grains: &[f64]) -> Vec<u32> {
    let round = 1e6 * machine.operation().as_secs_f64() * OPERATIONS as f64;
    grains.iter().map(|grain| (grain / round).round().max(1.0) as u32).collect()
}

/// Returns the seconds of the computing of all threads on this machine.
fn alone(plan: &Plan) -> f64 {
    let start = Instant::now();
    for job in &plan.jobs {
        black_box(compute(black_box(plan.values[job.object]), job.grain));
    }
    start.elapsed().as_secs_f64()
}

fn check(known: u64, found: u64) -> Result<(), Failure> {
    if known == found {
        return Ok(());
    }
    let (first, second) = (known.to_string(), found.to_string());
    Err(Failure::Disagreement { app: "microkernel", first, second })
}

impl Found {
    fn local(&self) -> f64 {
        1.0 - self.point.remote
    }

    /// Returns the mean grain in seconds.
    fn seconds(&self, workers: usize) -> f64 {
        self.ideal.least() * workers as f64 / self.threads as f64
    }

    fn efficiency(&self, version: usize) -> Option<f64> {
        let (_, time) = self.times.iter().find(|(at, _)| *at == version)?;
        Some(self.ideal.least() / time.least())
    }

    /// Returns the efficiency of each version, in per cent.
    fn cells(&self) -> Vec<String> {
        let shown = |per_cent: f64| if per_cent < 9.95 { format!("{per_cent:.1}") } else { format!("{per_cent:.0}") };
        self.times.iter().map(|(_, time)| shown(100.0 * self.ideal.least() / time.least())).collect()
    }

    fn json(&self, part: &str, setting: &Setting<'_>) -> Vec<Value> {
        let Point { remote, destinations: (destinations, _), grain, variance } = self.point;
        let row = |(version, time): &(usize, Sample)| {
            let Version { name, schema, transport } = &VERSIONS[*version];
            json!({
                "part": part, "version": name, "schema": format!("{schema:?}").to_lowercase(),
                "transport": format!("{transport:?}").to_lowercase(), "remote": remote, "destinations": destinations,
                "grain_rounds": grain, "grain_us": 1e6 * self.seconds(setting.workers), "variance": variance,
                "places": setting.places, "threads": self.threads, "workers": setting.workers,
                "ideal": figures(&self.ideal), "time": figures(time),
                "efficiency": self.ideal.least() / time.least(),
                "efficiency_of_medians": self.ideal.median() / time.median(),
            })
        };
        self.times.iter().map(row).collect()
    }
}

/// Returns the mean grain in seconds, from the results at one grain.
fn grain(found: &[Found], workers: usize) -> f64 {
    found.iter().map(|found| found.seconds(workers)).fold(f64::INFINITY, f64::min)
}

/// Formats the same grain in rounds and in seconds.
fn grain_text(found: &[Found], workers: usize) -> String {
    let rounds = show::thousands(found[0].point.grain.into());
    format!("{rounds} rounds = {}", show::seconds(grain(found, workers)))
}

fn table(first: &str, versions: &[usize], report: &Report) -> Result<Table, Failure> {
    let names = versions.iter().map(|&version| VERSIONS[version].name);
    let head: Vec<_> = [first].into_iter().chain(names).collect();
    report.table(21, &head)
}

/// Plots figure 11, and figure 13 where the curves cross 70 %: for each local share, the efficiency of each version by
/// the grain.
fn by_share(by_grain: &[Vec<Found>], workers: usize) -> Vec<Panel> {
    let panel = |(place, found): (usize, &Found)| {
        let curve = |(at, version): (usize, &Version)| {
            let point = |found: &Vec<Found>| Some((1e6 * grain(found, workers), 100.0 * found[place].efficiency(at)?));
            (version.name.to_owned(), by_grain.iter().filter_map(point).collect())
        };
        Panel {
            title: format!("{:.0} % local", 100.0 * found.local()),
            curves: VERSIONS.iter().enumerate().map(curve).collect(),
        }
    };
    by_grain[0].iter().enumerate().map(panel).collect()
}

/// Plots figure 12: for each variance and version, the efficiency by the grain, one curve per destination.
fn by_variance(by_grain: &[Vec<Found>], workers: usize) -> Vec<Panel> {
    let panel = |variance: f64, version: usize| {
        let curve = |(name, _): (&'static str, Destinations)| {
            let meant = |found: &&Found| found.point.variance == variance && found.point.destinations.0 == name;
            let point = |all: &Vec<Found>| {
                let found = all.iter().find(meant)?;
                Some((1e6 * grain(all, workers), 100.0 * found.efficiency(version)?))
            };
            (name.to_owned(), by_grain.iter().filter_map(point).collect())
        };
        Panel {
            title: format!("{}, V {variance:.1}, 20 % local", VERSIONS[version].name),
            curves: DESTINATIONS.into_iter().map(curve).collect(),
        }
    };
    let of_version = |&version: &usize| VARIANCES.map(|variance| panel(variance, version));
    CONTENDING[..2].iter().flat_map(of_version).collect()
}
