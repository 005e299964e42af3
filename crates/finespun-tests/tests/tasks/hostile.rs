//! Programs that try to break the runtime from safe code. Each program once did.

use std::panic::{catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use crate::common::{everywhere, fib, within_a_minute};
use finespun::RunError;
use finespun::prelude::*;
use finespun::sync::{Mutex as Lock, Semaphore};
use finespun::testing::*;

#[task]
async fn escape() -> Scope<'static> {
    scope(|s: Scope<'static>| suspend(move |k| k.resolve(s))).await
}

#[task]
async fn spawn_late(s: Scope<'static>) -> u64 {
    s.spawn(fib(5)).await
}

#[test]
fn an_escaped_scope_spawns_nothing_after_its_end() {
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
        assert!(error.to_string().contains("in another run than the scope"), "{error}");
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
fn a_handle_of_another_runtime_can_be_awaited() {
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
fn a_long_queue_of_cancelled_waiters_is_skipped() {
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
fn a_cancelled_waiter_does_not_block_the_queue() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let permits = Arc::new(Semaphore::new(1));
        assert!(runtime.try_run(two(Arc::clone(&permits))).is_err());
        assert_eq!(runtime.run(one(permits)), 1);
    });
}

/// A value whose destructor panics, without calling the panic hook.
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
fn panicking_destructors_lose_no_run() {
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

/// A value whose destructor panics in any case: two of them, dropped one after the other by a `Vec`, would abort.
struct DoubleBomb;
impl Drop for DoubleBomb {
    fn drop(&mut self) {
        resume_unwind(Box::new("bomb"));
    }
}

/// Delivers a bomb, but as number 2 says so once the others have, and then waits for ever.
#[task]
async fn bomb_or_wait(k: u64, ready: Arc<AtomicU64>) -> DoubleBomb {
    yield_now().await;
    if k == 2 {
        for _ in 0..5 {
            yield_now().await;
        }
        ready.store(1, Ordering::Release);
        stuck_outside().await;
    }
    DoubleBomb
}

#[task]
async fn stuck_outside() {
    let kept = Mutex::new(None);
    suspend(|k: Continuation<()>| *kept.lock().unwrap() = Some(k.external())).await;
}

#[task]
async fn many_bombs(ready: Arc<AtomicU64>) -> usize {
    let bombs = join_all((0..3).map(|k| bomb_or_wait(k, Arc::clone(&ready)))).await;
    let count = bombs.len();
    bombs.into_iter().for_each(std::mem::forget);
    count
}

#[test]
fn a_cancelled_loop_drops_several_values_with_panicking_destructors() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(1).build().unwrap();
        let ready = Arc::new(AtomicU64::new(0));
        let run = runtime.spawn(many_bombs(Arc::clone(&ready)));
        while ready.load(Ordering::Acquire) == 0 {
            thread::yield_now();
        }
        drop(run);
        assert_eq!(runtime.run(fib(10)), 55);
        assert_eq!(runtime.close(), 0, "frames are left");
    });
}

/// A panic's payload that tries to spawn when it is dropped, and counts itself.
struct Spawner(Arc<AtomicU64>);
impl Drop for Spawner {
    fn drop(&mut self) {
        // Refused, unless the payload is dropped by a task of its run.
        let _ = catch_unwind(|| drop(spawn(fib(1))));
        self.0.fetch_sub(1, Ordering::Release);
    }
}

#[task]
async fn throw(left: Arc<AtomicU64>, thrown: Arc<AtomicU64>) {
    yield_now().await;
    left.fetch_add(1, Ordering::Release);
    thrown.fetch_add(1, Ordering::Release);
    resume_unwind(Box::new(Spawner(left)));
}

#[task]
async fn let_throw(left: Arc<AtomicU64>, thrown: Arc<AtomicU64>) {
    drop(spawn(throw(left, thrown)));
    for _ in 0..5 {
        yield_now().await;
    }
}

/// The payload of a detached run is dropped with the run's last reference, on any worker, perhaps between two frames.
#[test]
fn a_payload_that_spawns_may_be_dropped_with_its_run() {
    within_a_minute(|| {
        let (left, thrown) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicU64::new(0)));
        let runtime = Runtime::builder().workers(2).build().unwrap();
        for _ in 0..40 {
            runtime.spawn(let_throw(Arc::clone(&left), Arc::clone(&thrown))).detach();
            assert_eq!(runtime.run(fib(8)), 21);
        }
        assert_eq!(runtime.close(), 0, "frames are left");
        assert!(thrown.load(Ordering::Acquire) > 0);
        assert_eq!(left.load(Ordering::Acquire), 0);
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

type OwnHandle = Arc<Mutex<Option<Handle<'static, ()>>>>;

#[task]
async fn wait_for_oneself(own: OwnHandle, begun: Arc<AtomicU64>) {
    begun.store(1, Ordering::Release);
    // The root ends, and its worker sweeps, before the wait begins.
    thread::sleep(Duration::from_millis(50));
    let handle = own.lock().unwrap().take();
    if let Some(handle) = handle {
        handle.await;
    }
}

#[task]
async fn leave_a_wait_behind(own: OwnHandle) {
    let begun = Arc::new(AtomicU64::new(0));
    *own.lock().unwrap() = Some(spawn(wait_for_oneself(Arc::clone(&own), Arc::clone(&begun))));
    while begun.load(Ordering::Acquire) == 0 {
        thread::yield_now();
    }
}

#[test]
fn a_wait_that_begins_after_the_sweep_ends_itself() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        for _ in 0..5 {
            runtime.run(leave_a_wait_behind(OwnHandle::default()));
        }
        assert_eq!(runtime.close(), 0);
    });
}

/// An iterator whose destructor panics.
struct Fused<I>(I, #[allow(dead_code, reason = "for its destructor")] Bomb);
impl<I: Iterator> Iterator for Fused<I> {
    type Item = I::Item;
    fn next(&mut self) -> Option<I::Item> {
        self.0.next()
    }
    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

#[task]
async fn spawned(n: u64) -> Handle<'static, u64> {
    spawn(fib(n))
}

#[task]
async fn collect_handles() -> usize {
    join_all(Fused((0..4).map(spawned), Bomb)).await.len()
}

#[task]
async fn fold_handles() -> usize {
    let bomb = Bomb;
    let push = move |mut all: Vec<Handle<'static, u64>>, next| {
        let _ = &bomb;
        all.push(next);
        all
    };
    reduce((0..4).map(spawned), Vec::new(), push).await.len()
}

/// A panic in the destructor of the iterator or of the operator loses none of the values, which are handles.
#[test]
fn a_panicking_destructor_loses_no_value() {
    within_a_minute(|| {
        everywhere(|runtime| {
            for error in [runtime.try_run(collect_handles()).err(), runtime.try_run(fold_handles()).err()] {
                let Some(RunError::Panicked(panic)) = error else { panic!("{error:?}") };
                assert_eq!(panic.message(), "bomb");
            }
        });
    });
}

/// Recurses deeper than the stack, so that the stack is unwound to frames. The array makes each activation use stack in
/// a release build too.
#[task]
async fn deep(n: u64) -> u64 {
    if n == 0 {
        return 0;
    }
    std::hint::black_box([n; 16]);
    deep(n - 1).await + 1
}

/// A value that counts the tasks that have begun and not ended.
struct Alive(Arc<AtomicU64>);
impl Alive {
    fn new(count: Arc<AtomicU64>) -> Alive {
        count.fetch_add(1, Ordering::Relaxed);
        Alive(count)
    }
}
impl Drop for Alive {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// Leaves the stack, waits, or ends at once.
#[task]
async fn counted(alive: Arc<AtomicU64>, n: u64) -> u64 {
    let alive = Alive::new(alive);
    match n % 3 {
        0 => {
            let depth = deep(5_000).await;
            assert_eq!(depth, 5_000);
        }
        1 => yield_now().await,
        _ => {}
    }
    drop(alive);
    n
}

#[task]
async fn all_fused(alive: Arc<AtomicU64>, n: u64) -> usize {
    join_all(Fused((0..n).map(move |i| counted(Arc::clone(&alive), i)), Bomb)).await.len()
}

#[task]
async fn sum_fused(alive: Arc<AtomicU64>, n: u64) -> u64 {
    reduce(Fused((0..n).map(move |i| counted(Arc::clone(&alive), i)), Bomb), 0, |a, b| a + b).await
}

#[test]
fn an_iterator_with_a_panicking_destructor_waits_for_its_tasks() {
    within_a_minute(|| {
        let alive = Arc::new(AtomicU64::new(0));
        for workers in [1, 2, 3] {
            for every in [0, 1, 2, 3] {
                let builder = Runtime::builder().workers(workers).block_every(every).stack_size(512 * 1024);
                let runtime = builder.build().unwrap();
                // The last task is of each kind in turn, and for n = 1 the only task is one that leaves the stack.
                for n in [1, 2, 3, 7] {
                    let all = runtime.try_run(all_fused(Arc::clone(&alive), n));
                    assert!(matches!(all, Err(RunError::Panicked(_))), "{all:?}");
                    let sum = runtime.try_run(sum_fused(Arc::clone(&alive), n));
                    assert!(matches!(sum, Err(RunError::Panicked(_))), "{sum:?}");
                    assert_eq!(alive.load(Ordering::Relaxed), 0);
                }
                assert!(every > 0 || runtime.stats().stack_limits > 0);
                // Cancelled before most of the tasks have begun.
                for _ in 0..3 {
                    let run = runtime.spawn(all_fused(Arc::clone(&alive), 1_000));
                    thread::sleep(Duration::from_millis(1));
                    drop(run);
                }
                assert_eq!(runtime.run(fib(10)), 55);
                assert_eq!(runtime.close(), 0);
                assert_eq!(alive.load(Ordering::Relaxed), 0);
            }
        }
    });
}

type Kept = Arc<Mutex<Vec<Continuation<u64>>>>;

#[task]
async fn wait_for_another_thread(kept: Kept) -> u64 {
    suspend(|k| kept.lock().unwrap().push(k)).await
}

#[task]
async fn brood(kept: Kept) {
    loop {
        let handles = (0..1_000).map(|_| spawn(wait_for_another_thread(Arc::clone(&kept)))).collect::<Vec<_>>();
        join_all(handles).await;
    }
}

#[test]
fn frames_freed_by_other_threads_do_not_disturb_a_sweep() {
    static NOISE: AtomicU64 = AtomicU64::new(0);
    let usual = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info| {
        if info.payload_as_str().is_some_and(|message| message.contains("was cancelled")) {
            NOISE.fetch_add(1, Ordering::Relaxed);
        }
        usual(info);
    }));
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(3).build().unwrap();
        let kept = Kept::default();
        let stop = Arc::new(AtomicU64::new(0));
        let resolver = {
            let (kept, stop) = (Arc::clone(&kept), Arc::clone(&stop));
            thread::spawn(move || {
                while stop.load(Ordering::Relaxed) == 0 {
                    let some = std::mem::take(&mut *kept.lock().unwrap());
                    some.into_iter().for_each(|k| k.resolve(1));
                    thread::yield_now();
                }
            })
        };
        for round in 0..200 {
            let runs = [0, 1].map(|_| runtime.spawn(brood(Arc::clone(&kept))));
            thread::sleep(Duration::from_micros(50 * (round % 40)));
            drop(runs);
        }
        stop.store(1, Ordering::Relaxed);
        resolver.join().unwrap();
        // The remaining continuations belong to tombstones; a run that is being cancelled may still add some.
        assert_eq!(runtime.run(fib(10)), 55);
        kept.lock().unwrap().clear();
        let left = runtime.close();
        assert_eq!(left, kept.lock().unwrap().len() as i64);
        assert_eq!(NOISE.load(Ordering::Relaxed), 0, "a run that is dropped ends without a word");
    });
}
