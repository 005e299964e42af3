//! The order of calls on whole arrays relative to other calls.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use finespun::prelude::*;
use finespun::testing::*;
use finespun::{RunError, everywhere, runtime::Transport};
use serde::{Deserialize, Serialize};

use crate::common::{Launch, Shared};

static DROPPED: AtomicU64 = AtomicU64::new(0);

struct Counted;

#[object]
impl Counted {
    fn nothing(&self) {}
}

impl Drop for Counted {
    fn drop(&mut self) {
        DROPPED.fetch_add(1, Relaxed);
    }
}

#[task]
async fn make_counted(len: usize) -> Array<Counted> {
    let nodes = nodes();
    Array::create(len, finespun::layout::cyclic(nodes), |_, _: &()| Counted, ()).await
}

#[task]
async fn free_one(array: &Array<Counted>, index: usize) {
    Ref::free(array.get(index)).await;
}

#[task]
async fn free_all(array: &Array<Counted>) {
    array.free().await;
}

/// `Array::free` reports an element that has been dropped before, but only after it has dropped all others.
#[test]
fn freeing_an_array_with_a_dropped_element_frees_the_others() {
    for nodes in [1, 3] {
        let runtime = Runtime::builder().workers(1).nodes(nodes).build().unwrap();
        let before = DROPPED.load(Relaxed);
        let array = runtime.run(make_counted(30));
        runtime.run(free_one(&array, 0));
        let Err(RunError::Panicked(_)) = runtime.try_run(free_all(&array)) else { panic!("a panic") };
        assert_eq!(DROPPED.load(Relaxed) - before, 30, "{nodes} nodes");
    }
}

#[derive(Serialize, Deserialize)]
struct Slow(u64);

#[object]
impl Slow {
    fn add(&mut self, amount: u64) {
        std::thread::sleep(std::time::Duration::from_micros(50));
        self.0 += amount;
    }
    fn sum(&self) -> u64 {
        self.0
    }
}

/// A sender at a fixed node: a floating task might continue on another node.
#[derive(Serialize, Deserialize)]
struct Sender;

#[object]
impl Sender {
    async fn adds_then_asks_all(_this: Ref<Self>, count: u64, node: usize) -> u64 {
        let all = nodes();
        let array: Array<Slow> = Array::create(all, |index| index, |_, _: &()| Slow(0), ()).await;
        for _ in 0..count {
            array.get(node).add(1).oneway().await;
        }
        let sums: Vec<u64> = array.each(|slow| slow.sum()).await;
        array.free().await;
        sums[node]
    }

    async fn adds_then_frees(_this: Ref<Self>, count: u64, node: usize) {
        let all = nodes();
        let array: Array<Slow> = Array::create(all, |index| index, |_, _: &()| Slow(0), ()).await;
        for _ in 0..count {
            array.get(node).add(1).oneway().await;
        }
        array.free().await;
    }

    async fn adds_then_frees_one(_this: Ref<Self>, count: u64, node: usize) {
        let slow: Ref<Slow> = on(node).create(Slow(0)).await;
        for _ in 0..count {
            slow.add(1).oneway().await;
        }
        Ref::free(slow).await;
    }
}

#[task]
async fn sender() -> Ref<Sender> {
    on(0).create(Sender).await
}

/// Messages between one pair of nodes arrive in order: a call sent before `each`, or before the objects are dropped,
/// precedes it.
#[test]
fn calls_sent_before_an_array_call_precede_it() {
    #[task]
    async fn asks(sender: Ref<Sender>, node: usize) -> u64 {
        sender.adds_then_asks_all(20, node).await
    }
    #[task]
    async fn frees(sender: Ref<Sender>, node: usize) {
        sender.adds_then_frees(20, node).await;
    }
    #[task]
    async fn frees_one(sender: Ref<Sender>, node: usize) {
        sender.adds_then_frees_one(20, node).await;
    }
    for _ in 0..50 {
        let runtime = Runtime::builder().workers(3).nodes(12).build().unwrap();
        let from = runtime.run(sender());
        for node in [2, 5, 8] {
            assert_eq!(runtime.run(asks(from, node)), 20, "node {node}");
            runtime.run(frees(from, node));
            runtime.run(frees_one(from, node));
        }
        assert_eq!(runtime.close(), 0);
    }
}

/// Calls of `note` on each node. Only one test counts them.
static SEEN: [Shared; 12] = [const { Shared::new() }; 12];

/// Returns the calls counted on `node`. On the sender's node it takes as long as an idle worker needs to ask for a part
/// of the work.
fn seen_at(node: usize) -> u64 {
    if node == 0 {
        std::thread::sleep(std::time::Duration::from_micros(200));
    }
    SEEN[node].load() as u64
}

#[task]
async fn seen_here(_: ()) -> u64 {
    seen_at(here())
}

struct Seen(u64);

#[object]
impl Seen {
    fn calls(&self) -> u64 {
        self.0
    }
}

struct Busy;

#[object]
impl Busy {
    fn note(&mut self) {
        std::thread::sleep(std::time::Duration::from_micros(50));
        SEEN[here()].add(1);
    }

    async fn notes_then_looks(_this: Ref<Self>, count: u64, node: usize) -> u64 {
        let busy: Ref<Busy> = on(node).create_with(|()| Busy, ()).await;
        for _ in 0..count {
            busy.note().oneway().await;
        }
        let seen: Vec<u64> = everywhere(seen_here, ()).await;
        seen[node]
    }

    async fn notes_then_makes(_this: Ref<Self>, count: u64, node: usize) -> u64 {
        let busy: Ref<Busy> = on(node).create_with(|()| Busy, ()).await;
        for _ in 0..count {
            busy.note().oneway().await;
        }
        let all = nodes();
        let array: Array<Seen> = Array::create(all, |index| index, |index, _: &()| Seen(seen_at(index)), ()).await;
        let seen: u64 = array.get(node).calls().await;
        array.free().await;
        seen
    }

    async fn notes_then_makes_two(_this: Ref<Self>, count: u64, node: usize) -> u64 {
        let busy: Ref<Busy> = on(node).create_with(|()| Busy, ()).await;
        for _ in 0..count {
            busy.note().oneway().await;
        }
        let make = |node: usize| Seen(seen_at(node));
        let (first, second) = join!(on(0).create_with(make, 0), on(node).create_with(make, node));
        let (_, seen): (u64, u64) = join!(first.calls(), second.calls());
        seen
    }
}

/// The same for tasks on all nodes, for objects created on all nodes, and for two objects created side by side.
/// Block-every-n is left out: it makes an arrived method a frame, and later messages may begin before that frame.
#[test]
fn calls_sent_before_work_on_all_nodes_precede_it() {
    #[task]
    async fn looks(node: usize) -> u64 {
        let busy: Ref<Busy> = on(0).create_with(|()| Busy, ()).await;
        busy.notes_then_looks(20, node).await
    }
    #[task]
    async fn makes(node: usize) -> u64 {
        let busy: Ref<Busy> = on(0).create_with(|()| Busy, ()).await;
        busy.notes_then_makes(20, node).await
    }
    #[task]
    async fn makes_two(node: usize) -> u64 {
        let busy: Ref<Busy> = on(0).create_with(|()| Busy, ()).await;
        busy.notes_then_makes_two(20, node).await
    }
    use Transport::{Adaptive, Pull, Push};
    for (transport, encode) in [(Push, false), (Pull, false), (Adaptive, false), (Adaptive, true)] {
        for workers in [2, 3, 4].repeat(10) {
            let runtime = Runtime::builder().workers(workers).nodes(SEEN.len());
            let runtime = runtime.transport(transport).encoded(encode).build().unwrap();
            for node in [2, 5, 8] {
                let how = format!("node {node}, {workers} workers, {transport:?}, bytes: {encode}");
                SEEN[node].swap(0);
                assert_eq!(runtime.run(looks(node)), 20, "{how}");
                assert_eq!(runtime.run(makes(node)), 40, "{how}");
                assert_eq!(runtime.run(makes_two(node)), 60, "{how}");
            }
            assert_eq!(runtime.close(), 0);
        }
    }
}
