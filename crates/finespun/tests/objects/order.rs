//! Calls of all objects of an array, among other calls.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use finespun::RunError;
use finespun::prelude::*;
use serde::{Deserialize, Serialize};

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
    Array::create(len, move |index| index % nodes, |_, _: &()| Counted, ()).await
}

#[task]
async fn free_one(array: &Array<Counted>, index: usize) {
    Ref::free(array.get(index)).await;
}

#[task]
async fn free_all(array: &Array<Counted>) {
    array.free().await;
}

/// `Array::free`: "If the array or one of its elements has been dropped already, when all others have been".
#[test]
fn freeing_an_array_frees_what_is_left_of_it() {
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

/// Sends from its node: a floating task might go on at another.
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

/// Messages between one pair of nodes arrive in order: a call that was sent before `each`, or before the objects are dropped,
/// comes before that.
#[test]
fn what_was_sent_before_comes_before() {
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
