//! A scope whose body is a plain closure, as rayon's is.
#![deny(warnings)]

use finespun::prelude::*;
use std::sync::atomic::{AtomicU64, Ordering};

#[task]
async fn add(sum: &AtomicU64, n: &u64) {
    sum.fetch_add(*n, Ordering::Relaxed);
}

#[task]
async fn borrowing(numbers: &[u64], sum: &AtomicU64) {
    scope(|s| {
        for n in numbers {
            s.spawn(add(sum, n));
        }
    })
    .await;
}

#[task]
async fn local(sum: &AtomicU64) -> u64 {
    let numbers = vec![1, 2, 3];
    scope(|s| {
        for n in &numbers {
            s.spawn(add(sum, n));
        }
    })
    .await;
    sum.load(Ordering::Relaxed)
}

fn main() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let sum = AtomicU64::new(0);
    runtime.run(borrowing(&[1, 2, 3], &sum));
    assert_eq!(runtime.run(local(&sum)), 12);
}
