//! From one node to 4,096: applications on a simulated machine of more and more nodes, each with one processor.
//!
//! The problem stays the same, so each row says what more nodes gain. Beside the virtual time stand the counts that explain
//! it: messages and steals per node, and what a node costs beyond its share of the work.
//!
//! - `uts`, `uts-deep`, `nqueens`: trees, distributed by stealing
//! - `em3d`, `sor`: objects on nodes, which do not move
//! - `rest`: the time to find out that nothing is left to do: a one-way call to each node, and `quiesce`

use finespun::prelude::*;
use finespun::simulation::{Machine, work};
use finespun::tasks::quiesce;
use finespun::{Runtime, Stats};
use finespun_apps::Progress;
use serde_json::json;

use std::time::Duration;

use super::report::Report;
use super::{Bench, Extra, wanted};
use finespun_lab::app::{self, Answer, Executor};
use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;
use finespun_lab::run::agree;
use finespun_lab::show::{self, Panel, Up};

/// The most nodes.
const NODES: usize = 4096;
const QUICK_NODES: usize = 16;

/// A program: its name, and its command line as typed after `finespun run`, in full size and with `--quick`.
struct Program {
    name: &'static str,
    line: &'static str,
    quick: &'static str,
}

const PROGRAMS: &[Program] = &[
    Program {
        name: "uts",
        line: "uts --tree T1",
        quick: "uts --type 1 --depth 6 --shape 3 --root-branching 4 --seed 19",
    },
    Program {
        name: "uts-deep",
        line: "uts --tree T3",
        quick: "uts --type 0 --root-branching 200 --q 0.12 --m 8 --seed 42",
    },
    Program { name: "nqueens", line: "nqueens 13", quick: "nqueens 8" },
    Program {
        name: "em3d",
        line: "em3d --size 32768 --degree 16 --locality 0.99 --form push --iterations 4",
        quick: "em3d --size 256 --degree 4 --iterations 1",
    },
    Program { name: "sor", line: "sor --grid 1024 --iterations 4", quick: "sor --grid 32 --iterations 1" },
];

/// The row that is not an application.
const REST: &str = "rest";

/// A result.
struct Found {
    nodes: usize,
    time: Duration,
    stats: Stats,
}

/// The `scale` bench.
#[derive(Debug)]
pub struct Scale;

impl Bench for Scale {
    fn rows(&self) -> Vec<String> {
        PROGRAMS.iter().map(|program| program.name).chain([REST]).map(str::to_owned).collect()
    }

    fn simulated_rows(&self) -> Vec<String> {
        self.rows()
    }

    fn check(&self, extra: &Extra) -> Result<(), Failure> {
        extra.simulation.require("scale")
    }

    fn run(&self, options: &BenchOptions, extra: &Extra, report: &mut Report) -> Result<(), Failure> {
        let machine = extra.simulation.simulated(&["cluster"])?.remove(0);
        let most = extra.nodes.unwrap_or(if options.quick { QUICK_NODES } else { NODES });
        let counts: Vec<usize> = (0..).map(|power| 4_usize.pow(power)).take_while(|&nodes| nodes <= most).collect();
        let programs: Vec<_> = PROGRAMS.iter().filter(|program| wanted(options, program.name)).collect();
        let rest = wanted(options, REST);
        report.expect((programs.len() + usize::from(rest)) * counts.len());
        report.say(&format!("On a simulated {machine}, one processor for each node; virtual times\n\n"))?;
        let mut curves = Vec::new();
        for program in programs {
            let line = if options.quick { program.quick } else { program.line };
            report.say(&format!("{}: {line}\n\n", program.name))?;
            let mut known = None;
            let measure = |nodes| run_app(&machine, line, nodes, &mut known);
            curves.push((program.name.to_owned(), rows(program.name, &machine, &counts, report, measure)?));
        }
        if rest {
            report.say("rest: a one-way call to each node, then the end is awaited\n\n")?;
            rows(REST, &machine, &counts, report, |nodes| run_rest(&machine, nodes))?;
        }
        if !curves.is_empty() {
            let panel = Panel { title: format!("speed-up on a simulated {machine}"), curves };
            let title = "Speed-up of the same problem on more nodes";
            report.plot = Some(show::curves(title, &report.about, "nodes", Up::Powers("speed-up"), &[vec![panel]])?);
        }
        report.say(
            "Speed-up: over one node; efficiency: speed-up per node. Overhead per node: the processor's time that is not its share of\n\
             the time on one node. Virtual times do not vary, so each is of one run.\n",
        )
    }
}

/// Prints a row for each number of nodes. Returns the speed-ups.
fn rows(
    name: &str,
    machine: &Machine,
    counts: &[usize],
    report: &mut Report,
    mut measure: impl FnMut(usize) -> Result<Found, Failure>,
) -> Result<Vec<(f64, f64)>, Failure> {
    let head = [
        "nodes",
        "time",
        "speed-up",
        "efficiency",
        "overhead per node",
        "messages per node",
        "steals per node",
        "promotions per node",
    ];
    let table = report.table(6, &head)?;
    let mut curve = Vec::new();
    let mut alone = None;
    for &nodes in counts {
        report.step(&format!("{name} on {nodes} nodes"));
        let found = measure(nodes)?;
        let seconds = found.time.as_secs_f64();
        let alone = *alone.get_or_insert(seconds);
        let speed_up = alone / seconds;
        let per_node = |count: u64| count as f64 / found.nodes as f64;
        let messages = found.stats.messages_pushed + found.stats.messages_pulled;
        let [messages, steals, promotions] = [messages, found.stats.steals, found.stats.promotions].map(per_node);
        let overhead = (seconds - alone / nodes as f64).max(0.0);
        report.line(
            &table,
            &[
                show::thousands(nodes as u64),
                show::seconds(seconds),
                format!("{speed_up:.1}"),
                format!("{:.0} %", 100.0 * speed_up / nodes as f64),
                show::seconds(overhead),
                format!("{messages:.1}"),
                format!("{steals:.1}"),
                format!("{promotions:.1}"),
            ],
        )?;
        report.row(json!({
            "program": name, "machine": machine.name(), "nodes": nodes, "seconds": seconds, "speed_up": speed_up,
            "overhead_per_node": overhead, "messages_per_node": messages, "steals_per_node": steals,
            "promotions_per_node": promotions,
        }));
        curve.push((nodes as f64, speed_up));
    }
    report.say("\n")?;
    Ok(curve)
}

fn runtime(machine: &Machine, nodes: usize) -> Result<Runtime, Failure> {
    Ok(Runtime::builder().nodes(nodes).fabric(finespun::runtime::Fabric::Simulated(machine.clone())).build()?)
}

/// Runs an application. Fails if its answer is not `known`.
fn run_app(machine: &Machine, line: &str, nodes: usize, known: &mut Option<Answer>) -> Result<Found, Failure> {
    let app = app::from_line(line);
    let executor = Executor::Tasks(runtime(machine, nodes)?);
    let found = app.run(&executor, &Progress::new());
    let found = found.map_err(|source| Failure::Run { app: app.name(), source })?;
    agree(app.as_ref(), known.get_or_insert_with(|| found.value.clone()), &found.value)?;
    Ok(Found { nodes, time: found.time, stats: found.stats })
}

/// An object on each node.
struct Site;

#[object]
impl Site {
    fn visit(&self) {
        work(Duration::from_micros(1));
    }
}

#[task]
async fn sites() -> Array<Site> {
    Array::create(nodes(), |node| node, |_, &()| Site, ()).await
}

/// Visits all nodes without an answer, and waits until that has happened.
#[task]
async fn visit(sites: &Array<Site>) {
    for node in 0..sites.len() {
        sites.get(node).visit().oneway().await;
    }
    quiesce().await;
}

fn run_rest(machine: &Machine, nodes: usize) -> Result<Found, Failure> {
    let runtime = runtime(machine, nodes)?;
    let failed = |source| Failure::Run { app: REST, source };
    let sites = runtime.try_run(sites()).map_err(failed)?;
    let before = runtime.stats();
    runtime.try_run(visit(&sites)).map_err(failed)?;
    let time = runtime.simulated().map_or(Duration::ZERO, |simulated| simulated.last_run);
    Ok(Found { nodes, time, stats: runtime.stats() - before })
}

#[cfg(test)]
mod tests {
    use super::PROGRAMS;
    use finespun_lab::app;

    #[test]
    fn every_command_line_parses() {
        for line in PROGRAMS.iter().flat_map(|program| [program.line, program.quick]) {
            assert!(line.starts_with(app::from_line(line).name()), "{line}");
        }
    }
}
