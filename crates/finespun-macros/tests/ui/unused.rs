//! Values of awaited calls that must be used.

#![deny(unused_must_use)]

use finespun::par::prelude::*;
use finespun::prelude::*;

#[task]
async fn failing(k: u64) -> Result<(), u64> {
    if k > 3 { Err(k) } else { Ok(yield_now().await) }
}

#[task]
async fn in_a_stack_task(n: u64) {
    failing(n).await;
    // cure "use `let _ = ...` to ignore the resulting value": let _ = failing(n).await;
    if n > 2 {
        parfor(0..n, |k| failing(k)).await;
        // cure "use `let _ = ...` to ignore the resulting value": let _ = parfor(0..n, |k| failing(k)).await;
    }
}

#[task(pinned)]
async fn in_a_pinned_task(n: u64) {
    failing(n).await;
    // cure "use `let _ = ...` to ignore the resulting value": let _ = failing(n).await;
}

#[task]
async fn without_await(numbers: &[u64]) {
    numbers.par_iter().for_each(|n| assert!(*n > 0));
    // cure "a parallel iterator does nothing until its end is awaited": numbers.par_iter().for_each(|n| assert!(*n > 0)).await;
}

fn main() {}
