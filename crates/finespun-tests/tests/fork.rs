//! Forks of the process.
//!
//! One test, since the test harness's threads hold locks of the standard library while they start and end: a child that
//! is forked meanwhile cannot start a thread.
#![cfg(all(unix, not(sanitized)))]

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Waker};

use finespun::RunError;
use finespun::prelude::*;

unsafe extern "C" {
    fn fork() -> i32;
    fn waitpid(process: i32, status: *mut i32, options: i32) -> i32;
    fn alarm(seconds: u32) -> u32;
    fn _exit(code: i32) -> !;
}

#[test]
fn forks() {
    the_default_runtime_of_a_child_is_its_own();
    a_runtime_in_a_forked_child_is_an_error();
    a_fork_waits_until_no_lock_of_the_process_is_held();
}

/// Returns the number of threads of this process.
fn threads() -> usize {
    std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count)
}

/// The default runtime has no thread before its first use, and a forked child gets another one, with the same settings.
fn the_default_runtime_of_a_child_is_its_own() {
    let before = threads();
    finespun::runtime::set_default(Runtime::builder().workers(3)).unwrap();
    assert_eq!(threads(), before);
    assert_eq!(finespun::run(fib(10)), 55);
    assert!(threads() > before || before == 0);
    // SAFETY: the child allocates, which the system's allocator supports after a fork, and ends by `_exit`.
    let child = unsafe { fork() };
    if child == 0 {
        // SAFETY: only sets a timer. A child that hangs ends by its signal.
        unsafe { alarm(20) };
        let value = finespun::run(fib(10)) + finespun::runtime::default().workers() as u64;
        // SAFETY: `_exit` only ends the process.
        unsafe { _exit(if value == 58 { 7 } else { 8 }) };
    }
    let mut status = 0;
    // SAFETY: `status` is valid for writes.
    assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 7 << 8, "status {status:#x}");
}

/// A forked child has no workers: there a runtime returns an error, and is dropped without a wait.
fn a_runtime_in_a_forked_child_is_an_error() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    assert_eq!(runtime.run(fib(10)), 55);
    // Leaves a thread for blocking calls behind, which the child does not have.
    assert_eq!(runtime.run(blocked()), 5);
    let (hold, held) = std::sync::mpsc::channel::<()>();
    let under_way = runtime.spawn(holds(held));
    // SAFETY: the child allocates little, takes no lock of another thread, and ends by `_exit`.
    let child = unsafe { fork() };
    if child == 0 {
        // SAFETY: only sets a timer. A child that hangs ends by its signal.
        unsafe { alarm(20) };
        let told = matches!(runtime.try_run(fib(10)), Err(RunError::Forked));
        let polled = catch_unwind(AssertUnwindSafe(|| {
            let mut under_way = under_way;
            Pin::new(&mut under_way).poll(&mut Context::from_waker(Waker::noop())).is_pending()
        }));
        drop(runtime);
        let own = Runtime::builder().workers(1).build().unwrap();
        let value = own.run(fib(10)) + own.run(blocked());
        // The parent's pending blocking call does not prevent the child's deadlock report.
        let stuck = matches!(own.try_run(stuck()), Err(RunError::Deadlock(_)));
        // SAFETY: `_exit` only ends the process.
        unsafe { _exit(if told && value == 60 && stuck && !matches!(polled, Ok(true)) { 7 } else { 8 }) };
    }
    let mut status = 0;
    // SAFETY: `status` is valid for writes.
    assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 7 << 8, "status {status:#x}");
    assert_eq!(runtime.run(fib(10)), 55);
    drop(hold);
    drop(under_way);
}

/// A forked child never finds a process-wide lock held by a thread that does not exist there.
fn a_fork_waits_until_no_lock_of_the_process_is_held() {
    let ended = AtomicBool::new(false);
    let started = Barrier::new(3);
    std::thread::scope(|threads| {
        threads.spawn(|| {
            started.wait();
            while !ended.load(Ordering::Relaxed) {
                drop(Runtime::builder().workers(1).build().unwrap());
            }
        });
        threads.spawn(|| {
            let runtime = Runtime::builder().workers(1).build().unwrap();
            started.wait();
            while !ended.load(Ordering::Relaxed) {
                assert_eq!(runtime.run(blocked()), 5);
            }
        });
        started.wait();
        for round in 0..400 {
            // SAFETY: the child allocates, which the system's allocator supports after a fork, and ends by `_exit`.
            let child = unsafe { fork() };
            if child == 0 {
                // SAFETY: only sets a timer. A child that hangs ends by its signal.
                unsafe { alarm(20) };
                let own = Runtime::builder().workers(1).build().unwrap();
                let value = own.run(fib(10)) + own.run(blocked());
                // SAFETY: `_exit` only ends the process.
                unsafe { _exit(if value == 60 { 7 } else { 8 }) };
            }
            let mut status = 0;
            // SAFETY: `status` is valid for writes.
            assert_eq!(unsafe { waitpid(child, &mut status, 0) }, child);
            assert_eq!(status, 7 << 8, "round {round}, status {status:#x}");
        }
        ended.store(true, Ordering::Relaxed);
    });
}

#[task]
async fn blocked() -> u64 {
    blocking(|| 5).await
}

#[task]
async fn holds(held: std::sync::mpsc::Receiver<()>) -> u64 {
    blocking(move || held.recv().is_err()).await.into()
}

/// Waits for a permit that is never added.
#[task]
async fn stuck() {
    let none = finespun::sync::Semaphore::new(0);
    let _permit = none.acquire().await;
}

#[task]
async fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join!(fib(n - 1), fib(n - 2));
    a + b
}
