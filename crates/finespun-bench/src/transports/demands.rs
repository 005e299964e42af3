//! Demands on our transports under contention, and the check that they are met.
//!
//! A demand compares the median of the ratios of each round: machines change between rounds, and the least cost of a
//! message comes from a run in which the receiver was not running and did not take the cache lines away.

use serde_json::{Value, json};

use super::TRANSPORTS;
use super::contention::{Cell, Setting};
use finespun_lab::sample::Sample;
use finespun_lab::show;

/// The limit for all-to-one over all-to-all: pull and adaptive must not exceed it; push must, to count as degraded.
const ROBUST: f64 = 1.15;
/// The limit for adaptive over the better of push and pull.
const CHOICE: f64 = 1.1;

/// A demand, with its worst case.
#[derive(Debug)]
pub(super) struct Demand {
    what: String,
    /// The worst case.
    at: String,
    /// The median of the ratios of a round, and the ratio of the least times.
    ratio: f64,
    of_least: f64,
    limit: f64,
    /// Whether the ratio must exceed the limit.
    above: bool,
}

impl Demand {
    fn met(&self) -> bool {
        if self.above { self.ratio > self.limit } else { self.ratio <= self.limit }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "part": "demands", "what": self.what, "at": self.at, "ratio": self.ratio, "ratio_of_least": self.of_least,
            "limit": self.limit, "above": self.above, "met": self.met(),
        })
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.what.clone(),
            if self.above { "above" } else { "at most" }.to_owned(),
            format!("{:.2}", self.limit),
            format!("{:.2}", self.ratio),
            format!("{:.2}", self.of_least),
            self.at.clone(),
            if self.met() { "met" } else { "MISSED" }.to_owned(),
        ]
    }
}

/// A case of a ratio: its name, the median of the ratios of each round, and the ratio of the least times.
type Place = (String, f64, f64);

fn ratio(at: String, above: &Sample, below: &Sample) -> Place {
    let rounds = above.all().iter().zip(below.all()).map(|(above, below)| above / below);
    (at, rounds.collect::<Sample>().median(), above.least() / below.least())
}

/// Returns all demands.
pub(super) fn demands(cells: &[Cell], settings: &[Setting]) -> Vec<Demand> {
    let source = |setting, transport, pattern, bytes| {
        let here = |cell: &&Cell| {
            (cell.setting, cell.transport, cell.pattern, cell.bytes) == (setting, transport, pattern, bytes)
        };
        &cells.iter().find(here).expect("all patterns have been measured at all sizes").costs.source
    };
    let of =
        |setting, transport| cells.iter().filter(move |cell| (cell.setting, cell.transport) == (setting, transport));
    let mut demands = Vec::new();
    for &setting in settings {
        let nodes = format!("{} nodes on {} workers", setting.0, setting.1);
        // With two nodes, a node never gets more messages than it receives per turn, so push does not degrade.
        for (transport, _) in TRANSPORTS.into_iter().filter(|(name, _)| setting.0 > 2 || *name != "push") {
            let one = of(setting, transport).filter(|cell| cell.pattern == "all-to-one");
            let place = |cell: &Cell| {
                let all = source(setting, transport, "all-to-all", cell.bytes);
                ratio(format!("{} bytes", cell.bytes), &cell.costs.source, all)
            };
            let degrades = transport == "push";
            let what = format!("{transport}, {nodes}: all-to-one over all-to-all");
            demands.push(worst(what, one.map(place), ROBUST, degrades));
        }
        let choices = of(setting, "adaptive").map(|cell| {
            let [push, pull] = ["push", "pull"].map(|other| source(setting, other, cell.pattern, cell.bytes));
            let better = if push.median() < pull.median() { push } else { pull };
            ratio(format!("{}, {} bytes", cell.pattern, cell.bytes), &cell.costs.source, better)
        });
        demands.push(worst(format!("adaptive, {nodes}: over the better of both"), choices, CHOICE, false));
    }
    demands
}

/// Returns the demand that a ratio keeps the limit in every case.
fn worst(what: String, places: impl Iterator<Item = Place>, limit: f64, above: bool) -> Demand {
    let order = |place: &Place| if above { -place.1 } else { place.1 };
    let worst = places.max_by(|a, b| order(a).total_cmp(&order(b)));
    let (at, ratio, of_least) = worst.expect("there is a place");
    Demand { what, at, ratio, of_least, limit, above }
}

/// Formats the demands as a table.
pub(super) fn text(demands: &[Demand]) -> String {
    let head = ["demand: source overhead", "limit", "", "found", "(least)", "worst at", ""];
    let lines: Vec<_> = demands.iter().map(Demand::cells).collect();
    format!("{}\n", show::table(&head, &lines))
}

/// Describes the missed demands in one line, or returns `None` if all are met.
pub(super) fn complaint(demands: &[Demand]) -> Option<String> {
    let missed: Vec<_> = demands.iter().filter(|demand| !demand.met()).collect();
    let name = |demand: &&Demand| format!("{} ({:.2} for {:.2})", demand.what, demand.ratio, demand.limit);
    let names = missed.iter().map(name).collect::<Vec<_>>().join("; ");
    (!missed.is_empty()).then(|| format!("{} of {} demands missed: {names}", missed.len(), demands.len()))
}

#[cfg(test)]
mod tests {
    use super::super::Samples;
    use super::{Cell, complaint, demands};

    /// A cell in which only the source overhead matters.
    fn cell(transport: &'static str, pattern: &'static str, bytes: usize, source: f64) -> Cell {
        let sample = |figure: f64| [figure, 2.0 * figure].into_iter().collect();
        let costs = Samples {
            source: sample(source),
            stalled: sample(0.0),
            destination: sample(1.0),
            latency: sample(1.0),
            lost: sample(0.0),
        };
        Cell { setting: (8, 2), transport, pattern, bytes, costs }
    }

    #[test]
    fn each_demand_is_judged_by_its_worst_case() {
        let mut cells = Vec::new();
        for (bytes, push, pull, adaptive) in [(16, 900.0, 60.0, 62.0), (64, 80.0, 69.0, 70.0)] {
            cells.extend(
                [("push", 50.0), ("pull", 60.0), ("adaptive", 54.0)]
                    .map(|(name, source)| cell(name, "all-to-all", bytes, source)),
            );
            cells.extend(
                [("push", push), ("pull", pull), ("adaptive", adaptive)]
                    .map(|(name, source)| cell(name, "all-to-one", bytes, source)),
            );
        }
        let found = demands(&cells, &[(8, 2)]);
        let brief: Vec<_> = found.iter().map(|demand| (demand.at.as_str(), demand.met())).collect();
        let wanted = [("64 bytes", true), ("64 bytes", true), ("64 bytes", false), ("all-to-all, 64 bytes", true)];
        assert_eq!(brief, wanted, "{found:?}");
        assert!((found[0].ratio - 1.6).abs() < 1e-9 && (found[3].ratio - 1.08).abs() < 1e-9);
        let complaint = complaint(&found).expect("one is missed");
        assert!(
            complaint.starts_with("1 of 4 demands missed: adaptive, 8 nodes on 2 workers: all-to-one"),
            "{complaint}"
        );
    }
}
