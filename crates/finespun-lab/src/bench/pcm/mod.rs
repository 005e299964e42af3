//! Closures by hand: the costs, the model and the programs of pcm-continuation-passing-threads.
//!
//! - `costs`: section 3: what making, sending, posting and scheduling cost
//! - `programs`: what a tail call gains on fib, and the programs against their plain versions; how many closures migrate
//! - `model`: equations 1 and 2 with the measured costs, beside measured efficiency
//! - `table1`: Table 1: a picture by static and by dynamic distribution

mod costs;
mod model;
mod programs;
mod table1;

use finespun::Runtime;

use super::sections::{self, Section, Sections};
use super::{Bench, Extra, Report};
use crate::args::BenchOptions;
use crate::failure::Failure;
use crate::machine::cores;
use crate::show::{self, Up};

/// The bench.
#[derive(Debug)]
pub struct Pcm;

/// How it is measured.
struct Way {
    rounds: usize,
    workers: usize,
    quick: bool,
}

impl Way {
    fn runtime(&self, workers: usize) -> Result<Runtime, Failure> {
        Ok(Runtime::builder().workers(workers).build()?)
    }

    /// One worker, and all of them, if that is more.
    fn sizes(&self) -> Vec<usize> {
        if self.workers > 1 { vec![1, self.workers] } else { vec![1] }
    }
}

const SECTIONS: &Sections<Way> = &[
    ("costs", costs::measure),
    ("programs", programs::measure),
    ("model", model::measure),
    ("table1", table1::measure),
];

impl Bench for Pcm {
    fn name(&self) -> &'static str {
        "pcm"
    }

    fn description(&self) -> &'static str {
        "closures by hand: what they cost, what tail calls gain, how many migrate; beside the paper"
    }

    fn rows(&self) -> Vec<String> {
        sections::names(SECTIONS)
    }

    fn run(&self, options: &BenchOptions, _: &Extra) -> Result<Report, Failure> {
        let workers = options.workers.unwrap_or_else(cores::default_workers);
        let way = Way { rounds: options.rounds, workers, quick: options.quick };
        let (mut report, panels) = sections::measure(SECTIONS, options, &way)?;
        if !panels.is_empty() {
            report.plot = Some(show::curves("run length of a thread, ns", Up::PerCent("efficiency"), &[panels])?);
        }
        report.text += &format!("{workers} workers; least of {} rounds, variants in turn.\n", options.rounds);
        Ok(report)
    }
}
