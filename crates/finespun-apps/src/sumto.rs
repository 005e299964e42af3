//! The sum of 1 to n by n assignments, divided among several activities: the load balancing test of maxi-parc-runtime,
//! section 4.1, Figure 4.
//!
//! Each step of the sum is an assignment to memory that the compiler must not elide. The answer is n (n + 1) / 2 for
//! any number of activities.

use std::hint::black_box;

use finespun::prelude::*;

/// Returns the sum from `from + 1` to `to`.
fn stretch(from: u64, to: u64) -> u64 {
    let mut sum = 0;
    for k in from..to {
        sum += k + 1;
        black_box(&mut sum);
    }
    sum
}

/// Returns the sum of 1 to `n`, modulo 2^64, sequentially.
pub fn plain(n: u64) -> u64 {
    stretch(0, n)
}

/// Returns the sum of 1 to `n`, modulo 2^64, by `activities` activities.
///
/// # Panics
///
/// Panics if `activities` is zero.
#[task]
pub async fn sumto(n: u64, activities: u64) -> u64 {
    assert!(activities > 0, "a sum needs an activity");
    parfor(0..activities, move |k| share(n, k, activities)).reduce(0, u64::wrapping_add).await
}

/// Returns the part of the sum that activity `k` computes.
#[task]
async fn share(n: u64, k: u64, activities: u64) -> u64 {
    let from = |k: u64| (u128::from(k) * u128::from(n) / u128::from(activities)) as u64;
    stretch(from(k), from(k + 1))
}

#[cfg(test)]
mod tests {
    use super::plain;

    #[test]
    fn agrees_with_the_formula() {
        for n in [0, 1, 2, 100, 12_345] {
            assert_eq!(plain(n), n * (n + 1) / 2);
        }
    }
}
