//! Quicksort, as in rayon's demo `quicksort`: both parts of a slice at once. The demo sorts slices of at most 5,120 numbers
//! without tasks; so does the form for rayon. The form for Finespun has no such limit.

use std::sync::Arc;

use super::{Form, Pools, Program, Random, Size};

pub const PROGRAM: Program = Program {
    name: "quicksort",
    about: "quicksort of 10^6 numbers: a join of both parts, without a cut-off (rayon: below 5,120 plain)",
    make,
};

/// Moves the numbers that are at most the last one to the front; returns the last one's place behind them.
fn partition(numbers: &mut [u32]) -> usize {
    let pivot = numbers.len() - 1;
    let mut place = 0;
    for k in 0..pivot {
        if numbers[k] <= numbers[pivot] {
            numbers.swap(place, k);
            place += 1;
        }
    }
    numbers.swap(place, pivot);
    place
}

fn checksum(numbers: &[u32]) -> u64 {
    assert!(numbers.is_sorted(), "the numbers are not sorted");
    numbers.iter().map(|&x| u64::from(x)).sum()
}

type Sort = Box<dyn Fn(&mut [u32])>;

fn make(size: Size, pools: &Pools) -> Vec<Form> {
    let len = size.pick(20_000, 1_000_000);
    let mut random = Random::new(1);
    let input: Arc<[u32]> = (0..len).map(|_| random.next() as u32).collect();
    let form = |name, sort: Sort| {
        let (input, mut numbers) = (input.clone(), vec![0; len]);
        Form::new(name, move || {
            numbers.copy_from_slice(&input);
            sort(&mut numbers);
            checksum(&numbers)
        })
    };
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    vec![
        form("plain", Box::new(sort)),
        form("finespun", Box::new(move |numbers| finespun.run(finespun_form::sort(numbers)))),
        form("rayon", Box::new(move |numbers| rayon.install(|| rayon_form::sort(numbers)))),
    ]
}

fn sort(numbers: &mut [u32]) {
    if numbers.len() <= 1 {
        return;
    }
    let middle = partition(numbers);
    let (low, high) = numbers.split_at_mut(middle);
    sort(low);
    sort(high);
}

mod finespun_form {
    use finespun::prelude::*;

    use super::partition;

    #[task]
    pub async fn sort(numbers: &mut [u32]) {
        if numbers.len() <= 1 {
            return;
        }
        let middle = partition(numbers);
        let (low, high) = numbers.split_at_mut(middle);
        join!(sort(low), sort(high));
    }
}

mod rayon_form {
    use super::partition;

    pub fn sort(numbers: &mut [u32]) {
        if numbers.len() <= 5 * 1024 {
            return super::sort(numbers);
        }
        let middle = partition(numbers);
        let (low, high) = numbers.split_at_mut(middle);
        rayon::join(|| sort(low), || sort(high));
    }
}
