//! The programs in C, compiled by gcc when they are wanted.

use std::env;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{self, Command, Output};

use finespun_lab::machine::tools;

const SOURCE: &str = include_str!("table3.c");

/// Why there are no C programs.
#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    /// There is no compiler.
    #[error("gcc is missing: install it, for example by `apt-get install gcc`")]
    NoCompiler,
    /// The compiler or the program could not be run.
    #[error("{what} could not be run: {source}")]
    Start {
        /// Which of them.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// One of them failed.
    #[error("{what} failed: {said}")]
    Failed {
        /// Which of them.
        what: &'static str,
        /// The last line that it wrote.
        said: String,
    },
}

/// The compiled programs, in a folder that goes when this goes.
#[derive(Debug)]
pub struct Native {
    folder: PathBuf,
}

impl Native {
    /// Compiles them by `gcc -O2`.
    ///
    /// # Errors
    ///
    /// If there is no gcc, or it cannot do it.
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

    /// Runs `program` so many times; its result, and the seconds of one run.
    ///
    /// # Errors
    ///
    /// If it does not tell.
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
