//! A run: batches of bodies through the pipeline, then the shrinker.

use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use crate::body::Body;
use crate::failure::Failure;
use crate::generate;
use crate::package::Package;
use crate::pipeline::{Outcome, Pipeline};
use crate::report::Report;
use crate::shrink;

/// The plan of a run: its bodies, its scratch package, its shrinking.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The seed.
    pub seed: u64,
    /// The number of the first body.
    pub from: u64,
    /// The number of bodies.
    pub count: Count,
    /// The folder of the scratch package.
    pub dir: PathBuf,
    /// The number of parallel processes.
    pub jobs: usize,
    /// The number of failures to shrink.
    pub shrink: usize,
    /// No new round of shrinking begins after this time.
    pub limit: Duration,
    /// Reports the progress on standard error.
    pub progress: bool,
}

/// The length of a run.
#[derive(Clone, Copy, Debug)]
pub enum Count {
    /// Ends after this number of generated bodies.
    Generated(u64),
    /// Ends after this number of bodies that rustc accepts as plain `async fn`.
    Accepted(usize),
}

/// The number of bodies compiled at once.
const BATCH: u64 = 200;

/// Returns the folder of the scratch package, in the workspace's target directory.
pub fn default_dir() -> PathBuf {
    let target = std::env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let target = target.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"));
    target.join("finespun-fuzz")
}

/// Runs a plan. A failure after the start is recorded in the report, with the earlier findings.
///
/// # Errors
/// If the scratch package cannot be written.
pub fn run(plan: &Plan) -> Result<Report, Failure> {
    let begin = Instant::now();
    let pipeline = Pipeline { package: Package::create(&plan.dir)?, jobs: plan.jobs, counted: Mutex::default() };
    let mut report = Report::default();
    let ended = batches(plan, begin, &mut report, |bodies| pipeline.outcomes(bodies));
    report.time = begin.elapsed();
    report.counted = pipeline.counted.lock().unwrap_or_else(|e| e.into_inner()).clone();
    let shrunk = ended.and_then(|()| {
        let failing = report.worth_shrinking(plan.shrink);
        if plan.progress && !failing.is_empty() {
            eprintln!("making {} failures smaller", failing.len());
        }
        shrink::shrink(|bodies| pipeline.outcomes(bodies), failing, plan.limit)
    });
    match shrunk {
        Ok(shrunk) => report.shrunk = shrunk,
        Err(failure) => report.failure = Some(failure),
    }
    Ok(report)
}

/// Generates the bodies of a plan and adds their outcomes to `report`.
fn batches(
    plan: &Plan,
    begin: Instant,
    report: &mut Report,
    mut outcomes: impl FnMut(&[Body]) -> Result<Vec<Outcome>, Failure>,
) -> Result<(), Failure> {
    let mut next = plan.from;
    loop {
        let left = match plan.count {
            Count::Generated(count) => count - (next - plan.from),
            // A few more than needed, since rustc will reject some.
            Count::Accepted(count) => (count.saturating_sub(report.accepted()) as u64).next_multiple_of(10),
        };
        if left == 0 {
            return Ok(());
        }
        if let Count::Accepted(wanted) = plan.count
            && report.generated >= 10 * wanted + 1000
        {
            return Err(Failure::Rejected { generated: report.generated, accepted: report.accepted(), wanted });
        }
        let bodies: Vec<Body> = (next..next + left.min(BATCH)).map(|index| generate::body(plan.seed, index)).collect();
        next += bodies.len() as u64;
        let outcomes = outcomes(&bodies)?;
        bodies.iter().zip(&outcomes).for_each(|(body, outcome)| report.add(body, outcome));
        if plan.progress {
            eprintln!(
                "{} bodies, {} accepted, {} refused, {} disagree, {:.0} s",
                report.generated,
                report.accepted(),
                report.refused,
                report.disagreed,
                begin.elapsed().as_secs_f64()
            );
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn plan(count: Count) -> Plan {
        let (dir, limit) = (PathBuf::new(), Duration::ZERO);
        Plan { seed: 1, from: 0, count, dir, jobs: 1, shrink: 0, limit, progress: false }
    }

    #[test]
    fn bodies_that_rustc_rejects_end_the_run() {
        let rejected = Outcome { rejected: Some("no".to_string()), ..Outcome::default() };
        let mut report = Report::default();
        let outcomes = |bodies: &[Body]| Ok(vec![rejected.clone(); bodies.len()]);
        let failure = batches(&plan(Count::Accepted(3)), Instant::now(), &mut report, outcomes).unwrap_err();
        assert!(matches!(failure, Failure::Rejected { accepted: 0, wanted: 3, .. }), "{failure}");
        assert!((1030..1100).contains(&report.generated), "{}", report.generated);
    }

    #[test]
    fn batches_before_a_failure_are_reported() {
        let mut report = Report::default();
        let mut good = 1;
        let outcomes = |bodies: &[Body]| match std::mem::take(&mut good) {
            1 => Ok(vec![Outcome::default(); bodies.len()]),
            _ => Err(Failure::Start("no cargo".to_string())),
        };
        assert!(batches(&plan(Count::Generated(300)), Instant::now(), &mut report, outcomes).is_err());
        assert_eq!((report.generated, report.agreed), (200, 200));
    }
}
