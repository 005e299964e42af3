//! Five programs by several conventions: the hybrid paper's table 3.

use std::time::Instant;

use finespun::testing::*;
use finespun::{Runtime, Task};
use serde_json::{Value, json};

use super::native::Native;
use super::programs::{Data, chosen, may_block, pinned, plain, unchecked};
use super::{Report, Trouble};
use crate::count::undisturbed;
use crate::measure::alternate;
use crate::paper::hybrid::HYBRID_TABLE_3;
use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;
use finespun_lab::sample::Sample;
use finespun_lab::show;

/// The conventions, as columns, each with the paper's name for it.
const COLUMNS: [(&str, Option<&str>); 7] = [
    ("heap only", Some("parallel")),
    ("pinned only", Some("1 interface")),
    ("not straight", Some("2 interfaces")),
    ("all schemas", Some("3 interfaces")),
    ("unchecked", Some("seq-opt")),
    ("plain Rust", None),
    ("C", Some("C")),
];

/// A program, with a function for each version; `None` if the version does not exist.
struct Program {
    name: &'static str,
    /// The row of the paper's table.
    theirs: &'static str,
    /// The name in the C program.
    native: Option<&'static str>,
    answer: fn(&Data) -> u64,
    /// Runs per measurement; the heap-only version makes a hundredth.
    times: u64,
    chosen: fn(&Runtime, &Data) -> u64,
    may_block: fn(&Runtime, &Data) -> u64,
    pinned: fn(&Runtime, &Data) -> u64,
    unchecked: fn(&Runtime, &Data) -> u64,
    plain: Option<fn(&Data) -> u64>,
}

const PROGRAMS: [Program; 6] = [
    Program {
        name: "fib(29)",
        theirs: "fib(29)",
        native: Some("fib"),
        answer: |_| 514_229,
        times: 100,
        chosen: |runtime, data| run(runtime, chosen::fibs(data)),
        may_block: |runtime, data| run(runtime, may_block::fibs(data)),
        pinned: |runtime, data| run(runtime, pinned::fibs(data)),
        unchecked: |runtime, data| run(runtime, unchecked::fibs(data)),
        plain: Some(plain::fibs),
    },
    Program {
        name: "tak(18,12,6)",
        theirs: "tak(18,12,6)",
        native: Some("tak"),
        answer: |_| 7,
        times: 1000,
        chosen: |runtime, data| run(runtime, chosen::taks(data)),
        may_block: |runtime, data| run(runtime, may_block::taks(data)),
        pinned: |runtime, data| run(runtime, pinned::taks(data)),
        unchecked: |runtime, data| run(runtime, unchecked::taks(data)),
        plain: Some(plain::taks),
    },
    Program {
        name: "qsort(10000)",
        theirs: "qsort(10000)",
        native: Some("qsort"),
        answer: |data| data.middle(),
        times: 300,
        chosen: |runtime, data| run(runtime, chosen::sorts(data)),
        may_block: |runtime, data| run(runtime, may_block::sorts(data)),
        pinned: |runtime, data| run(runtime, pinned::sorts(data)),
        unchecked: |runtime, data| run(runtime, unchecked::sorts(data)),
        plain: Some(plain::sorts),
    },
    Program {
        name: "nqueens(8x8)",
        theirs: "nqueens(8x8)",
        native: Some("nqueens"),
        answer: |_| 92,
        times: 5000,
        chosen: |runtime, data| run(runtime, chosen::queenses(data)),
        may_block: |runtime, data| run(runtime, may_block::queenses(data)),
        pinned: |runtime, data| run(runtime, pinned::queenses(data)),
        unchecked: |runtime, data| run(runtime, unchecked::queenses(data)),
        plain: Some(plain::queenses),
    },
    Program {
        name: "list (128), forwarded",
        theirs: "list-traversal (128 elements)",
        native: Some("list"),
        answer: |_| 128 * 129 / 2,
        times: 100_000,
        chosen: |runtime, data| run(runtime, chosen::forwards(data)),
        may_block: |runtime, data| run(runtime, may_block::forwards(data)),
        pinned: |runtime, data| run(runtime, pinned::forwards(data)),
        unchecked: |runtime, data| run(runtime, unchecked::forwards(data)),
        plain: Some(plain::lists),
    },
    Program {
        name: "list (128), not forwarded",
        theirs: "list-traversal, without forwarding",
        native: None,
        answer: |_| 128 * 129 / 2,
        times: 100_000,
        chosen: |runtime, data| run(runtime, chosen::lists(data)),
        may_block: |runtime, data| run(runtime, may_block::lists(data)),
        pinned: |runtime, data| run(runtime, pinned::lists(data)),
        unchecked: |runtime, data| run(runtime, unchecked::lists(data)),
        plain: None,
    },
];

fn run<T: Task<Output = u64> + Send>(runtime: &Runtime, task: T) -> u64 {
    runtime.run(task)
}

/// The convention by which a program runs.
enum Convention<'a> {
    Heap(&'a Runtime),
    Pinned(&'a Runtime),
    MayBlock(&'a Runtime),
    All(&'a Runtime),
    Unchecked(&'a Runtime),
    Plain(fn(&Data) -> u64),
    Native(&'a Native, &'static str),
}

impl Convention<'_> {
    /// Returns the seconds of one run.
    fn time(&self, program: &Program, times: u64) -> Result<f64, Trouble> {
        let times = if matches!(self, Convention::Heap(_)) { times.div_ceil(100) } else { times };
        let data = Data::new(times);
        let start = Instant::now();
        let answer = match self {
            Convention::Heap(runtime) | Convention::All(runtime) => (program.chosen)(runtime, &data),
            Convention::MayBlock(runtime) => (program.may_block)(runtime, &data),
            Convention::Pinned(runtime) => (program.pinned)(runtime, &data),
            Convention::Unchecked(runtime) => (program.unchecked)(runtime, &data),
            Convention::Plain(plain) => plain(&data),
            Convention::Native(native, name) => {
                let (answer, seconds) = native.run(name, times)?;
                return check(program, &data, answer).map(|()| seconds);
            }
        };
        let seconds = start.elapsed().as_secs_f64() / times as f64;
        check(program, &data, answer).map(|()| seconds)
    }

    fn column(&self) -> usize {
        match self {
            Convention::Heap(_) => 0,
            Convention::Pinned(_) => 1,
            Convention::MayBlock(_) => 2,
            Convention::All(_) => 3,
            Convention::Unchecked(_) => 4,
            Convention::Plain(_) => 5,
            Convention::Native(..) => 6,
        }
    }
}

/// Checks that a version has returned the program's answer.
fn check(program: &Program, data: &Data, answer: u64) -> Result<(), Trouble> {
    let expected = (program.answer)(data);
    if answer == expected {
        return Ok(());
    }
    let (first, second) = (expected.to_string(), answer.to_string());
    Err(Failure::Disagreement { app: program.name, first, second }.into())
}

/// The samples of one program, by column.
type Samples = [Option<Sample>; COLUMNS.len()];

/// Measures and prints.
///
/// # Errors
///
/// If a version cannot be run, or returns another answer.
pub fn sequential(options: &BenchOptions, report: &Report) -> Result<(), Trouble> {
    let native = Native::compile();
    let (runtime, heap) = (undisturbed().build().map_err(Failure::Start)?, undisturbed().block_every(1));
    let heap = heap.build().map_err(Failure::Start)?;
    report.say("Sequential programs on one worker: time of a run, relative to C\n\n")?;
    let head: Vec<_> = ["program"].into_iter().chain(COLUMNS.iter().map(|(name, _)| *name)).collect();
    let table = report.table(10, &head)?;
    report.expect(PROGRAMS.len() - 1);
    for program in &PROGRAMS {
        report.step(program.name);
        let mut conventions = vec![
            Convention::Heap(&heap),
            Convention::Pinned(&runtime),
            Convention::MayBlock(&runtime),
            Convention::All(&runtime),
            Convention::Unchecked(&runtime),
        ];
        conventions.extend(program.plain.map(Convention::Plain));
        conventions
            .extend(native.as_ref().ok().zip(program.native).map(|(native, name)| Convention::Native(native, name)));
        let times = if options.quick { program.times.div_ceil(1000) } else { program.times };
        let found = alternate(options.rounds, &conventions, |convention| convention.time(program, times))?;
        let mut samples = Samples::default();
        for (convention, sample) in conventions.iter().zip(found) {
            samples[convention.column()] = Some(sample);
        }
        report.row(row(program, &samples));
        report.line(&table, &line(program, &samples))?;
    }
    Ok(report.say(&notes(options, native.err().map(|error| error.to_string())))?)
}

fn line(program: &Program, samples: &Samples) -> Vec<String> {
    let native = samples[6].as_ref().map(Sample::least);
    let their_native = HYBRID_TABLE_3.figure(program.theirs, "C");
    let cells = COLUMNS.iter().zip(samples).map(|(&(_, column), sample)| {
        let Some(sample) = sample else { return "-".to_owned() };
        let time = show::seconds(sample.least());
        let Some(native) = native else { return time };
        let ours = format!("{:.2}", sample.least() / native);
        let theirs = column.and_then(|column| HYBRID_TABLE_3.figure(program.theirs, column)).zip(their_native);
        match theirs {
            Some((theirs, their_native)) => format!("{time} {ours} [{:.2}]", theirs / their_native),
            None => format!("{time} {ours}"),
        }
    });
    [program.name.to_owned()].into_iter().chain(cells).collect()
}

fn row(program: &Program, samples: &Samples) -> Value {
    let mut row = json!({"table": "sequential", "program": program.name});
    for (&(name, column), sample) in COLUMNS.iter().zip(samples) {
        let theirs = column.and_then(|column| HYBRID_TABLE_3.figure(program.theirs, column));
        row[name] = match sample {
            Some(sample) => {
                json!({"min": sample.least(), "median": sample.median(), "all": sample.all(), "paper": theirs})
            }
            None => json!({"paper": theirs}),
        };
    }
    row
}

fn notes(options: &BenchOptions, native: Option<String>) -> String {
    let native = native.map_or_else(String::new, |reason| format!("Left out: C. {reason}.\n"));
    format!(
        "\nLeast of {} rounds in turn; ours [SPARC, hybrid paper, table 3]. Columns:\n\
         heap only [parallel]: block_every(1), which makes every guarded call a frame, enqueued and scheduled;\n\
         pinned only [1 interface]: every call by our most general convention, a frame in place;\n\
         not straight [2 interfaces]: as the compiler chooses but for the straight schema, which qsort, nqueens and the list use for\n\
         what awaits nothing (their recursion is straight too: ours is not, or nobody could steal from it);\n\
         all schemas [3 interfaces]: as the compiler chooses; unchecked [seq-opt]: the same without guard checks, but for those of\n\
         reduce in nqueens; plain Rust: functions; C: gcc -O2, which like rustc makes a loop of the list's recursion.\n{native}",
        options.rounds,
    )
}
