//! Code that `#[thread]` and `tail_call!` reject.

use finespun::closure::{tail_call, thread, top};

#[thread]
async fn waits(parent: Cont<u64>) {}

#[thread]
fn returns(x: u64) -> u64 {
    x
}

#[thread]
fn borrows(parent: Cont<u64>, text: &str) {}

#[thread]
fn lives<'a>(parent: Cont<u64>) {}

#[thread]
fn vector_first(values: Vector<u64>, parent: Cont<u64>) {}

#[thread]
fn takes_apart((a, b): (u64, u64)) {}

#[thread]
fn shares_late(parent: Cont<u64>, #[shared] table: &Vec<u64>) {}

#[thread(eager)]
fn unknown_option(parent: Cont<u64>) {}

#[thread(portable)]
fn shares_and_travels(#[shared] table: &Vec<u64>, parent: Cont<u64>) {}

fn main() {
    let _ = top(|k| tail_call!(sum, k, _, 1));
}
