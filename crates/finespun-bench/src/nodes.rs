//! 64 nodes against 2 on the same workers: the cost of making many nodes the ordinary case.
//!
//! A node is a table of objects, not a thread. A program on 64 nodes should therefore cost the same as on one node per
//! worker, provided that the same share of its calls leaves the node. The only difference is in calls between nodes of
//! one worker: a message takes the place of a visit to another core. Each row has a partner with the same share: blocks
//! of half the side in a row of two nodes have as many edges as whole blocks in a square of 64; and of a graph's edges,
//! half of those drawn from everywhere stay on their node by chance.

use std::cell::Cell;

use finespun::Runtime;
use finespun_apps::Progress;
use serde_json::{Value, json};

use super::measure::alternate;
use super::{Bench, Extra, Report, figures, wanted};
use finespun_lab::app::{self, Answer, Executor};
use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;
use finespun_lab::machine::cores;
use finespun_lab::sample::Sample;
use finespun_lab::show;

/// As in the papers: 8 by 8.
const MANY: usize = 64;
const FEW: usize = 2;

/// The same work in two layouts with the same share of remote calls.
struct Pair {
    name: &'static str,
    app: &'static str,
    /// The command lines as typed after `finespun run`, on many nodes and on few.
    lines: [&'static str; 2],
    quick: [&'static str; 2],
    /// The answer's names for calls that stay on their node, and for calls that leave it.
    calls: [&'static str; 2],
}

const READS: [&str; 2] = ["local_reads", "remote_reads"];
const EDGES: [&str; 2] = ["local_edges", "remote_edges"];

const PAIRS: &[Pair] = &[
    Pair {
        name: "sor, blocks of 2",
        app: "sor",
        lines: ["sor --grid 512 --block 2 --iterations 2", "sor --grid 512 --block 1 --iterations 2"],
        quick: ["sor --grid 32 --block 2 --iterations 1", "sor --grid 32 --block 1 --iterations 1"],
        calls: READS,
    },
    Pair {
        name: "sor, blocks of 16",
        app: "sor",
        lines: ["sor --grid 512 --block 16 --iterations 10", "sor --grid 512 --block 8 --iterations 10"],
        quick: ["sor --grid 64 --block 4 --iterations 1", "sor --grid 64 --block 2 --iterations 1"],
        calls: READS,
    },
    Pair {
        name: "em3d, pull, half at home",
        app: "em3d",
        lines: ["em3d --form pull --locality 0.492 --iterations 4", "em3d --form pull --locality 0 --iterations 4"],
        quick: ["em3d --size 128 --locality 0.492 --iterations 1", "em3d --size 128 --locality 0 --iterations 1"],
        calls: EDGES,
    },
    Pair {
        name: "em3d, pull, 99 % at home",
        app: "em3d",
        lines: ["em3d --form pull --locality 0.99 --iterations 20", "em3d --form pull --locality 0.98 --iterations 20"],
        quick: ["em3d --size 128 --locality 0.99 --iterations 1", "em3d --size 128 --locality 0.98 --iterations 1"],
        calls: EDGES,
    },
];

/// One side of a pair: its command line and runtime, and the results of its latest run.
struct Side {
    line: &'static str,
    nodes: usize,
    executor: Executor,
    answer: Cell<Option<Answer>>,
    messages: Cell<u64>,
}

/// The results of one side.
struct Found {
    wall: Sample,
    cpu: Sample,
    share: f64,
    /// Of one run.
    messages: u64,
}

/// The `nodes` bench.
#[derive(Debug)]
pub struct Nodes;

impl Bench for Nodes {
    fn rows(&self) -> Vec<String> {
        ["sor", "em3d"].map(str::to_owned).into()
    }

    fn run(&self, options: &BenchOptions, _: &Extra, report: &mut Report) -> Result<(), Failure> {
        let workers = options.workers.unwrap_or_else(cores::default_workers);
        let nodes = [MANY, FEW].map(|nodes| format!("{nodes} nodes"));
        let messages = [MANY, FEW].map(|nodes| format!("messages, {nodes}"));
        let [many, few] = &nodes;
        let [sent, sent_few] = &messages;
        let head = ["", "remote share", sent, sent_few, many, few, "ratio", "(medians)", "(elapsed)"];
        let pairs: Vec<_> = PAIRS.iter().filter(|pair| wanted(options, pair.app)).collect();
        report.expect(pairs.len());
        let table = report.table(pairs.iter().map(|pair| pair.name.len()).max().unwrap_or(0), &head)?;
        for pair in pairs {
            report.step(pair.name);
            let [many, few] = measure(pair, workers, options)?;
            let ratio = |of: fn(&Found) -> f64| of(&many) / of(&few);
            let cpu = ratio(|side| side.cpu.least());
            let line = [
                pair.name.to_owned(),
                format!("{:.3}, {:.3}", many.share, few.share),
                show::thousands(many.messages),
                show::thousands(few.messages),
                show::seconds(many.cpu.least()),
                show::seconds(few.cpu.least()),
                format!("{cpu:.2}"),
                format!("{:.2}", ratio(|side| side.cpu.median())),
                format!("{:.2}", ratio(|side| side.wall.least())),
            ];
            report.line(&table, &line)?;
            report.row(json!({
                "pair": pair.name, "workers": workers, "many": many.to_json(), "few": few.to_json(), "ratio": cpu,
            }));
        }
        report.say(&format!(
            "\nProcessor time of {workers} workers together, of the work alone; least of {} runs of each side, in turn, and the ratio of\n\
             the two, that of the medians, and that of the least elapsed times.\n",
            options.rounds
        ))
    }
}

impl Found {
    fn to_json(&self) -> Value {
        json!({
            "processor": figures(&self.cpu), "elapsed": figures(&self.wall), "remote_share": self.share,
            "messages": self.messages,
        })
    }
}

/// Times both sides in turn.
fn measure(pair: &Pair, workers: usize, options: &BenchOptions) -> Result<[Found; 2], Failure> {
    let lines = if options.quick { pair.quick } else { pair.lines };
    let start = |(line, nodes)| {
        let runtime = Runtime::builder().workers(workers).nodes(nodes).build()?;
        let executor = Executor::Tasks(runtime);
        Ok(Side { line, nodes, executor, answer: Cell::new(None), messages: Cell::new(0) })
    };
    let sides: Vec<Side> = lines.into_iter().zip([MANY, FEW]).map(start).collect::<Result<_, Failure>>()?;
    let mut cpu = [Vec::new(), Vec::new()];
    let wall = alternate(options.rounds, &sides, |side| {
        let app = app::from_line(side.line);
        let found = app.run(&side.executor, &Progress::new());
        let found = found.map_err(|source| Failure::Run { app: app.name(), source })?;
        side.messages.set(found.stats.messages_own + found.stats.messages_pushed + found.stats.messages_pulled);
        side.answer.set(Some(found.value));
        cpu[usize::from(side.nodes == FEW)].push(found.processor.as_secs_f64());
        Ok::<_, Failure>(found.time.as_secs_f64())
    })?;
    let found = |((side, wall), cpu): ((&Side, Sample), Vec<f64>)| {
        let answer = side.answer.take().expect("a bench has at least one round");
        let [local, remote] = pair.calls.map(|name| answer.layout[name].as_f64().unwrap_or(0.0));
        // `alternate` does not count the first run.
        let cpu = cpu.into_iter().skip(1).collect();
        Found { wall, cpu, share: remote / (local + remote), messages: side.messages.get() }
    };
    let found: Vec<Found> = sides.iter().zip(wall).zip(cpu).map(found).collect();
    found.try_into().map_err(|_| unreachable!("two sides"))
}
