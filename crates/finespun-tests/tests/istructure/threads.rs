//! Arrays that closures read: a thread never waits, so elements are sent to it.

use finespun::closure::{Cont, make_closure, post, send_argument, tail_call, thread, top};
use finespun::istructure::{Cache, IArray};
use finespun::prelude::*;

use crate::CACHES;
use crate::arrays::{LAYOUTS, place};
use crate::common::on_any_nodes;
use crate::errors::{failure, says};

/// A table in which each entry is the sum of the entry above it and the entry on its left.
#[derive(Clone, Copy, serde::Serialize, serde::Deserialize)]
struct Table {
    entries: IArray<u64>,
    side: usize,
}

/// Begins all entries from `index` down, the last first: most of the entries that they need are not written yet.
#[thread]
fn begin(done: Cont<()>, table: Table, index: usize) {
    let Table { entries, side } = table;
    let (row, column) = (index / side, index % side);
    let (ended, left) = if index == 0 {
        (done, None)
    } else {
        let both = make_closure!(both_ended, done, _, _);
        (both.first, Some(both.second))
    };
    if row == 0 || column == 0 {
        drop(spawn(entries.put(index, 1)));
        send_argument((), ended);
    } else {
        let sum = make_closure!(add, ended, table, index, _, _);
        entries.send(index - side, sum.above);
        entries.send(index - 1, sum.left);
    }
    if let Some(left) = left {
        tail_call!(begin, left, table, index - 1)
    }
}

#[thread]
fn both_ended(done: Cont<()>, first: (), second: ()) {
    let ((), ()) = (first, second);
    send_argument((), done);
}

#[thread]
fn add(done: Cont<()>, table: Table, index: usize, above: u64, left: u64) {
    drop(spawn(table.entries.put(index, above + left)));
    send_argument((), done);
}

#[task]
async fn binomial(how: usize, side: usize, cache: Cache) -> (u64, u64) {
    let len = side * side;
    let entries = IArray::create(len, place(how, len, nodes())).cached(cache).counted().await;
    top(|done| post(make_closure!(begin, done, Table { entries, side }, len - 1))).await;
    let last = entries.get(len - 1).await;
    let mut reads = 0;
    for counts in entries.counts().await {
        reads += counts.local + counts.remote;
    }
    // No other element reads the first one, so its put may still be on its way.
    entries.get(0).await;
    entries.free().await;
    (last, reads)
}

#[test]
fn closures_read_what_other_closures_write() {
    on_any_nodes(|runtime| {
        for how in 0..LAYOUTS {
            for cache in CACHES {
                // 10 choose 5; each entry, except in the first row and column, reads two others.
                assert_eq!(runtime.run(binomial(how, 6, cache)), (252, 2 * 25 + 1));
            }
        }
    });
}

#[task]
async fn wait_for_nothing(end: usize) -> u64 {
    let all = IArray::create(10, place(0, 10, nodes())).await;
    all.put(0, 1u64).await;
    if end == 1 {
        drop(spawn(freed(all)));
    }
    top(|to| {
        let k = make_closure!(pass, to, _, _);
        all.send(0, k.first);
        all.send(if end == 2 { 10 } else { 9 }, k.second);
    })
    .await
}

#[thread]
fn pass(to: Cont<u64>, first: u64, second: u64) {
    send_argument(first + second, to);
}

#[task]
async fn freed(all: IArray<u64>) {
    all.free().await;
}

#[test]
fn an_element_that_is_never_put_is_reported() {
    on_any_nodes(|runtime| {
        says(&failure(runtime, wait_for_nothing(0)), &["deadlock", "element 9 of the `IArray<u64>` of 10 elements"]);
        says(&failure(runtime, wait_for_nothing(1)), &["`IArray<u64>`", "freed"]);
        says(&failure(runtime, wait_for_nothing(2)), &["there is no element 10 in the `IArray<u64>`"]);
    });
}

/// Sends elements to a computation that has ended: they are discarded.
#[task]
async fn ends_before() -> u64 {
    let all = IArray::create(2, place(0, 2, nodes())).await;
    let value = top(|to| {
        let never = make_closure!(never_full, _, _);
        all.send(0, never.first);
        all.send(1, never.second);
        send_argument(7, to);
    })
    .await;
    all.put(0, 1u64).await;
    all.put(1, 2u64).await;
    value + all.get(0).await
}

#[thread]
fn never_full(first: u64, second: u64) {
    unreachable!("its computation was over with {first} and {second}");
}

#[test]
fn elements_may_arrive_after_the_computation_has_ended() {
    on_any_nodes(|runtime| assert_eq!(runtime.run(ends_before()), 8));
}

/// Reads what has been written: each element once, whether the reads suspend or not.
#[task]
async fn reads_of_written_elements(how: usize, cache: Cache) -> (u64, u64) {
    let len = 12;
    let all = IArray::create(len, place(how, len, nodes())).cached(cache).counted().await;
    for index in 0..len {
        all.put(index, index as u64).await;
    }
    let mut sum = 0;
    for index in (0..len).step_by(2) {
        sum += top(|to| {
            let k = make_closure!(pass, to, _, _);
            all.send(index, k.first);
            all.send(index + 1, k.second);
        })
        .await;
    }
    let reads = all.counts().await.into_iter().map(|counts| counts.local + counts.remote).sum();
    all.free().await;
    (sum, reads)
}

#[test]
fn a_sent_element_is_counted_once() {
    on_any_nodes(|runtime| {
        for how in 0..LAYOUTS {
            for cache in CACHES {
                assert_eq!(runtime.run(reads_of_written_elements(how, cache)), (66, 12));
            }
        }
    });
}
