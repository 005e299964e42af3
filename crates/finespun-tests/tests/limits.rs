//! Deep recursion, panics, deadlocks, idling, threads.

mod common;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use common::{everywhere, fib, within_a_minute};
use finespun::prelude::*;
use finespun::{Error, RunError};

struct List {
    next: Option<Box<List>>,
}

impl Drop for List {
    fn drop(&mut self) {
        let mut next = self.next.take();
        while let Some(mut list) = next {
            next = list.next.take();
        }
    }
}

#[task]
async fn length(list: &List) -> u64 {
    match &list.next {
        Some(next) => {
            let rest = length(next).await;
            rest + 1
        }
        None => 1,
    }
}

#[test]
fn recursion_deeper_than_the_stack_continues_in_the_heap() {
    let mut list = List { next: None };
    for _ in 1..1_000_000 {
        list = List { next: Some(Box::new(list)) };
    }
    for workers in [1, 2] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        assert_eq!(runtime.run(length(&list)), 1_000_000);
        assert!(runtime.stats().stack_limits > 0);
    }
}

/// Runs an empty loop first, which performs the guard check for the call after it.
#[task]
async fn behind_an_empty_loop(depth: u64) -> u64 {
    let none: u64 = reduce((0..0).map(behind_an_empty_loop), 0, |a, b| a + b).await;
    if depth == 0 {
        return none;
    }
    let below = behind_an_empty_loop(depth - 1).await;
    below + 1
}

#[test]
fn an_empty_loop_is_a_guard_check() {
    everywhere(|runtime| assert_eq!(runtime.run(behind_an_empty_loop(50)), 50));
    let runtime = Runtime::builder().workers(1).build().unwrap();
    assert_eq!(runtime.run(behind_an_empty_loop(1_000_000)), 1_000_000);
    assert!(runtime.stats().stack_limits > 0);
}

/// Panics in branch number `at` of a tree, and counts the live activations.
#[task]
async fn tree(alive: &AtomicUsize, depth: u32, at: u32) -> u32 {
    let _alive = Alive::new(alive);
    if depth == 0 {
        if at == 0 {
            // Bypasses the panic hook: a backtrace for each panic would take longer than the test.
            std::panic::resume_unwind(Box::new("branch reached"));
        }
        return 1;
    }
    let half = 1 << (depth - 1);
    let (a, b) = join!(tree(alive, depth - 1, at), tree(alive, depth - 1, at.wrapping_sub(half)));
    a + b
}

struct Alive<'a>(&'a AtomicUsize);
impl<'a> Alive<'a> {
    fn new(count: &'a AtomicUsize) -> Alive<'a> {
        count.fetch_add(1, Ordering::Relaxed);
        Alive(count)
    }
}
impl Drop for Alive<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[test]
fn a_panic_reaches_run_after_every_task_has_ended() {
    within_a_minute(|| {
        everywhere(|runtime| {
            for at in [0, 1, 17, 63] {
                let alive = AtomicUsize::new(0);
                let error = runtime.try_run(tree(&alive, 6, at)).unwrap_err();
                assert!(error.to_string().contains("branch reached"), "{error}");
                assert_eq!(alive.load(Ordering::Relaxed), 0);
            }
            let alive = AtomicUsize::new(0);
            assert_eq!(runtime.run(tree(&alive, 6, 64)), 64);
        });
    });
}

#[task]
async fn nested_run(runtime: &Runtime) -> bool {
    matches!(runtime.try_run(fib(1)), Err(RunError::OnWorker))
}

#[test]
fn run_on_a_worker_is_an_error() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    assert!(runtime.run(nested_run(&runtime)));
}

#[test]
fn settings_out_of_range_are_errors() {
    let error = Runtime::builder().workers(0).build().unwrap_err();
    assert!(matches!(error, Error::Workers { workers: 0, .. }));
    assert!(error.to_string().contains("between 1 and 1024"), "{error}");
    assert!(matches!(Runtime::builder().stack_size(1).build(), Err(Error::StackSize(1))));
    let error = Runtime::builder().thread_name("a\0b").build().unwrap_err();
    assert_eq!(error.to_string(), "thread_name(\"a\\0b\"): the name of a thread has no NUL in it");
}

/// Returns the number of threads of this process whose name begins with `name`.
fn threads(name: &str) -> usize {
    std::fs::read_dir("/proc/self/task")
        .unwrap()
        .filter_map(|task| std::fs::read_to_string(task.unwrap().path().join("comm")).ok())
        .filter(|comm| comm.starts_with(name))
        .count()
}

#[test]
fn a_dropped_runtime_leaves_no_thread() {
    for _ in 0..10 {
        let runtime = Runtime::builder().workers(3).thread_name("leave-none").build().unwrap();
        runtime.run(fib(15));
        assert!(threads("leave-none") >= 1);
        drop(runtime);
        // A joined thread may remain in the process's list for a moment.
        let gone = (0..100).any(|_| {
            threads("leave-none") == 0 || {
                thread::sleep(Duration::from_millis(10));
                false
            }
        });
        assert!(gone);
    }
}

/// Returns the processor time of the threads whose name begins with `name`, in clock ticks.
fn ticks(name: &str) -> u64 {
    let mut sum = 0;
    for task in std::fs::read_dir("/proc/self/task").unwrap() {
        let Ok(stat) = std::fs::read_to_string(task.unwrap().path().join("stat")) else { continue };
        let Some((head, tail)) = stat.rsplit_once(')') else { continue };
        if head.contains(&format!("({name}")) {
            let fields: Vec<&str> = tail.split_whitespace().collect();
            sum += fields[11].parse::<u64>().unwrap() + fields[12].parse::<u64>().unwrap();
        }
    }
    sum
}

#[test]
fn an_idle_runtime_uses_no_processor_time() {
    let runtime = Runtime::builder().workers(4).thread_name("idle").build().unwrap();
    runtime.run(fib(22));
    thread::sleep(Duration::from_millis(50));
    let before = ticks("idle");
    thread::sleep(Duration::from_secs(5));
    // 100 ticks a second: half a percent of five seconds is two and a half.
    assert!(ticks("idle") - before <= 2);
}

#[task]
async fn spin(stop: &AtomicUsize) -> u32 {
    let mut checks = 0;
    while stop.load(Ordering::Relaxed) == 0 {
        checkpoint().await;
        checks += 1;
    }
    checks
}

#[task]
async fn release(stop: &AtomicUsize) {
    stop.store(1, Ordering::Relaxed);
}

#[task]
async fn spin_and_release(stop: &AtomicUsize) -> u32 {
    let (checks, ()) = join!(spin(stop), release(stop));
    checks
}

#[test]
fn a_task_that_spins_on_its_sibling_is_preempted_after_its_quantum() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(1).quantum(Duration::from_millis(5)).build().unwrap();
        let start = Instant::now();
        assert!(runtime.run(spin_and_release(&AtomicUsize::new(0))) > 0);
        assert!(start.elapsed() < Duration::from_secs(5));
    });
}

/// Runs for `time`, checking the guard, and returns when it began.
#[task]
async fn busy(time: Duration) -> Instant {
    let begun = Instant::now();
    while begun.elapsed() < time {
        checkpoint().await;
    }
    begun
}

/// Runs alone until every other worker has parked, then has two branches.
#[task]
async fn late_branches() -> Duration {
    busy(Duration::from_millis(20)).await;
    let (first, second) = join!(busy(Duration::from_millis(20)), busy(Duration::ZERO));
    second.saturating_duration_since(first)
}

#[test]
fn late_parallelism_is_picked_up_within_two_milliseconds() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    // The machine may be busy, for instance with other tests, so one of many tries must succeed.
    let start = Instant::now();
    while runtime.run(late_branches()) >= Duration::from_millis(2) {
        assert!(start.elapsed() < Duration::from_secs(60), "in a minute nothing was picked up within 2 ms");
    }
}
