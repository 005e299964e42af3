//! Benches made of sections, each of which can be selected alone.

use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;

use super::report::Report;
use super::wanted;

/// Measures a section with the options `W`.
pub(super) type Measure<W> = fn(&W, &mut Report) -> Result<(), Failure>;

/// The sections of a bench by name.
pub(super) type Sections<W> = [(&'static str, Measure<W>)];

/// Returns the names of the sections.
pub(super) fn names<W>(sections: &Sections<W>) -> Vec<String> {
    sections.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// Measures the sections that `--only` selects.
///
/// # Errors
///
/// The first error of a section.
pub(super) fn measure<W>(
    sections: &Sections<W>,
    options: &BenchOptions,
    way: &W,
    report: &mut Report,
) -> Result<(), Failure> {
    let wanted: Vec<_> = sections.iter().filter(|(name, _)| wanted(options, name)).collect();
    report.expect(wanted.len());
    for (name, measure) in wanted {
        report.step(name);
        report.say(&format!("{name}\n\n"))?;
        measure(way, report)?;
        report.say("\n")?;
    }
    Ok(())
}
