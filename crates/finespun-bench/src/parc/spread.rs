//! The distribution of activities to workers: Figure 4 and Table 2.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crossbeam_utils::CachePadded;
use finespun::group::Members;
use finespun::group::sync;
use finespun::prelude::*;
use serde_json::json;

use super::cost::timed;
use super::{Code, Config, POLICIES, Report, milliseconds};
use crate::measure::take_turns;
use finespun_lab::failure::Failure;
use finespun_lab::show::{self, Panel};

/// Seconds of Figure 4, where the text of section 4.1 gives them: on ten processors of 4 MIPS.
const THEIRS: [(u64, &str); 5] =
    [(100, "about 100 s, 10 % each"), (1000, ""), (10_000, "about 85 s"), (100_000, ""), (1_000_000, "far more")];

/// The number of activities that ran on each worker, by its node.
type Shares = [CachePadded<AtomicU64>];

#[task]
async fn assigns(variable: &AtomicU64, shares: &Shares, times: u64) {
    for k in 0..times {
        variable.store(k, Ordering::Relaxed);
    }
    shares[here()].fetch_add(1, Ordering::Relaxed);
}

#[task]
async fn assignments(variable: &AtomicU64, shares: &Shares, activities: u64, times: u64) {
    parfor(0..activities, move |_| assigns(variable, shares, times)).await;
}

pub(super) fn figure4(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let total: u64 = if config.quick { 1_000_000 } else { 100_000_000 };
    let head = ["policy", "activities", "ms", "% of activities by worker", "descriptor taken", "the paper"];
    let table = report.table(15, &head)?;
    let mut curves: Vec<(String, Vec<(f64, f64)>)> = Vec::new();
    for (name, policy) in POLICIES {
        let runtime = config.runtime(policy, Members::default())?;
        let mut curve = Vec::new();
        for (activities, theirs) in THEIRS {
            let variable = CachePadded::new(AtomicU64::new(0));
            let shares: Vec<_> = (0..config.workers).map(|_| CachePadded::new(AtomicU64::new(0))).collect();
            let before = runtime.stats();
            let found = take_turns(config.rounds, &[()], |()| {
                let run = || runtime.run(assignments(&variable, &shares, activities, total / activities));
                Ok::<_, Failure>(timed(&run))
            })?;
            let least = found[0].iter().copied().fold(f64::INFINITY, f64::min);
            let runs = (config.rounds + 1) as u64;
            let taken = (runtime.stats() - before).acquisitions / runs;
            let all = activities * runs;
            let mut percent: Vec<u64> = shares.iter().map(|share| share.load(Ordering::Relaxed) * 100 / all).collect();
            percent.sort_unstable_by(|a, b| b.cmp(a));
            let shown = percent.iter().map(|share| format!("{share}")).collect::<Vec<_>>().join(" ");
            curve.push((activities as f64, least * 1e3));
            let line = [
                name.to_owned(),
                show::thousands(activities),
                milliseconds(least),
                shown,
                show::thousands(taken),
                theirs.to_owned(),
            ];
            report.line(&table, &line)?;
            report.row(json!({
                "section": "figure4", "policy": name, "activities": activities, "seconds": least, "shares": percent,
                "acquisitions": taken,
            }));
        }
        curves.push((name.to_owned(), curve));
    }
    report.say(&format!(
        "\n{} assignments to one variable, in equal parts. The paper has ten processors, and so many activities of one length that\n\
         those near the variable's memory take more of them; here it is the cache line that wanders.\n",
        show::thousands(total)
    ))?;
    report.panels.push(Panel { title: "Figure 4: by policy".to_owned(), curves });
    Ok(())
}

#[task]
async fn delays(time: Duration) {
    delay(time);
}

fn delay(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

#[task]
async fn parfor_delay(n: u64, time: Duration) {
    parfor(0..n, move |_| delays(time)).await;
}

#[task]
async fn lparfor_delay(n: u64, time: Duration) {
    let chunks = finespun::nodes() as u64;
    lparfor(0..n, move |_| delay(time)).chunks(chunks).await;
}

#[task]
async fn syncs(_: u64) {
    sync().await;
}

#[task]
async fn parfor_sync(n: u64) {
    parfor(0..n, syncs).await;
}

#[task]
async fn parfor_parfor_sync(n: u64) {
    parfor(0..n, move |_: u64| parfor_sync(n)).await;
}

/// The paper's Table 2: seconds on five processors, for the policies default, envelopes, representatives.
const TABLE_2: [[f64; 3]; 4] = [[4.02, 3.36, 2.02], [2.02, 2.02, 2.02], [4.95, 5.12, 5.02], [7.50, 2.85, 2.50]];

pub(super) fn table2(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let (n, time) = if config.quick { (100, Duration::from_micros(10)) } else { (10_000, Duration::from_micros(100)) };
    let codes: [Code<'_>; 4] = [
        ("parfor 10000 delay(0.1ms)", &|runtime| runtime.run(parfor_delay(n, time))),
        ("lparfor 10000 delay(0.1ms)", &|runtime| runtime.run(lparfor_delay(n, time))),
        ("parfor 1000 sync", &|runtime| runtime.run(parfor_sync(n / 10))),
        ("parfor 100 parfor 100 sync", &|runtime| runtime.run(parfor_parfor_sync((n / 100).max(2)))),
    ];
    let runtimes = POLICIES.map(|(_, policy)| config.runtime(policy, Members::default()));
    let runtimes = runtimes.into_iter().collect::<Result<Vec<_>, _>>()?;
    let head = ["code", "global", "envelopes", "repr.", "steal (ms)", "paper: default", "envelopes", "repr. (s)"];
    let table = report.table(28, &head)?;
    for ((name, code), theirs) in codes.iter().zip(TABLE_2) {
        let found = take_turns(config.rounds, &runtimes, |runtime| Ok::<_, Failure>(timed(&|| code(runtime))))?;
        let least: Vec<f64> = found.iter().map(|times| times.iter().copied().fold(f64::INFINITY, f64::min)).collect();
        let mut line = vec![(*name).to_owned()];
        line.extend(least.iter().map(|&seconds| milliseconds(seconds)));
        line.extend(theirs.map(|seconds| format!("{seconds:.2}")));
        report.line(&table, &line)?;
        let ours: Vec<_> =
            POLICIES.iter().zip(&least).map(|((policy, _), s)| json!({"policy": policy, "seconds": s})).collect();
        report.row(json!({"section": "table2", "code": name, "seconds": ours, "paper": theirs}));
    }
    report.say("\nA tenth of the paper's delay; the paper has five processors.\n")
}
