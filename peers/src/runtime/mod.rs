//! The columns: every problem written once per runtime, as that runtime's own
//! documentation would write it, without cutoffs. Only [`crate::one`] calls them.
//!
//! With two branches a column forks wherever the plain recursion calls itself, except
//! at the leaves of the tree sum. Each runtime decides how to split a loop.

mod chili;
#[cfg(feature = "finespun")]
mod finespun;
#[cfg(any(peers_plain_cpp, peers_tbb, peers_openmp))]
mod foreign;
#[cfg(feature = "fork-union")]
mod fork_union;
mod lace;
mod plain;
mod rayon;

use std::fmt;
use std::num::NonZero;
use std::sync::atomic::AtomicU64;

use clap::ValueEnum;
use serde::Serialize;

use crate::kernel::dfs::Dfs;
use crate::kernel::knapsack::Item;
use crate::kernel::{tree, uts};
use crate::problem::Problem;

/// The stack of every thread that runs tasks: UTS T3 is 1,572 levels deep, and a
/// worker that steals while it waits stacks one search on another.
pub const STACK_BYTES: usize = 256 << 20;

/// A runtime with started workers, ready to be timed. Only the problems that it [has](Runtime::has) are called.
pub trait Column {
    /// Returns the `n`-th Fibonacci number, by two recursive calls.
    fn fib(&self, n: u64) -> u64;
    /// Returns the sum of the leaf numbers `0..leaves` of a tree of fan-out 10.
    fn skynet(&self, leaves: u64) -> u64;
    /// Runs every activity of a loop, one for each place.
    fn each(&self, places: &[AtomicU64]);
    /// Returns the number of ways to place `n` queens.
    fn queens(&self, n: u8) -> u64;
    /// Computes C += A B, stored by quadrants.
    fn matmul(&self, c: &mut [f64], a: &[f64], b: &[f64]);
    /// Returns the sum of all values.
    fn tree_sum(&self, root: &tree::Node) -> u64;
    /// Returns the number of nodes.
    fn uts(&self, tree: &uts::Tree) -> u64;
    /// Sorts the numbers, with spare memory of the same length.
    fn cilksort(&self, numbers: &mut [u64], spare: &mut [u64]);
    /// Returns the best value of items within the capacity.
    fn knapsack(&self, items: &[Item], capacity: i64) -> u64;
    /// Computes C = A B, stored by quadrants.
    fn strassen(&self, c: &mut [f64], a: &[f64], b: &[f64]);
    /// Returns the sum of all leaves, modulo 2^64.
    fn dfs(&self, tree: Dfs) -> u64;
    /// Returns the number of points in the circle.
    fn pi(&self, points: u64) -> u64;
}

/// The runtimes of the matrix, in the order of its columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Runtime {
    /// The plain recursion in Rust: the floor, and the reference of all ratios.
    Plain,
    /// The plain recursion in C++: its compiler's share of the C++ columns.
    PlainCpp,
    /// Finespun.
    Finespun,
    /// rayon.
    Rayon,
    /// chili.
    Chili,
    /// Lace, as written again in Rust by `lace-ws`.
    Lace,
    /// Fork Union: flat loops only.
    ForkUnion,
    /// oneTBB.
    Tbb,
    /// OpenMP tasks.
    Openmp,
}

impl Runtime {
    /// Returns whether it runs on one worker only.
    pub fn is_plain(self) -> bool {
        matches!(self, Self::Plain | Self::PlainCpp)
    }

    /// Returns whether it solves this problem here.
    pub fn has(self, problem: Problem) -> bool {
        use Problem::{Cilksort, Dfs, Knapsack, Loop, Pi, Strassen};
        match self {
            Self::PlainCpp | Self::Tbb | Self::Openmp => !matches!(problem, Cilksort | Knapsack | Strassen | Dfs | Pi),
            Self::ForkUnion => problem == Loop,
            Self::Plain | Self::Finespun | Self::Rayon | Self::Chili | Self::Lace => true,
        }
    }

    /// Returns how to get it into this build; `None` if it is present.
    pub fn cure_if_absent(self) -> Option<&'static str> {
        let (present, cure) = match self {
            Self::Plain | Self::Rayon | Self::Chili | Self::Lace => (true, ""),
            Self::ForkUnion => (cfg!(feature = "fork-union"), "build with --features fork-union"),
            Self::PlainCpp => (cfg!(peers_plain_cpp), "install g++ and build again"),
            Self::Finespun => (cfg!(feature = "finespun"), "build with --features finespun"),
            Self::Tbb => (cfg!(peers_tbb), "install libtbb-dev and build again"),
            Self::Openmp => (cfg!(peers_openmp), "install g++ with OpenMP and build again"),
        };
        (!present).then_some(cure)
    }

    /// Starts the runtime. Returns `None` if this build lacks it.
    pub fn start(self, workers: NonZero<usize>) -> Option<Box<dyn Column>> {
        Some(match self {
            Self::Plain => Box::new(plain::Plain),
            Self::Rayon => Box::new(rayon::Rayon::start(workers)),
            Self::Chili => Box::new(chili::Chili::start(workers)),
            Self::Lace => Box::new(lace::Lace::start(workers)),
            #[cfg(feature = "fork-union")]
            Self::ForkUnion => Box::new(fork_union::ForkUnion::start(workers)),
            #[cfg(feature = "finespun")]
            Self::Finespun => Box::new(finespun::Finespun::start(workers)),
            #[cfg(peers_plain_cpp)]
            Self::PlainCpp => Box::new(foreign::Foreign::plain_cpp(workers)),
            #[cfg(peers_tbb)]
            Self::Tbb => Box::new(foreign::Foreign::tbb(workers)),
            #[cfg(peers_openmp)]
            Self::Openmp => Box::new(foreign::Foreign::openmp(workers)),
            #[allow(unreachable_patterns, reason = "in a build that has every column")]
            _ => return None,
        })
    }
}

impl fmt::Display for Runtime {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Plain => "plain",
            Self::PlainCpp => "plain-cpp",
            Self::Finespun => "finespun",
            Self::Rayon => "rayon",
            Self::Chili => "chili",
            Self::Lace => "lace",
            Self::ForkUnion => "fork-union",
            Self::Tbb => "tbb",
            Self::Openmp => "openmp",
        })
    }
}
