//! Whole programs, as users write them: each sequentially, with Finespun, and with its rivals.
//!
//! A program is a file of this folder: its forms one below the other, each as a user of that library would write it. All
//! forms of a program compute the same answer from the same input. They run in one process, in turns.

mod barnes_hut;
mod bfs;
mod collect;
mod connect4;
mod evaluator;
mod fibonacci;
mod find;
pub mod instructions;
mod life;
mod mergesort;
mod nbody;
mod pythagoras;
mod quicksort;
mod rmat;
mod service;
mod sieve;
mod tsp;
mod walk;
mod words;
mod zmatmul;

use std::fmt::Write;
use std::num::NonZero;
use std::sync::Arc;
use std::time::{Duration, Instant};

use comfy_table::{CellAlignment, Table, presets};

use crate::error::Error;
use crate::neighbours::{Ticks, note};
use crate::report::{machine, ratio, seconds};
use crate::runtime::STACK_BYTES;
use crate::statistics::{median, minimum};

/// All programs.
const PROGRAMS: &[Program] = &[
    barnes_hut::PROGRAM,
    bfs::PROGRAM,
    collect::VECTORS,
    collect::FOLDED,
    collect::MAP,
    connect4::PROGRAM,
    evaluator::PROGRAM,
    fibonacci::PROGRAM,
    find::EARLY,
    find::LATE,
    life::PROGRAM,
    mergesort::PROGRAM,
    nbody::PROGRAM,
    nbody::REDUCE,
    pythagoras::PROGRAM,
    pythagoras::NESTED,
    quicksort::PROGRAM,
    rmat::PROGRAM,
    service::PROGRAM,
    sieve::PROGRAM,
    words::SORT,
    words::SORT_STRINGS,
    tsp::PROGRAM,
    walk::PROGRAM,
    words::WORDS,
    zmatmul::PROGRAM,
];

/// A program in several forms.
pub struct Program {
    /// The name on the command line.
    pub name: &'static str,
    /// What it computes, as a line of the table of `README.md`.
    pub about: &'static str,
    /// Makes the input, and the forms: `plain` first, then `finespun`, then the rivals.
    pub make: fn(Size, &Pools) -> Vec<Form>,
}

/// A program in one form.
pub struct Form {
    /// `plain`, `finespun`, or the library of a rival.
    pub name: &'static str,
    /// Runs the program once. Returns a checksum of its answer.
    pub run: Box<dyn FnMut() -> u64>,
}

impl Form {
    /// Makes a form of a closure.
    pub fn new(name: &'static str, run: impl FnMut() -> u64 + 'static) -> Self {
        Self { name, run: Box::new(run) }
    }
}

/// How large a program's input is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Size {
    /// Milliseconds at most.
    Test,
    /// The plain form takes 20 to 200 ms.
    Bench,
}

impl Size {
    /// Returns `test` or `bench`.
    pub fn pick<T>(self, test: T, bench: T) -> T {
        match self {
            Self::Test => test,
            Self::Bench => bench,
        }
    }
}

/// The pools of all libraries, with the same number of workers.
pub struct Pools {
    /// Finespun's workers.
    pub finespun: Arc<finespun::Runtime>,
    /// rayon's workers.
    pub rayon: Arc<rayon::ThreadPool>,
    /// tokio's workers.
    pub tokio: Arc<tokio::runtime::Runtime>,
}

impl Pools {
    fn start(workers: NonZero<usize>) -> Self {
        let workers = workers.get();
        let finespun = finespun::Runtime::builder().workers(workers).build().expect("finespun starts its workers");
        // A thread that waits in a join may begin other requests of the service on top of its stack, without end: 2 MiB
        // overflow.
        let rayon = rayon::ThreadPoolBuilder::new().num_threads(workers).stack_size(STACK_BYTES);
        let rayon = rayon.build().expect("rayon starts its threads");
        let mut tokio = tokio::runtime::Builder::new_multi_thread();
        let tokio = tokio.worker_threads(workers).build().expect("tokio starts its threads");
        Self { finespun: Arc::new(finespun), rayon: Arc::new(rayon), tokio: Arc::new(tokio) }
    }
}

/// Random numbers from a fixed seed (splitmix64).
#[derive(Clone)]
pub struct Random(u64);

impl Random {
    /// Starts the sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Returns the next number.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// Returns a number below `bound`.
    pub fn below(&mut self, bound: usize) -> usize {
        ((u128::from(self.next()) * bound as u128) >> 64) as usize
    }

    /// Returns a number from 0 to 1.
    pub fn unit(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// Returns the names of all programs.
pub fn names() -> impl Iterator<Item = &'static str> {
    PROGRAMS.iter().map(|program| program.name)
}

/// How long, and how often, a program runs.
#[derive(Clone, Copy)]
pub struct Plan {
    /// The size of the input.
    pub size: Size,
    /// For each program and number of workers.
    pub time: Duration,
}

/// The fewest and the most rounds.
const ROUNDS: std::ops::RangeInclusive<usize> = 3..=101;

/// Times the programs with these names, or all. Returns the table as text.
pub fn run(names: &[String], workers: &[NonZero<usize>], plan: Plan) -> Result<String, Error> {
    let begun = Ticks::now();
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(["program", "workers", "rounds", "plain", "finespun", "rival", "its time", "finespun to rival"]);
    for program in chosen(names) {
        for &workers in workers {
            eprintln!("programs: {} ({}) with {workers} workers", program.name, program.about);
            let timed = time(program, workers, plan)?;
            let of = |name: &str| timed.iter().find(|form| form.name == name);
            let (Some(plain), Some(own)) = (of("plain"), of("finespun")) else { continue };
            for rival in timed.iter().filter(|form| !["plain", "finespun"].contains(&form.name)) {
                table.add_row([
                    program.name.to_owned(),
                    workers.to_string(),
                    own.times.len().to_string(),
                    plain.figures(),
                    own.figures(),
                    rival.name.to_owned(),
                    rival.figures(),
                    own.over(rival),
                ]);
            }
        }
    }
    align_right(&mut table, &[1, 2, 3, 4, 6, 7]);
    let mut text = format!("{}\n", machine());
    // Writing to a String cannot fail.
    let _ = writeln!(text, "\nprograms: median (minimum) of the rounds\n{table}");
    text.extend(begun.and_then(|begun| begun.others_since()).and_then(note));
    Ok(text)
}

/// Returns the programs with these names, or all.
fn chosen(names: &[String]) -> impl Iterator<Item = &'static Program> {
    PROGRAMS.iter().filter(|program| names.is_empty() || names.iter().any(|name| name == program.name))
}

fn align_right(table: &mut Table, columns: &[usize]) {
    for &column in columns {
        if let Some(column) = table.column_mut(column) {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
}

/// The times of one form, in seconds.
struct Timed {
    name: &'static str,
    times: Vec<f64>,
}

impl Timed {
    fn median(&self) -> f64 {
        median(&self.times).unwrap_or(f64::NAN)
    }

    fn minimum(&self) -> f64 {
        minimum(&self.times).unwrap_or(f64::NAN)
    }

    fn figures(&self) -> String {
        format!("{} ({})", seconds(self.median()), seconds(self.minimum()))
    }

    /// Returns the ratio of the medians, and that of the minima.
    fn over(&self, rival: &Self) -> String {
        format!("{} ({})", ratio(self.median() / rival.median()), ratio(self.minimum() / rival.minimum()))
    }
}

/// Runs all forms of a program in rounds, of which the first is the warm-up.
fn time(program: &Program, workers: NonZero<usize>, plan: Plan) -> Result<Vec<Timed>, Error> {
    let mut forms = (program.make)(plan.size, &Pools::start(workers));
    let mut timed: Vec<_> = forms.iter().map(|form| Timed { name: form.name, times: Vec::new() }).collect();
    let begun = Instant::now();
    for round in 0..=*ROUNDS.end() {
        if round > *ROUNDS.start() && begun.elapsed() >= plan.time {
            break;
        }
        let mut expected = None;
        for (form, timed) in forms.iter_mut().zip(&mut timed) {
            let start = Instant::now();
            let answer = (form.run)();
            let took = start.elapsed().as_secs_f64();
            let expected = *expected.get_or_insert(answer);
            if answer != expected {
                let (program, form, workers) = (program.name, form.name, workers.get());
                return Err(Error::Program { program, form, workers, answer, expected });
            }
            if round > 0 {
                timed.times.push(took);
            }
        }
    }
    Ok(timed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_forms_of_all_programs_compute_the_same() {
        let plan = Plan { size: Size::Test, time: Duration::ZERO };
        for workers in [1, 2].into_iter().filter_map(NonZero::new) {
            for program in PROGRAMS {
                let timed = time(program, workers, plan).unwrap_or_else(|error| panic!("{error}"));
                assert_eq!(timed[0].name, "plain");
                assert_eq!(timed[1].name, "finespun");
                assert!(timed.len() > 2, "{} has no rival", program.name);
            }
        }
    }

    #[test]
    fn a_wrong_answer_names_program_and_form() {
        let make: fn(Size, &Pools) -> Vec<Form> =
            |_, _| vec![Form::new("plain", || 1), Form::new("finespun", || 1), Form::new("rayon", || 2)];
        let program = Program { name: "odd", about: "", make };
        let plan = Plan { size: Size::Test, time: Duration::ZERO };
        let Err(error) = time(&program, NonZero::<usize>::MIN, plan) else { panic!("no error") };
        assert_eq!(error.to_string(), "program `odd` as `rayon` with 1 workers is wrong: it returned 2 in place of 1");
    }

    #[test]
    fn readme_has_a_row_for_each_program() {
        let readme = include_str!("../../README.md");
        for Program { name, about, .. } in PROGRAMS {
            assert!(readme.contains(&format!("| `{name}` | {about} |")), "README.md lacks `{name}`: {about}");
        }
    }
}
