//! Random programs: which tasks put and get which elements, on which nodes and in which order, is drawn at random.

use finespun::istructure::{Cache, IArray};
use finespun::prelude::*;
use finespun::runtime::Transport;
use finespun::testing::*;
use proptest::prelude::*;

use crate::arrays::{LAYOUTS, place};
use crate::common::Launch;

#[derive(Clone, Debug)]
struct Plan {
    len: usize,
    how: usize,
    cache: Cache,
    /// The elements in the order of their puts, each with the node of its put.
    puts: Vec<(usize, usize)>,
    /// The elements that each task gets, with the node of the task.
    gets: Vec<(usize, Vec<usize>)>,
    workers: usize,
    nodes: usize,
    block_every: u32,
    transport: Transport,
    encode: bool,
}

fn plans() -> impl Strategy<Value = Plan> {
    let caches = prop_oneof![
        Just(Cache::Off),
        Just(Cache::Auto),
        (0u32..6, 1usize..6).prop_map(|(block, capacity)| Cache::On { block: 1 << block, capacity }),
    ];
    let transports = prop_oneof![Just(Transport::Adaptive), Just(Transport::Push), Just(Transport::Pull)];
    let machine = (1usize..4, 1usize..6, 0u32..6, transports, any::<bool>());
    (1usize..70, 0..LAYOUTS, caches, machine).prop_flat_map(|(len, how, cache, machine)| {
        let (workers, nodes, block_every, transport, encode) = machine;
        let order = Just((0..len).collect::<Vec<usize>>()).prop_shuffle();
        let puts = (order, proptest::collection::vec(0..nodes, len));
        let gets = proptest::collection::vec((0..nodes, proptest::collection::vec(0..len, 0..20)), 0..12);
        (puts, gets).prop_map(move |((order, at), gets)| {
            let puts = order.into_iter().zip(at).collect();
            Plan { len, how, cache, puts, gets, workers, nodes, block_every, transport, encode }
        })
    })
}

fn value(index: usize) -> (u64, String) {
    ((index as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15), "x".repeat(index % 5))
}

type Values = IArray<(u64, String)>;

#[task]
async fn puts((all, indices): (Values, Vec<usize>)) {
    for index in indices {
        all.put(index, value(index)).await;
        checkpoint().await;
    }
}

#[task]
async fn gets((all, indices): (Values, Vec<usize>)) -> bool {
    let mut right = true;
    for index in indices {
        right &= all.get(index).await == value(index);
    }
    right
}

#[task]
async fn get_at(all: Values, node: usize, indices: Vec<usize>) -> bool {
    on(node).call(gets, (all, indices)).await
}

#[task]
async fn put_at(all: Values, node: usize, indices: Vec<usize>) {
    on(node).call(puts, (all, indices)).await
}

#[task]
async fn carry_out(plan: &Plan) -> bool {
    let all = IArray::create(plan.len, place(plan.how, plan.len, plan.nodes)).cached(plan.cache).await;
    let putting = |node: usize| -> Vec<usize> {
        plan.puts.iter().filter(|(_, at)| *at == node).map(|(index, _)| *index).collect()
    };
    let (right, _) = join!(
        join_all((0..plan.gets.len()).map(|at| get_at(all, plan.gets[at].0, plan.gets[at].1.clone()))),
        join_all((0..plan.nodes).map(|node| put_at(all, node, putting(node)))),
    );
    all.free().await;
    right.iter().all(|right| *right)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_get_returns_the_value_that_was_put(plan in plans()) {
        let runtime = Runtime::builder().workers(plan.workers).nodes(plan.nodes).block_every(plan.block_every);
        let runtime = runtime.transport(plan.transport).encoded(plan.encode).build().unwrap();
        prop_assert!(runtime.run(carry_out(&plan)));
        prop_assert_eq!(runtime.close(), 0);
    }
}
