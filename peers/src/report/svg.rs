//! The matrix as a picture: one panel per problem, one line per runtime and worker
//! count, the time relative to the plain recursion on a logarithmic axis.

use std::fmt::Write;

use super::{Report, mebibytes, ratio, seconds};
use crate::matrix::Measured;

const WIDTH: f64 = 880.0;
const LABEL: f64 = 170.0;
const FIGURES: f64 = 230.0;
const LINE: f64 = 18.0;
const HEAD: f64 = 34.0;
const TOP: f64 = 64.0;
const GAP: f64 = 8.0;

/// The logarithmic axis: from a little under the smallest ratio (at most 0.4) to a
/// little over the largest (at least 3).
struct Axis {
    least: f64,
    most: f64,
}

impl Axis {
    fn of(cells: &[Measured]) -> Self {
        let ratios = || cells.iter().filter_map(|cell| cell.ratio);
        Self { least: ratios().fold(0.4, f64::min) * 0.9, most: ratios().fold(3.0, f64::max) * 1.1 }
    }

    fn x(&self, ratio: f64) -> f64 {
        let span = (self.most / self.least).ln();
        LABEL + (WIDTH - LABEL - FIGURES) * (ratio / self.least).ln() / span
    }

    /// Returns the marks 0.1, 0.2, 0.5, 1, ... that are on the axis.
    fn marks(&self) -> impl Iterator<Item = f64> {
        [0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0, 100.0, 200.0, 500.0]
            .into_iter()
            .filter(|&mark| mark >= self.least && mark <= self.most)
    }
}

/// Returns the picture.
pub fn picture(report: &Report) -> String {
    let axis = Axis::of(&report.cells);
    let mut body = String::new();
    let mut y = TOP;
    for panel in report.cells.chunk_by(|a, b| a.problem == b.problem) {
        y = draw_panel(&mut body, &axis, panel, y);
    }
    let height = y + 12.0;
    let quick = if report.quick { ", quick sizes" } else { "" };
    let machine = escaped(&report.machine);
    let rounds = report.rounds;
    format!(
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{WIDTH}" height="{height}" viewBox="0 0 {WIDTH} {height}" font-family="sans-serif" font-size="12" fill="#222">
<rect width="100%" height="100%" fill="#fff"/>
<text x="12" y="24" font-size="16" font-weight="bold">Time relative to the plain recursion</text>
<text x="12" y="44" fill="#666">{machine}; median of {rounds} rounds{quick}; filled: 1 worker, hollow: more</text>
{body}</svg>
"##
    )
}

/// Draws one problem and returns where the next one begins. Writing to a String cannot
/// fail, so the results are ignored.
fn draw_panel(body: &mut String, axis: &Axis, panel: &[Measured], top: f64) -> f64 {
    let first = top + HEAD;
    let bottom = first + LINE * panel.len() as f64;
    let title = panel.first().map_or("", |cell| &cell.instance);
    let title = escaped(title);
    let _ = writeln!(body, r#"<text x="12" y="{:.0}" font-weight="bold">{title}</text>"#, top + 16.0);
    for mark in axis.marks() {
        let x = axis.x(mark);
        let color = if mark == 1.0 { "#888" } else { "#ddd" };
        let _ = writeln!(
            body,
            r##"<line x1="{x:.1}" y1="{:.0}" x2="{x:.1}" y2="{bottom:.0}" stroke="{color}"/><text x="{x:.1}" y="{:.0}" text-anchor="middle" font-size="10" fill="#666">{mark}</text>"##,
            top + 22.0,
            top + 18.0
        );
    }
    for (i, cell) in panel.iter().enumerate() {
        draw_line(body, axis, cell, first + LINE * (i as f64 + 0.5));
    }
    bottom + GAP
}

fn draw_line(body: &mut String, axis: &Axis, cell: &Measured, y: f64) {
    let base = y + 4.0;
    let (runtime, workers) = (cell.runtime, cell.workers);
    let color = if runtime == crate::runtime::Runtime::Finespun { "#c0392b" } else { "#2c6fad" };
    let _ = writeln!(
        body,
        r#"<text x="24" y="{base:.0}">{runtime}</text><text x="{:.0}" y="{base:.0}" text-anchor="end">{workers}</text>"#,
        LABEL - 12.0
    );
    let figures = match (cell.ratio, cell.median, cell.over_limit) {
        (_, _, Some(limit)) => format!("&gt; {limit:.0} s"),
        (Some(relative), Some(median), None) => {
            let (one, x) = (axis.x(1.0), axis.x(relative));
            let fill = if workers == 1 { color } else { "#fff" };
            let _ = writeln!(
                body,
                r#"<line x1="{one:.1}" y1="{y:.0}" x2="{x:.1}" y2="{y:.0}" stroke="{color}" stroke-width="2"/><circle cx="{x:.1}" cy="{y:.0}" r="4.5" fill="{fill}" stroke="{color}" stroke-width="2"/>"#
            );
            let peak = mebibytes(cell.peak_kib);
            format!("{} &#183; {} &#183; {peak}", ratio(relative), seconds(median))
        }
        _ => "-".to_owned(),
    };
    let _ = writeln!(body, r#"<text x="{:.0}" y="{base:.0}">{figures}</text>"#, WIDTH - FIGURES + 20.0);
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;")
}
