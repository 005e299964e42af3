//! The driver: runs every cell of the matrix in rounds, each sample in a child process.
//!
//! A round visits all cells of one problem before the next round begins, so that a slow
//! spell of the machine affects all columns alike. Ratios are taken within a round,
//! against the plain recursion of that round.

use std::env;
use std::num::NonZero;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use serde::Serialize;

use crate::error::Error;
use crate::neighbours::Ticks;
use crate::one::{Cell, Sample};
use crate::problem::{Problem, Scale};
use crate::runtime::{Runtime, STACK_BYTES};
use crate::statistics::{median, minimum};

/// What to run.
pub struct Plan {
    /// The rows.
    pub problems: Vec<Problem>,
    /// The columns, the plain recursion first.
    pub runtimes: Vec<Runtime>,
    /// The worker counts; a plain recursion runs at 1 only.
    pub workers: Vec<NonZero<usize>>,
    /// Number of samples of every cell.
    pub rounds: usize,
    /// A sample that takes longer is stopped, and its cell does not run again.
    pub limit: Duration,
    /// The sizes.
    pub scale: Scale,
}

/// All samples of one cell.
#[derive(Serialize)]
pub struct Measured {
    /// The row.
    pub problem: Problem,
    /// The row with its size, in readable form.
    pub instance: String,
    /// The column.
    pub runtime: Runtime,
    /// Number of workers.
    pub workers: usize,
    /// One per round, in seconds.
    pub seconds: Vec<f64>,
    /// One per round: seconds over the plain recursion's of the same round.
    pub ratios: Vec<f64>,
    /// Minimum of `seconds`.
    pub minimum: Option<f64>,
    /// Median of `seconds`.
    pub median: Option<f64>,
    /// Median of `ratios`.
    pub ratio: Option<f64>,
    /// Largest peak of resident memory of any sample, in KiB.
    pub peak_kib: u64,
    /// The part of the peak that was resident before the timed run: program, runtime,
    /// warm-up, input.
    pub input_kib: u64,
    /// Processors that other work kept busy during the samples, on average.
    pub others_busy: f64,
    /// The limit in seconds, if a sample was stopped.
    pub over_limit: Option<f64>,
    #[serde(skip)]
    cell: Cell,
}

/// Runs the plan; prints one line per round to standard error.
pub fn run(plan: &Plan) -> Result<Vec<Measured>, Error> {
    let mut all = Vec::new();
    for &problem in &plan.problems {
        let mut row = cells(plan, problem);
        let mut others = vec![Vec::new(); row.len()];
        for round in 1..=plan.rounds {
            eprintln!("{}: round {round}/{}", problem.at(plan.scale), plan.rounds);
            let mut plain = None;
            for (measured, others) in row.iter_mut().zip(&mut others) {
                if measured.over_limit.is_some() {
                    continue;
                }
                let start = Ticks::now();
                let sample = run_child(measured.cell, plan)?;
                others.extend(start.and_then(|start| start.others_since()));
                let Some(sample) = sample else {
                    measured.over_limit = Some(plan.limit.as_secs_f64());
                    continue;
                };
                if measured.runtime == Runtime::Plain {
                    plain = Some(sample.seconds);
                }
                measured.seconds.push(sample.seconds);
                measured.ratios.extend(plain.map(|p| sample.seconds / p));
                measured.peak_kib = measured.peak_kib.max(sample.peak_kib);
                measured.input_kib = measured.input_kib.max(sample.input_kib);
            }
        }
        for (measured, others) in row.iter_mut().zip(&others) {
            measured.others_busy = others.iter().sum::<f64>() / others.len().max(1) as f64;
            measured.minimum = minimum(&measured.seconds);
            measured.median = median(&measured.seconds);
            measured.ratio = median(&measured.ratios);
        }
        all.append(&mut row);
    }
    Ok(all)
}

/// Returns the cells of one row, without samples.
fn cells(plan: &Plan, problem: Problem) -> Vec<Measured> {
    let mut row = Vec::new();
    for &runtime in plan.runtimes.iter().filter(|runtime| runtime.has(problem)) {
        let one = [NonZero::<usize>::MIN];
        let workers = if runtime.is_plain() { &one[..] } else { &plan.workers };
        for &workers in workers {
            row.push(Measured {
                problem,
                instance: problem.at(plan.scale).to_string(),
                runtime,
                workers: workers.get(),
                seconds: Vec::new(),
                ratios: Vec::new(),
                minimum: None,
                median: None,
                ratio: None,
                peak_kib: 0,
                input_kib: 0,
                others_busy: 0.0,
                over_limit: None,
                cell: Cell { problem, runtime, workers },
            });
        }
    }
    row
}

/// Completes the command that runs one cell in its own process.
pub fn child(program: &mut Command, cell: Cell) -> &mut Command {
    program
        .arg("--one")
        .args([cell.problem.to_string(), cell.runtime.to_string()])
        .arg(cell.workers.to_string())
        .env("RUST_MIN_STACK", STACK_BYTES.to_string())
        .env("OMP_STACKSIZE", format!("{}M", STACK_BYTES >> 20))
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
}

/// Runs one sample. Returns `None` if it was stopped at the limit.
fn run_child(cell: Cell, plan: &Plan) -> Result<Option<Sample>, Error> {
    let mut command = Command::new(env::current_exe().map_err(Error::Child)?);
    child(&mut command, cell);
    if plan.scale == Scale::Quick {
        command.arg("--quick");
    }
    let mut process = command.spawn().map_err(Error::Child)?;
    let deadline = Instant::now() + plan.limit;
    while process.try_wait().map_err(Error::Child)?.is_none() {
        if Instant::now() >= deadline {
            process.kill().map_err(Error::Child)?;
            process.wait().map_err(Error::Child)?;
            return Ok(None);
        }
        thread::sleep(Duration::from_millis(5));
    }
    let output = process.wait_with_output().map_err(Error::Child)?;
    match serde_json::from_slice(&output.stdout) {
        Ok(sample) if output.status.success() => Ok(Some(sample)),
        _ => Err(Error::Failed { cell, status: output.status, message: last_line(&output.stderr) }),
    }
}

/// Returns the last line of a process's output.
pub fn last_line(bytes: &[u8]) -> String {
    let text = String::from_utf8_lossy(bytes);
    text.lines().next_back().unwrap_or_default().to_owned()
}
