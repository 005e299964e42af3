//! The measuring side: runs this command again under callgrind.

use std::collections::HashMap;
use std::env;
use std::io;
use std::process::{Command, ExitStatus, Stdio};

use super::{Count, Program};
use finespun_lab::machine::tools;

/// The reason why counting failed.
#[derive(Debug, thiserror::Error)]
pub enum ChildError {
    /// valgrind is not installed.
    #[error("instructions cannot be counted without valgrind: install it, for example by `apt-get install valgrind`")]
    NoValgrind,
    /// valgrind could not be started.
    #[error("valgrind could not be started to count {program}: {source}")]
    Start {
        /// The program to count.
        program: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// valgrind delivered no count.
    #[error("{program} under valgrind ended with {status} and no count; the last line of its standard error: {last}")]
    NoCount {
        /// The program to count.
        program: &'static str,
        /// valgrind's exit status.
        status: ExitStatus,
        /// The last line on valgrind's standard error.
        last: String,
    },
}

/// Counts programs, and caches each count.
#[derive(Debug, Default)]
pub struct Callgrind {
    known: HashMap<&'static str, f64>,
}

impl Callgrind {
    /// Creates a counter with an empty cache.
    ///
    /// # Errors
    ///
    /// [`ChildError::NoValgrind`], whose text names the cure.
    pub fn new() -> Result<Self, ChildError> {
        tools::find("valgrind").map(|_| Callgrind::default()).ok_or(ChildError::NoValgrind)
    }

    /// Returns the instructions per call of `program`, rounded to a tenth. Smaller differences only show the order in
    /// which the threads of a runtime happen to start.
    ///
    /// # Errors
    ///
    /// If valgrind delivers no count.
    pub fn per_call(&mut self, program: &Program) -> Result<f64, ChildError> {
        if let Some(&count) = self.known.get(program.name) {
            return Ok(count);
        }
        let (small, large) = program.sizes;
        let instructions = total(program, large)? as f64 - total(program, small)? as f64;
        let calls = (program.calls)(large) - (program.calls)(small);
        let count = (instructions / calls as f64 * 10.0).round() / 10.0;
        self.known.insert(program.name, count);
        Ok(count)
    }
}

/// Returns all instructions of a process that runs `program` once, or only those inside the function that `program` is
/// restricted to.
fn total(program: &Program, size: u64) -> Result<u64, ChildError> {
    let start = |source| ChildError::Start { program: program.name, source };
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]);
    if let Some(function) = program.within {
        command.arg(format!("--toggle-collect=*{function}*"));
    }
    command.arg(env::current_exe().map_err(start)?).args(Count::line(program, size));
    let output = command.stdin(Stdio::null()).output().map_err(start)?;
    let report = String::from_utf8_lossy(&output.stderr);
    collected(&report).filter(|_| output.status.success()).ok_or_else(|| ChildError::NoCount {
        program: program.name,
        status: output.status,
        last: report.lines().last().unwrap_or_default().to_owned(),
    })
}

/// Returns the number in callgrind's line `==123== Collected : 456`.
fn collected(report: &str) -> Option<u64> {
    report.lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::collected;

    #[test]
    fn the_total_is_read_from_callgrinds_report() {
        assert_eq!(collected("==7== Events    : Ir\n==7== Collected : 1234\n"), Some(1234));
        assert_eq!(collected("==7== Events    : Ir\n"), None);
    }
}
