//! Loops whose activities all end: each runs once, and its value arrives.

use std::sync::atomic::{AtomicU64, Ordering};

use finespun::prelude::*;
use finespun::sync::Semaphore;
use finespun::testing::*;

use crate::common::{fib, plain_fib};
use crate::groups::everywhere;

#[task]
async fn count(times: &[AtomicU64], k: usize) {
    times[k].fetch_add(1, Ordering::Relaxed);
}

#[task]
async fn count_all(times: &[AtomicU64], step: usize) {
    parfor((0..times.len()).step_by(step), |k| count(times, k)).await;
}

#[test]
fn each_activity_runs_once() {
    everywhere(|runtime| {
        for (len, step) in [(0, 1), (1, 1), (2, 1), (100, 1), (100, 7)] {
            let times: Vec<AtomicU64> = (0..len).map(|_| AtomicU64::new(0)).collect();
            runtime.run(count_all(&times, step));
            for (k, times) in times.iter().enumerate() {
                assert_eq!(times.load(Ordering::Relaxed), u64::from(k % step == 0));
            }
        }
    });
}

#[task]
async fn work(n: u64) -> u64 {
    fib(n % 12).await
}

#[task]
async fn values(n: u64) -> Vec<String> {
    parfor(0..n, named).collect().await
}

#[task]
async fn named(n: u64) -> String {
    yield_every(n, 3).await;
    n.to_string()
}

#[task]
async fn yield_every(n: u64, k: u64) {
    if n.is_multiple_of(k) {
        yield_now().await;
    }
}

/// The operator is not associative: any order other than the loop's gives a different result.
#[task]
async fn folded(n: u64) -> u64 {
    parfor(0..=n, work).reduce(1, |hash, value| hash * 31 + value).await
}

#[test]
fn values_come_in_order() {
    everywhere(|runtime| {
        assert_eq!(runtime.run(values(50)), (0..50).map(|n| n.to_string()).collect::<Vec<_>>());
        let expected = (0..=10).fold(1, |hash, n| hash * 31 + plain_fib(n % 12));
        assert_eq!(runtime.run(folded(10)), expected);
    });
}

/// Figure 1 of maxi-parc-runtime, without its `parblock`.
#[task]
async fn prefix(numbers: &[AtomicU64]) {
    if numbers.len() < 2 {
        return;
    }
    let (low, high) = numbers.split_at(numbers.len().div_ceil(2));
    parfor(0..2, |half: usize| prefix(if half == 0 { low } else { high })).await;
    let last = low[low.len() - 1].load(Ordering::Relaxed);
    parfor(0..high.len(), |k| add(high, k, last)).await;
}

#[task]
async fn add(numbers: &[AtomicU64], k: usize, n: u64) {
    numbers[k].fetch_add(n, Ordering::Relaxed);
}

#[test]
fn constructs_nest() {
    everywhere(|runtime| {
        let numbers: Vec<AtomicU64> = (0..100).map(AtomicU64::new).collect();
        runtime.run(prefix(&numbers));
        let mut sum = 0;
        for (k, number) in (0..).zip(&numbers) {
            sum += k;
            assert_eq!(number.load(Ordering::Relaxed), sum);
        }
    });
}

#[task]
async fn pass(semaphores: &[Semaphore], k: usize) {
    // Each activity waits for the next one, which has not begun.
    if let Some(next) = semaphores.get(k + 1) {
        drop(next.acquire().await);
    }
    semaphores[k].release(1);
}

#[task]
async fn pass_all(semaphores: &[Semaphore]) {
    parfor(0..semaphores.len(), |k| pass(semaphores, k)).await;
}

#[test]
fn activities_may_wait_for_later_ones() {
    everywhere(|runtime| {
        let semaphores: Vec<Semaphore> = (0..300).map(|_| Semaphore::new(0)).collect();
        runtime.run(pass_all(&semaphores));
        assert!(semaphores.iter().all(|semaphore| semaphore.available() == 1));
    });
}

#[task]
async fn spin(turn: &AtomicU64, k: u64) {
    // Activities that spin on fetch-and-add for a later sibling finish on one worker.
    while turn.fetch_add(0, Ordering::AcqRel) != 9 - k {
        checkpoint().await;
    }
    turn.fetch_add(1, Ordering::AcqRel);
}

#[task]
async fn spin_all(turn: &AtomicU64) {
    parfor(0..10, |k| spin(turn, k)).await;
}

#[test]
fn activities_that_spin_for_a_sibling_finish_on_one_worker() {
    let quantum = std::time::Duration::from_millis(1);
    let runtime = Runtime::builder().workers(1).quantum(quantum).build().unwrap();
    let turn = AtomicU64::new(0);
    runtime.run(spin_all(&turn));
    assert_eq!(turn.into_inner(), 10);
    assert_eq!(runtime.close(), 0);
}

/// An iterator that reports a greater length each time.
#[derive(Clone)]
struct Grows<'a>(u64, &'a AtomicU64);

impl Iterator for Grows<'_> {
    type Item = u64;
    fn next(&mut self) -> Option<u64> {
        self.0 += 1;
        Some(self.0)
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        let len = 2 + self.1.fetch_add(10, Ordering::Relaxed) as usize;
        (len, Some(len))
    }
}

impl ExactSizeIterator for Grows<'_> {}

#[task]
async fn seven(begun: &AtomicU64) -> u64 {
    begun.fetch_add(1, Ordering::Relaxed);
    yield_now().await;
    7
}

#[task]
async fn growing(begun: &AtomicU64, asked: &AtomicU64) -> Vec<u64> {
    parfor(Grows(0, asked).step_by(1), |_| seven(begun)).collect().await
}

/// A user's iterator is asked for its length once: each activity has a value, and no other value exists.
#[test]
fn an_iterators_length_is_requested_once() {
    everywhere(|runtime| {
        let (begun, asked) = (AtomicU64::new(0), AtomicU64::new(0));
        let values = runtime.run(growing(&begun, &asked));
        assert_eq!(values.len() as u64, begun.into_inner());
        assert!(values.iter().all(|&value| value == 7));
    });
}
