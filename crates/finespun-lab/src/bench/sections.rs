//! Benches that are made of sections, each of which can be asked for alone.

use serde_json::Value;

use super::{Report, wanted};
use crate::args::BenchOptions;
use crate::failure::Failure;
use crate::show::Panel;

/// What a section found.
#[derive(Default)]
pub(super) struct Section {
    pub(super) text: String,
    pub(super) rows: Vec<Value>,
    /// Panels with the same axes as those of the bench's other sections.
    pub(super) panels: Vec<Panel>,
    /// A picture of its own.
    pub(super) plot: Option<String>,
}

/// The sections of a bench by name; they are measured in a way `W`.
pub(super) type Sections<W> = [(&'static str, fn(&W) -> Result<Section, Failure>)];

/// The names of the sections.
pub(super) fn names<W>(sections: &Sections<W>) -> Vec<String> {
    sections.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// Measures those sections that are wanted: what they found, with the first picture of one's own, and their panels.
///
/// # Errors
///
/// The first of a section.
pub(super) fn measure<W>(
    sections: &Sections<W>,
    options: &BenchOptions,
    way: &W,
) -> Result<(Report, Vec<Panel>), Failure> {
    let (mut report, mut panels) = (Report::default(), Vec::new());
    for (name, measure) in sections.iter().filter(|(name, _)| wanted(options, name)) {
        let section = measure(way)?;
        report.text += &format!("{name}\n\n{}\n", section.text);
        report.rows.extend(section.rows);
        panels.extend(section.panels);
        report.plot = report.plot.or(section.plot);
    }
    Ok((report, panels))
}
