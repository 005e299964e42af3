//! Groups that are terminated: by a value, by a panic, from outside.

use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use finespun::RunError;
use finespun::prelude::*;
use finespun::sync::Semaphore;
use finespun::testing::*;

use crate::groups::everywhere;

/// A value that counts its live instances.
struct Alive<'a>(&'a AtomicU64);

impl<'a> Alive<'a> {
    fn new(count: &'a AtomicU64) -> Alive<'a> {
        count.fetch_add(1, Ordering::Relaxed);
        Alive(count)
    }
}

impl Drop for Alive<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// State shared by the activities of a test.
struct World {
    alive: AtomicU64,
    never: Semaphore,
    one: Semaphore,
}

impl World {
    fn new() -> World {
        World { alive: AtomicU64::new(0), never: Semaphore::new(0), one: Semaphore::new(1) }
    }
}

#[task]
async fn wait_or_break(world: &World, k: u64, at: u64) -> ControlFlow<u64> {
    let _alive = Alive::new(&world.alive);
    if k == at {
        yield_now().await;
        return Break(k);
    }
    let _permit = if k == 0 { Some(world.one.acquire().await) } else { None };
    // This permit is never added: the wait ends with the group.
    drop(world.never.acquire().await);
    Continue(())
}

#[task]
async fn broken(world: &World, n: u64, at: u64) -> ControlFlow<u64> {
    let ended = parfor(0..n, |k| wait_or_break(world, k, at)).await;
    assert_eq!(world.alive.load(Ordering::Relaxed), 0, "all have ended before the parent goes on");
    assert_eq!(world.one.available(), 1, "permits come back");
    ended
}

#[test]
fn a_break_ends_waiting_activities() {
    everywhere(|runtime| {
        for (n, at) in [(1, 0), (2, 1), (10, 9), (10, 5), (300, 299)] {
            assert_eq!(runtime.run(broken(&World::new(), n, at)), Break(at));
        }
    });
}

#[task]
async fn nested(world: &World, depth: u64, at: u64) -> ControlFlow<u64> {
    if depth == 0 {
        return wait_or_break(world, at, 0).await;
    }
    parfor(0..3, |k| nested(world, depth - 1, 3 * at + k)).await
}

#[task]
async fn all_levels(world: &World, depth: u64) -> ControlFlow<u64> {
    let ended = parfor(0..3, |k| nested(world, depth, k)).await;
    assert_eq!(world.alive.load(Ordering::Relaxed), 0);
    ended
}

#[test]
fn a_break_propagates_group_by_group() {
    everywhere(|runtime| {
        for depth in 0..4 {
            assert_eq!(runtime.run(all_levels(&World::new(), depth)), Break(0));
        }
    });
}

#[task]
async fn inner(world: &World, n: u64) {
    let _alive = Alive::new(&world.alive);
    if n > 0 {
        parfor(0..2, |_: u64| inner(world, n - 1)).await;
    }
    drop(world.never.acquire().await);
}

#[task]
async fn outer(world: &World, k: u64, at: u64) -> Result<(), String> {
    if k == at {
        yield_now().await;
        return Err(format!("number {k}"));
    }
    inner(world, 3).await;
    Ok(())
}

#[task]
async fn whole_trees(world: &World, at: u64) -> Result<(), String> {
    let ended = parfor(0..4, |k| outer(world, k, at)).await;
    assert_eq!(world.alive.load(Ordering::Relaxed), 0);
    ended
}

#[test]
fn termination_ends_the_whole_subtree() {
    everywhere(|runtime| {
        for at in 0..4 {
            assert_eq!(runtime.run(whole_trees(&World::new(), at)), Err(format!("number {at}")));
        }
    });
}

#[task]
async fn panics(world: &World, k: u64) {
    let _alive = Alive::new(&world.alive);
    if k == 7 {
        yield_now().await;
        panic!("activity 7");
    }
    drop(world.never.acquire().await);
}

#[task]
async fn panicking(world: &World) {
    parfor(0..20, |k| panics(world, k)).await;
}

#[test]
fn a_panic_ends_the_group() {
    everywhere(|runtime| {
        let world = World::new();
        let error = runtime.try_run(panicking(&world)).unwrap_err();
        assert!(error.to_string().contains("activity 7"), "{error}");
        assert_eq!(world.alive.into_inner(), 0);
    });
}

#[task]
async fn odd(n: u64) -> Option<String> {
    if n.is_multiple_of(4) {
        yield_now().await;
    }
    if n > 90 { None } else { Some(n.to_string()) }
}

#[task]
async fn some(n: u64) -> Option<Vec<String>> {
    parfor(0..n, odd).try_collect().await
}

#[task]
async fn lengths(n: u64) -> Option<usize> {
    parfor(0..n, odd).try_reduce(0, |sum, word| sum + word.len()).await
}

#[test]
fn values_of_a_terminated_group_are_dropped() {
    everywhere(|runtime| {
        assert_eq!(runtime.run(some(20)), Some((0..20).map(|n| n.to_string()).collect()));
        assert_eq!(runtime.run(some(100)), None);
        assert_eq!(runtime.run(lengths(20)), Some(30));
        assert_eq!(runtime.run(lengths(100)), None);
    });
}

#[task]
async fn spawned<'s>(world: &'s World, scope: Scope<'s>, k: u64) -> ControlFlow<()> {
    // The spawned task belongs to another group than its waiter.
    let handle = scope.spawn(last(world, k));
    handle.await;
    if k == 3 { Break(()) } else { Continue(()) }
}

#[task]
async fn last(world: &World, k: u64) {
    let _alive = Alive::new(&world.alive);
    yield_now().await;
    if k != 3 {
        drop(world.never.acquire().await);
    }
}

#[task]
async fn with_scope<'s>(world: &'s World, scope: Scope<'s>) -> ControlFlow<()> {
    let ended = parfor(0..6, |k| spawned(world, scope, k)).await;
    // The activities' group has ended, but the scope has not: its tasks still wait.
    world.never.release(6);
    ended
}

#[task]
async fn scoped(world: &World) -> ControlFlow<()> {
    scope(|s| with_scope(world, s)).await
}

#[test]
fn a_waiter_for_a_task_of_another_group_is_ended_alone() {
    everywhere(|runtime| {
        let world = World::new();
        assert_eq!(runtime.run(scoped(&world)), Break(()));
        assert_eq!(world.alive.into_inner(), 0);
    });
}

#[task]
async fn forever(world: &World) {
    parfor(0..4, |_: u64| inner(world, 2)).await;
}

#[test]
fn a_deadlock_on_a_lock_in_a_group_is_reported() {
    // Only some settings: a wait for a lock is reported after a second.
    for (workers, n) in [(1, 0), (2, 0), (3, 1), (2, 3)] {
        let runtime = Runtime::builder().workers(workers).block_every(n).build().unwrap();
        let world = World::new();
        let error = runtime.try_run(forever(&world)).unwrap_err().to_string();
        assert!(error.contains("inner waits for"), "{error}");
        assert_eq!(world.alive.into_inner(), 0);
        assert_eq!(runtime.close(), 0);
    }
}

/// Waits for a continuation that only the task itself holds.
#[task]
async fn stuck(world: &World, n: u64) {
    let _alive = Alive::new(&world.alive);
    if n > 0 {
        parfor(0..2, |_: u64| stuck(world, n - 1)).await;
    }
    let kept = Arc::new(Mutex::new(None::<Continuation<()>>));
    let own = Arc::clone(&kept);
    suspend(move |k| *own.lock().unwrap() = Some(k)).await;
    drop(kept);
}

#[task]
async fn all_stuck(world: &World) {
    parfor(0..4, |_: u64| stuck(world, 2)).await;
}

#[test]
fn a_deadlock_in_a_group_is_reported() {
    everywhere(|runtime| {
        let world = World::new();
        let error = runtime.try_run(all_stuck(&world)).unwrap_err().to_string();
        assert!(error.contains("stuck waits for"), "{error}");
        assert_eq!(world.alive.into_inner(), 0);
    });
}

/// A value whose destructor panics.
struct Bad;

impl Drop for Bad {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            panic!("destructor");
        }
    }
}

#[task]
async fn bad_or_never(never: &Semaphore, k: u64) -> Bad {
    if k == 0 {
        yield_now().await;
    } else {
        drop(never.acquire().await);
    }
    Bad
}

#[task]
async fn collects_bad(never: &Semaphore) -> ControlFlow<u64> {
    std::mem::forget(parfor(0..2, |k| bad_or_never(never, k)).collect().await);
    Continue(())
}

#[task]
async fn breaks_late() -> ControlFlow<u64> {
    for _ in 0..10 {
        yield_now().await;
    }
    Break(1)
}

#[task]
async fn bad_or_breaks(never: &Semaphore, k: u64) -> ControlFlow<u64> {
    if k == 0 { collects_bad(never).await } else { breaks_late().await }
}

#[task]
async fn ended_over_bad_values(never: &Semaphore) -> ControlFlow<u64> {
    parfor(0..2, |k| bad_or_breaks(never, k)).await
}

/// A group inside the terminated one has a value that no task receives.
#[test]
fn a_panicking_destructor_does_not_affect_the_outer_group() {
    everywhere(|runtime| {
        assert_eq!(runtime.run(ended_over_bad_values(&Semaphore::new(0))), Break(1));
    });
}

#[task]
async fn hand_out(k: u64) -> Handle<'static, u64> {
    spawn(late_value(k))
}

#[task]
async fn late_value(k: u64) -> u64 {
    yield_now().await;
    k
}

#[task]
async fn collects_handles() -> usize {
    let bad = Bad;
    let activity = move |k| {
        let _ = &bad;
        hand_out(k)
    };
    parfor(0..4, activity).collect().await.len()
}

#[task]
async fn breaks_with_a_handle(k: u64) -> ControlFlow<Handle<'static, u64>> {
    Break(hand_out(k).await)
}

#[task]
async fn searches_for_a_handle() -> bool {
    let bad = Bad;
    let activity = move |k| {
        let _ = &bad;
        breaks_with_a_handle(k)
    };
    parfor(0..4, activity).await.is_break()
}

/// A panic in the destructor of the activities' closure loses none of the values, which are handles.
#[test]
fn a_panicking_destructor_loses_no_value() {
    everywhere(|runtime| {
        for error in [runtime.try_run(collects_handles()).err(), runtime.try_run(searches_for_a_handle()).err()] {
            let Some(RunError::Panicked(panic)) = error else { panic!("{error:?}") };
            assert_eq!(panic.message(), "destructor");
        }
    });
}

#[task]
async fn tenth_ends(k: u64, off_the_stack: bool) -> Option<u64> {
    if off_the_stack && k == 3 {
        yield_now().await;
    }
    if k == 10 { None } else { Some(k) }
}

#[task]
async fn more_than_there_is_memory_for(off_the_stack: bool) -> Option<u64> {
    parfor(0..1 << 62, |k| tenth_ends(k, off_the_stack)).try_reduce(0, |a, b| a ^ b).await
}

/// Room for values is allocated as they arrive. Block-every-n is left out: it begins all activities before the tenth
/// has run.
#[test]
fn a_search_may_have_more_activities_than_fit_in_memory() {
    // Several times: at times an endless part comes before the one with the tenth activity, on each worker.
    for workers in [1, 2, 2, 2, 2] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        for off_the_stack in [false, true] {
            assert_eq!(runtime.run(more_than_there_is_memory_for(off_the_stack)), None);
        }
        assert_eq!(runtime.close(), 0);
    }
}

#[task]
async fn nothing(k: u64) {
    if k == 3 {
        yield_now().await;
    }
}

#[task]
async fn nothings() -> (usize, u64) {
    let collected = parfor(0..10, nothing).collect().await;
    (collected.len(), parfor(0..10, nothing).reduce(0, |n, ()| n + 1).await)
}

/// Values of type `()` count as values.
#[test]
fn unit_values_are_counted() {
    everywhere(|runtime| assert_eq!(runtime.run(nothings()), (10, 10)));
}
