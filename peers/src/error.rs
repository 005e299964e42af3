//! What can go wrong, each with its cure; `main` prints one line of it.

use std::io;
use std::path::PathBuf;

use crate::one::Cell;
use crate::runtime::Runtime;

/// An error of this program.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The command line makes no sense.
    #[error("{0}")]
    Usage(String),
    /// A runtime was asked for by name and this build lacks it.
    #[error("runtime `{runtime}` is not in this build: {cure}")]
    Absent {
        /// The runtime.
        runtime: Runtime,
        /// How to get it.
        cure: &'static str,
    },
    /// A runtime computed something else than the known answer.
    #[error("{instance} on {} with {} workers is wrong: it returned {answer}", .cell.runtime, .cell.workers)]
    WrongAnswer {
        /// Where.
        cell: Cell,
        /// The problem and its size.
        instance: String,
        /// What came back.
        answer: u64,
    },
    /// The thread of a sample did not start.
    #[error("no thread for the sample: {0}")]
    Thread(io::Error),
    /// A sample panicked; the panic message stands above.
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
        /// Where.
        cell: Cell,
        /// How the process ended.
        status: std::process::ExitStatus,
        /// The last line it wrote.
        message: String,
    },
    /// A report could not be written.
    #[error("{} cannot be written: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
}

impl Error {
    /// 2 where the caller can mend it on the command line, else 1.
    pub fn exit_code(&self) -> u8 {
        match self {
            Self::Usage(_) | Self::Absent { .. } => 2,
            _ => 1,
        }
    }
}
