//! The costs of minimal activities, of such activities when one in a hundred waits, of work in activities, and of a
//! barrier.

use std::cell::Cell;
use std::hint::black_box;
use std::time::Instant;

use finespun::group::sync;
use finespun::prelude::*;
use serde_json::json;

use super::{Code, Config, Report};
use crate::measure::alternate;
use finespun_lab::failure::Failure;
use finespun_lab::show;

thread_local! {
    /// The counter of each worker, to which activities add.
    static COUNTER: Cell<u64> = const { Cell::new(0) };
}

fn count(k: u64) {
    COUNTER.with(|counter| counter.set(counter.get().wrapping_add(black_box(k))));
}

#[task]
async fn adds(k: u64) {
    count(k);
}

#[task]
async fn adds_or_waits(k: u64) {
    if k % 100 == 99 {
        yield_now().await;
    }
    count(k);
}

#[task]
async fn all(n: u64) {
    parfor(0..n, adds).await;
}

#[task]
async fn one_in_a_hundred(n: u64) {
    parfor(0..n, adds_or_waits).await;
}

#[task]
async fn light(n: u64) {
    lparfor(0..n, count).await;
}

/// Computes for a few nanoseconds per step.
pub(super) fn compute(steps: u64) {
    let mut x = 1u64;
    for _ in 0..steps {
        x = black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1));
    }
}

#[task]
async fn computes(steps: u64) {
    compute(steps);
}

#[task]
async fn computing(n: u64, steps: u64) {
    parfor(0..n, move |_| computes(steps)).await;
}

#[task]
async fn skewed(n: u64, scale: u64) {
    parfor(0..n, move |k| computes(k * k / scale)).await;
}

#[task]
async fn rounds(count: u64) {
    for _ in 0..count {
        sync().await;
    }
}

#[task]
async fn syncing(n: u64, count: u64) {
    parfor(0..n, move |_| rounds(count)).await;
}

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let one = Runtime::builder().workers(1).build()?;
    let many = config.usual()?;
    let n = if config.quick { 10_000 } else { 1_000_000 };
    let plain = || (0..n).for_each(count);
    let variants: [(&str, &dyn Fn()); 4] = [
        ("plain loop", &plain),
        ("parfor", &|| one.run(all(n))),
        ("parfor, 1 % wait", &|| one.run(one_in_a_hundred(n))),
        ("lparfor", &|| one.run(light(n))),
    ];
    let samples = alternate(config.rounds, &variants, |(_, run)| Ok::<_, Failure>(timed(run)))?;
    let floor = samples[0].least();
    let table = report.table(16, &["", "ns", "above"])?;
    for ((name, _), sample) in variants.iter().zip(&samples) {
        let each = |seconds: f64| seconds * 1e9 / n as f64;
        let (least, above) = (each(sample.least()), each(sample.least() - floor));
        report.row(json!({"section": "cost", "what": name, "activities": n, "ns": least, "above_plain": above}));
        report.line(&table, &[(*name).to_owned(), format!("{least:.2}"), format!("{above:.2}")])?;
    }
    report.say(&format!(
        "\n{} activities that add to a counter of their worker, on one worker: ns each, and above the plain loop.\n\n",
        show::thousands(n)
    ))?;
    // About 100 ns and 1 us, and work in proportion to the square of the index.
    let (short, long, scale) = (110, 1100, 4_000);
    let (few, squares) = if config.quick { (2_000, 300) } else { (200_000, 6_000) };
    let pairs: [Code<'_>; 3] = [
        ("100 ns each", &|runtime| runtime.run(computing(5 * few, short))),
        ("1 us each", &|runtime| runtime.run(computing(few, long))),
        ("in proportion to k^2", &|runtime| runtime.run(skewed(squares, scale))),
    ];
    let head = ["activities of", "one worker", &format!("{} workers", config.workers), "speed-up"];
    let table = report.table(20, &head)?;
    for (name, run) in pairs {
        let samples = alternate(config.rounds, &[&one, &many], |runtime| Ok::<_, Failure>(timed(&|| run(runtime))))?;
        let (alone, together) = (samples[0].least(), samples[1].least());
        let speedup = alone / together;
        let line = [name.to_owned(), show::seconds(alone), show::seconds(together), format!("{speedup:.2}")];
        report.line(&table, &line)?;
        report.row(json!({
            "section": "cost", "what": name, "one": alone, "workers": config.workers, "many": together, "speedup": speedup,
        }));
    }
    report.say("\n")?;
    barriers(config, &many, report)
}

/// Measures the cost of a barrier per activity: the time of many barriers minus one barrier's.
fn barriers(config: &Config, runtime: &Runtime, report: &Report) -> Result<(), Failure> {
    let table = report.table(10, &["activities", "ns per activity and sync"])?;
    for n in [100, 1000, 10_000, 100_000] {
        let more = if config.quick { 10 } else { 1_000_000 / n };
        let samples = alternate(config.rounds, &[1, 1 + more], |&count| {
            Ok::<_, Failure>(timed(&|| runtime.run(syncing(n, count))))
        })?;
        let each = (samples[1].least() - samples[0].least()) * 1e9 / (n * more) as f64;
        report.row(json!({"section": "cost", "what": "sync", "activities": n, "ns": each}));
        report.line(&table, &[show::thousands(n), format!("{each:.0}")])?;
    }
    Ok(())
}

/// Returns the seconds that `run` takes.
pub(super) fn timed(run: &dyn Fn()) -> f64 {
    let start = Instant::now();
    run();
    start.elapsed().as_secs_f64()
}
