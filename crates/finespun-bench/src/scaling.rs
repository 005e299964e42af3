//! Each application on one worker and on many: the speed-up.

use finespun::Runtime;
use finespun_apps::Progress;
use serde_json::json;

use super::measure::alternate;
use super::report::{Report, Table};
use super::{Bench, Extra, wanted};
use finespun_lab::app::{self, Answer, App, Executor};
use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;
use finespun_lab::machine::cores;
use finespun_lab::run::agree;
use finespun_lab::sample::Sample;
use finespun_lab::show;

/// The command lines of one application.
struct Line {
    /// The name for `--only`.
    name: &'static str,
    /// As typed after `finespun run`: full size, and with `--quick`.
    full: &'static str,
    quick: &'static str,
    /// Runs per measured time, such that the time is a second or more.
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

/// The `scaling` bench.
#[derive(Debug)]
pub struct Scaling;

impl Bench for Scaling {
    fn rows(&self) -> Vec<String> {
        LINES.iter().map(|line| line.name.to_owned()).collect()
    }

    fn run(&self, options: &BenchOptions, _: &Extra, report: &mut Report) -> Result<(), Failure> {
        let many = options.workers.unwrap_or_else(cores::default_workers);
        let workers: Vec<_> = if many == 1 { vec![1] } else { vec![1, many] };
        let lines: Vec<_> = LINES.iter().filter(|line| wanted(options, line.name)).collect();
        report.expect(lines.len());
        let table = table(&workers, report)?;
        for line in lines {
            let times = if options.quick { 1 } else { line.times };
            let text = if options.quick { line.quick } else { line.full };
            report.step(text);
            let samples = measure(text, times, &workers, options.rounds)?;
            report.rows(workers.iter().zip(&samples).map(|(workers, sample)| {
                json!({
                    "app": line.name, "line": text, "times": times, "workers": workers,
                    "min": sample.least(), "median": sample.median(), "all": sample.all(),
                    "speedup": samples[0].least() / sample.least(),
                    "speedup_of_medians": samples[0].median() / sample.median(),
                })
            }));
            report.line(&table, &cells(text, times, &samples))?;
        }
        report.say(&format!(
            "\nTasks on so many workers: least and median of {} runs of each, in turn.\n",
            options.rounds
        ))
    }
}

/// Times one application on each number of workers, in turn. Fails if the answers disagree.
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

fn table(workers: &[usize], report: &Report) -> Result<Table, Failure> {
    let mut head = vec!["run".to_owned()];
    head.extend(workers.iter().flat_map(|workers| [format!("on {workers}"), "(median)".to_owned()]));
    head.extend(workers[1..].iter().flat_map(|_| ["speed-up".to_owned(), "(medians)".to_owned()]));
    let head: Vec<_> = head.iter().map(String::as_str).collect();
    report.table(36, &head)
}

#[cfg(test)]
mod tests {
    use super::LINES;
    use finespun_lab::app;

    #[test]
    fn every_command_line_parses() {
        for line in LINES {
            assert_eq!(app::from_line(line.quick).name(), app::from_line(line.full).name());
        }
    }
}
