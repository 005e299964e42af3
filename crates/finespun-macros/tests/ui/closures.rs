//! Errors of closures with wrong types.

use finespun::closure::{Cont, make_closure, post, send_argument, thread, top};

#[thread]
fn sum(parent: Cont<u64>, x: u64, y: u64) {
    send_argument(x + y, parent);
}

fn main() {
    // Not full: an argument is missing.
    let _ = top(|k| post(make_closure!(sum, k, _, 1)));
    // The wrong type.
    let _ = top(|k: Cont<u64>| send_argument("one", k));
}
