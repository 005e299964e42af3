//! The primitives of threads and futures: the concert paper's table 1.
//!
//! The library does not expose its primitives one by one. A phase can be measured from outside: a plain function,
//! called on a worker, that does one thing many times. The clock and the counter measure the same phases.

use std::hint::black_box;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use finespun::prelude::*;
use serde_json::json;

use super::{Report, Trouble, beside, one_decimal};
use crate::count::{Callgrind, ChildError, Program, on_one_worker};
use crate::paper::concert::CONCERT_TABLE_1;
use finespun_lab::sample::Sample;
use finespun_lab::show;

const SIZES: (u64, u64) = (100, 10_000);
const TIMED: u64 = 100_000;

const fn phase(name: &'static str, run: fn(u64) -> u64) -> Program {
    Program::new(name, SIZES, |n| n, run)
}

const SPAWN: Program = phase("threads: spawn", threads_of).within("phase_spawn");
const TOUCH: Program = phase("threads: touch", threads_of).within("phase_touch");
const TAKE: Program = phase("threads: take", threads_of).within("phase_take");
const THREADS: Program = phase("threads: all", threads_of);
const RESOLVED: Program = phase("futures: resolved", |n| on_one_worker(resolved(n, &Mutex::default())));
const RESOLVE: Program = phase("futures: resolve", |n| on_one_worker(waiters(n, &Mutex::default(), &Mutex::default())))
    .within("phase_resolve");

/// The programs whose instructions are counted.
pub const PROGRAMS: &[Program] = &[SPAWN, TOUCH, TAKE, THREADS, RESOLVED, RESOLVE];

/// A row: a description, the paper's primitives that it comprises, and its time.
struct Row {
    what: &'static str,
    theirs: &'static [&'static str],
    nanoseconds: fn(&Times) -> f64,
}

const ROWS: [Row; 6] = [
    Row {
        what: "create a task's frame and enqueue it (spawn)",
        theirs: &["thread_create", "thread_enqueue"],
        nanoseconds: |p| p.spawn,
    },
    Row { what: "dequeue it and run it; it is empty", theirs: &["thread_dequeue"], nanoseconds: |p| p.run },
    Row { what: "ask whether it has ended (is_finished)", theirs: &["touch_future"], nanoseconds: |p| p.touch },
    Row {
        what: "take its value and delete it (try_get)",
        theirs: &["touch_future", "thread_delete"],
        nanoseconds: |p| p.take,
    },
    Row {
        what: "make a future, resolve and touch it (suspend)",
        theirs: &["make_future", "resolve_future", "touch_future"],
        nanoseconds: |p| p.resolved,
    },
    Row {
        what: "resolve a future for which a task waits",
        theirs: &["resolve_future (if waiting)"],
        nanoseconds: |p| p.resolve,
    },
];

/// Nanoseconds of each phase, per primitive.
#[derive(Clone, Copy, Default)]
struct Times {
    spawn: f64,
    run: f64,
    touch: f64,
    take: f64,
    resolved: f64,
    resolve: f64,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the nanoseconds of one of `n` operations since `start`.
fn each(start: Instant, n: u64) -> f64 {
    start.elapsed().as_nanos() as f64 / n as f64
}

fn threads_of(n: u64) -> u64 {
    on_one_worker(threads(n, &Mutex::default()))
}

#[task]
async fn empty(n: u64) -> u64 {
    n
}

#[inline(never)]
fn phase_spawn(n: u64) -> Vec<Handle<'static, u64>> {
    (0..n).map(|n| spawn(empty(n))).collect()
}

#[inline(never)]
fn phase_touch(handles: &[Handle<'static, u64>]) -> usize {
    handles.iter().filter(|handle| handle.is_finished()).count()
}

#[inline(never)]
fn phase_take(handles: Vec<Handle<'static, u64>>) -> u64 {
    handles.into_iter().filter_map(|handle| handle.try_get().ok()).sum()
}

/// Spawns `n` empty tasks, lets all tasks run, checks that they have ended, and takes their values.
///
/// A worker runs its youngest task first, so all tasks have ended when the oldest has.
#[task]
async fn threads(n: u64, times: &Mutex<Times>) -> u64 {
    let oldest: Handle<'static, u64> = spawn(empty(0));
    let start: Instant = Instant::now();
    let handles: Vec<Handle<'static, u64>> = phase_spawn(n);
    lock(times).spawn = each(start, n);
    let start: Instant = Instant::now();
    oldest.await;
    lock(times).run = each(start, n);
    let start: Instant = Instant::now();
    assert_eq!(phase_touch(black_box(&handles)) as u64, n, "a worker runs the youngest task first");
    lock(times).touch = each(start, n);
    let start: Instant = Instant::now();
    let sum: u64 = phase_take(handles);
    lock(times).take = each(start, n);
    sum
}

/// Waits `n` times for a continuation that is resolved at once.
#[task]
async fn resolved(n: u64, times: &Mutex<Times>) -> u64 {
    let start: Instant = Instant::now();
    let mut sum: u64 = 0;
    for _ in 0..n {
        let one: u64 = suspend(|k: Continuation<u64>| k.resolve(1)).await;
        sum += one;
    }
    lock(times).resolved = each(start, n);
    sum
}

type Continuations = Mutex<Vec<Continuation<u64>>>;

#[task]
async fn waiter(waiting: &Continuations) -> u64 {
    suspend(|k: Continuation<u64>| lock(waiting).push(k)).await
}

#[task]
async fn all_wait(n: u64, waiting: &Continuations) -> u64 {
    reduce((0..n).map(move |_| waiter(waiting)), 0, |a: u64, b: u64| a + b).await
}

#[inline(never)]
fn phase_resolve(waiting: Vec<Continuation<u64>>) {
    for k in waiting {
        k.resolve(1);
    }
}

#[task]
async fn resolve_all(n: u64, waiting: &Continuations, times: &Mutex<Times>) {
    let continuations: Vec<Continuation<u64>> = std::mem::take(&mut *lock(waiting));
    let start: Instant = Instant::now();
    phase_resolve(continuations);
    lock(times).resolve = each(start, n);
}

/// Lets `n` tasks wait, then resolves all their continuations.
#[task]
async fn waiters(n: u64, waiting: &Continuations, times: &Mutex<Times>) -> u64 {
    let (sum, ()) = join!(all_wait(n, waiting), resolve_all(n, waiting, times));
    sum
}

/// Returns the times of one round.
fn time(n: u64) -> Times {
    let times = Mutex::default();
    on_one_worker(threads(n, &times));
    on_one_worker(resolved(n, &times));
    on_one_worker(waiters(n, &Mutex::default(), &times));
    times.into_inner().unwrap_or_else(PoisonError::into_inner)
}

/// Measures and prints; without a `callgrind` only times.
///
/// # Errors
///
/// If valgrind delivers no count.
pub fn primitives(
    callgrind: Option<&mut Callgrind>,
    rounds: usize,
    quick: bool,
    report: &Report,
) -> Result<(), Trouble> {
    let n = if quick { TIMED / 100 } else { TIMED };
    let times: Vec<_> = (0..rounds).map(|_| time(n)).collect();
    let counts = callgrind.map(counts).transpose()?;
    let mut lines = Vec::new();
    for (place, row) in ROWS.iter().enumerate() {
        let sample: Sample = times.iter().map(row.nanoseconds).collect();
        let count = counts.map(|counts| counts[place]);
        let theirs = |column| row.theirs.iter().map(|name| CONCERT_TABLE_1.figure(name, column)).sum::<Option<f64>>();
        let (cycles, microseconds) = (theirs("cycles"), theirs("us"));
        lines.push(vec![
            row.what.to_owned(),
            count.map_or_else(|| "-".to_owned(), one_decimal),
            one_decimal(sample.least()),
            one_decimal(sample.median()),
            beside(None, &[cycles, microseconds]),
            row.theirs.join(" + "),
        ]);
        report.row(json!({
            "table": "primitives", "what": row.what, "instructions": count, "ns_min": sample.least(),
            "ns_median": sample.median(), "paper": row.theirs, "paper_cycles": cycles, "paper_us": microseconds,
        }));
    }
    let head = ["primitives", "instructions", "ns", "(median)", "[cycles, us]", "comprises of the paper's"];
    let text = format!(
        "Primitives: instructions and nanoseconds each\n\n{}\n\
         Ours [T3D, concert paper, table 1: the sum of the primitives named in the last column]. Least and median of {rounds}\n\
         rounds of {n}. The library's primitives cannot be called one by one, so some stand together. An empty future under a\n\
         task that waits for it (make_future, touch_future if empty) is what `bench suspended` measures.\n",
        show::table(&head, &lines)
    );
    Ok(report.say(&(text + "\n\n"))?)
}

/// Returns the instructions of each row.
fn counts(callgrind: &mut Callgrind) -> Result<[f64; 6], ChildError> {
    let mut count = |program| callgrind.per_call(program);
    let (spawn, touch, take) = (count(&SPAWN)?, count(&TOUCH)?, count(&TAKE)?);
    let run = count(&THREADS)? - spawn - touch - take;
    Ok([spawn, run, touch, take, count(&RESOLVED)?, count(&RESOLVE)?])
}
