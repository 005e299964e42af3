//! Programs with write-once arrays.

use finespun::istructure::{Cache, IArray};
use finespun::layout;
use finespun::prelude::*;
use serde::{Deserialize, Serialize};

use crate::common::{Launch, on_any_nodes};
use crate::{CACHES, with_layouts_and_caches};

/// Number of layouts of [`place`].
pub const LAYOUTS: usize = 6;

/// Returns the node of an index in one of several layouts.
pub fn place(how: usize, len: usize, nodes: usize) -> impl Fn(usize) -> usize {
    move |index| match how {
        0 => layout::block(len, nodes)(index),
        1 => layout::cyclic(nodes)(index),
        2 => layout::block_cyclic(4, nodes)(index),
        // An irregular layout. (The last one places all elements at the last node.)
        3 => (index * index + index / 3) % nodes,
        // Runs of different lengths.
        4 => (index * index / (len * len).div_ceil(nodes).max(1)).min(nodes - 1),
        _ => nodes - 1,
    }
}

#[task]
async fn fibonacci_at(all: IArray<u64>, index: usize) {
    let value = match index {
        0 | 1 => 1,
        _ => {
            let (a, b) = join!(all.get(index - 1), all.get(index - 2));
            a.wrapping_add(b)
        }
    };
    all.put(index, value).await;
}

/// Requests the last element first.
#[task]
async fn fibonacci(len: usize, how: usize, cache: Cache) -> u64 {
    let all = IArray::create(len, place(how, len, nodes())).cached(cache).await;
    parfor(0..len, |index| fibonacci_at(all, len - 1 - index)).await;
    let last = all.get(len - 1).await;
    all.free().await;
    last
}

#[test]
fn elements_may_be_read_before_they_are_written() {
    with_layouts_and_caches(|runtime, how, cache| {
        assert_eq!(runtime.run(fibonacci(90, how, cache)), 2_880_067_194_370_816_120, "{how} {cache:?}");
        for len in 1..4 {
            assert_eq!(runtime.run(fibonacci(len, how, cache)), [1, 1, 2][len - 1], "{how} {cache:?}");
        }
    });
}

/// A stripe of rows of a matrix. Each element needs the ones above, to the left, and between: a wave runs over the
/// matrix.
#[derive(Serialize, Deserialize)]
struct Stripe {
    all: IArray<u64>,
    side: usize,
    first: usize,
    end: usize,
}

#[object]
impl Stripe {
    /// Waits, at its own node, for elements that other stripes put.
    async fn compute(this: Ref<Self>) -> u64 {
        let (all, side, first, end) = this.parts().await;
        let mut sum = 0u64;
        for row in first..end {
            for column in 0..side {
                let value = if row == 0 || column == 0 {
                    1
                } else {
                    let above = all.get((row - 1) * side + column).await;
                    let left = all.get(row * side + column - 1).await;
                    let between = all.get((row - 1) * side + column - 1).await;
                    (above + left + between) % 1_000_003
                };
                all.put(row * side + column, value).await;
                sum += value;
            }
        }
        sum
    }

    fn parts(&self) -> (IArray<u64>, usize, usize, usize) {
        (self.all, self.side, self.first, self.end)
    }
}

#[task]
async fn wave(side: usize, cache: Cache) -> u64 {
    let nodes = nodes();
    let all = IArray::create(side * side, layout::block(side * side, nodes)).cached(cache).await;
    let mut stripes = Vec::new();
    for node in 0..nodes {
        let (first, end) = (side * node / nodes, side * (node + 1) / nodes);
        stripes.push(on(node).create(Stripe { all, side, first, end }).await);
    }
    let sums = join_all(stripes.iter().map(|stripe| stripe.compute())).await;
    for stripe in stripes {
        Ref::free(stripe).await;
    }
    all.free().await;
    sums.iter().sum()
}

fn plain_wave(side: usize) -> u64 {
    let mut all = vec![1u64; side * side];
    for row in 1..side {
        for column in 1..side {
            let at = row * side + column;
            all[at] = (all[at - side] + all[at - 1] + all[at - side - 1]) % 1_000_003;
        }
    }
    all.iter().sum()
}

#[test]
fn methods_of_objects_read_and_write() {
    on_any_nodes(|runtime| {
        for cache in CACHES {
            assert_eq!(runtime.run(wave(17, cache)), plain_wave(17), "{cache:?}");
        }
    });
}

#[task]
async fn read_at(all: IArray<u64>, index: usize) -> u64 {
    all.get(index).await
}

#[task]
async fn sum_of(all: IArray<u64>, from: usize, to: usize) -> u64 {
    let mut sum = 0;
    for index in from..to {
        sum += all.get(index).await;
    }
    sum
}

#[task]
async fn put_squares(all: IArray<u64>, from: usize, to: usize) {
    for index in from..to {
        all.put(index, (index * index) as u64).await;
    }
}

/// Starts many readers of the same elements on every node before any element is written.
#[task]
async fn many_readers(len: usize, readers: usize, cache: Cache) -> u64 {
    let nodes = nodes();
    let all = IArray::create(len, layout::block(len, nodes)).cached(cache).await;
    scope(|s| readers_and_writer(s, all, len, readers)).await
}

#[task]
async fn readers_and_writer<'s>(s: Scope<'s>, all: IArray<u64>, len: usize, readers: usize) -> u64 {
    let nodes = nodes();
    let reading: Vec<_> = (0..readers).map(|k| s.spawn(elsewhere(all, len, k % nodes))).collect();
    yield_now().await;
    put_squares(all, 0, len).await;
    let mut sum = 0;
    for reader in reading {
        sum += reader.await;
    }
    all.free().await;
    sum
}

#[task]
async fn elsewhere(all: IArray<u64>, len: usize, node: usize) -> u64 {
    on(node).call(summed, (all, len)).await
}

#[task]
async fn summed((all, len): (IArray<u64>, usize)) -> u64 {
    sum_of(all, 0, len).await
}

#[test]
fn many_readers_wait_for_the_same_elements() {
    on_any_nodes(|runtime| {
        for cache in CACHES {
            let once: u64 = (0..40).map(|n| n * n).sum();
            assert_eq!(runtime.run(many_readers(40, 12, cache)), 12 * once, "{cache:?}");
        }
    });
}

/// Returns the number of messages between workers, and between the nodes of one worker.
fn messages(runtime: &Runtime) -> u64 {
    let stats = runtime.stats();
    stats.messages_own + stats.messages_pushed + stats.messages_pulled
}

#[task]
async fn written(len: usize, cache: Cache) -> IArray<u64> {
    let all = IArray::create(len, |_| 1).cached(cache).await;
    on(1).call(squares, (all, len)).await;
    all
}

#[task]
async fn squares((all, len): (IArray<u64>, usize)) {
    put_squares(all, 0, len).await;
}

/// Returns a runtime of two nodes, and the number of messages per answer: nodes of one worker answer directly, unless
/// messages are bytes.
fn two_nodes(encode: bool) -> (Runtime, u64) {
    let runtime = Runtime::builder().workers(1).nodes(2).encoded(encode).build().unwrap();
    (runtime, u64::from(encode))
}

/// Reads of another node's elements send a request and an answer for each element, or for each block.
#[test]
fn a_block_is_requested_once() {
    for encode in [false, true] {
        count_blocks(encode);
    }
}

fn count_blocks(encode: bool) {
    let (runtime, answer) = two_nodes(encode);
    let sent = |task| {
        let before = messages(&runtime);
        assert_eq!(runtime.run(task), (0..64).map(|n| n * n).sum::<u64>());
        messages(&runtime) - before
    };
    let off = runtime.run(written(64, Cache::Off));
    assert_eq!([(); 2].map(|()| sent(sum_of(off, 0, 64))), [64 + 64 * answer; 2]);
    let roomy = runtime.run(written(64, Cache::On { block: 8, capacity: 8 }));
    assert_eq!([(); 2].map(|()| sent(sum_of(roomy, 0, 64))), [8 + 8 * answer, 0]);
    let small = runtime.run(written(64, Cache::On { block: 8, capacity: 7 }));
    assert_eq!([(); 2].map(|()| sent(sum_of(small, 0, 64))), [8 + 8 * answer; 2]);
}

#[task]
async fn first_sum(all: IArray<u64>, len: usize) -> u64 {
    let each = parfor(0..8 * len, |index| read_at(all, index % len)).collect().await;
    each.iter().sum()
}

/// Readers that wait for one block, or one element, send one request. An element that is missing at its home is sent
/// later, by itself.
#[test]
fn readers_of_a_block_send_one_request() {
    for encode in [false, true] {
        count_requests(encode);
    }
}

fn count_requests(encode: bool) {
    let (runtime, answer) = two_nodes(encode);
    let sent = |task, value| {
        let before = messages(&runtime);
        assert_eq!(runtime.run(task), value);
        messages(&runtime) - before
    };
    for (cache, requests) in [(Cache::Off, 8), (Cache::On { block: 8, capacity: 1 }, 1)] {
        let all = runtime.run(unwritten(cache));
        let writing = sent(read_and_write(all, 0), 0);
        // Each element is sent by itself.
        let reading = sent(read_and_write(all, 8), (0..8).map(|n| n * n * 8).sum());
        assert_eq!(reading - writing, requests + 8 * answer, "{cache:?}");
    }
}

#[task]
async fn unwritten(cache: Cache) -> IArray<u64> {
    IArray::create(8, |_| 1).cached(cache).await
}

#[task]
async fn read_and_write(all: IArray<u64>, len: usize) -> u64 {
    let (sum, ()) = join!(first_sum(all, len), write_at_1(all, len));
    sum
}

#[task]
async fn write_at_1(all: IArray<u64>, len: usize) {
    yield_now().await;
    on(1).call(squares, (all, len)).await
}

/// Stores handles of arrays in an array.
#[task]
async fn nested(len: usize) -> u64 {
    let nodes = nodes();
    let rows: IArray<IArray<u64>> = IArray::create(len, layout::cyclic(nodes)).await;
    for row in 0..len {
        let values = IArray::create(row + 1, layout::block(row + 1, nodes)).await;
        rows.put(row, values).await;
        put_squares(values, 0, row + 1).await;
    }
    let mut sum = 0;
    for row in 0..len {
        let values = rows.get(row).await;
        sum += values.get(row).await;
        values.free().await;
    }
    rows.free().await;
    sum
}

#[test]
fn arrays_are_elements_of_arrays() {
    on_any_nodes(|runtime| assert_eq!(runtime.run(nested(9)), (0..9).map(|n| n * n).sum::<u64>()));
}
