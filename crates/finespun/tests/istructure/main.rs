//! Write-once arrays: the same results on any number of nodes, over any transport, with any cache.

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

/// No cache; blocks of one element; a cache that is always too small; one with room for all; one that adapts itself.
pub const CACHES: [Cache; 5] = [
    Cache::Off,
    Cache::On { block: 1, capacity: 3 },
    Cache::On { block: 8, capacity: 1 },
    Cache::On { block: 16, capacity: 1000 },
    Cache::Auto,
];
