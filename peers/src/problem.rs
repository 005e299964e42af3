//! The rows of the matrix: the problems, their sizes and their answers.

use std::fmt;

use clap::ValueEnum;
use serde::Serialize;

use crate::kernel::{looped, skynet};

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
    /// Unbalanced tree search, binomial: deep and ragged.
    UtsT3,
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
        /// `T1` or `T3`.
        name: &'static str,
        /// Its parameters, in the option letters of the original benchmark.
        options: String,
        /// The number of its nodes: published for the full size, otherwise counted by
        /// an independent program.
        nodes: u64,
    },
}

impl Problem {
    /// Returns the problem at this scale.
    pub fn at(self, scale: Scale) -> Instance {
        match self {
            Self::Fib => Instance::Fib {
                n: scale.pick(20, 27, 39),
            },
            Self::Skynet => Instance::Skynet {
                leaves: scale.pick(10_000, 100_000, 100_000_000),
            },
            Self::Loop => Instance::Loop {
                activities: scale.pick(1000, 10_000, 1_000_000),
            },
            Self::Queens => {
                let (n, answer) = scale.pick((8, 92), (9, 352), (14, 365_596));
                Instance::Queens { n, answer }
            }
            Self::Matmul => Instance::Matmul {
                side: scale.pick(128, 256, 2048),
            },
            Self::Tree => Instance::Tree {
                levels: scale.pick(12, 16, 24),
            },
            Self::UtsT1 => {
                let (depth, nodes) = scale.pick((6, 16_000), (7, 63_914), (10, 4_130_071));
                Instance::Uts {
                    name: "T1",
                    options: format!("-t 1 -a 3 -d {depth} -b 4 -r 19"),
                    nodes,
                }
            }
            Self::UtsT3 => {
                let (root, nodes) = scale.pick((20, 6_213), (100, 6_797), (2000, 4_112_897));
                Instance::Uts {
                    name: "T3",
                    options: format!("-t 0 -b {root} -q 0.124875 -m 8 -r 42"),
                    nodes,
                }
            }
        }
    }
}

impl Instance {
    /// Returns the result of a correct run; `None` for a product, which is checked
    /// differently.
    pub fn answer(&self) -> Option<u64> {
        match *self {
            Self::Fib { n } => Some(fib(n)),
            Self::Skynet { leaves } => Some(skynet::answer(leaves)),
            Self::Loop { activities } => Some(looped::answer(activities)),
            Self::Queens { answer, .. } => Some(answer),
            Self::Uts { nodes, .. } => Some(nodes),
            Self::Matmul { .. } => None,
            Self::Tree { levels } => Some((1 << levels) - 1),
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
            Self::UtsT3 => "uts-t3",
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
