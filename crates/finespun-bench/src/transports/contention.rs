//! The cost of a message by traffic pattern: the concert paper's figure 10.

use serde_json::{Value, json};

use super::clock::Clock;
use super::demands::demands;
use super::kernel::{GRAIN, Load, TAKES};
use super::patterns::{PATTERNS, Pattern};
use super::{RUNS, SIZES, Samples, Size, TRANSPORTS, measure, runs};
use crate::paper::concert::CONCERT_FIGURE_10;
use crate::{Report, Sample, figures};
use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;
use finespun_lab::show::{self, Panel};

/// The number of nodes, and of the workers that run them.
pub(super) type Setting = (usize, usize);

const SETTINGS: [Setting; 2] = [(8, 2), (2, 2)];

/// The share of the time off their cores above which threads count as disturbed too much.
const BUSY: f64 = 0.01;

/// Indices of the paper's four sizes in `SIZES`.
const FEW_SIZES: [usize; 4] = [0, 2, 4, 6];

/// The results for a transport, a pattern and a size.
pub(super) struct Cell {
    pub(super) setting: Setting,
    pub(super) transport: &'static str,
    pub(super) pattern: &'static str,
    pub(super) bytes: usize,
    pub(super) costs: Samples,
}

/// Returns the patterns that differ: with two nodes, each has only one other node, whatever the distribution.
fn patterns((nodes, _): Setting) -> impl Iterator<Item = (&'static str, Pattern)> {
    PATTERNS.into_iter().filter(move |(name, _)| nodes > 2 || !(name.starts_with("hotspot") || *name == "random"))
}

/// Returns the number of steps of [`part`].
pub(super) fn steps(options: &BenchOptions) -> usize {
    (runs(options) + 1) * FEW_SIZES.len() * SETTINGS.len()
}

pub(super) fn part(clock: &Clock, options: &BenchOptions, report: &mut Report) -> Result<(), Failure> {
    let mut cells = Vec::new();
    for setting in SETTINGS {
        for place in FEW_SIZES {
            let found: Vec<_> = group(clock, setting, &SIZES[place], options, report).collect();
            report.rows(found.iter().map(Cell::json));
            cells.extend(found);
        }
        for (transport, _) in TRANSPORTS {
            report.say(&table(&cells, setting, transport))?;
        }
    }
    report.say(&notes(clock, &cells, options))?;
    let demands = demands(&cells, &SETTINGS);
    report.say(&super::demands::text(&demands))?;
    if lost(&cells) > BUSY {
        report.say("Others were using the cores: on a quiet machine the ratios may be others.\n")?;
    }
    report.rows(demands.iter().map(super::demands::Demand::json));
    if !options.quick {
        report.complaint = super::demands::complaint(&demands);
    }
    report.plot = Some(plot(&cells, &report.about)?);
    Ok(())
}

/// Measures all patterns and transports for one size.
fn group(
    clock: &Clock,
    setting: Setting,
    size: &'static Size,
    options: &BenchOptions,
    report: &Report,
) -> impl Iterator<Item = Cell> {
    let variants: Vec<_> =
        patterns(setting).flat_map(|pattern| TRANSPORTS.map(|transport| (pattern, transport))).collect();
    let loads = variants.iter().map(|((_, pattern), (_, mode))| (size, *mode, *pattern, setting));
    let what = format!("{} nodes, {} bytes, all patterns in turn", setting.0, size.bytes);
    let found = measure(clock, loads, &what, options, report);
    variants.into_iter().zip(found).map(move |(((pattern, _), (transport, _)), costs)| Cell {
        setting,
        transport,
        pattern,
        bytes: size.bytes,
        costs,
    })
}

/// Formats the table of a transport, by size and pattern.
fn table(cells: &[Cell], setting: Setting, transport: &str) -> String {
    let (nodes, workers) = setting;
    let names: Vec<_> = patterns(setting).map(|(name, _)| name).collect();
    let mut lines = Vec::new();
    for bytes in FEW_SIZES.map(|place| SIZES[place].bytes) {
        let row: Vec<&Cell> = (cells.iter())
            .filter(|cell| (cell.setting, cell.transport, cell.bytes) == (setting, transport, bytes))
            .collect();
        let mut line = |name: String, text: &dyn Fn(&Cell) -> String| {
            lines.push([name].into_iter().chain(row.iter().map(|cell| text(cell))).collect::<Vec<_>>());
        };
        line(format!("{bytes}: source"), &|cell| both(&cell.costs.source));
        if row.iter().any(|cell| cell.theirs().is_some()) {
            let theirs = |cell: &Cell| cell.theirs().map_or_else(|| "-".to_owned(), |theirs| format!("[{theirs} us]"));
            line("    [paper, 64 nodes]".to_owned(), &theirs);
        }
        line("    stalled".to_owned(), &|cell| both(&cell.costs.stalled));
        line("    destination".to_owned(), &|cell| both(&cell.costs.destination));
        line("    latency, us".to_owned(), &|cell| format!("{:.2}", cell.costs.latency.median() / 1e3));
    }
    let head: Vec<_> = ["bytes"].into_iter().chain(names).collect();
    format!(
        "{transport}, {nodes} nodes on {workers} workers: ns of a message (figure 10)\n\n{}\n",
        show::table(&head, &lines)
    )
}

/// Formats the least and the median.
fn both(sample: &Sample) -> String {
    format!("{} ({})", whole(sample.least()), whole(sample.median()))
}

fn whole(figure: f64) -> String {
    show::thousands(figure.round() as u64)
}

/// Returns the share of the time that threads were off their cores, for the worst cell.
fn lost(cells: &[Cell]) -> f64 {
    cells.iter().map(|cell| cell.costs.lost.median()).fold(0.0, f64::max)
}

fn notes(clock: &Clock, cells: &[Cell], options: &BenchOptions) -> String {
    let load = Load::usual(TRANSPORTS[0].1, PATTERNS[1].1, SETTINGS[0]);
    let lost = lost(cells);
    format!(
        "Least (and median) of the third of {} rounds that was disturbed least: there, threads were off their cores for up to\n\
         {:.1} % of the time, and a cache line took {:.0} ns (median) for a round trip. {} messages are counted, fewer if not all\n\
         nodes send; each sender's first {} are not. A turn of a node: send one, receive up to {TAKES}, compute {} us on average.\n\
         Source: until the message is sent, stalled time included, harmonic mean over the senders; stalled: of that, waiting for\n\
         room, plain mean. Latency: from the first attempt until received, the queue included; median. A hot spot of k is k times\n\
         as likely as each other node; no node sends to itself. A receiver that falls behind does so until the run ends: pull\n\
         gets no more messages than its senders have buffers, and would stall beyond. The clock's {} ns are taken off.\n\n",
        options.rounds * RUNS,
        100.0 * lost,
        cells.iter().map(|cell| cell.costs.line.median()).collect::<Sample>().median(),
        show::thousands((load.counted * SETTINGS[0].0) as u64),
        load.warm,
        GRAIN / 1e3,
        clock.price(),
    )
}

impl Cell {
    /// Returns the source overhead that the paper's text gives, in us.
    fn theirs(&self) -> Option<f64> {
        CONCERT_FIGURE_10.figure(self.transport, self.pattern).filter(|_| self.bytes == 1024 && self.setting.0 > 2)
    }

    fn json(&self) -> Value {
        let (nodes, workers) = self.setting;
        json!({
            "part": "contention", "nodes": nodes, "workers": workers, "transport": self.transport, "pattern": self.pattern,
            "bytes": self.bytes, "source": figures(&self.costs.source), "stalled": figures(&self.costs.stalled),
            "destination": figures(&self.costs.destination), "latency": figures(&self.costs.latency),
            "lost": figures(&self.costs.lost), "line": figures(&self.costs.line), "paper_us": self.theirs(),
        })
    }
}

/// Plots source overheads by size: a panel for each setting and transport, a curve for each pattern.
fn plot(cells: &[Cell], about: &str) -> Result<String, Failure> {
    let panel = |setting: Setting, transport: &str| {
        let of = |pattern: &str| {
            let here = |cell: &&Cell| (cell.setting, cell.transport, cell.pattern) == (setting, transport, pattern);
            cells.iter().filter(here).map(|cell| (cell.bytes as f64, cell.costs.source.median())).collect()
        };
        Panel {
            title: format!("{transport}, {} nodes on {} workers", setting.0, setting.1),
            curves: patterns(setting).map(|(name, _)| (name.to_owned(), of(name))).collect(),
        }
    };
    let panels: Vec<Vec<Panel>> =
        SETTINGS.iter().map(|&setting| TRANSPORTS.iter().map(|(name, _)| panel(setting, name)).collect()).collect();
    let title = "Messages under contention: source overhead by size";
    show::curves(title, about, "bytes", show::Up::Powers("source: ns of a message"), &panels)
}
