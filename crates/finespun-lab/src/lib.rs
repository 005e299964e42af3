//! The common parts of the commands `finespun` and `finespun-bench`.
//!
//! - `args`: the grammar of both, and the one-line errors of a command line
//! - `app`: each application as a command sees it: its parameters, its answer, how to run it
//! - `run`: `finespun run`: progress, repeats, interruption, the printed result
//! - `check`: `finespun check`: programs on simulated machines with adversaries
//! - `launch`: `finespun bench`: compiles and starts `finespun-bench`
//! - `doctor`: `finespun doctor`
//! - `schemas`: `finespun schemas`: how the tasks of a program are compiled
//! - `machine`: the resources that this machine gives to a process: cores, quota, memory, stack, tools
//! - `sample`: the times of one variant
//! - `show`: text, tables, histograms and plots; the only module that writes to the standard output
//! - `failure`: the failures, and their exit codes
//!
//! This crate computes no answers: `finespun-apps` does. It schedules nothing: `finespun` does. The benches are in
//! `finespun-bench`, which takes longer to compile than all of this.
#![forbid(unsafe_code)]

pub mod app;
pub mod args;
pub mod check;
pub mod doctor;
pub mod failure;
pub mod launch;
pub mod machine;
pub mod run;
pub mod sample;
pub mod schemas;
pub mod show;
