//! One-way calls and quiescence.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use finespun::prelude::*;
use finespun::testing::*;
use finespun::{RunError, tasks::quiesce};

use crate::common::on_any_nodes;

/// A cell of a spreadsheet. It passes each change to the cells that depend on it: a reactive computation.
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
        // Each cell depends on the one above and the one to the left.
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
fn reactive_messages_become_quiescent() {
    on_any_nodes(|runtime| {
        // The last cell receives one change for each path to it.
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

/// No task waits for a one-way call, so the run ends with its panic.
#[test]
fn a_one_way_call_that_fails_ends_the_run() {
    on_any_nodes(|runtime| {
        let first = runtime.run(make_sheet());
        let Err(RunError::Panicked(panic)) = runtime.try_run(changed(first, 1_000_000)) else { panic!("a panic") };
        // Any cell that the change reaches may panic first.
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

/// Calls that the root leaves behind are cancelled and do not outlive the run.
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

/// Waits for quiescence `depth` calls deep, in the root or in a spawned task: its callers wait for the waiting task.
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
fn several_tasks_may_wait_for_quiescence() {
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

/// The first waiter continues, ends, and its worker parks before the others have been resumed.
#[test]
fn the_first_task_resumed_at_quiescence_finds_no_deadlock() {
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
fn a_run_with_other_waits_is_not_quiescent() {
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
        assert_eq!(runtime.close(), 0, "the cancelled waits leave no frame");
    }
}
