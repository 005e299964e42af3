//! Table 4: the message overhead above which the cache pays.

use finespun::istructure::cost::{MANNA, Platform};
use finespun_lab::failure::Failure;
use finespun_lab::show;
use serde_json::json;

use super::{CACHED, Config, Report, SPLIT, counted, figure, operations};
use crate::measure::alternate;

/// Added overheads in microseconds. Both times are linear in the overhead, and the lines cross at the critical point.
const OVERHEADS: [f64; 3] = [0.0, 0.5, 1.0];

/// Fits a straight line to points: returns its value at 0, and its slope.
fn fit(points: &[(f64, f64)]) -> (f64, f64) {
    let count = points.len() as f64;
    let mean = |of: fn(&(f64, f64)) -> f64| points.iter().map(of).sum::<f64>() / count;
    let (x, y) = (mean(|point| point.0), mean(|point| point.1));
    let covariance: f64 = points.iter().map(|point| (point.0 - x) * (point.1 - y)).sum();
    let variance: f64 = points.iter().map(|point| (point.0 - x) * (point.0 - x)).sum();
    let slope = covariance / variance;
    (y - slope * x, slope)
}

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let platform = operations::costs(config)?.platform();
    let head = ["us of added overhead", "measured", "derived", "difference", "paper's", "derived", "by equation 1"];
    let table = report.table(20, &head)?;
    for application in config.applications() {
        let reads = counted(config, application)?;
        let variants: Vec<(String, f64)> = [SPLIT, CACHED]
            .iter()
            .flat_map(|form| OVERHEADS.map(|overhead| (config.line(application, form), overhead)))
            .collect();
        let samples = alternate(config.rounds.min(3), &variants, |(line, overhead)| {
            Ok::<_, Failure>(config.run(line, *overhead)?.time.as_secs_f64())
        })?;
        let times: Vec<f64> = samples.iter().map(|sample| sample.least()).collect();
        let line = |from: usize| {
            let points: Vec<_> = OVERHEADS.into_iter().zip(times[from..].iter().copied()).collect();
            fit(&points)
        };
        let ((split, split_slope), (cached, cached_slope)) = (line(0), line(OVERHEADS.len()));
        let measured = (cached - split) / (split_slope - cached_slope);
        let derived = platform.critical(&reads);
        let difference = 100.0 * (derived / measured - 1.0);
        let [paper, printed] = application.points;
        report.line(
            &table,
            &[
                application.name.to_owned(),
                figure(measured),
                figure(derived),
                format!("{difference:.0} %"),
                figure(paper),
                figure(printed),
                figure(MANNA.critical(&application.paper)),
            ],
        )?;
        report.row(json!({
            "section": "critical", "application": application.name, "measured": measured, "derived": derived,
            "paper_measured": paper, "paper_derived": printed, "paper_by_equation_1": MANNA.critical(&application.paper),
            "seconds": {"overheads": OVERHEADS, "split": &times[..OVERHEADS.len()], "cached": &times[OVERHEADS.len()..]},
        }));
    }
    report.say(&format!(
        "\nMeasured: where the straight lines through the times with {OVERHEADS:?} us added cross. A negative point says that the cache\n\
         pays without any: it is as much below this platform's own overhead of {:.3} us. Derived: equation 1 with the parameters\n\
         measured here, all four ends of a request's messages on the one processor.\n",
        platform.message
    ))
}

/// Overheads in microseconds for a simulated machine, whose times do not vary.
const SIMULATED: [f64; 8] = [0.0, 1.0, 2.0, 4.0, 6.0, 8.0, 12.0, 16.0];

/// Returns where the polygons through two series of times cross for the last time, or a bound.
fn crossing(overheads: &[f64], split: &[f64], cached: &[f64]) -> Result<f64, String> {
    let gains: Vec<f64> = split.iter().zip(cached).map(|(split, cached)| split - cached).collect();
    let Some(before) = gains.iter().rposition(|&gain| gain <= 0.0) else {
        return Err(format!("< {}", overheads[0]));
    };
    if before + 1 == gains.len() {
        return Err(format!("> {}", overheads[before]));
    }
    let part = -gains[before] / (gains[before + 1] - gains[before]);
    Ok(overheads[before] + part * (overheads[before + 1] - overheads[before]))
}

/// Measures on a simulated machine: the points where the times cross, beside equation 1 with MANNA's parameters.
pub(super) fn simulated(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let head = ["us of added overhead", "measured", "2 ends", "4 ends", "paper's", "derived", "split, 0 us", "cached"];
    let table = report.table(20, &head)?;
    for application in config.applications() {
        let reads = counted(config, application)?;
        let overheads = if config.quick { &SIMULATED[..2] } else { &SIMULATED };
        let mut times = [Vec::new(), Vec::new()];
        for &overhead in overheads {
            for (times, form) in times.iter_mut().zip([SPLIT, CACHED]) {
                times.push(config.run(&config.line(application, form), overhead)?.time.as_secs_f64());
            }
        }
        let [split, cached] = &times;
        let measured = crossing(overheads, split, cached);
        let derived = [2.0, 4.0].map(|ends| Platform { ends, ..MANNA }.critical(&reads));
        let [paper, printed] = application.points;
        let mut line = vec![application.name.to_owned()];
        line.push(measured.clone().map_or_else(|bound| bound, figure));
        line.extend([derived[0], derived[1], paper, printed].map(figure));
        line.extend([split[0], cached[0]].map(show::seconds));
        report.line(&table, &line)?;
        report.row(json!({
            "section": "critical", "application": application.name, "measured": measured.ok(),
            "derived_2_ends": derived[0], "derived_4_ends": derived[1], "paper_measured": paper, "paper_derived": printed,
            "seconds": {"overheads": overheads, "split": split, "cached": cached},
        }));
    }
    report.say(
        "\nMeasured: where the times with and without a cache cross. Derived: equation 1 with MANNA's parameters and the reads counted\n\
         here; with 2 ends, as in the paper, a processor spends nothing on the requests of others; with 4 it does, as here.\n",
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn polygons_cross() {
        let cross = |split: &[f64], cached: &[f64]| super::crossing(&[0.0, 1.0, 3.0], split, cached);
        assert_eq!(cross(&[1.0, 2.0, 4.0], &[2.0, 2.5, 3.0]), Ok(1.0 + 2.0 / 3.0));
        assert_eq!(cross(&[3.0, 3.0, 3.0], &[1.0, 1.0, 1.0]), Err("< 0".to_owned()));
        assert_eq!(cross(&[1.0, 1.0, 1.0], &[3.0, 3.0, 3.0]), Err("> 3".to_owned()));
    }

    #[test]
    fn a_straight_line_is_fitted() {
        let (at_0, slope) = super::fit(&[(0.0, 3.0), (1.0, 5.0), (2.0, 7.0)]);
        assert!((at_0 - 3.0).abs() < 1e-12 && (slope - 2.0).abs() < 1e-12);
    }
}
