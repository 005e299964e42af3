//! The `finespun` command: runs the applications, starts the benches, and inspects the machine.
#![forbid(unsafe_code)]

use std::process::ExitCode;

use finespun_lab::args::{self, Command, Request};
use finespun_lab::failure::Failure;
use finespun_lab::{check, doctor, launch, run, schemas, show};

fn main() -> ExitCode {
    match act() {
        Ok(code) => code,
        // The others have the same command line.
        Err(Failure::Usage(_)) if launch::follows() => Failure::Reported.report(),
        Err(failure) => failure.report(),
    }
}

fn act() -> Result<ExitCode, Failure> {
    match args::parse(std::env::args_os())? {
        Request::Show(text) => show::print(&text)?,
        Request::Do(Command::Run(run)) => run::run(run)?,
        // The benches parse the words after `bench` once more.
        Request::Do(Command::Bench(bench)) => return launch::bench(&bench, std::env::args_os().skip(2)),
        Request::Do(Command::Check(options)) => launch::one_process().and_then(|()| check::check(&options))?,
        Request::Do(Command::Schemas(options)) => schemas::schemas(&options)?,
        Request::Do(Command::Doctor) => doctor::doctor()?,
    }
    Ok(ExitCode::SUCCESS)
}
