//! `finespun bench`: compiles `finespun-bench` with the profile for measurements, if necessary, and replaces itself by
//! it.
//!
//! The benches and their profile (one codegen unit, link-time optimization) take minutes to compile, which `finespun
//! run` should not wait for. In a checkout, cargo decides whether the program is up to date. An installed `finespun`
//! has no sources beside it and looks for an installed `finespun-bench`.

use std::env;
use std::ffi::OsString;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use finespun_mpi::launcher::{Launched, launched};

use crate::args::Bench;
use crate::args::bench::list;
use crate::failure::Failure;
use crate::machine::tools;
use crate::show;

/// The name of the program.
const PROGRAM: &str = "finespun-bench";
/// The profile for which limits and figures hold.
pub const PROFILE: &str = "measure";

/// Starts the benches with `words`, the words after `bench`.
///
/// # Errors
///
/// [`Failure::Usage`] without the name of a bench; [`Failure::Launch`] if the program cannot be found, compiled or
/// started.
pub fn bench(bench: &Bench, words: impl Iterator<Item = OsString>) -> Result<ExitCode, Failure> {
    if bench.list {
        return show::print(&list()).map(|()| ExitCode::SUCCESS);
    }
    if bench.name.is_none() {
        return Err(no_name());
    }
    one_process()?;
    let program = match workspace() {
        Some(workspace) => compile(&workspace)?,
        None => installed()?,
    };
    become_program(Command::new(&program).args(words))
        .map_err(|source| launch(format!("{} cannot be started: {source}", program.display())))
}

/// Returns the error of a command line that names no bench.
pub fn no_name() -> Failure {
    let names: Vec<_> = crate::args::bench::Name::all().map(|name| name.name()).collect();
    Failure::Usage(format!("no bench given: use one of {}, or --list", names.join(", ")))
}

fn launch(what: String) -> Failure {
    Failure::Launch(what)
}

/// Refuses to be one of several processes, each of which would do all the work alone.
///
/// # Errors
///
/// [`Failure::Usage`] in the first process that a launcher has started, [`Failure::Reported`] in the others.
pub fn one_process() -> Result<(), Failure> {
    match launched() {
        Some(Launched { by, rank: 0, size: size @ 2.. }) => Err(Failure::Usage(format!(
            "{by} has started {size} processes, and each would do all of the work alone: give `run` the option --fabric processes, \
             or start finespun without it"
        ))),
        Some(Launched { rank: 1.., .. }) => Err(Failure::Reported),
        _ => Ok(()),
    }
}

/// Returns whether this is one of several processes that a launcher has started, and not the first.
pub fn follows() -> bool {
    launched().is_some_and(|place| place.rank > 0)
}

/// Returns the checkout from which this command was compiled, if it still exists.
fn workspace() -> Option<PathBuf> {
    let workspace = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2)?;
    workspace.join("crates").join(PROGRAM).join("Cargo.toml").is_file().then(|| workspace.to_owned())
}

/// Returns the path of the installed program: beside this one, or on the search path.
fn installed() -> Result<PathBuf, Failure> {
    let beside = env::current_exe().ok().map(|exe| exe.with_file_name(PROGRAM)).filter(|program| program.is_file());
    beside.or_else(|| tools::find(PROGRAM)).ok_or_else(|| {
        launch(format!(
            "{PROGRAM} is neither beside this command nor on the search path: install it, or use `finespun bench` in a checkout"
        ))
    })
}

/// Compiles the program with cargo, and returns its path.
fn compile(workspace: &Path) -> Result<PathBuf, Failure> {
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(workspace).args(["build", "--locked", "--profile", PROFILE, "--package", PROGRAM]);
    cargo.arg("--message-format=json-render-diagnostics").stdin(Stdio::null()).stdout(Stdio::piped());
    if first_time() {
        show::note(&format!("compiling {PROGRAM} with the profile `{PROFILE}`; the first time takes minutes"));
    } else {
        cargo.arg("--quiet");
    }
    let failed = |source: io::Error| {
        launch(format!(
            "{PROGRAM} cannot be compiled, since cargo cannot be started ({source}): install Rust by rustup"
        ))
    };
    let mut child = cargo.spawn().map_err(failed)?;
    let messages = BufReader::new(child.stdout.take().expect("piped"));
    let program = messages.lines().map_while(Result::ok).filter_map(|line| executable(&line)).last();
    let status = child.wait().map_err(failed)?;
    program.filter(|_| status.success()).ok_or_else(|| {
        launch(format!("{PROGRAM} could not be compiled (cargo ended with {status}): see cargo's messages above"))
    })
}

/// Returns true if the usual place for cargo's output has no program from an earlier compilation.
fn first_time() -> bool {
    let target = env::current_exe().ok().and_then(|exe| Some(exe.parent()?.parent()?.to_owned()));
    !target.is_some_and(|target| target.join(PROFILE).join(PROGRAM).is_file())
}

/// Returns the path of the program, if this message from cargo says that it has been made or is up to date.
fn executable(message: &str) -> Option<PathBuf> {
    let message: serde_json::Value = serde_json::from_str(message).ok()?;
    let ours = message["reason"] == "compiler-artifact" && message["target"]["name"] == PROGRAM;
    message["executable"].as_str().filter(|_| ours).map(PathBuf::from)
}

/// Replaces this process, so that signals and the exit code are the program's own.
#[cfg(unix)]
fn become_program(command: &mut Command) -> io::Result<ExitCode> {
    use std::os::unix::process::CommandExt;
    Err(command.exec())
}

#[cfg(not(unix))]
fn become_program(command: &mut Command) -> io::Result<ExitCode> {
    let code = command.status()?.code().and_then(|code| u8::try_from(code).ok());
    Ok(code.map_or(ExitCode::FAILURE, ExitCode::from))
}

#[cfg(test)]
mod tests {
    use super::{executable, workspace};
    use std::path::PathBuf;

    #[test]
    fn the_program_is_found_in_cargo_messages() {
        let message = |reason: &str, name: &str, path: &str| {
            format!("{{\"reason\": \"{reason}\", \"target\": {{\"name\": \"{name}\"}}, \"executable\": {path}}}")
        };
        let made = message("compiler-artifact", "finespun-bench", "\"/x/finespun-bench\"");
        assert_eq!(executable(&made), Some(PathBuf::from("/x/finespun-bench")));
        for other in [
            message("compiler-artifact", "finespun-bench", "null"),
            message("compiler-artifact", "finespun", "\"/x/finespun\""),
            message("build-finished", "finespun-bench", "\"/x\""),
            "no JSON".to_owned(),
        ] {
            assert_eq!(executable(&other), None, "{other}");
        }
    }

    #[test]
    fn tests_run_in_a_checkout() {
        assert!(workspace().is_some_and(|workspace| workspace.join("Cargo.lock").is_file()));
    }
}
