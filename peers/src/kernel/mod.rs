//! The leaf code that every column shares: the computation of a task that no longer
//! forks, and its data.
//!
//! The Rust columns call it directly and the C++ columns through [`export`], so that a
//! difference between two columns is a difference between two runtimes. No module here
//! depends on a runtime.

pub mod cilksort;
pub mod dfs;
pub mod export;
pub mod knapsack;
pub mod looped;
pub mod matmul;
pub mod pi;
pub mod queens;
pub mod skynet;
pub mod strassen;
pub mod tree;
pub mod uts;
