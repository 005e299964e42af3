//! The grammar of the command line.
//!
//! The parameters of each application are in the application's module. Any error in a command line becomes one line
//! that names the argument and the values that it takes.

pub mod bench;
mod message;
pub mod simulation;
pub mod values;

use std::ffi::OsString;
use std::path::PathBuf;

use clap::{Parser, Subcommand};

use crate::app::Apps;
use crate::failure::Failure;
pub use bench::{Bench, BenchOptions};
pub use message::refused;
use simulation::Simulation;
use values::{number, path};

/// Fine-grained parallel tasks: run the applications, measure them, look at the machine.
#[derive(Debug, Parser)]
#[command(name = "finespun", bin_name = "finespun", version, arg_required_else_help = false)]
#[command(after_help = "\
Examples:
  finespun run fib 35                         the price of a task
  finespun run protein --lattice 3x3x3 --json every folding of a 27-letter protein
  finespun bench apps                         each application against its plain sequential version
  finespun schemas src                        how each task of a program is compiled, and why
  finespun doctor                             what this machine has, what is missing, and the cure")]
struct CommandLine {
    #[command(subcommand)]
    command: Command,
}

/// The commands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Run an application and print its answer
    Run(Run),
    /// Measure, and print a table
    Bench(Bench),
    /// Run small programs on simulated machines that do what they can to break them, and check what must hold
    Check(Check),
    /// List the tasks of source files with their schemas, and why some are pinned
    Schemas(Schemas),
    /// Report what this machine has, what is missing, and the cure
    Doctor,
}

/// `finespun schemas`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
A straight task is a plain call. A task on the stack costs some instructions more than a call, and needs a frame only if it
has to wait. A pinned task needs a frame for each call: it may lend its locals to the tasks that it awaits. If only the end
of a branch must be pinned, that part becomes a task of its own. Nothing is compiled: tasks that macros write are not listed.

Examples:
  finespun schemas src
  finespun schemas src/search.rs --pinned     only tasks that are pinned, or of which a part is, with the cure")]
pub struct Schemas {
    /// Rust files, and folders of them
    #[arg(required = true, value_name = "PATH", value_parser = path())]
    pub paths: Vec<PathBuf>,
    /// Only tasks that are pinned, or of which a part is
    #[arg(long)]
    pub pinned: bool,
}

/// `finespun check`.
#[derive(Debug, clap::Args)]
#[command(after_help = "\
Each seed determines a program, its size, a machine, the settings of the runtime, and what an adversary does: delays of
messages, pauses, slow processors, few buffers. The seeds are independent, so more of them find more. A seed that fails is
printed, and fails again.

Examples:
  finespun check --seeds 100_000
  finespun check --program order --seeds 10_000
  finespun check --seed 4711                  one seed, with its settings")]
pub struct Check {
    /// How many seeds to run
    #[arg(long, value_name = "N", allow_hyphen_values = true, default_value = "10000", value_parser = number(1..=u64::MAX))]
    pub seeds: u64,
    /// The first seed
    #[arg(long, value_name = "SEED", allow_hyphen_values = true, default_value = "0", value_parser = number(0..=u64::MAX))]
    pub from: u64,
    /// Run this seed alone
    #[arg(long, value_name = "SEED", allow_hyphen_values = true, conflicts_with_all = ["seeds", "from"], value_parser = number(0..=u64::MAX))]
    pub seed: Option<u64>,
    /// Run this program of the catalogue alone
    #[arg(long, value_name = "NAME")]
    pub program: Option<String>,
    /// Write what the processors do to this file, for <https://ui.perfetto.dev>; with --seed
    #[arg(long, value_name = "FILE", value_parser = path())]
    pub trace: Option<PathBuf>,
    /// Build a deliberate error into the library, which the check must find
    #[cfg(feature = "mutations")]
    #[arg(long, value_name = "NAME")]
    pub mutation: Option<String>,
    /// Seeds that run at the same time [default: the cores this process may use]
    #[arg(long, value_name = "N", allow_hyphen_values = true, value_parser = number(1..=1024usize))]
    pub jobs: Option<usize>,
}

/// `finespun run`.
#[derive(Debug, clap::Args)]
#[command(arg_required_else_help = false, subcommand_value_name = "APP", subcommand_help_heading = "Applications")]
#[command(disable_help_subcommand = true)]
#[command(after_help = "\
Examples, one for each application (`finespun run APP --help` tells its parameters):
  finespun run fib 35
  finespun run tak 18 12 6
  finespun run nqueens 12
  finespun run qsort 10_000_000
  finespun run list 10_000_000
  finespun run skynet 6
  finespun run matmul 1024
  finespun run sor --grid 1024 --form red-black --nodes 4
  finespun run em3d --form pull --locality 0.99 --nodes 8
  finespun run microkernel --remote 0.8 --destinations hotspot16 --nodes 32
  finespun run mdforce --cutoff 0.8 --replicate 4 --nodes 4
  finespun run densemm 128 --form cached --cache-block 8 --nodes 16
  finespun run hopfield 1024 --patterns 64 --turned 128 --seed 2 --nodes 4
  finespun run cg --class W --form cached --nodes 4
  finespun run sparsemm --random 50_000 --nonzeros 250_000 --iterations 200 --nodes 4
  finespun run integrate --to 10000 --tolerance 1e-6
  finespun run search 100_000_000 --at 70_000_000 --activities 16
  finespun run sumto 1_000_000_000 --activities 10_000 --policy representatives
  finespun run uts --tree T1
  finespun run uts --type 0 --root-branching 2000 --q 0.124875 --m 8 --seed 42
  finespun run protein --lattice 3x3x3 --sequence HPHHPPHHHHPHHHPPHHPPHPHHHPH --plot energies.svg
  finespun run raytrace --size 512 --closures --png picture.png --work-png work.png

On a simulated machine, in virtual time:
  finespun run em3d --fabric sim --machine t3d --nodes 64

With --json the answer is one object: app, parameters, answer, seconds, workers, stats.")]
pub struct Run {
    /// The application and its parameters.
    #[command(subcommand)]
    pub app: Apps,
    /// The options of the run.
    #[command(flatten)]
    pub options: RunOptions,
}

/// The options of a run, which all applications share.
#[derive(Clone, Debug, clap::Args)]
#[command(next_help_heading = "Options of every application")]
pub struct RunOptions {
    /// The machine, if it is simulated.
    #[command(flatten)]
    pub simulation: Simulation,
    /// Workers, 1 to 1024, or 65536 if simulated [default: the cores this process may use; as many as nodes if simulated]
    #[arg(long, global = true, value_name = "N", allow_hyphen_values = true, value_parser = number(1..=65_536usize))]
    pub workers: Option<usize>,
    /// Nodes that objects live on, 1 to 65536; node n is worker n's, modulo the workers [default: as many as workers]
    #[arg(long, global = true, value_name = "N", allow_hyphen_values = true, value_parser = number(1..=65_536usize))]
    pub nodes: Option<usize>,
    /// How messages between workers travel
    #[arg(long, global = true, value_enum)]
    pub transport: Option<Transport>,
    /// Send messages between nodes as bytes, as to another process
    #[arg(long, global = true)]
    pub encode: bool,
    /// Microseconds that each message between nodes costs its sender, and its receiver, in addition, 0 to 1000000
    #[arg(long, global = true, value_name = "US", allow_hyphen_values = true, value_parser = number(0..=1_000_000u64))]
    pub overhead: Option<u64>,
    /// Whether calls run on the stack first
    #[arg(long, global = true, value_enum)]
    pub schema: Option<Schema>,
    /// How the activities of groups are distributed to the workers
    #[arg(long, global = true, value_enum)]
    pub policy: Option<Policy>,
    /// Print the runtime's counters with their meanings, and remarks on those that stand out
    #[arg(long, global = true)]
    pub stats: bool,
    /// Print one JSON object instead of text
    #[arg(long, global = true)]
    pub json: bool,
    /// Write what the processors of a simulated machine do to this file, for <https://ui.perfetto.dev>
    #[arg(long, global = true, value_name = "FILE", value_parser = path())]
    pub trace: Option<PathBuf>,
    /// Write the histogram as a picture (SVG)
    #[arg(long, global = true, value_name = "FILE", value_parser = path())]
    pub plot: Option<PathBuf>,
    /// Run the plain sequential version, for comparison
    #[arg(long, global = true)]
    pub plain: bool,
    /// Run K times; print the least and the median time
    #[arg(long, global = true, value_name = "K", allow_hyphen_values = true, default_value = "1", hide_default_value = true, value_parser = number(1..=1_000_000usize))]
    pub repeat: usize,
    /// For tests: every N-th call that might block does block (0: never)
    #[arg(long, global = true, value_name = "N", allow_hyphen_values = true, default_value = "0", hide_default_value = true, value_parser = number(0..=u32::MAX))]
    pub block_every: u32,
}

/// The transports by name.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Transport {
    /// Into a ring in the receiver's memory: lowest latency; a slow receiver stalls its senders
    Push,
    /// From the sender's memory when the receiver is ready: a slow receiver does not stall its senders
    Pull,
    /// Pushed while there is room, pulled otherwise (the default)
    Adaptive,
}

impl From<Transport> for finespun::runtime::Transport {
    fn from(transport: Transport) -> finespun::runtime::Transport {
        match transport {
            Transport::Push => finespun::runtime::Transport::Push,
            Transport::Pull => finespun::runtime::Transport::Pull,
            Transport::Adaptive => finespun::runtime::Transport::Adaptive,
        }
    }
}

/// The policies by name.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Policy {
    /// Called by the worker that begins the group; an idle worker takes half of the remaining ones (the default)
    Steal,
    /// Taken one by one from the oldest group, a frame for each
    Global,
    /// Taken one by one from the oldest group, and called
    Envelopes,
    /// As envelopes, but one P-th of the remaining ones at a time, for P workers
    Representatives,
}

impl From<Policy> for finespun::group::Policy {
    fn from(policy: Policy) -> finespun::group::Policy {
        match policy {
            Policy::Steal => finespun::group::Policy::Steal,
            Policy::Global => finespun::group::Policy::Global,
            Policy::Envelopes => finespun::group::Policy::Envelopes,
            Policy::Representatives => finespun::group::Policy::Representatives,
        }
    }
}

/// The schemas by name.
#[derive(Clone, Copy, Debug, clap::ValueEnum)]
pub enum Schema {
    /// On the stack, and in a frame only if they have to wait (the default)
    Auto,
    /// Each in a frame of its own, queued and run from there: for comparison
    Heap,
}

impl From<Schema> for finespun::runtime::Schema {
    fn from(schema: Schema) -> finespun::runtime::Schema {
        match schema {
            Schema::Auto => finespun::runtime::Schema::Auto,
            Schema::Heap => finespun::runtime::Schema::Heap,
        }
    }
}

/// The command line of `finespun-bench`: the same as of `finespun`, from `bench` on.
#[derive(Debug, Parser)]
#[command(name = "finespun-bench", bin_name = "finespun bench", version, about = "Measure, and print a table")]
struct BenchLine {
    #[command(flatten)]
    bench: Bench,
}

/// The request of a command line.
#[derive(Debug)]
pub enum Request<C = Command> {
    /// A command to carry out.
    Do(C),
    /// The text of help, or of the version, to print.
    Show(String),
}

/// Parses the command line of `finespun`, including the command's own name.
///
/// # Errors
///
/// [`Failure::Usage`] with one line that names the argument and the values that it takes.
pub fn parse(words: impl IntoIterator<Item = OsString>) -> Result<Request, Failure> {
    read(words, |line: CommandLine| line.command)
}

/// Parses the command line of `finespun-bench`, including the command's own name.
///
/// # Errors
///
/// The same as [`parse`].
pub fn parse_bench(words: impl IntoIterator<Item = OsString>) -> Result<Request<Bench>, Failure> {
    read(words, |line: BenchLine| line.bench)
}

fn read<L: Parser, C>(
    words: impl IntoIterator<Item = OsString>,
    command: impl FnOnce(L) -> C,
) -> Result<Request<C>, Failure> {
    let words: Vec<OsString> = words.into_iter().collect();
    match L::try_parse_from(&words) {
        Ok(line) => Ok(Request::Do(command(line))),
        Err(error) if !error.use_stderr() => Ok(Request::Show(error.to_string())),
        Err(error) => Err(Failure::Usage(message::one_line(&error, &L::command(), &words))),
    }
}

#[cfg(test)]
mod tests {
    use super::{CommandLine, Request, parse};
    use clap::CommandFactory;

    #[test]
    fn the_grammar_is_consistent() {
        CommandLine::command().debug_assert();
    }

    #[test]
    fn help_and_version_are_not_errors() {
        for line in
            ["finespun --help", "finespun -V", "finespun run --help", "finespun run fib --help", "finespun help"]
        {
            let request = parse(line.split(' ').map(Into::into));
            assert!(matches!(request, Ok(Request::Show(_))), "{line}: {request:?}");
        }
    }

    #[test]
    fn every_error_is_one_line() {
        for line in [
            "",
            "fly",
            "run",
            "run fly",
            "run fib",
            "run fib x",
            "run fib -1",
            "run fib 3 4",
            "run fib 3 --workers",
            "run fib 3 --workers -1",
            "run fib 3 --wrokers 2",
            "run fib 3 --json --json",
            "run fib 3 --plot",
            "bench apps --only",
            "run protein",
            "bench a b",
            "doctor now",
        ] {
            let words = ["finespun"].into_iter().chain(line.split_whitespace());
            let failure = parse(words.map(Into::into)).expect_err(line).to_string();
            assert!(!failure.contains('\n') && failure.len() > 20, "{line}: {failure}");
            println!("{line:30} {failure}");
        }
    }
}
