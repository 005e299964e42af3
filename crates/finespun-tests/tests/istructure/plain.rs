//! Plain elements, which are sent as their bytes in memory.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use finespun::everywhere;
use finespun::istructure::{Cache, IArray, IMatrix};
use finespun::prelude::*;
use serde::{Deserialize, Serialize, Serializer};

use crate::arrays::place;
use crate::common::{Launch, on_any_nodes};
use crate::{CACHES, with_layouts_and_caches};

#[derive(Clone, Copy, Debug, PartialEq, Deserialize, zerocopy::FromBytes, zerocopy::IntoBytes, zerocopy::Immutable)]
#[repr(C)]
struct Point {
    at: [f64; 3],
    id: u64,
}

/// Number of points that serde has serialized.
static WRITTEN: AtomicU64 = AtomicU64::new(0);

impl Serialize for Point {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WRITTEN.fetch_add(1, Relaxed);
        (self.at, self.id).serialize(serializer)
    }
}

fn point(index: usize) -> Point {
    Point { at: [index as f64, f64::NEG_INFINITY, 1.0 / 3.0], id: u64::MAX - index as u64 }
}

#[task]
async fn fill(all: IArray<Point>) {
    all.fill(point).await;
}

#[task]
async fn read_all(all: IArray<Point>) -> bool {
    let mut right = true;
    for index in (0..all.len()).rev() {
        right &= all.get(index).await == point(index);
    }
    let together = all.get_range(0..all.len()).await;
    right && together.iter().enumerate().all(|(index, &other)| other == point(index))
}

#[task]
async fn everybody_reads(how: usize, cache: Cache, plain: bool) -> bool {
    let len = 50;
    let creating = IArray::create(len, place(how, len, nodes())).cached(cache);
    let all = if plain { creating.plain().await } else { creating.await };
    everywhere(fill, all).await;
    let right = everywhere(read_all, all).await;
    all.free().await;
    right.into_iter().all(|right| right)
}

#[test]
fn plain_data_is_not_serialized_by_serde() {
    with_layouts_and_caches(|runtime, how, cache| {
        assert!(runtime.run(everybody_reads(how, cache, true)));
    });
    assert_eq!(WRITTEN.load(Relaxed), 0);
    let runtime = Runtime::builder().workers(1).nodes(2).encoded(true).build().unwrap();
    assert!(runtime.run(everybody_reads(0, Cache::Off, false)));
    assert!(WRITTEN.load(Relaxed) > 0);
}

#[task]
async fn numbers(cache: Cache) -> bool {
    let small = IMatrix::by_tiles(6, 7, (2, 3)).cached(cache).plain().await;
    let large = IArray::create(42, |index| index % nodes()).cached(cache).await;
    for index in 0..42 {
        small.put(index / 7, index % 7, [index as u8; 3]).await;
        large.put(index, i128::MIN + index as i128).await;
    }
    let mut right = true;
    for index in (0..42).rev() {
        right &= small.get(index / 7, index % 7).await == [index as u8; 3];
        right &= large.get(index).await == i128::MIN + index as i128;
    }
    right && large.get_range(0..42).await.is_sorted()
}

#[test]
fn numbers_of_all_sizes_arrive() {
    on_any_nodes(|runtime| CACHES.iter().for_each(|&cache| assert!(runtime.run(numbers(cache)))));
}
