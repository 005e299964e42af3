//! A local in a cell is borrowed by Rust's rules.

use finespun::prelude::*;

#[task]
async fn first(v: &[u64]) -> &u64 {
    yield_now().await;
    &v[0]
}

#[task]
async fn moved_while_borrowed(n: u64) -> u64 {
    let v = vec![n];
    let r = first(&v).await;
    drop(v);
    *r
}

#[task]
async fn returned() -> &'static u64 {
    let v = vec![1];
    first(&v).await
}

fn main() {}
