//! A flat loop of many equal activities, each with a place for its result.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// Takes some 100 ns: a chain of multiplications that starts from the index.
#[inline]
pub fn work(index: u64) -> u64 {
    let mut x = index | 1;
    for _ in 0..100 {
        x = x.wrapping_mul(6_364_136_223_846_793_005) ^ (x >> 7);
    }
    x
}

/// Returns the places of all activities' results, all zero.
pub fn places(activities: u64) -> Vec<AtomicU64> {
    (0..activities).map(|_| AtomicU64::new(0)).collect()
}

/// Runs the activity with this index.
#[inline]
pub fn activity(places: &[AtomicU64], index: usize) {
    places[index].store(work(index as u64), Relaxed);
}

/// Returns the sum of the places modulo 2^64.
pub fn sum(places: &[AtomicU64]) -> u64 {
    places.iter().map(|place| place.load(Relaxed)).fold(0, u64::wrapping_add)
}

/// Returns the expected sum.
pub fn answer(activities: u64) -> u64 {
    (0..activities).map(work).fold(0, u64::wrapping_add)
}
