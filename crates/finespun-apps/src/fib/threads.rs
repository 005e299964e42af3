//! Fibonacci numbers by closures: Figure 3 of the continuation-passing-threads paper, and its section 2.4 with a tail
//! call.
//!
//! Each call with n >= 2 is two threads, one that forks and one that adds: fib(n) makes 3 fib(n + 1) - 2 closures with
//! `fork` alone; `tail` saves a third of these.

use finespun::Task;
use finespun::closure::{Cont, make_closure, post, send_argument, tail_call, thread, top};

/// Returns the n-th Fibonacci number; both halves are posted.
pub fn forked(n: u64) -> impl Task<Output = u64> + Send {
    top(move |k| post(make_closure!(fork, k, n)))
}

/// Returns the n-th Fibonacci number; the second half is a tail call.
pub fn tailed(n: u64) -> impl Task<Output = u64> + Send {
    top(move |k| post(make_closure!(tail, k, n)))
}

/// Implements the paper's `fib_fork`.
#[thread(portable)]
pub fn fork(parent: Cont<u64>, n: u64) {
    if n < 2 {
        send_argument(n, parent);
    } else {
        let k1 = make_closure!(sum, parent, _, _);
        let s1 = make_closure!(fork, k1.x, n - 1);
        let s2 = make_closure!(fork, k1.y, n - 2);
        post(s1);
        post(s2);
    }
}

/// Implements `fib_fork` with a tail call.
#[thread(portable)]
pub fn tail(parent: Cont<u64>, n: u64) {
    if n < 2 {
        send_argument(n, parent);
    } else {
        let k1 = make_closure!(sum, parent, _, _);
        let s1 = make_closure!(tail, k1.x, n - 1);
        post(s1);
        tail_call!(tail, k1.y, n - 2);
    }
}

/// Implements the paper's `fib_sum`.
#[thread(portable)]
pub fn sum(parent: Cont<u64>, x: u64, y: u64) {
    send_argument(x + y, parent);
}
