//! The time from a plain thread's `spawn` to the first instruction of the spawned task or closure.
//!
//! All pools are in this process, and take turns; the others are parked.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::mpsc;
use std::thread;
use std::time::{Duration, Instant};

use comfy_table::{CellAlignment, Table, presets};

use crate::report::seconds;
use crate::statistics::{median, minimum};

/// Spawns of a round, and the pause before each.
const SPAWNS: [(usize, Duration); 2] = [(200, Duration::ZERO), (25, Duration::from_millis(3))];

/// A way to spawn.
struct Spawn {
    name: &'static str,
    /// Spawns, waits, and returns the time until the task or closure began.
    once: Box<dyn Fn() -> Duration>,
}

/// Times all ways to spawn, in rounds. Returns the table.
pub fn table(workers: &[NonZero<usize>], rounds: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    let column = |(_, pause): (usize, Duration)| match pause.as_millis() {
        0 => "one right after the other".to_owned(),
        pause => format!("after gaps of {pause} ms"),
    };
    table.set_header(["spawn".to_owned(), "workers".to_owned()].into_iter().chain(SPAWNS.map(column)));
    for &workers in workers {
        eprintln!("ramp: spawn with {workers} workers");
        let spawns = spawns(workers);
        let mut times = vec![[const { Vec::new() }; SPAWNS.len()]; spawns.len()];
        for _ in 0..rounds {
            for (spawn, times) in spawns.iter().zip(&mut times) {
                for ((number, pause), times) in SPAWNS.into_iter().zip(times) {
                    // The first one wakes the pool up.
                    (spawn.once)();
                    times.extend((0..number).map(|_| {
                        thread::sleep(pause);
                        (spawn.once)().as_secs_f64()
                    }));
                }
            }
        }
        for (spawn, times) in spawns.iter().zip(&times) {
            let figure = |value: Option<f64>| value.map_or_else(|| "-".to_owned(), seconds);
            let figures = times.iter().map(|times| format!("{} ({})", figure(median(times)), figure(minimum(times))));
            table.add_row([spawn.name.to_owned(), workers.to_string()].into_iter().chain(figures));
        }
    }
    for column in table.column_iter_mut().skip(1) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn spawns(workers: NonZero<usize>) -> Vec<Spawn> {
    let workers = workers.get();
    let rayon = rayon::ThreadPoolBuilder::new().num_threads(workers).build().expect("rayon starts its threads");
    let tokio = tokio::runtime::Builder::new_multi_thread().worker_threads(workers).build();
    let tokio = Arc::new(tokio.expect("tokio starts its threads"));
    let blocking = Arc::clone(&tokio);
    vec![
        #[cfg(feature = "finespun")]
        Spawn { name: "finespun, `Runtime::spawn`", once: with_finespun(workers) },
        Spawn {
            name: "rayon, `spawn`",
            once: Box::new(move || {
                let (sender, began) = mpsc::channel();
                let start = Instant::now();
                rayon.spawn(move || sender.send(start.elapsed()).expect("the receiver waits"));
                began.recv().expect("the closure sends")
            }),
        },
        Spawn {
            name: "tokio, `spawn`",
            once: Box::new(move || {
                let (sender, began) = mpsc::channel();
                let start = Instant::now();
                tokio.spawn(async move { sender.send(start.elapsed()).expect("the receiver waits") });
                began.recv().expect("the task sends")
            }),
        },
        Spawn {
            name: "tokio, `spawn_blocking`",
            once: Box::new(move || {
                let (sender, began) = mpsc::channel();
                let start = Instant::now();
                blocking.spawn_blocking(move || sender.send(start.elapsed()).expect("the receiver waits"));
                began.recv().expect("the closure sends")
            }),
        },
    ]
}

#[cfg(feature = "finespun")]
fn with_finespun(workers: usize) -> Box<dyn Fn() -> Duration> {
    use finespun::prelude::*;

    #[task]
    async fn since(start: Instant) -> Duration {
        start.elapsed()
    }

    let runtime = Runtime::builder().workers(workers).build().expect("finespun starts its workers");
    Box::new(move || runtime.spawn(since(Instant::now())).wait().expect("the task does not panic"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_spawn_begins() {
        for spawn in spawns(NonZero::<usize>::MIN) {
            assert!((spawn.once)() > Duration::ZERO, "{}", spawn.name);
        }
    }
}
