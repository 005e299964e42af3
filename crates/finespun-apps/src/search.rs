//! Search in a large array: the test of `pbreak` in maxi-parc-runtime, section 6.3, Figure 7.
//!
//! The array is divided into parts, one activity for each. The activity that finds the element terminates the group; a
//! second version, for comparison, does not. The answer is the position where the input stores the element.

use std::ops::ControlFlow::{self, Break, Continue};

use finespun::prelude::*;

/// Number of elements between two checkpoints: a few microseconds.
const BLOCK: usize = 4096;

/// The element that is searched for.
pub const WANTED: u64 = u64::MAX;

/// Returns an array of `n` elements with [`WANTED`] at position `at`, if `at` is below `n`.
pub fn input(n: usize, at: usize) -> Vec<u64> {
    let mut numbers: Vec<u64> = (0..n as u64).collect();
    if let Some(number) = numbers.get_mut(at) {
        *number = WANTED;
    }
    numbers
}

/// Returns the position of [`WANTED`], by a sequential search from the front.
pub fn plain(numbers: &[u64]) -> Option<usize> {
    numbers.iter().position(|&number| number == WANTED)
}

/// Returns the bounds of part `k` of `parts`.
fn part(numbers: &[u64], k: usize, parts: usize) -> (usize, usize) {
    let from = |k: usize| (k as u128 * numbers.len() as u128 / parts as u128) as usize;
    (from(k), from(k + 1))
}

/// Returns the position of [`WANTED`], by `activities` activities; the one that finds it terminates the others.
///
/// # Panics
///
/// Panics if `activities` is zero.
#[task]
pub async fn search(numbers: &[u64], activities: usize) -> Option<usize> {
    check(activities);
    parfor(0..activities, move |k| look_and_break(numbers, k, activities)).await.break_value()
}

#[task]
async fn look_and_break(numbers: &[u64], k: usize, parts: usize) -> ControlFlow<usize> {
    match look(numbers, k, parts).await {
        Some(at) => Break(at),
        None => Continue(()),
    }
}

/// Returns the same as [`search`](fn@search), but every activity completes its part.
///
/// # Panics
///
/// Panics if `activities` is zero.
#[task]
pub async fn search_all(numbers: &[u64], activities: usize) -> Option<usize> {
    check(activities);
    parfor(0..activities, move |k| look(numbers, k, activities)).reduce(None, Option::or).await
}

/// Searches a part, from its front.
#[task]
async fn look(numbers: &[u64], k: usize, parts: usize) -> Option<usize> {
    let (mut from, to) = part(numbers, k, parts);
    while from < to {
        checkpoint().await;
        let end = to.min(from + BLOCK);
        if let Some(at) = plain(&numbers[from..end]) {
            return Some(from + at);
        }
        from = end;
    }
    None
}

fn check(activities: usize) {
    assert!(activities > 0, "a search needs an activity");
}

#[cfg(test)]
mod tests {
    use super::{input, part, plain};

    #[test]
    fn parts_cover_the_array() {
        let numbers = input(1000, 3);
        for parts in [1, 3, 7, 1000, 2000] {
            let mut end = 0;
            for k in 0..parts {
                let (from, to) = part(&numbers, k, parts);
                assert!(from == end && to >= from);
                end = to;
            }
            assert_eq!(end, 1000);
        }
    }

    #[test]
    fn plain_finds_the_element() {
        assert_eq!(plain(&input(10, 0)), Some(0));
        assert_eq!(plain(&input(10, 9)), Some(9));
        assert_eq!(plain(&input(10, 10)), None);
        assert_eq!(plain(&input(0, 0)), None);
    }
}
