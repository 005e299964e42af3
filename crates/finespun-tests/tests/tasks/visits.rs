//! Callers of `Runtime::run` that run tasks themselves, and runs that are served beside long ones.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use finespun::prelude::*;
use finespun::testing::*;

use crate::common::{fib, within_a_minute};

#[task]
async fn current_thread() -> ThreadId {
    thread::current().id()
}

/// Calls `run` until it has used the calling thread: a new worker must park first.
fn until_visited(runtime: &Runtime) {
    let own = thread::current().id();
    while runtime.run(current_thread()) != own {
        thread::yield_now();
    }
}

#[test]
fn a_caller_runs_the_task_itself() {
    within_a_minute(|| {
        for workers in [1, 2, 8] {
            let runtime = Runtime::builder().workers(workers).build().unwrap();
            until_visited(&runtime);
            thread::scope(|scope| drop(scope.spawn(|| until_visited(&runtime))));
            assert_eq!(runtime.close(), 0);
        }
    });
}

#[test]
fn prepared_workers_are_not_visited() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(1).on_worker_start(|_| ()).build().unwrap();
        let own = thread::current().id();
        for _ in 0..20 {
            assert_ne!(runtime.run(current_thread()), own);
            thread::sleep(Duration::from_millis(1));
        }
    });
}

#[test]
fn many_callers_at_once_get_their_own_answers() {
    within_a_minute(|| {
        for (workers, n) in [(1, 0), (2, 0), (3, 0), (2, 1), (2, 3)] {
            let runtime = Runtime::builder().workers(workers).block_every(n).build().unwrap();
            thread::scope(|scope| {
                for caller in 0..6 {
                    let runtime = &runtime;
                    scope.spawn(move || {
                        for round in 0..50 {
                            let n = (caller + round) % 15;
                            let plain = (0..n).fold((0, 1), |(a, b), _| (b, a + b)).0;
                            assert_eq!(runtime.run(fib(n)), plain);
                        }
                    });
                }
            });
            assert_eq!(runtime.close(), 0);
        }
    });
}

/// Uses 16 MiB of stack by plain calls.
fn deep(levels: usize) -> usize {
    let page = std::hint::black_box([levels as u8; 4096]);
    if levels == 0 { 0 } else { deep(levels - 1) + usize::from(page[17] == levels as u8) }
}

#[task]
async fn deep_plain_calls() -> usize {
    deep(4096)
}

#[test]
fn the_stack_of_the_caller_does_not_matter() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        until_visited(&runtime);
        let small = thread::Builder::new().stack_size(64 * 1024);
        thread::scope(|scope| {
            let caller = small.spawn_scoped(scope, || runtime.run(deep_plain_calls()));
            assert_eq!(caller.unwrap().join().unwrap(), 4096);
        });
    });
}

/// Runs until it is told to stop.
#[task]
async fn busy(stop: Arc<AtomicBool>, rounds: Arc<AtomicU64>) {
    while !stop.load(Ordering::Relaxed) {
        rounds.fetch_add(1, Ordering::Relaxed);
        checkpoint().await;
    }
}

#[task]
async fn resolved_from_outside(after: Duration) -> u64 {
    suspend(|k: Continuation<u64>| {
        let k = k.external();
        thread::spawn(move || {
            thread::sleep(after);
            k.resolve(7);
        });
    })
    .await
}

/// While its task waits, a caller leaves the tasks of other runs to the workers, and returns when its own run has ended.
#[test]
fn a_caller_returns_although_other_runs_go_on() {
    within_a_minute(|| {
        for workers in [1, 2, 3] {
            let runtime = Runtime::builder().workers(workers).quantum(Duration::from_millis(2)).build().unwrap();
            until_visited(&runtime);
            for round in 0..10 {
                let (stop, rounds) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
                let others: Vec<_> =
                    (0..2 * workers).map(|_| runtime.spawn(busy(Arc::clone(&stop), Arc::clone(&rounds)))).collect();
                assert_eq!(runtime.run(resolved_from_outside(Duration::from_millis(round))), 7);
                let before = rounds.load(Ordering::Relaxed);
                while rounds.load(Ordering::Relaxed) == before {
                    thread::yield_now();
                }
                stop.store(true, Ordering::Relaxed);
                for other in others {
                    runtime.run(ended(other));
                }
            }
            assert_eq!(runtime.close(), 0);
        }
    });
}

#[task]
async fn ended(run: finespun::runtime::RunFuture<()>) {
    foreign(run).await;
}

#[task]
async fn runs_inside(runtime: Arc<Runtime>) -> u64 {
    blocking(move || runtime.run(fib(10))).await
}

#[test]
fn a_blocking_call_may_run_a_task_of_the_same_runtime() {
    within_a_minute(|| {
        for workers in [1, 2] {
            let runtime = Arc::new(Runtime::builder().workers(workers).build().unwrap());
            for _ in 0..20 {
                assert_eq!(runtime.run(runs_inside(Arc::clone(&runtime))), 55);
            }
        }
    });
}

#[task]
async fn note(order: Arc<Mutex<Vec<u32>>>, number: u32) {
    order.lock().unwrap().push(number);
}

/// Each long run has had its first quantum when the short one begins: those that wait for their next one do not delay it.
#[test]
fn a_short_run_is_served_before_long_ones_that_have_run() {
    within_a_minute(|| {
        const QUANTUM: Duration = Duration::from_millis(50);
        const LONG: usize = 24;
        let runtime = Runtime::builder().workers(1).quantum(QUANTUM).build().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let rounds: Vec<_> = (0..LONG).map(|_| Arc::new(AtomicU64::new(0))).collect();
        let long: Vec<_> =
            rounds.iter().map(|rounds| runtime.spawn(busy(Arc::clone(&stop), Arc::clone(rounds)))).collect();
        // The roots that wait are served quickly, too: each once, before any has its second quantum.
        let begun = Instant::now();
        while rounds.iter().any(|rounds| rounds.load(Ordering::Relaxed) == 0) {
            thread::yield_now();
        }
        let all_begun = begun.elapsed();
        let order = Arc::new(Mutex::new(Vec::new()));
        let begun = Instant::now();
        let short = runtime.spawn(note(Arc::clone(&order), 1));
        while order.lock().unwrap().is_empty() {
            thread::yield_now();
        }
        let waited = begun.elapsed();
        stop.store(true, Ordering::Relaxed);
        drop((short, long));
        // One quantum each would take 1.2 s.
        let most = QUANTUM * LONG as u32 / 2;
        assert!(all_begun < most, "{all_begun:?}");
        assert!(waited < most, "{waited:?}");
    });
}

#[task]
async fn takes(lock: Arc<Mutex<u32>>) {
    *lock.lock().unwrap() += 1;
}

#[task]
async fn spawns_from_plain_thread(runtime: Arc<Runtime>, lock: Arc<Mutex<u32>>) -> u64 {
    suspend(|k: Continuation<u64>| {
        let k = k.external();
        thread::spawn(move || {
            // Finds the caller's worker idle, and the lock held by the caller.
            runtime.spawn(takes(lock)).detach();
            thread::sleep(Duration::from_millis(2));
            k.resolve(7);
        });
    })
    .await
}

/// A caller never runs a task of another run, which might wait for a lock that the caller holds.
#[test]
fn a_caller_that_holds_a_lock_is_not_blocked_by_other_runs() {
    within_a_minute(|| {
        let runtime = Arc::new(Runtime::builder().workers(2).build().unwrap());
        until_visited(&runtime);
        let lock = Arc::new(Mutex::new(0));
        for round in 0..20 {
            let held = lock.lock().unwrap();
            assert_eq!(runtime.run(spawns_from_plain_thread(Arc::clone(&runtime), Arc::clone(&lock))), 7);
            drop(held);
            while *lock.lock().unwrap() <= round {
                thread::yield_now();
            }
        }
    });
}

/// An object that belongs to the thread on which it was made.
struct OfThread(ThreadId);

#[object]
impl OfThread {
    fn made_and_used_on(&self) -> (String, String) {
        (format!("{:?}", self.0), format!("{:?}", thread::current().id()))
    }

    /// Locals that are not `Send` may be held across the await.
    async fn kept_local(&self) -> bool {
        let local = std::rc::Rc::new(thread::current().id());
        yield_now().await;
        *local == thread::current().id()
    }
}

fn of_this_thread(_: ()) -> OfThread {
    OfThread(thread::current().id())
}

#[task]
async fn make_and_use() -> (String, String, bool) {
    let object = on(here()).create_with(of_this_thread, ()).await;
    let (made, used) = object.made_and_used_on().await;
    (made, used, object.kept_local().await)
}

/// Objects need not be `Send`: only the thread of their node's worker makes and uses them.
#[test]
fn objects_stay_on_the_thread_of_their_worker() {
    within_a_minute(|| {
        for workers in [1, 2] {
            for n in [0, 1, 3] {
                let runtime = Runtime::builder().workers(workers).block_every(n).build().unwrap();
                until_visited(&runtime);
                let own = thread::current().id();
                for _ in 0..20 {
                    let (made, used, kept) = runtime.run(make_and_use());
                    assert!(made != format!("{own:?}") && made == used && kept);
                }
                // From then on, callers do not run tasks.
                assert_ne!(runtime.run(current_thread()), own);
                assert_eq!(runtime.close(), 0);
            }
        }
    });
}
