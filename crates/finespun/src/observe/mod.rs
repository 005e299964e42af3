//! Seeing what happens: counters by worker, and what caches have decided.
//!
//! Every room may call this one; it calls none.

mod caches;
mod counters;

pub use caches::CacheChoice;
pub(crate) use caches::CacheChoices;
pub(crate) use counters::Counters;
pub use counters::Stats;
