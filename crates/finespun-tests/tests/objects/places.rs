//! Tasks called at nodes, and replicated values.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use finespun::prelude::*;
use finespun::testing::*;
use finespun::{RunError, everywhere, objects::Replicated, objects::near};
use serde::{Deserialize, Serialize};

use crate::common::{Launch, on_any_nodes};

#[derive(Serialize, Deserialize)]
struct Item(u64);

#[object]
impl Item {
    fn value(&self) -> u64 {
        self.0
    }
}

#[task]
async fn sum_near(items: Vec<Ref<Item>>) -> (usize, u64) {
    let at = here();
    let mut sum = 0;
    for item in items {
        sum += item.value().await;
    }
    (at, sum)
}

#[task]
async fn sums() -> Vec<usize> {
    let mut places = Vec::new();
    for node in 0..nodes() {
        let items: Vec<Ref<Item>> = on(node).create_many((0..10).map(Item).collect()).await;
        assert!(items.is_sorted(), "in their order");
        let (at, sum) = near(items[3]).call(sum_near, items.clone()).await;
        assert_eq!(sum, 45);
        places.push(at);
        join_all(items.into_iter().map(Ref::free)).await;
    }
    places
}

#[test]
fn tasks_are_called_near_objects() {
    on_any_nodes(|runtime| {
        runtime.run(sums());
    });
    // If nothing interrupts it, a task begins at the node where it is called.
    let runtime = Runtime::builder().workers(1).nodes(4).build().unwrap();
    assert_eq!(runtime.run(sums()), [0, 1, 2, 3]);
}

#[task]
async fn fail_at(node: usize) -> usize {
    yield_now().await;
    assert!(here() != node || nodes() == 1, "node {node} fails");
    node
}

#[task]
async fn weigh((weights, scale): (Replicated<Vec<u64>>, u64)) -> u64 {
    let mut weight = 0;
    for turn in 0..3 {
        if turn == 1 {
            yield_now().await;
        }
        weight += weights[turn] * scale;
    }
    weight
}

#[task]
async fn weights() -> Vec<u64> {
    let weights = Replicated::new(vec![1, 10, 100]);
    let copy = weights.clone();
    let all = everywhere(weigh, (copy, 2)).await;
    let again = everywhere(weigh, (weights, 1)).await;
    assert_eq!(again, vec![111; nodes()]);
    all
}

#[test]
fn a_replicated_value_is_read_on_every_node() {
    on_any_nodes(|runtime| assert_eq!(runtime.run(weights()), vec![222; runtime.nodes()]));
}

#[test]
fn a_panic_at_a_node_reaches_the_caller() {
    #[task]
    async fn all(node: usize) -> Vec<usize> {
        everywhere(fail_at, node).await
    }
    let runtime = Runtime::builder().workers(2).nodes(5).build().unwrap();
    // A suspended task may continue at another node, so it is not certain that one fails.
    match runtime.try_run(all(3)) {
        Ok(values) => assert_eq!(values, [3; 5]),
        Err(error) => assert!(error.to_string().contains("node 3 fails"), "{error}"),
    }
    assert_eq!(runtime.close(), 0);
}

static BEGUN: AtomicU64 = AtomicU64::new(0);

#[task]
async fn fails(first: usize) {
    BEGUN.fetch_add(1, Relaxed);
    assert!(here() < first, "node {} fails", here());
}

/// `everywhere` panics with the first panic in the order of nodes, after the tasks of all nodes have ended.
#[test]
fn a_panic_at_a_node_stops_no_other_node() {
    #[task]
    async fn all(first: usize) -> Vec<()> {
        everywhere(fails, first).await
    }
    for (workers, nodes) in [(1, 1), (1, 5), (2, 5), (3, 2)] {
        let runtime = Runtime::builder().workers(workers).nodes(nodes).build().unwrap();
        for first in [0, nodes / 2] {
            let before = BEGUN.load(Relaxed);
            let error = runtime.try_run(all(first)).unwrap_err().to_string();
            assert!(error.contains(&format!("node {first} fails")), "{error}");
            assert_eq!(BEGUN.load(Relaxed) - before, nodes as u64);
        }
        assert_eq!(runtime.close(), 0);
    }
}

/// A value whose destructor panics, without calling the panic hook.
#[derive(Clone, Serialize, Deserialize)]
pub struct Bomb;

impl Drop for Bomb {
    fn drop(&mut self) {
        if !std::thread::panicking() {
            std::panic::resume_unwind(Box::new("bomb"));
        }
    }
}

#[task]
async fn disarm(bomb: Bomb) -> u64 {
    yield_now().await;
    std::mem::forget(bomb);
    1
}

#[task]
async fn disarm_everywhere() -> u64 {
    everywhere(disarm, Bomb).await.len() as u64
}

/// The run drops the original argument; each node gets a clone.
#[test]
fn a_panicking_destructor_of_an_argument_ends_the_run() {
    for (workers, nodes) in [(1, 1), (1, 3), (2, 2), (2, 4)] {
        for encode in [false, true] {
            let runtime = Runtime::builder().workers(workers).nodes(nodes).encoded(encode).build().unwrap();
            for _ in 0..3 {
                let Err(RunError::Panicked(panic)) = runtime.try_run(disarm_everywhere()) else { panic!("a panic") };
                assert_eq!(panic.message(), "bomb");
            }
            assert_eq!(runtime.close(), 0);
        }
    }
}

#[derive(Serialize, Deserialize)]
struct Maker;

#[object]
impl Maker {
    fn make(&self, _: u64) -> Bomb {
        Bomb
    }

    async fn make_late(&self) -> Bomb {
        yield_now().await;
        Bomb
    }
}

#[task]
async fn make_at(_: u64) -> Bomb {
    yield_now().await;
    Bomb
}

#[task]
async fn make_bombs() -> usize {
    let last = nodes() - 1;
    std::mem::forget(on(last).call(make_at, 1).await);
    let maker: Ref<Maker> = on(last).create(Maker).await;
    std::mem::forget(maker.make(1).await);
    std::mem::forget(maker.make_late().await);
    maker.make(2).oneway().await;
    let all = everywhere(make_at, 1).await;
    let mut count = all.len();
    std::mem::forget(all);
    let array: Array<Maker> =
        Array::create(2 * nodes(), finespun::layout::cyclic(nodes()), |_, _: &()| Maker, ()).await;
    for _ in 0..2 {
        let all = array.each_with((0..array.len() as u64).collect(), |maker, n| maker.make(n)).await;
        count += all.len();
        std::mem::forget(all);
        let all = array.each(|maker| maker.make_late()).await;
        count += all.len();
        std::mem::forget(all);
    }
    count
}

/// If values travel as bytes, the original is dropped on the node that serialized it.
#[test]
fn a_result_whose_destructor_panics_arrives() {
    on_any_nodes(|runtime| assert_eq!(runtime.run(make_bombs()), 9 * runtime.nodes()));
}

#[test]
fn a_replicated_value_is_serialized_in_messages_only() {
    let value = Replicated::new(3_u64);
    let error = serde_json::to_string(&value).unwrap_err().to_string();
    assert!(error.starts_with("a replicated value travels in messages only"), "{error}");
    assert_eq!(serde_json::to_string(&*value).unwrap(), "3");
}
