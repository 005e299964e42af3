//! Objects on nodes by layout, in the hybrid model and in frames only: the hybrid paper's tables 4, 5 and 6.
//!
//! The ratio of the two times is the gain of calling on the stack. It should grow with the share of calls that stay on
//! their node: only calls that leave it need a frame (hybrid-execution-model, section 4.3).

use std::cell::Cell;

use finespun::runtime::{Fabric, Schema, Transport};
use finespun::{Runtime, Stats, simulation::Machine};
use finespun_apps::Progress;
use serde_json::{Value, json};

use super::measure::alternate;
use super::paper::Table;
use super::paper::hybrid::{HYBRID_TABLE_4, HYBRID_TABLE_5, HYBRID_TABLE_6};
use super::report::{self, Report};
use super::{Bench, Extra, figures, wanted};
use finespun_lab::app::{self, Answer, Executor};
use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;
use finespun_lab::machine::cores;
use finespun_lab::run::{agree, enough_memory};
use finespun_lab::sample::Sample;
use finespun_lab::show;

/// The number of nodes of the papers' machines.
const NODES: usize = 64;
/// The number of nodes of the T3D on which the paper ran EM3D.
const FEW_NODES: usize = 16;

/// The size of the problems.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Size {
    Quick,
    Usual,
    Paper,
}

/// One of the paper's tables.
struct Program {
    /// The name of the application, which is also its name for `--only`.
    name: &'static str,
    title: &'static str,
    /// The unit of work: the amount of work per unit is constant.
    unit: &'static str,
    /// Additional local calls that the paper counts for each call that we count.
    own: f64,
    theirs: &'static Table,
    /// Returns the layouts to run on this number of nodes.
    layouts: fn(Size, usize) -> Vec<Layout>,
    /// Reads the local and remote calls from an answer.
    read: fn(&Answer) -> Locality,
}

/// A row: its name, and the command line as typed after `finespun run`.
struct Layout {
    name: String,
    /// The row's name in the paper's table.
    theirs: String,
    line: String,
    /// The number of times that a run repeats the work of [`Locality::units`].
    times: u64,
}

/// Calls that stay on their node, calls that leave it, and units of work, in one repetition of the work.
#[derive(Clone, Copy, Debug)]
struct Locality {
    local: u64,
    remote: u64,
    units: u64,
}

const PROGRAMS: &[Program] = &[
    Program {
        name: "sor",
        title: "SOR by the side of its blocks: the paper's table 4, where the side is that of 8 by 8 blocks. Local and remote: reads of\n\
                neighbours; as counted there: with a local call for each twelve reads",
        unit: "point",
        own: 1.0 / 12.0,
        theirs: &HYBRID_TABLE_4,
        layouts: grids,
        read: |answer| {
            let [local, remote] = ["local_reads", "remote_reads"].map(|name| laid_out(answer, name));
            Locality { local, remote, units: (local + remote) / 4 }
        },
    },
    Program {
        name: "mdforce",
        title: "MD-Force by layout: table 5. Remote: pairs for which an atom is fetched; local: all others",
        unit: "pair",
        own: 0.0,
        theirs: &HYBRID_TABLE_5,
        layouts: proteins,
        read: |answer| {
            let [local, remote, copies] = ["local_pairs", "remote_pairs", "copies"].map(|name| laid_out(answer, name));
            Locality { local: local + remote - copies, remote: copies, units: local + remote }
        },
    },
    Program {
        name: "em3d",
        title: "EM3D by form, placed at random (low) and with 99 % of the edges at home (high): table 6. Local and remote: edges",
        unit: "edge",
        own: 0.0,
        theirs: &HYBRID_TABLE_6,
        layouts: graphs,
        read: |answer| {
            let [local, remote] = ["local_edges", "remote_edges"].map(|name| laid_out(answer, name));
            Locality { local, remote, units: local + remote }
        },
    },
];

/// Returns the number `name` of the answer's layout.
fn laid_out(answer: &Answer, name: &str) -> u64 {
    answer.layout[name].as_u64().unwrap_or_else(|| panic!("{name} is a number"))
}

/// Returns the layouts from blocks of one point to one block per node.
fn grids(size: Size, nodes: usize) -> Vec<Layout> {
    let (side, sweeps) = match size {
        Size::Quick => (32, 1),
        Size::Usual => (512, 2),
        Size::Paper => (1024, 100),
    };
    let whole = finespun_object_apps::sor::Layout::whole(side, nodes).block;
    let below = (0..).map(|power| 1 << power).take_while(|&block| block < whole);
    let layout = |block: usize| Layout {
        name: block.to_string(),
        // The paper arranges its 64 nodes as an 8 by 8 square.
        theirs: (8 * block).to_string(),
        line: format!("sor --grid {side} --block {block} --iterations {sweeps}"),
        times: sweeps,
    };
    below.chain([whole]).map(layout).collect()
}

fn proteins(size: Size, _: usize) -> Vec<Layout> {
    let (copies, cutoff, times) = match size {
        Size::Quick => (1, 0.2, 1),
        Size::Usual => (1, 0.8, 2),
        Size::Paper => (4, 0.8, 1),
    };
    let layout = |name: &str| Layout {
        name: name.to_owned(),
        theirs: name.to_owned(),
        line: format!("mdforce --layout {name} --replicate {copies} --cutoff {cutoff} --iterations {times}"),
        times,
    };
    ["random", "spatial"].map(layout).into()
}

fn graphs(size: Size, _: usize) -> Vec<Layout> {
    let (vertices, degree, steps) = match size {
        Size::Quick => (128, 4, 1),
        Size::Usual => (4096, 16, 1),
        Size::Paper => (4096, 16, 100),
    };
    let layout = |form: &str, level: &str, locality: &str| Layout {
        name: format!("{form}, {level}"),
        theirs: format!("{form}, {level}"),
        line: format!(
            "em3d --form {form} --locality {locality} --size {vertices} --degree {degree} --iterations {steps}"
        ),
        times: steps,
    };
    let levels = |form| [layout(form, "low", "0"), layout(form, "high", "0.99")];
    ["pull", "push", "forward"].into_iter().flat_map(levels).collect()
}

/// What the programs run on.
struct Platform {
    workers: usize,
    nodes: usize,
    /// The machine, if it is simulated: a node is a worker then.
    machine: Option<Machine>,
    rounds: usize,
}

/// A schema with its runtime, and the counters of its runs so far.
struct Side {
    executor: Executor,
    frames: Cell<u64>,
    messages: Cell<u64>,
    runs: Cell<u64>,
}

impl Side {
    fn start(platform: &Platform, schema: Schema) -> Result<Side, Failure> {
        let mut runtime = Runtime::builder().workers(platform.workers).nodes(platform.nodes).schema(schema);
        if let Some(machine) = &platform.machine {
            // The paper's systems pushed.
            runtime = runtime.fabric(Fabric::Simulated(machine.clone())).transport(Transport::Push);
        }
        let runtime = runtime.build()?;
        Ok(Side {
            executor: Executor::Tasks(runtime),
            frames: Cell::new(0),
            messages: Cell::new(0),
            runs: Cell::new(0),
        })
    }

    fn count(&self, stats: Stats) {
        self.frames.update(|frames| frames + stats.frames);
        let sent = stats.messages_own + stats.messages_pushed + stats.messages_pulled;
        self.messages.update(|messages| messages + sent);
        self.runs.update(|runs| runs + 1);
    }

    /// Returns the results, given the times and the units of work in one run.
    fn found(&self, units: f64, sample: Sample) -> Found {
        let each = |count: &Cell<u64>| count.get() as f64 / (self.runs.get() as f64 * units);
        Found { sample, frames: each(&self.frames), messages: each(&self.messages) }
    }
}

/// The results of one side of a layout.
struct Found {
    sample: Sample,
    /// Per unit of work.
    frames: f64,
    /// Per unit of work, by any transport.
    messages: f64,
}

impl Found {
    fn to_json(&self) -> Value {
        let mut object = figures(&self.sample);
        object["frames_per_unit"] = self.frames.into();
        object["messages_per_unit"] = self.messages.into();
        object
    }
}

/// The results of a layout.
struct Row {
    layout: Layout,
    locality: Locality,
    hybrid: Found,
    heap: Found,
}

/// The `layouts` bench.
#[derive(Debug)]
pub struct Layouts;

impl Bench for Layouts {
    fn rows(&self) -> Vec<String> {
        PROGRAMS.iter().map(|program| program.name.to_owned()).collect()
    }

    fn simulated_rows(&self) -> Vec<String> {
        self.rows()
    }

    fn run(&self, options: &BenchOptions, extra: &Extra, report: &mut Report) -> Result<(), Failure> {
        let size = match (options.quick, extra.paper) {
            (true, _) => Size::Quick,
            (false, true) => Size::Paper,
            (false, false) => Size::Usual,
        };
        let machines = extra.simulation.machines(&["cm5", "t3d"])?;
        let machines = if machines.is_empty() { vec![None] } else { machines.into_iter().map(Some).collect() };
        let programs = PROGRAMS.iter().filter(|program| wanted(options, program.name));
        let programs: Vec<(&Program, Platform)> = programs
            .flat_map(|program| {
                machines.iter().map(move |machine| (program, program.platform(machine, options, extra)))
            })
            .collect();
        let layouts = |program: &Program, on: &Platform| (program.layouts)(size, on.nodes);
        report.expect(programs.iter().map(|(program, on)| layouts(program, on).len()).sum());
        let mut bars = Vec::new();
        for (program, on) in &programs {
            let table = program.table(on, report)?;
            for layout in layouts(program, on) {
                report.step(&layout.line);
                let row = program.measure(layout, on)?;
                report.row(program.json(&row, on));
                report.line(&table, &program.cells(&row))?;
                bars.push((format!("{} {}", program.name, row.layout.name), program.ratios(&row)));
            }
            report.say("\n")?;
        }
        report.plot = Some(plot(&bars, &report.about)?);
        report.say(&notes(machines[0].is_some(), options, extra, size))
    }
}

impl Program {
    /// Returns what the program runs on: as many nodes as in the paper, unless the options say otherwise.
    fn platform(&self, machine: &Option<Machine>, options: &BenchOptions, extra: &Extra) -> Platform {
        let few = self.name == "em3d" && machine.as_ref().is_some_and(|machine| machine.name() == "Cray T3D");
        let nodes = extra.nodes.unwrap_or(if few { FEW_NODES } else { NODES });
        let workers = options.workers.unwrap_or_else(cores::default_workers);
        match machine.clone() {
            // Virtual time does not vary.
            Some(machine) => Platform { workers: nodes, nodes, machine: Some(machine), rounds: 1 },
            None => Platform { workers, nodes, machine: None, rounds: options.rounds },
        }
    }

    /// Times both sides in turn. Fails if their answers disagree.
    fn measure(&self, layout: Layout, on: &Platform) -> Result<Row, Failure> {
        let app = app::from_line(&layout.line);
        enough_memory(app.as_ref())?;
        let start = |schema| Side::start(on, schema);
        let sides = [start(Schema::Auto)?, start(Schema::Heap)?];
        let mut first: Option<Answer> = None;
        let samples = alternate(on.rounds, &sides, |side| {
            let found = app.run(&side.executor, &Progress::new());
            let found = found.map_err(|source| Failure::Run { app: app.name(), source })?;
            agree(app.as_ref(), first.get_or_insert_with(|| found.value.clone()), &found.value)?;
            side.count(found.stats);
            Ok::<_, Failure>(found.time.as_secs_f64())
        })?;
        let locality = (self.read)(first.as_ref().expect("a bench has at least one round"));
        let units = (locality.units * layout.times) as f64;
        let [hybrid, heap] = samples.try_into().expect("one sample per side");
        let [hybrid, heap] = [sides[0].found(units, hybrid), sides[1].found(units, heap)];
        Ok(Row { layout, locality, hybrid, heap })
    }

    /// Returns the ratios of heap to hybrid: ours, the CM-5's and the T3D's.
    fn ratios(&self, row: &Row) -> [Option<f64>; 3] {
        let theirs = |machine| self.theirs.figure(&row.layout.theirs, &format!("{machine} parallel/hybrid"));
        [Some(row.ratio()), theirs("CM-5"), theirs("T3D")]
    }

    fn table(&self, on: &Platform, report: &Report) -> Result<report::Table, Failure> {
        let unit = self.unit;
        let [hybrid, heap] = ["hybrid", "heap"].map(|side| format!("frames/{unit}, {side}"));
        let messages = format!("messages/{unit}");
        let head = [
            "layout",
            "local:remote",
            "as counted there",
            "[paper]",
            &messages,
            &hybrid,
            &heap,
            "hybrid",
            "(median)",
            "heap only",
            "(median)",
            "heap/hybrid",
            "[CM-5]",
            "[T3D]",
        ];
        let machine = on.machine.as_ref().map_or(String::new(), |machine| format!("On a simulated {machine}: "));
        report.say(&format!("{machine}{}\n\n", self.title))?;
        report.table(13, &head)
    }

    fn cells(&self, row: &Row) -> Vec<String> {
        let two = |figure: Option<f64>| figure.map_or_else(|| "-".to_owned(), |figure| format!("{figure:.2}"));
        let theirs = self.theirs.figure(&row.layout.theirs, "local to remote");
        let ratio = |ratio: Option<f64>| ratio.map_or_else(|| "all local".to_owned(), |ratio| format!("{ratio:.3}:1"));
        let [ours, cm5, t3d] = self.ratios(row);
        let mut cells = vec![
            row.layout.name.clone(),
            ratio(row.locality.ratio(0.0)),
            ratio(row.locality.ratio(self.own)),
            theirs.map_or_else(|| "-".to_owned(), |ratio| format!("{ratio}:1")),
            two(Some(row.hybrid.messages)),
            two(Some(row.hybrid.frames)),
            two(Some(row.heap.frames)),
        ];
        for side in [&row.hybrid, &row.heap] {
            cells.extend([show::seconds(side.sample.least()), show::seconds(side.sample.median())]);
        }
        cells.extend([ours, cm5, t3d].map(two));
        cells
    }

    fn json(&self, row: &Row, on: &Platform) -> Value {
        let theirs = |column: &str| self.theirs.figure(&row.layout.theirs, column);
        let machine = |name: &str| {
            let [parallel, hybrid, ratio] =
                ["parallel", "hybrid", "parallel/hybrid"].map(|column| theirs(&format!("{name} {column}")));
            json!({"heap": parallel, "hybrid": hybrid, "ratio": ratio})
        };
        json!({
            "table": self.name, "layout": row.layout.name, "line": row.layout.line, "workers": on.workers, "nodes": on.nodes,
            "machine": on.machine.as_ref().map(Machine::name),
            "local": row.locality.local, "remote": row.locality.remote, "local_to_remote": row.locality.ratio(0.0),
            "local_to_remote_as_counted_there": row.locality.ratio(self.own),
            "unit": self.unit, "units": row.locality.units * row.layout.times,
            "hybrid": row.hybrid.to_json(), "heap": row.heap.to_json(),
            "ratio": row.ratio(), "ratio_of_medians": row.heap.sample.median() / row.hybrid.sample.median(),
            "paper": {
                "local_to_remote": theirs("local to remote"), "CM-5": machine("CM-5"), "T3D": machine("T3D"),
            },
        })
    }
}

impl Locality {
    /// Returns the number of local calls per remote call, or `None` without remote calls. Each call counts for `own`
    /// more local calls.
    fn ratio(&self, own: f64) -> Option<f64> {
        let more = own * (self.local + self.remote) as f64;
        (self.remote > 0).then(|| (self.local as f64 + more) / self.remote as f64)
    }
}

impl Row {
    fn ratio(&self) -> f64 {
        self.heap.sample.least() / self.hybrid.sample.least()
    }
}

fn notes(simulated: bool, options: &BenchOptions, extra: &Extra, size: Size) -> String {
    let more = match size {
        Size::Quick | Size::Paper => "",
        Size::Usual => " --paper: problems as large and as long as the paper's.",
    };
    let times = match simulated {
        true => "A processor of the simulated machine for each node; virtual times of the work alone".to_owned(),
        false => format!(
            "{} nodes on {} workers; least and median of {} runs of each side, in turn, of the work alone",
            extra.nodes.unwrap_or(NODES),
            options.workers.unwrap_or_else(cores::default_workers),
            options.rounds
        ),
    };
    format!(
        "{times}. Frames and messages:\n\
         mean of all runs. hybrid: calls on the stack; heap only: `--schema heap`, a frame for every call. heap/hybrid: of the least times, beside the paper's parallel/hybrid on\n\
         64 nodes (EM3D on the T3D: 16).{more}\n"
    )
}

fn plot(bars: &[(String, [Option<f64>; 3])], about: &str) -> Result<String, Failure> {
    let groups: Vec<_> = bars.iter().map(|(name, _)| name.clone()).collect();
    let series: Vec<_> = (["here", "CM-5", "T3D"].iter().enumerate())
        .map(|(place, name)| {
            ((*name).to_owned(), bars.iter().map(|(_, ratios)| ratios[place].unwrap_or(0.0)).collect())
        })
        .collect();
    show::grouped_bars(
        "Frames only against the hybrid model, by layout",
        about,
        "time in frames only / hybrid",
        &groups,
        &series,
    )
}

#[cfg(test)]
mod tests {
    use super::{Locality, PROGRAMS, Size, grids};
    use finespun_lab::app;

    #[test]
    fn every_command_line_parses() {
        for program in PROGRAMS {
            for size in [Size::Quick, Size::Usual, Size::Paper] {
                for layout in (program.layouts)(size, 64) {
                    assert_eq!(app::from_line(&layout.line).name(), program.name);
                }
            }
        }
    }

    /// At the papers' size and number of nodes, every row of the paper has one of ours.
    #[test]
    fn every_row_of_the_paper_has_a_layout() {
        for program in PROGRAMS {
            let ours: Vec<_> = (program.layouts)(Size::Paper, 64).into_iter().map(|layout| layout.theirs).collect();
            assert!(program.theirs.rows.iter().all(|row| ours.iter().any(|name| name == row.name)), "{ours:?}");
        }
    }

    /// The paper's column of table 4 follows from our layouts: on the whole grid without its boundary, whose points are
    /// not computed.
    #[test]
    fn localities_match_table_4() {
        let sor = &PROGRAMS[0];
        for layout in grids(Size::Paper, 64) {
            let Some(theirs) = sor.theirs.figure(&layout.theirs, "local to remote") else { continue };
            let block = layout.name.parse().expect("a number");
            let (local, remote) = finespun_object_apps::sor::Layout { side: 1024, block }.reads(64);
            let ours = Locality { local, remote, units: 0 }.ratio(sor.own).expect("some are remote");
            assert!((ours - theirs).abs() <= 0.001 + 0.02 * theirs, "{}: {ours} for {theirs}", layout.name);
        }
    }
}
