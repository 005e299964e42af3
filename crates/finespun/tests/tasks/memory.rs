//! Programs whose frames take more memory than they may.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use finespun::prelude::*;
use finespun::{Error, RunError, Runtime};

use crate::common::{fib, plain_fib, within_a_minute};

const LIMIT: usize = 16 << 20;
/// What an ended run may need on top, until its tasks are gone.
const RESERVE: usize = 24 << 20;

/// Calls `test` with a runtime of each kind, whose frames must be gone afterwards.
fn limited(limit: usize, test: impl Fn(&Runtime)) {
    for (workers, n) in [(1, 0), (2, 0), (1, 1), (2, 1)] {
        let runtime = Runtime::builder().workers(workers).block_every(n).frame_memory(limit).build().unwrap();
        test(&runtime);
        assert_eq!(runtime.close(), 0, "frames left, {workers} workers, block every {n}");
    }
}

/// Counts those that are alive.
struct Counted(Arc<AtomicU64>);

impl Counted {
    fn new(alive: &Arc<AtomicU64>) -> Counted {
        alive.fetch_add(1, Ordering::Relaxed);
        Counted(Arc::clone(alive))
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[task]
async fn runaway(n: u64, alive: Arc<AtomicU64>, deepest: Arc<AtomicU64>) -> u64 {
    let counted = Counted::new(&alive);
    deepest.fetch_max(n, Ordering::Relaxed);
    let below = runaway(n + 1, alive, deepest).await;
    drop(counted);
    below + 1
}

fn exhausted(end: Result<impl Sized, RunError>) -> finespun::FrameMemory {
    match end {
        Err(RunError::FrameMemory(error)) => error,
        Err(error) => panic!("{error}"),
        Ok(_) => panic!("it has an end"),
    }
}

#[test]
fn a_recursion_without_end_ends_in_an_error() {
    within_a_minute(|| {
        limited(LIMIT, |runtime| {
            let (alive, deepest) = <(Arc<AtomicU64>, Arc<AtomicU64>)>::default();
            let start = Instant::now();
            let error = exhausted(runtime.try_run(runaway(0, Arc::clone(&alive), Arc::clone(&deepest))));
            assert!(start.elapsed() < Duration::from_secs(20), "{:?}", start.elapsed());
            assert_eq!(alive.load(Ordering::Relaxed), 0, "all destructors have run");
            let deepest = deepest.load(Ordering::Relaxed) as usize;
            assert!(error.task.is_some_and(|name| name.ends_with("runaway")), "{error}");
            assert!(error.depth > deepest / 2 && error.depth <= deepest + 10, "{deepest}: {error}");
            assert!(error.frames >= error.depth, "{error}");
            assert!(error.limit == LIMIT && (LIMIT..LIMIT + RESERVE).contains(&error.bytes), "{error}");
            let text = RunError::FrameMemory(error).to_string();
            assert!(text.contains("runaway`") && text.contains("Builder::frame_memory"), "{text}");
            // The runtime goes on, with frames of other sizes too.
            assert_eq!(runtime.run(fib(15)), plain_fib(15));
            assert_eq!(runtime.run(wide(20_000)), 20_000);
        });
    });
}

#[test]
fn run_panics_with_the_error() {
    let runtime = Runtime::builder().workers(1).frame_memory(1 << 20).build().unwrap();
    let call = || runtime.run(runaway(0, Arc::default(), Arc::default()));
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(call)).unwrap_err();
    let text = payload.downcast_ref::<String>().unwrap();
    assert!(text.starts_with("out of frame memory: frames take ") && text.contains("runaway`"), "{text}");
}

#[task]
async fn one() -> u64 {
    yield_now().await;
    1
}

#[task]
async fn wide(n: u64) -> u64 {
    let begun: Vec<Handle<u64>> = (0..n).map(|_| spawn(one())).collect();
    reduce(begun, 0, |a, b| a + b).await
}

#[task]
async fn forever(counted: Counted, stop: Arc<AtomicBool>) {
    while !stop.load(Ordering::Relaxed) {
        yield_now().await;
    }
    drop(counted);
}

/// It never comes to a guard check.
#[task]
async fn spawn_without_end(alive: Arc<AtomicU64>, stop: Arc<AtomicBool>) {
    loop {
        drop(spawn(forever(Counted::new(&alive), Arc::clone(&stop))));
    }
}

#[task]
async fn scope_without_end<'s>(scope: Scope<'s>, alive: Arc<AtomicU64>, stop: Arc<AtomicBool>) {
    loop {
        drop(scope.spawn(forever(Counted::new(&alive), Arc::clone(&stop))));
        checkpoint().await;
    }
}

#[task]
async fn scoped(alive: Arc<AtomicU64>, stop: Arc<AtomicBool>) {
    scope(|s| scope_without_end(s, alive, stop)).await
}

#[test]
fn spawning_without_end_ends_in_an_error() {
    within_a_minute(|| {
        limited(16 << 20, |runtime| {
            let (alive, stop) = <(Arc<AtomicU64>, Arc<AtomicBool>)>::default();
            let error = exhausted(runtime.try_run(spawn_without_end(Arc::clone(&alive), Arc::clone(&stop))));
            assert!(error.bytes < (16 << 20) + RESERVE && error.frames > 10_000, "{error}");
            assert_eq!(alive.load(Ordering::Relaxed), 0);
            exhausted(runtime.try_run(scoped(Arc::clone(&alive), stop)));
            assert_eq!(alive.load(Ordering::Relaxed), 0);
            assert_eq!(runtime.run(fib(15)), plain_fib(15));
        });
    });
}

#[task]
async fn two_ways(depth: u64) -> u64 {
    let (a, b) = join!(two_ways(depth + 1), two_ways(depth + 1));
    a + b
}

#[task]
async fn each(depth: u64) -> u64 {
    parfor(0..4_u64, |k| each(depth + k)).collect().await.len() as u64
}

/// Every frame of it is larger than those of a pool.
#[task]
async fn large(n: u64) -> u64 {
    let kept = [n; 400];
    let below = large(n + 1).await;
    kept[(n % 400) as usize] + below
}

#[test]
fn recursions_of_other_kinds_end_in_an_error() {
    within_a_minute(|| {
        limited(16 << 20, |runtime| {
            exhausted(runtime.try_run(two_ways(0)));
            exhausted(runtime.try_run(each(0)));
            let error = exhausted(runtime.try_run(large(0)));
            assert!(error.bytes < (16 << 20) + RESERVE, "{error}");
            assert!(error.task.is_some_and(|name| name.ends_with("large")), "{error}");
            assert!(error.frames >= error.depth, "{error}");
            assert_eq!(runtime.run(fib(15)), plain_fib(15));
        });
    });
}

/// A run that goes on beside one that runs away.
#[task]
async fn steady(stop: Arc<AtomicBool>) -> u64 {
    let mut sum = 0;
    while !stop.load(Ordering::Relaxed) {
        sum = fib(12).await + wide(500).await;
        yield_now().await;
    }
    sum
}

#[test]
fn other_runs_go_on() {
    within_a_minute(|| {
        for (workers, n) in [(1, 0), (2, 0), (2, 1)] {
            let runtime = Runtime::builder().workers(workers).block_every(n).frame_memory(LIMIT).build().unwrap();
            let stop = Arc::new(AtomicBool::new(false));
            std::thread::scope(|threads| {
                let steady = threads.spawn(|| runtime.try_run(steady(Arc::clone(&stop))));
                for _ in 0..3 {
                    let (alive, deepest) = <(Arc<AtomicU64>, Arc<AtomicU64>)>::default();
                    exhausted(runtime.try_run(runaway(0, Arc::clone(&alive), deepest)));
                    assert_eq!(alive.load(Ordering::Relaxed), 0);
                }
                stop.store(true, Ordering::Relaxed);
                assert_eq!(steady.join().unwrap().unwrap(), plain_fib(12) + 500);
            });
            assert_eq!(runtime.close(), 0);
        }
    });
}

/// What a run has used is there for the next one, for frames of other sizes.
#[test]
fn memory_of_runs_that_have_ended_is_used_again() {
    #[task]
    async fn deep<const N: usize>(n: u64) -> u64 {
        if n == 0 {
            return 0;
        }
        let kept = [n; N];
        let below = deep::<N>(n - 1).await;
        below + kept[n as usize % N] / n
    }
    within_a_minute(|| {
        limited(32 << 20, |runtime| {
            for _ in 0..3 {
                assert_eq!(runtime.run(deep::<4>(100_000)), 100_000);
                assert_eq!(runtime.run(deep::<30>(35_000)), 35_000);
                assert_eq!(runtime.run(deep::<60>(18_000)), 18_000);
                assert_eq!(runtime.run(deep::<300>(4_000)), 4_000);
            }
        });
    });
}

#[test]
fn a_limit_that_is_too_small_is_an_error() {
    assert!(matches!(Runtime::builder().frame_memory(1000).build(), Err(Error::FrameMemory(1000))));
}
