//! The leaf code that every column shares: what a task computes once it stops
//! forking, and the data that it computes on.
//!
//! The Rust columns call it directly and the C++ columns through [`export`], so
//! that a difference between two columns is a difference between two runtimes.
//! Nothing here knows of any runtime.

pub mod export;
pub mod looped;
pub mod matmul;
pub mod queens;
pub mod skynet;
pub mod tree;
pub mod uts;
