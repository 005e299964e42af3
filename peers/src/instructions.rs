//! Instructions per call of fib, counted by valgrind's callgrind.
//!
//! A count does not depend on how busy the machine is. It is the difference of two runs
//! of different size, at one worker, so that start-up and shut-down cancel out.

use std::env;
use std::num::NonZero;
use std::process::{Command, Stdio};

use serde::Serialize;

use crate::error::Error;
use crate::matrix::{child, last_line};
use crate::one::Cell;
use crate::problem::{Problem, fib_calls};
use crate::runtime::Runtime;

/// The two arguments of `fib`.
const SMALL: u64 = 20;
const LARGE: u64 = 25;

/// The count for one runtime.
#[derive(Serialize)]
pub struct Count {
    /// The runtime.
    pub runtime: Runtime,
    /// Instructions per call of fib.
    pub per_call: f64,
}

/// Returns whether valgrind can be run here.
pub fn is_available() -> bool {
    let mut valgrind = Command::new("valgrind");
    valgrind.arg("--version");
    valgrind.stdout(Stdio::null()).stderr(Stdio::null());
    valgrind.status().is_ok_and(|status| status.success())
}

/// Counts for every runtime; prints one line each to standard error.
pub fn count(runtimes: &[Runtime]) -> Result<Vec<Count>, Error> {
    let mut counts = Vec::new();
    for &runtime in runtimes.iter().filter(|runtime| runtime.has(Problem::Fib)) {
        eprintln!("instructions: {runtime}");
        let difference = total(runtime, LARGE)?.saturating_sub(total(runtime, SMALL)?);
        let calls = fib_calls(LARGE) - fib_calls(SMALL);
        counts.push(Count { runtime, per_call: difference as f64 / calls as f64 });
    }
    Ok(counts)
}

/// Returns the number of instructions of a process that computes `fib(n)` once.
fn total(runtime: Runtime, n: u64) -> Result<u64, Error> {
    let cell = Cell { problem: Problem::Fib, runtime, workers: NonZero::<usize>::MIN };
    let mut command = Command::new("valgrind");
    command.args(["--tool=callgrind", "--callgrind-out-file=/dev/null"]).arg(env::current_exe().map_err(Error::Child)?);
    let output = child(&mut command, cell).args(["--fib", &n.to_string()]).output().map_err(Error::Child)?;
    collected(&output.stderr).filter(|_| output.status.success()).ok_or_else(|| Error::Failed {
        cell,
        status: output.status,
        message: last_line(&output.stderr),
    })
}

/// Returns the number in callgrind's line `==123== Collected : 456`.
pub fn collected(report: &[u8]) -> Option<u64> {
    String::from_utf8_lossy(report).lines().find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_report() {
        let report = b"==7== Events    : Ir\n==7== Collected : 1234\n";
        assert_eq!(collected(report), Some(1234));
    }
}
