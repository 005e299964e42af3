//! Waits that another runtime or a plain thread ends; some are deadlocks.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use finespun::prelude::*;
use finespun::sync::{Mutex as Lock, MutexGuard, Semaphore};
use finespun::testing::*;
use finespun::{RunError, tasks::outside};

use crate::common::{everywhere, fib, kept, within_a_minute};

const A_WHILE: Duration = Duration::from_millis(30);
/// Longer than the delay before a wait for a lock is reported.
const LONG: Duration = Duration::from_millis(1500);

fn pair(workers: usize, n: u32) -> [Runtime; 2] {
    [(); 2].map(|()| Runtime::builder().workers(workers).block_every(n).build().unwrap())
}

/// Calls `test` with two runtimes of each kind, and checks that no frame is left afterwards.
fn on_two(test: impl Fn(&Runtime, &Runtime)) {
    for (workers, n) in [(1, 0), (2, 0), (1, 1), (2, 1), (8, 3)] {
        let [a, b] = pair(workers, n);
        test(&a, &b);
        assert_eq!((a.close(), b.close()), (0, 0), "{workers} workers, block every {n}");
    }
}

/// Works for a while, in a blocking call or on the worker.
#[task]
async fn work(blocks: bool) -> u64 {
    if blocks {
        blocking(|| thread::sleep(A_WHILE)).await;
    } else {
        thread::sleep(A_WHILE);
    }
    7
}

#[task]
async fn give(to: Arc<Mutex<Option<Handle<'static, u64>>>>, taken: Arc<Semaphore>, blocks: bool) {
    let handle = spawn(work(blocks));
    *to.lock().unwrap() = Some(handle);
    while taken.available() == 0 {
        let _ = work(blocks).await;
        yield_now().await;
    }
}

#[task]
async fn take(handle: Handle<'static, u64>) -> u64 {
    handle.await
}

fn until<T>(mut look: impl FnMut() -> Option<T>) -> T {
    loop {
        if let Some(found) = look() {
            return found;
        }
        thread::yield_now();
    }
}

#[test]
fn a_handle_of_a_running_run_of_another_runtime_is_waited_for() {
    within_a_minute(|| {
        for blocks in [true, false] {
            on_two(|a, b| {
                let (cell, taken) = (Arc::new(Mutex::new(None)), Arc::new(Semaphore::new(0)));
                let run = b.spawn(give(Arc::clone(&cell), Arc::clone(&taken), blocks));
                let handle = until(|| cell.lock().unwrap().take());
                assert_eq!(a.run(take(handle)), 7);
                taken.release(1);
                drop(run);
            });
        }
    });
}

#[task]
async fn hold(lock: Arc<Lock<u64>>, held: Arc<Semaphore>, blocks: bool) {
    let mut guard = lock.lock().await;
    held.release(1);
    *guard += work(blocks).await;
}

#[task]
async fn add(lock: &Lock<u64>) -> u64 {
    let mut guard = lock.lock().await;
    *guard += 1;
    *guard
}

#[test]
fn a_lock_that_another_runtimes_task_holds_is_waited_for() {
    within_a_minute(|| {
        for blocks in [true, false] {
            on_two(|a, b| {
                let (lock, held) = (Arc::new(Lock::new(0)), Arc::new(Semaphore::new(0)));
                let run = b.spawn(hold(Arc::clone(&lock), Arc::clone(&held), blocks));
                until(|| held.try_acquire().map(|permit| permit.forget()));
                assert_eq!(a.run(add(&lock)), 8);
                drop(run);
            });
        }
    });
}

#[task]
async fn keep(kept: Arc<Mutex<Option<Continuation<u64>>>>) -> u64 {
    suspend(|k| *kept.lock().unwrap() = Some(k)).await
}

#[task]
async fn resolve(k: Continuation<u64>, blocks: bool) {
    let value = work(blocks).await;
    k.resolve(value);
}

/// Runs on the other runtime when the wait begins, and finds the continuation later.
#[task]
async fn find_and_resolve(kept: Arc<Mutex<Option<Continuation<u64>>>>, blocks: bool) {
    loop {
        let _ = work(blocks).await;
        let k = kept.lock().unwrap().take();
        if let Some(k) = k {
            let _ = work(blocks).await;
            k.resolve(7);
            return;
        }
    }
}

#[test]
fn a_continuation_that_another_runtimes_task_resolves_is_waited_for() {
    within_a_minute(|| {
        for blocks in [true, false] {
            on_two(|a, b| {
                let kept = Arc::new(Mutex::new(None));
                let other = b.spawn(find_and_resolve(Arc::clone(&kept), blocks));
                assert_eq!(a.run(keep(kept)), 7);
                drop(other);
            });
        }
    });
}

/// Waits for the continuation, and only then begins the run of the other runtime that resolves it.
#[task]
async fn begin(b: Arc<Runtime>, kept: Arc<Mutex<Option<Continuation<u64>>>>) {
    let k = loop {
        let k = kept.lock().unwrap().take();
        match k {
            Some(k) => break k,
            None => yield_now().await,
        }
    };
    b.spawn(resolve(k, true)).detach();
}

#[test]
fn a_run_begun_by_a_task_may_resolve_a_continuation() {
    within_a_minute(|| {
        for _ in 0..20 {
            let [a, b] = pair(1, 0);
            let c = Runtime::builder().workers(1).build().unwrap();
            let (b, kept) = (Arc::new(b), Arc::new(Mutex::new(None)));
            let begins = c.spawn(begin(Arc::clone(&b), Arc::clone(&kept)));
            assert_eq!(a.run(keep(kept)), 7);
            drop((begins, c));
        }
    });
}

/// Waits for a value and passes it on.
#[task]
async fn relay(from: Arc<Mutex<Option<Continuation<u64>>>>, to: Arc<Mutex<Option<Continuation<u64>>>>) {
    let value = keep(from).await;
    let k = to.lock().unwrap().take();
    k.unwrap().resolve(value);
}

/// The first runtime waits for the second, which is stuck except for a running run of the third. That run began later
/// than the first runtime's wait.
#[test]
fn a_wait_for_a_stuck_runtime_that_may_continue_is_no_deadlock() {
    within_a_minute(|| {
        for (workers, n) in [(1, 0), (2, 0), (2, 1)] {
            let ([a, b], [c, _]) = (pair(workers, n), pair(workers, n));
            let (first, second) = (Arc::new(Mutex::new(None)), Arc::new(Mutex::new(None)));
            let outside = b.outside();
            b.spawn(relay(Arc::clone(&second), Arc::clone(&first))).detach();
            until(|| second.lock().unwrap().is_some().then_some(()));
            thread::scope(|threads| {
                let run = threads.spawn(|| a.try_run(keep(Arc::clone(&first))));
                until(|| first.lock().unwrap().is_some().then_some(()));
                thread::sleep(A_WHILE);
                let resolves = c.spawn(find_and_resolve(Arc::clone(&second), false));
                drop(outside);
                assert_eq!(run.join().unwrap().unwrap(), 7);
                drop(resolves);
            });
        }
    });
}

#[task]
async fn lend(lock: &'static Lock<u64>) -> u64 {
    let mut guard: MutexGuard<'static, u64> = lock.lock().await;
    *guard += 1;
    thread::spawn(move || {
        thread::sleep(Duration::from_millis(100));
        *guard += 1;
    });
    let again = lock.lock().await;
    *again
}

#[test]
fn a_guard_that_has_moved_to_a_thread_is_waited_for() {
    within_a_minute(|| {
        everywhere(|runtime| assert_eq!(runtime.run(lend(kept(Lock::new(0)))), 2));
    });
}

#[task]
async fn lend_for_long(lock: &'static Lock<u64>) -> u64 {
    let mut guard = lock.lock().await;
    let outside = outside();
    thread::spawn(move || {
        thread::sleep(LONG);
        *guard += 1;
        drop((guard, outside));
    });
    let again = lock.lock().await;
    *again
}

#[test]
fn a_guard_declared_outside_may_be_held_for_long() {
    within_a_minute(|| {
        for workers in [1, 2] {
            let runtime = Runtime::builder().workers(workers).build().unwrap();
            assert_eq!(runtime.run(lend_for_long(kept(Lock::new(0)))), 1);
        }
    });
}

#[test]
fn a_lock_that_a_plain_thread_has_taken_is_waited_for() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        let lock = Lock::new(0);
        thread::scope(|threads| {
            let guard = lock.try_lock().unwrap();
            let run = threads.spawn(|| runtime.run(add(&lock)));
            thread::sleep(LONG);
            drop(guard);
            assert_eq!(run.join().unwrap(), 1);
        });
    });
}

#[task]
async fn twice(lock: &Lock<u64>) {
    let _first = lock.lock().await;
    let _second = lock.lock().await;
}

#[test]
fn a_deadlock_is_reported_when_the_last_outside_guard_is_dropped() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        let (lock, other) = (Lock::new(0), Lock::new(0));
        thread::scope(|threads| {
            let guard = other.try_lock().unwrap();
            let run = threads.spawn(|| runtime.try_run(twice(&lock)));
            thread::sleep(LONG);
            assert!(!run.is_finished(), "a plain thread holds a guard");
            drop(guard);
            assert!(matches!(run.join().unwrap(), Err(RunError::Deadlock(_))));
        });
    });
}

#[test]
fn an_outside_token_delays_deadlock_reports() {
    within_a_minute(|| {
        let runtime = Runtime::builder().workers(2).build().unwrap();
        let kept = Arc::new(Mutex::new(None));
        thread::scope(|threads| {
            let outside = runtime.outside();
            let run = threads.spawn(|| runtime.try_run(keep(Arc::clone(&kept))));
            thread::sleep(A_WHILE);
            let k = until(|| kept.lock().unwrap().take());
            k.resolve(3);
            assert_eq!(run.join().unwrap().unwrap(), 3);
            let run = threads.spawn(|| runtime.try_run(keep(Arc::clone(&kept))));
            thread::sleep(A_WHILE);
            drop(outside);
            assert!(matches!(run.join().unwrap(), Err(RunError::Deadlock(_))));
        });
    });
}

#[task]
async fn both(first: Arc<Lock<()>>, second: Arc<Lock<()>>, meet: Arc<Semaphore>) {
    let _first = first.lock().await;
    meet.release(1);
    let all = meet.acquire_many(2).await;
    drop(all);
    let _second = second.lock().await;
}

#[test]
fn a_cycle_through_two_runtimes_is_reported() {
    within_a_minute(|| {
        on_two(|a, b| {
            let (x, y, meet) = (Arc::new(Lock::new(())), Arc::new(Lock::new(())), Arc::new(Semaphore::new(0)));
            thread::scope(|threads| {
                let one = threads.spawn(|| a.try_run(both(Arc::clone(&x), Arc::clone(&y), Arc::clone(&meet))));
                let two = threads.spawn(|| b.try_run(both(Arc::clone(&y), Arc::clone(&x), Arc::clone(&meet))));
                let ends = [one.join().unwrap(), two.join().unwrap()];
                let Some(Err(RunError::Deadlock(lines))) = ends.iter().find(|end| end.is_err()) else {
                    panic!("a cycle of waits is a deadlock");
                };
                assert!(lines.iter().any(|line| line.contains("both waits for")), "{lines:?}");
            });
            assert_eq!((a.run(fib(10)), b.run(fib(10))), (55, 55));
        });
    });
}

type Given = Arc<Mutex<Option<Handle<'static, ()>>>>;

#[task]
async fn give_stuck(to: Given) {
    *to.lock().unwrap() = Some(spawn(stuck()));
    stuck().await;
}

#[task]
async fn take_stuck(handle: Handle<'static, ()>) {
    handle.await;
}

#[task]
async fn take_in_a_group(handle: Handle<'static, ()>) {
    parblock!(take_stuck(handle), stuck());
}

#[test]
fn a_wait_for_another_runtimes_task_is_in_the_waiters_report() {
    within_a_minute(|| {
        for (workers, n, in_a_group) in [(1, 0, false), (2, 0, true), (1, 1, true), (2, 3, false)] {
            let [a, b] = &pair(workers, n);
            let given = Given::default();
            thread::scope(|threads| {
                let outside = b.outside();
                let gives = threads.spawn(|| b.try_run(give_stuck(Arc::clone(&given))));
                let handle = until(|| given.lock().unwrap().take());
                let takes = threads.spawn(move || match in_a_group {
                    false => a.try_run(take_stuck(handle)),
                    true => a.try_run(take_in_a_group(handle)),
                });
                thread::sleep(A_WHILE);
                drop(outside);
                let waits = |end| {
                    let Err(RunError::Deadlock(lines)) = end else { panic!("a deadlock") };
                    assert!(!lines.is_empty());
                    lines.iter().filter(|line| line.contains("take_stuck waits for the spawned task")).count()
                };
                assert_eq!((waits(takes.join().unwrap()), waits(gives.join().unwrap())), (1, 0));
            });
        }
    });
}

#[task]
async fn wait_until(go: Arc<Semaphore>) {
    go.acquire().await.forget();
}

#[task]
async fn stuck() {
    suspend(|k: Continuation<()>| std::mem::forget(k)).await
}

/// A running run of another runtime may end the wait; runs that a plain thread begins later do not delay the report.
#[test]
fn a_deadlock_beside_a_busy_runtime_is_reported_when_its_earlier_runs_have_ended() {
    within_a_minute(|| {
        on_two(|a, b| {
            let go = Arc::new(Semaphore::new(0));
            let outside = b.outside();
            let busy = b.spawn(wait_until(Arc::clone(&go)));
            let kept = Arc::new(Mutex::new(None));
            thread::scope(|threads| {
                let (done, ended) = channel();
                let stuck = keep(Arc::clone(&kept));
                threads.spawn(move || done.send(a.try_run(stuck)).unwrap());
                assert!(ended.recv_timeout(2 * A_WHILE).is_err(), "the other runtime's run is under way");
                go.release(1);
                // From here on, the other runtime always has a run.
                let mut after = 0;
                let end = loop {
                    b.run(fib(5));
                    match ended.try_recv() {
                        Ok(end) => break end,
                        Err(_) => after += 1,
                    }
                    assert!(after < 1_000_000, "still not reported");
                };
                assert!(matches!(end, Err(RunError::Deadlock(_))));
            });
            drop((busy, outside));
        });
    });
}

/// While a stuck runtime waits for another runtime's long run, it uses no processor time.
#[cfg(target_os = "linux")]
#[test]
fn a_stuck_runtime_uses_no_processor_time() {
    fn processor_time(name: &str) -> u64 {
        let threads = std::fs::read_dir("/proc/self/task").unwrap();
        let ticks = threads.flatten().filter_map(|thread| {
            let stat = std::fs::read_to_string(thread.path().join("stat")).ok()?;
            let (start, rest) = stat.rsplit_once(") ")?;
            let fields: Vec<_> = rest.split(' ').collect();
            let used = fields[11].parse::<u64>().ok()? + fields[12].parse::<u64>().ok()?;
            start.contains(name).then_some(used)
        });
        ticks.sum()
    }

    within_a_minute(|| {
        let a = Runtime::builder().workers(4).thread_name("stuck").build().unwrap();
        let b = Runtime::builder().workers(1).build().unwrap();
        let go = Arc::new(Semaphore::new(0));
        let outside = b.outside();
        let busy = b.spawn(wait_until(Arc::clone(&go)));
        thread::scope(|threads| {
            let run = threads.spawn(|| a.try_run(stuck()));
            thread::sleep(A_WHILE);
            let (start, before) = (Instant::now(), processor_time("stuck"));
            thread::sleep(Duration::from_millis(500));
            let used = processor_time("stuck") - before;
            // A tick is 10 ms.
            assert!(used <= 2, "{used} ticks in {:?}", start.elapsed());
            go.release(1);
            assert!(run.join().unwrap().is_err());
        });
        drop((busy, outside));
    });
}
