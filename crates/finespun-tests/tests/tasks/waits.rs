//! Continuations, std futures, blocking calls, scopes, handles.

use std::future::Future;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll};
use std::thread;
use std::time::Duration;

use crate::common::{everywhere, fib, plain_fib, within_a_minute};
use finespun::prelude::*;
use finespun::testing::*;
use finespun::{RunError, runtime::RunFuture, tasks::External};

#[task]
async fn from_thread(n: u64) -> u64 {
    suspend(|k: Continuation<u64>| {
        let k = k.external();
        thread::spawn(move || k.resolve(n));
    })
    .await
}

#[task]
async fn from_threads() -> u64 {
    reduce((0..20).map(from_thread), 0, |a, b| a + b).await
}

#[test]
fn other_threads_resolve_continuations() {
    within_a_minute(|| everywhere(|runtime| assert_eq!(runtime.run(from_threads()), 190)));
}

#[task]
async fn at_once(n: u64) -> u64 {
    suspend(|k: Continuation<u64>| k.resolve(n)).await
}

#[task]
async fn sixteen_waits(waiting: &Mutex<Vec<External<u64>>>) -> u64 {
    let values: Vec<u64> = join_all((0..16).map(|_| suspend(|k| park(waiting, k)))).await;
    values.iter().sum()
}

/// Keeps the continuations until all sixteen have arrived. Unless all are outstanding at once, none is ever resolved.
fn park(waiting: &Mutex<Vec<External<u64>>>, k: Continuation<u64>) {
    let mut waiting = waiting.lock().unwrap();
    waiting.push(k.external());
    if waiting.len() == 16 {
        for (n, k) in waiting.drain(..).enumerate() {
            k.resolve(n as u64);
        }
    }
}

#[test]
fn all_waits_of_a_join_are_outstanding_at_once() {
    within_a_minute(|| everywhere(|runtime| assert_eq!(runtime.run(sixteen_waits(&Mutex::default())), 120)));
}

#[test]
fn a_continuation_resolved_at_once_does_not_suspend() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    assert_eq!(runtime.run(at_once(7)), 7);
    assert_eq!(runtime.stats().fallbacks, 0);
}

#[task]
async fn dropped() -> u64 {
    suspend(|k: Continuation<u64>| drop(k)).await
}

#[test]
fn a_dropped_continuation_is_an_error_that_names_it() {
    everywhere(|runtime| {
        let error = runtime.try_run(dropped()).unwrap_err();
        assert!(matches!(error, RunError::Panicked(_)));
        assert!(error.to_string().contains("Continuation<u64> was dropped unresolved"), "{error}");
    });
}

#[task]
async fn never(kept: &Mutex<Option<Continuation<String>>>) -> String {
    suspend(|k| *kept.lock().unwrap() = Some(k)).await
}

#[test]
fn a_continuation_may_outlive_its_task_and_runtime() {
    within_a_minute(|| {
        let kept = Mutex::new(None);
        let runtime = Runtime::builder().workers(2).build().unwrap();
        let error = runtime.try_run(never(&kept)).unwrap_err();
        let RunError::Deadlock(lines) = &error else { panic!("{error}") };
        assert!(lines[0].contains("String") && lines[0].contains("waits.rs"), "{error}");
        drop(runtime);
        kept.into_inner().unwrap().unwrap().resolve("too late".to_owned());
    });
}

/// A future that is pending `n` times and is woken from another thread each time.
struct Ticks(u32);

impl Future for Ticks {
    type Output = &'static str;
    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<&'static str> {
        if self.0 == 0 {
            return Poll::Ready("done");
        }
        self.0 -= 1;
        let waker = cx.waker().clone();
        thread::spawn(move || {
            thread::sleep(Duration::from_micros(100));
            waker.wake();
        });
        Poll::Pending
    }
}

#[task]
async fn ticks(n: u32) -> &'static str {
    foreign(Ticks(n)).await
}

#[test]
fn std_futures_are_awaited() {
    within_a_minute(|| {
        everywhere(|runtime| {
            assert_eq!(runtime.run(ticks(0)), "done");
            assert_eq!(runtime.run(ticks(3)), "done");
        });
    });
}

#[task]
async fn slow_sum(numbers: &[u64]) -> u64 {
    blocking(|| {
        thread::sleep(Duration::from_millis(1));
        numbers.iter().sum()
    })
    .await
}

#[task]
async fn blocking_panic() {
    blocking(|| panic!("from the call")).await
}

#[test]
fn blocking_calls_borrow_and_panic() {
    within_a_minute(|| {
        let numbers = [1, 2, 3];
        everywhere(|runtime| {
            assert_eq!(runtime.run(slow_sum(&numbers)), 6);
            let error = runtime.try_run(blocking_panic()).unwrap_err();
            assert!(error.to_string().contains("from the call"), "{error}");
        });
    });
}

#[task]
async fn add(sum: &AtomicU64, n: u64) -> u64 {
    yield_now().await;
    sum.fetch_add(n, Ordering::Relaxed);
    n
}

#[task]
async fn spawner<'s>(s: Scope<'s>, sum: &'s AtomicU64) -> u64 {
    let mut taken = 0;
    for n in 0..20 {
        let handle = s.spawn(add(sum, n));
        if n % 2 == 0 {
            taken += handle.await;
        } else {
            drop(handle);
        }
    }
    taken
}

#[task]
async fn scoped(sum: &AtomicU64) -> (u64, u64) {
    let taken = scope(|s| spawner(s, sum)).await;
    (taken, sum.load(Ordering::Relaxed))
}

#[test]
fn a_scope_ends_after_all_its_tasks() {
    within_a_minute(|| everywhere(|runtime| assert_eq!(runtime.run(scoped(&AtomicU64::new(0))), (90, 190))));
}

#[task]
async fn forgetful<'s>(s: Scope<'s>, sum: &'s AtomicU64) {
    for n in 0..20 {
        std::mem::forget(s.spawn(add(sum, n)));
    }
}

#[task]
async fn scoped_and_forgotten(sum: &AtomicU64) -> u64 {
    scope(|s| forgetful(s, sum)).await;
    sum.load(Ordering::Relaxed)
}

#[test]
fn a_scope_waits_for_tasks_whose_handles_are_forgotten() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    assert_eq!(runtime.run(scoped_and_forgotten(&AtomicU64::new(0))), 190);
    assert!(runtime.close() <= 20, "a forgotten handle keeps its frame, and nothing else");
}

#[task]
async fn spawned() -> u64 {
    let handles: Vec<Handle<'static, u64>> = (0..10).map(|n| spawn(fib(n))).collect();
    join_all(handles).await.iter().sum()
}

#[task]
async fn left_behind(ended: Arc<AtomicU64>) {
    for _ in 0..10 {
        drop(spawn(forever(Guard(Arc::clone(&ended)))));
    }
    yield_now().await;
}

/// A value that counts its destructions.
struct Guard(Arc<AtomicU64>);
impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[task]
async fn forever(guard: Guard) {
    loop {
        yield_now().await;
        if guard.0.load(Ordering::Relaxed) > 1000 {
            return;
        }
    }
}

#[test]
fn handles_deliver_values_and_detached_tasks_are_cancelled() {
    within_a_minute(|| {
        everywhere(|runtime| {
            assert_eq!(runtime.run(spawned()), (0..10).map(plain_fib).sum::<u64>());
            let ended = Arc::new(AtomicU64::new(0));
            runtime.run(left_behind(Arc::clone(&ended)));
            assert_eq!(ended.load(Ordering::Relaxed), 10, "every task of a run has ended when `run` returns");
        });
    });
}

/// Runs `future` to completion: a minimal executor.
fn block_on<F: Future>(future: F) -> F::Output {
    struct Unpark(thread::Thread);
    impl std::task::Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }
    let mut future = std::pin::pin!(future);
    let waker = Arc::new(Unpark(thread::current())).into();
    loop {
        match future.as_mut().poll(&mut Context::from_waker(&waker)) {
            Poll::Ready(value) => return value,
            Poll::Pending => thread::park(),
        }
    }
}

/// Counts its wake-ups.
struct Counting(AtomicU64);

impl std::task::Wake for Counting {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Ordering::Relaxed);
    }
}

#[task]
async fn held(by: std::sync::mpsc::Receiver<()>) {
    let _ = blocking(move || by.recv()).await;
}

/// The executor that drops the future may hold a lock that its waker takes.
#[test]
fn a_run_whose_future_was_dropped_wakes_no_executor() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        let counting = Arc::new(Counting(AtomicU64::new(0)));
        let waker = std::task::Waker::from(Arc::clone(&counting));
        let (release, by) = std::sync::mpsc::channel();
        let mut run = runtime.spawn(held(by));
        assert!(Pin::new(&mut run).poll(&mut Context::from_waker(&waker)).is_pending());
        drop((run, waker));
        assert_eq!(Arc::strong_count(&counting), 1, "the library has given up the waker");
        // Nobody receives it if the run was cancelled before it had begun.
        _ = release.send(());
        drop(runtime);
        assert_eq!(counting.0.load(Ordering::Relaxed), 0);
    });
}

/// Panics like the futures of std, whatever the run's result was; the panic's location is the caller's.
#[test]
fn a_run_that_is_polled_after_completion_panics_and_says_so() {
    fn again<T>(mut run: RunFuture<T>) -> String {
        let first = std::panic::catch_unwind(AssertUnwindSafe(|| block_on(&mut run)));
        drop(first);
        let mut cx = Context::from_waker(std::task::Waker::noop());
        let second = AssertUnwindSafe(|| Pin::new(&mut run).poll(&mut cx).is_ready());
        let payload = std::panic::catch_unwind(second).unwrap_err();
        payload.downcast_ref::<&str>().unwrap().to_string()
    }
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        let kept = Arc::new(Mutex::default());
        for message in [
            again(runtime.spawn(fib(10))),
            again(runtime.spawn(blocking_panic())),
            again(runtime.spawn(never_owned(Arc::clone(&kept)))),
        ] {
            assert_eq!(message, "`RunFuture` polled after completion");
        }
        assert_eq!(runtime.run(fib(10)), 55);
    });
}

#[task]
async fn never_owned(kept: Arc<Mutex<Option<Continuation<String>>>>) -> String {
    never(&kept).await
}

#[test]
fn a_run_is_a_std_future() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        assert_eq!(block_on(runtime.spawn(fib(20))), 6765);
        // A dropped run is cancelled. A detached run continues until its runtime is dropped.
        let ended = Arc::new(AtomicU64::new(0));
        drop(runtime.spawn(forever(Guard(Arc::clone(&ended)))));
        runtime.spawn(forever(Guard(Arc::clone(&ended)))).detach();
        drop(runtime);
        assert_eq!(ended.load(Ordering::Relaxed), 2);
    });
}

type LargeCell = Arc<Mutex<Option<Handle<'static, [u64; 250]>>>>;

/// Waits in a frame that is too large for the pools that sweeps and reports scan.
#[task]
async fn large_wait_for(cell: LargeCell, large: [u64; 250]) -> [u64; 250] {
    while cell.lock().unwrap().is_none() {
        yield_now().await;
    }
    let handle = cell.lock().unwrap().take();
    match handle {
        Some(handle) => handle.await,
        None => large,
    }
}

#[task]
async fn large_cycle() {
    let (a, b) = (LargeCell::default(), LargeCell::default());
    let first = spawn(large_wait_for(Arc::clone(&b), [1; 250]));
    let second = spawn(large_wait_for(Arc::clone(&a), [2; 250]));
    *a.lock().unwrap() = Some(first);
    *b.lock().unwrap() = Some(second);
    yield_now().await;
    suspend(|k: Continuation<()>| std::mem::forget(k)).await
}

#[task]
async fn large_value(n: u64) -> [u64; 250] {
    yield_now().await;
    [n; 250]
}

/// Takes boxed values out of handles in every way.
#[task]
async fn large_values() -> u64 {
    let mut last = spawn(large_value(1));
    let (a, b) = join!(spawn(large_value(2)), spawn(large_value(3)));
    drop(spawn(large_value(4)));
    let c = spawn(large_value(5)).await;
    let last = loop {
        match last.try_get() {
            Ok(value) => break value,
            Err(handle) => last = handle,
        }
        yield_now().await;
    };
    a[249] + b[249] + c[249] + last[249]
}

#[test]
fn large_spawned_tasks_are_waited_for_reported_and_delivered() {
    within_a_minute(|| {
        everywhere(|runtime| assert_eq!(runtime.run(large_values()), 11));
        for workers in [1, 2] {
            let runtime = Runtime::builder().workers(workers).build().unwrap();
            let Err(RunError::Deadlock(lines)) = runtime.try_run(large_cycle()) else {
                panic!("a cycle of handles is a deadlock");
            };
            assert!(lines.iter().any(|line| line.contains("spawned task")), "{lines:?}");
        }
    });
}
