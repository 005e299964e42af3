//! `finespun bench`: the names of the benches, and their options.
//!
//! The benches themselves are another program, `finespun-bench`, because they take long to compile. It reads the same
//! grammar.

use std::path::PathBuf;

use clap::ValueEnum;

use super::simulation::Simulation;
use super::values::{number, path};

/// `finespun bench`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
The benches are a program of their own, finespun-bench. `finespun bench` compiles it with the profile `measure` when it is
missing or out of date, which takes minutes the first time.

A bench prints each row when it has been measured. Ctrl-C ends it early: the rows so far stay, also in the file of --json.

Examples:
  finespun bench --list
  finespun bench apps --only fib,uts --rounds 7
  finespun bench apps --quick --json apps.json --plot apps.svg
  finespun bench instructions --check
  finespun bench layouts --only sor,em3d --workers 2
  finespun bench microkernel --only impact --json efficiency.json --plot efficiency.svg
  finespun bench transports --only costs,contention --plot contention.svg")]
pub struct Bench {
    /// The bench
    #[arg(value_enum, hide_possible_values = true)]
    pub name: Option<Name>,
    /// List the benches
    #[arg(long)]
    pub list: bool,
    /// How to measure.
    #[command(flatten)]
    pub options: BenchOptions,
    /// Options of single benches.
    #[command(flatten)]
    pub extra: Extra,
}

/// The benches.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Name {
    /// each application: its plain version against its tasks on one worker and on all
    Apps,
    /// instructions per call, counted by valgrind; --check holds them to their limits
    Instructions,
    /// the papers' sequential tables: calls, schemas, fallbacks and primitives, beside the papers' figures
    Overheads,
    /// a million tasks that wait at the same time: time and memory of each
    Suspended,
    /// each application on one worker and on many, in turn: the speed-up
    Scaling,
    /// messages between nodes: source, destination, latency, and hot spots by push and pull; beside channels and a bare
    /// cache line
    Transports,
    /// calls of objects by schema and distance; creating, waiting, replying; beside the paper
    Invocation,
    /// programs of objects and closures beside plain ones, and beside their floor: the same by hand
    Floors,
    /// objects on nodes by layout: called on the stack, or each call a frame; beside the paper
    Layouts,
    /// threads that gather and compute: efficiency by stack or frames, push or pull, grain and locality
    Microkernel,
    /// 64 nodes against 2 on the same workers, with the same share of remote calls
    Nodes,
    /// groups of activities: cost, distribution by policy, barriers, and how they are ended; beside the paper
    Parc,
    /// closures by hand: their costs, the gain of tail calls, the share that migrates; beside the paper
    Pcm,
    /// write-once arrays: operations, reads of four applications, where a cache pays, and the effect of Cache::Auto;
    /// beside the paper
    Istructure,
    /// the concert paper's machine, simulated: messages, traffic patterns, calls and the microkernel, beside the paper
    T3d,
    /// the same problems on 1 to 4096 nodes of a simulated machine: speed-up, messages and steals per node
    Scale,
    /// runs one program once, for the benches that count instructions
    #[value(hide = true)]
    Count,
}

impl Name {
    /// Returns the name on the command line.
    pub fn name(self) -> String {
        self.value().get_name().to_owned()
    }

    /// Returns one line that describes the bench.
    pub fn description(self) -> String {
        self.value().get_help().map(ToString::to_string).unwrap_or_default()
    }

    /// Returns the names of all public benches.
    pub fn all() -> impl Iterator<Item = Name> {
        Name::value_variants().iter().copied().filter(|name| !name.value().is_hide_set())
    }

    fn value(self) -> clap::builder::PossibleValue {
        self.to_possible_value().expect("every bench has a value")
    }
}

/// Returns the list that `--list` prints.
pub fn list() -> String {
    Name::all().map(|bench| format!("{:<12} {}\n", bench.name(), bench.description())).collect()
}

/// The measurement options, which all benches share.
#[derive(Clone, Debug, clap::Args)]
pub struct BenchOptions {
    /// Worker threads of the parallel runs, 1 to 1024 [default: the cores this process may use]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = number(1..=1024usize))]
    pub workers: Option<usize>,
    /// How often each variant is timed, in turn with the others
    #[arg(long, value_name = "K", allow_hyphen_values = true, default_value = "5", value_parser = number(1..=10_000usize))]
    pub rounds: usize,
    /// Only these rows, for example `fib,uts`
    #[arg(long, value_name = "NAMES", value_delimiter = ',')]
    pub only: Vec<String>,
    /// Small problems, to see whether it works; the times mean nothing
    #[arg(long)]
    pub quick: bool,
    /// Write the figures to this file
    #[arg(long, value_name = "FILE", value_parser = path())]
    pub json: Option<PathBuf>,
    /// Write a picture (SVG) to this file
    #[arg(long, value_name = "FILE", value_parser = path())]
    pub plot: Option<PathBuf>,
}

/// Options of single benches.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Extra {
    /// instructions: end with exit code 1 if a count is over its limit, or if nothing can be counted; transports: if a
    /// demand is missed
    #[arg(long)]
    pub check: bool,
    /// suspended: how many tasks wait at the same time
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = number(1..=100_000_000u64))]
    pub tasks: Option<u64>,
    /// layouts: nodes that objects live on, 1 to 65536; microkernel: nodes and places, 2 to 4096; scale: the most nodes
    /// [default: as in the papers; scale: 4096]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = number(1..=65_536usize))]
    pub nodes: Option<usize>,
    /// The machine, if it is simulated: for istructure, layouts, microkernel, pcm; scale and t3d always simulate one.
    #[command(flatten)]
    pub simulation: Simulation,
    /// layouts: problems as large and as long as in the papers, which takes minutes
    #[arg(long)]
    pub paper: bool,
}
