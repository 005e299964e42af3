//! The errors of this program, each with its cure; `main` prints one line for each.

use std::io;
use std::path::PathBuf;

use crate::one::Cell;
use crate::problem::Problem;
use crate::runtime::Runtime;

/// An error of this program.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line is invalid.
    #[error("{0}")]
    Usage(String),
    /// A runtime was requested by name, but this build lacks it.
    #[error("runtime `{runtime}` is not in this build: {cure}")]
    Absent {
        /// The runtime.
        runtime: Runtime,
        /// How to get it.
        cure: &'static str,
    },
    /// A runtime was requested for a problem that it does not solve here.
    #[error("runtime `{runtime}` has no `{problem}`: see --problems in README.md")]
    Lacking {
        /// The problem.
        problem: Problem,
        /// The runtime.
        runtime: Runtime,
    },
    /// A runtime computed a result that differs from the known answer.
    #[error("{instance} on {} with {} workers is wrong: it returned {answer}", .cell.runtime, .cell.workers)]
    WrongAnswer {
        /// The cell.
        cell: Cell,
        /// The problem and its size.
        instance: String,
        /// The returned answer.
        answer: u64,
    },
    /// The thread of a sample did not start.
    #[error("no thread for the sample: {0}")]
    Thread(io::Error),
    /// A sample panicked; the panic message is printed before this error.
    #[error("the sample panicked")]
    Panicked,
    /// Peak memory cannot be read here.
    #[error("peak memory cannot be read from /proc/self/status: {0}")]
    Memory(io::Error),
    /// The process of a sample did not start or could not be waited for.
    #[error("the process of a sample could not be run: {0}")]
    Child(io::Error),
    /// The process of a sample failed.
    #[error("{} on {} with {} workers failed ({status}): {message}", .cell.problem.at(crate::problem::Scale::Full), .cell.runtime, .cell.workers)]
    Failed {
        /// The cell.
        cell: Cell,
        /// How the process ended.
        status: std::process::ExitStatus,
        /// The last line that it wrote.
        message: String,
    },
    /// A bank gained or lost money.
    #[error("the bank of {bank} with {workers} workers is wrong: its balances sum to {sum} in place of {expected}")]
    Bank {
        /// The bank.
        bank: &'static str,
        /// Number of workers.
        workers: usize,
        /// The sum of all balances.
        sum: u64,
        /// The sum at the start.
        expected: u64,
    },
    /// A form of a program computed another answer than the plain form.
    #[cfg(feature = "finespun")]
    #[error(
        "program `{program}` as `{form}` with {workers} workers is wrong: it returned {answer} in place of {expected}"
    )]
    Program {
        /// The program.
        program: &'static str,
        /// The form.
        form: &'static str,
        /// Number of workers.
        workers: usize,
        /// The checksum of the form's answer.
        answer: u64,
        /// The checksum of the plain form's answer.
        expected: u64,
    },
    /// The process that runs a form of a program failed.
    #[cfg(feature = "finespun")]
    #[error("program `{program}` as `{form}` failed under valgrind ({status}): {message}")]
    FailedProgram {
        /// The program.
        program: &'static str,
        /// The form.
        form: String,
        /// How the process ended.
        status: std::process::ExitStatus,
        /// The last line that it wrote.
        message: String,
    },
    /// A report could not be written.
    #[error("{} cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl Error {
    /// Returns 2 if the caller can correct the error on the command line, otherwise 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Absent { .. } | Self::Lacking { .. } => 2,
            _ => 1,
        }
    }
}
