//! Where the compiler guesses wrong, rustc reports an error: a borrow of a local never leaves with a suspended call.

use finespun::prelude::*;

struct View<'a>(&'a [u64]);

#[task]
async fn add(v: &[u64]) -> u64 {
    v.iter().sum()
}

#[task(stack)]
async fn forwarded(v: Vec<u64>) -> u64 {
    let view: View = View(&v);
    add(view.0).await
}

#[task(stack)]
async fn awaited(v: Vec<u64>) -> u64 {
    let view: View = View(&v);
    add(view.0).await + 1
}

#[task(stack)]
async fn kept(v: Vec<u64>) -> u64 {
    let view: View = View(&v);
    let n = add(&[]).await;
    n + view.0[0]
}

fn main() {}
