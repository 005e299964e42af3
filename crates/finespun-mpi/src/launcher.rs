//! The launcher that started this process, by the variables that it sets.
//!
//! The variables alone say it, so that a program built without MPI, or with the other MPI, can tell its user: under the
//! wrong `mpirun`, MPI starts N programs of one process each, and reports no error.

use std::fmt;

/// A launcher of processes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Launcher {
    /// `mpirun` of Open MPI.
    OpenMpi,
    /// `mpirun` of MPICH and its relatives: Hydra.
    Hydra,
    /// `srun` of Slurm.
    Slurm,
    /// A script or program that has set `FINESPUN_RANK`, `FINESPUN_SIZE` and `FINESPUN_JOB`.
    Told,
}

impl fmt::Display for Launcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Launcher::OpenMpi => "mpirun of Open MPI",
            Launcher::Hydra => "mpirun of MPICH",
            Launcher::Slurm => "srun",
            Launcher::Told => "a program that has set FINESPUN_RANK",
        })
    }
}

/// The place of this process among those that its launcher has started.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Launched {
    /// The launcher.
    pub by: Launcher,
    /// The number of this process, from 0.
    pub rank: usize,
    /// The number of processes.
    pub size: usize,
}

/// The launchers, with the variables that hold the rank and the size, in the order in which they are tried.
const VARIABLES: [(Launcher, &str, &str); 4] = [
    (Launcher::Told, "FINESPUN_RANK", "FINESPUN_SIZE"),
    (Launcher::OpenMpi, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE"),
    // A script that `sbatch` has started has no rank in a step.
    (Launcher::Slurm, "SLURM_PROCID", "SLURM_STEP_NUM_TASKS"),
    (Launcher::Hydra, "PMI_RANK", "PMI_SIZE"),
];

/// Returns the place of this process, if a launcher has started it.
pub fn launched() -> Option<Launched> {
    launched_by(|name| std::env::var(name).ok())
}

fn launched_by(variable: impl Fn(&str) -> Option<String>) -> Option<Launched> {
    let [told, open, slurm, hydra] = VARIABLES.map(|(by, rank, size)| {
        let number = |name| variable(name)?.parse().ok();
        let (rank, size) = (number(rank)?, number(size)?);
        (rank < size).then_some(Launched { by, rank, size })
    });
    // `srun` may set the variables of Hydra, too. But if they differ, Hydra has been started in a job of Slurm, and used
    // `srun` to start its helpers.
    let same = |one: Launched, other: Launched| (one.rank, one.size) == (other.rank, other.size);
    let slurm = slurm.filter(|&slurm| hydra.is_none_or(|hydra| same(slurm, hydra)));
    told.or(open).or(slurm).or(hydra)
}

/// Returns a name that all processes of this launch have, and no other processes on this host. `None` without a launcher,
/// or if it cannot be found.
pub fn job() -> Option<String> {
    let variable = |name| std::env::var(name).ok();
    match launched()?.by {
        Launcher::Told => variable("FINESPUN_JOB"),
        Launcher::OpenMpi => variable("PMIX_NAMESPACE").or_else(|| variable("OMPI_MCA_ess_base_jobid")),
        Launcher::Slurm => Some(format!("{}.{}", variable("SLURM_JOB_ID")?, variable("SLURM_STEP_ID")?)),
        Launcher::Hydra => first_above("PMI_RANK").map(|process| process.to_string()),
    }
}

/// Returns the number of processes that the launcher has started on this host, if it says so.
pub fn on_this_host() -> Option<usize> {
    on_this_host_by(|name| std::env::var(name).ok())
}

fn on_this_host_by(variable: impl Fn(&str) -> Option<String>) -> Option<usize> {
    let name = match launched_by(&variable)?.by {
        Launcher::Told => return None,
        Launcher::Slurm => {
            let host = variable("SLURM_NODEID")?.parse().ok()?;
            return of_list(&variable("SLURM_STEP_TASKS_PER_NODE")?, host);
        }
        Launcher::OpenMpi => "OMPI_COMM_WORLD_LOCAL_SIZE",
        Launcher::Hydra => "MPI_LOCALNRANKS",
    };
    variable(name)?.parse().ok()
}

/// Returns an element of a list of Slurm: `3,2(x4)` has five.
fn of_list(list: &str, at: usize) -> Option<usize> {
    let mut end = 0;
    for run in list.split(',') {
        let (number, times) = run.split_once("(x").unwrap_or((run, "1"));
        end += times.trim_end_matches(')').parse::<usize>().ok()?;
        if at < end {
            return number.parse().ok();
        }
    }
    None
}

/// Returns the nearest ancestor that was started without a variable: the launcher's helper, above any script.
fn first_above(variable: &str) -> Option<u32> {
    let name = format!("{variable}=");
    let mut process = std::process::id();
    loop {
        let status = std::fs::read_to_string(format!("/proc/{process}/status")).ok()?;
        process = status.lines().find_map(|line| line.strip_prefix("PPid:"))?.trim().parse().ok()?;
        // Another user's process cannot be read: the launcher's, then.
        let environment = std::fs::read(format!("/proc/{process}/environ")).unwrap_or_default();
        if !environment.split(|byte| *byte == 0).any(|entry| entry.starts_with(name.as_bytes())) {
            return Some(process);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(variables: &[(&str, &str)]) -> Option<Launched> {
        launched_by(|name| variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned()))
    }

    #[test]
    fn a_process_finds_its_launcher() {
        assert_eq!(with(&[]), None);
        let launched = |by, rank, size| Some(Launched { by, rank, size });
        let open = [("OMPI_COMM_WORLD_RANK", "3"), ("OMPI_COMM_WORLD_SIZE", "4")];
        assert_eq!(with(&open), launched(Launcher::OpenMpi, 3, 4));
        assert_eq!(with(&[("PMI_RANK", "0"), ("PMI_SIZE", "2")]), launched(Launcher::Hydra, 0, 2));
        let step = [("SLURM_PROCID", "1"), ("SLURM_STEP_NUM_TASKS", "8"), ("PMI_RANK", "1"), ("PMI_SIZE", "8")];
        assert_eq!(with(&step), launched(Launcher::Slurm, 1, 8));
        // Hydra in a job of Slurm: the helper was started by `srun`.
        let helper = [("SLURM_PROCID", "0"), ("SLURM_STEP_NUM_TASKS", "1"), ("PMI_RANK", "3"), ("PMI_SIZE", "8")];
        assert_eq!(with(&helper), launched(Launcher::Hydra, 3, 8));
        let told = [("FINESPUN_RANK", "1"), ("FINESPUN_SIZE", "3"), ("PMI_RANK", "0"), ("PMI_SIZE", "1")];
        assert_eq!(with(&told), launched(Launcher::Told, 1, 3));
        // In the script of a job, outside a step.
        assert_eq!(with(&[("SLURM_PROCID", "0"), ("SLURM_NTASKS", "8")]), None);
    }

    #[test]
    fn a_process_learns_how_many_are_on_its_host() {
        let here = |variables: &[(&str, &str)]| {
            on_this_host_by(|name| {
                variables.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(here(&[("PMI_RANK", "0"), ("PMI_SIZE", "4"), ("MPI_LOCALNRANKS", "2")]), Some(2));
        let slurm = |list, host| {
            let step = [("SLURM_PROCID", "1"), ("SLURM_STEP_NUM_TASKS", "11")];
            here(&[step[0], step[1], ("SLURM_STEP_TASKS_PER_NODE", list), ("SLURM_NODEID", host)])
        };
        assert_eq!(slurm("3,2(x4)", "0"), Some(3));
        assert_eq!(slurm("3,2(x4)", "4"), Some(2));
        assert_eq!(slurm("3,2(x4)", "5"), None);
        assert_eq!(slurm("11", "0"), Some(11));
        assert_eq!(slurm("", "0"), None);
        assert_eq!(slurm("x,3", "0"), None);
    }

    #[test]
    fn variables_that_make_no_sense_are_ignored() {
        assert_eq!(with(&[("PMI_RANK", "2"), ("PMI_SIZE", "2")]), None);
        assert_eq!(with(&[("PMI_RANK", "one"), ("PMI_SIZE", "2")]), None);
        assert_eq!(with(&[("OMPI_COMM_WORLD_RANK", "0")]), None);
    }
}
