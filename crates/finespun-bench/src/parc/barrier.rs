//! A barrier by the number of activities, with and without the cost of beginning them: Figure 6.

use finespun::group::sync;
use finespun::prelude::*;
use serde_json::json;

use super::cost::timed;
use super::{Config, Report, milliseconds};
use crate::measure::alternate;
use finespun_lab::failure::Failure;
use finespun_lab::show::{self, Panel};

#[task]
async fn syncs(rounds: u64) {
    for _ in 0..rounds {
        sync().await;
    }
}

#[task]
async fn all(n: u64, rounds: u64) {
    parfor(0..n, move |_| syncs(rounds)).await;
}

/// Additional barriers, whose time gives the cost of one barrier without the cost of beginning the activities.
const MORE: u64 = 10;

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let runtime = config.usual()?;
    let (mut with, mut without, mut spawn) = (Vec::new(), Vec::new(), Vec::new());
    let head = ["activities", "begin, ms", "sync", "begin and sync", "sync, ns each", "begin and sync, ns each"];
    let table = report.table(10, &head)?;
    let numbers: &[u64] = if config.quick { &[100, 1000] } else { &[100, 300, 1000, 3000, 10_000, 30_000, 100_000] };
    for &n in numbers {
        let samples = alternate(config.rounds, &[0, 1, 1 + MORE], |&rounds| {
            Ok::<_, Failure>(timed(&|| runtime.run(all(n, rounds))))
        })?;
        let [none, once, more] = [0, 1, 2].map(|at| samples[at].least());
        let alone = ((more - once) / MORE as f64).max(0.0);
        let each = |seconds: f64| format!("{:.0}", seconds * 1e9 / n as f64);
        let line =
            [show::thousands(n), milliseconds(none), milliseconds(alone), milliseconds(once), each(alone), each(once)];
        report.line(&table, &line)?;
        for (curve, seconds) in [(&mut spawn, none), (&mut without, alone), (&mut with, once)] {
            curve.push((n as f64, (seconds * 1e3).max(1e-6)));
        }
        report.row(json!({
            "section": "figure6", "activities": n, "begin": none, "sync": alone, "begin_and_sync": once,
        }));
    }
    report.say(
        "\nIn the paper, to begin and sync N activities takes time in proportion to N^2, since those that wait ask again and again;\n\
         to begin or to sync alone, to N. Here all three should go with N.\n",
    )?;
    let curves = [("begin", spawn), ("sync", without), ("begin and sync", with)];
    let curves = curves.map(|(name, points)| (name.to_owned(), points)).into();
    report.panels.push(Panel { title: "Figure 6: a barrier".to_owned(), curves });
    Ok(())
}
