//! The rows of the matrix: the problems, their sizes and their answers.

use std::fmt;

use clap::ValueEnum;
use serde::Serialize;

use crate::kernel::dfs::Dfs;
use crate::kernel::knapsack::Knapsack;
use crate::kernel::{looped, pi, skynet};

/// A problem of the matrix.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Problem {
    /// The naive Fibonacci recursion: nothing but calls.
    Fib,
    /// A tree of fan-out 10 that sums its leaf numbers.
    Skynet,
    /// A flat loop of activities of 100 ns.
    Loop,
    /// Counting n-queens placements, board by value.
    Queens,
    /// Matrix product by quadrants: coarse leaves.
    Matmul,
    /// Summing a complete binary tree of boxed nodes: memory-bound.
    Tree,
    /// Unbalanced tree search, geometric.
    UtsT1,
    /// Unbalanced tree search, geometric, with sizes that swing with the depth.
    UtsT2,
    /// Unbalanced tree search, binomial: deep and ragged.
    UtsT3,
    /// Unbalanced tree search, geometric above and binomial below.
    UtsT4,
    /// Unbalanced tree search, geometric, with sizes that shrink with the depth.
    UtsT5,
    /// Sorting by a merge sort with parallel merges.
    Cilksort,
    /// The 0-1 knapsack by exhaustive search.
    Knapsack,
    /// Matrix product by seven products of quadrants: coarse leaves, and memory.
    Strassen,
    /// A complete tree with some work at its leaves.
    Dfs,
    /// Counting random points in a circle, one by one.
    Pi,
}

/// The size class of a problem.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Just enough to start threads and fill caches.
    WarmUp,
    /// For a smoke test.
    Quick,
    /// For the reported figures.
    Full,
}

impl Scale {
    fn pick<T>(self, warm_up: T, quick: T, full: T) -> T {
        match self {
            Self::WarmUp => warm_up,
            Self::Quick => quick,
            Self::Full => full,
        }
    }
}

/// A problem of one size.
#[derive(Clone, PartialEq)]
pub enum Instance {
    /// `fib(n)`.
    Fib {
        /// The argument.
        n: u64,
    },
    /// A tree with this number of leaves, a power of ten.
    Skynet {
        /// Leaves.
        leaves: u64,
    },
    /// A loop of this number of activities.
    Loop {
        /// Activities.
        activities: u64,
    },
    /// A board for this number of queens.
    Queens {
        /// Queens.
        n: u8,
        /// The number of placements (OEIS A000170).
        answer: u64,
    },
    /// Matrices of this side.
    Matmul {
        /// Rows and columns.
        side: usize,
    },
    /// A tree with this number of levels.
    Tree {
        /// Levels.
        levels: u32,
    },
    /// A UTS tree.
    Uts {
        /// `T1` to `T5`.
        name: &'static str,
        /// Its parameters, in the option letters of the original benchmark.
        options: String,
        /// The number of its nodes: published for the full size, otherwise counted by
        /// an independent program.
        nodes: u64,
    },
    /// This many numbers.
    Cilksort {
        /// Numbers.
        length: usize,
    },
    /// A knapsack with this many items.
    Knapsack {
        /// Items.
        items: usize,
    },
    /// Matrices of this side.
    Strassen {
        /// Rows and columns.
        side: usize,
    },
    /// A tree.
    Dfs(Dfs),
    /// This many points.
    Pi {
        /// Points.
        points: u64,
    },
}

impl Problem {
    /// Returns the problem at this scale.
    pub fn at(self, scale: Scale) -> Instance {
        match self {
            Self::Fib => Instance::Fib { n: scale.pick(20, 27, 39) },
            Self::Skynet => Instance::Skynet { leaves: scale.pick(10_000, 100_000, 100_000_000) },
            Self::Loop => Instance::Loop { activities: scale.pick(1000, 10_000, 1_000_000) },
            Self::Queens => {
                let (n, answer) = scale.pick((8, 92), (9, 352), (14, 365_596));
                Instance::Queens { n, answer }
            }
            Self::Matmul => Instance::Matmul { side: scale.pick(128, 256, 2048) },
            Self::Tree => Instance::Tree { levels: scale.pick(12, 16, 24) },
            Self::UtsT1 => {
                let (depth, nodes) = scale.pick((6, 16_000), (7, 63_914), (10, 4_130_071));
                Instance::Uts { name: "T1", options: format!("-t 1 -a 3 -d {depth} -b 4 -r 19"), nodes }
            }
            Self::UtsT2 => {
                let (depth, nodes) = scale.pick((8, 25_174), (9, 53_744), (16, 4_117_769));
                Instance::Uts { name: "T2", options: format!("-t 1 -a 2 -d {depth} -b 6 -r 502"), nodes }
            }
            Self::UtsT3 => {
                let (root, nodes) = scale.pick((20, 6_213), (100, 6_797), (2000, 4_112_897));
                Instance::Uts { name: "T3", options: format!("-t 0 -b {root} -q 0.124875 -m 8 -r 42"), nodes }
            }
            Self::UtsT4 => {
                let (depth, nodes) = scale.pick((8, 15_914), (10, 45_120), (16, 4_132_453));
                Instance::Uts { name: "T4", options: format!("-t 2 -a 0 -d {depth} -b 6 -r 1 -q 0.234375 -m 4"), nodes }
            }
            Self::UtsT5 => {
                let (depth, nodes) = scale.pick((12, 21_579), (13, 41_473), (20, 4_147_582));
                Instance::Uts { name: "T5", options: format!("-t 1 -a 0 -d {depth} -b 4 -r 34"), nodes }
            }
            Self::Cilksort => Instance::Cilksort { length: scale.pick(10_000, 100_000, 20_000_000) },
            Self::Knapsack => Instance::Knapsack { items: scale.pick(10, 16, 27) },
            Self::Strassen => Instance::Strassen { side: scale.pick(64, 256, 2048) },
            Self::Dfs => Instance::Dfs(Dfs { depth: scale.pick(3, 4, 7), width: 8, grain: 100 }),
            Self::Pi => Instance::Pi { points: scale.pick(10_000, 300_000, 100_000_000) },
        }
    }
}

impl Instance {
    /// Returns the result of a correct run; `None` for a product and for sorted numbers,
    /// which are checked differently.
    pub fn answer(&self) -> Option<u64> {
        match *self {
            Self::Fib { n } => Some(fib(n)),
            Self::Skynet { leaves } => Some(skynet::answer(leaves)),
            Self::Loop { activities } => Some(looped::answer(activities)),
            Self::Queens { answer, .. } => Some(answer),
            Self::Uts { nodes, .. } => Some(nodes),
            Self::Matmul { .. } | Self::Strassen { .. } | Self::Cilksort { .. } => None,
            Self::Tree { levels } => Some((1 << levels) - 1),
            Self::Knapsack { items } => Some(Knapsack::new(items).answer()),
            Self::Dfs(dfs) => Some(dfs.answer()),
            Self::Pi { points } => Some(pi::answer(points)),
        }
    }
}

/// Returns the `n`-th Fibonacci number, computed by a loop.
pub fn fib(n: u64) -> u64 {
    (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0
}

/// Returns the number of calls that the naive recursion makes for `fib(n)`.
pub fn fib_calls(n: u64) -> u64 {
    2 * fib(n + 1) - 1
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Fib => "fib",
            Self::Skynet => "skynet",
            Self::Loop => "loop",
            Self::Queens => "queens",
            Self::Matmul => "matmul",
            Self::Tree => "tree",
            Self::UtsT1 => "uts-t1",
            Self::UtsT2 => "uts-t2",
            Self::UtsT3 => "uts-t3",
            Self::UtsT4 => "uts-t4",
            Self::UtsT5 => "uts-t5",
            Self::Cilksort => "cilksort",
            Self::Knapsack => "knapsack",
            Self::Strassen => "strassen",
            Self::Dfs => "dfs",
            Self::Pi => "pi",
        })
    }
}

impl fmt::Display for Instance {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Fib { n } => write!(f, "fib {n}"),
            Self::Skynet { leaves } => write!(f, "skynet 10^{}", leaves.ilog10()),
            Self::Loop { activities } => write!(f, "loop {activities}"),
            Self::Queens { n, .. } => write!(f, "n-queens {n}"),
            Self::Matmul { side } => write!(f, "matmul {side}"),
            Self::Tree { levels } => write!(f, "tree sum 2^{levels}-1"),
            Self::Uts { name, nodes, .. } => write!(f, "UTS {name}, {nodes} nodes"),
            Self::Cilksort { length } => write!(f, "cilksort {length}"),
            Self::Knapsack { items } => write!(f, "knapsack {items}"),
            Self::Strassen { side } => write!(f, "strassen {side}"),
            Self::Dfs(Dfs { depth, width, grain }) => write!(f, "dfs {width}^{depth}, grain {grain}"),
            Self::Pi { points } => write!(f, "pi {points}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_fibonacci_numbers() {
        assert_eq!(fib(39), 63_245_986);
        assert_eq!(fib_calls(33), 11_405_773);
    }
}
