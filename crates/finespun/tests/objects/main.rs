//! Objects and calls through references, on any number of nodes.

mod arrays;
#[path = "../common/mod.rs"]
mod common;
mod continuations;
mod foreign;
mod hostile;
mod locks;
mod order;
mod places;
mod rest;

use std::cell::Cell;
use std::rc::Rc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

use common::on_any_nodes;
use continuations::{Barrier, arrive};
use finespun::prelude::*;
use finespun::{CallError, Error, RunError};
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

    /// As nobody should write it: with the own lock held.
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
fn two_that_hold_themselves_end_in_the_deadlock_report() {
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

/// Not `Send`, and counts the drops.
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

    /// What has been dropped at this home's worker.
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

#[derive(Serialize, Deserialize)]
struct Cell2 {
    value: i64,
}

#[object]
impl Cell2 {
    fn get(&self) -> i64 {
        self.value
    }

    fn set(&mut self, value: i64) {
        assert!(value >= 0, "{value} is negative");
        self.value = value;
    }

    async fn set_slowly(&mut self, value: i64) {
        self.value = -1;
        yield_now().await;
        assert!(value >= 0, "{value} is negative");
        self.value = value;
    }

    async fn set_via(this: Ref<Self>, value: i64) {
        this.set(value).await
    }
}

#[task]
async fn errors(node: usize) {
    let node = node % nodes();
    let cell = on(node).create(Cell2 { value: 1 }).await;
    // A method's panic, wherever it was.
    let error = cell.set(-5).checked().await.unwrap_err();
    assert_eq!(error.to_string(), format!("`set` of a Cell2 at node {node} panicked: -5 is negative"));
    let error = cell.get().checked().await.unwrap_err();
    assert!(matches!(error, CallError::Poisoned { object: "Cell2", method: "get", .. }), "{error}");
    Ref::free(cell).await;
    let error = cell.get().checked().await.unwrap_err();
    let stale = format!("`get` was called of a Cell2 at node {node} that has been dropped: its reference is stale");
    assert_eq!(error.to_string(), stale);
    // The place is used again, the name is not.
    let other = on(node).create(Cell2 { value: 2 }).await;
    assert_ne!(cell, other);
    let stale = cell.get().checked().await;
    assert!(matches!(stale, Err(CallError::Stale { .. })));
    let value = other.get().checked().await;
    assert_eq!(value.unwrap(), 2);
    let error = other.set_slowly(-6).checked().await.unwrap_err();
    assert_eq!(error.to_string(), format!("`set_slowly` of a Cell2 at node {node} panicked: -6 is negative"));
    let poisoned = other.set(1).checked().await;
    assert!(matches!(poisoned, Err(CallError::Poisoned { .. })));
    // Not the method that was called is refused, but one that it calls.
    let error = other.set_via(3).checked().await.unwrap_err();
    assert!(matches!(&error, CallError::Panicked { method: "set_via", message, .. } if message.contains("poisoned")));
    Ref::free(other).await;
}

#[test]
fn what_goes_wrong_names_the_object_and_the_node() {
    on_any_nodes(|runtime| {
        runtime.run(errors(0));
        runtime.run(errors(1));
    });
}

#[task]
async fn rethrown(node: usize, how: u32) -> i64 {
    let cell = on(node % nodes()).create(Cell2 { value: 1 }).await;
    match how {
        0 => cell.set(-1).await,
        1 => cell.set_slowly(-2).await,
        2 => cell.set_via(-3).await,
        _ => {
            Ref::free(cell).await;
            cell.set(1).await;
        }
    }
    cell.get().await
}

#[test]
fn an_await_rethrows() {
    on_any_nodes(|runtime| {
        for node in [0, 1] {
            for (how, message) in [(0, "-1 is negative"), (1, "-2 is negative"), (2, "-3 is negative"), (3, "stale")] {
                let Err(RunError::Panicked(panic)) = runtime.try_run(rethrown(node, how)) else { panic!("a panic") };
                assert!(panic.message().contains(message), "{}", panic.message());
                if how == 0 {
                    assert_eq!(panic.task(), Some("Cell2::set"));
                }
            }
        }
    });
}

#[task]
async fn to_nowhere() {
    let _ = on(99).create(Cell2 { value: 0 }).await;
}

#[test]
fn a_node_that_does_not_exist_is_named() {
    let runtime = Runtime::builder().workers(2).nodes(3).build().unwrap();
    let Err(RunError::Panicked(panic)) = runtime.try_run(to_nowhere()) else { panic!("a panic") };
    assert!(panic.message().starts_with("there is no node 99: this runtime has 3 nodes"), "{}", panic.message());
    assert!(matches!(Runtime::builder().nodes(0).build(), Err(Error::Nodes(0))));
}

/// Tells when it is dropped.
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
fn objects_that_are_left_are_dropped_with_their_runtime() {
    let alive = std::sync::Arc::new(());
    *TOLD.lock().unwrap() = Some(alive.clone());
    let runtime = Runtime::builder().workers(2).build().unwrap();
    assert_eq!(runtime.run(leave(0)), 3);
    assert_eq!(runtime.run(leave(1)), 4, "objects outlive their run");
    assert_eq!(runtime.close(), 0);
    *TOLD.lock().unwrap() = None;
    assert_eq!(std::sync::Arc::strong_count(&alive), 1);
}

#[test]
fn a_forged_reference_is_refused() {
    let runtime = Runtime::builder().workers(2).build().unwrap();
    let board = runtime.run(make_board());
    let text = serde_json::to_string(&board).unwrap();
    assert_eq!(serde_json::from_str::<Ref<Board>>(&text).unwrap(), board);
    assert_eq!(format!("{board:?}"), "Board 0 at node 0");
    assert!(serde_json::from_str::<Ref<Cell2>>(&text).is_err(), "of another type");

    let (tag, word): (u32, u64) = serde_json::from_str(&text).unwrap();
    let forged = |tag: u32, word: u64| {
        serde_json::from_str::<Ref<Board>>(&serde_json::to_string(&(tag, word)).unwrap()).map_err(|e| e.to_string())
    };
    // Another class; a mark; a number of a class; nothing.
    for (tag, word) in [(tag + 1, word), (tag, word | 1), (tag, word | 1 << 29), (tag, word | 1 << 37), (0, 0)] {
        let error = forged(tag, word).unwrap_err();
        assert!(error.starts_with("this is no reference to `objects::locks::Board`"), "{error}");
    }
    // Another generation, place or node: no such object. The last node has no objects, and that before it is none.
    for bit in [1, 3, 4, 28, 38, 39, 53, 54, 63] {
        let forged = forged(tag, word ^ 1 << bit).unwrap();
        assert_ne!(forged, board);
        let error = runtime.run(read_checked(forged)).unwrap_err();
        assert!(matches!(error, CallError::Stale { .. }), "{error}");
    }
}

#[task]
async fn read_checked(board: Ref<Board>) -> Result<u64, CallError> {
    board.read(0).checked().await
}

#[task]
pub async fn make_board() -> Ref<Board> {
    on(0).create(Board { value: 1 }).await
}

#[task]
async fn never_ends(nodes: usize) {
    let boards = join_all((0..nodes).map(|node| on(node).create(Board { value: 1 }))).await;
    loop {
        join_all(boards.iter().map(|board| board.read(3))).await;
        join_all(boards.iter().map(|board| board.write(2))).await;
    }
}

/// A run that is dropped while its calls are on their way: at every moment of them, if it is tried often enough.
#[test]
fn a_dropped_run_takes_its_calls_along() {
    for (workers, nodes) in [(1, 2), (2, 2), (3, 5)] {
        let runtime = Runtime::builder().workers(workers).nodes(nodes).build().unwrap();
        for k in 0..100 {
            let run = runtime.spawn(never_ends(nodes));
            std::thread::sleep(std::time::Duration::from_micros(10 * k));
            drop(run);
        }
        // The objects are not held for ever by calls that were cancelled.
        assert_eq!(runtime.run(pair(0, nodes - 1)), ([2.0, 4.0, 6.0], [-2.0, -4.0, -6.0]));
        assert_eq!(runtime.close(), 0);
    }
}

#[task]
pub async fn read_board(board: Ref<Board>) -> u64 {
    board.read(0).await
}

/// A name that another runtime has given, of a node that this one does not have.
#[test]
fn a_name_of_no_node_is_stale() {
    #[task]
    async fn far() -> Ref<Board> {
        on(7).create(Board { value: 1 }).await
    }
    #[task]
    async fn ask(board: Ref<Board>) -> String {
        let (a, b) = join!(board.read(0).checked(), board.write(3).checked());
        assert!(b.is_err());
        a.unwrap_err().to_string()
    }
    let many = Runtime::builder().workers(1).nodes(8).build().unwrap();
    let board = many.run(far());
    for workers in [1, 2, 4] {
        let few = Runtime::builder().workers(workers).nodes(1).build().unwrap();
        let told = "`read` was called of a Board at node 7 that has been dropped: its reference is stale";
        assert_eq!(few.run(ask(board)), told);
        assert!(few.try_run(read_board(board)).is_err());
        assert_eq!(few.close(), 0);
    }
}

/// Counts in a cell, which no two threads may touch at once.
struct Tally {
    count: Cell<u64>,
    home: std::thread::ThreadId,
}

#[object]
impl Tally {
    /// Awaits nothing, so it is straight: if it becomes a frame all the same, that must stay at home.
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

/// Computes for long, without leaving its worker's stack.
struct Busy {
    served: u64,
}

/// Runs of `compute` that have begun, and that have ended.
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

    /// Asks another for so long as that computes.
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

/// Messages are handled at guard checks, on top of the stack, which stays.
#[test]
fn calls_are_served_on_top_of_a_long_computation() {
    let runtime = Runtime::builder().workers(2).nodes(2).build().unwrap();
    let before = runtime.stats().promotions;
    // On a machine that has other things to do, the one may get no core while the other computes: until it has.
    let (mut served, mut turns) = (0, 0..2000);
    while let Some(turn) = turns.next()
        && served < 200
    {
        served += runtime.run(served_meanwhile(turn, 23));
    }
    let promotions = runtime.stats().promotions - before;
    println!("{served} calls served, {promotions} promotions");
    assert!(served >= 200, "only {served} calls were served");
    assert!(promotions < served / 2, "{promotions} stacks were given up for {served} calls");
    assert_eq!(runtime.close(), 0);
}
