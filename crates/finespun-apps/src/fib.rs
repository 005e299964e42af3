//! Fibonacci numbers by naive double recursion.
//!
//! Each call does almost no work, so the time is the overhead of a task: the classical first measurement of
//! fine-grained runtimes (also the first example of the continuation-passing-threads paper, section 2).
//!
//! A run makes 2 fib(n + 1) - 1 calls: fib(33) = 3,524,578 in 11,405,773 calls, fib(40) = 102,334,155 in 331,160,281.
//! The tests compare with the linear recurrence.

pub mod threads;

use finespun::prelude::*;

/// Returns the n-th Fibonacci number (fib(0) = 0, fib(1) = 1) by plain calls.
///
/// The result fits for n up to 93; larger n would wrap or panic as additions do, but would take too long to get there.
/// Cost: 2 fib(n + 1) - 1 calls.
pub fn plain(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    plain(n - 1) + plain(n - 2)
}

/// Returns the n-th Fibonacci number; the two branches may run in parallel.
///
/// Cost: 2 fib(n + 1) - 1 tasks, nearly all of which stay procedure calls.
#[task]
pub async fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join!(fib(n - 1), fib(n - 2));
    a + b
}

/// Returns the n-th Fibonacci number by two awaits in sequence: tasks without parallelism.
///
/// Shows the cost of `.await` alone, in comparison with `join!` in [`fib`](fn@fib).
#[task]
pub async fn fib_sequence(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let a: u64 = fib_sequence(n - 1).await;
    let b: u64 = fib_sequence(n - 2).await;
    a + b
}

#[cfg(test)]
mod tests {
    #[test]
    fn agrees_with_the_recurrence() {
        let (mut a, mut b) = (0, 1);
        for n in 0..25 {
            assert_eq!(super::plain(n), a, "fib({n})");
            (a, b) = (b, a + b);
        }
    }
}
