//! Failures of the commands, each as one line that names the thing and the cure, and their exit codes.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use finespun::{Error, RunError};

use crate::show;

/// The reason why the command ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line asks for something impossible; the text names the argument and the values that it takes.
    #[error("{0}")]
    Usage(String),
    /// A file named on the command line cannot be written.
    #[error("{option} {path}: cannot be written ({source}): name a file in a folder that exists and may be written")]
    File {
        /// The option that named the file.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// A source file cannot be read, or a task in it is rejected.
    #[error("{path}: {problem}")]
    Source {
        /// The file.
        path: PathBuf,
        /// What is wrong, and where.
        problem: String,
    },
    /// The runtime could not be started.
    #[error("the runtime could not be started: {0}")]
    Start(#[from] Error),
    /// The run delivered no answer.
    #[error("the run of {app} failed: {source}")]
    Run {
        /// The application.
        app: &'static str,
        /// The library's error.
        source: RunError,
    },
    /// Two runs of the same problem gave different answers: a bug in the application or in the library.
    #[error("{app}: two runs gave different answers, {first} and {second}: please report this as a bug")]
    Disagreement {
        /// The application.
        app: &'static str,
        /// The first answer.
        first: String,
        /// The second answer.
        second: String,
    },
    /// A bench with `--check` found a violation.
    #[error("{0}")]
    Unmet(String),
    /// The benches could not be started.
    #[error("{0}")]
    Launch(String),
    /// A picture could not be drawn.
    #[error("the plot could not be drawn: {0}")]
    Plot(String),
    /// The standard output refused the answer.
    #[error("the standard output cannot be written: {0}")]
    Output(io::Error),
    /// As [`Failure::Usage`], in one of several processes, of which the first reports.
    #[error("the first process reports")]
    Reported,
    /// The reader of the standard output has closed it. `| head -1` ends this way, so it is not an error.
    #[error("the reader of the standard output has closed it")]
    ClosedPipe,
}

impl Failure {
    /// Reports the failure to the user, and returns the exit code: 2 for an error in the command line, 1 for later
    /// errors, and success for [`Failure::ClosedPipe`].
    pub fn report(&self) -> ExitCode {
        match self {
            Failure::ClosedPipe => ExitCode::SUCCESS,
            Failure::Reported => ExitCode::from(2),
            Failure::Usage(_) | Failure::File { .. } | Failure::Source { .. } => {
                show::complain(&self.to_string());
                ExitCode::from(2)
            }
            _ => {
                show::complain(&self.to_string());
                ExitCode::FAILURE
            }
        }
    }
}
