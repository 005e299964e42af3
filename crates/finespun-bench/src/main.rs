//! The benches: the program that `finespun bench` starts.
//!
//! A bench is a name with a description ([`Name`]), and a function that measures and passes each result to a [`Report`]
//! at once: tables for people, the same figures as JSON, and optionally a picture. A new bench needs a file here, a
//! name, and an entry in [`open`].
//!
//! - `apps`: each application's plain version against its tasks
//! - `instructions`: instructions per call, and their limits
//! - `overheads`: the papers' tables of sequential costs, beside the papers' own figures
//! - `suspended`: a million tasks that wait at the same time
//! - `scaling`: each application on one worker and on many
//! - `transports`: messages between nodes, by size and traffic pattern; beside channels
//! - `invocation`: calls of objects, by schema and by distance; creating, waiting, replying
//! - `floors`: objects and closures beside plain programs, and beside the same by hand
//! - `layouts`: objects on nodes by layout, on the stack and in frames only
//! - `microkernel`: threads that gather and compute, by stack or frames and by transport
//! - `parc`: groups of activities: cost, distribution, barriers, termination; beside the paper
//! - `pcm`: closures by hand: costs, tail calls, the efficiency model, migration; beside the paper
//! - `istructure`: write-once arrays and their cache: costs, reads, critical points, predictions; beside the paper
//! - `t3d`: the concert paper's machine, simulated
//! - `scale`: from one node to 4,096, on a simulated machine
//! - `nodes`: 64 nodes against 2 on the same workers
//! - `count`: instruction counts by callgrind, for `instructions` and `overheads`
//! - `report`: tables and rows as they are ready, progress, interruption
//! - `measure`: the alternating timer
//! - `paper`: figures from the papers, for the benches that compare with them
//! - `sections`: benches of several sections, each of which can be selected alone
#![forbid(unsafe_code)]

mod apps;
mod count;
mod floors;
mod instructions;
mod invocation;
mod istructure;
mod layouts;
mod measure;
mod microkernel;
mod nodes;
mod overheads;
mod paper;
mod parc;
mod pcm;
mod report;
mod scale;
mod scaling;
mod sections;
mod suspended;
mod t3d;
mod transports;

use std::path::Path;
use std::process::ExitCode;

use finespun_lab::args::bench::{Extra, Name, list};
use finespun_lab::args::{self, BenchOptions, Request, refused};
use finespun_lab::failure::Failure;
use finespun_lab::launch::{self, PROFILE};
use finespun_lab::run::interrupt;
use finespun_lab::run::target::Target;
use finespun_lab::sample::Sample;
use finespun_lab::show;
use report::Report;
use serde_json::{Value, json};

/// The profile that this program was compiled with.
const COMPILED_WITH: &str = env!("FINESPUN_PROFILE");

/// A measurement that `finespun bench` can run by name.
trait Bench: Sync {
    /// Returns the names that `--only` takes.
    fn rows(&self) -> Vec<String>;

    /// Checks the options that only some benches take.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] with the values that the option takes.
    fn check(&self, _: &Extra) -> Result<(), Failure> {
        Ok(())
    }

    /// Returns the names that `--only` takes on a simulated machine: none if the bench runs on this computer only.
    fn simulated_rows(&self) -> Vec<String> {
        Vec::new()
    }

    /// Returns the profiles for which its limits hold.
    fn profiles(&self) -> &'static [&'static str] {
        &[PROFILE]
    }

    /// Measures, and passes the results to `report`.
    ///
    /// # Errors
    ///
    /// The error of a run, or an error of writing to the standard output.
    fn run(&self, options: &BenchOptions, extra: &Extra, report: &mut Report) -> Result<(), Failure>;
}

/// Returns the bench named `name`.
fn open(name: Name) -> &'static dyn Bench {
    match name {
        Name::Apps => &apps::Apps,
        Name::Instructions => &instructions::Instructions,
        Name::Overheads => &overheads::Overheads,
        Name::Suspended => &suspended::Suspended,
        Name::Scaling => &scaling::Scaling,
        Name::Transports => &transports::Transports,
        Name::Invocation => &invocation::Invocation,
        Name::Floors => &floors::Floors,
        Name::Layouts => &layouts::Layouts,
        Name::Microkernel => &microkernel::Microkernel,
        Name::T3d => &t3d::T3d,
        Name::Scale => &scale::Scale,
        Name::Nodes => &nodes::Nodes,
        Name::Parc => &parc::Parc,
        Name::Pcm => &pcm::Pcm,
        Name::Istructure => &istructure::Istructure,
        Name::Count => &count::Count,
    }
}

fn main() -> ExitCode {
    let done = match args::parse_bench(std::env::args_os()) {
        Ok(Request::Show(text)) => show::print(&text),
        Ok(Request::Do(line)) if line.list => show::print(&list()),
        Ok(Request::Do(line)) => bench(line),
        Err(failure) => Err(failure),
    };
    done.map_or_else(|failure| failure.report(), |()| ExitCode::SUCCESS)
}

/// Runs one bench.
fn bench(line: args::Bench) -> Result<(), Failure> {
    let args::Bench { name, options, extra, .. } = line;
    let name = name.ok_or_else(launch::no_name)?;
    launch::one_process()?;
    let bench = open(name);
    let simulated = bench.simulated_rows();
    extra.simulation.one_process("a bench")?;
    if let Some(option) = extra.simulation.given().next().filter(|_| simulated.is_empty()) {
        return Err(Failure::Usage(format!(
            "{option}: this bench runs on this computer; istructure, layouts, microkernel and pcm run on simulated machines, too, scale and t3d on these only"
        )));
    }
    if extra.simulation.host_time.is_some() {
        return Err(Failure::Usage("--host-time: a bench's virtual times do not depend on this computer".to_owned()));
    }
    check_rows(&if extra.simulation.simulates() { simulated } else { bench.rows() }, &options)?;
    bench.check(&extra)?;
    if extra.check && !bench.profiles().contains(&COMPILED_WITH) {
        return Err(Failure::Usage(format!(
            "--check: the limits hold for the profile `{}`, and this program was compiled with `{COMPILED_WITH}`: use `finespun bench`, or cargo's --profile {PROFILE}",
            bench.profiles().join("` or `")
        )));
    }
    interrupt::install();
    let open = |option, path: &Option<_>| path.as_deref().map(|path: &Path| Target::open(option, path)).transpose();
    let (json, plot) = (open("--json", &options.json)?, open("--plot", &options.plot)?);
    let measured = Report::begin(name, &options, json).and_then(|mut report| {
        bench.run(&options, &extra, &mut report)?;
        report.end()
    });
    let (svg, complaint) = measured.inspect_err(|_| report::keep_rows())?;
    if let (Some(target), Some(svg)) = (plot, svg) {
        target.write(svg)?;
    }
    match complaint {
        Some(complaint) if extra.check => Err(Failure::Unmet(complaint)),
        Some(complaint) => show::print(&format!("\n{complaint}\n")),
        None => Ok(()),
    }
}

fn check_rows(rows: &[String], options: &BenchOptions) -> Result<(), Failure> {
    match options.only.iter().find(|name| !rows.contains(name)) {
        Some(name) => {
            Err(Failure::Usage(refused("--only", name, &format!("it takes names out of {}", rows.join(", ")))))
        }
        None => Ok(()),
    }
}

/// Returns true if `--only` selects this row.
fn wanted(options: &BenchOptions, row: &str) -> bool {
    options.only.is_empty() || options.only.iter().any(|name| name == row)
}

/// Returns a sample in the form of `--json`.
fn figures(sample: &Sample) -> Value {
    json!({"min": sample.least(), "median": sample.median(), "all": sample.all()})
}
