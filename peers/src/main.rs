//! Compares Finespun with other runtimes: problem x runtime, in time, memory and
//! instructions.
//!
//! `main` reads the command line and hands over to [`matrix`] (the driver), [`one`]
//! (a single cell, in a child process), [`ramp`] (with [`latency`]), [`bank`],
//! [`programs`], [`floors`] or [`instructions`]; [`report`] prints what they found. How
//! to run and how to read it: `README.md`.

mod bank;
mod error;
mod floors;
mod instructions;
mod kernel;
mod latency;
mod matrix;
mod neighbours;
mod one;
mod problem;
#[cfg(feature = "finespun")]
mod programs;
mod ramp;
mod report;
mod runtime;
mod statistics;

use std::fs;
use std::num::NonZero;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use clap::error::ContextKind;
use clap::{Parser, ValueEnum};

use error::Error;
use matrix::Plan;
use neighbours::Ticks;
use problem::{Problem, Scale};
use report::{LeftOut, Report};
use runtime::Runtime;

/// Prints the matrix problem x runtime and writes it as JSON and SVG.
#[derive(Parser)]
#[command(version)]
struct Options {
    /// The rows, comma-separated; all by default.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    problems: Vec<Problem>,

    /// The columns, comma-separated; by default all in this build. `plain` always
    /// runs, since the ratios refer to it.
    #[arg(long, value_delimiter = ',', value_name = "NAMES")]
    runtimes: Vec<Runtime>,

    /// Worker counts, comma-separated.
    #[arg(long, value_delimiter = ',', default_value = "1,2")]
    workers: Vec<NonZero<usize>>,

    /// Samples of every cell; 5, or 1 with --quick.
    #[arg(long, value_name = "N")]
    rounds: Option<NonZero<usize>>,

    /// Stop a sample after this long and leave its cell out of later rounds.
    #[arg(long, value_name = "SECONDS", default_value = "60")]
    limit: NonZero<u32>,

    /// Small sizes, to see that everything runs.
    #[arg(long)]
    quick: bool,

    /// File for the results as JSON.
    #[arg(long, value_name = "FILE", default_value = "peers.json")]
    json: PathBuf,

    /// File for the results as a picture.
    #[arg(long, value_name = "FILE", default_value = "peers.svg")]
    svg: PathBuf,

    /// Count instructions per call of fib under valgrind, instead of the matrix; with --programs, those of each form.
    #[arg(long)]
    instructions: bool,

    /// Time short jobs, alone and with gaps between them, instead of the matrix.
    #[arg(long, conflicts_with = "instructions")]
    ramp: bool,

    /// Time transfers between accounts, as objects, behind mutexes and as actors, instead of the matrix.
    #[arg(long, conflicts_with_all = ["instructions", "ramp"])]
    bank: bool,

    /// Time whole programs, sequentially, with Finespun and with its rivals, instead of the matrix: these, or all.
    #[cfg(feature = "finespun")]
    #[arg(long, num_args = 0.., value_name = "NAMES", value_delimiter = ',')]
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(programs::names()))]
    #[arg(conflicts_with_all = ["ramp", "bank"])]
    programs: Option<Vec<String>>,

    /// With --programs: repeat each, with each number of workers, for so long.
    #[cfg(feature = "finespun")]
    #[arg(long, value_name = "S", default_value = "3", requires = "programs")]
    seconds: u64,

    /// With --programs: run this form of one program, without a table.
    #[cfg(feature = "finespun")]
    #[arg(long, requires_all = ["programs", "rounds"], hide = true)]
    form: Option<String>,

    /// Run one cell in this process and print its sample as JSON.
    #[arg(long, num_args = 3, value_names = ["PROBLEM", "RUNTIME", "WORKERS"])]
    one: Vec<String>,

    /// With --one: this Fibonacci number, without a warm-up.
    #[arg(long, value_name = "N", requires = "one", hide = true)]
    fib: Option<u64>,
}

fn main() -> ExitCode {
    match options().and_then(|options| run(&options)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("peers: {error}");
            ExitCode::from(error.exit_code())
        }
    }
}

/// Parses the command line; returns an error as one line.
fn options() -> Result<Options, Error> {
    Options::try_parse().map_err(|error| {
        if !error.use_stderr() {
            error.exit();
        }
        let text = error.to_string();
        let lines = text.lines().take_while(|line| !line.is_empty());
        let line = lines.map(str::trim).collect::<Vec<_>>().join(" ");
        let line = line.trim_start_matches("error: ");
        let similar = error.get(ContextKind::SuggestedValue).map(|similar| format!("; did you mean `{similar}`?"));
        Error::Usage(format!("{line}{} (see --help)", similar.unwrap_or_default()))
    })
}

fn run(options: &Options) -> Result<(), Error> {
    let scale = if options.quick { Scale::Quick } else { Scale::Full };
    if !options.one.is_empty() {
        return print_one(options, scale);
    }
    let runtimes = runtimes(options)?;
    if options.ramp {
        let rounds = options.rounds.map_or(5, NonZero::get);
        print!("{}", ramp::run(&runtimes, &options.workers, rounds)?);
        return Ok(());
    }
    if options.bank {
        let rounds = options.rounds.map_or(if options.quick { 1 } else { 15 }, NonZero::get);
        print!("{}", bank::run(&options.workers, rounds, options.quick)?);
        return Ok(());
    }
    #[cfg(feature = "finespun")]
    if let Some(names) = &options.programs {
        return run_programs(options, names);
    }
    let left_out: Vec<_> = absent().collect();
    let rounds = options.rounds.map_or(if options.quick { 1 } else { 5 }, NonZero::get);
    let mut report = Report {
        machine: report::machine(),
        quick: options.quick,
        rounds,
        others_busy: 0.0,
        left_out,
        cells: Vec::new(),
        floors: Vec::new(),
        instructions: Vec::new(),
    };
    if options.instructions {
        if !instructions::is_available() {
            println!("left out: instruction counts (install valgrind)");
            return Ok(());
        }
        report.instructions = instructions::count(&runtimes)?;
        print!("{}", report::table::text(&report));
        return Ok(());
    }
    let start = Ticks::now();
    report.cells = matrix::run(&Plan {
        problems: or_all(&options.problems),
        runtimes,
        workers: options.workers.clone(),
        rounds,
        limit: Duration::from_secs(options.limit.get().into()),
        scale,
    })?;
    report.others_busy = start.and_then(|start| start.others_since()).unwrap_or(0.0);
    report.floors = floors::measure();
    print!("{}", report::table::text(&report));
    let json = serde_json::to_string_pretty(&report).expect("a report is plain data");
    write(&options.json, &json)?;
    write(&options.svg, &report::svg::picture(&report))
}

#[cfg(feature = "finespun")]
fn run_programs(options: &Options, names: &[String]) -> Result<(), Error> {
    let size = if options.quick { programs::Size::Test } else { programs::Size::Bench };
    if let Some(form) = &options.form {
        let rounds = options.rounds.map_or(1, NonZero::get);
        return programs::instructions::run_form(&names.join(" "), form, rounds, size);
    }
    if options.instructions {
        print!("{}", programs::instructions::count(names, size)?);
        return Ok(());
    }
    let plan = programs::Plan { size, time: Duration::from_secs(options.seconds) };
    print!("{}", programs::run(names, &options.workers, plan)?);
    Ok(())
}

fn print_one(options: &Options, scale: Scale) -> Result<(), Error> {
    let [problem, runtime, workers] = &options.one[..] else {
        return Err(Error::Usage("--one takes PROBLEM RUNTIME WORKERS".into()));
    };
    let wrong = |what: &str, value: &str| Error::Usage(format!("there is no {what} `{value}`"));
    let cell = one::Cell {
        problem: Problem::from_str(problem, false).map_err(|_| wrong("problem", problem))?,
        runtime: Runtime::from_str(runtime, false).map_err(|_| wrong("runtime", runtime))?,
        workers: workers.parse().map_err(|_| wrong("worker count", workers))?,
    };
    if options.ramp {
        let times = ramp::times(cell)?;
        println!("{}", serde_json::to_string(&times).expect("times are plain data"));
        return Ok(());
    }
    let sample = match options.fib {
        Some(n) => one::fib_once(cell, n)?,
        None => one::sample(cell, scale)?,
    };
    println!("{}", serde_json::to_string(&sample).expect("a sample is plain data"));
    Ok(())
}

/// Returns the columns to run, the plain recursion first.
fn runtimes(options: &Options) -> Result<Vec<Runtime>, Error> {
    for &runtime in &options.runtimes {
        if let Some(cure) = runtime.cure_if_absent() {
            return Err(Error::Absent { runtime, cure });
        }
    }
    let mut runtimes = or_all(&options.runtimes);
    runtimes.retain(|runtime| runtime.cure_if_absent().is_none());
    runtimes.push(Runtime::Plain);
    runtimes.sort();
    runtimes.dedup();
    Ok(runtimes)
}

fn absent() -> impl Iterator<Item = LeftOut> {
    Runtime::value_variants().iter().filter_map(|&runtime| {
        let cure = runtime.cure_if_absent()?;
        Some(LeftOut { runtime, cure })
    })
}

fn or_all<T: ValueEnum + Clone>(chosen: &[T]) -> Vec<T> {
    let all = if chosen.is_empty() { T::value_variants() } else { chosen };
    all.to_vec()
}

fn write(path: &Path, text: &str) -> Result<(), Error> {
    fs::write(path, text).map_err(|source| Error::Write { path: path.to_owned(), source })
}
