//! Benches that are made of sections, each of which can be asked for alone.

use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;

use super::report::Report;
use super::wanted;

/// Measures a section, in a way `W`.
pub(super) type Measure<W> = fn(&W, &mut Report) -> Result<(), Failure>;

/// The sections of a bench by name.
pub(super) type Sections<W> = [(&'static str, Measure<W>)];

/// The names of the sections.
pub(super) fn names<W>(sections: &Sections<W>) -> Vec<String> {
    sections.iter().map(|(name, _)| (*name).to_owned()).collect()
}

/// Measures those sections that are wanted.
///
/// # Errors
///
/// The first of a section.
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
