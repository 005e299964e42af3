//! The `finespun` command: runs the applications, measures them, and looks at the machine.
//!
//! The rooms:
//!
//! - `args`: what may be typed, and the one line that says what was wrong with it
//! - `app`: each application as the command sees it: its parameters, its answer, how to run it
//! - `run`: `finespun run`: progress, repeats, interruption, what is printed at the end
//! - `bench`: `finespun bench`: the list of benches, the alternating timer, the papers' figures
//! - `doctor`: `finespun doctor`
//! - `machine`: what this machine lets a process use: cores, quota, memory, stack, tools
//! - `show`: text, tables, histograms and plots; the only room that writes to the standard output
//! - `failure`: what can go wrong, and the exit code
//!
//! Nothing here computes an answer: that is `finespun-apps`. Nothing here schedules: that is `finespun`.
#![forbid(unsafe_code)]

mod app;
mod args;
mod bench;
mod doctor;
mod failure;
mod machine;
mod run;
mod show;

use std::process::ExitCode;

use args::{Command, Request};
use failure::Failure;

fn main() -> ExitCode {
    match act() {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => failure.report(),
    }
}

fn act() -> Result<(), Failure> {
    match args::parse(std::env::args_os())? {
        Request::Show(text) => show::print(&text),
        Request::Do(Command::Run(run)) => run::run(run),
        Request::Do(Command::Bench(bench)) => bench::bench(bench),
        Request::Do(Command::Doctor) => doctor::doctor(),
    }
}
