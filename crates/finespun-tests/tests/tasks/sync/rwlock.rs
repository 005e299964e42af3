//! Locks for readers and writers.

use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use crate::common::{everywhere, fib, within_a_minute};
use finespun::prelude::*;
use finespun::sync::{RwLock, RwLockWriteGuard};

struct World {
    lock: RwLock<(u64, u64)>,
    /// The number of readers, or minus one if a task writes.
    inside: AtomicI64,
    most: AtomicI64,
}

#[task]
async fn read(world: &World) {
    let pair = world.lock.read().await;
    let before = world.inside.fetch_add(1, Ordering::SeqCst);
    assert!(before >= 0, "a writer is inside");
    world.most.fetch_max(before + 1, Ordering::SeqCst);
    let ((), _) = join!(yield_now(), fib(4));
    assert_eq!(pair.0, pair.1);
    world.inside.fetch_sub(1, Ordering::SeqCst);
}

#[task]
async fn write(world: &World, downgrade: bool) {
    let mut pair = world.lock.write().await;
    assert_eq!(world.inside.fetch_sub(1, Ordering::SeqCst), 0, "another task is inside");
    pair.0 += 1;
    yield_now().await;
    pair.1 += 1;
    world.inside.fetch_add(1, Ordering::SeqCst);
    if downgrade {
        let now = *pair;
        let pair = RwLockWriteGuard::downgrade(pair);
        world.inside.fetch_add(1, Ordering::SeqCst);
        yield_now().await;
        assert_eq!(*pair, now, "no writer came in between");
        world.inside.fetch_sub(1, Ordering::SeqCst);
    }
}

#[task]
async fn visit(world: &World, n: u64) {
    if n.is_multiple_of(4) {
        write(world, n.is_multiple_of(8)).await;
    } else {
        read(world).await;
    }
}

#[task]
async fn crowd(world: &World) {
    parfor(0..60_u64, |n| visit(world, n)).await;
}

#[test]
fn a_writer_is_alone_and_readers_see_whole_writes() {
    within_a_minute(|| {
        everywhere(|runtime| {
            let world = World { lock: RwLock::new((0, 0)), inside: 0.into(), most: 0.into() };
            runtime.run(crowd(&world));
            assert_eq!(world.lock.into_inner(), (15, 15));
        });
        let world = World { lock: RwLock::new((0, 0)), inside: 0.into(), most: 0.into() };
        Runtime::builder().workers(1).build().unwrap().run(crowd(&world));
        assert!(world.most.into_inner() > 1, "readers are inside together");
    });
}

#[task]
async fn log_read(lock: &RwLock<()>, log: &Mutex<String>) {
    let _guard = lock.read().await;
    log.lock().unwrap().push('r');
    yield_now().await;
}

#[task]
async fn log_write(lock: &RwLock<()>, log: &Mutex<String>) {
    let _guard = lock.write().await;
    log.lock().unwrap().push('w');
    yield_now().await;
}

#[task]
async fn hold_for_a_while(lock: &RwLock<()>) {
    let guard = lock.write().await;
    for _ in 0..20 {
        yield_now().await;
    }
    assert!(lock.try_read().is_none() && lock.try_write().is_none());
    drop(guard);
}

#[task]
async fn in_turn(lock: &RwLock<()>, log: &Mutex<String>) {
    join!(
        hold_for_a_while(lock),
        log_read(lock, log),
        log_read(lock, log),
        log_write(lock, log),
        log_read(lock, log),
        log_write(lock, log),
        log_write(lock, log),
        log_read(lock, log),
    );
}

#[test]
fn requests_are_served_in_order() {
    within_a_minute(|| {
        let (lock, log) = (RwLock::new(()), Mutex::default());
        Runtime::builder().workers(1).build().unwrap().run(in_turn(&lock, &log));
        assert_eq!(log.into_inner().unwrap(), "rrwrwwr");
        assert!(lock.try_write().is_some());
    });
}

#[test]
fn try_methods_do_not_wait() {
    let mut lock = RwLock::new(1);
    let (a, b) = (lock.try_read().unwrap(), lock.try_read().unwrap());
    assert!(lock.try_write().is_none());
    assert_eq!(format!("{lock:?}"), "RwLock { value: 1 }");
    drop((a, b));
    let mut guard = lock.try_write().unwrap();
    *guard += 1;
    assert!(lock.try_read().is_none());
    assert_eq!(format!("{lock:?} {guard:?}"), "RwLock { value: <locked> } 2");
    let guard = guard.downgrade();
    assert_eq!(*lock.try_read().unwrap() + *guard, 4);
    drop(guard);
    *lock.get_mut() += 1;
    assert_eq!(*lock.blocking_write(), 3);
    assert_eq!(*lock.blocking_read(), 3);
}
