//! Each application on one worker and on many: what the workers bring.

use finespun::Runtime;
use finespun_apps::Progress;
use serde_json::json;

use super::measure::{Sample, alternate};
use super::{Bench, Extra, Report, wanted};
use crate::app::{self, Answer, App, Executor};
use crate::args::BenchOptions;
use crate::failure::Failure;
use crate::machine::cores;
use crate::run::agree;
use crate::show;

/// What is run.
struct Line {
    /// Its name for `--only`.
    name: &'static str,
    /// As it would be typed after `finespun run`: in full and with `--quick`.
    full: &'static str,
    quick: &'static str,
    /// How often it runs for one time, so that this is a second or more.
    times: u32,
}

const fn line(name: &'static str, full: &'static str, quick: &'static str, times: u32) -> Line {
    Line { name, full, quick, times }
}

const LINES: &[Line] = &[
    line("fib", "fib 42", "fib 12", 1),
    line("nqueens", "nqueens 14", "nqueens 6", 1),
    line("uts-t1", "uts --tree T1", "uts --type 3 --branching 2 --depth 6", 1),
    line("uts-t3", "uts --tree T3", "uts --type 0 --root-branching 20 --q 0.1 --m 4", 1),
    line("protein", "protein --lattice 3x3x3", "protein --lattice 2x2x3", 150),
    line("matmul", "matmul 2048", "matmul 64", 1),
    line("skynet", "skynet 8", "skynet 2", 1),
];

/// The bench.
#[derive(Debug)]
pub struct Scaling;

impl Bench for Scaling {
    fn name(&self) -> &'static str {
        "scaling"
    }

    fn description(&self) -> &'static str {
        "each application on one worker and on many, in turn: the speed-up"
    }

    fn rows(&self) -> Vec<String> {
        LINES.iter().map(|line| line.name.to_owned()).collect()
    }

    fn run(&self, options: &BenchOptions, _: &Extra) -> Result<Report, Failure> {
        let many = options.workers.unwrap_or_else(cores::default_workers);
        let workers: Vec<_> = if many == 1 { vec![1] } else { vec![1, many] };
        let mut lines = Vec::new();
        let mut rows = Vec::new();
        for line in LINES.iter().filter(|line| wanted(options, line.name)) {
            let times = if options.quick { 1 } else { line.times };
            let text = if options.quick { line.quick } else { line.full };
            let samples = measure(text, times, &workers, options.rounds)?;
            lines.push(cells(text, times, &samples));
            rows.extend(workers.iter().zip(&samples).map(|(workers, sample)| {
                json!({
                    "app": line.name, "line": text, "times": times, "workers": workers,
                    "min": sample.least(), "median": sample.median(), "all": sample.all(),
                    "speedup": samples[0].least() / sample.least(),
                    "speedup_of_medians": samples[0].median() / sample.median(),
                })
            }));
        }
        Ok(Report { text: text(&lines, &workers, options), rows, ..Report::default() })
    }
}

/// Times one application on each number of workers, in turn; the answers must agree.
fn measure(line: &str, times: u32, workers: &[usize], rounds: usize) -> Result<Vec<Sample>, Failure> {
    let app = app::from_line(line);
    let start = |&workers| Runtime::builder().workers(workers).build().map(Executor::Tasks);
    let executors: Vec<_> = workers.iter().map(start).collect::<Result<_, _>>()?;
    let mut first: Option<Answer> = None;
    alternate(rounds, &executors, |executor| {
        let mut seconds = 0.0;
        for _ in 0..times {
            seconds += once(app.as_ref(), executor, &mut first)?;
        }
        Ok(seconds)
    })
}

fn once(app: &dyn App, executor: &Executor, first: &mut Option<Answer>) -> Result<f64, Failure> {
    let found = app.run(executor, &Progress::new()).map_err(|source| Failure::Run { app: app.name(), source })?;
    agree(app, first.get_or_insert_with(|| found.value.clone()), &found.value)?;
    Ok(found.time.as_secs_f64())
}

fn cells(line: &str, times: u32, samples: &[Sample]) -> Vec<String> {
    let name = if times == 1 { line.to_owned() } else { format!("{line}, {times} times") };
    let mut cells = vec![name];
    for sample in samples {
        cells.extend([show::seconds(sample.least()), show::seconds(sample.median())]);
    }
    for sample in &samples[1..] {
        cells.push(format!("{:.2}", samples[0].least() / sample.least()));
        cells.push(format!("{:.2}", samples[0].median() / sample.median()));
    }
    cells
}

fn text(lines: &[Vec<String>], workers: &[usize], options: &BenchOptions) -> String {
    let mut head = vec!["run".to_owned()];
    head.extend(workers.iter().flat_map(|workers| [format!("on {workers}"), "(median)".to_owned()]));
    head.extend(workers[1..].iter().flat_map(|_| ["speed-up".to_owned(), "(medians)".to_owned()]));
    let head: Vec<_> = head.iter().map(String::as_str).collect();
    let quick = if options.quick { " Small problems: the times mean nothing." } else { "" };
    format!(
        "{}\nTasks on so many workers: least and median of {} runs of each, in turn.{quick}\n",
        show::table(&head, lines),
        options.rounds
    )
}

#[cfg(test)]
mod tests {
    use super::LINES;
    use crate::app;

    #[test]
    fn every_line_parses() {
        for line in LINES {
            assert_eq!(app::from_line(line.quick).name(), app::from_line(line.full).name());
        }
    }
}
