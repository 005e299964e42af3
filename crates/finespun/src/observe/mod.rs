//! Seeing what happens: counters by worker.
//!
//! Every room may call this one; it calls none.

mod counters;

pub(crate) use counters::Counters;
pub use counters::Stats;
