//! Tasks that plain `async` code awaits.

use finespun::prelude::*;

#[task]
async fn twice(n: u64) -> u64 {
    n * 2
}

#[task]
async fn four_times(n: u64) -> u64 {
    twice(n).await + twice(n).await
}

async fn plain(runtime: &Runtime) -> u64 {
    four_times(2).await
    // cure "runtime.spawn(task).await":     runtime.spawn(four_times(2)).await
}

async fn unmarked(n: u64) -> u64 {
    // cure "mark this function `#[task]`": #[task] async fn unmarked(n: u64) -> u64 {
    twice(n).await
}

#[task]
async fn in_a_block(n: u64) -> u64 {
    let task = async { twice(n).await };
    // cure "make the `async` block one":     let task = twice(n);
    foreign(task).await
    // cure "make the `async` block one":     task.await
}

fn main() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let _ = (plain(&runtime), unmarked(1), in_a_block(1));
}
