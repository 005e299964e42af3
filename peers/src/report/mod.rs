//! The results, for readers (table, picture) and for programs (JSON).

pub mod svg;
pub mod table;

use serde::Serialize;

use crate::floors::Floor;
use crate::instructions::Count;
use crate::matrix::Measured;
use crate::runtime::Runtime;

/// All results of one invocation.
#[derive(Serialize)]
pub struct Report {
    /// The processor, and how many processors could be used.
    pub machine: String,
    /// Whether the sizes are for the smoke test.
    pub quick: bool,
    /// Samples per cell.
    pub rounds: usize,
    /// Processors that other work kept busy during the samples, on average.
    pub others_busy: f64,
    /// Columns that this build lacks, each with its cure.
    pub left_out: Vec<LeftOut>,
    /// The matrix.
    pub cells: Vec<Measured>,
    /// The floors, in nanoseconds.
    pub floors: Vec<Floor>,
    /// Instructions per call of fib, if requested.
    pub instructions: Vec<Count>,
}

/// A column that this build lacks.
#[derive(Serialize)]
pub struct LeftOut {
    /// The runtime.
    pub runtime: Runtime,
    /// How to get it.
    pub cure: &'static str,
}

/// Returns the processor's model, and how many processors can be used.
pub fn machine() -> String {
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    let info = std::fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let model = info
        .lines()
        .find_map(|line| line.strip_prefix("model name")?.split_once(':'))
        .map_or("unknown processor", |(_, model)| model.trim());
    format!("{model}, {processors} processors")
}

/// Formats seconds with three significant digits.
pub fn seconds(seconds: f64) -> String {
    match seconds {
        s if s >= 100.0 => format!("{s:.0} s"),
        s if s >= 10.0 => format!("{s:.1} s"),
        s if s >= 1.0 => format!("{s:.2} s"),
        s if s >= 0.1 => format!("{:.0} ms", s * 1e3),
        s if s >= 0.01 => format!("{:.1} ms", s * 1e3),
        s if s >= 0.001 => format!("{:.2} ms", s * 1e3),
        s => format!("{:.2} us", s * 1e6),
    }
}

/// Formats a ratio with about three digits.
pub fn ratio(ratio: f64) -> String {
    match ratio {
        r if r >= 100.0 => format!("{r:.0}x"),
        r if r >= 10.0 => format!("{r:.1}x"),
        r => format!("{r:.2}x"),
    }
}

/// Formats memory in MiB.
fn mebibytes(kib: u64) -> String {
    format!("{:.1} MiB", kib as f64 / 1024.0)
}
