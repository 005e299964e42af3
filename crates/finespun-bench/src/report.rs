//! The report of a bench: tables, rows for programs, progress.
//!
//! Tables are printed row by row, each row as soon as it has been measured. Rows for programs are collected and written
//! to the file of `--json` at the end, or when Ctrl-C or an error ends the bench: the file then has the rows so far and
//! is marked as interrupted. The standard error shows the current step and the number of steps left: by a bar on a
//! terminal, otherwise by a line for each step.

use std::sync::{Mutex, MutexGuard, PoisonError};

use finespun_lab::args::BenchOptions;
use finespun_lab::args::bench::Name;
use finespun_lab::failure::Failure;
use finespun_lab::launch::PROFILE;
use finespun_lab::machine::{self, cores};
use finespun_lab::run::target::Target;
use finespun_lab::run::{Steps, interrupt};
use finespun_lab::show::{self, Panel};
use serde_json::{Map, Value, json};

use crate::COMPILED_WITH;

/// The rows so far. A static, because the handler of Ctrl-C writes them.
static JOURNAL: Mutex<Option<Journal>> = Mutex::new(None);

/// The content of the file of `--json`.
struct Journal {
    /// Bench, machine, rounds.
    head: Map<String, Value>,
    rows: Vec<Value>,
    target: Option<Target>,
}

impl Journal {
    fn write(mut self, interrupted: bool) -> Result<(), Failure> {
        let Some(target) = self.target else { return Ok(()) };
        if interrupted {
            if self.rows.is_empty() {
                return Ok(());
            }
            self.head.insert("interrupted".to_owned(), true.into());
        }
        self.head.insert("rows".to_owned(), self.rows.into());
        target.write(format!("{:#}\n", Value::Object(self.head)))
    }
}

fn journal() -> MutexGuard<'static, Option<Journal>> {
    JOURNAL.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Writes the rows so far of a bench that ends early. A file without rows is removed.
pub fn keep_rows() {
    if let Some(journal) = journal().take() {
        // The exit code is determined by the cause of the early end, whether or not this succeeds.
        let _ = journal.write(true);
    }
}

/// The report of a bench that is running.
pub struct Report {
    steps: Steps,
    /// Machine, rounds, profile: the line below the title of a picture.
    pub about: String,
    /// Panels with common axes, from which some benches draw their picture.
    pub panels: Vec<Panel>,
    /// The picture.
    pub plot: Option<String>,
    /// One line about a problem: a limit that is exceeded, or a missing tool.
    pub complaint: Option<String>,
}

impl Report {
    /// Begins the report of a bench: prints the bench, profile, machine and rounds.
    pub fn begin(name: Name, options: &BenchOptions, target: Option<Target>) -> Result<Report, Failure> {
        let (model, online) = (cores::model(&machine::read), cores::online(&machine::read));
        let processor = model.clone().unwrap_or_else(|| "unknown processor".to_owned());
        let online_text = online.map_or_else(String::new, |online| format!(", {online} cores"));
        let quick = if options.quick { "; quick: times mean nothing" } else { "" };
        let rounds = if options.rounds == 1 { "1 round".to_owned() } else { format!("{} rounds", options.rounds) };
        let profile = match COMPILED_WITH {
            PROFILE => String::new(),
            other => format!("; profile `{other}`, not `{PROFILE}`: not to be compared"),
        };
        let about = format!("{processor}{online_text}; {rounds}{quick}{profile}");
        let head = json!({
            "bench": name.name(), "profile": COMPILED_WITH, "processor": model, "cores": online, "rounds": options.rounds,
            "quick": options.quick,
        });
        let Value::Object(head) = head else { unreachable!("an object") };
        *journal() = Some(Journal { head, rows: Vec::new(), target });
        interrupt::before_exit(keep_rows);
        if name != Name::Count {
            show::print(&format!(
                "finespun bench {} (profile `{COMPILED_WITH}`): {processor}{online_text}; {rounds}{quick}\n\n",
                name.name()
            ))?;
        }
        Ok(Report { steps: Steps::new(name.name()), about, panels: Vec::new(), plot: None, complaint: None })
    }

    /// Ends the report: writes the rows, and returns the picture and the complaint.
    pub fn end(self) -> Result<(Option<String>, Option<String>), Failure> {
        drop(self.steps);
        if let Some(journal) = journal().take() {
            journal.write(false)?;
        }
        Ok((self.plot, self.complaint))
    }

    /// Adds `steps` to the number of steps left.
    pub fn expect(&self, steps: usize) {
        self.steps.expect(steps as u64);
    }

    /// Begins the next step, and shows its description `what`.
    pub fn step(&self, what: &str) {
        self.steps.begin(what);
    }

    /// Prints text.
    pub fn say(&self, text: &str) -> Result<(), Failure> {
        self.steps.hidden(|| show::print(text))
    }

    /// Adds a row for programs.
    pub fn row(&self, row: Value) {
        if let Some(journal) = journal().as_mut() {
            journal.rows.push(row);
        }
    }

    /// Adds several rows.
    pub fn rows(&self, rows: impl IntoIterator<Item = Value>) {
        rows.into_iter().for_each(|row| self.row(row));
    }

    /// Begins a table whose rows are printed one by one. `first` is the width of the first column.
    pub fn table(&self, first: usize, head: &[&str]) -> Result<Table, Failure> {
        let table = Table::new(first, head);
        self.say(&table.line(head.iter().copied()))?;
        Ok(table)
    }

    /// Prints a row of a table.
    pub fn line(&self, table: &Table, cells: &[String]) -> Result<(), Failure> {
        self.say(&table.line(cells.iter().map(String::as_str)))
    }
}

/// A table that is printed row by row, so its column widths do not depend on the rows.
pub struct Table {
    widths: Vec<usize>,
}

/// The least width of a column of figures.
const FIGURE: usize = 9;

impl Table {
    fn new(first: usize, head: &[&str]) -> Table {
        let width = |(column, name): (usize, &&str)| name.chars().count().max(if column == 0 { first } else { FIGURE });
        Table { widths: head.iter().enumerate().map(width).collect() }
    }

    /// Formats a line: the first column is aligned to the left, the others to the right.
    fn line<'a>(&self, cells: impl Iterator<Item = &'a str>) -> String {
        let mut line = String::new();
        for (column, (cell, &width)) in cells.zip(&self.widths).enumerate() {
            line += &if column == 0 { format!("{cell:<width$}") } else { format!("  {cell:>width$}") };
        }
        line.truncate(line.trim_end().len());
        line + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::Table;

    #[test]
    fn columns_are_aligned() {
        let table = Table::new(6, &["run", "plain", "a longer head"]);
        let row = |cells: [&str; 3]| table.line(cells.into_iter());
        assert_eq!(row(["run", "plain", "a longer head"]), "run         plain  a longer head\n");
        assert_eq!(row(["fib 37", "1.5 ms", "2.00"]), "fib 37     1.5 ms           2.00\n");
        assert_eq!(row(["longer than that", "1", ""]), "longer than that          1\n");
    }
}
