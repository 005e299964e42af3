//! Arrays whose creation, reading or freeing is cancelled or repeated.

use std::ops::ControlFlow;

use finespun::istructure::{Cache, IArray, IMatrix};
use finespun::prelude::*;
use finespun::testing::*;
use finespun::{RunError, layout};

use crate::CACHES;
use crate::common::Launch;

#[task]
async fn numbers(len: usize, cache: Cache) -> IArray<u64> {
    let all = IArray::create(len, layout::cyclic(nodes())).cached(cache).await;
    for index in 0..len {
        all.put(index, index as u64).await;
    }
    all
}

#[task]
async fn at(all: IArray<u64>, index: usize) -> u64 {
    all.get(index).await
}

#[task]
async fn end(all: IArray<u64>) {
    all.free().await;
}

#[task]
async fn end_twice(all: IArray<u64>) {
    join!(on(0).call(end, all), on(nodes() - 1).call(end, all));
}

fn complaint<T>(result: Result<T, RunError>) -> String {
    match result {
        Ok(_) => "nothing".to_owned(),
        Err(error) => error.to_string(),
    }
}

#[test]
fn every_index_beyond_the_end_is_refused() {
    let runtime = Runtime::builder().workers(1).nodes(2).build().unwrap();
    let all = runtime.run(numbers(12, Cache::Off));
    for index in [12, (1 << 32) + 2, (1 << 63) - 1, 1 << 63, (1 << 63) + 2, usize::MAX - 2, usize::MAX] {
        let text = complaint(runtime.try_run(at(all, index)));
        assert!(text.contains(&format!("there is no element {index} in")), "{text}");
    }
    assert_eq!(runtime.run(at(all, 11)), 11);
}

/// Only one of the two frees succeeds, and the array's number is released once.
#[test]
fn an_array_is_freed_once() {
    for (workers, nodes) in [(1, 1), (1, 3), (2, 2), (3, 3)] {
        let runtime = Runtime::builder().workers(workers).nodes(nodes).build().unwrap();
        for _ in 0..100 {
            let all = runtime.run(numbers(4, Cache::Off));
            let text = complaint(runtime.try_run(end_twice(all)));
            assert!(text.contains("has been freed"), "{text}");
        }
        let several: Vec<_> = (0..4).map(|len| runtime.run(numbers(len + 1, Cache::Off))).collect();
        for (len, all) in several.into_iter().enumerate() {
            assert_eq!(runtime.run(at(all, len)), len as u64);
            runtime.run(end(all));
        }
        assert_eq!(runtime.close(), 0);
    }
}

#[task]
async fn made_beside(index: usize) -> ControlFlow<()> {
    if index == 1 {
        return ControlFlow::Break(());
    }
    let all: IArray<u64> = IArray::create(4, layout::cyclic(nodes())).await;
    all.free().await;
    ControlFlow::Continue(())
}

#[task]
async fn broken_off() -> bool {
    parfor(0..3, made_beside).await.is_break()
}

#[task]
async fn freed_beside(all: IArray<u64>, index: usize) -> ControlFlow<()> {
    if index == 1 {
        return ControlFlow::Break(());
    }
    all.free().await;
    ControlFlow::Continue(())
}

#[task]
async fn freed_and_broken_off() -> bool {
    let all: IArray<u64> = IArray::create(4, layout::cyclic(nodes())).await;
    let broken = parfor(0..2, |index| freed_beside(all, index)).await.is_break();
    // Frees the array if the activity has not begun to.
    all.free().await;
    broken
}

/// At most 4096 arrays exist at a time; this test would exceed that if arrays were left behind.
#[test]
fn cancelled_tasks_leave_no_arrays() {
    for (workers, nodes) in [(1, 2), (2, 2), (1, 1)] {
        let runtime = Runtime::builder().workers(workers).nodes(nodes).build().unwrap();
        for _ in 0..2500 {
            assert!(runtime.run(broken_off()));
            // Freed by the activity or by its parent.
            let text = complaint(runtime.try_run(freed_and_broken_off()));
            assert!(text == "nothing" || text.contains("has been freed"), "{text}");
        }
        let all = runtime.run(numbers(5, Cache::Off));
        assert_eq!(runtime.run(at(all, 3)), 3);
    }
}

#[task]
async fn read_beside(all: IArray<u64>, index: usize) -> ControlFlow<()> {
    if index == 3 {
        yield_now().await;
        return ControlFlow::Break(());
    }
    all.get(index).await;
    ControlFlow::Continue(())
}

#[task]
async fn reads_broken_off(all: IArray<u64>) -> bool {
    parfor(0..4, |index| read_beside(all, index)).await.is_break()
}

#[task]
async fn unwritten(cache: Cache) -> IArray<u64> {
    IArray::create(4, layout::cyclic(nodes())).cached(cache).await
}

#[task]
async fn put_all(all: IArray<u64>) {
    for index in 0..4 {
        all.put(index, 7).await;
    }
}

/// Cancelled readers are removed: the time of a round does not grow with the number of earlier rounds.
#[test]
fn cancelled_readers_are_removed() {
    for cache in CACHES {
        let runtime = Runtime::builder().workers(1).nodes(2).build().unwrap();
        let all = runtime.run(unwritten(cache));
        let rounds = |count| {
            let start = std::time::Instant::now();
            (0..count).for_each(|_| assert!(runtime.run(reads_broken_off(all))));
            start.elapsed()
        };
        // Short, so that some have a core for themselves.
        let fastest = || (0..50).map(|_| rounds(10)).min().unwrap();
        rounds(100);
        let few = fastest();
        rounds(4000);
        let many = fastest();
        assert!(many < 5 * few, "{few:?} became {many:?} with {cache:?}");
        runtime.run(put_all(all));
        assert_eq!(runtime.run(at(all, 0)), 7);
        runtime.run(end(all));
        assert_eq!(runtime.close(), 0);
    }
}

/// A block with more elements than the array is one block.
#[test]
fn blocks_may_be_larger_than_arrays() {
    for nodes in [1, 2, 3, 7] {
        let runtime = Runtime::builder().workers(1).nodes(nodes).build().unwrap();
        for shift in [5, 31, 62, 63] {
            let all = runtime.run(numbers(12, Cache::On { block: 1 << shift, capacity: 1 }));
            assert_eq!((0..12).map(|index| runtime.run(at(all, index))).sum::<u64>(), 66);
            runtime.run(end(all));
        }
    }
}

#[task]
async fn huge(len: usize) -> IArray<u64> {
    IArray::create(len, layout::block(len, nodes())).await
}

#[test]
fn arrays_larger_than_memory_are_refused() {
    let runtime = Runtime::builder().workers(1).nodes(2).build().unwrap();
    let text = complaint(runtime.try_run(huge(1 << 61)));
    assert!(text.contains("an `IArray<u64>` of 2305843009213693952 elements has more than"), "{text}");
    assert_eq!(runtime.run(numbers(5, Cache::Off)).len(), 5);
}

#[task]
async fn odd_tiles() -> usize {
    let all = IMatrix::by_tiles(4, 3, (1 << 62, 2)).await;
    for (i, j) in (0..4).flat_map(|i| (0..3).map(move |j| (i, j))) {
        all.put(i, j, 10 * i + j).await;
    }
    let last = all.get(3, 2).await;
    all.free().await;
    last
}

/// A tile with more rows than the matrix ends where the matrix does.
#[test]
fn tiles_may_be_larger_than_matrices() {
    for nodes in [1, 2, 3] {
        let runtime = Runtime::builder().workers(1).nodes(nodes).build().unwrap();
        assert_eq!(runtime.run(odd_tiles()), 32);
    }
}

/// A value that spawns a task or panics when it is dropped.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
enum Lively {
    Spawns,
    Panics,
}

#[task]
async fn nothing() {}

impl Drop for Lively {
    fn drop(&mut self) {
        match self {
            Lively::Spawns => drop(spawn(nothing())),
            Lively::Panics => panic!("on purpose"),
        }
    }
}

#[task]
async fn lively(value: Lively) -> IArray<Lively> {
    let all = IArray::create(8, layout::cyclic(nodes())).await;
    for index in 0..8 {
        all.put(index, value.clone()).await;
    }
    std::mem::forget(value);
    all
}

#[task]
async fn read_and_free(all: IArray<Lively>) -> usize {
    let mut read = all.get_range(0..8).await;
    let count = read.len();
    read.drain(..).for_each(std::mem::forget);
    all.free().await;
    count
}

/// Senders and owners of elements drop them outside of any task, one at a time.
#[test]
fn destructors_of_elements_may_spawn_or_panic() {
    for encode in [false, true] {
        for value in [Lively::Spawns, Lively::Panics] {
            let runtime = Runtime::builder().workers(2).nodes(3).encoded(encode).build().unwrap();
            for _ in 0..20 {
                let all = runtime.run(lively(value.clone()));
                assert_eq!(runtime.run(read_and_free(all)), 8);
            }
            assert_eq!(runtime.close(), 0);
            std::mem::forget(value);
        }
    }
}

#[task]
async fn put_thrice(all: IArray<u64>) {
    all.put(5, 0).await;
    all.put(0, 0).await;
    all.put(5, 0).await;
}

/// Even if the first put was out of order, and another line of code has put an element since.
#[test]
fn the_first_put_is_named() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let all = runtime.run(async_numbers(8));
    let first = complaint(runtime.try_run(put_thrice(all)));
    let lines: Vec<_> = first.split("ends.rs:").skip(2).map(|rest| rest.split(':').next().unwrap()).collect();
    let [third, first]: [u32; 2] = [0, 1].map(|at: usize| lines[at].parse().unwrap());
    assert_eq!(third, first + 2, "{lines:?}");
}

#[task]
async fn async_numbers(len: usize) -> IArray<u64> {
    IArray::create(len, layout::block(len, nodes())).await
}
