//! Our figures beside the papers', as a table and as a picture.

use finespun::runtime::Schema;

use super::variants::{Distance, KINDS, Part};
use super::{Found, HEAD};
use crate::paper::Table;
use crate::paper::concert::{CONCERT_TABLE_4_CALL, CONCERT_TABLE_4_FALLBACK};
use crate::paper::hybrid::{HYBRID_TABLE_2_CALL, HYBRID_TABLE_2_FALLBACK};
use finespun_lab::failure::Failure;
use finespun_lab::show;

/// The name of the row; our measurement and the baseline to subtract; whether the papers' figure is a fallback; the
/// papers' caller and callee.
const BESIDE: &[(&str, &str, &str, bool, &str, &str)] = &[
    ("call, non-blocking", "straight", "plain", false, "may block", "non-blocking"),
    ("call, may block", "may-block", "plain", false, "may block", "may block"),
    ("call in a frame of its own", "heap-may-block", "plain", false, "parallel", "parallel"),
    ("fallback, may block", "fallback", "no-fallback", true, "may block", "may block"),
];

fn figure(table: Table, caller: &str, callee: &str, unit: &str) -> String {
    table.figure(caller, callee).map_or_else(|| "-".to_owned(), |figure| format!("{figure} {unit}"))
}

/// Returns the table of the rows whose figures were measured.
pub fn table(found: &[Found]) -> Option<String> {
    let least = |name: &str| found.iter().find(|found| found.variant.name == name).map(|found| found.sample.least());
    let line = |&(what, ours, without, fallback, caller, callee): &(&str, &str, &str, bool, &str, &str)| {
        let ours = least(ours)? - least(without)?;
        let (sparc, alpha, unit) = match fallback {
            false => (HYBRID_TABLE_2_CALL, CONCERT_TABLE_4_CALL, "instructions"),
            true => (HYBRID_TABLE_2_FALLBACK, CONCERT_TABLE_4_FALLBACK, "us"),
        };
        let [sparc, alpha] =
            [(sparc, "instructions"), (alpha, unit)].map(|(table, unit)| figure(table, caller, callee, unit));
        Some(vec![what.to_owned(), format!("{ours:.2}"), sparc, alpha])
    };
    let lines: Vec<_> = BESIDE.iter().filter_map(line).collect();
    let head = ["beyond a plain call", "ns", "SPARC [hybrid, table 2]", "Alpha [concert, table 4]"];
    (!lines.is_empty()).then(|| show::table(&head, &lines))
}

/// Plots calls by kind and distance, on the stack and in frames.
///
/// # Errors
/// [`Failure::Plot`] if the drawing library fails.
pub fn plot(found: &[Found], about: &str) -> Result<String, Failure> {
    let kinds: Vec<_> = KINDS.iter().filter(|kind| kind.part == Part::Call).collect();
    let series: Vec<_> = (HEAD[1..].iter().enumerate())
        .map(|(place, name)| {
            let distance = [Distance::Here, Distance::Worker, Distance::Remote][place % 3];
            let height = |name: &str| {
                let same = |found: &&Found| {
                    let variant = &found.variant;
                    variant.kind.name == name
                        && variant.distance == distance
                        && (variant.schema == Schema::Heap) == (place >= 3)
                };
                found.iter().find(same).map_or(0.0, |found| found.sample.least())
            };
            ((*name).to_owned(), kinds.iter().map(|kind| height(kind.name)).collect())
        })
        .collect();
    let groups: Vec<_> = kinds.iter().map(|kind| kind.name.to_owned()).collect();
    show::grouped_bars("Calls of objects, by method and distance", about, "ns", &groups, &series)
}
