//! Borrows that cannot move to the heap with their local.

use finespun::prelude::*;

#[task]
async fn add(v: &[u64]) -> u64 {
    v.iter().sum()
}

#[task]
async fn bump(n: &mut u64) {
    *n += 1;
}

#[task(stack)]
async fn of_a_parameter(v: Vec<u64>) -> u64 {
    add(&v).await
}

#[task(stack)]
async fn of_a_local() -> u64 {
    let text = String::from("text");
    let bytes = text.as_bytes();
    let n = one().await;
    n + bytes.len() as u64
}

#[task(stack)]
async fn twice(n: &mut u64) {
    bump(n).await;
    bump(n).await;
}

#[task(stack)]
async fn of_another_await() -> usize {
    let n = &make().await;
    one().await;
    n.len()
}

#[task]
async fn one() -> u64 {
    1
}

#[task]
async fn make() -> Vec<u64> {
    vec![1]
}

fn main() {}
