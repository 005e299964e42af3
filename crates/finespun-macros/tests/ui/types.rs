//! Awaited values that are not tasks, and values that must not move between threads.

use finespun::prelude::*;
use std::rc::Rc;

async fn std_future() -> u64 {
    1
}

#[task]
async fn awaits_a_future() -> u64 {
    std_future().await + 1
}

#[task]
async fn one() -> u64 {
    1
}

#[task]
async fn keeps_an_rc() -> u64 {
    let shared = Rc::new(1);
    let n = one().await;
    n + *shared
}

fn main() {}
