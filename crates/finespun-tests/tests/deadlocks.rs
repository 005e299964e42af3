//! Many deadlocks in several runtimes.
//!
//! A binary of its own: a stuck runtime is reported only when the runs of other runtimes that were live have ended, so
//! the runs of other tests would slow these rounds down.

mod common;

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

use common::{fib, within_a_minute};
use finespun::RunError;
use finespun::prelude::*;

/// Two runtimes detect at the same time that they are stuck: neither report is lost.
#[test]
fn simultaneous_deadlocks_are_all_reported() {
    within_a_minute(|| {
        std::thread::scope(|threads| {
            for workers in [1, 2] {
                threads.spawn(move || {
                    let runtime = Runtime::builder().workers(workers).build().unwrap();
                    for _ in 0..20_000 {
                        assert!(matches!(runtime.try_run(kept()), Err(RunError::Deadlock(_))));
                    }
                });
            }
        });
    });
}

/// A run that begins while another run of its runtime is found to be deadlocked is not reported.
#[test]
fn a_deadlock_is_reported_only_to_its_own_run() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let ended = AtomicBool::new(false);
        std::thread::scope(|threads| {
            threads.spawn(|| {
                while !ended.load(Ordering::Relaxed) {
                    assert!(matches!(runtime.try_run(forgotten()), Err(RunError::Deadlock(_))));
                }
            });
            for _ in 0..100_000 {
                assert_eq!(runtime.try_run(fib(2)).map_err(|error| error.to_string()), Ok(1));
            }
            ended.store(true, Ordering::Relaxed);
        });
    });
}

/// Waits for a continuation that only the task itself holds.
#[task]
async fn kept() {
    let place = Arc::new(Mutex::new(None::<Continuation<()>>));
    let own = Arc::clone(&place);
    suspend(move |k| *own.lock().unwrap() = Some(k)).await;
    drop(place);
}

#[task]
async fn forgotten() {
    suspend(|k: Continuation<()>| std::mem::forget(k)).await;
}
