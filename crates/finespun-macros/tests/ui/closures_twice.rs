//! A hole is filled once, with a value that lives long enough.

use finespun::closure::{Cont, make_closure, post, send_argument, thread, top};

#[thread]
fn sum(parent: Cont<u64>, x: u64, y: u64) {
    send_argument(x + y, parent);
}

#[thread]
fn keep(parent: Cont<u64>, text: &'static String) {
    send_argument(text.len() as u64, parent);
}

fn main() {
    let _ = top(|k: Cont<u64>| {
        let local = String::from("a local");
        let k1 = make_closure!(keep, k, _);
        let short: Cont<&String> = k1.text;
        send_argument(&local, short);
    });
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
