//! The cost of calling an object: by the schema of the method; on the object's own node, on another node of the same
//! worker, or on another worker; also creation, waiting and replies.
//!
//! The floors are measured in the same rounds, because they vary with the host: a plain method, and one cache line that
//! travels back and forth between the two cores.
//!
//! - `ways`: all measurements by name
//! - `beside`: the papers' figures, and the picture
//! - `calls`: methods in every schema, and the loops that call them
//! - `lives`: creating and freeing
//! - `waits`: calls that have to wait
//! - `replies`: one-way calls, and calls that reply to a given continuation

mod beside;
mod calls;
mod lives;
mod replies;
mod variants;
mod waits;

use std::cell::Cell;

use finespun::runtime::Schema;
use serde_json::json;

use self::variants::{COLUMNS, Counts, Distance, KINDS, LONG, Part, SHORT, Variant, variants};
use super::measure::alternate;
use super::{Bench, Extra, Report, figures, wanted};
use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;
use finespun_lab::sample::Sample;
use finespun_lab::show;

/// The table's head: three distances on the stack, and three in frames.
const HEAD: [&str; 7] = ["", "here", "worker", "remote", "heap here", "heap worker", "heap remote"];

/// Costs that are differences of two figures: the name, and the two measurements.
const DIFFERENCES: &[(&str, &str, &str)] = &[
    ("a fallback and its resumption", "fallback", "no-fallback"),
    ("waiting in line for a held object", "in-line", "fallback-held"),
    ("a reply to the same worker, in a stream", "worker-in-flight", "worker-oneway"),
    ("a reply to another worker, in a stream", "remote-in-flight", "remote-oneway"),
    ("the same, waited for each time", "remote-exclusive", "remote-oneway"),
];

/// The `invocation` bench.
#[derive(Debug)]
pub struct Invocation;

/// The results of one measurement.
struct Found {
    variant: Variant,
    /// In nanoseconds.
    sample: Sample,
    counts: Option<Counts>,
}

impl Bench for Invocation {
    fn rows(&self) -> Vec<String> {
        variants().into_iter().map(|variant| variant.name).chain(COLUMNS.map(str::to_owned)).collect()
    }

    fn run(&self, options: &BenchOptions, _: &Extra, report: &mut Report) -> Result<(), Failure> {
        let variants: Vec<_> = variants()
            .into_iter()
            .filter(|variant| wanted(options, &variant.name) || wanted(options, variant.column()))
            .collect();
        report.expect(options.rounds + 1);
        let begun = Cell::new(0_usize);
        let samples = alternate(options.rounds, &variants, |variant| {
            if begun.replace(begun.get() + 1).is_multiple_of(variants.len()) {
                report.step(&format!("all {} calls in turn", variants.len()));
            }
            Ok::<_, Failure>(variant.seconds(variant.times(options.quick)))
        })?;
        let found: Vec<_> = (variants.into_iter().zip(samples))
            .map(|(variant, sample)| {
                let times = variant.times(options.quick) as f64;
                let sample = sample.all().iter().map(|seconds| seconds * 1e9 / times).collect();
                Found { counts: variant.counts(), variant, sample }
            })
            .collect();
        report.rows(found.iter().map(row));
        report.plot = Some(beside::plot(&found, &report.about)?);
        report.say(&text(&found, options.rounds))
    }
}

fn row(found: &Found) -> serde_json::Value {
    let Found { variant, sample, counts } = found;
    json!({
        "way": variant.name,
        "what": variant.kind.what,
        "part": variant.kind.part.name(),
        "distance": variant.distance.name(),
        "schema": if variant.schema == Schema::Heap { "heap" } else { "auto" },
        "ns": figures(sample),
        "per_call": counts,
    })
}

fn text(found: &[Found], rounds: usize) -> String {
    let times = cells(found, |_| true, |found| Some(format!("{:.2}", found.sample.least())));
    let counts = cells(found, |part| !matches!(part, Part::Floor(_)), |found| found.counts.map(counted));
    let differences = differences(found);
    let mut text = format!("Nanoseconds\n\n{}\n", show::table(&HEAD, &times));
    if !differences.is_empty() {
        text += &format!("{}\n", show::table(&["differences", "ns", ""], &differences));
    }
    text.extend(beside::table(found).map(|table| format!("{table}\n")));
    if !counts.is_empty() {
        text += &format!(
            "Counted for each: frames, fallbacks, frames run, messages; no whole numbers where workers race\n\n{}\n",
            show::table(&HEAD, &counts)
        );
    }
    text + &format!(
        "Least of {rounds} rounds in turn. {} of what is nanoseconds long and here, {} of all else.\n\
         Columns: where the object is: on the caller's node, on another node of the same worker, on another worker. heap: with a\n\
         frame for every call. In brackets: the name for --only; elsewhere with worker- or remote- in front, in frames with heap-\n\
         before that. --only here, worker, remote and heap name all of those.\n\
         Call: the caller is on the stack where it need not wait, and else in a frame, from its first call on. `stack` and\n\
         `forward` are calls of a method and, in it, of `shared`.\n\
         Create, free: a hundred in a row; what they need of the other is done a hundred at once, and not timed.\n\
         Fallback: the caller of the join is in a frame. The first call leaves its continuation with an object (a plain call), the\n\
         second is a plain call of that object. In `no-fallback` the continuation is resolved as soon as it is left; in `fallback`\n\
         the second call resolves it: the first has become a frame, which is resumed, and then its caller is. In `fallback-held`\n\
         the first holds an object of its own meanwhile, which takes a frame, too; in `in-line` a third call waits for that.\n\
         Reply: `oneway` ends with an ordinary call, so that all have been carried out; `given` and `carried` are waited for. In a\n\
         stream a reply costs what it takes of both workers' time; one that is waited for also the way there and back. A\n\
         continuation that the program holds is resolved where the value is, without a message.\n",
        show::thousands(SHORT),
        show::thousands(LONG),
    )
}

/// Returns the table's lines for the parts that `shown` accepts; lines without a measurement are left out.
fn cells(found: &[Found], shown: fn(Part) -> bool, cell: impl Fn(&Found) -> Option<String>) -> Vec<Vec<String>> {
    let mut lines = Vec::new();
    for kind in KINDS.iter().filter(|kind| shown(kind.part)) {
        let mut line = vec!["-".to_owned(); HEAD.len()];
        line[0] = format!("{} ({})", kind.what, kind.name);
        let of_kind: Vec<_> = found.iter().filter(|found| found.variant.kind.name == kind.name).collect();
        for found in &of_kind {
            let distance = match found.variant.distance {
                Distance::Here => 1,
                Distance::Worker => 2,
                Distance::Remote => 3,
            };
            let column = distance + if found.variant.schema == Schema::Heap { 3 } else { 0 };
            line[column] = cell(found).unwrap_or_else(|| "-".to_owned());
        }
        if !of_kind.is_empty() {
            lines.push(line);
        }
    }
    lines
}

/// Returns the differences for which both sides were measured.
fn differences(found: &[Found]) -> Vec<Vec<String>> {
    let least = |name: &str| found.iter().find(|found| found.variant.name == name).map(|found| found.sample.least());
    let line = |&(what, whole, part): &(&str, &str, &str)| {
        let difference = least(whole)? - least(part)?;
        Some(vec![what.to_owned(), format!("{difference:.2}"), format!("{whole} - {part}")])
    };
    DIFFERENCES.iter().filter_map(line).collect()
}

/// Formats the counts of a call. Some are not whole numbers: thieves and a busy receiver change them.
fn counted(counts: Counts) -> String {
    let short = |count: f64| {
        let text = format!("{:.1}", count.abs());
        text.strip_suffix(".0").map_or(text.clone(), str::to_owned)
    };
    [counts.frames, counts.fallbacks, counts.resumptions, counts.messages].map(short).join(" ")
}
