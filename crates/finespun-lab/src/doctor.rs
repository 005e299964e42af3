//! `finespun doctor`: the machine's resources and tools, and the cure for missing ones.

use std::fmt;
use std::path::PathBuf;

use finespun_mpi::launcher::{Launched, launched};

use crate::failure::Failure;
use crate::machine::{cgroup, cores, memory, read, stack_limit, tools};
use crate::show;

/// Carries out `finespun doctor`. Missing things are reported, but are not an error.
///
/// # Errors
///
/// If the standard output cannot be written.
pub fn doctor() -> Result<(), Failure> {
    let findings = findings();
    let missing = findings.iter().filter(|finding| finding.state == State::Missing).count();
    let mut text: String = findings.iter().map(|finding| format!("{finding}\n")).collect();
    text += &match missing {
        0 => "nothing is missing\n".to_owned(),
        1 => "1 thing is missing\n".to_owned(),
        n => format!("{n} things are missing\n"),
    };
    show::print(&text)
}

/// The state of a resource or tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Ok,
    /// It works, but less well than it could.
    Note,
    Missing,
}

/// One line of the report.
#[derive(Clone, Debug)]
struct Finding {
    state: State,
    what: &'static str,
    detail: String,
    /// The remedy, if one is needed.
    cure: Option<String>,
}

impl Finding {
    fn ok(what: &'static str, detail: impl Into<String>) -> Self {
        Finding { state: State::Ok, what, detail: detail.into(), cure: None }
    }

    fn note(what: &'static str, detail: impl Into<String>, cure: impl Into<String>) -> Self {
        Finding { state: State::Note, what, detail: detail.into(), cure: Some(cure.into()) }
    }

    fn missing(what: &'static str, detail: impl Into<String>, cure: impl Into<String>) -> Self {
        Finding { state: State::Missing, what, detail: detail.into(), cure: Some(cure.into()) }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match self.state {
            State::Ok => "ok",
            State::Note => "note",
            State::Missing => "missing",
        };
        write!(f, "{state:<8} {:<16} {}", self.what, self.detail)?;
        match &self.cure {
            Some(cure) => write!(f, "; cure: {cure}"),
            None => Ok(()),
        }
    }
}

fn findings() -> Vec<Finding> {
    let online = cores::online(&read);
    vec![
        seen(online),
        affinity(online),
        quota(online),
        workers(online),
        load(online),
        memory_line(),
        stack(stack_limit(&read)),
        pinning(cores::pinning()),
        tool("valgrind", "counts instructions for `bench overheads`", "apt-get install valgrind"),
        tool("gcc", "builds the C programs that `bench overheads` compares with", "apt-get install gcc"),
        mpi(tools::find("mpicc"), launched()),
    ]
}

fn seen(online: Option<usize>) -> Finding {
    let model = cores::model(&read).map_or_else(String::new, |model| format!(", {model}"));
    match online {
        Some(online) => Finding::ok("cores", format!("{online} seen{model}")),
        None => Finding::missing("cores", "the system does not tell how many", "give --workers by hand"),
    }
}

fn affinity(online: Option<usize>) -> Finding {
    let Some(allowed) = cores::allowed(&read) else {
        return Finding::missing(
            "affinity",
            "the system does not tell which cores may be used",
            "give --workers by hand",
        );
    };
    match (cores::count(&allowed), online) {
        (Some(count), Some(online)) if count < online => Finding::note(
            "affinity",
            format!("only cores {allowed}, {count} of {online}"),
            "start without taskset, or ask the administrator for more cores",
        ),
        _ => Finding::ok("affinity", format!("all cores: {allowed}")),
    }
}

fn quota(online: Option<usize>) -> Finding {
    match cgroup::cpu_quota(&read) {
        None => Finding::ok("quota", "no control group limits the processor time"),
        Some(quota) if online.is_some_and(|online| quota.cores >= online as f64) => {
            Finding::ok("quota", format!("{:.2} cores by {}, which is all", quota.cores, quota.file))
        }
        Some(quota) => Finding::note(
            "quota",
            format!("{:.2} cores by {}", quota.cores, quota.file),
            "raise the container's processor limit (`--cpus`, or the group's cpu.max)",
        ),
    }
}

fn workers(online: Option<usize>) -> Finding {
    let workers = cores::default_workers();
    match online {
        Some(online) if workers < online => Finding::note(
            "workers",
            format!("{workers} by default, fewer than the {online} cores because of affinity or quota"),
            "see the two lines above",
        ),
        _ => Finding::ok("workers", format!("{workers} by default")),
    }
}

fn load(online: Option<usize>) -> Finding {
    let cores = online.unwrap_or(1) as f64;
    match cores::load(&read) {
        Some(load) if load > cores * 0.3 => Finding::note(
            "load",
            format!("{load:.2} threads ran on average in the last minute"),
            "wait until the machine is quiet before you measure",
        ),
        Some(load) => Finding::ok("load", format!("{load:.2} threads ran on average in the last minute")),
        None => Finding::note("load", "unknown", "see to it that nothing else runs when you measure"),
    }
}

fn memory_line() -> Finding {
    match memory::available() {
        Some(bytes) => Finding::ok("memory", format!("{} free", memory::show(bytes))),
        None => Finding::note(
            "memory",
            "the system does not tell how much is free",
            "mind the sizes of qsort, list and matmul",
        ),
    }
}

fn stack(limit: Option<u64>) -> Finding {
    const ENOUGH: u64 = 8 << 20;
    let cure = "ulimit -s 8192 (the plain versions recurse on this stack; workers have their own)";
    match limit {
        Some(u64::MAX) => Finding::ok("stack", "no limit (ulimit -s)"),
        Some(bytes) if bytes >= ENOUGH => Finding::ok("stack", format!("{} (ulimit -s)", memory::show(bytes))),
        Some(bytes) => Finding::note("stack", format!("{} (ulimit -s)", memory::show(bytes)), cure),
        None => Finding::note("stack", "limit unknown", cure),
    }
}

fn pinning(works: Option<bool>) -> Finding {
    match works {
        Some(true) => Finding::ok("pinning", "a thread can bind itself to each core"),
        Some(false) => Finding::missing(
            "pinning",
            "the system refuses to bind a thread to a core",
            "allow sched_setaffinity in the container's seccomp profile",
        ),
        None => Finding::missing(
            "pinning",
            "the cores cannot be listed",
            "allow sched_getaffinity in the container's seccomp profile",
        ),
    }
}

/// MPI, which only processes on several hosts need.
fn mpi(wrapper: Option<PathBuf>, launched: Option<Launched>) -> Finding {
    if let Some(Launched { by, rank, size: size @ 2.. }) = launched {
        let detail = format!("process {rank} of {size} that {by} has started");
        return Finding::note("mpi", detail, "start finespun without it: a run uses one process");
    }
    match wrapper {
        Some(path) => Finding::ok("mpi", format!("{} (builds the feature mpi, for several hosts)", path.display())),
        None => Finding::note(
            "mpi",
            "no mpicc on the search path (builds the feature mpi, for several hosts)",
            "apt-get install libmpich-dev mpich, or libopenmpi-dev openmpi-bin, if processes are to be on several hosts",
        ),
    }
}

fn tool(name: &'static str, use_for: &str, cure: &str) -> Finding {
    match tools::find(name) {
        Some(path) => Finding::ok(name, format!("{} ({use_for})", path.display())),
        None => Finding::missing(name, format!("not on the search path ({use_for})"), cure),
    }
}

#[cfg(test)]
mod tests {
    use finespun_mpi::launcher::{Launched, Launcher};

    use super::{State, findings, mpi, pinning, stack, tool};

    #[test]
    fn everything_missing_has_a_cure() {
        let absent = tool("no-such-program-anywhere", "tests", "apt-get install it");
        assert_eq!(
            absent.to_string(),
            "missing  no-such-program-anywhere not on the search path (tests); cure: apt-get install it"
        );
        let one_of_many = Some(Launched { by: Launcher::Hydra, rank: 1, size: 4 });
        let absent = [
            absent,
            stack(Some(1 << 20)),
            pinning(Some(false)),
            pinning(None),
            mpi(None, None),
            mpi(None, one_of_many),
        ];
        for finding in findings().into_iter().chain(absent) {
            assert_eq!(finding.state == State::Ok, finding.cure.is_none(), "{finding}");
        }
    }
}
