//! Awaits that no schema can compile.

use finespun::prelude::*;

#[task]
async fn one(n: u64) -> u64 {
    n
}

#[task]
async fn in_a_macro() {
    println!("{}", one(1).await);
}

#[task]
async fn in_a_guard(n: u64) -> u64 {
    match n {
        x if one(x).await > 3 => 1,
        _ => 2,
    }
}

#[task]
async fn in_a_chain(n: Option<u64>) -> u64 {
    if let Some(x) = n
        && one(x).await > 1
    {
        return x;
    }
    0
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
