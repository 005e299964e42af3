//! The results as text.

use std::fmt::Write;

use comfy_table::{CellAlignment, Table, presets};

use super::{Report, mebibytes, ratio, seconds};
use crate::matrix::Measured;
use crate::neighbours::note;

/// Returns the whole report, ready to print.
pub fn text(report: &Report) -> String {
    let mut text = String::new();
    let sizes = if report.quick { ", QUICK SIZES" } else { "" };
    // Writing to a String cannot fail.
    let _ = writeln!(text, "{}, {} rounds{sizes}", report.machine, report.rounds);
    if !report.cells.is_empty() {
        let _ = writeln!(text, "{}", matrix(&report.cells));
    }
    if !report.floors.is_empty() {
        let _ = writeln!(text, "{}", floors(report));
    }
    if !report.instructions.is_empty() {
        let _ = writeln!(text, "{}", instructions(report));
    }
    text.extend(note(report.others_busy));
    for left_out in &report.left_out {
        let _ = writeln!(text, "left out: {} ({})", left_out.runtime, left_out.cure);
    }
    text
}

fn table<const N: usize>(header: [&str; N], left: usize) -> Table {
    let mut table = Table::new();
    table.load_style(presets::ASCII_MARKDOWN);
    table.set_header(header);
    for column in table.column_iter_mut().skip(left) {
        column.set_cell_alignment(CellAlignment::Right);
    }
    table
}

fn matrix(cells: &[Measured]) -> Table {
    let header =
        ["problem", "runtime", "workers", "minimum", "median", "to plain", "peak", "of which input", "others busy"];
    let mut table = table(header, 2);
    let mut last = "";
    for cell in cells {
        let instance = if last == cell.instance { "" } else { &*cell.instance };
        last = &cell.instance;
        let or_limit = |value: Option<String>| {
            let limit = cell.over_limit.map(|limit| format!("> {limit:.0} s"));
            limit.or(value).unwrap_or_else(|| "-".to_owned())
        };
        table.add_row([
            instance.to_owned(),
            cell.runtime.to_string(),
            cell.workers.to_string(),
            or_limit(cell.minimum.map(seconds)),
            or_limit(cell.median.map(seconds)),
            cell.ratio.map_or_else(|| "-".to_owned(), ratio),
            mebibytes(cell.peak_kib),
            mebibytes(cell.input_kib),
            format!("{:.2}", cell.others_busy),
        ]);
    }
    table
}

fn floors(report: &Report) -> Table {
    let mut table = table(["floor", "minimum", "median"], 1);
    for floor in &report.floors {
        table.add_row([floor.name.to_owned(), format!("{:.2} ns", floor.minimum), format!("{:.2} ns", floor.median)]);
    }
    table
}

fn instructions(report: &Report) -> Table {
    let mut table = table(["runtime, 1 worker", "instructions per call of fib"], 1);
    for count in &report.instructions {
        table.add_row([count.runtime.to_string(), format!("{:.1}", count.per_call)]);
    }
    table
}
