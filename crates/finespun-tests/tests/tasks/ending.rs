//! Tasks that are ended before they end by themselves: `abortable`, `race`, `select!`; and what their waiters see.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::common::{everywhere, fib, plain_fib, within_a_minute};
use finespun::RunError;
use finespun::group::{Race2, Race3, race};
use finespun::prelude::*;
use finespun::sync::Semaphore;
use finespun::tasks::{AbortHandle, Aborted, abortable};
use finespun::testing::*;
use finespun::time::sleep;

const LONG: Duration = Duration::from_secs(3600);
const SHORT: Duration = Duration::from_millis(2);

/// The tasks of a test that have begun, and those that have been dropped.
struct Counts {
    begun: Semaphore,
    dropped: AtomicU64,
}

impl Counts {
    fn new() -> Counts {
        Counts { begun: Semaphore::new(0), dropped: AtomicU64::new(0) }
    }

    /// Returns the number of drops.
    fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Relaxed)
    }
}

/// Counts its drop.
struct Counted<'a>(&'a Counts);

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, Ordering::Relaxed);
    }
}

#[task]
async fn waits(counts: &Counts) -> u64 {
    let _counted = Counted(counts);
    counts.begun.release(1);
    sleep(LONG).await;
    1
}

#[task]
async fn many_waits(counts: &Counts) -> u64 {
    parfor(0..5_u64, |_| waits(counts)).reduce(0, |a, b| a + b).await
}

/// Returns once all of `many_waits` wait, or are about to.
#[task]
async fn all_begun(counts: &Counts) -> u64 {
    counts.begun.acquire_many(5).await.forget();
    2
}

#[task]
async fn computes() -> u64 {
    loop {
        finespun::simulation::work(Duration::from_micros(10));
        checkpoint().await;
    }
}

#[task]
async fn aborts(handle: AbortHandle) {
    sleep(SHORT).await;
    handle.abort();
    assert!(handle.is_aborted());
}

#[task]
async fn aborts_all(handle: AbortHandle, counts: &Counts) {
    all_begun(counts).await;
    handle.abort();
}

#[task]
async fn aborts_a_sibling(counts: &Counts) -> (Result<u64, Aborted>, u64) {
    let (task, handle) = abortable(many_waits(counts));
    let (result, ()) = join!(task, aborts_all(handle, counts));
    (result, counts.dropped())
}

#[test]
fn abort_ends_everything_beneath_a_task() {
    within_a_minute(|| {
        everywhere(|runtime| assert_eq!(runtime.run(aborts_a_sibling(&Counts::new())), (Err(aborted()), 5)));
    });
}

/// Returns the error, which only the library makes.
fn aborted() -> Aborted {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let (task, handle) = abortable(fib(1));
    handle.abort();
    runtime.run(task).unwrap_err()
}

#[task]
async fn aborts_in_scope<'s>(s: Scope<'s>, counts: &'s Counts) -> Result<u64, Aborted> {
    let (task, handle) = abortable(many_waits(counts));
    let begun = s.spawn(task);
    s.spawn(aborts_all(handle, counts)).await;
    begun.await
}

#[task]
async fn of_scope(counts: &Counts) -> Result<u64, Aborted> {
    scope(|s| aborts_in_scope(s, counts)).await
}

#[test]
fn a_scoped_task_can_be_aborted() {
    within_a_minute(|| {
        everywhere(|runtime| {
            let counts = Counts::new();
            assert!(runtime.run(of_scope(&counts)).is_err());
            assert_eq!(counts.dropped(), 5);
        });
    });
}

#[task]
async fn spawned_computation() -> Result<u64, Aborted> {
    let (task, handle) = abortable(computes());
    let begun = spawn(task);
    drop(spawn(aborts(handle)));
    begun.await
}

#[test]
fn a_task_that_computes_can_be_aborted() {
    within_a_minute(|| everywhere(|runtime| assert!(runtime.run(spawned_computation()).is_err())));
}

#[task]
async fn abort_is_late(n: u64) -> u64 {
    let (task, handle) = abortable(fib(n));
    let value = task.await;
    handle.abort();
    assert!(!handle.is_aborted());
    value.unwrap_or(0)
}

#[test]
fn an_abort_after_the_end_changes_nothing() {
    everywhere(|runtime| assert_eq!(runtime.run(abort_is_late(10)), plain_fib(10)));
}

#[task]
async fn aborted_from_a_thread() -> Result<u64, Aborted> {
    let outside = finespun::tasks::outside();
    let never = Semaphore::new(0);
    let (task, handle) = abortable(acquires(&never));
    std::thread::spawn(move || {
        std::thread::sleep(SHORT);
        handle.abort();
        drop(outside);
    });
    task.await
}

#[task]
async fn acquires(never: &Semaphore) -> u64 {
    let _permit = never.acquire().await;
    1
}

#[test]
fn a_plain_thread_aborts() {
    within_a_minute(|| everywhere(|runtime| assert!(runtime.run(aborted_from_a_thread()).is_err())));
}

#[task]
async fn holds_handle() -> u64 {
    let never = Semaphore::new(0);
    let (task, _handle) = abortable(acquires(&never));
    task.await.unwrap_or(0)
}

#[test]
fn an_abort_handle_does_not_suppress_a_report() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        assert!(matches!(runtime.try_run(holds_handle()), Err(RunError::Deadlock(_))));
        assert_eq!(runtime.close(), 0);
    });
}

#[task]
async fn panics(n: u64) -> u64 {
    sleep(SHORT).await;
    panic!("number {n}");
}

#[task]
async fn joins() -> (String, u64, bool) {
    let (bad, good) = (spawn(panics(3)), spawn(fib(10)));
    let large = spawn(is_large());
    let error = bad.join().await.unwrap_err();
    assert!(error.is_panic() && error.task() == Some("panics"), "{error}");
    let value = good.join().await.unwrap_or(0);
    (error.to_string(), value, large.join().await.is_ok_and(|large| large == [7; 400]))
}

#[task]
async fn is_large() -> [u64; 400] {
    sleep(SHORT).await;
    [7; 400]
}

#[test]
fn a_joined_panic_is_an_error() {
    within_a_minute(|| {
        everywhere(|runtime| {
            let (error, value, large) = runtime.run(joins());
            assert_eq!(error, "task `panics` panicked: number 3");
            assert!(large && value == plain_fib(10));
        });
    });
}

#[test]
fn a_run_can_be_aborted_and_waited_for() {
    within_a_minute(|| {
        everywhere(|runtime| {
            let outside = runtime.outside();
            let run = runtime.spawn(forever());
            run.abort();
            assert!(matches!(run.wait(), Err(RunError::Cancelled)));
            drop(outside);
            assert_eq!(runtime.spawn(fib(10)).wait().unwrap(), plain_fib(10));
            let run = runtime.spawn(fib(10));
            let run = runtime.run(foreign(run.outcome())).unwrap();
            assert_eq!(run, plain_fib(10));
            let run = runtime.spawn(panics(4));
            assert!(matches!(run.wait(), Err(RunError::Panicked(panic)) if panic.message() == "number 4"));
        });
    });
}

#[task]
async fn forever() -> u64 {
    let never = Semaphore::new(0);
    acquires(&never).await
}

#[task]
async fn races(counts: &Counts) -> (Race2<u64, u64>, u64) {
    let first = race((many_waits(counts), all_begun(counts))).await;
    (first, counts.dropped())
}

#[task]
async fn after(duration: Duration, value: u64) -> u64 {
    sleep(duration).await;
    value
}

#[task]
async fn races_three(limit: &Semaphore) -> bool {
    matches!(race((waits_for(limit), fib(8), after(LONG, 1))).await, Race3::Second(21))
}

#[task]
async fn waits_for(limit: &Semaphore) -> String {
    let _permit = limit.acquire().await;
    "acquired".to_owned()
}

#[test]
fn the_losers_of_a_race_have_ended() {
    within_a_minute(|| {
        everywhere(|runtime| {
            assert_eq!(runtime.run(races(&Counts::new())), (Race2::Second(2), 5));
            assert!(runtime.run(races_three(&Semaphore::new(0))));
        });
    });
}

#[task]
async fn selects(limit: &Semaphore, patience: Duration) -> String {
    select! {
        text = waits_for(limit) => text,
        _ = sleep(patience) => "patience".to_owned(),
    }
}

#[test]
fn select_continues_with_the_first() {
    within_a_minute(|| {
        everywhere(|runtime| {
            assert_eq!(runtime.run(selects(&Semaphore::new(1), LONG)), "acquired");
            assert_eq!(runtime.run(selects(&Semaphore::new(0), SHORT)), "patience");
        });
    });
}

#[task]
async fn next(number: &mut u64, end: u64) -> Option<u64> {
    yield_now().await;
    *number += 1;
    (*number <= end).then_some(*number)
}

/// A loop with a mutable borrow in a branch, a refutable pattern, a condition, `else`, `break`, and awaits in the bodies.
#[task]
async fn sum_up(end: u64, counts: bool) -> (u64, u64) {
    let mut number = 0;
    let mut sum = 0;
    let mut counted = 0;
    loop {
        select! {
            biased;
            Some(n) = next(&mut number, end) => {
                sum += n;
                let more: u64 = fib(n % 3).await;
                counted += u64::from(more > 1);
            }
            _ = yield_now(), if counts && counted > 1000 => counted += 1,
            else => break,
        }
    }
    (sum, counted)
}

#[test]
fn a_value_that_matches_no_pattern_disables_its_branch() {
    within_a_minute(|| {
        everywhere(|runtime| {
            assert_eq!(runtime.run(sum_up(10, false)), (55, 0));
            assert_eq!(runtime.run(sum_up(10, true)), (55, 0));
        });
    });
}

#[task]
async fn question(fails: bool) -> Result<u64, String> {
    let number = select! {
        result = answers(fails) => result?,
        _ = sleep(LONG) => return Err("late".to_owned()),
    };
    Ok(number + 1)
}

#[task]
async fn answers(fails: bool) -> Result<u64, String> {
    sleep(SHORT).await;
    if fails { Err("failed".to_owned()) } else { Ok(1) }
}

#[task]
async fn patterns(n: i64) -> i64 {
    select! {
        (0, ref text) | (1, ref text) = pair(n) => text.len() as i64,
        (mut x @ 2..=9, _) = pair(n) => { x += 1; x }
        (x, text) = pair(n), if n > 100 => x + text.len() as i64,
        else => -1,
    }
}

#[task]
async fn pair(n: i64) -> (i64, String) {
    yield_now().await;
    (n, "text".to_owned())
}

#[task]
async fn std_futures() -> u64 {
    select! {
        () = foreign(std::future::pending()) => 1,
        n = foreign(std::future::ready(2)) => n,
    }
}

#[test]
fn branches_are_ordinary_code_with_any_patterns() {
    within_a_minute(|| {
        everywhere(|runtime| {
            assert_eq!(runtime.run(question(false)), Ok(2));
            assert_eq!(runtime.run(question(true)), Err("failed".to_owned()));
            for (n, value) in [(0, 4), (1, 4), (5, 6), (10, -1), (200, 204)] {
                assert_eq!(runtime.run(patterns(n)), value);
            }
            assert_eq!(runtime.run(std_futures()), 2);
        });
    });
}

#[task]
async fn none_left() {
    select! {
        Some(()) = nothing() => {}
        () = yield_now(), if false => {}
    }
}

#[task]
async fn nothing() -> Option<()> {
    None
}

#[test]
fn a_select_without_a_branch_left_panics() {
    everywhere(|runtime| {
        let Err(RunError::Panicked(panic)) = runtime.try_run(none_left()) else { panic!("it ended") };
        assert!(panic.message().starts_with("no branch of `select!` is left"), "{panic}");
    });
}

#[cfg(feature = "objects")]
mod in_methods {
    use super::*;
    use std::sync::Arc;

    #[derive(serde::Serialize, serde::Deserialize)]
    struct Service {
        answer: u64,
    }

    #[object]
    impl Service {
        fn answer(&self) -> u64 {
            self.answer
        }

        async fn ask(this: Ref<Self>) -> u64 {
            let never = Semaphore::new(0);
            select! {
                n = acquires(&never) => n,
                n = this.answer() => n,
            }
        }

        async fn both(this: Ref<Self>) -> u64 {
            let sum = Arc::new(AtomicU64::new(0));
            parblock!(add(Arc::clone(&sum), this), add(Arc::clone(&sum), this));
            sum.load(Ordering::Relaxed)
        }
    }

    #[task]
    async fn add(sum: Arc<AtomicU64>, service: Ref<Service>) {
        sum.fetch_add(service.answer().await, Ordering::Relaxed);
    }

    #[task]
    async fn asks() -> (u64, u64) {
        let service = on(nodes() - 1).create(Service { answer: 3 }).await;
        (service.ask().await, service.both().await)
    }

    #[test]
    fn methods_of_objects_race_and_run_in_parallel() {
        within_a_minute(|| everywhere(|runtime| assert_eq!(runtime.run(asks()), (3, 6))));
    }
}
