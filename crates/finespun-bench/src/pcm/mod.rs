//! Closures by hand: the costs, the model and the programs of pcm-continuation-passing-threads.
//!
//! - `costs`: section 3: the costs of making, sending, posting and scheduling
//! - `programs`: the gain of a tail call on fib, and the programs against their plain versions; the share of closures
//!   that migrate
//! - `model`: equations 1 and 2 with the measured costs, beside measured efficiency
//! - `table1`: Table 1: a picture by static and by dynamic distribution
//! - `figure13`: Figure 13: run times of protein folding
//!
//! On a simulated machine: `table1` and `figure13`, up to the paper's 64 nodes.

mod costs;
mod figure13;
mod model;
mod programs;
mod table1;

use std::time::Instant;

use finespun::runtime::Fabric;
use finespun::simulation::Machine;
use finespun::{Runtime, Task};

pub(super) use costs::cycle;

use super::report::Table;
use super::sections::{self, Sections};
use super::{Bench, Extra, Report};
use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;
use finespun_lab::machine::cores;
use finespun_lab::show::{self, Up};

/// The `pcm` bench.
#[derive(Debug)]
pub struct Pcm;

/// The options of a measurement.
struct Config {
    rounds: usize,
    workers: usize,
    quick: bool,
    /// The machine, if it is simulated: a node is a worker then.
    machine: Option<Machine>,
}

impl Config {
    fn runtime(&self, workers: usize) -> Result<Runtime, Failure> {
        let runtime = Runtime::builder();
        Ok(match &self.machine {
            Some(machine) => runtime.nodes(workers).fabric(Fabric::Simulated(machine.clone())).build()?,
            None => runtime.workers(workers).build()?,
        })
    }

    /// Runs a task, and returns its value and its seconds: of virtual time on a simulated machine.
    fn time<T: Task + Send>(&self, runtime: &Runtime, task: T) -> Result<(T::Output, f64), Failure>
    where
        T::Output: Send,
    {
        let start = Instant::now();
        let value = runtime.try_run(task).map_err(|source| Failure::Run { app: "pcm", source })?;
        let time = runtime.simulated().map_or_else(|| start.elapsed(), |simulated| simulated.last_run);
        Ok((value, time.as_secs_f64()))
    }

    /// Returns 1, and the number of all workers if it is larger.
    fn sizes(&self) -> Vec<usize> {
        if self.workers > 1 { vec![1, self.workers] } else { vec![1] }
    }
}

const SECTIONS: &Sections<Config> = &[
    ("costs", costs::measure),
    ("programs", programs::measure),
    ("model", model::measure),
    ("table1", table1::measure),
    ("figure13", figure13::measure),
];

/// The sections that a simulated machine has.
const SIMULATED: &Sections<Config> = &[("table1", table1::measure), ("figure13", figure13::measure)];

impl Bench for Pcm {
    fn rows(&self) -> Vec<String> {
        sections::names(SECTIONS)
    }

    fn simulated_rows(&self) -> Vec<String> {
        sections::names(SIMULATED)
    }

    fn run(&self, options: &BenchOptions, extra: &Extra, report: &mut Report) -> Result<(), Failure> {
        let workers = options.workers.unwrap_or_else(cores::default_workers);
        let machine = extra.simulation.machines(&["cm5"])?.pop();
        // Virtual time does not vary.
        let rounds = if machine.is_some() { 1 } else { options.rounds };
        let config = Config { rounds, workers, quick: options.quick, machine };
        if let Some(machine) = &config.machine {
            sections::measure(SIMULATED, options, &config, report)?;
            let panels = std::mem::take(&mut report.panels);
            if !panels.is_empty() {
                let title = "Protein folding by closures: run times";
                let up = Up::Powers("virtual time, s");
                report.plot = Some(show::curves(title, &report.about, "nodes", up, &[panels])?);
            }
            return report.say(&format!("Virtual times of a simulated {machine}, which do not vary.\n"));
        }
        sections::measure(SECTIONS, options, &config, report)?;
        let panels = std::mem::take(&mut report.panels);
        if !panels.is_empty() {
            let title = "Closures: efficiency by run length, measured and by the paper's equations";
            let across = "run length of a thread, ns";
            report.plot = Some(show::curves(title, &report.about, across, Up::PerCent("efficiency, %"), &[panels])?);
        }
        report.say(&format!("{workers} workers; least of {} rounds, variants in turn.\n", options.rounds))
    }
}
