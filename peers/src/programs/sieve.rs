//! The sieve of Eratosthenes, as in rayon's demo `sieve`: the odd numbers up to a limit, in chunks that fit into a cache.

use super::{Form, Pools, Program, Size};

pub const PROGRAM: Program =
    Program { name: "sieve", about: "primes below 5 x 10^7, by the sieve of Eratosthenes: a loop over chunks", make };

const CHUNK: usize = 100_000;

/// Returns which of the odd numbers below `limit` are primes; the one at `k` is `2 * k + 1`.
fn small_primes(limit: usize) -> Vec<bool> {
    let mut primes = vec![true; limit / 2];
    primes[0] = false;
    for k in 1.. {
        let number = 2 * k + 1;
        if number * number >= limit {
            break;
        }
        if primes[k] {
            clear(&mut primes, number * number / 2, number);
        }
    }
    primes
}

fn clear(primes: &mut [bool], from: usize, step: usize) {
    primes[from..].iter_mut().step_by(step).for_each(|prime| *prime = false);
}

/// Clears the multiples of small primes in a chunk whose first number is `first`.
fn sift(small: &[bool], chunk: &mut [bool], first: usize) {
    let end = first + 2 * chunk.len();
    let primes = small.iter().enumerate().filter(|(_, prime)| **prime).map(|(k, _)| 2 * k + 1);
    for prime in primes.take_while(|prime| prime * prime < end) {
        let odd_multiple = (first.div_ceil(prime) | 1) * prime;
        let from = odd_multiple.max(prime * prime);
        if from < end {
            clear(chunk, (from - first) / 2, prime);
        }
    }
}

/// Returns the number of small primes, and all odd numbers below `limit`, of which those below the root are done.
fn begin(limit: usize) -> (usize, Vec<bool>) {
    let mut primes = small_primes(limit.isqrt() + 1);
    let small = primes.len();
    primes.resize(limit / 2, true);
    (small, primes)
}

fn count(primes: &[bool]) -> u64 {
    // And 2.
    primes.iter().map(|&prime| u64::from(prime)).sum::<u64>() + 1
}

fn make(size: Size, pools: &Pools) -> Vec<Form> {
    let limit = size.pick(1_000_000, 50_000_000);
    let (finespun, rayon) = (pools.finespun.clone(), pools.rayon.clone());
    vec![
        Form::new("plain", move || count(&sieve(limit))),
        Form::new("finespun", move || count(&finespun.run(finespun_form::sieve(limit)))),
        Form::new("rayon", move || count(&rayon.install(|| rayon_form::sieve(limit)))),
    ]
}

fn sieve(limit: usize) -> Vec<bool> {
    let (small, mut primes) = begin(limit);
    let (low, high) = primes.split_at_mut(small);
    let chunks = high.chunks_mut(CHUNK).enumerate();
    chunks.for_each(|(k, chunk)| sift(low, chunk, 2 * (small + k * CHUNK) + 1));
    primes
}

mod finespun_form {
    use finespun::par::prelude::*;
    use finespun::prelude::*;

    use super::{CHUNK, begin, sift};

    #[task]
    pub async fn sieve(limit: usize) -> Vec<bool> {
        let (small, mut primes) = begin(limit);
        let (low, high) = primes.split_at_mut(small);
        let chunks = high.par_chunks_mut(CHUNK).enumerate();
        chunks.for_each(|(k, chunk)| sift(low, chunk, 2 * (small + k * CHUNK) + 1)).await;
        primes
    }
}

mod rayon_form {
    use rayon::prelude::*;

    use super::{CHUNK, begin, sift};

    pub fn sieve(limit: usize) -> Vec<bool> {
        let (small, mut primes) = begin(limit);
        let (low, high) = primes.split_at_mut(small);
        // Each chunk is a job of its own.
        let chunks = high.par_chunks_mut(CHUNK).enumerate().with_max_len(1);
        chunks.for_each(|(k, chunk)| sift(low, chunk, 2 * (small + k * CHUNK) + 1));
        primes
    }
}
