//! Fibonacci numbers by naive double recursion.
//!
//! Every call does next to nothing, so the time is the price of a task: the classical first measurement of fine-grained
//! runtimes (it is also the first example of the continuation-passing-threads paper, section 2).
//!
//! A run makes 2 fib(n + 1) - 1 calls: fib(33) = 3,524,578 in 11,405,773 calls, fib(40) = 102,334,155 in 331,160,281. The
//! tests compare with the linear recurrence.

pub mod threads;

use finespun::prelude::*;

/// The n-th Fibonacci number (fib(0) = 0, fib(1) = 1) by plain calls.
///
/// Fits for n up to 93; above that it wraps or panics, as additions do, long after the end of the universe.
/// Cost: 2 fib(n + 1) - 1 calls.
pub fn plain(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    plain(n - 1) + plain(n - 2)
}

/// The n-th Fibonacci number; the two halves may run at the same time.
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

/// The n-th Fibonacci number by two awaits in sequence: tasks without parallelism.
///
/// It shows the price of `.await` alone, against [`fib`](fn@fib) with its `join!`.
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
