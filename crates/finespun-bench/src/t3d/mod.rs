//! The concert paper's machine, simulated: its tables 2, 4 and 5, and its figures 10 to 13, beside the paper's own
//! numbers.
//!
//! - `messages`: source, destination and one-way latency by size, without contention (tables 2 and 5)
//! - `patterns`: source by traffic pattern (figure 10)
//! - `calls`: calls and fallbacks by schema (table 4)
//! - `microkernel`: threads that gather and compute (figures 11 to 13): the bench `microkernel`
//!
//! The tables are part of the machine's description. That the simulated machine has them shows that the runtime's
//! messages, frames and fallbacks are charged as described, and no others are. The figures are not described: they
//! follow.

mod calls;
mod messages;
mod patterns;

use std::time::Duration;

use finespun::prelude::*;
use finespun::runtime::{Fabric, Schema, Transport};
use finespun::simulation::Machine;
use finespun_lab::args::BenchOptions;
use finespun_lab::args::simulation;
use finespun_lab::failure::Failure;
use finespun_lab::show;

use super::microkernel::Microkernel;
use super::report::Report;
use super::sections::{self, Sections};
use super::{Bench, Extra, wanted};

/// The name of the bench, for errors.
const NAME: &str = "t3d";

/// The section that is a bench of its own.
const MICROKERNEL: &str = "microkernel";

const SECTIONS: &Sections<Config> =
    &[("messages", messages::measure), ("patterns", patterns::measure), ("calls", calls::measure)];

/// The paper's transports by name.
const TRANSPORTS: [(&str, Transport); 2] = [("push", Transport::Push), ("pull", Transport::Pull)];

/// The settings of a measurement.
struct Config {
    machine: Machine,
    quick: bool,
}

impl Config {
    /// Starts a runtime on the machine, with one processor for each node.
    fn runtime(&self, nodes: usize, transport: Transport, schema: Schema) -> Result<Runtime, Failure> {
        let machine = Fabric::Simulated(self.machine.clone());
        Ok(Runtime::builder().nodes(nodes).fabric(machine).transport(transport).schema(schema).build()?)
    }
}

/// Runs a task; returns its value and the virtual time that it took.
fn run<T: Task + Send>(runtime: &Runtime, task: T) -> Result<(T::Output, Duration), Failure>
where
    T::Output: Send,
{
    let value = runtime.try_run(task).map_err(|source| Failure::Run { app: NAME, source })?;
    Ok((value, runtime.simulated().map_or(Duration::ZERO, |simulated| simulated.last_run)))
}

/// Returns a time in microseconds.
fn microseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

/// Formats microseconds.
fn us(time: f64) -> String {
    format!("{time:.2}")
}

/// Formats the paper's figure, if there is one.
fn theirs(figure: Option<f64>) -> String {
    figure.map_or_else(|| "-".to_owned(), |figure| figure.to_string())
}

/// The receiver of messages.
#[derive(Default)]
struct Site {
    received: u64,
}

#[object]
impl Site {
    fn take(&mut self, payload: Vec<u8>) {
        self.received += u64::from(!payload.is_empty());
    }

    fn received(&self) -> u64 {
        self.received
    }
}

/// Creates a receiver on each node.
#[task]
async fn sites() -> Vec<Ref<Site>> {
    let sites: Array<Site> = Array::create(nodes(), |node| node, |_, &()| Site::default(), ()).await;
    (0..nodes()).map(|node| sites.get(node)).collect()
}

/// The `t3d` bench.
#[derive(Debug)]
pub struct T3d;

impl Bench for T3d {
    fn rows(&self) -> Vec<String> {
        sections::names(SECTIONS).into_iter().chain([MICROKERNEL.to_owned()]).collect()
    }

    fn simulated_rows(&self) -> Vec<String> {
        self.rows()
    }

    fn check(&self, extra: &Extra) -> Result<(), Failure> {
        extra.simulation.require(NAME)?;
        Microkernel.check(extra)
    }

    fn run(&self, options: &BenchOptions, extra: &Extra, report: &mut Report) -> Result<(), Failure> {
        let machine = extra.simulation.simulated(&[NAME])?.remove(0);
        report.say(&format!("On a simulated {machine}; virtual times, which do not vary\n\n"))?;
        sections::measure(SECTIONS, options, &Config { machine, quick: options.quick }, report)?;
        let mut pictures: Vec<String> = report.plot.take().into_iter().collect();
        if wanted(options, MICROKERNEL) {
            let mut extra = extra.clone();
            extra.simulation.fabric = Some(simulation::Fabric::Sim);
            let options = BenchOptions { only: Vec::new(), ..options.clone() };
            Microkernel.run(&options, &extra, report)?;
            pictures.extend(report.plot.take());
        }
        report.plot = (!pictures.is_empty()).then(|| show::stack(&pictures));
        Ok(())
    }
}
