//! A search in a large array: sequential, without and with termination: Figure 7.

use finespun::Runtime;
use finespun_apps::search;
use serde_json::json;

use super::cost::timed;
use super::{Config, Report, milliseconds};
use crate::measure::take_turns;
use finespun_lab::failure::Failure;
use finespun_lab::show::{self, Panel, Up};

#[derive(Clone, Copy)]
enum How {
    Plain,
    ToTheEnd,
    Ended,
}

pub(super) fn measure(config: &Config, report: &mut Report) -> Result<(), Failure> {
    let n: usize = if config.quick { 100_000 } else { 20_000_000 };
    // As many activities as processors, as in the paper, and many more.
    let runtime = config.usual()?;
    for activities in [config.workers, 32 * config.workers] {
        one(config, &runtime, n, activities, report)?;
    }
    report.say("The mean is over these positions, which are spread evenly. The paper: on average half the time.\n")
}

fn one(config: &Config, runtime: &Runtime, n: usize, activities: usize, report: &mut Report) -> Result<(), Failure> {
    let positions = 20;
    let mut numbers = search::input(n, n);
    let table = report.table(10, &["element at", "sequential, ms", "without an end", "with"])?;
    let mut curves = [const { Vec::new() }; 3];
    let mut sums = [0.0; 3];
    for k in 0..positions {
        let at = (2 * k + 1) * n / (2 * positions);
        numbers[at] = search::WANTED;
        let found = take_turns(config.rounds, &[How::Plain, How::ToTheEnd, How::Ended], |&how| {
            let run = || {
                let position = match how {
                    How::Plain => search::plain(&numbers),
                    How::ToTheEnd => runtime.run(search::search_all(&numbers, activities)),
                    How::Ended => runtime.run(search::search(&numbers, activities)),
                };
                assert_eq!(position, Some(at), "the element is where it was put");
            };
            Ok::<_, Failure>(timed(&run))
        })?;
        numbers[at] = at as u64;
        let least: Vec<f64> = found.iter().map(|times| times.iter().copied().fold(f64::INFINITY, f64::min)).collect();
        let percent = 100.0 * at as f64 / n as f64;
        for which in 0..3 {
            sums[which] += least[which] / positions as f64;
            curves[which].push((percent, least[which] * 1e3));
        }
        if k % 4 == 0 {
            let mut line = vec![format!("{percent:.1} %")];
            line.extend(least.iter().map(|&seconds| milliseconds(seconds)));
            report.line(&table, &line)?;
        }
        report.row(json!({
            "section": "figure7", "activities": activities, "position": at, "plain": least[0], "to_the_end": least[1],
            "ended": least[2],
        }));
    }
    let mut mean = vec!["mean".to_owned()];
    mean.extend(sums.iter().map(|&seconds| milliseconds(seconds)));
    report.line(&table, &mean)?;
    let ratio = sums[2] / sums[1];
    report.row(json!({"section": "figure7", "activities": activities, "mean": sums, "ratio": ratio}));
    report.say(&format!(
        "\n{} elements, {activities} activities; with an end {ratio:.2} of the time without.\n\n",
        show::thousands(n as u64)
    ))?;
    if report.plot.is_none() {
        let names = ["sequential", "without pbreak", "with pbreak"];
        let curves = names.into_iter().zip(curves).map(|(name, points)| (name.to_owned(), points)).collect();
        let panel = Panel { title: format!("Figure 7: {activities} activities"), curves };
        let (across, up) = ("position of the element, %", Up::Powers("milliseconds"));
        let title = "A search with and without an end";
        report.plot = Some(show::curves(title, &report.about, across, up, &[vec![panel]])?);
    }
    Ok(())
}
