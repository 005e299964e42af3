//! Awaited calls of functions that are not tasks: one error each.

use finespun::prelude::*;

fn plain(n: u64) -> u64 {
    n
}

async fn std_future(n: u64) -> u64 {
    n
}

#[task]
async fn twice(n: u64) -> u64 {
    n * 2
}

#[task]
async fn calls_a_plain_function(n: u64) -> u64 {
    let a = plain(n).await;
    // cure "drop the `.await`":     let a = plain(n);
    a + twice(a).await
}

#[task]
async fn calls_at_the_end(n: u64) -> u64 {
    std_future(n).await
    // cure "`foreign(future).await`":     foreign(std_future(n)).await
}

#[task]
async fn calls_in_a_loop(n: u64) -> u64 {
    let mut sum = 0;
    for k in 0..n {
        sum += std_future(k).await;
        // cure "`foreign(future).await`":         sum += foreign(std_future(k)).await;
    }
    sum
}

async fn unmarked(v: &[u64]) -> u64 {
    // cure "mark the called function `#[task] async fn`": #[task] async fn unmarked(v: &[u64]) -> u64 {
    v[0]
}

#[task]
async fn borrows_a_local(n: u64) -> u64 {
    let v = vec![n];
    unmarked(&v).await + v[0]
}

#[task(pinned)]
async fn joins(n: u64) -> u64 {
    let (a, b) = join!(plain(n), twice(n));
    // cure "mark the called function `#[task] async fn`":     let (a, b) = join!(twice(n), twice(n));
    a + b
}

fn main() {}
