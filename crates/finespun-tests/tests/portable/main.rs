//! Portable tasks: other processes take calls that have not begun, and the answers are the same.
#![cfg(feature = "objects")]

#[path = "../common/mod.rs"]
mod common;

mod closures;

use std::collections::HashSet;
use std::fmt::Debug;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use common::{Launch, Shared, over_shapes, within_a_minute};
use finespun::RunError;
use finespun::group::sync;
use finespun::objects::suspend_with;
use finespun::prelude::*;
use finespun::testing::*;
use serde::{Deserialize, Serialize};

/// Does the same as `over_shapes`. Panics if no task has migrated.
fn over_processes(test: impl Fn(&Runtime) + Send + 'static) {
    let migrated = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&migrated);
    over_shapes(&[(2, 1, 2), (2, 2, 4), (3, 1, 2), (4, 2, 8)], move |runtime| {
        // Until another process has asked for work in time.
        for _ in 0..20 {
            test(runtime);
            let migrated = runtime.stats().tasks_migrated;
            if counted.fetch_add(migrated, Ordering::Relaxed) + migrated > 0 {
                break;
            }
        }
    });
    assert!(migrated.load(Ordering::Relaxed) > 0, "no task has migrated");
}

/// Keeps the worker busy, so that others find work to take.
fn work(micros: u64) {
    let start = Instant::now();
    while start.elapsed() < Duration::from_micros(micros) {
        std::hint::spin_loop();
    }
}

#[task(portable)]
async fn fib(n: u32) -> u64 {
    if n < 2 {
        work(1);
        return n.into();
    }
    let (a, b) = join!(fib(n - 1), fib(n - 2));
    a + b
}

#[test]
fn branches_migrate() {
    over_processes(|runtime| {
        for n in [1, 12, 18] {
            assert_eq!(runtime.run(fib(n)), [1, 144, 2584][[1, 12, 18].iter().position(|&m| m == n).unwrap()]);
        }
    });
}

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Shape {
    name: String,
    width: u32,
}

/// Arguments by value and by reference, of all kinds.
#[task(portable)]
async fn describe(shape: &Shape, weights: &[f64], label: &str, depth: u32, own: Vec<u32>) -> (String, f64) {
    work(20);
    if depth == 0 {
        let sum = weights.iter().sum::<f64>() / f64::from(own.iter().sum::<u32>());
        return (format!("{label}{}", shape.name), sum);
    }
    let mut more = own.clone();
    more.push(depth);
    let (left, right) =
        join!(describe(shape, weights, label, depth - 1, more), describe(shape, &weights[1..], "b", depth - 1, own));
    (left.0 + &right.0, left.1 - right.1 / 3.0)
}

#[test]
fn what_a_task_borrows_travels_with_it() {
    fn plain(shape: &Shape, weights: &[f64], label: &str, depth: u32, own: Vec<u32>) -> (String, f64) {
        if depth == 0 {
            let sum = weights.iter().sum::<f64>() / f64::from(own.iter().sum::<u32>());
            return (format!("{label}{}", shape.name), sum);
        }
        let mut more = own.clone();
        more.push(depth);
        let left = plain(shape, weights, label, depth - 1, more);
        let right = plain(shape, &weights[1..], "b", depth - 1, own);
        (left.0 + &right.0, left.1 - right.1 / 3.0)
    }
    over_processes(|runtime| {
        let shape = Shape { name: "s".to_owned(), width: 3 };
        let weights: Vec<f64> = (0..20).map(|k| 1.0 / f64::from(k + 3)).collect();
        let expected = plain(&shape, &weights, "a", 6, vec![1, 2]);
        assert_eq!(runtime.run(describe(&shape, &weights, "a", 6, vec![1, 2])), expected);
    });
}

/// A sum whose order matters.
#[task(portable)]
async fn harmonic<const STEP: u64>(from: u64, count: u64) -> f64 {
    if count == 1 {
        work(5);
        return 1.0 / (from * STEP + 1) as f64;
    }
    let part = count.div_ceil(7);
    let parts = (0..count.div_ceil(part)).map(move |k| (from + k * part, part.min(count - k * part)));
    reduce(parts.map(|(from, count)| harmonic::<STEP>(from, count)), 0.0, |a: f64, b: f64| a + b).await
}

#[test]
fn batches_migrate_and_their_values_keep_their_order() {
    fn plain(from: u64, count: u64) -> f64 {
        if count == 1 {
            return 1.0 / (from * 3 + 1) as f64;
        }
        let part = count.div_ceil(7);
        (0..count.div_ceil(part)).map(|k| plain(from + k * part, part.min(count - k * part))).fold(0.0, |a, b| a + b)
    }
    over_processes(|runtime| assert_eq!(runtime.run(harmonic::<3>(0, 900)), plain(0, 900)));
}

#[task(portable)]
async fn fails_from(n: u32, first: u32) -> u32 {
    work(100);
    assert!(n < first, "task {n} has failed");
    n
}

#[task]
async fn all_of(count: u32, first: u32) -> Vec<u32> {
    join_all((0..count).map(move |n| fails_from(n, first))).await
}

#[task]
async fn both(n: u32) -> (u32, u32) {
    join!(fails_from(n, n), fails_from(n + 1, 0))
}

/// Returns the text of the panic of `run`.
fn text_of<T: Debug>(result: Result<T, RunError>) -> String {
    let error = result.expect_err("a panic");
    let RunError::Panicked(panic) = error else { panic!("{error}") };
    panic.to_string()
}

#[test]
fn the_first_panic_in_order_is_delivered() {
    over_processes(|runtime| {
        assert_eq!(runtime.run(all_of(60, 60)), (0..60).collect::<Vec<_>>());
        let text = text_of(runtime.try_run(all_of(60, 17)));
        assert!(text.contains("task 17 has failed"), "{text}");
        let text = text_of(runtime.try_run(both(5)));
        assert!(text.contains("task 5 has failed"), "{text}");
    });
}

/// Refuses to be encoded.
struct Stays;

impl Serialize for Stays {
    fn serialize<S: serde::Serializer>(&self, _: S) -> Result<S::Ok, S::Error> {
        Err(serde::ser::Error::custom("it stays where it is"))
    }
}

impl<'de> Deserialize<'de> for Stays {
    fn deserialize<D: serde::Deserializer<'de>>(_: D) -> Result<Stays, D::Error> {
        Err(serde::de::Error::custom("it has never left"))
    }
}

#[task(portable)]
async fn stays(_it: Stays) {
    work(200);
}

#[task]
async fn all_stay() {
    join_all((0..40).map(|_| stays(Stays))).await;
}

#[test]
fn an_argument_that_cannot_be_encoded_is_a_panic_that_says_so() {
    within_a_minute(|| {
        let runtime = Runtime::builder().over(2, 2).workers(1).nodes(2).build().unwrap();
        // Until another process has asked in time.
        let text = (0..1000).find_map(|_| runtime.try_run(all_stay()).err()).expect("a refusal").to_string();
        assert!(
            text.contains("Stays,)>` could not be encoded") || text.contains("Stays,)` could not be encoded"),
            "{text}"
        );
        assert_eq!(runtime.close(), 0);
    });
}

static VISITS: AtomicU64 = AtomicU64::new(0);

#[task(portable)]
async fn visit(n: u32) -> Vec<u32> {
    work(50);
    VISITS.fetch_add(1, Ordering::Relaxed);
    if n < 256 {
        let (mut left, right) = join!(visit(2 * n), visit(2 * n + 1));
        left.extend(right);
        left.push(n);
        return left;
    }
    vec![n]
}

/// Searches in activities; the first that ends terminates the others.
#[task]
async fn search() -> u32 {
    parfor(0..4u32, first_of).await.expect_err("every activity ends the group")
}

#[task]
async fn first_of(k: u32) -> Result<(), u32> {
    let found = visit(128 + k).await;
    Err(found.len() as u32)
}

#[test]
fn tasks_of_terminated_groups_end_everywhere() {
    over_processes(|runtime| {
        for _ in 0..3 {
            assert_eq!(runtime.run(search()), 3);
            let all: HashSet<u32> = runtime.run(visit(1)).into_iter().collect();
            assert_eq!(all.len(), 511);
        }
    });
}

/// Activities that meet at the barrier of their group, wherever they run.
#[task(portable)]
async fn phases(k: u64) -> u64 {
    work(30);
    PHASES.add(1);
    sync().await;
    let first = PHASES.load() as u64;
    sync().await;
    work(10 * (k % 3));
    first
}

static PHASES: Shared = Shared::new();

#[task]
async fn meet(count: u64) -> Vec<u64> {
    parfor(0..count, phases).collect().await
}

#[test]
fn activities_meet_at_the_barrier_of_their_group() {
    over_processes(|runtime| {
        for count in [1, 40] {
            PHASES.swap(0);
            assert_eq!(runtime.run(meet(count)), vec![count; count as usize]);
        }
    });
}

#[task(portable)]
async fn look(k: u32) -> Result<(), u32> {
    work(60);
    if k.is_multiple_of(37) { Err(k) } else { Ok(()) }
}

#[task(portable)]
async fn breaks_at(k: u32, at: u32) -> u32 {
    work(60);
    assert!(k != at, "activity {k} has failed");
    k * k
}

#[task]
async fn find(from: u32) -> Option<u32> {
    parfor(from..from + 200, look).await.err()
}

#[task]
async fn squares(count: u32, at: u32) -> Vec<u32> {
    parfor(0..count, move |k| breaks_at(k, at)).collect().await
}

#[test]
fn activities_migrate_and_end_their_group() {
    over_processes(|runtime| {
        let found = runtime.run(find(1)).expect("several");
        assert!(found.is_multiple_of(37) && found > 0);
        assert_eq!(runtime.run(squares(120, 120)), (0..120).map(|k| k * k).collect::<Vec<_>>());
        let text = text_of(runtime.try_run(squares(120, 77)));
        assert!(text.contains("activity 77 has failed"), "{text}");
    });
}

#[derive(Serialize, Deserialize)]
struct Sum(u64);

#[object]
impl Sum {
    fn add(&mut self, amount: u64) -> u64 {
        self.0 += amount;
        self.0
    }
}

/// Tasks that call objects, and hand on continuations.
#[task(portable)]
async fn adds(sum: Ref<Sum>, count: u64) -> u64 {
    if count == 1 {
        work(20);
        return sum.add(1).await;
    }
    let (a, b) = join!(adds(sum, count / 2), adds(sum, count - count / 2));
    a.max(b)
}

#[task(portable)]
async fn resolves(k: Continuation<u64>, value: u64) {
    work(100);
    k.resolve(value);
}

#[task]
async fn resolve_all(count: u64) -> u64 {
    let waits = (0..count).map(|n| suspend_with(move |k| resolves(k, n)));
    reduce(waits, 0, |a: u64, b: u64| a + b).await
}

#[task]
async fn add_all(count: u64) -> (u64, u64) {
    let sum = on(1).create(Sum(0)).await;
    let most = adds(sum, count).await;
    (most, sum.add(0).await)
}

#[test]
fn tasks_elsewhere_use_objects_and_continuations() {
    over_processes(|runtime| {
        assert_eq!(runtime.run(add_all(200)), (200, 200));
        assert_eq!(runtime.run(resolve_all(50)), 49 * 50 / 2);
    });
}

/// Panics when it is dropped, wherever that is.
#[derive(Serialize, Deserialize)]
struct Bomb(u32);

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("bomb {}", self.0);
        }
    }
}

#[task(portable)]
async fn defuses(bomb: Bomb) -> u32 {
    work(100);
    let number = bomb.0;
    std::mem::forget(bomb);
    number
}

#[task]
async fn defuse_all(count: u32) -> Vec<u32> {
    join_all((0..count).map(|n| defuses(Bomb(n)))).await
}

/// The sender drops what it has sent, which is nobody's panic.
#[test]
fn a_panic_of_an_arguments_destructor_at_the_sender_is_discarded() {
    over_processes(|runtime| assert_eq!(runtime.run(defuse_all(60)), (0..60).collect::<Vec<_>>()));
}
