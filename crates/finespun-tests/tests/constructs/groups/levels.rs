//! Returns from outer levels, the end of the run by `exit`, and how plain code learns of a termination.

use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use finespun::prelude::*;
use finespun::sync::Semaphore;
use finespun::testing::*;
use finespun::{RunError, group::Level, group::exit, group::sync, level, preturn};

use crate::groups::everywhere;

/// Runs a tree of constructs, three deep. Its leaves wait for ever, except one, which returns from the outermost level.
#[task]
async fn tree(never: &Semaphore, depth: u64, at: u64, leaf: u64, whole: Level<String>) {
    if depth > 0 {
        parfor(0..3, move |k| tree(never, depth - 1, 3 * at + k, leaf, whole)).await;
    } else if at == leaf {
        yield_now().await;
        preturn(whole, format!("leaf {at}")).await;
    } else {
        drop(never.acquire().await);
    }
}

#[task]
async fn root(never: &Semaphore, leaf: u64, whole: Level<String>) -> String {
    parfor(0..3, move |k| tree(never, 2, k, leaf, whole)).await;
    "no leaf".to_owned()
}

#[task]
async fn outermost(never: &Semaphore, leaf: u64) -> String {
    level(move |whole| root(never, leaf, whole)).await
}

#[test]
fn a_level_is_returned_from_at_any_depth() {
    everywhere(|runtime| {
        let never = Semaphore::new(0);
        for leaf in [0, 13, 26] {
            assert_eq!(runtime.run(outermost(&never, leaf)), format!("leaf {leaf}"));
        }
        never.release(1000);
        assert_eq!(runtime.run(outermost(&never, 27)), "no leaf");
    });
}

#[task]
async fn two_levels(k: u64, inner: Level<u64>, outer: Level<u64>) -> u64 {
    match k {
        0 => match preturn(inner, 10).await {},
        1 => match preturn(outer, 20).await {},
        _ => 30,
    }
}

#[task]
async fn inner_level(k: u64, outer: Level<u64>) -> u64 {
    let value = level(move |inner| two_levels(k, inner, outer)).await;
    value + 1
}

#[task]
async fn outer_level(k: u64) -> u64 {
    let value = level(move |outer| inner_level(k, outer)).await;
    value + 100
}

#[test]
fn preturn_ends_the_named_level() {
    everywhere(|runtime| {
        assert_eq!([0, 1, 2].map(|k| runtime.run(outer_level(k))), [111, 120, 131]);
    });
}

#[task]
async fn all_return(k: u64, whole: Level<u64>) {
    if !k.is_multiple_of(3) {
        yield_now().await;
    }
    preturn(whole, k).await;
}

#[task]
async fn race(n: u64, whole: Level<u64>) -> u64 {
    parfor(0..n, move |k| all_return(k, whole)).await;
    unreachable!("somebody returns")
}

#[task]
async fn one_of(n: u64) -> u64 {
    level(|whole| race(n, whole)).await
}

#[test]
fn the_first_of_several_returns_wins() {
    everywhere(|runtime| assert!(runtime.run(one_of(50)) < 50));
}

#[task]
async fn keeps(kept: &std::sync::Mutex<Option<Level<u64>>>, whole: Level<u64>) -> u64 {
    *kept.lock().unwrap() = Some(whole);
    1
}

#[task]
async fn misuses(kept: &std::sync::Mutex<Option<Level<u64>>>, within: bool) -> u64 {
    let one = level(|whole| keeps(kept, whole)).await;
    let old = *kept.lock().unwrap();
    let Some(old) = old else { return one };
    if within {
        return level(|_: Level<u64>| late(old)).await;
    }
    late(old).await
}

#[task]
async fn late(old: Level<u64>) -> u64 {
    match preturn(old, 2).await {}
}

#[test]
fn returning_from_an_ended_level_is_refused() {
    everywhere(|runtime| {
        for within in [false, true] {
            let kept = std::sync::Mutex::new(None);
            let error = runtime.try_run(misuses(&kept, within)).unwrap_err().to_string();
            assert!(error.contains("`preturn` from a level that has ended"), "{error}");
        }
    });
}

#[task]
async fn stops(k: u64) {
    if k == 5 {
        exit(7).await;
    }
    sync().await;
}

#[task]
async fn stopping() -> u64 {
    parfor(0..9, stops).await;
    0
}

#[test]
fn exit_ends_the_run() {
    everywhere(|runtime| {
        let ended = runtime.try_run(stopping());
        assert!(matches!(ended, Err(RunError::Exited(7))), "{ended:?}");
    });
}

#[task]
async fn adds(sum: &AtomicU64, n: u64) {
    yield_now().await;
    sum.fetch_add(n, Ordering::Relaxed);
}

#[task]
async fn fails(k: u64) -> Result<(), String> {
    if k == 2 { Err("two".to_owned()) } else { waits(k).await }
}

#[task]
async fn waits(k: u64) -> Result<(), String> {
    let never = Semaphore::new(0);
    forever(&never).await;
    Err(k.to_string())
}

#[task]
async fn forever(never: &Semaphore) {
    drop(never.acquire().await);
}

#[task]
async fn blocks(sum: &AtomicU64) -> Result<(), String> {
    parblock!(adds(sum, 1), adds(sum, 20), adds(sum, 300));
    parblock! {
        adds(sum, 4000)
    }
    assert_eq!(sum.load(Ordering::Relaxed), 4321);
    let ended = parblock!(fails(0), fails(1), fails(2), fails(3));
    assert_eq!(ended, Err("two".to_owned()));
    parblock!(fails(2), fails(2))?;
    unreachable!()
}

#[test]
fn blocks_are_activities() {
    everywhere(|runtime| {
        assert_eq!(runtime.run(blocks(&AtomicU64::new(0))), Err("two".to_owned()));
    });
}

#[task]
async fn light(times: &[AtomicU64], chunks: u64) {
    lparfor(0..times.len(), move |k| {
        times[k].fetch_add(1, Ordering::Relaxed);
    })
    .await;
    lparfor((0..times.len()).step_by(2), move |k| {
        times[k].fetch_add(1, Ordering::Relaxed);
    })
    .chunks(chunks)
    .await;
}

#[task]
async fn light_search(numbers: &[u64], wanted: u64) -> ControlFlow<usize> {
    lparfor(0..numbers.len(), move |k| if numbers[k] == wanted { Break(k) } else { Continue(()) }).await
}

#[test]
fn light_activities_run_once() {
    everywhere(|runtime| {
        for (len, chunks) in [(0, 1), (1, 7), (100, 3), (1000, 1000)] {
            let times: Vec<AtomicU64> = (0..len).map(|_| AtomicU64::new(0)).collect();
            runtime.run(light(&times, chunks));
            for (k, times) in times.iter().enumerate() {
                assert_eq!(times.load(Ordering::Relaxed), 1 + u64::from(k % 2 == 0));
            }
        }
        let numbers: Vec<u64> = (0..1000).collect();
        assert_eq!(runtime.run(light_search(&numbers, 700)), Break(700));
        assert_eq!(runtime.run(light_search(&numbers, 1000)), Continue(()));
    });
}

/// Computes without an await until a checkpoint reports the termination.
fn computes() -> ControlFlow<()> {
    let start = Instant::now();
    while start.elapsed() < Duration::from_secs(50) {
        checkpoint().now()?;
    }
    Continue(())
}

#[task]
async fn breaks_or_computes(k: u64, others: &AtomicU64) -> ControlFlow<u64> {
    // Leaves the loop's stack, so that each worker has an activity.
    yield_now().await;
    if k == 0 {
        // Breaks only after the other activity has begun to compute.
        while others.load(Ordering::Relaxed) == 0 {
            std::thread::yield_now();
        }
        return Break(k);
    }
    others.fetch_add(1, Ordering::Relaxed);
    match computes() {
        Break(()) => Break(k),
        Continue(()) => Continue(()),
    }
}

#[task]
async fn plain_loops(others: &AtomicU64) -> ControlFlow<u64> {
    parfor(0..2, |k| breaks_or_computes(k, others)).await
}

#[test]
fn a_checkpoint_reports_termination_to_plain_loops() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let start = Instant::now();
    assert_eq!(runtime.run(plain_loops(&AtomicU64::new(0))), Break(0));
    assert!(start.elapsed() < Duration::from_secs(20));
    assert_eq!(runtime.close(), 0);
}

/// A value that sets its flag when it is dropped.
struct Sets<'a>(&'a AtomicBool);

impl Drop for Sets<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

#[task]
async fn returns_beside(whole: Level<Option<u64>>, gone: &AtomicBool) {
    let _gone = Sets(gone);
    preturn(whole, Some(7)).await;
}

#[task]
async fn spawns_who_returns<'s>(s: Scope<'s>, whole: Level<Option<u64>>, gone: &'s AtomicBool, wait: bool) {
    drop(s.spawn(returns_beside(whole, gone)));
    let start = Instant::now();
    while wait && !gone.load(Ordering::Acquire) && start.elapsed() < Duration::from_secs(2) {
        std::hint::spin_loop();
    }
    if wait {
        // The scope is notified some time after the flag is set.
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[task]
async fn scope_of_who_returns(whole: Level<Option<u64>>, gone: &AtomicBool, wait: bool) -> Option<u64> {
    scope(move |s| spawns_who_returns(s, whole, gone, wait)).await;
    None
}

#[task]
async fn level_of_a_scope(gone: &AtomicBool, wait: bool) -> Option<u64> {
    level(|whole| scope_of_who_returns(whole, gone, wait)).await
}

/// A task of a scope returns from the level on another worker, and ends. The level's own activity is on the stack, and
/// continues.
#[test]
fn a_level_whose_activity_is_on_the_stack_can_end() {
    everywhere(|runtime| assert_eq!(runtime.run(level_of_a_scope(&AtomicBool::new(false), false)), Some(7)));
    let runtime = Runtime::builder().workers(2).build().unwrap();
    for _ in 0..5 {
        assert_eq!(runtime.run(level_of_a_scope(&AtomicBool::new(false), true)), Some(7));
    }
    assert_eq!(runtime.close(), 0);
}
