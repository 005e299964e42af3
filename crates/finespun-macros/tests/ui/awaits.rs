//! Awaits that no schema can compile.

use finespun::prelude::*;

#[task]
async fn one(n: u64) -> u64 {
    n
}

macro_rules! twice {
    ($value:expr) => {
        $value * 2
    };
}

#[task]
async fn in_a_macro() -> u64 {
    twice!(one(1).await)
}

#[task]
async fn in_a_closure(n: Option<u64>) -> Option<u64> {
    n.map(|x| one(x).await)
}

#[task]
async fn join_in_a_closure(n: Option<u64>) -> Option<(u64, u64)> {
    n.map(|x| join!(one(x), one(x)))
}

#[task]
async fn awaited_join() -> (u64, u64) {
    join!(one(1), one(2)).await
}

fn main() {}
