//! Unwinding a stack to frames: whatever ends the run during it, the next run finds the worker in its initial state.

use std::panic::resume_unwind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::Duration;

use crate::common::{fib, within_a_minute};
use finespun::RunError;
use finespun::prelude::*;
use finespun::testing::*;

/// Recurses deeper than the stack.
#[task]
async fn deep(n: u64) -> u64 {
    if n == 0 {
        return 0;
    }
    deep(n - 1).await + 1
}

#[task]
async fn stuck() {
    suspend(|k: Continuation<()>| std::mem::forget(k)).await
}

/// Leaves the stack no more often than necessary: the number of its frames shows whether an earlier run left some
/// state.
#[task]
async fn probe() -> u64 {
    let ((), a, b) = join!(yield_now(), fib(5), fib(5));
    a + b
}

fn frames_of_a_probe(runtime: &Runtime) -> u64 {
    let before = runtime.stats().frames;
    assert_eq!(runtime.run(probe()), 10);
    runtime.stats().frames - before
}

#[task]
async fn out_of_stack_and_a_panic() {
    join!(deep(100_000), panic_soon());
}

#[task]
async fn panic_soon() {
    resume_unwind(Box::new("soon"));
}

#[task]
async fn endless(begun: Arc<AtomicU64>) {
    begun.store(1, Ordering::Release);
    loop {
        checkpoint().await;
    }
}

/// Runs until its quantum has ended.
#[task]
async fn slow() {
    thread::sleep(Duration::from_millis(20));
}

/// Leaves the stack at the guard check before the handle, although the handle has already ended.
#[task(pinned)]
async fn take_in(handle: Handle<'static, u64>) -> u64 {
    let ((), n) = join!(slow(), handle);
    n
}

#[task]
async fn hand_in() -> u64 {
    let handle = spawn(fib(5));
    while !handle.is_finished() {
        yield_now().await;
    }
    take_in(handle).await
}

/// Does the same in a loop.
#[task]
async fn sum_of_handles() -> u64 {
    let handles = [spawn(fib(5)), spawn(fib(5))];
    while !handles.iter().all(Handle::is_finished) {
        yield_now().await;
    }
    let slowly = handles.into_iter().inspect(|_| thread::sleep(Duration::from_millis(20)));
    reduce(slowly, 0, |a, b| a + b).await
}

#[test]
fn an_ended_run_leaves_no_unwinding_state_on_its_worker() {
    within_a_minute(|| {
        let builder = Runtime::builder().workers(1).stack_size(512 * 1024).quantum(Duration::from_secs(60));
        let runtime = builder.build().unwrap();
        let frames = frames_of_a_probe(&runtime);
        for _ in 0..3 {
            assert!(matches!(runtime.try_run(out_of_stack_and_a_panic()), Err(RunError::Panicked(_))));
            assert_eq!(frames_of_a_probe(&runtime), frames, "after a panic");

            let begun = Arc::new(AtomicU64::new(0));
            let run = runtime.spawn(endless(Arc::clone(&begun)));
            while begun.load(Ordering::Acquire) == 0 {
                thread::yield_now();
            }
            drop(run);
            // Waits until the run's frame is destroyed.
            while Arc::strong_count(&begun) > 1 {
                thread::yield_now();
            }
            assert_eq!(frames_of_a_probe(&runtime), frames, "after a cancelled run");

            assert!(matches!(runtime.try_run(stuck()), Err(RunError::Deadlock(_))));
            assert_eq!(frames_of_a_probe(&runtime), frames, "after a deadlock");
        }
        assert!(runtime.stats().stack_limits > 0);
        // The continuations that `stuck` has forgotten keep their leaves.
        assert_eq!(runtime.close(), 3);
    });
}

#[test]
fn no_value_is_taken_while_leaving_the_stack() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(1).quantum(Duration::from_millis(2)).build().unwrap();
        assert_eq!(runtime.run(hand_in()), 5);
        assert_eq!(runtime.run(sum_of_handles()), 10);
        assert!(runtime.stats().quanta > 0);
        assert_eq!(runtime.close(), 0);
    });
}
