//! Counts of reads, requests, cache hits and forwards.

use finespun::istructure::{Cache, Counts, IArray};
use finespun::prelude::*;
use finespun::{everywhere, layout};

use crate::arrays::place;
use crate::with_layouts_and_caches;

#[task]
async fn read_all(all: IArray<u64>) -> u64 {
    all.get_range(0..all.len()).await.iter().sum()
}

#[task]
async fn total(counts: Vec<Counts>) -> Counts {
    let mut sum = Counts::default();
    counts.into_iter().for_each(|counts| sum += counts);
    sum
}

/// All nodes read all elements of an array after they have been written.
#[task]
async fn after(len: usize, how: usize, cache: Cache) -> Counts {
    let all = IArray::create(len, place(how, len, nodes())).cached(cache).counted().await;
    for index in 0..len {
        all.put(index, index as u64).await;
    }
    assert_eq!(everywhere(read_all, all).await, vec![(len * (len - 1) / 2) as u64; nodes()]);
    let counts = all.counts().await;
    all.free().await;
    total(counts).await
}

#[test]
fn every_read_is_counted() {
    with_layouts_and_caches(|runtime, how, cache| {
        let (len, nodes) = (48, runtime.nodes() as u64);
        let counts = runtime.run(after(len, how, cache));
        assert_eq!(counts.local + counts.remote, len as u64 * nodes, "{how} {cache:?}: {counts:?}");
        assert_eq!(counts.local, len as u64);
        assert!(counts.requests + counts.hits >= counts.remote, "{counts:?}");
        assert!(counts.deferred <= counts.hits && counts.hits <= counts.remote, "{counts:?}");
        // Elements that are already written are not forwarded.
        assert_eq!(counts.forwards, 0);
    });
}

/// Node 0 reads all elements one by one, and the elements of node 1 twice.
#[task]
async fn blocks(len: usize, cache: Cache) -> Counts {
    let all = IArray::create(2 * len, layout::block(2 * len, 2)).cached(cache).counted().await;
    for index in 0..2 * len {
        all.put(index, 1).await;
    }
    let mut sum = 0;
    for index in (0..2 * len).chain(len..2 * len) {
        sum += all.get(index).await;
    }
    assert_eq!(sum, 3 * len as u64);
    all.counts().await[0]
}

#[test]
fn a_block_is_one_request() {
    let runtime = Runtime::builder().workers(1).nodes(2).build().unwrap();
    let counts = |cache| {
        let counts = runtime.run(blocks(64, cache));
        assert_eq!((counts.local, counts.remote, counts.deferred, counts.forwards), (64, 128, 0, 0));
        (counts.requests, counts.hits)
    };
    assert_eq!(counts(Cache::Off), (128, 0));
    assert_eq!(counts(Cache::On { block: 8, capacity: 100 }), (8, 120));
    assert_eq!(counts(Cache::On { block: 8, capacity: 1 }), (16, 112));
    assert_eq!(counts(Cache::On { block: 64, capacity: 1 }), (1, 127));
    assert_eq!(runtime.run(blocks(64, Cache::On { block: 8, capacity: 100 })).hit_ratio(), 120.0 / 128.0);
}

/// Node 0 requests all elements of node 1 before any is written.
#[task]
async fn before(len: usize, cache: Cache) -> Counts {
    let all = IArray::create(2 * len, layout::block(2 * len, 2)).cached(cache).counted().await;
    let (values, again, ()) = join!(all.get_range(len..2 * len), all.get_range(len..2 * len), put_all(all, len));
    assert_eq!(values, again);
    let counts = all.counts().await;
    total(counts).await
}

#[task]
async fn put_all(all: IArray<u64>, len: usize) {
    for index in len..2 * len {
        all.put(index, index as u64).await;
    }
}

#[test]
fn an_element_written_late_is_forwarded_once() {
    let runtime = Runtime::builder().workers(1).nodes(2).build().unwrap();
    let counts = |cache| {
        let counts = runtime.run(before(32, cache));
        assert_eq!((counts.local, counts.remote, counts.forwards), (0, 64, 32));
        assert_eq!(counts.hits, counts.deferred);
        assert_eq!(counts.deferred_ratio(), 1.0);
        (counts.requests, counts.hits)
    };
    assert_eq!(counts(Cache::Off), (32, 32));
    assert_eq!(counts(Cache::On { block: 8, capacity: 1 }), (4, 60));
}

#[test]
fn an_uncounted_array_counts_nothing() {
    let runtime = Runtime::builder().workers(1).nodes(2).build().unwrap();
    assert_eq!(runtime.run(uncounted()), vec![Counts::default(); 2]);
    assert_eq!(Counts::default().hit_ratio(), 0.0);
}

#[task]
async fn uncounted() -> Vec<Counts> {
    let all = IArray::create(8, layout::block(8, 2)).await;
    all.put(3, 1u64).await;
    all.get(3).await;
    all.counts().await
}

#[task]
async fn fill_own(all: IArray<u64>) {
    all.fill(|index| index as u64).await;
}

#[task]
async fn sum_of_all(all: IArray<u64>) -> u64 {
    let mut sum: u64 = 0;
    for index in 0..all.len() {
        let value: u64 = all.get(index).await;
        sum += value;
    }
    sum
}

/// Each node reads all elements in order, `times` times.
#[task]
async fn read_again(len: usize, times: usize) -> u64 {
    let all = IArray::create(len, layout::block(len, nodes())).cached(Cache::Auto).await;
    everywhere(fill_own, all).await;
    let mut sum: u64 = 0;
    for _ in 0..times {
        let sums: Vec<u64> = everywhere(sum_of_all, all).await;
        sum += sums.into_iter().sum::<u64>();
    }
    all.free().await;
    sum
}

#[test]
fn repeated_reads_are_cached_automatically() {
    let runtime = Runtime::builder().workers(1).nodes(3).build().unwrap();
    let len: u64 = 6000;
    for _ in 0..2 {
        assert_eq!(runtime.run(read_again(len as usize, 3)), 3 * 3 * (len * (len - 1) / 2));
    }
    let choices = runtime.cache_choices();
    let [choice] = &choices[..] else { panic!("one place makes arrays: {choices:?}") };
    assert!(choice.made.contains("counted.rs"), "{choice}");
    assert_eq!((choice.caches, choice.on), (6, 6), "{choice}");
    // 6 times 4000 elements in blocks of at least 8, plus the single requests made while measuring; larger blocks need
    // fewer.
    assert!(choice.requests < 6 * 500 + 2000, "{choice}");
    assert!(choice.to_string().contains("cache on in 6 of 6"), "{choice}");
}
