//! Merge sort with parallel merges, as in rayon's demo `mergesort`: between slice and buffer, short slices by std's sort and
//! short merges at once, in all forms.

use std::sync::Arc;

use super::{Form, Pools, Program, Random, Size};

pub const PROGRAM: Program =
    Program { name: "mergesort", about: "merge sort of 2 x 10^6 numbers: joins of halves, parallel merges", make };

/// The number of items below which a slice is sorted at once, and of two that are merged at once.
const SORT: usize = 32 * 1024;
const MERGE: usize = 64 * 1024;

/// Merges two sorted slices.
fn merge_at_once(a: &[u32], b: &[u32], target: &mut [u32]) {
    let (mut i, mut j) = (0, 0);
    for place in target {
        if i < a.len() && (j == b.len() || a[i] <= b[j]) {
            *place = a[i];
            i += 1;
        } else {
            *place = b[j];
            j += 1;
        }
    }
}

/// A merge of two sorted slices.
struct Merge<'a> {
    a: &'a [u32],
    b: &'a [u32],
    target: &'a mut [u32],
}

impl<'a> Merge<'a> {
    /// Returns two merges, of all items below the middle of the longer slice, and of the others.
    fn halves(self) -> (Merge<'a>, Merge<'a>) {
        let Merge { a, b, target } = self;
        let (long, short) = if a.len() > b.len() { (a, b) } else { (b, a) };
        let (low, high) = long.split_at(long.len() / 2);
        let (below, above) = short.split_at(short.partition_point(|x| *x < high[0]));
        let (start, end) = target.split_at_mut(low.len() + below.len());
        (Merge { a: low, b: below, target: start }, Merge { a: high, b: above, target: end })
    }
}

/// Returns whether the numbers are in order, and their sum.
fn checksum(numbers: &[u32]) -> u64 {
    assert!(numbers.is_sorted(), "the numbers are not sorted");
    numbers.iter().map(|&x| u64::from(x)).sum()
}

type Sort = Box<dyn Fn(&mut [u32], &mut [u32])>;

fn make(size: Size, pools: &Pools) -> Vec<Form> {
    let len = size.pick(150_000, 2_000_000);
    let mut random = Random::new(1);
    let input: Arc<[u32]> = (0..len).map(|_| random.next() as u32).collect();
    let form = |name, sort: Sort| {
        let (input, mut numbers, mut buffer) = (input.clone(), vec![0; len], vec![0; len]);
        Form::new(name, move || {
            numbers.copy_from_slice(&input);
            sort(&mut numbers, &mut buffer);
            checksum(&numbers)
        })
    };
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    vec![
        form("plain", Box::new(plain_form::sort)),
        form("finespun", Box::new(move |numbers, buffer| finespun.run(finespun_form::sort(numbers, buffer)))),
        form("rayon", Box::new(move |numbers, buffer| rayon.install(|| rayon_form::sort(numbers, buffer)))),
    ]
}

mod plain_form {
    use super::*;

    pub fn sort(numbers: &mut [u32], buffer: &mut [u32]) {
        if numbers.len() <= SORT {
            return numbers.sort();
        }
        let half = numbers.len() / 2;
        let (low, high) = numbers.split_at_mut(half);
        let (a, b) = buffer.split_at_mut(half);
        sort_into(low, a);
        sort_into(high, b);
        merge_at_once(a, b, numbers);
    }

    fn sort_into(numbers: &mut [u32], target: &mut [u32]) {
        let half = numbers.len() / 2;
        let (low, high) = numbers.split_at_mut(half);
        let (a, b) = target.split_at_mut(half);
        sort(low, a);
        sort(high, b);
        merge_at_once(low, high, target);
    }
}

mod finespun_form {
    use finespun::prelude::*;

    use super::*;

    #[task]
    pub async fn sort(numbers: &mut [u32], buffer: &mut [u32]) {
        if numbers.len() <= SORT {
            return numbers.sort();
        }
        let half = numbers.len() / 2;
        let (low, high) = numbers.split_at_mut(half);
        let (a, b) = buffer.split_at_mut(half);
        join!(sort_into(low, a), sort_into(high, b));
        merge(Merge { a, b, target: numbers }).await;
    }

    #[task]
    async fn sort_into(numbers: &mut [u32], target: &mut [u32]) {
        let half = numbers.len() / 2;
        let (low, high) = numbers.split_at_mut(half);
        let (a, b) = target.split_at_mut(half);
        join!(sort(low, a), sort(high, b));
        merge(Merge { a: low, b: high, target }).await;
    }

    #[task]
    async fn merge(whole: Merge<'_>) {
        if whole.target.len() <= MERGE {
            return merge_at_once(whole.a, whole.b, whole.target);
        }
        let (low, high) = whole.halves();
        join!(merge(low), merge(high));
    }
}

mod rayon_form {
    use rayon::join;

    use super::*;

    pub fn sort(numbers: &mut [u32], buffer: &mut [u32]) {
        if numbers.len() <= SORT {
            return numbers.sort();
        }
        let half = numbers.len() / 2;
        let (low, high) = numbers.split_at_mut(half);
        let (a, b) = buffer.split_at_mut(half);
        join(|| sort_into(low, a), || sort_into(high, b));
        merge(Merge { a, b, target: numbers });
    }

    fn sort_into(numbers: &mut [u32], target: &mut [u32]) {
        let half = numbers.len() / 2;
        let (low, high) = numbers.split_at_mut(half);
        let (a, b) = target.split_at_mut(half);
        join(|| sort(low, a), || sort(high, b));
        merge(Merge { a: low, b: high, target });
    }

    fn merge(whole: Merge<'_>) {
        if whole.target.len() <= MERGE {
            return merge_at_once(whole.a, whole.b, whole.target);
        }
        let (low, high) = whole.halves();
        join(|| merge(low), || merge(high));
    }
}
