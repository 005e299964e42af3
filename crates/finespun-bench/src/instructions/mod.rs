//! Instructions per call: the overhead of a task over the plain function, and the limits on this overhead.

mod arrays;
mod closures;
mod objects;
mod programs;

use serde_json::{Value, json};

use super::count::{Callgrind, Program};
use super::{Bench, COMPILED_WITH, Extra, Report, wanted};
use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;
use finespun_lab::launch::PROFILE;

/// The profile that users get without a word, and that has limits of its own.
const RELEASE: &str = "release";

/// Returns all programs that this bench counts.
pub fn programs() -> impl Iterator<Item = &'static Program> {
    programs::PROGRAMS.iter().chain(closures::PROGRAMS).chain(objects::PROGRAMS).chain(arrays::PROGRAMS)
}

/// A row: a program, its baseline, and the allowed difference.
struct Row {
    name: &'static str,
    what: &'static str,
    /// The plain version; without one, the limit applies to the program itself.
    plain: Option<&'static str>,
    task: &'static str,
    /// The allowed overhead over the plain version, in instructions per call: the project's own target where it has set
    /// one, otherwise slightly more than was measured when the row was written, to catch regressions.
    limit: f64,
    /// The same for the profile `release`, without link-time optimization, where it is another.
    released: Option<f64>,
}

impl Row {
    const fn released(self, limit: f64) -> Row {
        Row { released: Some(limit), ..self }
    }

    /// Returns the limit for the profile that this program was compiled with.
    fn limit(&self) -> f64 {
        self.released.filter(|_| COMPILED_WITH == RELEASE).unwrap_or(self.limit)
    }
}

const fn row(
    name: &'static str,
    what: &'static str,
    plain: Option<&'static str>,
    task: &'static str,
    limit: f64,
) -> Row {
    Row { name, what, plain, task, limit, released: None }
}

/// The table.
const ROWS: &[Row] = &[
    // The project's targets.
    row("fib-join", "fib, two calls in a join!", Some("fib-plain"), "fib-join", 8.0),
    row("fib-sequence", "fib, two awaits in sequence", Some("fib-plain"), "fib-sequence", 4.0),
    row("tak", "tak, three awaits in sequence and a tail await", Some("tak-plain"), "tak-tasks", 4.0),
    row("list-forward", "list traversal by tail awaits, per node", Some("list-plain"), "list-forward", 4.0),
    row("list", "list traversal, per node", Some("list-plain"), "list-tasks", 4.0),
    row("object-get", "a shared method of an object that is here", Some("get-plain"), "get-object", 6.0),
    row("object-add", "an exclusive method of an object that is here", Some("add-plain"), "add-object", 7.0),
    // Slightly more than measured.
    row("array-get", "an element of a write-once array that is here", Some("slice-get"), "array-get", 10.0),
    row("array-hit", "another node's element in the cache", Some("slice-get"), "array-hit", 17.0),
    row("array-away", "another node's element, on one worker, without a cache", None, "array-away", 1500.0)
        .released(1809.0),
    row("array-put", "the next element of a write-once array", Some("slice-put"), "array-put", 13.0),
    row("object-held", "the same, held as if it might suspend", Some("add-plain"), "add-object-held", 24.0),
    row("object-away", "a method of another node's object, on one worker", None, "get-object-away", 1001.0)
        .released(1130.0),
    row(
        "messages-away",
        "beside: two messages of six words between workers, by the transport alone",
        None,
        "messages-away",
        369.0,
    ),
    row("product", "two elements of write-once arrays, multiplied", Some("product-plain"), "product-arrays", 17.0),
    row("nqueens", "n-queens by reduce, per board", Some("nqueens-plain"), "nqueens-tasks", 9.0),
    row("tree", "tree sum by join!, per node", Some("tree-plain"), "tree-tasks", 13.0),
    row("uts", "tree search by reduce, per node", Some("uts-plain"), "uts-tasks", 28.0).released(45.0),
    row("straight", "a task straight through its callees", Some("straight-plain"), "straight-tasks", 4.0),
    row("lends", "the same, lending a local to them", Some("straight-plain"), "lends-tasks", 4.0),
    row("fib-pinned", "fib, join! in the pinned schema", Some("fib-plain"), "fib-pinned", 179.0).released(195.0),
    row("closures", "fib by closures, both halves posted, per call", Some("fib-plain"), "fib-closures", 169.0),
    row("closures-tail", "the same with a tail call", Some("fib-plain"), "fib-closures-tail", 118.0),
    row(
        "closure",
        "a closure of three arguments, made, posted, run and freed; plain: by hand",
        Some("bare-posted"),
        "closures-posted",
        32.0,
    ),
    row("closure-filled", "the same, two of them sent afterwards", Some("bare-filled"), "closures-filled", 39.0),
    row("lock", "Mutex: lock and unlock, free", Some("lock-std"), "lock-tasks", 99.0),
    row("suspend", "suspend, resolved at once", None, "suspend-resolved", 143.0).released(188.0),
    row("spawn", "spawn, and await the handle", None, "spawn-await", 643.0).released(760.0),
    row("yield", "yield_now", None, "yield", 567.0).released(670.0),
    row("level", "a level becomes a frame, is resumed and freed", Some("level-plain"), "level-frame", 374.0)
        .released(438.0),
    row("every-call-a-frame", "fib with block_every(1)", Some("fib-plain"), "fib-every-call-a-frame", 690.0)
        .released(922.0),
];

/// The counts of a row.
struct Found {
    row: &'static Row,
    plain: Option<f64>,
    task: f64,
}

impl Found {
    /// Returns the difference, rounded to a tenth like the counts.
    fn difference(&self) -> f64 {
        ((self.task - self.plain.unwrap_or(0.0)) * 10.0).round() / 10.0
    }

    fn over(&self) -> bool {
        self.difference() > self.row.limit()
    }

    fn complaint(&self) -> String {
        let Row { name, what, .. } = self.row;
        format!("{name} ({what}) costs {:.1} instructions, its limit is {}", self.difference(), self.row.limit())
    }

    fn cells(&self) -> Vec<String> {
        let number = |number: f64| format!("{number:.1}");
        vec![
            self.row.what.to_owned(),
            self.plain.map_or_else(|| "-".to_owned(), number),
            number(self.task),
            number(self.difference()),
            self.row.limit().to_string(),
            if self.over() { "over" } else { "" }.to_owned(),
        ]
    }

    fn to_json(&self) -> Value {
        json!({
            "name": self.row.name,
            "plain": self.plain,
            "task": self.task,
            "difference": self.difference(),
            "limit": self.row.limit(),
            "over": self.over(),
        })
    }
}

/// The `instructions` bench.
#[derive(Debug)]
pub struct Instructions;

impl Bench for Instructions {
    fn rows(&self) -> Vec<String> {
        ROWS.iter().map(|row| row.name.to_owned()).collect()
    }

    fn profiles(&self) -> &'static [&'static str] {
        &[PROFILE, RELEASE]
    }

    fn run(&self, options: &BenchOptions, _: &Extra, report: &mut Report) -> Result<(), Failure> {
        let mut callgrind = match Callgrind::new() {
            Ok(callgrind) => callgrind,
            Err(error) => {
                report.complaint = Some(error.to_string());
                return Ok(());
            }
        };
        let rows: Vec<_> = ROWS.iter().filter(|row| wanted(options, row.name)).collect();
        report.expect(rows.len());
        let longest = rows.iter().map(|row| row.what.len()).max().unwrap_or(0);
        let table = report.table(longest, &["instructions per call", "plain", "task", "difference", "limit", ""])?;
        let mut over = Vec::new();
        for row in rows {
            report.step(row.name);
            let found = match measure(row, &mut callgrind) {
                Ok(found) => found,
                Err(error) => {
                    report.complaint = Some(error.to_string());
                    return Ok(());
                }
            };
            report.row(found.to_json());
            report.line(&table, &found.cells())?;
            over.extend(found.over().then(|| found.complaint()));
        }
        report.complaint = (!over.is_empty()).then(|| over.join("; "));
        report.say("\nOne worker, counted by callgrind: the difference of two sizes, divided by the number of calls.\n")
    }
}

fn measure(row: &'static Row, callgrind: &mut Callgrind) -> Result<Found, super::count::ChildError> {
    let plain = row.plain.map(|name| callgrind.per_call(program(name))).transpose()?;
    Ok(Found { row, plain, task: callgrind.per_call(program(row.task))? })
}

/// Returns the program named `name`. The tests check that every row's programs exist.
fn program(name: &str) -> &'static Program {
    programs().find(|program| program.name == name).unwrap_or_else(|| panic!("there is no program {name}"))
}

#[cfg(test)]
mod tests {
    use super::{Found, ROWS, program};

    #[test]
    fn every_row_has_its_programs() {
        for row in ROWS {
            program(row.task);
            row.plain.map(program);
        }
    }

    #[test]
    fn a_row_over_its_limit_is_reported_by_name() {
        let found = |task| Found { row: &ROWS[0], plain: Some(10.0), task };
        assert!(!found(10.0 + ROWS[0].limit).over());
        assert!(found(10.5 + ROWS[0].limit).over());
        assert!(found(100.0).complaint().contains("fib-join"));
    }
}
