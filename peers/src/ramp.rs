//! Short jobs: the time from a plain thread's call to its return, for jobs of 5 us to
//! 10 ms, one right after the other and with gaps in which the workers fall asleep.
//!
//! A job is a Fibonacci number. Each runtime is timed in a process of its own, in rounds,
//! as the cells of the matrix are.

use std::env;
use std::fmt::Write;
use std::hint::black_box;
use std::num::NonZero;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use comfy_table::{CellAlignment, Table, presets};
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::latency;
use crate::matrix::{child, last_line};
use crate::neighbours::{Ticks, note};
use crate::one::{Cell, start};
use crate::problem::{Problem, fib};
use crate::report::{machine, seconds};
use crate::runtime::Runtime;
use crate::statistics::{median, minimum};

/// The jobs; the first does nothing.
const JOBS: [u64; 8] = [0, 17, 20, 23, 26, 28, 31, 33];

/// Pauses before each job.
const GAPS: [Duration; 2] = [Duration::ZERO, Duration::from_millis(3)];

/// The time that the jobs of one size take together, without gaps, and their number.
const TOGETHER: Duration = Duration::from_millis(40);
const FEWEST: usize = 5;
const MOST: usize = 2000;
/// The number of jobs with a gap.
const WITH_GAPS: usize = 25;
/// A job that takes longer, ten times as long as the plain one or more, is not repeated, and has no figures: the table
/// would take minutes.
const LONGEST: Duration = Duration::from_millis(100);

/// The times of one job in one process, in seconds.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Times {
    gap: usize,
    job: usize,
    minimum: f64,
    median: f64,
}

/// Times all jobs in this process.
pub fn times(cell: Cell) -> Result<Vec<Times>, Error> {
    let column = start(cell)?;
    let run = |n: u64| {
        let start = Instant::now();
        let answer = column.fib(black_box(n));
        let took = start.elapsed();
        if answer == fib(n) {
            return Ok(took);
        }
        let instance = format!("fib({n})");
        Err(Error::WrongAnswer { cell, instance, answer })
    };
    let mut times = Vec::new();
    for (gap, pause) in GAPS.into_iter().enumerate() {
        for (job, n) in JOBS.into_iter().enumerate() {
            let one = run(n)?.max(Duration::from_nanos(100));
            if one > LONGEST {
                continue;
            }
            let many = (TOGETHER.as_nanos() / one.as_nanos()) as usize;
            let jobs = if pause.is_zero() { many.clamp(FEWEST, MOST) } else { WITH_GAPS };
            let mut samples = Vec::with_capacity(jobs);
            for _ in 0..jobs {
                if !pause.is_zero() {
                    thread::sleep(pause);
                }
                samples.push(run(n)?.as_secs_f64());
            }
            times.push(Times {
                gap,
                job,
                minimum: minimum(&samples).unwrap_or_default(),
                median: median(&samples).unwrap_or_default(),
            });
        }
    }
    Ok(times)
}

/// A column of the table.
struct Column {
    cell: Cell,
    rounds: Vec<Vec<Times>>,
}

/// Runs all columns in rounds. Returns the tables as text.
pub fn run(runtimes: &[Runtime], workers: &[NonZero<usize>], rounds: usize) -> Result<String, Error> {
    let runtimes = runtimes.iter().filter(|runtime| runtime.has(Problem::Fib));
    let one = [NonZero::<usize>::MIN];
    let cells = runtimes.flat_map(|&runtime| {
        let workers = if runtime.is_plain() { &one[..] } else { workers };
        workers.iter().copied().map(move |workers| Cell { problem: Problem::Fib, runtime, workers })
    });
    let rounds_of = |cell| Column { cell, rounds: Vec::new() };
    let mut columns: Vec<_> = cells.map(rounds_of).collect();
    let begun = Ticks::now();
    for round in 1..=rounds {
        for column in &mut columns {
            eprintln!("ramp: round {round}/{rounds}, {} with {} workers", column.cell.runtime, column.cell.workers);
            column.rounds.push(times_of_child(column.cell)?);
        }
    }
    let longest = LONGEST.as_millis();
    let mut text = format!("{}, {rounds} rounds; - where a job took longer than {longest} ms\n", machine());
    for (gap, pause) in GAPS.into_iter().enumerate() {
        let after = if pause.is_zero() {
            "one right after the other".to_owned()
        } else {
            format!("after gaps of {} ms", pause.as_millis())
        };
        // Writing to a String cannot fail.
        let _ = writeln!(text, "\njobs {after}: median (minimum)");
        let _ = writeln!(text, "{}", table(&columns, gap));
    }
    let _ = writeln!(text, "\nfrom spawn to the first instruction: median (minimum)");
    let _ = writeln!(text, "{}", latency::table(workers, rounds));
    text.extend(begun.and_then(|begun| begun.others_since()).and_then(note));
    Ok(text)
}

fn table(columns: &[Column], gap: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    let name = |column: &Column| match column.cell.runtime.is_plain() {
        true => column.cell.runtime.to_string(),
        false => format!("{} {}", column.cell.runtime, column.cell.workers),
    };
    table.set_header(std::iter::once("job".to_owned()).chain(columns.iter().map(name)));
    for (job, n) in JOBS.into_iter().enumerate() {
        let figures = columns.iter().map(|column| {
            let of_job = |times: &&Times| (times.gap, times.job) == (gap, job);
            let times: Vec<_> = column.rounds.iter().flatten().filter(of_job).collect();
            let medians: Vec<_> = times.iter().map(|times| times.median).collect();
            let minima: Vec<_> = times.iter().map(|times| times.minimum).collect();
            let figure = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), seconds);
            format!("{} ({})", figure(median(&medians)), figure(minimum(&minima)))
        });
        let name = if n == 0 { "empty".to_owned() } else { format!("fib {n}") };
        table.add_row(std::iter::once(name).chain(figures));
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn times_of_child(cell: Cell) -> Result<Vec<Times>, Error> {
    let mut command = Command::new(env::current_exe().map_err(Error::Child)?);
    let output = child(&mut command, cell).arg("--ramp").output().map_err(Error::Child)?;
    match serde_json::from_slice(&output.stdout) {
        Ok(times) if output.status.success() => Ok(times),
        _ => Err(Error::Failed { cell, status: output.status, message: last_line(&output.stderr) }),
    }
}
