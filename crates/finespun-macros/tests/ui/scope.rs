//! The closure of `scope`.

use finespun::prelude::*;

#[task]
async fn twice(n: u64) -> u64 {
    n * 2
}

#[task]
async fn count<'s>(s: Scope<'s>, numbers: &'s [u64]) -> usize {
    for n in numbers {
        s.spawn(twice(*n));
    }
    numbers.len()
}

#[task]
async fn counted(numbers: &[u64]) -> usize {
    scope(|s| { numbers.iter().for_each(|n| drop(s.spawn(twice(*n)))); numbers.len() }).await
    // cure "`scope(|s| count(s, data)).await`":     scope(|s| count(s, numbers)).await
}

#[task]
async fn spawning(numbers: &[u64]) {
    scope(|s| numbers.iter().map(|n| s.spawn(twice(*n))).count()).await;
    // cure "end the closure with a `;`":     scope(|s| { numbers.iter().map(|n| s.spawn(twice(*n))).count(); }).await;
}

fn main() {}
