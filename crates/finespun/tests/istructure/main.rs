//! Write-once arrays: the same answers on any number of nodes, over any transport, with any cache.

#[path = "../common/mod.rs"]
mod common;

mod arrays;
mod bulk;
mod counted;
mod ends;
mod errors;
mod matrices;
mod plain;
mod programs;
mod random;
mod taken;
mod threads;
mod values;

use finespun::istructure::Cache;

/// No cache; blocks of one; a cache that is always too small; one that has room for all; one that decides for itself.
pub const CACHES: [Cache; 5] = [
    Cache::Off,
    Cache::On { block: 1, capacity: 3 },
    Cache::On { block: 8, capacity: 1 },
    Cache::On { block: 16, capacity: 1000 },
    Cache::Auto,
];
