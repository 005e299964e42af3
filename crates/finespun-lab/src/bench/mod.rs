//! `finespun bench`: the list of benches, and what they have in common.
//!
//! A bench is a name, a line of description, and a function from options to a [`Report`]: a table for people, the same figures
//! as JSON, and, if it likes, a picture. A new bench is a file here and an entry in [`BENCHES`].
//!
//! - `apps`: each application's plain version against its tasks
//! - `instructions`: instructions per call, and the limits that they must keep
//! - `overheads`: the papers' tables of sequential costs, beside the papers' own figures
//! - `suspended`: a million tasks that wait at the same time
//! - `scaling`: each application on one worker and on many
//! - `transports`: what messages between nodes cost, by size and traffic pattern; beside channels
//! - `invocation`: what a call of an object costs, by schema and by where the object is; creating, waiting, replying
//! - `layouts`: objects on nodes by layout, on the stack and in frames only
//! - `microkernel`: threads that gather and compute, by stack or frames and by transport
//! - `parc`: groups of activities: cost, distribution, barriers, ends; beside the paper
//! - `pcm`: closures by hand: costs, tail calls, the efficiency model, migration; beside the paper
//! - `nodes`: 64 nodes against one for each worker
//! - `count`: instruction counts by callgrind, for `instructions` and `overheads`
//! - `measure`: the alternating timer, least and median
//! - `paper`: figures from the papers, for the benches that stand beside them
//! - `sections`: benches of several sections, each of which can be asked for alone
//! - `options`: what only some benches take

mod apps;
mod count;
mod instructions;
mod invocation;
mod layouts;
mod measure;
mod microkernel;
mod nodes;
mod options;
mod overheads;
mod paper;
mod parc;
mod pcm;
mod scaling;
mod sections;
mod suspended;
mod transports;

use std::path::Path;

use serde_json::{Value, json};

use crate::args::{self, BenchOptions, refused};
use crate::failure::Failure;
use crate::machine::{self, cores};
use crate::run::interrupt;
use crate::run::target::Target;
use crate::show;

pub use measure::Sample;
pub use options::Extra;

/// Something that can be measured.
trait Bench: Sync {
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// What it shows, in one line.
    fn description(&self) -> &'static str;

    /// What `--only` can name.
    fn rows(&self) -> Vec<String>;

    /// Measures.
    ///
    /// # Errors
    ///
    /// What the runs fail with.
    fn run(&self, options: &BenchOptions, extra: &Extra) -> Result<Report, Failure>;
}

/// What a bench found.
#[derive(Debug, Default)]
struct Report {
    /// For people: tables and what is to be said about them.
    text: String,
    /// One object per row, for programs.
    rows: Vec<Value>,
    /// The picture, if there is one.
    plot: Option<String>,
    /// What is wrong, in one line: a limit is not kept, or there is nothing to measure with.
    complaint: Option<String>,
}

/// All benches, in the order in which they are listed.
const BENCHES: &[&dyn Bench] = &[
    &apps::Apps,
    &instructions::Instructions,
    &overheads::Overheads,
    &suspended::Suspended,
    &scaling::Scaling,
    &transports::Transports,
    &invocation::Invocation,
    &layouts::Layouts,
    &microkernel::Microkernel,
    &nodes::Nodes,
    &parc::Parc,
    &pcm::Pcm,
];

/// What benches start for themselves; no list shows them.
const HIDDEN: &[&dyn Bench] = &[&count::Count];

/// Carries out `finespun bench`.
///
/// # Errors
///
/// A [`Failure`]; those of the command line come before anything is measured.
pub fn bench(line: args::Bench) -> Result<(), Failure> {
    if line.list {
        return show::print(&list());
    }
    let names = || BENCHES.iter().map(|bench| bench.name()).collect::<Vec<_>>().join(", ");
    let Some(name) = line.name else {
        return Err(Failure::Usage(format!("no bench given: use one of {}, or --list", names())));
    };
    let bench = BENCHES.iter().chain(HIDDEN).find(|bench| bench.name() == name);
    let bench = bench.ok_or_else(|| Failure::Usage(format!("unknown bench `{name}`: use one of {}", names())))?;
    let options = line.options;
    check_rows(*bench, &options)?;
    interrupt::install();
    let open = |option, path: &Option<_>| path.as_deref().map(|path: &Path| Target::open(option, path)).transpose();
    let (json, plot) = (open("--json", &options.json)?, open("--plot", &options.plot)?);
    let extra = line.extra;
    let mut report = bench.run(&options, &extra)?;
    let complaint = report.complaint.take();
    if let Some(complaint) = complaint.as_ref().filter(|_| !extra.check) {
        report.text += &format!("\n{complaint}\n");
    }
    let printed = show::print(&report.text);
    if let Some(target) = json {
        target.write(document(*bench, &options, &report))?;
    }
    if let (Some(target), Some(svg)) = (plot, &report.plot) {
        target.write(svg)?;
    }
    match complaint {
        Some(complaint) if extra.check => Err(Failure::Unmet(complaint)),
        _ => printed,
    }
}

fn list() -> String {
    BENCHES.iter().map(|bench| format!("{:<12} {}\n", bench.name(), bench.description())).collect()
}

fn check_rows(bench: &dyn Bench, options: &BenchOptions) -> Result<(), Failure> {
    let rows = bench.rows();
    match options.only.iter().find(|name| !rows.contains(name)) {
        Some(name) => {
            Err(Failure::Usage(refused("--only", name, &format!("it takes names out of {}", rows.join(", ")))))
        }
        None => Ok(()),
    }
}

/// Whether `--only` lets this row through.
fn wanted(options: &BenchOptions, row: &str) -> bool {
    options.only.is_empty() || options.only.iter().any(|name| name == row)
}

/// A sample as `--json` shows it.
fn figures(sample: &Sample) -> Value {
    json!({"min": sample.least(), "median": sample.median(), "all": sample.all()})
}

/// The file that `--json` writes.
fn document(bench: &dyn Bench, options: &BenchOptions, report: &Report) -> String {
    let object = json!({
        "bench": bench.name(),
        "processor": cores::model(&machine::read),
        "cores": cores::online(&machine::read),
        "rounds": options.rounds,
        "quick": options.quick,
        "rows": report.rows,
    });
    format!("{object:#}\n")
}
