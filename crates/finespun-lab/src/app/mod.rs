//! The applications as the command sees them.
//!
//! One file per application, or one for several small ones. A file declares the parameters as typed and as JSON, and is
//! the only place that names the application's plain version and its task. [`Apps`] is the table. `run` and `bench` use
//! an application only through [`App`].

mod answer;
mod arrays;
mod em3d;
mod executor;
mod grids;
mod groups;
mod mdforce;
mod microkernel;
mod protein;
mod raytrace;
mod recursion;
mod slices;
mod sparse;
mod uts;

use std::path::Path;

use clap::{CommandFactory, Parser, Subcommand};
use finespun::RunError;
use finespun_apps::Progress;
use serde_json::{Map, Value};

use crate::failure::Failure;

pub use answer::{Answer, Histogram};
pub use executor::{Executor, Timed};

/// An application with its parameters, checked and ready to run.
pub trait App {
    /// Returns the name on the command line.
    fn name(&self) -> &'static str;

    /// Returns the parameters by name, as `--json` shows them.
    fn parameters(&self) -> Map<String, Value>;

    /// Returns the bytes of memory that the application needs at least; 0 if the problem fits anywhere.
    fn memory(&self) -> u64 {
        0
    }

    /// Checks that the answer has a histogram.
    ///
    /// # Errors
    ///
    /// The options that would give a histogram.
    fn histogram(&self) -> Result<(), String> {
        Err("only protein with --sequence has a histogram to draw".to_owned())
    }

    /// Returns the files that the run must write, each with the option that named it.
    fn files(&self) -> Vec<(&'static str, &Path)> {
        Vec::new()
    }

    /// Computes the answer on `executor`. The time excludes the creation of the input and the check of the output.
    ///
    /// # Errors
    ///
    /// The library's error if a run delivers no value.
    fn run(&self, executor: &Executor, progress: &Progress) -> Result<Timed<Answer>, RunError>;
}

/// The table of applications.
#[derive(Debug, Subcommand)]
pub enum Apps {
    /// The n-th Fibonacci number by naive double recursion: the price of a task
    Fib(recursion::Fib),
    /// Takeuchi's function: the price of calls in sequence, and of forwarding
    Tak(recursion::Tak),
    /// Ways to place N queens on a board so that none attacks another: irregular search
    Nqueens(recursion::Nqueens),
    /// Sort N pseudo-random numbers by quicksort in place
    Qsort(slices::Qsort),
    /// Add up a linked list of N nodes by naive recursion, however long
    List(slices::List),
    /// Number the leaves of a tree with ten children per node, and add up: very many very short tasks
    Skynet(recursion::Skynet),
    /// Multiply two N x N matrices by divide and conquer: few, large leaves
    Matmul(slices::Matmul),
    /// Relax a grid of points, each an object on some node, by the values of their neighbours
    Sor(grids::Sor),
    /// Waves on an irregular graph of two fields, every vertex an object that reads, writes or forwards
    Em3d(em3d::Em3d),
    /// Threads that read an object, here or elsewhere, and then compute: a synthetic mix of both
    Microkernel(microkernel::Microkernel),
    /// The forces between the atoms of a protein, each an object on some node
    Mdforce(mdforce::Mdforce),
    /// Multiply two matrices whose rows are spread over the nodes: write-once arrays, and a cache of other nodes'
    /// elements
    Densemm(arrays::Densemm),
    /// Recall patterns by a network of neurons that read each other's states: an array for each step
    Hopfield(arrays::Hopfield),
    /// An eigenvalue of a sparse matrix by conjugate gradients, from NAS: a write-once vector for each step
    Cg(sparse::Cg),
    /// Multiply a sparse matrix by its transpose, or a random one by a vector again and again
    Sparsemm(sparse::Sparsemm),
    /// The area under (x^2 + 1) x by strips halved until nothing changes
    Integrate(recursion::Integrate),
    /// Search in a large array: the first activity that finds the element ends the others
    Search(groups::Search),
    /// Add up 1 to N by N assignments, divided among activities
    Sumto(groups::Sumto),
    /// Unbalanced Tree Search: count the nodes of a tree that unfolds as it is searched
    Uts(Box<uts::Uts>),
    /// Every way in which a protein can fill a box, and the energies of those foldings
    Protein(protein::Protein),
    /// A picture by ray tracing, whose pixels cost very different amounts of work
    Raytrace(raytrace::Raytrace),
}

impl Apps {
    /// Returns the application, after the checks that need more than one argument.
    ///
    /// # Errors
    ///
    /// [`Failure::Usage`] for arguments that do not fit together.
    pub fn open(self) -> Result<Box<dyn App>, Failure> {
        Ok(match self {
            Apps::Fib(app) => Box::new(app),
            Apps::Tak(app) => Box::new(app),
            Apps::Nqueens(app) => Box::new(app),
            Apps::Qsort(app) => Box::new(app),
            Apps::List(app) => Box::new(app),
            Apps::Skynet(app) => Box::new(app),
            Apps::Matmul(app) => Box::new(app),
            Apps::Sor(app) => Box::new(app),
            Apps::Em3d(app) => Box::new(app.open()?),
            Apps::Microkernel(app) => Box::new(app.open()?),
            Apps::Mdforce(app) => Box::new(app.open()?),
            Apps::Densemm(app) => Box::new(app.open()?),
            Apps::Hopfield(app) => Box::new(app.open()?),
            Apps::Cg(app) => Box::new(app.open()?),
            Apps::Sparsemm(app) => Box::new(app.open()?),
            Apps::Integrate(app) => Box::new(app),
            Apps::Search(app) => Box::new(app),
            Apps::Sumto(app) => Box::new(app),
            Apps::Uts(app) => Box::new(app.open()?),
            Apps::Protein(app) => Box::new(app.open()?),
            Apps::Raytrace(app) => Box::new(app.open()?),
        })
    }
}

/// An application's command line alone, for the tables of the benches.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct AppLine {
    #[command(subcommand)]
    app: Apps,
}

/// Returns the application that `line` describes, in the form typed after `finespun run`.
///
/// # Panics
///
/// If the line is wrong: lines come from our own tables.
pub fn from_line(line: &str) -> Box<dyn App> {
    let parsed = AppLine::try_parse_from(line.split(' '));
    let app = parsed.unwrap_or_else(|error| panic!("the line `{line}` is wrong: {error}"));
    app.app.open().unwrap_or_else(|failure| panic!("the line `{line}` is wrong: {failure}"))
}

/// Returns the names of all applications, in the order of the table.
pub fn names() -> Vec<String> {
    AppLine::command()
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .filter(|name| name != "help")
        .collect()
}

/// Returns a JSON object of parameters: `object([("n", 3.into())])`.
fn object<const N: usize>(entries: [(&str, Value); N]) -> Map<String, Value> {
    entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
