//! Table 1: a picture by static and by dynamic distribution.
//!
//! The static shares are blocks of consecutive rows, equally many for each worker. The time of a share is the sum of
//! its rows' times, which are measured one by one: shares do not disturb each other, so the sum holds for any number of
//! workers. The dynamic distribution is the program of Figure 8, and runs on at most the available workers.

use std::sync::Arc;

use finespun::prelude::*;
use finespun::simulation::now;
use finespun_apps::Progress;
use finespun_apps::raytrace::threads;
use finespun_apps::raytrace::{Scene, Size};
use serde_json::json;

use super::{Config, Report};
use finespun_lab::failure::Failure;

/// The paper's values: nodes; least and greatest time of the static shares; time of the dynamic distribution; the most
/// and the fewest pixels that a node has traced; on a CM-5, 512 x 512 pixels.
const THEIRS: [(usize, f64, f64, f64, u64, u64); 7] = [
    (1, 1590.0, 1590.0, 1590.0, 262_144, 262_144),
    (2, 602.0, 988.0, 795.0, 135_312, 126_832),
    (4, 236.0, 523.0, 396.0, 79_073, 48_867),
    (8, 101.0, 257.0, 189.0, 45_175, 21_464),
    (16, 46.0, 128.0, 90.0, 22_616, 10_711),
    (32, 23.0, 70.0, 46.0, 12_543, 5_859),
    (64, 10.0, 36.0, 23.0, 7_210, 2_595),
];

/// Formats the extra time of the slowest static share over the dynamic distribution, in per cent.
fn better(most: f64, dynamic: f64) -> String {
    format!("{:.0} %", 100.0 * (most / dynamic - 1.0))
}

/// Times the tracing of each row, in seconds.
fn row_times(scene: &Scene, size: Size) -> Vec<f64> {
    let side = size.height() as usize;
    let time = |y| {
        let start = now();
        let pixels = threads::by_blocks(scene, size, y, side);
        assert_eq!(pixels.len(), size.width() as usize);
        (now() - start).as_secs_f64()
    };
    (0..side).map(time).collect()
}

#[task]
async fn time_rows(scene: &Scene, size: Size) -> Vec<f64> {
    row_times(scene, size)
}

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let side = if config.quick { 64 } else { 512 };
    let size = Size::new(side, side).expect("a small picture");
    let scene = Scene::show(if config.quick { 2 } else { 4 }).expect("few levels");
    // The least time of each row.
    let mut rows = vec![f64::INFINITY; side as usize];
    for _ in 0..config.rounds {
        let times = match &config.machine {
            Some(_) => config.time(&config.runtime(1)?, time_rows(&scene, size))?.0,
            None => row_times(&scene, size),
        };
        rows.iter_mut().zip(times).for_each(|(least, time)| *least = least.min(time));
    }
    let head = [
        "nodes",
        "static, ms: least",
        "most",
        "ratio",
        "dynamic, ms",
        "most traced",
        "fewest",
        "better",
        "paper: static",
        "dynamic",
        "better",
    ];
    let table = report.table(5, &head)?;
    let mut reference = None;
    for (nodes, least_theirs, most_theirs, time_theirs, more_theirs, fewer_theirs) in THEIRS {
        let share = |node| threads::rows(size, node, nodes).map(|y| rows[y as usize]).sum::<f64>();
        let shares: Vec<f64> = (0..nodes).map(share).collect();
        let (least, most) = shares.iter().fold((f64::INFINITY, 0.0_f64), |(a, b), &t| (a.min(t), b.max(t)));
        let mut row = json!({"section": "table1", "nodes": nodes, "static_least": least, "static_most": most});
        let ms = |seconds: f64| format!("{:.1}", seconds * 1e3);
        let mut line = vec![nodes.to_string(), ms(least), ms(most), format!("{:.2}", most / least)];
        if nodes <= config.workers || config.machine.is_some() {
            let runtime = config.runtime(nodes)?;
            let mut best = (f64::INFINITY, Vec::new());
            for _ in 0..config.rounds {
                let (found, time) = config.time(&runtime, threads::render(&scene, size, &Progress::new()))?;
                let picture = Arc::new(found.picture);
                let first = reference.get_or_insert_with(|| Arc::clone(&picture));
                assert_eq!(first.checksum(), picture.checksum(), "the picture does not depend on who traces it");
                if time < best.0 {
                    best = (time, found.traced);
                }
            }
            let (time, traced) = best;
            let (fewest, most_traced) =
                (traced.iter().min().copied().unwrap_or(0), traced.iter().max().copied().unwrap_or(0));
            row["dynamic"] = time.into();
            row["traced"] = traced.into();
            line.extend([ms(time), most_traced.to_string(), fewest.to_string()]);
            line.push(better(most, time));
        }
        line.resize(8, String::new());
        line.push(format!("{least_theirs:.0} - {most_theirs:.0} s ({:.2})", most_theirs / least_theirs));
        line.push(format!("{time_theirs:.0} s, {more_theirs} - {fewer_theirs}"));
        line.push(better(most_theirs, time_theirs));
        report.row(row);
        report.line(&table, &line)?;
    }
    report.say(&format!(
        "\nThe show scene at {side} x {side} pixels. Where each pixel's work is: finespun run raytrace --work-png FILE.\n"
    ))
}
