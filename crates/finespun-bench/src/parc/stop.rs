//! The time that activities go on after their group has been terminated.
//!
//! Activities compute beneath three nested groups, and check the guard every ten microseconds; each notes the time of
//! its latest check. One activity terminates the outermost group. A sample does not count if an activity lost its
//! processor after the request, which shows as a gap between its checks.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Instant;

use crossbeam_utils::CachePadded;
use finespun::prelude::*;
use finespun::{group::Level, level, preturn};
use serde_json::json;

use super::cost::{compute, timed};
use super::{Config, Report};
use crate::measure::alternate;
use finespun_lab::failure::Failure;
use finespun_lab::show;

/// Nanoseconds between two checks.
const LOOK: u64 = 10_000;
/// A gap that shows that the thread did not run.
const GAP: u64 = 3 * LOOK;

/// The records of the activities.
struct Notes {
    start: Instant,
    /// The time of the latest check, by activity.
    alive: Vec<CachePadded<AtomicU64>>,
    /// The time at which termination was requested.
    asked: AtomicU64,
    preempted: AtomicBool,
}

impl Notes {
    fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }
}

/// Computes until terminated. Activity 0 terminates the whole after one millisecond, by which time the others have been
/// running for a while.
#[task]
async fn computes(notes: &Notes, k: usize, whole: Level<()>) {
    let mut before = notes.now();
    loop {
        let until = before + LOOK;
        let mut now = before;
        while now < until {
            now = notes.now();
        }
        if now - before > GAP && notes.asked.load(Ordering::Relaxed) > 0 {
            notes.preempted.store(true, Ordering::Relaxed);
        }
        notes.alive[k].store(now, Ordering::Relaxed);
        before = now;
        if k == 0 && now > 1_000_000 {
            notes.asked.store(notes.now(), Ordering::Relaxed);
            preturn(whole, ()).await;
        }
        checkpoint().await;
    }
}

#[task]
async fn third(notes: &Notes, k: usize, whole: Level<()>) {
    parfor(k..k + 1, move |k| computes(notes, k, whole)).await;
}

#[task]
async fn second(notes: &Notes, k: usize, whole: Level<()>) {
    parfor(k..k + 1, move |k| third(notes, k, whole)).await;
}

#[task]
async fn first(notes: &Notes, whole: Level<()>) {
    parfor(0..notes.alive.len(), move |k| second(notes, k, whole)).await;
}

#[task]
async fn ended(notes: &Notes) {
    level(|whole| first(notes, whole)).await;
}

/// Computes for some 10 ns. Three loops call it: activities that could terminate their group but never find the value,
/// activities that cannot, and calls outside any group.
#[inline(always)]
fn look(k: u64) -> u64 {
    compute(10);
    k ^ (k << 7)
}

#[task]
async fn looks_for(k: u64, wanted: u64) -> ControlFlow<u64> {
    match look(k) == wanted {
        true => ControlFlow::Break(k),
        false => ControlFlow::Continue(()),
    }
}

#[task]
async fn looks(k: u64, wanted: u64) {
    std::hint::black_box(look(k) == wanted);
}

#[task]
async fn calls(k: u64, wanted: u64) -> u64 {
    u64::from(look(k) == wanted)
}

#[task]
async fn that_may_end(n: u64, wanted: u64) -> bool {
    parfor(0..n, move |k| looks_for(k, wanted)).await.is_break()
}

#[task]
async fn that_goes_through(n: u64, wanted: u64) -> bool {
    parfor(0..n, move |k| looks(k, wanted)).await;
    false
}

#[task]
async fn in_no_group(n: u64, wanted: u64) -> bool {
    reduce((0..n).map(move |k| calls(k, wanted)), 0, |a, b| a + b).await > 0
}

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let runtime = config.usual()?;
    let times = if config.quick { 20 } else { 1000 };
    let mut late = Vec::new();
    let mut preempted = 0;
    for _ in 0..times {
        let notes = Notes {
            start: Instant::now(),
            alive: (0..config.workers).map(|_| CachePadded::new(AtomicU64::new(0))).collect(),
            asked: AtomicU64::new(0),
            preempted: AtomicBool::new(false),
        };
        runtime.run(ended(&notes));
        if notes.preempted.load(Ordering::Relaxed) {
            preempted += 1;
            continue;
        }
        let asked = notes.asked.load(Ordering::Relaxed);
        let last = notes.alive.iter().skip(1).map(|alive| alive.load(Ordering::Relaxed)).max().unwrap_or(0);
        late.push(last.saturating_sub(asked) as f64 / 1e3);
    }
    late.sort_by(f64::total_cmp);
    let at = |part: f64| late.get(((late.len() as f64 - 1.0) * part) as usize).copied().unwrap_or(f64::NAN);
    let [median, most_of, most] = [0.5, 0.99, 1.0].map(at);
    let n = if config.quick { 10_000 } else { 1_000_000 };
    let one = Runtime::builder().workers(1).build()?;
    // A value that no activity finds.
    let wanted = std::hint::black_box(u64::MAX);
    let variants: [&dyn Fn() -> bool; 3] =
        [&|| one.run(that_may_end(n, wanted)), &|| one.run(that_goes_through(n, wanted)), &|| {
            one.run(in_no_group(n, wanted))
        }];
    let samples =
        alternate(config.rounds, &variants, |run| Ok::<_, Failure>(timed(&|| assert!(!run(), "nothing is found"))))?;
    let ratio = samples[0].least() / samples[1].least();
    let bare = samples[0].least() / samples[2].least();
    let text = format!(
        "Activities that look at the guard every {} us, beneath three groups, were last alive after the outermost was ended:\n\
         median {median:.1} us, 99 % below {most_of:.1}, at most {most:.1}, of {} samples; {preempted} more in which a thread had lost its\n\
         processor are not counted.\n\nA loop of {} activities of some 10 ns that could be ended takes {ratio:.3} of the time of one that could not,\n\
         and {bare:.3} of that of calls in no group.\n",
        LOOK / 1000,
        late.len(),
        show::thousands(n)
    );
    report.row(json!({
        "section": "stop", "median_us": median, "p99_us": most_of, "max_us": most, "samples": late.len(),
        "preempted": preempted, "cost_ratio": ratio, "to_calls": bare,
    }));
    report.say(&text)
}
