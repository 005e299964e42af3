//! Skynet: a tree in which each inner node starts ten children; the leaves are numbered, and the numbers are added up.
//!
//! A common benchmark of the creation of many short tasks in a wide, shallow tree. Depth d has 10^d leaves numbered
//! from 0, so the answer is 10^d (10^d - 1) / 2; depth 6 gives 499,999,500,000.

use finespun::prelude::*;

/// Number of children of each inner node.
pub const CHILDREN: u64 = 10;

/// The largest depth whose sum fits 64 bits.
pub const MAX_DEPTH: u32 = 9;

/// Returns the number of leaves of a tree of `depth` levels.
///
/// # Panics
///
/// Panics if `depth` is above [`MAX_DEPTH`].
pub fn leaves(depth: u32) -> u64 {
    assert!(depth <= MAX_DEPTH, "depth {depth}: the sum fits 64 bits up to depth {MAX_DEPTH}");
    CHILDREN.pow(depth)
}

/// Returns the sum of the leaves' numbers, sequentially.
///
/// # Panics
///
/// Panics if `depth` is above [`MAX_DEPTH`].
pub fn plain(depth: u32) -> u64 {
    fn sum(first: u64, leaves: u64) -> u64 {
        if leaves == 1 {
            return first;
        }
        let share = leaves / CHILDREN;
        (0..CHILDREN).map(|child| sum(first + child * share, share)).sum()
    }
    sum(0, leaves(depth))
}

/// Returns the sum of the leaves' numbers, with one task per node.
///
/// # Panics
///
/// Panics if `depth` is above [`MAX_DEPTH`].
#[task]
pub async fn skynet(depth: u32) -> u64 {
    node(0, leaves(depth)).await
}

/// Returns the sum of the numbers `first .. first + leaves`; `leaves` is a power of ten.
#[task]
pub async fn node(first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let share: u64 = leaves / CHILDREN;
    reduce((0..CHILDREN).map(move |child| node(first + child * share, share)), 0, |a: u64, b: u64| a + b).await
}

/// Does the same as [`skynet`](fn@skynet), with the ten children written out in one `join!`.
///
/// # Panics
///
/// Panics if `depth` is above [`MAX_DEPTH`].
#[task]
pub async fn skynet_join(depth: u32) -> u64 {
    node_join(0, leaves(depth)).await
}

/// Does the same as [`node`](fn@node), with the ten children written out in one `join!`.
#[task]
pub async fn node_join(first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let share: u64 = leaves / CHILDREN;
    let (a, b, c, d, e, f, g, h, i, j) = join!(
        node_join(first, share),
        node_join(first + share, share),
        node_join(first + 2 * share, share),
        node_join(first + 3 * share, share),
        node_join(first + 4 * share, share),
        node_join(first + 5 * share, share),
        node_join(first + 6 * share, share),
        node_join(first + 7 * share, share),
        node_join(first + 8 * share, share),
        node_join(first + 9 * share, share),
    );
    a + b + c + d + e + f + g + h + i + j
}

#[cfg(test)]
mod tests {
    use super::{leaves, plain};

    #[test]
    fn agrees_with_the_formula() {
        for depth in 0..=6 {
            let n = leaves(depth);
            assert_eq!(plain(depth), n * (n - 1) / 2);
        }
        assert_eq!(plain(6), 499_999_500_000);
    }
}
