//! Frames that do not end where they began: handles that outlive their level, frames that outlive their group, and
//! waiters that are completed by another run or another runtime.

use std::collections::HashMap;
use std::ops::ControlFlow::{self, Break, Continue};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::{self, ThreadId};
use std::time::{Duration, Instant};

use finespun::prelude::*;
use finespun::sync::Semaphore;
use finespun::testing::*;
use finespun::{group::Level, group::sync, level, objects::suspend_with, preturn};
use serde::{Deserialize, Serialize};

use crate::common::within_a_minute;
use crate::groups::everywhere;

/// A level that publishes its handle, and ends some time after another task has seen it.
struct Published {
    level: Mutex<Option<Level<u64>>>,
    seen: AtomicBool,
    over: AtomicBool,
}

#[task]
async fn publishes(to: &Published, whole: Level<u64>, delay: u64) -> u64 {
    *to.level.lock().unwrap() = Some(whole);
    while !to.seen.swap(false, Ordering::Acquire) && !to.over.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
    for n in 0..delay {
        std::hint::black_box(n);
    }
    0
}

#[task]
async fn nothing(_: Level<u64>) -> u64 {
    0
}

/// Returns the sum of the levels' values.
#[task]
async fn levels(to: &Published) -> u64 {
    let (mut n, mut sum) = (0_u64, 0);
    while !to.over.load(Ordering::Relaxed) {
        n = n.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        let delay = (n >> 33) % 1000;
        sum += level(move |whole| publishes(to, whole, delay)).await;
        sum += level(|whole| nothing(whole)).await;
    }
    sum
}

#[task]
async fn returns(to: &Published, whole: Level<u64>) {
    to.seen.store(true, Ordering::Release);
    preturn(whole, 1).await;
}

#[task]
async fn tries(to: &Published, whole: Level<u64>) {
    parfor(0..1, move |_: u64| returns(to, whole)).await
}

/// A call of `preturn` from outside is refused while the level ends, although the caller's group may get the number
/// that the level's group has just had.
#[test]
fn a_level_that_is_ending_refuses_returns_from_outside() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let to = Published { level: Mutex::new(None), seen: AtomicBool::new(false), over: AtomicBool::new(false) };
    let sum = thread::scope(|s| {
        let sum = s.spawn(|| runtime.run(levels(&to)));
        let start = Instant::now();
        let mut wrong = None;
        while start.elapsed() < Duration::from_secs(2) && wrong.is_none() {
            let Some(whole) = to.level.lock().unwrap().take() else { continue };
            let tried = runtime.try_run(tries(&to, whole));
            let refused = tried.as_ref().is_err_and(|error| {
                let error = error.to_string();
                error.contains("has ended") || error.contains("does not run in")
            });
            wrong = (!refused).then(|| format!("{tried:?}"));
        }
        to.over.store(true, Ordering::Relaxed);
        assert_eq!(wrong, None);
        sum.join().unwrap()
    });
    assert_eq!(sum, 0);
    assert_eq!(runtime.close(), 0);
}

type Slot<T> = Mutex<Option<Continuation<T>>>;

#[task]
async fn keep<T: Send>(slot: &Slot<T>) -> T {
    suspend(|k| *slot.lock().unwrap() = Some(k)).await
}

#[task]
async fn yields(_: u64) {
    yield_now().await;
}

#[task]
async fn breaks(k: u64) -> ControlFlow<u64> {
    yield_now().await;
    if k == 0 {
        return Break(1);
    }
    for _ in 0..5 {
        yield_now().await;
    }
    Continue(())
}

/// Waits, and then begins its own group.
#[task]
async fn late_value(gate: Arc<Semaphore>) -> u64 {
    drop(gate.acquire().await);
    parfor(0..2, yields).await;
    42
}

#[task]
async fn hands_over(slot: &Slot<u64>, gate: &Arc<Semaphore>) {
    let k = loop {
        if let Some(k) = slot.lock().unwrap().take() {
            break k;
        }
        yield_now().await;
    };
    k.resolve_with(late_value(Arc::clone(gate))).await;
}

/// Ends a group before a task that was begun in it and that no task waits for; then another group reuses its record.
#[task]
async fn outlived(slot: &Slot<u64>, gate: &Arc<Semaphore>) {
    let _ = parfor(0..2, breaks).await;
    parfor(0..1, |_: u64| hands_over(slot, gate)).await;
    let _ = parfor(0..2, breaks).await;
    yield_now().await;
    gate.release(1);
}

#[task]
async fn waits_for_outlived(slot: &Slot<u64>, gate: &Arc<Semaphore>) -> u64 {
    let (n, ()) = join!(keep(slot), outlived(slot, gate));
    n
}

#[test]
fn a_call_that_answers_for_another_task_outlives_its_group() {
    within_a_minute(|| {
        everywhere(|runtime| {
            let gate = Arc::new(Semaphore::new(0));
            assert_eq!(runtime.run(waits_for_outlived(&Mutex::new(None), &gate)), 42);
        });
    });
}

#[task]
async fn resolves(gate: Arc<Semaphore>, done: Arc<AtomicBool>, k: Continuation<u64>) {
    k.resolve(1);
    drop(gate.acquire().await);
    parfor(0..2, yields).await;
    done.store(true, Ordering::Relaxed);
}

#[task]
async fn waits_with(gate: &Arc<Semaphore>, done: &Arc<AtomicBool>) {
    let (gate, done) = (Arc::clone(gate), Arc::clone(done));
    let one = suspend_with(move |k| resolves(gate, done, k)).await;
    assert_eq!(one, 1);
}

#[task]
async fn outlived_with(gate: &Arc<Semaphore>, done: &Arc<AtomicBool>) {
    parfor(0..1, |_: u64| waits_with(gate, done)).await;
    let _ = parfor(0..2, breaks).await;
    gate.release(1);
    while !done.load(Ordering::Relaxed) {
        yield_now().await;
    }
}

#[test]
fn a_body_that_no_task_waits_for_outlives_its_group() {
    within_a_minute(|| {
        everywhere(|runtime| {
            runtime.run(outlived_with(&Arc::new(Semaphore::new(0)), &Arc::new(AtomicBool::new(false))));
        });
    });
}

/// Runs long enough for the other activities to be stolen.
fn takes_time() {
    let start = Instant::now();
    while start.elapsed() < Duration::from_micros(50) {
        std::hint::spin_loop();
    }
}

/// Enough activities that the waiters of each worker are released by a frame of their own.
const MANY: u64 = 400;

#[task]
async fn all_but_one_meet(slot: &Slot<()>, by: &Mutex<HashMap<ThreadId, u64>>, k: u64) {
    takes_time();
    *by.lock().unwrap().entry(thread::current().id()).or_default() += 1;
    if k == 0 { keep(slot).await } else { sync().await }
}

#[task]
async fn many_meet(slot: &Slot<()>, by: &Mutex<HashMap<ThreadId, u64>>) {
    parfor(0..MANY, |k| all_but_one_meet(slot, by, k)).await;
}

#[task]
async fn resolves_last(slot: &Slot<()>) {
    let k = slot.lock().unwrap().take();
    k.unwrap().resolve(());
}

#[task]
async fn keeps_busy(busy: &AtomicBool, over: &AtomicBool) {
    busy.store(true, Ordering::Relaxed);
    while !over.load(Ordering::Relaxed) {
        std::hint::spin_loop();
    }
}

/// The last activity that all others wait for is completed by a task of another run, which ends at once.
#[test]
fn activities_released_by_another_run_continue() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        for _ in 0..10 {
            let (slot, by) = (Slot::new(None), Mutex::default());
            thread::scope(|s| {
                let first = s.spawn(|| runtime.try_run(join_hold(&slot, &by)));
                while by.lock().unwrap().values().sum::<u64>() < MANY || slot.lock().unwrap().is_none() {
                    thread::yield_now();
                }
                thread::sleep(Duration::from_millis(20));
                // The other worker is busy, so that the other run ends before any activity continues.
                let (busy, over) = (AtomicBool::new(false), AtomicBool::new(false));
                thread::scope(|s| {
                    s.spawn(|| runtime.run(keeps_busy(&busy, &over)));
                    while !busy.load(Ordering::Relaxed) {
                        thread::yield_now();
                    }
                    runtime.run(resolves_last(&slot));
                    over.store(true, Ordering::Relaxed);
                });
                first.join().unwrap().unwrap();
            });
        }
        assert_eq!(runtime.close(), 0);
    });
}

/// Also waits for an outside event, so that the wait for the other run is no deadlock.
#[task]
async fn join_hold(slot: &Slot<()>, by: &Mutex<HashMap<ThreadId, u64>>) {
    join!(many_meet(slot, by), hold());
}

#[task]
async fn hold() {
    blocking(|| thread::sleep(Duration::from_millis(200))).await;
}

#[derive(Serialize, Deserialize)]
struct Slow;

#[object]
impl Slow {
    async fn slow(&self) {
        blocking(|| thread::sleep(Duration::from_millis(100))).await;
    }
}

#[task]
async fn ask(object: Ref<Slow>) {
    object.slow().await
}

#[task]
async fn ask_or_meet(objects: &[Ref<Slow>; 2], k: u64) {
    takes_time();
    if k == 0 { ask(objects[1 - here() as usize]).await } else { sync().await }
}

#[task]
async fn slow_one() {
    let first: Ref<Slow> = on(0).create(Slow).await;
    let second: Ref<Slow> = on(1).create(Slow).await;
    let objects = [first, second];
    all_ask_or_meet(&objects).await;
}

#[task]
async fn all_ask_or_meet(objects: &[Ref<Slow>; 2]) {
    parfor(0..MANY, |k| ask_or_meet(objects, k)).await;
}

/// The last activity that all others wait for is completed by a message, on a worker that executes no run.
#[test]
fn activities_released_by_a_reply_continue() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        for _ in 0..5 {
            runtime.run(slow_one());
        }
        assert_eq!(runtime.close(), 0);
    });
}

#[task]
async fn breaks_for_a_kept_wait(kept: &Slot<u64>, k: u64) -> ControlFlow<u64> {
    if k == 0 {
        return Break(keep(kept).await);
    }
    yield_now().await;
    Break(1)
}

#[task]
async fn ends_a_kept_wait(kept: &Slot<u64>) -> ControlFlow<u64> {
    parfor(0..2, |k| breaks_for_a_kept_wait(kept, k)).await
}

#[task]
async fn forever() {
    loop {
        yield_now().await;
    }
}

/// Leaves a task behind that must be cancelled, so the run ends with a sweep.
#[task]
async fn leaves_something() -> u64 {
    drop(spawn(forever()));
    2
}

/// A continuation outlives its group and its runtime. Its leaf has the number of a group that does not exist in a later
/// runtime, which finds the leaf in a pool.
#[test]
fn remains_of_an_earlier_runtime_do_not_disturb_a_later_one() {
    within_a_minute(|| {
        let kept = Slot::new(None);
        let runtime = Runtime::builder().workers(1).build().unwrap();
        assert_eq!(runtime.run(ends_a_kept_wait(&kept)), Break(1));
        drop(runtime);
        // Other tests take runtime numbers too; one of these runtimes has the number of the first.
        let runtimes = [(); 20].map(|()| Runtime::builder().workers(1).build().unwrap());
        for runtime in &runtimes {
            assert_eq!(runtime.run(leaves_something()), 2);
        }
    });
}
