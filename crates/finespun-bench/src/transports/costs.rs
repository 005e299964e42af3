//! The cost of a message by its size, without contention: the concert paper's tables 2 and 5.
//!
//! Source and destination: one node sends and computes, another only receives, as in the first column of figure 10.
//! Latency: half of a round trip between two nodes that do nothing else, beside the latency of a bare cache line.

use finespun::internals::adaptive::Mode;
use serde_json::json;

use super::carriers::{Traffic, each, facing, go};
use super::clock::Clock;
use super::kernel::net;
use super::patterns::Pattern;
use super::{RUNS, SIZES, Samples, Size, TRANSPORTS, measure, round_trips_of_a_line, runs};
use crate::measure::alternate;
use crate::paper::concert::{CONCERT_TABLE_2, CONCERT_TABLE_5};
use crate::{Report, figures};
use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;
use finespun_lab::sample::Sample;
use finespun_lab::show;

const BOUNCES: u64 = 20_000;
const QUICK: u64 = 100;

/// Returns the seconds that `times` round trips of a message take.
pub(super) fn bounce<const W: usize>(mode: Mode, times: u64) -> f64 {
    go::<W, _>(Traffic::Bounce(times), facing(net(2, mode)))
}

/// A transport and a size.
type Variant = (&'static str, Mode, &'static Size);

/// The object that travels back and forth.
enum Bouncer {
    Line,
    Message(Variant),
}

/// The results, with latencies in nanoseconds.
struct Found {
    variant: Variant,
    costs: Samples,
    latency: Sample,
}

/// Returns the number of steps of [`part`].
pub(super) fn steps(options: &BenchOptions) -> usize {
    runs(options) + 2
}

pub(super) fn part(clock: &Clock, options: &BenchOptions, report: &Report) -> Result<(), Failure> {
    let all = || SIZES.iter().flat_map(|size| TRANSPORTS.map(|(name, mode)| (name, mode, size)));
    let (bouncers, carried): (Vec<_>, Vec<Variant>) =
        ([Bouncer::Line].into_iter().chain(all().map(Bouncer::Message)).collect(), all().collect());
    let variants = carried.iter().map(|&(_, mode, size)| (size, mode, Pattern::PointToPoint, (2, 2)));
    let costs = measure(clock, variants, "costs by size", options, report);
    let bounces = if options.quick { QUICK } else { BOUNCES };
    report.step("latency by size");
    let trips = alternate(options.rounds, &bouncers, |bouncer| {
        Ok::<_, Failure>(match bouncer {
            Bouncer::Line => round_trips_of_a_line(bounces),
            Bouncer::Message((_, mode, size)) => (size.bounce)(*mode, bounces),
        })
    })?;
    let mut latencies = trips.iter().map(|sample| each(sample, 2 * bounces));
    let line = latencies.next().expect("the line comes first");
    let found: Vec<Found> = (carried.into_iter().zip(costs).zip(latencies))
        .map(|((variant, costs), latency)| Found { variant, costs, latency })
        .collect();
    report.row(json!({"part": "costs", "transport": "line", "latency": figures(&line)}));
    report.rows(found.iter().map(Found::json));
    report.say(&text(&found, &line, clock, options, bounces))
}

fn text(found: &[Found], line: &Sample, clock: &Clock, options: &BenchOptions, bounces: u64) -> String {
    let head = [
        "bytes",
        "transport",
        "source",
        "(median)",
        "[us]",
        "destination",
        "(median)",
        "[us]",
        "one way",
        "(median)",
        "[us]",
        "of the line",
    ];
    let lines: Vec<_> = found.iter().map(|found| found.cells(line)).collect();
    format!(
        "What a message costs, in ns, by its size; [table 5 and, one variant, table 2, in us on a T3D]\n\n{}\n\
         Least and median of {} rounds in turn; of source and destination, of the third of {RUNS} times as many that was disturbed\n\
         least. Source, destination: from one node, which computes between messages, to another, which only receives; a reading of\n\
         the clock, {} ns, is taken off. One variant: half of a round trip, of {}; a bare cache line takes {:.1} ns ({:.1}), and\n\
         PVM took 34.31 us for 16 bytes.\n\n",
        show::table(&head, &lines),
        options.rounds,
        clock.price(),
        show::thousands(bounces),
        line.least(),
        line.median(),
    )
}

impl Found {
    /// Returns the paper's figures: both sides in its table 5, and the latency in its table 2.
    fn theirs(&self) -> [Option<f64>; 3] {
        let (name, _, size) = self.variant;
        let bytes = size.bytes.to_string();
        let side = |side: &str| CONCERT_TABLE_5.figure(&format!("{name} {side}"), &bytes);
        let latency = CONCERT_TABLE_2.figure("latency", &bytes).filter(|_| name == "push");
        [side("source"), side("destination"), latency]
    }

    fn cells(&self, line: &Sample) -> Vec<String> {
        let (name, _, size) = self.variant;
        let mut cells = vec![size.bytes.to_string(), name.to_owned()];
        let samples = [&self.costs.source, &self.costs.destination, &self.latency];
        for (sample, theirs) in samples.into_iter().zip(self.theirs()) {
            cells.extend([format!("{:.1}", sample.least()), format!("{:.1}", sample.median())]);
            cells.push(theirs.map_or_else(|| "-".to_owned(), |theirs| format!("{theirs}")));
        }
        cells.push(format!("{:.2}", self.latency.least() / line.least()));
        cells
    }

    fn json(&self) -> serde_json::Value {
        let (name, _, size) = self.variant;
        let [source, destination, latency] = self.theirs();
        json!({
            "part": "costs", "transport": name, "bytes": size.bytes,
            "source": figures(&self.costs.source), "destination": figures(&self.costs.destination),
            "latency": figures(&self.latency),
            "paper_us": {"source": source, "destination": destination, "latency": latency},
        })
    }
}
