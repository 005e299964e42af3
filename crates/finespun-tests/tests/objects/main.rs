//! Objects and calls through references, on any number of nodes.

mod arrays;
#[path = "../common/mod.rs"]
mod common;
mod continuations;
mod errors;
mod flood;
mod foreign;
mod hostile;
mod locks;
mod order;
mod places;
mod rest;
mod slabs;
mod soak;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use common::on_any_nodes;
use continuations::{Barrier, arrive};
use finespun::RunError;
use finespun::prelude::*;
use finespun::testing::*;
use locks::Board;
use serde::{Deserialize, Serialize};

type Vector = [f64; 3];

#[derive(Serialize, Deserialize)]
struct Particle {
    position: Vector,
    force: Vector,
}

impl Particle {
    fn at(position: Vector) -> Particle {
        Particle { position, force: [0.0; 3] }
    }
}

fn pull(p: Vector, q: Vector) -> Vector {
    [q[0] - p[0], q[1] - p[1], q[2] - p[2]]
}

#[object]
impl Particle {
    fn position(&self) -> Vector {
        self.position
    }

    fn force(&self) -> Vector {
        self.force
    }

    fn add(&mut self, force: Vector) {
        for (sum, f) in self.force.iter_mut().zip(force) {
            *sum += f;
        }
    }

    async fn attract(this: Ref<Self>, other: Ref<Particle>) {
        let (p, q) = join!(this.position(), other.position());
        let force = pull(p, q);
        join!(this.add(force), other.add(force.map(|f| -f)));
    }

    /// Holds its own object's lock while it calls another object: a mistake that leads to a deadlock.
    async fn attract_greedily(&mut self, other: Ref<Particle>, meeting: Ref<Barrier>) {
        arrive(meeting).await;
        let force = pull(self.position, other.position().await);
        self.add(force);
        other.add(force.map(|f| -f)).await;
    }
}

#[task]
async fn pair(a: usize, b: usize) -> (Vector, Vector) {
    let p = on(a % nodes()).create(Particle::at([0.0; 3])).await;
    let q = on(b % nodes()).create(Particle::at([1.0, 2.0, 3.0])).await;
    p.attract(q).await;
    q.attract(p).await;
    let forces = join!(p.force(), q.force());
    Ref::free(p).await;
    Ref::free(q).await;
    forces
}

#[test]
fn two_particles_attract_each_other() {
    on_any_nodes(|runtime| {
        for (a, b) in [(0, 0), (0, 1), (1, 0), (2, 1)] {
            assert_eq!(runtime.run(pair(a, b)), ([2.0, 4.0, 6.0], [-2.0, -4.0, -6.0]));
        }
    });
}

#[task]
async fn greedy_pair(a: usize, b: usize) {
    let p = on(a % nodes()).create(Particle::at([0.0; 3])).await;
    let q = on(b % nodes()).create(Particle::at([1.0; 3])).await;
    let meeting = on(0).create_with(Barrier::new, 2).await;
    join!(p.attract_greedily(q, meeting), q.attract_greedily(p, meeting));
}

#[test]
fn two_locked_objects_that_call_each_other_are_reported() {
    for (workers, nodes) in [(1, 1), (1, 2), (2, 2)] {
        let runtime = Runtime::builder().workers(workers).nodes(nodes).build().unwrap();
        let Err(error @ RunError::Deadlock(_)) = runtime.try_run(greedy_pair(0, 1)) else { panic!("a deadlock") };
        let report = error.to_string();
        for node in [0, nodes - 1] {
            let line = format!("at node {node}, held by Particle::attract_greedily");
            assert!(report.contains("waits for the Particle ") && report.contains(&line), "{report}");
        }
        assert_eq!(runtime.close(), 0);
    }
}

/// An object that is not `Send`, and that adds its value to `DROPPED` when it is dropped.
struct Local {
    shared: Rc<Cell<u64>>,
}

thread_local! {
    static DROPPED: Cell<u64> = const { Cell::new(0) };
}

impl Drop for Local {
    fn drop(&mut self) {
        DROPPED.set(DROPPED.get() + self.shared.get());
    }
}

impl Local {
    fn new(start: u64) -> Local {
        Local { shared: Rc::new(Cell::new(start)) }
    }
}

#[object]
impl Local {
    fn home(&self) -> usize {
        here()
    }

    async fn add(&mut self, amount: u64) -> u64 {
        let shared = Rc::clone(&self.shared);
        yield_now().await;
        assert_eq!(Rc::strong_count(&shared), 2);
        shared.set(shared.get() + amount);
        shared.get()
    }

    /// Returns the sum of the values dropped so far on this object's worker.
    fn dropped(this: Ref<Self>) -> u64 {
        let _ = this;
        DROPPED.get()
    }
}

#[task]
async fn locals() {
    for node in 0..nodes() {
        let local = on(node).create_with(Local::new, 10).await;
        let home = local.home().await;
        assert_eq!((home, Ref::node(local)), (node, node));
        let (a, b) = join!(local.add(1), local.add(2));
        assert!((a, b) == (11, 13) || (a, b) == (13, 12), "one after the other: {a}, {b}");
        let other = on(node).create_with(Local::new, 0).await;
        let before = other.dropped().await;
        Ref::free(local).await;
        let after = other.dropped().await;
        assert_eq!(after, before + 13, "dropped, and at home");
        Ref::free(other).await;
    }
}

#[test]
fn objects_need_not_be_send() {
    on_any_nodes(|runtime| runtime.run(locals()));
}

/// An object with an `Arc`, whose count shows when it is dropped.
struct Told(std::sync::Arc<()>);

static TOLD: std::sync::Mutex<Option<std::sync::Arc<()>>> = std::sync::Mutex::new(None);

#[object]
impl Told {
    fn alive(&self) -> usize {
        std::sync::Arc::strong_count(&self.0)
    }
}

#[task]
async fn leave(node: usize) -> usize {
    let make = |_: ()| Told(TOLD.lock().unwrap().clone().expect("set before"));
    let told = on(node).create_with(make, ()).await;
    told.alive().await
}

#[test]
fn remaining_objects_are_dropped_with_their_runtime() {
    let alive = std::sync::Arc::new(());
    *TOLD.lock().unwrap() = Some(alive.clone());
    let runtime = Runtime::builder().workers(2).build().unwrap();
    assert_eq!(runtime.run(leave(0)), 3);
    assert_eq!(runtime.run(leave(1)), 4, "objects outlive their run");
    assert_eq!(runtime.close(), 0);
    *TOLD.lock().unwrap() = None;
    assert_eq!(std::sync::Arc::strong_count(&alive), 1);
}

#[task]
async fn never_ends(nodes: usize) {
    let boards = join_all((0..nodes).map(|node| on(node).create(Board { value: 1 }))).await;
    loop {
        join_all(boards.iter().map(|board| board.read(3))).await;
        join_all(boards.iter().map(|board| board.write(2))).await;
    }
}

/// Drops a run while its calls are in flight. Many tries with growing delays reach many moments of the calls.
#[test]
fn a_dropped_run_cancels_its_calls() {
    for (workers, nodes) in [(1, 2), (2, 2), (3, 5)] {
        let runtime = Runtime::builder().workers(workers).nodes(nodes).build().unwrap();
        for k in 0..100 {
            let run = runtime.spawn(never_ends(nodes));
            std::thread::sleep(std::time::Duration::from_micros(10 * k));
            drop(run);
        }
        // The runtime still serves calls after the cancelled ones.
        assert_eq!(runtime.run(pair(0, nodes - 1)), ([2.0, 4.0, 6.0], [-2.0, -4.0, -6.0]));
        assert_eq!(runtime.close(), 0);
    }
}

/// A counter in a `Cell`, which no two threads may access at once.
struct Tally {
    count: Cell<u64>,
    home: std::thread::ThreadId,
}

#[object]
impl Tally {
    /// Awaits nothing, so it is straight. If it becomes a frame nevertheless, the frame must stay at home.
    async fn one(&self) {
        assert_eq!(std::thread::current().id(), self.home, "at home");
        self.count.set(self.count.get() + 1);
    }

    async fn many(&self, times: u64) -> u64 {
        for _ in 0..times {
            join!(self.one(), self.one());
        }
        self.count.get()
    }
}

#[task]
async fn tallies() -> u64 {
    let make = |_: ()| Tally { count: Cell::new(0), home: std::thread::current().id() };
    let tally = on(nodes() - 1).create_with(make, ()).await;
    let (a, b) = join!(tally.many(50), tally.many(50));
    Ref::free(tally).await;
    a.max(b)
}

#[test]
fn straight_methods_stay_at_home() {
    on_any_nodes(|runtime| assert_eq!(runtime.run(tallies()), 200));
}

/// Computes for long without leaving its worker's stack.
struct Busy {
    served: u64,
}

/// Calls of `compute` that have begun, and that have ended.
static BEGUN: AtomicU64 = AtomicU64::new(0);
static ENDED: AtomicU64 = AtomicU64::new(0);

#[object]
impl Busy {
    async fn compute(_this: Ref<Self>, n: u64) -> u64 {
        BEGUN.fetch_add(1, Relaxed);
        let result = common::fib(n).await;
        ENDED.fetch_add(1, Relaxed);
        result
    }

    fn serve(&mut self) -> u64 {
        self.served += BEGUN.load(Relaxed) - ENDED.load(Relaxed);
        self.served
    }

    /// Calls `other` repeatedly for as long as `other` computes.
    async fn ask(_this: Ref<Self>, other: Ref<Busy>, turn: u64) -> u64 {
        loop {
            let served: u64 = other.serve().await;
            if ENDED.load(Relaxed) > turn {
                return served;
            }
        }
    }
}

#[task]
async fn served_meanwhile(turn: u64, n: u64) -> u64 {
    let make = |_: ()| Busy { served: 0 };
    let (busy, asks): (Ref<Busy>, Ref<Busy>) = join!(on(0).create_with(make, ()), on(1).create_with(make, ()));
    let (served, _) = join!(asks.ask(busy, turn), busy.compute(n));
    join!(Ref::free(busy), Ref::free(asks));
    served
}

/// Messages are handled at guard checks, on top of the computation's stack, which stays in place.
#[test]
fn calls_are_served_on_top_of_a_long_computation() {
    let runtime = Runtime::builder().workers(2).nodes(2).build().unwrap();
    let before = runtime.stats().promotions;
    // On a busy machine the asking worker may get no core while the other one computes, so this is repeated until it
    // does, and the computations become longer.
    let (mut served, mut turns) = (0, 0..2000);
    while let Some(turn) = turns.next()
        && served < 200
    {
        served += runtime.run(served_meanwhile(turn, 23 + turn.min(1400) / 200));
    }
    let (turns, promotions) = (turns.start, runtime.stats().promotions - before);
    println!("{served} calls served in {turns} turns, {promotions} promotions");
    assert!(served >= 200, "only {served} calls were served");
    // A turn's own waits leave the stack at some levels; the computation's stack has up to 30 levels.
    assert!(promotions < 2 * (served + turns), "{promotions} levels were given up for {served} calls in {turns} turns");
    assert_eq!(runtime.close(), 0);
}
