//! Write-once arrays: the tables and figures of i-structure-software-cache, beside the paper's own.
//!
//! - `operations`: Tables 1 and 3: the costs of gets, hits, misses and deferred reads, and the derived parameters of
//!   the cost model
//! - `rows`: the dense product by rows, of slices and of `local()`
//! - `reads`: Table 2: the reads of four applications on 16 nodes, and their hit ratios
//! - `critical`: Table 4: the message overhead above which the cache pays, measured and derived
//! - `auto`: the applications without a cache, with one, and with one that decides by itself, by overhead
//! - `predictions`: Figures 1 to 3: equation 1 with the paper's parameters and with ours
//!
//! On a simulated machine: `reads`, and `critical` with the times of that machine.

mod auto;
mod critical;
mod operations;
mod predictions;
mod reads;
mod rows;

use std::time::Duration;

use finespun::Runtime;
use finespun::istructure::cost::Reads;
use finespun::runtime::Fabric;
use finespun::simulation::Machine;
use finespun::testing::*;
use finespun_apps::Progress;
use finespun_lab::app::{self, Executor, Timed};
use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;

use super::sections::{self, Sections};
use super::{Bench, Extra, Report};

/// The number of nodes of the paper's machine.
const NODES: usize = 16;

/// An application, and the paper's results.
struct Application {
    name: &'static str,
    /// The command line without the form, full size and with `--quick`.
    line: &'static str,
    quick: Option<&'static str>,
    /// Table 2, for one node.
    paper: Reads,
    /// Table 4, in microseconds: measured, and derived as printed.
    points: [f64; 2],
}

const fn reads(local: f64, remote: f64, hit_ratio: f64, deferred_ratio: f64) -> Reads {
    Reads { local, remote, hit_ratio, deferred_ratio }
}

const APPLICATIONS: &[Application] = &[
    Application {
        name: "dense product",
        line: "densemm 128",
        quick: Some("densemm 32"),
        paper: reads(139_328.0, 123_840.0, 0.9835, 0.2),
        points: [6.3, 6.7],
    },
    Application {
        name: "conjugate gradient",
        line: "cg --class S --iterations 1",
        // Its smallest matrix takes long without optimization.
        quick: None,
        paper: reads(614.0, 9210.0, 0.9365, 0.518),
        points: [9.2, 9.4],
    },
    Application {
        name: "Hopfield network",
        line: "hopfield 256 --patterns 1 --update synchronous --sweeps 2",
        quick: Some("hopfield 64 --patterns 1 --turned 8 --update synchronous --sweeps 2"),
        paper: reads(512.0, 7680.0, 0.9922, 1.0),
        points: [6.0, 11.5],
    },
    Application {
        name: "sparse product",
        line: "sparsemm --random 1000 --nonzeros 16000 --iterations 16",
        quick: Some("sparsemm --random 200 --nonzeros 1000 --iterations 2"),
        paper: reads(19_140.0, 234_784.0, 0.9955, 0.212),
        points: [3.2, 4.6],
    },
];

/// The options of a measurement.
struct Config {
    rounds: usize,
    quick: bool,
    /// The machine, if it is simulated: a node is a processor then.
    machine: Option<Machine>,
}

impl Config {
    /// Returns the applications: with `--quick`, those that have a small problem.
    fn applications(&self) -> impl Iterator<Item = &'static Application> {
        APPLICATIONS.iter().filter(|application| !self.quick || application.quick.is_some())
    }

    /// Returns the command line of `application` in `form`.
    fn line(&self, application: &Application, form: &str) -> String {
        let line = application.quick.filter(|_| self.quick).unwrap_or(application.line);
        format!("{line} {form}")
    }

    /// Runs an application once, on [`NODES`] nodes of one worker or as many simulated processors, with `overhead`
    /// microseconds added to each message.
    fn run(&self, line: &str, overhead: f64) -> Result<Timed<app::Answer>, Failure> {
        let runtime = Runtime::builder().nodes(NODES).overhead(Duration::from_secs_f64(overhead * 1e-6));
        let runtime = match &self.machine {
            Some(machine) => runtime.fabric(Fabric::Simulated(machine.clone())),
            None => runtime.workers(1),
        };
        let executor = Executor::Tasks(runtime.build()?);
        let app = app::from_line(line);
        app.run(&executor, &Progress::new()).map_err(|source| Failure::Run { app: app.name(), source })
    }
}

/// The forms, as options: requests to objects; arrays without a cache, with one, and with one that decides by itself.
const SPLIT: &str = "--form split";
const OFF: &str = "--form istructure";
const CACHED: &str = "--form cached --cache-block 8";
const AUTO: &str = "--form auto";

/// Counts the reads of an application, averaged over the nodes.
fn counted(config: &Config, application: &Application) -> Result<Reads, Failure> {
    let answer = config.run(&config.line(application, &format!("{CACHED} --count")), 0.0)?.value;
    let count = |name: &str| answer.layout[name].as_f64().unwrap_or(0.0) / NODES as f64;
    let [local, remote, hits, deferred] = ["local_reads", "remote_reads", "hits", "deferred_hits"].map(count);
    let ratio = |part: f64, whole: f64| if whole == 0.0 { 0.0 } else { part / whole };
    Ok(reads(local, remote, ratio(hits, remote), ratio(deferred, hits)))
}

/// The `istructure` bench.
#[derive(Debug)]
pub struct Istructure;

const SECTIONS: &Sections<Config> = &[
    ("operations", operations::measure),
    ("rows", rows::measure),
    ("reads", reads::measure),
    ("critical", critical::measure),
    ("auto", auto::measure),
    ("predictions", predictions::measure),
];

/// The sections that a simulated machine has.
const SIMULATED: &Sections<Config> = &[("reads", reads::measure), ("critical", critical::simulated)];

impl Bench for Istructure {
    fn rows(&self) -> Vec<String> {
        sections::names(SECTIONS)
    }

    fn simulated_rows(&self) -> Vec<String> {
        sections::names(SIMULATED)
    }

    fn run(&self, options: &BenchOptions, extra: &Extra, report: &mut Report) -> Result<(), Failure> {
        let machine = extra.simulation.machines(&["manna"])?.pop();
        let config = Config { rounds: options.rounds, quick: options.quick, machine };
        let Some(machine) = &config.machine else {
            sections::measure(SECTIONS, options, &config, report)?;
            return report
                .say(&format!("{NODES} nodes on one worker; least of {} rounds, variants in turn.\n", options.rounds));
        };
        sections::measure(SIMULATED, options, &config, report)?;
        report.say(&format!("{NODES} processors of a simulated {machine}; virtual times, which do not vary.\n"))
    }
}

/// Formats a number with two decimals below 10, one below 100, and none from 100 on.
fn figure(number: f64) -> String {
    match number.abs() {
        100.0.. => format!("{number:.0}"),
        10.0.. => format!("{number:.1}"),
        _ => format!("{number:.2}"),
    }
}
