//! Closures made by hand: holes, vectors, ends; no closure is lost or run twice.

mod dropped;
mod outside;
mod programs;
mod vectors;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use finespun::closure::{Cont, Vector, make_closure, post, send_argument, thread};

#[thread(portable)]
pub(crate) fn fib_fork(parent: Cont<u64>, n: u64) {
    if n < 2 {
        send_argument(n, parent);
    } else {
        let k1 = make_closure!(fib_sum, parent, _, _);
        let s1 = make_closure!(fib_fork, k1.x, n - 1);
        let s2 = make_closure!(fib_fork, k1.y, n - 2);
        post(s1);
        post(s2);
    }
}

#[thread(portable)]
pub(crate) fn fib_sum(parent: Cont<u64>, x: u64, y: u64) {
    send_argument(x + y, parent);
}

#[thread]
pub(crate) fn square(to: Cont<u64>, n: u64) {
    send_argument(n * n, to);
}

#[thread]
pub(crate) fn add_all(parent: Cont<u64>, scale: u64, values: Vector<u64>) {
    send_argument(values.iter().sum::<u64>() * scale, parent);
}

#[thread]
pub(crate) fn add_one(parent: Cont<u64>, x: u64) {
    send_argument(x + 1, parent);
}

/// A value that counts its live instances.
pub(crate) struct Counted(Arc<AtomicU64>);

impl Counted {
    pub(crate) fn new(alive: &Arc<AtomicU64>) -> Counted {
        alive.fetch_add(1, Relaxed);
        Counted(Arc::clone(alive))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Relaxed);
    }
}

#[thread]
pub(crate) fn hold(parent: Cont<u64>, given: Counted, sent: Counted, four: [Counted; 4], more: Vector<Counted>) {
    let held = [&given, &sent].len() + four.len() + more.len();
    send_argument(held as u64, parent);
}

/// Returns the panic message of `body`.
pub(crate) fn panics(body: impl FnOnce()) -> String {
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(body)).expect_err("it panics");
    let text = payload.downcast_ref::<String>().cloned();
    text.or_else(|| payload.downcast_ref::<&str>().map(|s| s.to_string())).expect("a panic with a text")
}

#[thread]
pub(crate) fn keep_waiting(never: u64, _given: Counted) {
    unreachable!("its computation was over with {never}");
}
