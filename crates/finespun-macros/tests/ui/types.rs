//! Awaited values that are not tasks, and values that must not move between threads.

use finespun::prelude::*;
use std::cell::RefCell;
use std::rc::Rc;
use std::sync::{Arc, Mutex};

async fn std_future() -> u64 {
    1
}

#[task]
async fn awaits_a_future() -> u64 {
    std_future().await + 1
    // cure "`foreign(future).await`":     foreign(std_future()).await + 1
}

#[task]
async fn one() -> u64 {
    1
}

#[task]
async fn keeps_an_rc() -> u64 {
    let shared = Rc::new(1);
    // cure "use `Arc` for `Rc`":     let shared = Arc::new(1);
    let n = one().await;
    n + *shared
}

#[task]
async fn shares_a_cell(n: u64) -> u64 {
    let cell = Arc::new(RefCell::new(n));
    // cure "a `Mutex` for `Cell` and `RefCell`":     let cell = Arc::new(Mutex::new(n));
    let n = one().await;
    drop(cell);
    n
}

fn main() {
    let _ = (Rc::new(1), Arc::new(1), RefCell::new(1), Mutex::new(1));
}
