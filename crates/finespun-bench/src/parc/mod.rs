//! Groups of activities: the figures and tables of maxi-parc-runtime, and the cost of terminating a group.
//!
//! - `cost`: the cost of a minimal activity, and of a barrier
//! - `spread`: Figure 4 and Table 2: the distribution of activities to workers, by policy
//! - `barrier`: Figure 6: a barrier by the number of activities, with and without beginning them
//! - `trees`: Table 3: termination of trees of activities, by the method that finds the members
//! - `search`: Figure 7: a search with and without termination
//! - `stop`: the time that activities go on after their group has been terminated

mod barrier;
mod cost;
mod search;
mod spread;
mod stop;
mod trees;

use finespun::Runtime;
use finespun::group::{Members, Policy};
use finespun::testing::*;

use super::sections::{self, Sections};
use super::{Bench, Extra, Report};
use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;
use finespun_lab::machine::cores;
use finespun_lab::show::{self, Up};

/// The `parc` bench.
#[derive(Debug)]
pub struct Parc;

/// The options of a measurement.
struct Config {
    rounds: usize,
    workers: usize,
    quick: bool,
}

impl Config {
    fn runtime(&self, policy: Policy, members: Members) -> Result<Runtime, Failure> {
        Ok(Runtime::builder().workers(self.workers).policy(policy).members(members).build()?)
    }

    /// Builds a runtime with the default policy and member search.
    fn usual(&self) -> Result<Runtime, Failure> {
        self.runtime(Policy::default(), Members::default())
    }
}

/// A named function to run.
type Code<'a> = (&'a str, &'a dyn Fn(&Runtime));

const SECTIONS: &Sections<Config> = &[
    ("cost", cost::measure),
    ("figure4", spread::figure4),
    ("table2", spread::table2),
    ("figure6", barrier::measure),
    ("table3", trees::measure),
    ("figure7", search::measure),
    ("stop", stop::measure),
];

/// The policies by name, the paper's versions first.
const POLICIES: [(&str, Policy); 4] = [
    ("global", Policy::Global),
    ("envelopes", Policy::Envelopes),
    ("representatives", Policy::Representatives),
    ("steal", Policy::Steal),
];

impl Bench for Parc {
    fn rows(&self) -> Vec<String> {
        sections::names(SECTIONS)
    }

    fn run(&self, options: &BenchOptions, _: &Extra, report: &mut Report) -> Result<(), Failure> {
        let workers = options.workers.unwrap_or_else(cores::default_workers);
        let config = Config { rounds: options.rounds, workers, quick: options.quick };
        sections::measure(SECTIONS, options, &config, report)?;
        let panels = std::mem::take(&mut report.panels);
        if !panels.is_empty() {
            let title = "Groups of activities: time by their number";
            report.plot =
                Some(show::curves(title, &report.about, "activities", Up::Powers("milliseconds"), &[panels])?);
        }
        report.say(&format!("{workers} workers; least of {} rounds, variants in turn.\n", options.rounds))
    }
}

/// Formats seconds as milliseconds, for tables.
fn milliseconds(seconds: f64) -> String {
    format!("{:.3}", seconds * 1e3)
}
