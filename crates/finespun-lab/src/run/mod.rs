//! `finespun run`: runs one application as often as asked, and prints the result.
//!
//! - `report`: the output at the end of a run
//! - `meter`: the progress bar
//! - `interrupt`: Ctrl-C
//! - `target`: files that the user named, opened before the work begins

pub mod interrupt;
mod meter;
mod report;
mod stats;
pub mod target;

use std::time::{Duration, Instant};

use std::sync::Arc;

use finespun::Runtime;
use finespun::runtime::Error;
use finespun::simulation::Machine;
use finespun::testing::*;
use finespun_apps::Progress;

use crate::app::{Answer, App, Executor, Timed};
use crate::args::simulation::Fabric;
use crate::args::{Run, RunOptions};
use crate::failure::Failure;
use crate::launch;
use crate::machine::memory;
use crate::show;
pub use meter::{Meter, Steps};
use report::Report;
use target::Target;

/// Carries out `finespun run`.
///
/// # Errors
///
/// A [`Failure`]. Errors in the command line are reported before any work is done.
pub fn run(run: Run) -> Result<(), Failure> {
    let options = run.options;
    check(&options)?;
    let over_processes = options.simulation.fabric == Some(Fabric::Processes);
    if !over_processes {
        launch::one_process()?;
    }
    let app = run.app.open()?;
    if over_processes && launch::follows() {
        // Serves the first process.
        executor(&options, None)?;
    }
    interrupt::install();
    let plot = options.plot.as_deref().map(|path| plot(app.as_ref(), path)).transpose()?;
    let files = app.files().into_iter().map(|(option, path)| Target::open(option, path));
    let files = files.collect::<Result<Vec<_>, _>>()?;
    enough_memory(app.as_ref())?;
    let machine = options.simulation.machines(&["cluster"])?.pop();
    let mut trace = options.trace.as_deref().map(|path| trace_to(path, machine.is_some())).transpose()?;
    let machine = machine.map(|machine| if trace.is_some() { machine.traces(TRACED) } else { machine });
    let start = Instant::now();
    let executor = executor(&options, machine.as_ref())?;
    let runs = repeat(app.as_ref(), &executor, options.repeat);
    // Also of a run that failed: the trace may say why.
    if let (Some(target), Executor::Tasks(runtime)) = (trace.take(), &executor) {
        write_trace(target, runtime)?;
    }
    let runs = runs?;
    let simulated = machine.as_ref().map(|machine| (machine, start.elapsed()));
    let report = Report::new(app.as_ref(), &executor, &options, &runs, simulated);
    // The picture is written even if the reader of the output has gone, and the answer is printed even if the disk is
    // full.
    let printed = show::print(&if options.json { report.json() } else { report.text() });
    if let (Some(target), Some(histogram)) = (plot, report.histogram()) {
        target.write(show::bars(histogram)?)?;
    }
    for (target, content) in files.into_iter().zip(report.files()) {
        target.write(content)?;
    }
    printed
}

/// Checks for options that exclude each other. The parser does not see all conflicts: options may be before or behind
/// the application.
fn check(options: &RunOptions) -> Result<(), Failure> {
    let with_plain = [
        ("--fabric", options.simulation.fabric.is_some()),
        ("--workers", options.workers.is_some()),
        ("--nodes", options.nodes.is_some()),
        ("--transport", options.transport.is_some()),
        ("--encode", options.encode),
        ("--overhead", options.overhead.is_some()),
        ("--schema", options.schema.is_some()),
        ("--policy", options.policy.is_some()),
        ("--stats", options.stats),
        ("--trace", options.trace.is_some()),
        ("--block-every", options.block_every > 0),
    ];
    if let Some((option, _)) = with_plain.into_iter().find(|(_, given)| options.plain && *given) {
        return Err(Failure::Usage(format!(
            "{option} does not go together with --plain, which runs without tasks: give one or the other"
        )));
    }
    if let Some(workers) =
        options.workers.filter(|&workers| workers > 1024 && options.simulation.fabric != Some(Fabric::Sim))
    {
        return Err(Failure::Usage(format!(
            "--workers {workers}: a runtime has between 1 and 1024 workers, or 65536 on a simulated machine (--fabric sim)"
        )));
    }
    if options.schema.is_some() && options.block_every > 0 {
        return Err(Failure::Usage(
            "--schema does not go together with --block-every, which says what becomes of each call: give one or the other"
                .to_owned(),
        ));
    }
    Ok(())
}

/// The most activities in a file of --trace.
pub const TRACED: usize = 500_000;

/// Opens the file for the trace.
fn trace_to(path: &std::path::Path, simulated: bool) -> Result<Target, Failure> {
    if !simulated {
        return Err(Failure::Usage("--trace needs a simulated machine: add --fabric sim".to_owned()));
    }
    Target::open("--trace", path)
}

/// Writes what a simulated machine has recorded.
///
/// # Errors
///
/// [`Failure::File`] with the system's reason.
pub fn write_trace(target: Target, runtime: &Runtime) -> Result<(), Failure> {
    let trace = runtime.trace().unwrap_or_default();
    let mut json = Vec::new();
    trace.write_json(&mut json).expect("memory takes everything");
    if trace.omitted > 0 {
        let (kept, omitted) = (show::thousands(trace.spans.len() as u64), show::thousands(trace.omitted));
        show::note(&format!("--trace: the first {kept} activities; {omitted} later ones are left out"));
    }
    target.write(json)
}

/// Opens the file for the histogram, if the answer will have one.
fn plot(app: &dyn App, path: &std::path::Path) -> Result<Target, Failure> {
    app.histogram().map_err(|reason| Failure::Usage(format!("--plot {}: {reason}", path.display())))?;
    Target::open("--plot", path)
}

/// Refuses a problem that exceeds the memory: the system would kill the process in the midst of the run, without a
/// message.
pub fn enough_memory(app: &dyn App) -> Result<(), Failure> {
    let needed = app.memory();
    match memory::available() {
        Some(available) if needed > available => Err(Failure::Usage(format!(
            "{} of this size needs {} of memory, and {} are free: give a smaller number",
            app.name(),
            memory::show(needed),
            memory::show(available)
        ))),
        _ => Ok(()),
    }
}

fn executor(options: &RunOptions, machine: Option<&Machine>) -> Result<Executor, Failure> {
    if options.plain {
        return Ok(Executor::Plain);
    }
    let mut builder = Runtime::builder().block_every(options.block_every).encode(options.encode);
    if let Some(machine) = machine {
        builder = builder.fabric(finespun::runtime::Fabric::Simulated(machine.clone()));
    }
    if options.simulation.fabric == Some(Fabric::Processes) {
        builder = builder.fabric(finespun::runtime::Fabric::Processes);
    }
    if let Some(workers) = options.workers {
        builder = builder.workers(workers);
    }
    if let Some(nodes) = options.nodes {
        builder = builder.nodes(nodes);
    }
    if let Some(transport) = options.transport {
        builder = builder.transport(transport.into());
    }
    if let Some(overhead) = options.overhead {
        builder = builder.overhead(Duration::from_micros(overhead));
    }
    if let Some(policy) = options.policy {
        builder = builder.policy(policy.into());
    }
    if let Some(schema) = options.schema {
        builder = builder.schema(schema.into());
    }
    match builder.build() {
        Err(Error::DyingNode { node, nodes }) => {
            Err(Failure::Usage(format!("--node-dies {node}@..: the machine has {nodes} nodes, numbered from 0")))
        }
        Err(error @ (Error::Workers { .. } | Error::SharedMemory { .. })) => {
            Err(Failure::Usage(format!("the runtime could not be started: {error}")))
        }
        built => Ok(Executor::Tasks(built?)),
    }
}

/// Runs `app` `times` times. Fails if the answers differ.
fn repeat(app: &dyn App, executor: &Executor, times: usize) -> Result<Vec<Timed<Answer>>, Failure> {
    let mut runs: Vec<Timed<Answer>> = Vec::with_capacity(times);
    for _ in 0..times {
        let run = once(app, executor)?;
        if let Some(first) = runs.first() {
            agree(app, &first.value, &run.value)?;
        }
        runs.push(run);
    }
    Ok(runs)
}

/// Runs `app` once, with a progress bar if the standard error is a terminal.
fn once(app: &dyn App, executor: &Executor) -> Result<Timed<Answer>, Failure> {
    let progress = Arc::new(Progress::new());
    let _meter = Meter::watch(app.name(), Arc::clone(&progress));
    app.run(executor, &progress).map_err(|source| Failure::Run { app: app.name(), source })
}

/// Checks that two answers to the same question agree.
///
/// # Errors
///
/// [`Failure::Disagreement`] with both answers.
pub fn agree(app: &dyn App, first: &Answer, second: &Answer) -> Result<(), Failure> {
    if first.agrees(second) {
        return Ok(());
    }
    Err(Failure::Disagreement {
        app: app.name(),
        first: first.to_json().to_string(),
        second: second.to_json().to_string(),
    })
}
