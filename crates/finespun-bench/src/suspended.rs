//! Very many tasks that wait at the same time: the cost of each in time and memory.
//!
//! Every task awaits one continuation, adds its number to the value, and ends. All are made and suspended before the
//! first continuation is resolved.

use std::hint::black_box;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use finespun::prelude::*;
use serde_json::json;

use super::count::undisturbed;
use super::measure::resident;
use super::{Bench, Extra, Report, Sample};
use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;
use finespun_lab::machine;
use finespun_lab::show;

const TASKS: u64 = 1_000_000;
const QUICK: u64 = 1000;

/// The `suspended` bench.
#[derive(Debug)]
pub struct Suspended;

/// The data that the tasks of a round share.
struct Round {
    waiting: Vec<Option<Continuation<u64>>>,
    resident: Option<u64>,
    /// The time at which all tasks were suspended.
    turn: Instant,
}

/// The results of a round, per task.
#[derive(Clone, Copy)]
struct Cost {
    suspend: f64,
    resume: f64,
    frames: f64,
    bytes: f64,
    resident: f64,
    malloc: (f64, f64),
    boxed: (f64, f64),
}

impl Bench for Suspended {
    fn rows(&self) -> Vec<String> {
        Vec::new()
    }

    fn run(&self, options: &BenchOptions, extra: &Extra, report: &mut Report) -> Result<(), Failure> {
        let tasks = extra.tasks.unwrap_or(if options.quick { QUICK } else { TASKS });
        report.expect(options.rounds);
        let each = |number| {
            report.step(&format!("round {number}"));
            round(tasks)
        };
        let costs: Vec<_> = (1..=options.rounds).map(each).collect::<Result<_, _>>()?;
        let sample = |figure: fn(&Cost) -> f64| costs.iter().map(figure).collect::<Sample>();
        let figures = [
            ("make and suspend", "ns", sample(|cost| cost.suspend)),
            ("resume and finish", "ns", sample(|cost| cost.resume)),
            ("both", "ns", sample(|cost| cost.suspend + cost.resume)),
            ("frames and slots", "each", sample(|cost| cost.frames)),
            ("their size", "bytes", sample(|cost| cost.bytes)),
            ("growth of resident memory", "bytes", sample(|cost| cost.resident)),
            ("floor: malloc and free of that size", "ns", sample(|cost| cost.malloc.0)),
            ("floor: as many of them at the same time", "ns", sample(|cost| cost.malloc.1)),
            ("floor: a Box of one word, and its drop", "ns", sample(|cost| cost.boxed.0)),
            ("floor: as many of them at the same time", "ns", sample(|cost| cost.boxed.1)),
        ];
        let lines: Vec<_> = figures
            .iter()
            .map(|(what, unit, sample)| {
                let figures = [sample.all()[0], sample.least(), sample.median()].map(|figure| format!("{figure:.1}"));
                [(*what).to_owned()].into_iter().chain(figures).chain([(*unit).to_owned()]).collect()
            })
            .collect();
        let text = format!(
            "{}\n{} tasks at the same time, one worker, {} rounds, each on a runtime of its own. The memory of frames is kept for the\n\
             next runtime: the first round takes it from the system, pages and all, the others find it. The vector of continuations\n\
             is made and touched before the clock starts.\n",
            show::table(&["for each task", "first round", "least", "median", ""], &lines),
            show::thousands(tasks),
            options.rounds,
        );
        let rows = figures.iter().map(|(what, unit, sample)| {
            json!({
                "what": what, "unit": unit, "tasks": tasks,
                "first": sample.all()[0], "min": sample.least(), "median": sample.median(), "all": sample.all(),
            })
        });
        report.rows(rows);
        report.say(&text)
    }
}

/// Measures one round, on its own runtime.
fn round(tasks: u64) -> Result<Cost, Failure> {
    let runtime = undisturbed().build()?;
    let waiting = touched(tasks);
    let mut round = Round { waiting, resident: None, turn: Instant::now() };
    let before = resident(&machine::read);
    let start = Instant::now();
    let shared = Mutex::new(&mut round);
    let sum = runtime.run(go(&shared, tasks));
    let end = Instant::now();
    assert_eq!(sum, tasks * (tasks + 1) / 2, "every task adds its number to the one that it is resumed with");
    let stats = runtime.stats();
    let each = |nanoseconds: u128| nanoseconds as f64 / tasks as f64;
    let bytes = stats.frame_bytes as f64 / tasks as f64;
    let growth = round.resident.zip(before).map_or(f64::NAN, |(after, before)| after.saturating_sub(before) as f64);
    Ok(Cost {
        suspend: each((round.turn - start).as_nanos()),
        resume: each((end - round.turn).as_nanos()),
        frames: stats.frames as f64 / tasks as f64,
        bytes,
        resident: growth / tasks as f64,
        malloc: floor(tasks, || Vec::<u8>::with_capacity(black_box(bytes.round() as usize))),
        boxed: floor(tasks, || Box::new(black_box(1u64))),
    })
}

/// Returns an empty vector with room for `tasks` elements, all of whose memory has been written to.
fn touched<T>(tasks: u64) -> Vec<Option<T>> {
    let mut vector = Vec::with_capacity(tasks as usize);
    vector.resize_with(tasks as usize, || None);
    black_box(&mut vector).clear();
    vector
}

/// Returns the nanoseconds to make and drop one of `tasks` blocks: dropped at once, and all alive together.
fn floor<T>(tasks: u64, make: impl Fn() -> T) -> (f64, f64) {
    let each = |start: Instant| start.elapsed().as_nanos() as f64 / tasks as f64;
    let start = Instant::now();
    for _ in 0..tasks {
        drop(black_box(make()));
    }
    let alone = each(start);
    let mut blocks = touched(tasks);
    let start = Instant::now();
    blocks.extend((0..tasks).map(|_| Some(make())));
    drop(black_box(blocks));
    (alone, each(start))
}

type Shared<'a> = Mutex<&'a mut Round>;

fn lock<'a, 'b>(shared: &'a Shared<'b>) -> MutexGuard<'a, &'b mut Round> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

#[task]
async fn one(shared: &Shared<'_>, n: u64) -> u64 {
    let value: u64 = suspend(move |k: Continuation<u64>| lock(shared).waiting.push(Some(k))).await;
    value + n
}

#[task]
async fn all(shared: &Shared<'_>, tasks: u64) -> u64 {
    reduce((0..tasks).map(move |n| one(shared, n)), 0, |a: u64, b: u64| a + b).await
}

/// Resolves all continuations. All tasks are waiting when this runs.
#[task]
async fn resolve(shared: &Shared<'_>) {
    let mut round = lock(shared);
    round.resident = resident(&machine::read);
    let waiting = std::mem::take(&mut round.waiting);
    round.turn = Instant::now();
    drop(round);
    for k in waiting.into_iter().flatten() {
        k.resolve(1);
    }
}

#[task]
async fn go(shared: &Shared<'_>, tasks: u64) -> u64 {
    let (sum, ()) = join!(all(shared, tasks), resolve(shared));
    sum
}

#[cfg(test)]
mod tests {
    use super::round;

    #[test]
    fn a_round_with_few_tasks_gives_plausible_costs() {
        let cost = round(100).expect("a runtime");
        assert!(cost.suspend > 0.0 && cost.resume > 0.0 && cost.frames >= 1.0 && cost.bytes >= 24.0);
    }
}
