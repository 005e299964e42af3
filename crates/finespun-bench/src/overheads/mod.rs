//! The papers' tables of sequential costs, measured anew, each figure beside the paper's own.
//!
//! - `calls`: the cost of a call by the schemas of caller and callee, and the extra cost of a fallback; `schemas` has
//!   the callers and callees
//! - `primitives`: creating, queueing, touching, resolving
//! - `sequential`: five programs by several conventions; `programs` has their versions, `native` the versions in C

mod calls;
mod native;
mod primitives;
mod programs;
mod schemas;
mod sequential;

use super::count::{Callgrind, ChildError, Program};
use super::{Bench, Extra, Report, wanted};
use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;
use native::NativeError;

/// Returns all programs whose instructions these tables count.
pub fn programs() -> impl Iterator<Item = &'static Program> {
    schemas::PROGRAMS.iter().chain(primitives::PROGRAMS)
}

/// The `overheads` bench.
#[derive(Debug)]
pub struct Overheads;

impl Bench for Overheads {
    fn rows(&self) -> Vec<String> {
        ["calls", "primitives", "sequential"].map(str::to_owned).to_vec()
    }

    fn run(&self, options: &BenchOptions, _: &Extra, report: &mut Report) -> Result<(), Failure> {
        match measure(options, report) {
            Err(Trouble::Failure(failure)) => Err(failure),
            Err(trouble) => {
                report.complaint = Some(trouble.to_string());
                Ok(())
            }
            Ok(()) => Ok(()),
        }
    }
}

/// The reason why figures are missing.
#[derive(Debug, thiserror::Error)]
enum Trouble {
    #[error(transparent)]
    Count(#[from] ChildError),
    #[error(transparent)]
    Native(#[from] NativeError),
    #[error(transparent)]
    Failure(#[from] Failure),
}

fn measure(options: &BenchOptions, report: &mut Report) -> Result<(), Trouble> {
    let mut callgrind = Callgrind::new();
    report.expect(["calls", "primitives", "sequential"].iter().filter(|part| wanted(options, part)).count());
    if wanted(options, "calls")
        && let Ok(callgrind) = &mut callgrind
    {
        report.step("calls and fallbacks by schema");
        calls::calls(callgrind, report)?;
    }
    if wanted(options, "primitives") {
        report.step("primitives");
        primitives::primitives(callgrind.as_mut().ok(), options.rounds, options.quick, report)?;
    }
    if wanted(options, "sequential") {
        sequential::sequential(options, report)?;
    }
    let counts = wanted(options, "calls") || wanted(options, "primitives");
    report.complaint = callgrind.err().filter(|_| counts).map(|error| error.to_string());
    Ok(())
}

fn one_decimal(number: f64) -> String {
    // Adding 0.0 turns a negative zero into a positive one.
    format!("{:.1}", (number * 10.0).round() / 10.0 + 0.0)
}

/// Formats our figure with the papers' in brackets.
fn beside(ours: Option<String>, theirs: &[Option<f64>]) -> String {
    let known = theirs.iter().any(Option::is_some);
    let list = theirs.iter().map(|figure| figure.map_or_else(|| "-".to_owned(), |figure| figure.to_string()));
    let theirs = known.then(|| format!("[{}]", list.collect::<Vec<_>>().join(", ")));
    match (ours, theirs) {
        (None, None) => "-".to_owned(),
        (ours, theirs) => ours.into_iter().chain(theirs).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::{beside, one_decimal};

    #[test]
    fn figures_are_formatted_side_by_side() {
        assert_eq!(beside(Some("7.4".to_owned()), &[Some(6.0), None]), "7.4 [6, -]");
        assert_eq!(beside(Some("7.4".to_owned()), &[None, None]), "7.4");
        assert_eq!(beside(None, &[Some(1.5)]), "[1.5]");
        assert_eq!(beside(None, &[None]), "-");
        assert_eq!(one_decimal(-0.01), "0.0");
    }
}
