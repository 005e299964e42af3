//! Demands on our transports under contention, and the check that they are met.
//!
//! A demand compares runs of the same round, as `Samples::over` describes. A message costs as little as a reading of the clock,
//! and each cost is a difference of two readings. So the nanoseconds of a difference are shown beside its ratio.

use serde_json::{Value, json};

use super::contention::{Cell, Setting};
use super::{Comparison, TRANSPORTS};
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
    found: Comparison,
    limit: f64,
    /// Whether the ratio must exceed the limit.
    above: bool,
}

impl Demand {
    fn met(&self) -> bool {
        if self.above { self.found.ratio > self.limit } else { self.found.ratio <= self.limit }
    }

    pub(super) fn json(&self) -> Value {
        json!({
            "part": "demands", "what": self.what, "at": self.at, "ratio": self.found.ratio, "ratio_of_least": self.found.of_least,
            "more_ns": self.found.more, "limit": self.limit, "above": self.above, "met": self.met(),
        })
    }

    fn cells(&self) -> Vec<String> {
        vec![
            self.what.clone(),
            if self.above { "above" } else { "at most" }.to_owned(),
            format!("{:.2}", self.limit),
            format!("{:.2}", self.found.ratio),
            format!("{:.2}", self.found.of_least),
            format!("{:.0}", self.found.more),
            self.at.clone(),
            if self.met() { "met" } else { "MISSED" }.to_owned(),
        ]
    }
}

/// A case of a comparison, by name.
type Place = (String, Comparison);

/// Returns all demands.
pub(super) fn demands(cells: &[Cell], settings: &[Setting]) -> Vec<Demand> {
    let costs = |setting, transport, pattern, bytes| {
        let here = |cell: &&Cell| {
            (cell.setting, cell.transport, cell.pattern, cell.bytes) == (setting, transport, pattern, bytes)
        };
        &cells.iter().find(here).expect("all patterns have been measured at all sizes").costs
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
                let all = costs(setting, transport, "all-to-all", cell.bytes);
                (format!("{} bytes", cell.bytes), cell.costs.over(all))
            };
            let degrades = transport == "push";
            let what = format!("{transport}, {nodes}: all-to-one over all-to-all");
            demands.push(worst(what, one.map(place), ROBUST, degrades));
        }
        let choices = of(setting, "adaptive").map(|cell| {
            let [push, pull] = ["push", "pull"].map(|other| costs(setting, other, cell.pattern, cell.bytes));
            let better = if push.source.median() < pull.source.median() { push } else { pull };
            (format!("{}, {} bytes", cell.pattern, cell.bytes), cell.costs.over(better))
        });
        demands.push(worst(format!("adaptive, {nodes}: over the better of both"), choices, CHOICE, false));
    }
    demands
}

/// Returns the demand that a ratio keeps the limit in every case.
fn worst(what: String, places: impl Iterator<Item = Place>, limit: f64, above: bool) -> Demand {
    let order = |place: &Place| place.1.ratio * if above { -1.0 } else { 1.0 };
    let worst = places.max_by(|a, b| order(a).total_cmp(&order(b)));
    let (at, found) = worst.expect("there is a place");
    Demand { what, at, found, limit, above }
}

/// Formats the demands as a table.
pub(super) fn text(demands: &[Demand]) -> String {
    let head = ["demand: source overhead", "limit", "", "found", "(least)", "ns more", "worst at", ""];
    let lines: Vec<_> = demands.iter().map(Demand::cells).collect();
    format!("{}\n", show::table(&head, &lines))
}

/// Describes the missed demands in one line, or returns `None` if all are met.
pub(super) fn complaint(demands: &[Demand]) -> Option<String> {
    let missed: Vec<_> = demands.iter().filter(|demand| !demand.met()).collect();
    let name = |demand: &&Demand| format!("{} ({:.2} for {:.2})", demand.what, demand.found.ratio, demand.limit);
    let names = missed.iter().map(name).collect::<Vec<_>>().join("; ");
    (!missed.is_empty()).then(|| format!("{} of {} demands missed: {names}", missed.len(), demands.len()))
}

#[cfg(test)]
mod tests {
    use super::super::Samples;
    use super::super::kernel::Costs;
    use super::{Cell, complaint, demands};

    /// A cell in which only the source overhead matters.
    fn cell(transport: &'static str, pattern: &'static str, bytes: usize, source: f64) -> Cell {
        let run = |source| Costs { source, stalled: 0.0, destination: 1.0, latency: 1.0, lost: 0.0, line: 50.0 };
        let costs = Samples::new(vec![run(source), run(2.0 * source)]);
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
        assert!((found[0].found.ratio - 1.6).abs() < 1e-9 && (found[3].found.ratio - 1.08).abs() < 1e-9);
        let complaint = complaint(&found).expect("one is missed");
        assert!(
            complaint.starts_with("1 of 4 demands missed: adaptive, 8 nodes on 2 workers: all-to-one"),
            "{complaint}"
        );
    }
}
