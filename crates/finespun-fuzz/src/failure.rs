//! Failures of the fuzzer itself, each as one line, and their exit codes.

use std::io;
use std::path::PathBuf;

/// Why the fuzzer ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line asks for something impossible; the text names the argument and its valid values.
    #[error("{0}")]
    Usage(String),
    /// A file of the scratch package or of the report cannot be written.
    #[error("{path}: cannot be written: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A file of the workspace cannot be read.
    #[error("{path}: cannot be read: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The folder of the scratch package cannot be used.
    #[error("--dir {path}: cannot be used ({source}): name a folder that may be written")]
    Dir {
        /// The folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The file of the report cannot be written.
    #[error("--json {path}: cannot be written ({source}): name a file in a folder that exists and may be written")]
    Report {
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The standard output cannot be written.
    #[error("the standard output cannot be written: {0}")]
    Output(io::Error),
    /// Too few bodies are accepted.
    #[error("rustc accepts only {accepted} of {generated} bodies as plain `async fn`, and {wanted} are wanted")]
    Rejected {
        /// Bodies generated.
        generated: usize,
        /// The number of accepted bodies.
        accepted: usize,
        /// The number of accepted bodies that the plan wants.
        wanted: usize,
    },
    /// A process cannot be started.
    #[error("{0}")]
    Start(String),
    /// The scratch package does not compile, and the error is in no body.
    #[error("the scratch package does not compile: {0}")]
    Compile(String),
}

impl Failure {
    /// Returns the exit code: 2 for bad input, 3 for everything else.
    pub fn code(&self) -> u8 {
        match self {
            Failure::Usage(_) | Failure::Report { .. } | Failure::Dir { .. } => 2,
            _ => 3,
        }
    }
}
