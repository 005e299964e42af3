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

use std::cell::Cell;

use finespun::istructure::Cache;
use finespun::prelude::*;

use arrays::LAYOUTS;
use common::on_any_nodes;

/// No cache; blocks of one element; a cache that is always too small; one with room for all; one that adapts itself.
pub const CACHES: [Cache; 5] = [
    Cache::Off,
    Cache::On { block: 1, capacity: 3 },
    Cache::On { block: 8, capacity: 1 },
    Cache::On { block: 16, capacity: 1000 },
    Cache::Auto,
];

/// Calls `test` with a runtime for each case of [`on_any_nodes`], each with every cache. The layout changes from call to call,
/// so that each occurs with each cache.
pub fn with_layouts_and_caches(test: impl Fn(&Runtime, usize, Cache)) {
    let case = Cell::new(0);
    on_any_nodes(|runtime| {
        for (number, cache) in CACHES.into_iter().enumerate() {
            test(runtime, (case.get() + number) % LAYOUTS, cache);
        }
        case.set(case.get() + 1);
    });
}
