//! The options that choose a simulated machine.

use std::time::Duration;

use finespun::simulation::Machine;

use super::values::{number, real};
use crate::failure::Failure;

/// The fabrics by name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum Fabric {
    /// Threads of this process (the default)
    Threads,
    /// Threads of all processes that mpirun or srun has started: `mpirun -n 4 finespun run ..`; --workers is
    /// for each process
    Processes,
    /// The processors of a simulated machine, all on one thread, in virtual time
    Sim,
}

/// The choice of a simulated machine.
#[derive(Clone, Debug, Default, clap::Args)]
pub struct Simulation {
    /// The workers: threads of this process, or of several, or processors of a simulated machine
    #[arg(long, global = true, value_enum)]
    pub fabric: Option<Fabric>,
    /// The simulated machine: t3d, cm5, manna, cluster, ethernet, or a file with a description [default: cluster; of a
    /// bench, the machines of its paper]
    #[arg(long, global = true, value_name = "NAME|FILE")]
    pub machine: Option<String>,
    /// The number that decides what a simulated machine leaves to chance [default: 0]
    #[arg(long, global = true, value_name = "N", allow_hyphen_values = true, value_parser = number(0..=u64::MAX))]
    pub sim_seed: Option<u64>,
    /// A node of the simulated machine that dies, and after how many microseconds, for example 3@1500
    #[arg(long, global = true, value_name = "NODE@US", allow_hyphen_values = true, value_parser = death)]
    pub node_dies: Option<(usize, u64)>,
    /// Charge the simulated processors also for the time that their code takes on this computer, times FACTOR: for programs
    /// that do not charge their computations. The run is then not repeatable
    #[arg(long, global = true, value_name = "FACTOR", allow_hyphen_values = true, value_parser = real("it takes a number from 0 to 1e6", |factor| (0.0..=1e6).contains(&factor)))]
    pub host_time: Option<f64>,
}

/// Parses `NODE@US`.
fn death(text: &str) -> Result<(usize, u64), String> {
    let parsed = text.split_once('@').and_then(|(node, us)| Some((node.parse().ok()?, us.parse().ok()?)));
    parsed.ok_or_else(|| "it takes the number of a node and a time in microseconds, for example 3@1500".to_owned())
}

impl Simulation {
    /// Returns the machines that are simulated: the one that is named, or else the `default` ones; none without
    /// `--fabric sim`.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if a machine is named without `--fabric sim`, or its description cannot be used.
    pub fn machines(&self, default: &[&str]) -> Result<Vec<Machine>, Failure> {
        if !self.simulates() {
            return match self.given().find(|option| *option != "--fabric") {
                Some(option) => Err(Failure::Usage(format!("{option} needs a simulated machine: add --fabric sim"))),
                None => Ok(Vec::new()),
            };
        }
        self.simulated(default)
    }

    /// Refuses several processes.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] with `--fabric processes`.
    pub fn one_process(&self, what: &str) -> Result<(), Failure> {
        if self.fabric == Some(Fabric::Processes) {
            return Err(Failure::Usage(format!("--fabric processes: {what} runs in one process")));
        }
        Ok(())
    }

    /// Returns whether a simulated machine is asked for.
    pub fn simulates(&self) -> bool {
        self.fabric == Some(Fabric::Sim)
    }

    /// Returns the machines to simulate, in any case: the one that is named, or else the `default` ones.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] if a description cannot be used.
    pub fn simulated(&self, default: &[&str]) -> Result<Vec<Machine>, Failure> {
        let named = self.machine.as_deref().map(|name| vec![name]);
        named.as_deref().unwrap_or(default).iter().map(|name| self.open(name)).collect()
    }

    /// Checks the options of a `bench` that always simulates a machine.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] with `--fabric threads`.
    pub fn require(&self, bench: &str) -> Result<(), Failure> {
        match self.fabric {
            Some(Fabric::Threads) => {
                Err(Failure::Usage(format!("--fabric threads: {bench} runs on simulated machines")))
            }
            Some(Fabric::Processes | Fabric::Sim) | None => Ok(()),
        }
    }

    /// Returns the names of the options that are given.
    pub fn given(&self) -> impl Iterator<Item = &'static str> {
        let options = [
            ("--fabric", self.fabric.is_some()),
            ("--machine", self.machine.is_some()),
            ("--sim-seed", self.sim_seed.is_some()),
            ("--node-dies", self.node_dies.is_some()),
            ("--host-time", self.host_time.is_some()),
        ];
        options.into_iter().filter(|(_, given)| *given).map(|(option, _)| option)
    }

    fn open(&self, name: &str) -> Result<Machine, Failure> {
        let machine = if name.contains(['.', '/']) {
            let text = std::fs::read_to_string(name)
                .map_err(|error| Failure::Usage(format!("--machine {name}: the file cannot be read: {error}")))?;
            Machine::parse(&text)
        } else {
            Machine::named(name)
        };
        let machine = machine.map_err(|error| Failure::Usage(format!("--machine {name}: {error}")))?;
        let machine = machine.seed(self.sim_seed.unwrap_or(0)).host_time(self.host_time.unwrap_or(0.0));
        Ok(match self.node_dies {
            Some((node, us)) => machine.dies(node, Duration::from_micros(us)),
            None => machine,
        })
    }
}
