//! What can go wrong, each as one line that names the thing and the cure, and the exit code that goes with it.

use std::io;
use std::path::PathBuf;
use std::process::ExitCode;

use finespun::{Error, RunError};

use crate::show;

/// Why the command ended early.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// The command line asks for something that cannot be; the text names the argument and what it takes.
    #[error("{0}")]
    Usage(String),
    /// A file named on the command line cannot be written.
    #[error("{option} {path}: cannot be written ({source}): name a file in a folder that exists and may be written")]
    File {
        /// The option that named the file.
        option: &'static str,
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The runtime could not be started.
    #[error("the runtime could not be started: {0}")]
    Start(#[from] Error),
    /// The run delivered no answer.
    #[error("the run of {app} failed: {source}")]
    Run {
        /// The application.
        app: &'static str,
        /// What the library said.
        source: RunError,
    },
    /// Two runs of the same problem gave different answers: a bug of the application or of the library.
    #[error("{app}: two runs gave different answers, {first} and {second}: please report this as a bug")]
    Disagreement {
        /// The application.
        app: &'static str,
        /// The one answer.
        first: String,
        /// The other.
        second: String,
    },
    /// A bench that was asked to check found something wrong.
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
    /// Nobody reads the standard output any more. This is how `| head -1` ends, and no error.
    #[error("nobody reads the standard output")]
    ClosedPipe,
}

impl Failure {
    /// Tells the user, and gives the exit code: 2 for what the command line asks, 1 for what went wrong later.
    pub fn report(&self) -> ExitCode {
        match self {
            Failure::ClosedPipe => ExitCode::SUCCESS,
            Failure::Usage(_) | Failure::File { .. } => {
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
