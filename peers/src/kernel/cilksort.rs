//! Cilksort: a merge sort by quarters whose merges are parallel, too.
//!
//! A column sorts the quarters into place, merges them by pairs into the spare memory, and merges the halves back.

use std::mem::swap;

/// Slices shorter than this are sorted without forks.
pub const SORT: usize = 2048;

/// Two slices are merged without forks if the shorter one is shorter than this.
pub const MERGE: usize = 2048;

/// Returns the numbers from 0 on in an order that looks random.
pub fn scrambled(length: usize) -> Vec<u64> {
    let mut numbers: Vec<u64> = (0..length as u64).collect();
    let mut state = 1_u64;
    for at in 0..length {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        numbers.swap(at, (state >> 33) as usize % length);
    }
    numbers
}

/// Returns whether these are the numbers of [`scrambled`] in order.
pub fn is_sorted(numbers: &[u64]) -> bool {
    (0..).zip(numbers).all(|(expected, &number)| number == expected)
}

/// Returns the quarters of a slice; the last takes the rest.
#[inline]
pub fn quarters(numbers: &mut [u64]) -> [&mut [u64]; 4] {
    let quarter = numbers.len() / 4;
    let (first, rest) = numbers.split_at_mut(quarter);
    let (second, rest) = rest.split_at_mut(quarter);
    let (third, fourth) = rest.split_at_mut(quarter);
    [first, second, third, fourth]
}

/// Sorts a short slice.
#[inline(never)]
pub fn sort_short(numbers: &mut [u64]) {
    numbers.sort_unstable();
}

/// A merge of two sorted slices into a third one.
pub struct Merge<'a> {
    /// The longer slice.
    pub from: &'a [u64],
    /// The shorter slice.
    pub with: &'a [u64],
    /// The place of all numbers.
    pub to: &'a mut [u64],
}

impl<'a> Merge<'a> {
    /// Makes the merge of two slices into `to`, which has the length of both.
    #[inline]
    pub fn new(mut from: &'a [u64], mut with: &'a [u64], to: &'a mut [u64]) -> Self {
        if from.len() < with.len() {
            swap(&mut from, &mut with);
        }
        Self { from, with, to }
    }

    /// Returns whether the merge is too short for a fork.
    #[inline]
    pub fn is_short(&self) -> bool {
        self.with.len() < MERGE
    }

    /// Splits the merge at the middle of the longer slice.
    #[inline]
    pub fn halves(self) -> (Self, Self) {
        let (low, high) = self.from.split_at(self.from.len() / 2);
        let (with_low, with_high) = self.with.split_at(self.with.partition_point(|&number| number < high[0]));
        let (to_low, to_high) = self.to.split_at_mut(low.len() + with_low.len());
        (Merge::new(low, with_low, to_low), Merge::new(high, with_high, to_high))
    }

    /// Merges without forks.
    #[inline(never)]
    pub fn at_once(self) {
        let (mut from, mut with) = (self.from, self.with);
        for to in self.to {
            let taken = match (from, with) {
                ([a, ..], [b, ..]) if b < a => &mut with,
                ([_, ..], _) => &mut from,
                ([], _) => &mut with,
            };
            *to = taken[0];
            *taken = &taken[1..];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn merge(merge: Merge<'_>) {
        if merge.from.len() < 3 {
            return merge.at_once();
        }
        let (low, high) = merge.halves();
        merge_both(low, high);
    }

    fn merge_both(low: Merge<'_>, high: Merge<'_>) {
        merge(low);
        merge(high);
    }

    #[test]
    fn a_merge_in_parts_sorts() {
        for even in 0..20 {
            let (mut a, mut b): (Vec<u64>, Vec<u64>) = scrambled(20).into_iter().partition(|number| number % 20 < even);
            a.sort_unstable();
            b.sort_unstable();
            let mut to = vec![0; 20];
            merge(Merge::new(&a, &b, &mut to));
            assert!(is_sorted(&to));
        }
        assert!(!is_sorted(&scrambled(20)));
    }
}
