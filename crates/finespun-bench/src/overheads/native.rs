//! The programs in C, compiled by gcc on demand.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Output};

use finespun_lab::machine::tools;

const SOURCE: &str = include_str!("table3.c");

/// The reason why the C programs are not available.
#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    /// gcc is not installed.
    #[error("gcc is missing: install it, for example by `apt-get install gcc`")]
    NoCompiler,
    /// The compiler or the program could not be run.
    #[error("{what} could not be run: {source}")]
    Start {
        /// The name of the compiler or program.
        what: &'static str,
        /// The system's error.
        source: io::Error,
    },
    /// The compiler or the program failed.
    #[error("{what} failed: {said}")]
    Failed {
        /// The name of the compiler or program.
        what: &'static str,
        /// The last line of its output.
        said: String,
    },
}

/// The compiled programs, in a folder that is removed on drop.
#[derive(Debug)]
pub struct Native {
    folder: PathBuf,
}

impl Native {
    /// Compiles the programs by `gcc -O2`.
    ///
    /// # Errors
    ///
    /// If gcc is missing, or fails.
    pub fn compile() -> Result<Self, NativeError> {
        tools::find("gcc").ok_or(NativeError::NoCompiler)?;
        let folder = env::temp_dir().join(format!("finespun-overheads-{}", process::id()));
        fs::create_dir_all(&folder).map_err(|source| NativeError::Start { what: "gcc", source })?;
        let native = Native { folder };
        let source = native.folder.join("table3.c");
        fs::write(&source, SOURCE).map_err(|source| NativeError::Start { what: "gcc", source })?;
        let mut gcc = Command::new("gcc");
        output("gcc", gcc.args(["-O2", "-std=gnu11", "-o"]).arg(native.program()).arg(&source))?;
        Ok(native)
    }

    fn program(&self) -> PathBuf {
        self.folder.join("table3")
    }

    /// Runs `program` `times` times, and returns its result and the seconds of one run.
    ///
    /// # Errors
    ///
    /// If the program fails, or prints no result.
    pub fn run(&self, program: &str, times: u64) -> Result<(u64, f64), NativeError> {
        const WHAT: &str = "the C program";
        let output = output(WHAT, Command::new(self.program()).args([program, &times.to_string()]))?;
        let text = String::from_utf8_lossy(&output.stdout);
        let parsed = text
            .trim()
            .split_once(' ')
            .and_then(|(result, seconds)| Some((result.parse().ok()?, seconds.parse().ok()?)));
        parsed.ok_or_else(|| NativeError::Failed { what: WHAT, said: text.into_owned() })
    }
}

impl Drop for Native {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(Path::new(&self.folder));
    }
}

fn output(what: &'static str, command: &mut Command) -> Result<Output, NativeError> {
    let output = command.output().map_err(|source| NativeError::Start { what, source })?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr).lines().last().unwrap_or_default().to_owned();
    Err(NativeError::Failed { what, said: format!("{}: {said}", output.status) })
}
