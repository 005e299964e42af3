//! Continuations as values: forwarded, sent in messages, stored in objects, and resolved by other tasks.

use std::time::{Duration, Instant};

use finespun::prelude::*;
use finespun::testing::*;
use finespun::{RunError, objects::suspend_with};
use serde::{Deserialize, Serialize};

use crate::common::{Launch, on_any_nodes};

/// A link of a chain of objects across nodes.
#[derive(Serialize, Deserialize)]
struct Link {
    next: Option<Ref<Link>>,
}

#[object]
impl Link {
    fn next(&self) -> Option<Ref<Link>> {
        self.next
    }

    /// Returns the node of the chain's last link. Each link calls the next one in tail position.
    #[task(stack)]
    async fn last(this: Ref<Self>) -> usize {
        let next: Option<Ref<Link>> = this.next().await;
        match next {
            Some(next) => next.last().await,
            None => here(),
        }
    }

    /// Returns the same node, but each link waits for the next link's result.
    async fn last_in_steps(this: Ref<Self>) -> usize {
        let next: Option<Ref<Link>> = this.next().await;
        let Some(next) = next else { return here() };
        let last = next.last_in_steps().await;
        last
    }

    /// Returns the same node: this link waits for the next one, which calls the others in tail position.
    async fn last_after_the_next(this: Ref<Self>) -> usize {
        let next: Option<Ref<Link>> = this.next().await;
        let Some(next) = next else { return here() };
        let last = next.last().await;
        last
    }

    /// Follows the chain like `last`; the last link panics.
    #[task(stack)]
    async fn fail(this: Ref<Self>) -> usize {
        let next: Option<Ref<Link>> = this.next().await;
        match next {
            Some(next) => next.fail().await,
            None => panic!("the end at node {}", here()),
        }
    }
}

/// Creates a chain of links on nodes 1, 2, 3, .. (modulo the number of nodes) and returns the first link.
#[task]
async fn chain(length: usize) -> Ref<Link> {
    let mut next = None;
    for k in (1..=length).rev() {
        let link: Ref<Link> = on(k % nodes()).create(Link { next }).await;
        next = Some(link);
    }
    next.expect("a chain is not empty")
}

#[task]
async fn last(first: Ref<Link>) -> usize {
    first.last().await
}

#[task]
async fn last_in_steps(first: Ref<Link>) -> usize {
    first.last_in_steps().await
}

#[test]
fn the_last_link_of_a_chain_answers_the_caller() {
    on_any_nodes(|runtime| {
        for length in [1, 2, 5] {
            let first = runtime.run(chain(length));
            assert_eq!(runtime.run(last(first)), length % runtime.nodes());
            assert_eq!(runtime.run(last_in_steps(first)), length % runtime.nodes());
            #[task]
            async fn checked(first: Ref<Link>) -> String {
                first.fail().checked().await.unwrap_err().to_string()
            }
            let (first_node, end) = (1 % runtime.nodes(), length % runtime.nodes());
            let told = format!("`fail` of a Link at node {first_node} panicked: the end at node {end}");
            assert_eq!(runtime.run(checked(first)), told);
        }
    });
}

/// A message between two nodes of one worker is bytes, too, and carries a continuation of another process.
#[test]
fn a_call_of_another_process_is_forwarded_between_the_nodes_of_a_worker() {
    for per_host in [2, 1] {
        let runtime = Runtime::builder().workers(1).nodes(4).encode(true).over(2, per_host).build().unwrap();
        let workers = runtime.workers();
        // The first link waits in the second process. The next two are at nodes of the first worker, if there are so many.
        #[task]
        async fn links(workers: usize) -> Ref<Link> {
            let last: Ref<Link> = on(workers % nodes()).create(Link { next: None }).await;
            let second: Ref<Link> = on(0).create(Link { next: Some(last) }).await;
            on(1).create(Link { next: Some(second) }).await
        }
        #[task]
        async fn waits_there(first: Ref<Link>) -> usize {
            first.last_after_the_next().await
        }
        let first = runtime.run(links(workers));
        assert_eq!(runtime.run(waits_there(first)), workers % runtime.nodes());
        assert_eq!(runtime.close(), 0);
    }
}

/// Returns the cost of `run`: messages of all kinds, fallbacks, and frames created.
fn cost(runtime: &Runtime, run: impl FnOnce()) -> (u64, u64, u64) {
    let before = runtime.stats();
    run();
    let after = runtime.stats();
    let sent = |stats: &finespun::Stats| stats.messages_own + stats.messages_pushed + stats.messages_pulled;
    (sent(&after) - sent(&before), after.fallbacks - before.fallbacks, after.frames - before.frames)
}

#[test]
fn a_forwarded_chain_replies_with_one_message() {
    for encode in [false, true] {
        // One worker, which launched processes do not have.
        let runtime = Runtime::builder().workers(1).nodes(16).encode(encode).build().unwrap();
        for length in [1, 2, 8, 15] {
            let first = runtime.run(chain(length));
            let (k, handed_on) = (length as u64, runtime.stats().messages_forwarded);
            // A reply within one worker sends no message.
            let (messages, fallbacks, _) = cost(&runtime, || assert_eq!(runtime.run(last(first)), length));
            assert_eq!((messages, fallbacks), (k, 0), "no link has left a frame");
            assert_eq!(runtime.stats().messages_forwarded - handed_on, k - 1);
            let (messages, fallbacks, _) = cost(&runtime, || assert_eq!(runtime.run(last_in_steps(first)), length));
            assert_eq!((messages, fallbacks), (k, k - 1), "each link but the last waits for the next");
        }
        assert_eq!(runtime.close(), 0);
        // A reply to another worker does.
        let runtime = Runtime::builder().workers(2).nodes(16).encoded(encode).build().unwrap();
        let first = runtime.run(chain(15));
        // A link that is promoted for a thief becomes a frame and replies itself, so only the least of many runs is exact:
        // one of the first few, where each worker has a core of its own.
        let messages = || cost(&runtime, || assert_eq!(runtime.run(last(first)), 15)).0;
        let begun = Instant::now();
        while messages() > 15 + 1 {
            assert!(begun.elapsed() < Duration::from_secs(60), "one answer");
        }
        let in_steps = || cost(&runtime, || assert_eq!(runtime.run(last_in_steps(first)), 15)).0;
        assert!((0..100).all(|_| in_steps() >= 2 * 14), "one of each link");
        assert_eq!(runtime.close(), 0);
    }
}

/// The three cases of the papers' caller_info: the continuation is forwarded, the caller's frame exists, or neither.
#[test]
fn frames_are_made_when_a_continuation_is_needed_and_there_is_none() {
    #[task(stack)]
    async fn one_then_one(first: Ref<Link>) -> usize {
        let a: usize = first.last().await;
        // The first call has made this task a frame.
        let b: usize = first.last().await;
        a + b
    }
    let runtime = Runtime::builder().workers(1).nodes(3).build().unwrap();
    let (one, two) = (runtime.run(chain(1)), runtime.run(chain(2)));
    // The one frame is the leaf that receives the value. The root waits for it, and the root's frame belongs to no
    // worker.
    let (_, fallbacks, frames) = cost(&runtime, || assert!(runtime.run(last(one)) > 0));
    assert_eq!((fallbacks, frames), (0, 1), "handed on: the caller's caller waits");
    let (_, fallbacks, frames) = cost(&runtime, || assert!(runtime.run(one_then_one(one)) > 0));
    assert_eq!((fallbacks, frames), (1, 3), "the first call makes a frame, the second finds it");
    // A link that forwards its call briefly has a leaf, and no frame.
    let (_, fallbacks, frames) = cost(&runtime, || assert!(runtime.run(last(two)) > 0));
    assert_eq!((fallbacks, frames), (0, 2));
}

/// A member of a ring: references may form cycles.
#[derive(Serialize, Deserialize)]
struct Ring {
    next: Option<Ref<Ring>>,
    count: u64,
}

#[object]
impl Ring {
    fn close(&mut self, next: Ref<Ring>) {
        self.next = Some(next);
    }

    fn next(&self) -> Option<Ref<Ring>> {
        self.next
    }

    fn count(&mut self) -> u64 {
        self.count += 1;
        self.count
    }

    /// Walks around the ring; each hop forwards the caller's continuation.
    async fn walk(this: Ref<Self>, hops: u64) -> u64 {
        if hops == 0 {
            return this.count().await;
        }
        this.count().await;
        let Some(next) = this.next().await else { return 0 };
        next.walk(hops - 1).await
    }
}

#[task]
async fn ring(length: usize, hops: u64) -> u64 {
    let mut members = Vec::new();
    for k in 0..length {
        members.push(on(k % nodes()).create(Ring { next: None, count: 0 }).await);
    }
    for k in 0..length {
        members[k].close(members[(k + 1) % length]).await;
    }
    let last = members[0].walk(hops).await;
    for member in members {
        Ref::free(member).await;
    }
    last
}

#[test]
fn a_ring_of_objects_over_all_nodes() {
    on_any_nodes(|runtime| assert_eq!(runtime.run(ring(5, 17)), 4));
}

/// A barrier as a user would write it: an object that stores the continuations of the parties that have arrived.
pub struct Barrier {
    parties: usize,
    arrived: Vec<Continuation<usize>>,
}

#[object]
impl Barrier {
    pub fn arrive(&mut self, k: Continuation<usize>) {
        self.arrived.push(k);
        if self.arrived.len() == self.parties {
            for (place, k) in self.arrived.drain(..).enumerate() {
                k.resolve(place);
            }
        }
    }
}

impl Barrier {
    pub fn new(parties: usize) -> Barrier {
        Barrier { parties, arrived: Vec::new() }
    }
}

/// Arrives at the barrier. Returns the caller's position in the order of arrival.
#[task]
pub async fn arrive(barrier: Ref<Barrier>) -> usize {
    suspend_with(move |k| barrier.arrive(k).oneway()).await
}

#[task]
async fn all_at_a_barrier(parties: usize, turns: usize) {
    let barrier: Ref<Barrier> = on(nodes() - 1).create_with(Barrier::new, parties).await;
    for _ in 0..turns {
        let mut places = join_all((0..parties).map(move |_| arrive(barrier))).await;
        places.sort_unstable();
        assert!(places.into_iter().eq(0..parties));
    }
    Ref::free(barrier).await;
}

#[test]
fn a_barrier_of_stored_continuations() {
    on_any_nodes(|runtime| runtime.run(all_at_a_barrier(5, 3)));
}

/// A node of a combining tree: waits for two values and sends their sum to its parent.
struct Combiner {
    first: Option<(u64, Continuation<u64>)>,
    parent: Option<Ref<Combiner>>,
}

#[object]
impl Combiner {
    /// Pairs two callers: the first leaves its value and continuation; the second gets the sum and both continuations,
    /// and continues towards the root. Only the root knows the total, which then travels back down.
    fn meet(&mut self, value: u64, k: Continuation<u64>) -> Option<(u64, Continuation<u64>, Continuation<u64>)> {
        match self.first.take() {
            None => {
                self.first = Some((value, k));
                None
            }
            Some((other, first)) => Some((value + other, first, k)),
        }
    }

    fn parent(&self) -> Option<Ref<Combiner>> {
        self.parent
    }

    async fn combine(this: Ref<Self>, value: u64, k: Continuation<u64>) {
        let Some((sum, a, b)) = this.meet(value, k).await else { return };
        let parent: Option<Ref<Combiner>> = this.parent().await;
        let total: u64 = match parent {
            Some(parent) => suspend_with(move |up| parent.combine(sum, up).oneway()).await,
            None => sum,
        };
        a.resolve(total);
        b.resolve(total);
    }
}

#[task]
async fn contribute(leaf: Ref<Combiner>, value: u64) -> u64 {
    suspend_with(move |k| leaf.combine(value, k).oneway()).await
}

#[task]
async fn combining_tree(height: u32) -> Vec<u64> {
    // Numbered like a binary heap: the parent of k is (k - 1) / 2.
    let inner = (1_usize << height) - 1;
    let mut all: Vec<Ref<Combiner>> = Vec::new();
    for k in 0..inner {
        let parent = if k == 0 { None } else { Some(all[(k - 1) / 2]) };
        let make = |parent: Option<Ref<Combiner>>| Combiner { first: None, parent };
        let combiner = on(k % nodes()).create_with(make, parent).await;
        all.push(combiner);
    }
    let leaves = &all[inner / 2..];
    let sums = join_all((0..2 * leaves.len()).map(|k| contribute(leaves[k / 2], k as u64))).await;
    join_all(all.iter().map(|combiner| Ref::free(*combiner))).await;
    sums
}

#[test]
fn a_combining_tree() {
    on_any_nodes(|runtime| {
        assert_eq!(runtime.run(combining_tree(3)), [28; 8]);
    });
}

/// Passes its continuation to other tasks, which answer in its place.
#[task]
async fn delegated(first: Ref<Link>) -> (usize, u64) {
    let far = suspend_with(move |k: Continuation<usize>| k.resolve_with(first.last())).await;
    let near = suspend_with(|k: Continuation<u64>| k.resolve_with(slow_sum(10))).await;
    (far, near)
}

#[task]
async fn slow_sum(n: u64) -> u64 {
    yield_now().await;
    if n == 0 { 0 } else { n + slow_sum(n - 1).await }
}

#[test]
fn any_task_can_answer_for_another() {
    on_any_nodes(|runtime| {
        let first = runtime.run(chain(3));
        assert_eq!(runtime.run(delegated(first)), (3 % runtime.nodes(), 55));
    });
}

#[task]
async fn delegated_panic(first: Ref<Link>) -> usize {
    suspend_with(move |k: Continuation<usize>| k.resolve_with(first.fail())).await
}

#[test]
fn a_panic_of_the_answering_task_reaches_the_caller() {
    on_any_nodes(|runtime| {
        let first = runtime.run(chain(2));
        let Err(RunError::Panicked(panic)) = runtime.try_run(delegated_panic(first)) else { panic!("a panic") };
        assert!(panic.message().starts_with("the end at node"), "{}", panic.message());
    });
}

#[test]
fn a_continuation_is_serialized_in_messages_only() {
    #[task]
    async fn written() -> String {
        let mut text = String::new();
        suspend(|k: Continuation<u64>| {
            text = serde_json::to_string(&k).unwrap_err().to_string();
            k.resolve(1);
        })
        .await;
        text
    }
    let runtime = Runtime::builder().workers(1).build().unwrap();
    assert_eq!(
        runtime.run(written()),
        "a continuation can be serialized only as an argument of an object's method, and only once"
    );
    let read: Result<Continuation<u64>, _> = serde_json::from_str("0");
    assert!(read.unwrap_err().to_string().starts_with("a continuation can be deserialized only as an argument"));
}
