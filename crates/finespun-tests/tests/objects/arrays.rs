//! Arrays of objects.

use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use finespun::RunError;
use finespun::prelude::*;
use finespun::testing::*;
use serde::{Deserialize, Serialize, Serializer};

use crate::common::{Launch, on_any_nodes};
use crate::errors::Cell2;
use crate::locks::Board;
use crate::locks::{make_board, read_board};
use crate::places::Bomb;

/// A site of a ring. Each step replaces its value by a weighted sum of its own value and its neighbours' values.
#[derive(Serialize, Deserialize)]
struct Site {
    value: f64,
    next: f64,
    neighbours: Option<[Ref<Site>; 2]>,
}

#[object]
impl Site {
    fn link(&mut self, neighbours: [Ref<Site>; 2]) {
        self.neighbours = Some(neighbours);
    }

    fn value(&self) -> f64 {
        self.value
    }

    fn look(&self) -> (f64, Option<[Ref<Site>; 2]>) {
        (self.value, self.neighbours)
    }

    async fn compute(this: Ref<Self>) {
        let (own, neighbours) = this.look().await;
        let [left, right]: [Ref<Site>; 2] = neighbours.expect("linked before");
        let (l, r) = join!(left.value(), right.value());
        this.prepare(0.5 * own + 0.25 * (l + r)).await;
    }

    fn prepare(&mut self, next: f64) {
        self.next = next;
    }

    fn update(&mut self) {
        self.value = self.next;
    }
}

#[task]
async fn smooth(sites: usize, turns: usize, block: usize) -> Vec<f64> {
    let nodes = nodes();
    let make = |index: usize, _: &()| Site { value: (index * index % 17) as f64, next: 0.0, neighbours: None };
    let array: Array<Site> = Array::create(sites, finespun::layout::block_cyclic(block, nodes), make, ()).await;
    let neighbour = |index: usize, step: usize| array.get((index + step) % sites);
    let links: Vec<_> = (0..sites).map(|index| [neighbour(index, sites - 1), neighbour(index, 1)]).collect();
    array.each_with(links, |site, neighbours| site.link(neighbours)).await;
    for _ in 0..turns {
        array.each(|site| site.compute()).await;
        array.each(|site| site.update()).await;
    }
    let values: Vec<f64> = array.each(|site| site.value()).await;
    array.free().await;
    values
}

fn smooth_plain(sites: usize, turns: usize) -> Vec<f64> {
    let mut values: Vec<f64> = (0..sites).map(|index| (index * index % 17) as f64).collect();
    for _ in 0..turns {
        let next = |k: usize| 0.5 * values[k] + 0.25 * (values[(k + sites - 1) % sites] + values[(k + 1) % sites]);
        values = (0..sites).map(next).collect();
    }
    values
}

#[test]
fn an_array_gives_the_same_result_on_any_nodes_and_layout() {
    let wanted = smooth_plain(23, 4);
    on_any_nodes(|runtime| {
        for block in [1, 4] {
            assert_eq!(runtime.run(smooth(23, 4, block)), wanted);
        }
    });
}

#[task]
async fn one_of_them_panics(sites: usize) -> Vec<u64> {
    let nodes = nodes();
    let make = |index: usize, _: &()| Cell2 { value: index as i64 };
    let array: Array<Cell2> = Array::create(sites, move |index| index % nodes, make, ()).await;
    let values = (0..sites).map(|index| 3 - index as i64).collect();
    array.each_with(values, |cell, value| cell.set_slowly(value)).await;
    vec![1]
}

#[test]
fn a_panic_of_one_element_reaches_the_caller() {
    on_any_nodes(|runtime| {
        let Err(RunError::Panicked(panic)) = runtime.try_run(one_of_them_panics(9)) else { panic!("a panic") };
        assert!(panic.message().ends_with("is negative"), "{}", panic.message());
    });
}

#[task]
async fn broken_array(sites: usize) {
    let make = |index: usize, at: &usize| {
        assert!(index != *at, "{index} cannot be made");
        Board { value: index as u64 }
    };
    let _: Array<Board> = Array::create(sites, |_| 0, make, sites - 1).await;
}

/// The object table grows before the panic and is used again afterwards.
#[test]
fn a_panic_during_array_creation_leaves_other_objects_intact() {
    on_any_nodes(|runtime| {
        let before = runtime.run(make_board());
        let Err(RunError::Panicked(panic)) = runtime.try_run(broken_array(200)) else { panic!("a panic") };
        assert_eq!(panic.message(), "199 cannot be made");
        assert_eq!(runtime.run(read_board(before)), 1);
    });
}

/// Elements that wait for each other: each call of `until` returns only after all elements have been called.
#[derive(Serialize, Deserialize)]
struct Waits {
    seen: u64,
}

#[object]
impl Waits {
    fn note(&mut self) {
        self.seen += 1;
    }

    fn seen(&self) -> u64 {
        self.seen
    }

    async fn until(_this: Ref<Self>, board: Ref<Waits>, all: u64) {
        board.note().await;
        loop {
            let seen: u64 = board.seen().await;
            if seen == all {
                return;
            }
            yield_now().await;
        }
    }
}

#[task]
async fn all_wait(sites: usize) {
    let nodes = nodes();
    let board = on(0).create(Waits { seen: 0 }).await;
    let make = |_: usize, _: &()| Waits { seen: 0 };
    let array: Array<Waits> = Array::create(sites, move |index| index % nodes, make, ()).await;
    array.each_with(vec![(board, sites as u64); sites], |site, (board, all)| site.until(board, all)).await;
}

#[test]
fn elements_may_wait_for_each_other() {
    on_any_nodes(|runtime| runtime.run(all_wait(7)));
}

#[task]
async fn counted(nodes: usize) -> Array<Cell2> {
    let make = |index: usize, _: &()| Cell2 { value: index as i64 };
    Array::create(3 * nodes, move |index| index % nodes, make, ()).await
}

#[task]
async fn all_of(array: &Array<Cell2>) -> Vec<i64> {
    array.each(|cell| cell.get()).await
}

#[task]
async fn free(array: &Array<Cell2>) {
    array.free().await;
}

/// The messages form a tree: the caller has eight children, and each child sends to the remaining nodes of its part.
#[test]
fn one_message_to_each_node_and_eight_from_the_caller() {
    let nodes = 64;
    let runtime = Runtime::builder().workers(1).nodes(nodes).build().unwrap();
    let array = runtime.run(counted(nodes));
    let before = runtime.stats();
    let values = runtime.run(all_of(&array));
    let after = runtime.stats();
    assert_eq!(values, (0..3 * nodes as i64).collect::<Vec<_>>());
    assert_eq!(after.messages_own - before.messages_own, 63);
    // On each sending node, the loop and the gathering of its results are frames.
    let fallbacks = after.fallbacks - before.fallbacks;
    assert_eq!(fallbacks, 2 * (1 + 8), "the caller and its eight children");
    assert_eq!(runtime.close(), 0);
}

static WRITTEN: AtomicU64 = AtomicU64::new(0);

/// A value that counts in `WRITTEN` how often it is serialized.
#[derive(Clone, Deserialize)]
struct Counts(i64);

impl Serialize for Counts {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        WRITTEN.fetch_add(1, Relaxed);
        self.0.serialize(serializer)
    }
}

#[task]
async fn set_each(array: &Array<Cell2>) {
    let values = (0..array.len() as i64).map(Counts).collect();
    array.each_with(values, |cell, Counts(value)| cell.set(value)).await;
}

#[task]
async fn set_all(array: &Array<Cell2>) {
    array.each_sharing(Counts(7), |cell, Counts(value)| cell.set(value)).await;
}

/// The argument is serialized once per message, however many nodes and elements the message is for.
#[test]
fn a_shared_argument_is_serialized_once_per_message() {
    #[task]
    async fn uneven(nodes: usize) -> Array<Cell2> {
        let make = |_: usize, _: &()| Cell2 { value: 0 };
        Array::create(5 * nodes, move |index| index * index % nodes, make, ()).await
    }
    for nodes in [9, 64] {
        let runtime = Runtime::builder().workers(1).nodes(nodes).encode(true).build().unwrap();
        let array = runtime.run(uneven(nodes));
        runtime.run(set_each(&array));
        assert_eq!(runtime.run(all_of(&array)), (0..5 * nodes as i64).collect::<Vec<_>>());
        runtime.run(set_all(&array));
        assert_eq!(runtime.run(all_of(&array)), vec![7; 5 * nodes]);

        let array = runtime.run(counted(nodes));
        let (messages, written) = (runtime.stats().messages_own, WRITTEN.load(Relaxed));
        runtime.run(set_all(&array));
        let messages = runtime.stats().messages_own - messages;
        assert_eq!(messages as usize, nodes - 1);
        assert_eq!(WRITTEN.load(Relaxed) - written, messages, "{nodes} nodes");
        assert_eq!(runtime.close(), 0);
    }
}

#[test]
fn an_array_that_has_been_freed_is_an_error() {
    on_any_nodes(|runtime| {
        let array = runtime.run(counted(runtime.nodes()));
        runtime.run(free(&array));
        let Err(RunError::Panicked(panic)) = runtime.try_run(all_of(&array)) else { panic!("a panic") };
        assert!(panic.message().starts_with("`each` was called on an Array at node "), "{}", panic.message());
        let Err(RunError::Panicked(panic)) = runtime.try_run(free(&array)) else { panic!("a panic") };
        assert!(panic.message().starts_with("`free` was called on an Array at node "), "{}", panic.message());
    });
}

#[task]
async fn make_of_bombs() -> usize {
    let make = |index: usize, _: &Vec<Bomb>| Cell2 { value: index as i64 };
    let nodes = nodes();
    let array: Array<Cell2> = Array::create(6, move |index| index % nodes, make, vec![Bomb]).await;
    array.len()
}

/// The run drops the original arguments; each node gets clones.
#[test]
fn a_panicking_destructor_of_a_creation_argument_ends_the_run() {
    for (workers, nodes) in [(1, 1), (1, 3), (2, 2), (2, 4)] {
        for encode in [false, true] {
            let runtime = Runtime::builder().workers(workers).nodes(nodes).encoded(encode).build().unwrap();
            for _ in 0..3 {
                let Err(RunError::Panicked(panic)) = runtime.try_run(make_of_bombs()) else { panic!("a panic") };
                assert_eq!(panic.message(), "bomb");
            }
            assert_eq!(runtime.close(), 0);
        }
    }
}
