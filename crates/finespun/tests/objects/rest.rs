//! One-way calls, and coming to rest.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use finespun::prelude::*;
use finespun::{RunError, quiesce};

use crate::common::on_any_nodes;

/// A reactive computation: cells of a sheet that tell those that depend on them.
struct Cell {
    value: i64,
    dependents: Vec<Ref<Cell>>,
}

#[object]
impl Cell {
    fn depend(&mut self, on_this: Ref<Cell>) {
        self.dependents.push(on_this);
    }

    fn add(&mut self, change: i64) -> Vec<Ref<Cell>> {
        self.value += change;
        assert!(self.value < 1_000_000, "{} is too much", self.value);
        self.dependents.clone()
    }

    fn value(&self) -> i64 {
        self.value
    }

    async fn change(this: Ref<Self>, change: i64) {
        let dependents = this.add(change).await;
        for dependent in dependents {
            dependent.change(change).oneway().await;
        }
    }
}

#[task]
async fn sheet(rows: usize, columns: usize) -> Vec<Ref<Cell>> {
    let make = |_: ()| Cell { value: 0, dependents: Vec::new() };
    let mut cells: Vec<Ref<Cell>> = Vec::new();
    for k in 0..rows * columns {
        let cell = on(k % nodes()).create_with(make, ()).await;
        cells.push(cell);
        // Each depends on the one above and the one to the left.
        if k >= columns {
            cells[k - columns].depend(cell).await;
        }
        if k % columns > 0 {
            cells[k - 1].depend(cell).await;
        }
    }
    cells
}

#[task]
async fn paths(rows: usize, columns: usize) -> i64 {
    let cells: Vec<Ref<Cell>> = sheet(rows, columns).await;
    cells[0].change(1).oneway().await;
    quiesce().await;
    let last: i64 = cells[cells.len() - 1].value().await;
    join_all(cells.into_iter().map(Ref::free)).await;
    last
}

#[test]
fn reactive_messages_come_to_rest() {
    on_any_nodes(|runtime| {
        // As many changes arrive in the last cell as there are ways to it.
        assert_eq!(runtime.run(paths(4, 4)), 20);
    });
}

#[task]
async fn changed(first: Ref<Cell>, change: i64) {
    first.change(change).oneway().await;
    quiesce().await;
}

#[task]
async fn make_sheet() -> Ref<Cell> {
    let cells: Vec<Ref<Cell>> = sheet(3, 3).await;
    cells[0]
}

/// Nobody waits for a one-way call, so it is the run that ends with its panic.
#[test]
fn a_one_way_call_that_fails_ends_the_run() {
    on_any_nodes(|runtime| {
        let first = runtime.run(make_sheet());
        let Err(RunError::Panicked(panic)) = runtime.try_run(changed(first, 1_000_000)) else { panic!("a panic") };
        // Of the cells that it comes to, any may be the first to say so.
        assert!(panic.message().contains("000000 is too much"), "{}", panic.message());
        let gone = runtime.run(make_sheet());
        #[task]
        async fn free(cell: Ref<Cell>) {
            Ref::free(cell).await;
        }
        runtime.run(free(gone));
        let Err(RunError::Panicked(panic)) = runtime.try_run(changed(gone, 1)) else { panic!("a panic") };
        assert!(panic.message().contains("its reference is stale"), "{}", panic.message());
    });
}

/// What the root leaves behind is cancelled, and does not outlive the run.
#[test]
fn one_way_calls_end_with_their_run() {
    #[task]
    async fn start(first: Ref<Cell>) {
        first.change(1).oneway().await;
    }
    on_any_nodes(|runtime| {
        let first = runtime.run(make_sheet());
        for _ in 0..20 {
            runtime.run(start(first));
        }
    });
}

/// Spawned tasks, and tasks that wait for the one that waits for rest.
#[task]
async fn rest_within(depth: u32, count: &AtomicU64) -> u64 {
    if depth == 0 {
        quiesce().await;
        return count.load(Relaxed);
    }
    let inner = rest_within(depth - 1, count).await;
    inner
}

static DONE: AtomicU64 = AtomicU64::new(0);

#[task]
async fn slow(turns: u32) {
    for _ in 0..turns {
        yield_now().await;
    }
    DONE.fetch_add(1, Relaxed);
}

#[task]
async fn two_wait_for_rest(tasks: u32) -> (u64, u64) {
    for turns in 0..tasks {
        drop(spawn(slow(turns)));
    }
    let spawned: Handle<u64> = spawn(rest_within(3, &DONE));
    join!(rest_within(2, &DONE), spawned)
}

#[test]
fn several_may_wait_for_rest() {
    on_any_nodes(|runtime| {
        DONE.store(0, Relaxed);
        assert_eq!(runtime.run(two_wait_for_rest(9)), (9, 9));
    });
}

#[task]
async fn rests() -> u32 {
    quiesce().await;
    1
}

/// While the first of them goes on, ends and parks, the others have not been told yet.
#[test]
fn who_has_come_to_rest_first_finds_no_deadlock() {
    #[task]
    async fn many_rest() -> u32 {
        let spawned: Vec<Handle<u32>> = (0..64).map(|_| spawn(rests())).collect();
        join_all(spawned).await.into_iter().sum()
    }
    let runtime = Runtime::builder().workers(4).build().unwrap();
    for _ in 0..500 {
        assert_eq!(runtime.run(many_rest()), 64);
    }
}

#[test]
fn who_waits_for_something_else_has_not_come_to_rest() {
    #[task]
    async fn never() {
        let kept: Continuation<()> = {
            let mut kept = None;
            suspend(|k: Continuation<()>| kept = Some(k)).await;
            kept.unwrap()
        };
        kept.resolve(());
    }
    #[task]
    async fn waits() {
        drop(spawn(never()));
        quiesce().await;
    }
    for workers in [1, 2] {
        let runtime = Runtime::builder().workers(workers).build().unwrap();
        assert!(matches!(runtime.try_run(waits()), Err(RunError::Deadlock(_))));
    }
}
