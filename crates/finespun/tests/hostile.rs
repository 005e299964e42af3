//! Programs that try to break the runtime from safe code. Each was a way to do so once.

mod common;

use std::panic::resume_unwind;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use common::{everywhere, fib, within_a_minute};
use finespun::RunError;
use finespun::prelude::*;
use finespun::sync::{Mutex as Lock, Semaphore};

#[task]
async fn escape() -> Scope<'static> {
    scope(|s: Scope<'static>| suspend(move |k| k.resolve(s))).await
}

#[task]
async fn spawn_late(s: Scope<'static>) -> u64 {
    s.spawn(fib(5)).await
}

#[test]
fn a_scope_that_is_kept_spawns_nothing_after_its_end() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        let s = runtime.run(escape());
        let error = runtime.try_run(spawn_late(s)).unwrap_err();
        assert!(error.to_string().contains("has ended"), "{error}");
    });
}

#[task]
async fn share(kept: Arc<Mutex<Option<Scope<'static>>>>, go: Arc<Semaphore>) {
    scope(|s: Scope<'static>| hold(s, kept, go)).await
}

#[task]
async fn hold(s: Scope<'static>, kept: Arc<Mutex<Option<Scope<'static>>>>, go: Arc<Semaphore>) {
    *kept.lock().unwrap() = Some(s);
    suspend(move |k: Continuation<()>| {
        let k = k.external();
        thread::spawn(move || {
            while go.available() == 0 {
                thread::yield_now();
            }
            k.resolve(());
        });
    })
    .await
}

#[test]
fn a_scope_spawns_in_its_own_run_only() {
    within_a_minute(|| {
        let runtime = Arc::new(Runtime::builder().workers(2).build().unwrap());
        let (kept, go) = (Arc::default(), Arc::new(Semaphore::new(0)));
        let other = {
            let (runtime, kept, go) = (Arc::clone(&runtime), Arc::clone(&kept), Arc::clone(&go));
            thread::spawn(move || runtime.run(share(kept, go)))
        };
        let s = loop {
            if let Some(s) = *kept.lock().unwrap() {
                break s;
            }
            thread::yield_now();
        };
        let error = runtime.try_run(spawn_late(s)).unwrap_err();
        assert!(error.to_string().contains("its own run"), "{error}");
        go.release(1);
        other.join().unwrap();
    });
}

#[task]
async fn large(kept: &Mutex<Vec<Continuation<[u64; 250]>>>) -> u64 {
    let value = suspend(|k| kept.lock().unwrap().push(k)).await;
    value[249]
}

#[task]
async fn large_now() -> u64 {
    let value = suspend(|k: Continuation<[u64; 250]>| k.resolve([7; 250])).await;
    value[249]
}

#[test]
fn large_values_are_waited_for_reported_and_delivered() {
    within_a_minute(|| {
        everywhere(|runtime| {
            let kept = Mutex::default();
            assert!(matches!(runtime.try_run(large(&kept)), Err(RunError::Deadlock(_))));
            assert_eq!(runtime.run(large_now()), 7);
        });
    });
}

type Cell = Arc<Mutex<Option<Handle<'static, u64>>>>;

#[task]
async fn wait_for(cell: Cell) -> u64 {
    while cell.lock().unwrap().is_none() {
        yield_now().await;
    }
    let handle = cell.lock().unwrap().take();
    match handle {
        Some(handle) => handle.await,
        None => 0,
    }
}

#[task]
async fn cycle(a: Cell, b: Cell) {
    let first = spawn(wait_for(Arc::clone(&b)));
    let second = spawn(wait_for(Arc::clone(&a)));
    *a.lock().unwrap() = Some(first);
    *b.lock().unwrap() = Some(second);
    suspend(|k: Continuation<()>| std::mem::forget(k)).await
}

#[test]
fn a_cycle_of_handles_ends_in_a_report() {
    within_a_minute(|| {
        for workers in [1, 2, 8] {
            let runtime = Runtime::builder().workers(workers).build().unwrap();
            let Err(RunError::Deadlock(lines)) = runtime.try_run(cycle(Cell::default(), Cell::default())) else {
                panic!("a cycle of handles is a deadlock");
            };
            assert!(lines.iter().any(|line| line.contains("spawned task")), "{lines:?}");
        }
    });
}

#[task]
async fn give(cell: Arc<Mutex<Option<Handle<'static, u64>>>>) {
    *cell.lock().unwrap() = Some(spawn(fib(20)));
    yield_now().await;
    yield_now().await;
}

#[task]
async fn get(handle: Handle<'static, u64>) -> u64 {
    handle.await
}

#[test]
fn a_handle_of_another_runtime_is_awaited_at_home() {
    within_a_minute(|| {
        for _ in 0..50 {
            let a = Runtime::builder().workers(1).build().unwrap();
            let b = Runtime::builder().workers(1).build().unwrap();
            let cell = Cell::default();
            let run = a.spawn(give(Arc::clone(&cell)));
            let handle = loop {
                if let Some(handle) = cell.lock().unwrap().take() {
                    break handle;
                }
                thread::yield_now();
            };
            // The task may be cancelled at the end of its run; then the wait panics.
            if let Ok(value) = b.try_run(get(handle)) {
                assert_eq!(value, 6765);
            }
            assert_eq!(b.run(fib(10)), 55);
            drop(run);
        }
    });
}

#[task]
async fn behind(lock: &Lock<u64>) {
    *lock.lock().await += 1;
}

#[task]
async fn crowd(lock: &Lock<u64>, n: usize) {
    let _guard = lock.lock().await;
    let (_, ()) = join!(join_all((0..n).map(|_| behind(lock))), stuck());
}

#[task]
async fn stuck() {
    suspend(|k: Continuation<()>| std::mem::forget(k)).await
}

#[test]
fn a_long_queue_of_cancelled_waiters_is_passed_over() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        let lock = Lock::new(0);
        assert!(matches!(runtime.try_run(crowd(&lock, 100_000)), Err(RunError::Deadlock(_))));
        runtime.run(behind(&lock));
        assert_eq!(lock.into_inner(), 1);
    });
}

#[task]
async fn two(permits: Arc<Semaphore>) {
    let _both = permits.acquire_many(2).await;
}

#[task]
async fn one(permits: Arc<Semaphore>) -> u64 {
    let _one = permits.acquire().await;
    1
}

#[test]
fn a_cancelled_waiter_makes_way() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let permits = Arc::new(Semaphore::new(1));
        assert!(runtime.try_run(two(Arc::clone(&permits))).is_err());
        assert_eq!(runtime.run(one(permits)), 1);
    });
}

/// Panics when it is dropped, without the hook.
struct Bomb;
impl Drop for Bomb {
    fn drop(&mut self) {
        if !thread::panicking() {
            resume_unwind(Box::new("bomb"));
        }
    }
}

#[task]
async fn make_bomb() -> Bomb {
    yield_now().await;
    Bomb
}

#[task]
async fn leave_bombs() {
    for _ in 0..10 {
        drop(spawn(make_bomb()));
    }
    for _ in 0..5 {
        yield_now().await;
    }
}

#[task]
async fn keep_bomb(bomb: Bomb) {
    stuck().await;
    drop(bomb);
}

#[test]
fn destructors_that_panic_lose_no_run() {
    within_a_minute(|| {
        for workers in [1, 2] {
            let runtime = Runtime::builder().workers(workers).build().unwrap();
            for _ in 0..20 {
                let _ = runtime.try_run(leave_bombs());
                assert!(runtime.try_run(keep_bomb(Bomb)).is_err());
            }
            assert_eq!(runtime.run(fib(10)), 55);
        }
    });
}

#[task]
async fn last_owner(runtime: Arc<Runtime>, done: Arc<AtomicU64>) {
    yield_now().await;
    drop(runtime);
    done.store(1, Ordering::Release);
}

#[test]
fn a_runtime_whose_last_owner_is_its_own_task_ends() {
    within_a_minute(|| {
        let runtime = Arc::new(Runtime::builder().workers(1).build().unwrap());
        let done = Arc::new(AtomicU64::new(0));
        runtime.spawn(last_owner(Arc::clone(&runtime), Arc::clone(&done))).detach();
        drop(runtime);
        while done.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
    });
}
