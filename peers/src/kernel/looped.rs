//! A flat loop of many equal activities.

/// Some 100 ns: a chain of multiplications that starts from the index.
#[inline]
pub fn work(index: u64) -> u64 {
    let mut x = index | 1;
    for _ in 0..100 {
        x = x.wrapping_mul(6_364_136_223_846_793_005) ^ (x >> 7);
    }
    x
}

/// The sum of the work of so many activities, modulo 2^64.
pub fn answer(activities: u64) -> u64 {
    (0..activities).map(work).fold(0, u64::wrapping_add)
}
