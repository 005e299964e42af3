//! The command line.

use std::path::PathBuf;

use clap::Parser;

/// Random bodies of tasks: each must do as a task what it does as a plain async fn.
#[derive(Debug, Parser)]
#[command(name = "finespun-fuzz", version)]
#[command(after_help = "\
A seed and a number decide a body, in one version of the generator. Each body is compiled as a plain `async fn` and as a
task: pinned, automatic, and one or two of generic function, method, trait method, method of an object. The bodies that
rustc refuses as plain `async fn` do not count. All forms must give the same trace (values, reads, destructors, panics) as
the plain one, for four arguments, as it is and with a destructor that panics, on one worker that blocks at every 1st, 2nd,
3rd or no call, and on two workers. A body that a task form refuses is counted with the message.

Examples:
  finespun-fuzz --seed 1 --count 500              counts, and the first failures made smaller
  finespun-fuzz --seed 1 --from 37 --count 1      one body again
  finespun-fuzz --seed 1 --from 37 --count 1 --print   its text
  finespun-fuzz --seed 2 --count 5000 --no-shrink --json found.json

The tests of this crate (`cargo test -p finespun-fuzz`) run 300 accepted bodies of seed 1; the variables
FINESPUN_FUZZ_SEED and FINESPUN_FUZZ_COUNT say otherwise.

Exit code: 0 if all forms agree and at most 0.5 % of the accepted bodies are refused, 1 if not, 2 for bad input, 3 if the
fuzzer itself failed (the report says what it has found until then), 130 if interrupted.")]
pub struct Args {
    /// The seed of the bodies
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Number of bodies
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=10_000_000))]
    pub count: u64,
    /// Number of the first body
    #[arg(long, default_value_t = 0)]
    pub from: u64,
    /// Folder of the scratch package, which stays there for a look; by default in the target directory
    #[arg(long, value_name = "DIR")]
    pub dir: Option<PathBuf>,
    /// Make this many failures smaller: first each kind of refusal once, then disagreements
    #[arg(long, default_value_t = 8, value_name = "N")]
    pub shrink: usize,
    /// Begin no new round of making failures smaller after this time
    #[arg(long, default_value_t = 300, value_name = "SECONDS")]
    pub shrink_seconds: u64,
    /// Do not make failures smaller
    #[arg(long)]
    pub no_shrink: bool,
    /// Write the report to a file, too
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,
    /// Processes at once
    #[arg(long, default_value_t = 2, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=64))]
    pub jobs: u64,
    /// Print the bodies instead of running them
    #[arg(long)]
    pub print: bool,
}
