//! A barrier by the number of activities, with and without beginning them: Figure 6.

use finespun::prelude::*;
use finespun::sync;
use serde_json::json;

use super::super::measure::alternate;
use super::cost::timed;
use super::{Section, Way, milliseconds};
use crate::failure::Failure;
use crate::show::{self, Panel};

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

/// More than one, to see what one costs beside the beginning.
const MORE: u64 = 10;

pub(super) fn measure(way: &Way) -> Result<Section, Failure> {
    let runtime = way.usual()?;
    let mut section = Section::default();
    let (mut lines, mut with, mut without, mut spawn) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
    let numbers: &[u64] = if way.quick { &[100, 1000] } else { &[100, 300, 1000, 3000, 10_000, 30_000, 100_000] };
    for &n in numbers {
        let samples = alternate(way.rounds, &[0, 1, 1 + MORE], |&rounds| {
            Ok::<_, Failure>(timed(&|| runtime.run(all(n, rounds))))
        })?;
        let [none, once, more] = [0, 1, 2].map(|at| samples[at].least());
        let alone = ((more - once) / MORE as f64).max(0.0);
        let each = |seconds: f64| format!("{:.0}", seconds * 1e9 / n as f64);
        lines.push(vec![
            show::thousands(n),
            milliseconds(none),
            milliseconds(alone),
            milliseconds(once),
            each(alone),
            each(once),
        ]);
        for (curve, seconds) in [(&mut spawn, none), (&mut without, alone), (&mut with, once)] {
            curve.push((n as f64, (seconds * 1e3).max(1e-6)));
        }
        section.rows.push(json!({
            "section": "figure6", "activities": n, "begin": none, "sync": alone, "begin_and_sync": once,
        }));
    }
    let head = ["activities", "begin, ms", "sync", "begin and sync", "sync, ns each", "begin and sync, ns each"];
    section.text = format!(
        "{}\nIn the paper, to begin and sync N activities takes time in proportion to N^2, since those that wait ask again and again;\n\
         to begin or to sync alone, to N. Here all three should go with N.\n",
        show::table(&head, &lines)
    );
    let curves = [("begin", spawn), ("sync", without), ("begin and sync", with)];
    let curves = curves.map(|(name, points)| (name.to_owned(), points)).into();
    section.panels.push(Panel { title: "Figure 6".to_owned(), curves });
    Ok(section)
}
