//! Forms of code that the stack schema does not support.

use finespun::prelude::*;

#[task]
async fn one(n: u64) -> u64 {
    n
}

macro_rules! mine {
    ($e:expr) => {
        $e
    };
}

#[task(stack)]
async fn opaque_macro(n: u64) -> u64 {
    let m = mine!(n + 1);
    one(m).await + 1
}

#[task(stack)]
async fn closure_in_a_loop(n: u64) -> u64 {
    let mut sum = 0;
    for i in 0..n {
        let add = |x: u64| x + i;
        sum += one(i).await;
        sum = add(sum);
    }
    sum
}

#[task(stack)]
async fn inner_item(n: u64) -> u64 {
    if n > 1 {
        fn twice(n: u64) -> u64 {
            n * 2
        }
        return one(twice(n)).await + 1;
    }
    0
}

#[task(stack)]
async fn conditional(n: u64) -> u64 {
    #[cfg(debug_assertions)]
    let n = n + 1;
    one(n).await + 1
}

#[task(stack)]
async fn changes(mut n: u64) -> u64 {
    n + one({
        n += 1;
        n
    })
    .await
}

#[task(stack)]
async fn computed_place(v: &mut [u64], n: u64) {
    v[n as usize + 1] = one(n).await;
}

#[task(stack)]
async fn awaits_in_else(n: Option<u64>) -> u64 {
    let Some(n) = n else { return one(3).await + 1 };
    n
}

#[task(stack)]
async fn in_unsafe(n: u64) -> u64 {
    unsafe { one(n).await + 1 }
}

#[task(stack)]
async fn temporary(n: &std::sync::Mutex<Vec<u64>>) -> u64 {
    n.lock().unwrap()[0] + one(1).await
}

fn main() {}
