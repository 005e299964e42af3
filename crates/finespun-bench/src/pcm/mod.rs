//! Closures by hand: the costs, the model and the programs of pcm-continuation-passing-threads.
//!
//! - `costs`: section 3: the costs of making, sending, posting and scheduling
//! - `programs`: the gain of a tail call on fib, and the programs against their plain versions; the share of closures
//!   that migrate
//! - `model`: equations 1 and 2 with the measured costs, beside measured efficiency
//! - `table1`: Table 1: a picture by static and by dynamic distribution

mod costs;
mod model;
mod programs;
mod table1;

use finespun::Runtime;

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
}

impl Config {
    fn runtime(&self, workers: usize) -> Result<Runtime, Failure> {
        Ok(Runtime::builder().workers(workers).build()?)
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
];

impl Bench for Pcm {
    fn rows(&self) -> Vec<String> {
        sections::names(SECTIONS)
    }

    fn run(&self, options: &BenchOptions, _: &Extra, report: &mut Report) -> Result<(), Failure> {
        let workers = options.workers.unwrap_or_else(cores::default_workers);
        let config = Config { rounds: options.rounds, workers, quick: options.quick };
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
