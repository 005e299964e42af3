//! Equations 1 and 2: the efficiency predicted from the measured costs, beside the measured one, by the run length of a
//! thread.
//!
//! The program is a binary tree: a thread for each vertex, and for each inner vertex another one that adds up; all of
//! them compute for the same time. L leaves make 3 L - 2 threads and 2 L - 1 sends. With tail calls, one of two
//! children is called: L - 1 threads.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use finespun::closure::{Cont, make_closure, post, send_argument, tail_call, thread, top};
use finespun::prelude::*;
use serde_json::json;

use super::costs::{self, Costs};
use super::{Config, Report};
use crate::measure::alternate;
use finespun_lab::failure::Failure;
use finespun_lab::show::Panel;

/// The data that the threads of a tree share.
#[derive(Debug)]
struct Tree {
    /// Steps that each thread computes.
    steps: u64,
    /// The number of sends to closures that another worker has made.
    global: AtomicU64,
}

impl Tree {
    #[inline(always)]
    fn compute(&self) {
        costs::compute(self.steps);
    }

    #[inline(always)]
    fn send(&self, value: u64, parent: Cont<u64>, made_at: usize) {
        if made_at != here() {
            self.global.fetch_add(1, Relaxed);
        }
        send_argument(value, parent);
    }
}

#[thread]
fn vertex(#[shared] tree: &Tree, parent: Cont<u64>, made_at: usize, depth: u32) {
    tree.compute();
    if depth == 0 {
        return tree.send(1, parent, made_at);
    }
    let here = here();
    let sum = make_closure!(sum, parent, made_at, _, _);
    post(make_closure!(vertex, sum.x, here, depth - 1));
    post(make_closure!(vertex, sum.y, here, depth - 1));
}

#[thread]
fn tailed(#[shared] tree: &Tree, parent: Cont<u64>, made_at: usize, depth: u32) {
    tree.compute();
    if depth == 0 {
        return tree.send(1, parent, made_at);
    }
    let here = here();
    let sum = make_closure!(sum, parent, made_at, _, _);
    post(make_closure!(tailed, sum.x, here, depth - 1));
    tail_call!(tailed, sum.y, here, depth - 1);
}

#[thread]
fn sum(#[shared] tree: &Tree, parent: Cont<u64>, made_at: usize, x: u64, y: u64) {
    tree.compute();
    tree.send(x + y, parent, made_at);
}

/// The same as plain calls.
fn plain(tree: &Tree, depth: u32) -> u64 {
    tree.compute();
    if depth == 0 {
        return 1;
    }
    let (x, y) = (plain(tree, depth - 1), plain(tree, depth - 1));
    tree.compute();
    x + y
}

#[derive(Clone, Copy, PartialEq)]
enum Version {
    Plain,
    Posted,
    Tailed,
}

/// The parameters of the equations.
struct Model<'a> {
    costs: &'a Costs,
    /// Sends per thread.
    sends: f64,
    /// The share of threads that are not called by a tail call.
    posted: f64,
    /// The share of sends to another worker's closure.
    global: f64,
    /// The share of closures that migrate.
    migrated: f64,
}

impl Model<'_> {
    fn send(&self) -> f64 {
        self.sends * (self.costs.send + self.global * self.costs.transfer)
    }

    fn post(&self) -> f64 {
        self.costs.post + self.migrated * self.costs.migrate
    }

    /// Returns the efficiency by equation 1 as printed: it charges posting and scheduling to every thread, and sending
    /// only to threads that are not called.
    fn printed(&self, run: f64) -> f64 {
        run / (self.posted * (self.costs.make + self.send()) + self.post() + self.costs.schedule + run)
    }

    /// Returns the efficiency by the corrected equation: a tail call avoids the cost of the closure, but no send.
    /// Without tail calls both equations are equation 2.
    fn mended(&self, run: f64) -> f64 {
        run / (self.posted * (self.costs.make + self.post() + self.costs.schedule) + self.send() + run)
    }
}

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let costs = costs::costs(config)?;
    let steps: &[u64] = if config.quick { &[0, 64] } else { &[0, 4, 16, 64, 256, 1024, 4096] };
    for workers in config.sizes() {
        let runtime = config.runtime(workers)?;
        let mut curves = [const { Vec::new() }; 4];
        report.say(&format!("{workers} worker{}\n\n", if workers == 1 { "" } else { "s" }))?;
        let head = [
            "run, ns",
            "measured, %",
            "eq. 2",
            "with tail calls, %",
            "eq. 1",
            "eq. 1 mended",
            "global sends",
            "migrated",
        ];
        let table = report.table(8, &head)?;
        for &steps in steps {
            let depth = match (config.quick, steps) {
                (true, _) => 6,
                (_, ..=128) => 14,
                _ => 10,
            };
            let leaves = f64::from(1 << depth);
            let (threads, sends) = (3.0 * leaves - 2.0, 2.0 * leaves - 1.0);
            let tree = Arc::new(Tree { steps, global: AtomicU64::new(0) });
            let mut counts = [(0, 0, 0); 3];
            let versions = [Version::Plain, Version::Posted, Version::Tailed];
            let samples = alternate(config.rounds, &versions, |&version| {
                let before = (runtime.stats(), tree.global.load(Relaxed));
                let start = std::time::Instant::now();
                let shared = Arc::clone(&tree);
                let leaves = match version {
                    Version::Plain => plain(&tree, depth),
                    Version::Posted => runtime.run(top(|k| post(make_closure!(vertex, k, 0, depth))).sharing(shared)),
                    Version::Tailed => runtime.run(top(|k| post(make_closure!(tailed, k, 0, depth))).sharing(shared)),
                };
                let time = start.elapsed().as_secs_f64();
                assert_eq!(leaves, 1 << depth, "all leaves");
                let stats = runtime.stats() - before.0;
                let count = &mut counts[version as usize];
                *count =
                    (count.0 + stats.threads, count.1 + stats.steals, count.2 + tree.global.load(Relaxed) - before.1);
                Ok::<_, Failure>(time)
            })?;
            let run = samples[0].least() * 1e9 / threads;
            let runs = (config.rounds + 1) as f64;
            let of = |version: Version| {
                let (threads, steals, global) = counts[version as usize];
                let efficiency = samples[0].least() / (samples[version as usize].least() * workers as f64);
                let migrated = steals as f64 / threads.max(1) as f64;
                (efficiency, migrated, global as f64 / runs / sends)
            };
            let model =
                |posted, migrated, global| Model { costs: &costs, sends: sends / threads, posted, global, migrated };
            let (measured, migrated, global) = of(Version::Posted);
            let expected = model(1.0, migrated, global).mended(run);
            let (with_calls, migrated_with, global_with) = of(Version::Tailed);
            let with = model((2.0 * leaves - 1.0) / threads, migrated_with, global_with);
            let (printed, mended) = (with.printed(run), with.mended(run));
            let percent = |x: f64| format!("{:.1}", 100.0 * x);
            let mut line = vec![format!("{run:.1}")];
            line.extend([measured, expected, with_calls, printed, mended].map(percent));
            line.extend([global, migrated].map(|share| format!("{:.3} %", 100.0 * share)));
            report.line(&table, &line)?;
            for (curve, value) in curves.iter_mut().zip([measured, expected, with_calls, mended]) {
                curve.push((run.max(0.1), (100.0 * value).clamp(0.0, 100.0)));
            }
            report.row(json!({
                "section": "model", "workers": workers, "run_length_ns": run, "measured": measured, "equation_2": expected,
                "tail_calls": with_calls, "equation_1": printed, "equation_1_mended": mended,
                "global": global, "migrated": migrated,
            }));
        }
        report.say("\n")?;
        let names = ["measured", "equation 2", "with tail calls", "equation 1, mended"];
        let curves = names.into_iter().zip(curves).map(|(name, points)| (name.to_owned(), points)).collect();
        report.panels.push(Panel { title: format!("{workers} worker{}", if workers == 1 { "" } else { "s" }), curves });
    }
    report.say(
        "Equation 1 as it is printed charges posting and scheduling to threads that are called by a tail call, too; the\n\
                     mended one does not, and charges their sends.\n",
    )
}
