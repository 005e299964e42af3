//! The applications as the command sees them.
//!
//! One file per application, or one for several small ones: the parameters as they are typed, how they appear in JSON, and the
//! one place where the application's plain version and its task are named. [`Apps`] is the table. Whoever runs an application
//! (`run`, `bench`) knows nothing but [`App`].

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
    /// Its name on the command line.
    fn name(&self) -> &'static str;

    /// Its parameters by name, as `--json` shows them.
    fn parameters(&self) -> Map<String, Value>;

    /// Bytes of memory without which it cannot run; zero if the problem fits anywhere.
    fn memory(&self) -> u64 {
        0
    }

    /// Whether the answer has a histogram, or why not.
    ///
    /// # Errors
    ///
    /// What would have to be asked for instead.
    fn histogram(&self) -> Result<(), String> {
        Err("only protein with --sequence has a histogram to draw".to_owned())
    }

    /// The files that the answer is to come with, and the options that named them.
    fn files(&self) -> Vec<(&'static str, &Path)> {
        Vec::new()
    }

    /// Computes the answer on `executor`. The time excludes the making of the input and the checking of the output.
    ///
    /// # Errors
    ///
    /// What the library says when a run delivers no value.
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
    /// Relax a grid of points, each an object on some node, by what their neighbours are
    Sor(grids::Sor),
    /// Waves on an irregular graph of two fields, every vertex an object that reads, writes or forwards
    Em3d(em3d::Em3d),
    /// Threads that read an object, here or elsewhere, and then compute: a synthetic mix of both
    Microkernel(microkernel::Microkernel),
    /// The forces between the atoms of a protein, each an object on some node
    Mdforce(mdforce::Mdforce),
    /// Multiply two matrices whose rows are spread over the nodes: write-once arrays, and a cache of what others have
    Densemm(arrays::Densemm),
    /// Recall patterns by a network of neurons that look at each other: an array for each step
    Hopfield(arrays::Hopfield),
    /// An eigenvalue of a sparse matrix by conjugate gradients, from NAS: a write-once vector for each step
    Cg(sparse::Cg),
    /// Multiply a sparse matrix by its transpose, or a random one by a vector again and again
    Sparsemm(sparse::Sparsemm),
    /// The area under (x^2 + 1) x by strips halved until nothing changes
    Integrate(recursion::Integrate),
    /// Search in a large array: the first activity that finds the element ends the others
    Search(groups::Search),
    /// Add up 1 to N by so many assignments, divided among so many activities
    Sumto(groups::Sumto),
    /// Unbalanced Tree Search: count the nodes of a tree that unfolds as it is searched
    Uts(Box<uts::Uts>),
    /// Every way in which a protein can fill a box, and the energies of those foldings
    Protein(protein::Protein),
    /// A picture by ray tracing, whose pixels cost very different amounts of work
    Raytrace(raytrace::Raytrace),
}

impl Apps {
    /// The application, after those checks that need more than one argument.
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

/// An application line alone, as benches keep it.
#[derive(Debug, Parser)]
#[command(no_binary_name = true)]
struct Line {
    #[command(subcommand)]
    app: Apps,
}

/// The application that `line` describes, in the form in which it would be typed after `finespun run`.
///
/// # Panics
///
/// If the line is wrong: lines come from our own tables.
pub fn from_line(line: &str) -> Box<dyn App> {
    let parsed = Line::try_parse_from(line.split(' '));
    let app = parsed.unwrap_or_else(|error| panic!("the line `{line}` is wrong: {error}"));
    app.app.open().unwrap_or_else(|failure| panic!("the line `{line}` is wrong: {failure}"))
}

/// The names of all applications, in the order of the table.
pub fn names() -> Vec<String> {
    Line::command()
        .get_subcommands()
        .map(|command| command.get_name().to_owned())
        .filter(|name| name != "help")
        .collect()
}

/// A JSON object of parameters: `object([("n", 3.into())])`.
fn object<const N: usize>(entries: [(&str, Value); N]) -> Map<String, Value> {
    entries.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}
