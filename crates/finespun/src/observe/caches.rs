//! The decisions of `Cache::Auto`.

use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The decisions of [`Cache::Auto`](crate::istructure::Cache::Auto) for the arrays made at one place in the source, at
/// all nodes that read elements of other nodes, and the measured times on which it based them.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "processes", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub struct CacheChoice {
    /// Where the arrays were made.
    pub made: String,
    /// The number of decisions: one for each array and node that read elements of other nodes.
    pub caches: u64,
    /// The number of those caches that were on in the end.
    pub on: u64,
    /// How often a cache was switched on or off, or changed its block.
    pub changes: u64,
    /// The fewest and the most elements fetched by one request, over the caches that were on in the end.
    pub block: (usize, usize),
    /// Requests sent: requests for blocks, and for single elements while the cache was off.
    pub requests: u64,
    /// A lower bound for the hits per request of a block, estimated from a sample of blocks.
    pub hits: f64,
    /// Nanoseconds that a request of one element takes, summed over all processors, without the added overhead of its
    /// messages.
    pub request_ns: f64,
    /// Nanoseconds that each further element adds.
    pub element_ns: f64,
    /// Nanoseconds of a hit.
    pub hit_ns: f64,
    /// Nanoseconds that [`overhead`](crate::testing::TestSettings::overhead) adds to a request.
    pub added_ns: f64,
}

impl CacheChoice {
    fn add(&mut self, other: CacheChoice) {
        let (weight, more) = (self.requests as f64, other.requests as f64);
        if weight + more > 0.0 {
            self.hits = (self.hits * weight + other.hits * more) / (weight + more);
        }
        self.block = match (self.on, other.on) {
            (_, 0) => self.block,
            (0, _) => other.block,
            _ => (self.block.0.min(other.block.0), self.block.1.max(other.block.1)),
        };
        self.caches += other.caches;
        self.on += other.on;
        self.changes += other.changes;
        self.requests += other.requests;
        // The times are measured per process: the latest are the most accurate.
        (self.request_ns, self.element_ns) = (other.request_ns, other.element_ns);
        (self.hit_ns, self.added_ns) = (other.hit_ns, other.added_ns);
    }
}

impl fmt::Display for CacheChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CacheChoice { made, caches, on, changes, block, requests, hits, .. } = self;
        write!(f, "arrays made at {made}: cache on in {on} of {caches}")?;
        match (on, block) {
            (0, _) => {}
            (_, (least, most)) if least == most => write!(f, ", {most} elements a request")?,
            (_, (least, most)) => write!(f, ", {least} to {most} elements a request")?,
        }
        let CacheChoice { request_ns, element_ns, hit_ns, added_ns, .. } = self;
        write!(f, " ({changes} changes, {requests} requests)")?;
        if *request_ns == 0.0 {
            return f.write_str("; the costs of requests were not known yet");
        }
        write!(
            f,
            ", since a request has {hits:.1} hits of {hit_ns:.0} ns each, and takes \
             {request_ns:.0} ns, {element_ns:.0} more for each further element, and {added_ns:.0} of added overhead"
        )
    }
}

/// The choices of a runtime's caches, by the place where their arrays were made.
#[derive(Default)]
pub(crate) struct CacheChoices(Mutex<BTreeMap<String, CacheChoice>>);

impl CacheChoices {
    pub(crate) fn add(&self, choice: CacheChoice) {
        let mut all = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        match all.get_mut(&choice.made) {
            Some(known) => known.add(choice),
            None => drop(all.insert(choice.made.clone(), choice)),
        }
    }

    pub(crate) fn read(&self) -> Vec<CacheChoice> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).values().cloned().collect()
    }
}
