//! A part of a body makes no warnings that the plain body does not make.
#![deny(warnings)]

use finespun::prelude::*;

#[task]
async fn read(n: &u64) -> u64 {
    *n
}

#[task]
async fn changes_locals(n: u64, mut all: Vec<u64>) -> u64 {
    let mut sum = 0;
    let mut total = 1;
    let mut awaited = read(&n).await;
    if n == 0 {
        return total;
    }
    let lent = n + 1;
    for i in 0..n {
        sum += read(&lent).await + i;
        all.push(i);
        awaited += 1;
    }
    total = read(&lent).await + total;
    sum + total + all.len() as u64 + awaited
}

#[task]
async fn branches(n: u64) -> u64 {
    match n {
        0 => 1,
        1 => { read(&n).await }
        2 => read(&n).await,
        _ => {
            let lent = n + 1;
            read(&lent).await
        }
    }
}

fn main() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    assert_eq!(runtime.run(changes_locals(2, vec![1])), 2 * 3 + 1 + 4 + 3 + 4);
    assert_eq!(runtime.run(branches(1)) + runtime.run(branches(5)), 7);
}
