//! `async` blocks in place of tasks.

use finespun::prelude::*;

#[task]
async fn twice(n: u64) -> u64 {
    n * 2
}

#[task]
async fn one_more(n: u64) -> u64 {
    twice(n).await + 1
}

async fn std_future(n: u64) -> u64 {
    n
}

#[task]
async fn joined(n: u64) -> u64 {
    let (a, b) = join!(async { twice(n).await + 1 }, twice(n));
    // cure "make it a `#[task] async fn`":     let (a, b) = join!(one_more(n), twice(n));
    a + b
}

#[task]
async fn joined_futures(n: u64) -> u64 {
    let (a, b) = join!(async { std_future(n).await }, twice(n));
    // cure "wrap it: `foreign(async { .. })`":     let (a, b) = join!(foreign(async { std_future(n).await }), twice(n));
    a + b
}

#[task]
async fn in_a_group(n: u64) {
    parblock!(async { drop(std_future(n).await) }, yield_now());
    // cure "wrap it: `foreign(async { .. })`":     parblock!(foreign(async { drop(std_future(n).await) }), yield_now());
}

#[task]
async fn awaited(n: u64) -> u64 {
    async { twice(n).await + 1 }.await
    // cure "make it a `#[task] async fn`":     one_more(n).await
}

#[task]
async fn spawned(n: u64) -> u64 {
    let handle = spawn(async move { twice(n).await + 1 });
    // cure "an `async` block that awaits tasks becomes such a function":     let handle = spawn(one_more(n));
    handle.await
}

#[task]
async fn spawned_future(n: u64) -> u64 {
    let handle = spawn(std_future(n));
    // cure "is wrapped: `foreign(future)`":     let handle = spawn(foreign(std_future(n)));
    handle.await
}

fn main() {}
