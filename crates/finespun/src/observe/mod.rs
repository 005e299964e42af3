//! Observation: counters per worker, and the decisions of caches.
//!
//! Every module may call this one; it calls none.

mod caches;
mod counters;

pub use caches::CacheChoice;
pub(crate) use caches::CacheChoices;
pub(crate) use counters::Counters;
pub use counters::Stats;
