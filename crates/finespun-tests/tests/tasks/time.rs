//! Sleeps, intervals, timeouts. On a simulated machine their times are virtual.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::common::{everywhere, fib, plain_fib, within_a_minute};
use finespun::group::Level;
use finespun::prelude::*;
use finespun::sync::Semaphore;
use finespun::time::{self, Elapsed, interval, sleep, sleep_until, timeout, timeout_at};
use finespun::{RunError, level, preturn};

/// Longer than any test takes.
const LONG: Duration = Duration::from_secs(3600);
const SHORT: Duration = Duration::from_millis(5);

/// Returns whether the sleep was as long as it should be.
#[task]
async fn sleeps(duration: Duration) -> bool {
    let before = time::now();
    sleep(duration).await;
    time::now() - before >= duration
}

#[task]
async fn sleep_at_the_same_time() -> bool {
    let each = (1..=20).map(|n| sleeps(Duration::from_millis(n)));
    reduce(each, true, |a, b| a & b).await
}

#[test]
fn sleeps_are_as_long_as_they_say() {
    within_a_minute(|| everywhere(|runtime| assert!(runtime.run(sleep_at_the_same_time()))));
}

#[task]
async fn until() -> bool {
    let now = time::now();
    sleep_until(now).await;
    sleep_until(now - SHORT).await;
    sleep(Duration::ZERO).await;
    sleep_until(now + SHORT).await;
    time::now() >= now + SHORT
}

#[test]
fn a_time_that_has_passed_is_not_waited_for() {
    everywhere(|runtime| assert!(runtime.run(until())));
}

#[task]
async fn ticks(count: u32) -> bool {
    let mut ticks = interval(Duration::from_millis(1));
    let first = ticks.tick().await;
    let mut last = first;
    for _ in 0..count {
        last = ticks.tick().await;
    }
    last - first == Duration::from_millis(1) * count && time::now() >= last
}

#[test]
fn ticks_have_equal_distances() {
    within_a_minute(|| everywhere(|runtime| assert!(runtime.run(ticks(10)))));
}

#[task]
async fn long_sleep() -> u64 {
    sleep(LONG).await;
    1
}

#[task]
async fn in_time(n: u64) -> Result<u64, Elapsed> {
    timeout(LONG, fib(n)).await
}

#[task]
async fn too_late() -> Result<u64, Elapsed> {
    timeout(SHORT, long_sleep()).await
}

#[test]
fn a_task_ends_in_time_or_is_cancelled() {
    within_a_minute(|| {
        everywhere(|runtime| {
            assert_eq!(runtime.run(in_time(10)).ok(), Some(plain_fib(10)));
            assert!(runtime.run(too_late()).is_err());
        });
    });
}

/// Counts those that live.
struct Counted<'a>(&'a AtomicU64);

impl<'a> Counted<'a> {
    fn new(living: &'a AtomicU64) -> Counted<'a> {
        living.fetch_add(1, Ordering::Relaxed);
        Counted(living)
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

#[task]
async fn waits(living: &AtomicU64, never: &Semaphore) {
    let _counted = Counted::new(living);
    let _permit = never.acquire().await;
}

#[task]
async fn many_waits(living: &AtomicU64, never: &Semaphore) {
    parfor(0..10_u64, |_| waits(living, never)).await;
}

#[task]
async fn limited(living: &AtomicU64) -> u64 {
    let never = Semaphore::new(0);
    let result = timeout(SHORT, many_waits(living, &never)).await;
    assert!(result.is_err());
    // All of it has ended.
    living.load(Ordering::Relaxed)
}

#[test]
fn everything_beneath_a_timeout_has_ended_when_it_returns() {
    within_a_minute(|| everywhere(|runtime| assert_eq!(runtime.run(limited(&AtomicU64::new(0))), 0)));
}

#[task]
async fn computes(turns: &AtomicU64) -> u64 {
    loop {
        turns.fetch_add(1, Ordering::Relaxed);
        finespun::simulation::work(Duration::from_micros(10));
        checkpoint().await;
    }
}

#[task]
async fn limits_computation(turns: &AtomicU64) -> bool {
    timeout(SHORT, computes(turns)).await.is_err()
}

#[test]
fn a_task_that_computes_is_stopped() {
    within_a_minute(|| everywhere(|runtime| assert!(runtime.run(limits_computation(&AtomicU64::new(0))))));
}

#[task]
async fn nested(outer: Duration, inner: Duration) -> (bool, bool) {
    let result = timeout(outer, async_inner(inner)).await;
    (result.is_ok(), result.is_ok_and(|inner| inner.is_ok()))
}

#[task]
async fn async_inner(inner: Duration) -> Result<u64, Elapsed> {
    timeout(inner, long_sleep()).await
}

#[test]
fn timeouts_nest() {
    within_a_minute(|| {
        everywhere(|runtime| {
            assert_eq!(runtime.run(nested(LONG / 2, SHORT)), (true, false));
            assert_eq!(runtime.run(nested(SHORT, LONG / 2)), (false, false));
        });
    });
}

#[task]
async fn panics() -> u64 {
    panic!("in the limited task");
}

#[task]
async fn limits_panic() -> bool {
    timeout(LONG, panics()).await.is_ok()
}

#[test]
fn the_panic_of_a_limited_task_passes() {
    everywhere(|runtime| {
        let error = runtime.try_run(limits_panic()).unwrap_err();
        let RunError::Panicked(panic) = error else { panic!("{error}") };
        assert_eq!(panic.message(), "in the limited task");
    });
}

#[task]
async fn returns_early(found: Level<u64>) -> u64 {
    preturn(found, 7).await;
    0
}

#[task]
async fn beneath(found: Level<u64>) -> u64 {
    timeout(LONG, returns_early(found)).await.unwrap_or(1)
}

#[task]
async fn outer_level() -> u64 {
    level(|found| beneath(found)).await
}

#[test]
fn an_outer_group_ends_a_timeout() {
    everywhere(|runtime| assert_eq!(runtime.run(outer_level()), 7));
}

#[task]
async fn at_past() -> (bool, bool) {
    let past = time::now() - SHORT;
    (timeout_at(past, fib(1)).await.is_ok(), timeout_at(past, long_sleep()).await.is_ok())
}

#[test]
fn a_task_that_does_not_wait_ends_before_a_time_that_has_passed() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    assert_eq!(runtime.run(at_past()), (true, false));
}

#[task]
async fn stuck() {
    let never = Semaphore::new(0);
    let _ = timeout(LONG, never.acquire()).await;
}

/// A timer that was cancelled is no outside event that could end a wait.
#[task]
async fn stuck_after_a_timeout() {
    let never = Semaphore::new(0);
    assert!(timeout(LONG, sleep(SHORT)).await.is_ok());
    let _permit = never.acquire().await;
}

#[test]
fn a_cancelled_timer_does_not_suppress_a_report() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        assert!(matches!(runtime.try_run(stuck_after_a_timeout()), Err(RunError::Deadlock(_))));
        // A sleeping run that is dropped ends at once.
        drop(runtime.spawn(long_sleep()));
        drop(runtime.spawn(stuck()));
        assert_eq!(finespun::testing::TestCounts::close(runtime), 0);
    });
}

#[cfg(feature = "simulation")]
#[task]
async fn record(order: &std::sync::Mutex<Vec<u64>>, n: u64) {
    sleep(Duration::from_millis(40 * n)).await;
    order.lock().unwrap().push(n);
}

#[cfg(feature = "simulation")]
#[task]
async fn records(order: &std::sync::Mutex<Vec<u64>>) {
    join!(record(order, 3), record(order, 1), record(order, 2));
}

#[cfg(feature = "simulation")]
#[test]
fn simulated_sleeps_take_virtual_time() {
    use finespun::runtime::Fabric;
    use finespun::simulation::Machine;
    let machine = Machine::named("cluster").unwrap();
    let runtime = Runtime::builder().nodes(4).fabric(Fabric::Simulated(machine)).build().unwrap();
    let before = std::time::Instant::now();
    assert!(runtime.run(sleeps(LONG)));
    assert!(runtime.run(too_late()).is_err());
    assert!(before.elapsed() < LONG / 10);
    let took = runtime.simulated().unwrap().last_run;
    let order = std::sync::Mutex::default();
    runtime.run(records(&order));
    assert_eq!(order.into_inner().unwrap(), [1, 2, 3]);
    assert!(took >= SHORT && took < 2 * SHORT, "{took:?}");
}
