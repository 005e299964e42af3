//! Quicksort in place: each partition step lends the two parts of the slice to two branches.
//!
//! The pivot is the median of the first, the middle and the last element, so that sorted and reversed inputs split
//! evenly. The standard library sorts parts of at most [`CUTOFF`] elements (by insertion sort at that size). Both
//! versions use the same partition. The tests compare the results with `slice::sort_unstable` and, for sums, with the
//! input.

use finespun::prelude::*;

/// Parts of at most this many elements are not split further.
pub const CUTOFF: usize = 16;

/// Returns `n` pseudo-random numbers (SplitMix64), determined by `seed`.
pub fn input(n: usize, seed: u64) -> Vec<u64> {
    let mut state = seed;
    let mut next = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    };
    (0..n).map(|_| next()).collect()
}

/// Sorts `v` in place, sequentially.
///
/// Cost: O(n log n) comparisons on random, sorted and constant inputs; an adversary can make a median of three
/// quadratic.
pub fn plain(v: &mut [u64]) {
    if v.len() <= CUTOFF {
        v.sort_unstable();
        return;
    }
    let (left, right) = partition(v);
    plain(left);
    plain(right);
}

/// Sorts `v` in place; the two sides of each partition may be sorted in parallel.
///
/// Cost: the same as [`plain`]; the first partitions are sequential, so the parallelism is about log n.
#[task]
pub async fn sort<T: Ord + Send>(v: &mut [T]) {
    if v.len() <= CUTOFF {
        v.sort_unstable();
        return;
    }
    let (left, right) = partition(v);
    join!(sort(left), sort(right));
}

/// Splits `v` around a pivot. Returns the part not above the pivot and the part not below it; the pivot itself is
/// between them, in its final place.
///
/// Equal elements go to both sides, so constant input splits evenly.
fn partition<T: Ord>(v: &mut [T]) -> (&mut [T], &mut [T]) {
    move_median_to_front(v);
    let at = {
        let (pivot, rest) = v.split_first_mut().expect("only slices longer than the cutoff are partitioned");
        let (mut low, mut high) = (0, rest.len());
        loop {
            while low < high && rest[low] < *pivot {
                low += 1;
            }
            while low < high && rest[high - 1] > *pivot {
                high -= 1;
            }
            if low >= high {
                break low;
            }
            high -= 1;
            rest.swap(low, high);
            low += 1;
        }
    };
    v.swap(0, at);
    let (left, right) = v.split_at_mut(at);
    (left, &mut right[1..])
}

/// Swaps the first element with the median of the first, the middle and the last.
fn move_median_to_front<T: Ord>(v: &mut [T]) {
    let (first, middle, last) = (0, v.len() / 2, v.len() - 1);
    let (low, high) = if v[first] < v[last] { (first, last) } else { (last, first) };
    let median = if v[middle] < v[low] {
        low
    } else if v[middle] > v[high] {
        high
    } else {
        middle
    };
    v.swap(0, median);
}

#[cfg(test)]
mod tests {
    use super::{CUTOFF, input, partition, plain};

    #[test]
    fn partition_puts_the_pivot_in_its_place() {
        for n in CUTOFF + 1..200 {
            for values in [1, 2, 5, u64::MAX] {
                let mut v: Vec<u64> = input(n, n as u64).iter().map(|x| x % values).collect();
                let mut sorted = v.clone();
                sorted.sort_unstable();
                let (left, right) = partition(&mut v);
                let (highest, lowest) = (left.iter().max().copied(), right.iter().min().copied());
                let at = left.len();
                assert_eq!(left.len() + right.len() + 1, n);
                assert_eq!(v[at], sorted[at]);
                assert!(highest.is_none_or(|x| x <= v[at]) && lowest.is_none_or(|x| x >= v[at]));
            }
        }
    }

    #[test]
    fn sorts_what_the_standard_library_sorts() {
        let random = input(10_000, 7);
        let sorted: Vec<u64> = (0..10_000).collect();
        let reversed: Vec<u64> = (0..10_000).rev().collect();
        let few: Vec<u64> = random.iter().map(|x| x % 3).collect();
        for v in [random, sorted, reversed, few, vec![5; 10_000], vec![], vec![1]] {
            let (mut ours, mut theirs) = (v.clone(), v);
            plain(&mut ours);
            theirs.sort_unstable();
            assert_eq!(ours, theirs);
        }
    }

    #[test]
    fn sorted_input_is_not_quadratic() {
        // A quadratic sort would take 5e11 comparisons, and recurse half a million levels deep.
        let mut v: Vec<u64> = (0..1_000_000).collect();
        plain(&mut v);
        assert!(v.is_sorted());
    }
}
