//! A hole is filled once.

use finespun::closure::{Cont, make_closure, post, send_argument, thread, top};

#[thread]
fn sum(parent: Cont<u64>, x: u64, y: u64) {
    send_argument(x + y, parent);
}

fn main() {
    let _ = top(|k: Cont<u64>| {
        let k1 = make_closure!(sum, k, _, _);
        send_argument(1, k1.x);
        send_argument(2, k1.x);
        drop(k1.y);
    });
    let _ = top(|k: Cont<u64>| {
        let closure = make_closure!(sum, k, 1, 2);
        post(closure);
        post(closure);
    });
}
