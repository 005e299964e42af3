//! Arrays whose elements are taken out and put back.

use std::collections::BTreeMap;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicI64;
use std::sync::atomic::Ordering::SeqCst;

use finespun::istructure::{IArray, MArray};
use finespun::prelude::*;
use finespun::{RunError, layout};
use serde::{Deserialize, Serialize};

use crate::arrays::{LAYOUTS, place};
use crate::common::on_any_nodes;

#[task]
async fn add(sums: MArray<u64>, len: usize, term: usize) {
    let sum = sums.take(term * term % len).await;
    yield_now().await;
    sums.put(term * term % len, sum + term as u64).await;
}

/// Tasks on all workers add to the same sums; the first terms arrive before the sums exist.
#[task]
async fn histogram(len: usize, how: usize, terms: usize) -> Vec<u64> {
    let sums = MArray::create(len, place(how, len, nodes())).await;
    join!(parfor(0..terms, |term| add(sums, len, term)), zeros(sums, len));
    let found = join_all((0..len).map(|index| sums.take(index))).await;
    assert_eq!(sums.len(), len);
    sums.free().await;
    found
}

#[task]
async fn zeros(sums: MArray<u64>, len: usize) {
    for index in 0..len {
        sums.put(index, 0).await;
    }
}

#[test]
fn concurrent_sums_lose_no_term() {
    on_any_nodes(|runtime| {
        let (len, terms) = (7, 60);
        let mut known = vec![0; len];
        (0..terms).for_each(|term| known[term * term % len] += term as u64);
        for how in 0..LAYOUTS {
            assert_eq!(runtime.run(histogram(len, how, terms)), known, "{how}");
        }
    });
}

#[task]
async fn take_in_turn(queue: MArray<usize>, taken: MArray<Vec<usize>>, reader: usize) {
    let value = queue.take(0).await;
    let mut all = taken.take(0).await;
    all.push(10 * reader + value);
    taken.put(0, all).await;
}

/// Takes values in several tasks. The first task to request a value is served first.
#[task]
async fn turns() -> Vec<usize> {
    let queue = MArray::create(1, layout::block(1, 1)).await;
    let taken = MArray::create(1, layout::block(1, 1)).await;
    taken.put(0, Vec::new()).await;
    join!(take_in_turn(queue, taken, 1), take_in_turn(queue, taken, 2), take_in_turn(queue, taken, 3), put_each(queue));
    let mut all = taken.take(0).await;
    // The tasks continue in any order.
    all.sort_unstable();
    all
}

#[task]
async fn put_each(queue: MArray<usize>) {
    for value in 1..4 {
        queue.put(0, value).await;
    }
}

#[test]
fn waiting_tasks_are_served_in_order() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    assert_eq!(runtime.run(turns()), [11, 22, 33]);
}

static ALIVE: AtomicI64 = AtomicI64::new(0);

#[derive(Serialize, Deserialize)]
#[serde(from = "u64", into = "u64")]
struct Counted(u64);

impl From<u64> for Counted {
    fn from(value: u64) -> Counted {
        ALIVE.fetch_add(1, SeqCst);
        Counted(value)
    }
}

impl From<Counted> for u64 {
    fn from(counted: Counted) -> u64 {
        counted.0
    }
}

impl Clone for Counted {
    fn clone(&self) -> Counted {
        Counted::from(self.0)
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        ALIVE.fetch_sub(1, SeqCst);
    }
}

#[task]
async fn some_taken(how: usize, freed: bool) -> u64 {
    let cells = MArray::create(9, place(how, 9, nodes())).await;
    for index in 0..9 {
        cells.put(index, Counted::from(index as u64)).await;
    }
    let mut sum = 0;
    for index in 0..4 {
        sum += cells.take(2 * index).await.0;
    }
    if freed {
        cells.free().await;
    }
    sum
}

#[test]
fn every_value_is_dropped_once() {
    on_any_nodes(|runtime| {
        for how in 0..LAYOUTS {
            assert_eq!(runtime.run(some_taken(how, true)), 12);
            assert_eq!(ALIVE.load(SeqCst), 0, "{how}");
        }
    });
    let runtime = Runtime::builder().workers(1).nodes(2).build().unwrap();
    assert_eq!(runtime.run(some_taken(0, false)), 12);
    assert_eq!(ALIVE.load(SeqCst), 5);
    drop(runtime);
    assert_eq!(ALIVE.load(SeqCst), 0);
}

#[task]
async fn take_beside(cells: MArray<u64>, index: usize) -> ControlFlow<u64> {
    if index == 2 {
        yield_now().await;
        return ControlFlow::Break(2);
    }
    ControlFlow::Break(cells.take(0).await)
}

/// Cancels tasks that take: a value for a cancelled task goes to the next one, or stays in the array.
#[task]
async fn cancelled_takers() -> (u64, u64) {
    let cells = MArray::create(1, layout::block(1, nodes())).await;
    let ControlFlow::Break(how) = parfor(0..3, |index| take_beside(cells, index)).await else { return (0, 0) };
    cells.put(0, 7).await;
    let value = cells.take(0).await;
    cells.free().await;
    (how, value)
}

#[test]
fn cancelled_tasks_take_nothing() {
    on_any_nodes(|runtime| assert_eq!(runtime.run(cancelled_takers()), (2, 7)));
}

#[task]
async fn put_twice(how: usize) {
    let cells = MArray::create(5, place(how, 5, nodes())).await;
    cells.put(3, 1u64).await;
    cells.put(3, 2).await;
}

#[task]
async fn beyond(how: usize) {
    let cells: MArray<u64> = MArray::create(5, place(how, 5, nodes())).await;
    cells.take(5).await;
}

#[task]
async fn after_the_end(how: usize) {
    let cells: MArray<u64> = MArray::create(5, place(how, 5, nodes())).await;
    cells.free().await;
    cells.take(1).await;
}

#[task]
async fn freed_while_waiting(how: usize) {
    let cells: MArray<u64> = MArray::create(5, place(how, 5, nodes())).await;
    join!(cells.take(4), end(cells));
}

#[task]
async fn end(cells: MArray<u64>) {
    yield_now().await;
    cells.free().await;
}

#[task]
async fn never_put(how: usize) {
    let cells: MArray<u64> = MArray::create(5, place(how, 5, nodes())).await;
    cells.take(2).await;
}

#[test]
fn errors_name_the_element() {
    on_any_nodes(|runtime| {
        for how in 0..LAYOUTS {
            let says = |task: Result<(), RunError>, parts: &[&str]| {
                let text = task.unwrap_err().to_string();
                assert!(parts.iter().all(|part| text.contains(part)), "{text}");
            };
            says(
                runtime.try_run(put_twice(how)),
                &["element 3 of the `MArray<u64>` of 5 elements", "is full", "taken.rs"],
            );
            says(runtime.try_run(beyond(how)), &["there is no element 5 in the `MArray<u64>`"]);
            says(runtime.try_run(after_the_end(how)), &["a take of element 1 of an `MArray<u64>` that has been freed"]);
            says(runtime.try_run(freed_while_waiting(how)), &["element 4 of", "freed"]);
            says(runtime.try_run(never_put(how)), &["element 2 of the `MArray<u64>`"]);
        }
    });
}

/// Checks that the bytes of a handle are valid only for its own kind of array.
#[task]
async fn told_apart() -> BTreeMap<&'static str, bool> {
    let once: IArray<u64> = IArray::create(1, layout::block(1, 1)).await;
    let often: MArray<u64> = MArray::create(1, layout::block(1, 1)).await;
    let bytes = [serde_json::to_string(&once).unwrap(), serde_json::to_string(&often).unwrap()];
    BTreeMap::from([
        ("once", serde_json::from_str::<IArray<u64>>(&bytes[0]).unwrap() == once),
        ("often", serde_json::from_str::<MArray<u64>>(&bytes[1]).unwrap() == often),
        ("once as often", serde_json::from_str::<MArray<u64>>(&bytes[0]).is_err()),
        ("often as once", serde_json::from_str::<IArray<u64>>(&bytes[1]).is_err()),
        ("other elements", serde_json::from_str::<MArray<u32>>(&bytes[1]).is_err()),
    ])
}

#[test]
fn handles_of_different_kinds_are_distinguished() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let told = runtime.run(told_apart());
    assert!(told.len() == 5 && told.values().all(|right| *right), "{told:?}");
}
