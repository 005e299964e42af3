//! Applications: the plain version, tasks on one worker, and tasks on all workers.
//!
//! The first ratio is the overhead of tasks, the second the speed-up.

use finespun::Runtime;
use finespun_apps::Progress;
use serde_json::{Value, json};

use super::measure::alternate;
use super::{Bench, Extra, Report, wanted};
use finespun_lab::app::{self, Answer, App, Executor};
use finespun_lab::args::BenchOptions;
use finespun_lab::failure::Failure;
use finespun_lab::machine::cores;
use finespun_lab::run::agree;
use finespun_lab::sample::Sample;
use finespun_lab::show;

/// Command lines as typed after `finespun run`: full size, and with `--quick`.
const LINES: &[(&str, &str)] = &[
    ("fib 37", "fib 12"),
    ("tak 30 20 10", "tak 12 8 4"),
    ("nqueens 13", "nqueens 6"),
    ("qsort 1000000", "qsort 1000"),
    ("list 1000000", "list 1000"),
    ("skynet 7", "skynet 2"),
    ("matmul 512", "matmul 64"),
    ("sor --grid 1024 --iterations 10", "sor --grid 16 --iterations 2"),
    ("em3d --iterations 10", "em3d --size 64 --degree 4 --iterations 2"),
    ("microkernel --grain 2000", "microkernel --places 4 --threads 20 --grain 100"),
    ("mdforce --replicate 4 --iterations 10", "mdforce --cutoff 0.2 --iterations 1"),
    ("densemm 512", "densemm 16"),
    ("hopfield 1024 --patterns 64 --turned 128 --seed 2", "hopfield 64 --patterns 2 --turned 4"),
    ("cg --class W", "cg --iterations 1"),
    ("sparsemm", "sparsemm --random 100 --iterations 2"),
    ("integrate --tolerance 1e-5", "integrate --tolerance 1e6"),
    ("search 20_000_000 --at 15_000_000", "search 1000"),
    ("sumto 1_000_000_000", "sumto 1000"),
    ("uts --tree T1", "uts --type 3 --branching 2 --depth 6"),
    ("protein --lattice 3x3x3", "protein --lattice 2x2x3"),
    ("raytrace", "raytrace --levels 1 --size 16"),
];

/// The `apps` bench.
#[derive(Debug)]
pub struct Apps;

/// The times of one application.
struct Row {
    line: &'static str,
    name: &'static str,
    plain: Sample,
    one: Sample,
    many: Sample,
}

impl Bench for Apps {
    fn rows(&self) -> Vec<String> {
        app::names()
    }

    fn run(&self, options: &BenchOptions, _: &Extra, report: &mut Report) -> Result<(), Failure> {
        let workers = options.workers.unwrap_or_else(cores::default_workers);
        let tasks = |workers| Runtime::builder().workers(workers).build().map(Executor::Tasks);
        let executors = [Executor::Plain, tasks(1)?, tasks(workers)?];
        let lines = LINES.iter().map(|&(full, quick)| if options.quick { quick } else { full });
        let apps = lines.map(|line| (line, app::from_line(line))).filter(|(_, app)| wanted(options, app.name()));
        let apps: Vec<_> = apps.collect();
        report.expect(apps.len());
        let on_all = format!("tasks on {workers}");
        let head = ["run", "plain", "(median)", "tasks on 1", "(median)", &on_all, "(median)", "cost", "speed-up"];
        let longest = apps.iter().map(|(line, _)| line.len()).max().unwrap_or(0);
        let table = report.table(longest, &head)?;
        let mut rows = Vec::new();
        for (line, app) in apps {
            report.step(line);
            let row = measure(line, app.as_ref(), &executors, options.rounds)?;
            report.row(row.to_json(workers));
            report.line(&table, &row.cells())?;
            rows.push(row);
        }
        report.say(&format!(
            "\nLeast and median of {} runs of each, in turn. cost: tasks on 1 / plain; speed-up: plain / tasks on {workers}; both of the\nleast times.\n",
            options.rounds,
        ))?;
        report.plot = Some(plot(&rows, workers, &report.about)?);
        Ok(())
    }
}

/// Times one application on all executors. Fails if their answers disagree.
fn measure(line: &'static str, app: &dyn App, executors: &[Executor; 3], rounds: usize) -> Result<Row, Failure> {
    let mut first: Option<Answer> = None;
    let samples = alternate(rounds, executors, |executor| {
        let found = app.run(executor, &Progress::new()).map_err(|source| Failure::Run { app: app.name(), source })?;
        agree(app, first.get_or_insert_with(|| found.value.clone()), &found.value)?;
        Ok::<_, Failure>(found.time.as_secs_f64())
    })?;
    let [plain, one, many] = samples.try_into().expect("one sample per executor");
    Ok(Row { line, name: app.name(), plain, one, many })
}

impl Row {
    /// Returns the overhead of tasks: the time on one worker divided by the plain version's time.
    fn cost(&self) -> f64 {
        self.one.least() / self.plain.least()
    }

    /// Returns the speed-up: the plain version's time divided by the time on all workers.
    fn speedup(&self) -> f64 {
        self.plain.least() / self.many.least()
    }

    fn cells(&self) -> Vec<String> {
        let times = [&self.plain, &self.one, &self.many];
        let times = times.map(|sample| [show::seconds(sample.least()), show::seconds(sample.median())]);
        let ratios = [format!("{:.2}", self.cost()), format!("{:.2}", self.speedup())];
        [self.line.to_owned()].into_iter().chain(times.into_iter().flatten()).chain(ratios).collect()
    }

    fn to_json(&self, workers: usize) -> Value {
        let sample = |sample: &Sample| json!({"min": sample.least(), "median": sample.median(), "all": sample.all()});
        json!({
            "app": self.name,
            "line": self.line,
            "workers": workers,
            "plain": sample(&self.plain),
            "tasks_on_1": sample(&self.one),
            "tasks_on_all": sample(&self.many),
            "cost": self.cost(),
            "speedup": self.speedup(),
        })
    }
}

/// Plots times relative to the plain version: absolute times would hide the short runs next to the long ones.
fn plot(rows: &[Row], workers: usize, about: &str) -> Result<String, Failure> {
    let names: Vec<_> = rows.iter().map(|row| row.name.to_owned()).collect();
    let series = [
        ("tasks on 1 worker".to_owned(), rows.iter().map(Row::cost).collect()),
        (format!("tasks on {workers} workers"), rows.iter().map(|row| 1.0 / row.speedup()).collect()),
    ];
    show::grouped_bars("Applications: time relative to the plain version", about, "time / plain", &names, &series)
}

#[cfg(test)]
mod tests {
    use super::LINES;
    use finespun_lab::app;

    #[test]
    fn every_command_line_parses_and_every_application_is_listed() {
        let names: Vec<_> = LINES.iter().map(|(full, _)| app::from_line(full).name().to_owned()).collect();
        assert_eq!(names, app::names());
        for (full, quick) in LINES {
            assert_eq!(app::from_line(quick).name(), app::from_line(full).name());
        }
    }
}
