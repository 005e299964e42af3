//! Locks held across awaits.

use crate::common::{everywhere, fib, within_a_minute};
use finespun::RunError;
use finespun::prelude::*;
use finespun::sync::{Mutex, Semaphore};

/// Holds the lock across a join, while other tasks wait for the same lock: the program that hangs a pool whose waiting
/// workers run other tasks on top of their stacks (rayon's issues 592 and 1174).
#[task]
async fn hold(total: &Mutex<u64>, n: u64) -> u64 {
    let mut guard = total.lock().await;
    let (a, b) = join!(fib(n), fib(n + 1));
    *guard += a + b;
    a + b
}

#[task]
async fn many_holders(total: &Mutex<u64>) -> u64 {
    reduce((0..100).map(|i| hold(total, i % 12)), 0, |a, b| a + b).await
}

#[test]
fn a_guard_held_across_a_join_never_deadlocks() {
    within_a_minute(|| {
        everywhere(|runtime| {
            let total = Mutex::new(0);
            let sum = runtime.run(many_holders(&total));
            assert_eq!(sum, (0..100).map(|i| crate::common::plain_fib(i % 12 + 2)).sum::<u64>());
            assert_eq!(total.into_inner(), sum);
        });
    });
}

/// Takes and releases the lock, then calls two tasks that take it again while their siblings wait for it.
#[task]
async fn nested(total: &Mutex<u64>, depth: u64) -> u64 {
    {
        let mut guard = total.lock().await;
        *guard += 1;
        yield_now().await;
    }
    if depth == 0 {
        return 1;
    }
    let (a, b) = join!(nested(total, depth - 1), nested(total, depth - 1));
    a + b
}

#[test]
fn nested_tasks_take_turns() {
    within_a_minute(|| {
        everywhere(|runtime| {
            let total = Mutex::new(0);
            assert_eq!(runtime.run(nested(&total, 6)), 64);
            assert_eq!(total.into_inner(), 127);
        });
    });
}

#[task]
async fn with_permit(two: &Semaphore, inside: &std::sync::atomic::AtomicUsize) -> usize {
    use std::sync::atomic::Ordering::SeqCst;
    let _permit = two.acquire().await;
    let now = inside.fetch_add(1, SeqCst) + 1;
    let (_, _) = join!(yield_now(), fib(5));
    inside.fetch_sub(1, SeqCst);
    now
}

#[task]
async fn crowd(two: &Semaphore, inside: &std::sync::atomic::AtomicUsize) -> usize {
    reduce((0..50).map(|_| with_permit(two, inside)), 0, |a: usize, b: usize| a.max(b)).await
}

#[test]
fn a_semaphore_admits_as_many_as_it_has_permits() {
    within_a_minute(|| {
        everywhere(|runtime| {
            let two = Semaphore::new(2);
            let most = runtime.run(crowd(&two, &Default::default()));
            assert!((1..=2).contains(&most), "{most} at once");
            assert_eq!(two.available(), 2);
        });
    });
}

#[task]
async fn first_then_second(first: &Mutex<()>, second: &Mutex<()>, both: &Semaphore) {
    let _first = first.lock().await;
    // Both tasks hold their first lock before either requests its second.
    both.release(1);
    let _meet = both.acquire_many(2).await;
    both.release(2);
    let _second = second.lock().await;
}

#[task]
async fn embrace(a: &Mutex<()>, b: &Mutex<()>, both: &Semaphore) {
    join!(first_then_second(a, b, both), first_then_second(b, a, both));
}

#[test]
fn a_cycle_of_waits_ends_in_a_report() {
    within_a_minute(|| {
        for workers in [1, 2, 8] {
            let runtime = Runtime::builder().workers(workers).build().unwrap();
            let (a, b, both) = (Mutex::new(()), Mutex::new(()), Semaphore::new(0));
            let Err(RunError::Deadlock(lines)) = runtime.try_run(embrace(&a, &b, &both)) else {
                panic!("a cycle of waits is a deadlock");
            };
            assert_eq!(lines.len(), 2, "{lines:?}");
            for line in &lines {
                assert!(line.contains("first_then_second"), "{line}");
                assert!(line.contains("locks.rs"), "{line}");
            }
            // The cancelled tasks have released their locks, and the runtime still works.
            assert!(a.try_lock().is_some() && b.try_lock().is_some());
            assert_eq!(runtime.run(fib(10)), 55);
        }
    });
}
