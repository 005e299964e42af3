//! What the commands `finespun` and `finespun-bench` have in common.
//!
//! - `args`: the grammar of both, and the one line that says what is wrong with a command line
//! - `app`: each application as a command sees it: its parameters, its answer, how to run it
//! - `run`: `finespun run`: progress, repeats, interruption, the printed result
//! - `launch`: `finespun bench`: compiles and starts `finespun-bench`
//! - `doctor`: `finespun doctor`
//! - `machine`: what this machine lets a process use: cores, quota, memory, stack, tools
//! - `sample`: the times of one variant
//! - `show`: text, tables, histograms and plots; the only module that writes to the standard output
//! - `failure`: what can go wrong, and the exit code
//!
//! Nothing here computes an answer: that is `finespun-apps`. Nothing here schedules: that is `finespun`. The benches are in
//! `finespun-bench`, which takes longer to compile than all of this.
#![forbid(unsafe_code)]

pub mod app;
pub mod args;
pub mod doctor;
pub mod failure;
pub mod launch;
pub mod machine;
pub mod run;
pub mod sample;
pub mod show;
