//! Observation: counters per worker, and the decisions of caches.
//!
//! Every module may call this one; it calls none.

#[cfg(feature = "objects")]
mod caches;
mod counters;

#[cfg(feature = "objects")]
pub use caches::CacheChoice;
#[cfg(feature = "objects")]
pub(crate) use caches::CacheChoices;
pub(crate) use counters::Counters;
pub use counters::Stats;
