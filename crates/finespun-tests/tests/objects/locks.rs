//! Implicit locks, and the order in which callers get them.

use finespun::prelude::*;
use finespun::testing::*;
use finespun::{RunError, objects::suspend_with};
use serde::{Deserialize, Serialize};

use crate::common::on_any_nodes;

/// Makes many concurrent calls, from all workers, to objects on all nodes. Returns the sum of the objects' values.
#[task]
async fn storm(objects: usize, calls: i64) -> i64 {
    let mut cells = Vec::new();
    for k in 0..objects {
        cells.push(on(k % nodes()).create(Counter { sum: 0 }).await);
    }
    let all = cells.clone();
    join_all((0..calls).map(|k| all[k as usize % objects].add(k, k % 3 == 0))).await;
    let mut sum = 0;
    for cell in cells {
        sum += cell.sum().await;
        Ref::free(cell).await;
    }
    sum
}

#[derive(Serialize, Deserialize)]
struct Counter {
    sum: i64,
}

#[object]
impl Counter {
    async fn add(&mut self, k: i64, slowly: bool) {
        let before = self.sum;
        if slowly {
            yield_now().await;
        }
        self.sum = before + k;
    }

    async fn sum(&self) -> i64 {
        self.sum
    }
}

#[test]
fn exclusive_methods_exclude_each_other() {
    on_any_nodes(|runtime| assert_eq!(runtime.run(storm(3, 200)), 199 * 200 / 2));
}

/// A value whose methods suspend while they hold its lock.
#[derive(Serialize, Deserialize)]
pub struct Board {
    pub value: u64,
}

#[object]
impl Board {
    pub async fn read(&self, calls: u32) -> u64 {
        for _ in 0..calls {
            yield_now().await;
        }
        self.value
    }

    pub async fn write(&mut self, value: u64) {
        yield_now().await;
        self.value = value;
    }
}

#[task]
pub async fn make_board() -> Ref<Board> {
    on(0).create(Board { value: 1 }).await
}

#[task]
pub async fn read_board(board: Ref<Board>) -> u64 {
    board.read(0).await
}

#[task]
async fn readers_and_a_writer(node: usize) -> (u64, u64, (), u64) {
    let board = on(node % nodes()).create(Board { value: 1 }).await;
    let result = join!(board.read(5), board.read(0), board.write(2), board.read(0));
    Ref::free(board).await;
    result
}

#[test]
fn a_reader_queued_behind_a_writer_reads_its_value() {
    // Branches begin in order as long as nothing turns them into frames first.
    for nodes in [1, 2] {
        let runtime = Runtime::builder().workers(1).nodes(nodes).build().unwrap();
        assert_eq!(runtime.run(readers_and_a_writer(0)), (1, 1, (), 2));
        assert_eq!(runtime.run(readers_and_a_writer(1)), (1, 1, (), 2), "messages of a pair arrive in order");
    }
    on_any_nodes(|runtime| {
        let (a, b, (), c) = runtime.run(readers_and_a_writer(1));
        assert!([a, b, c].iter().all(|value| [1, 2].contains(value)));
    });
}

/// An object with constants, which are read without its lock.
#[derive(Serialize, Deserialize)]
struct Body {
    mass: f64,
    name: String,
    speed: f64,
}

#[object]
impl Body {
    #[constant]
    fn mass(&self) -> f64 {
        self.mass
    }

    #[constant]
    fn name(&self) -> String {
        self.name.clone()
    }

    fn speed(&self) -> f64 {
        self.speed
    }

    async fn push(&mut self, this: Ref<Body>, impulse: f64) -> String {
        // This method holds the object's lock, so a call that needs the lock would wait for ever.
        let mass = this.mass().await;
        self.speed += impulse / mass;
        this.name().await
    }
}

#[task]
async fn pushed(node: usize) -> (String, f64) {
    let body: Ref<Body> = on(node % nodes()).create(Body { mass: 4.0, name: "moon".to_owned(), speed: 1.0 }).await;
    let name = body.push(body, 2.0).await;
    let speed = body.speed().await;
    Ref::free(body).await;
    let gone = body.mass().checked().await;
    assert!(gone.is_err());
    (name, speed)
}

#[test]
fn constants_are_read_without_a_lock() {
    on_any_nodes(|runtime| {
        assert_eq!(runtime.run(pushed(0)), ("moon".to_owned(), 1.5));
        assert_eq!(runtime.run(pushed(1)), ("moon".to_owned(), 1.5));
    });
}

/// Like [`Board`], but a reader does not wait behind queued writers.
#[derive(Serialize, Deserialize)]
struct Popular {
    value: u64,
}

#[object(readers_first)]
impl Popular {
    async fn read(&self, calls: u32) -> u64 {
        for _ in 0..calls {
            yield_now().await;
        }
        self.value
    }

    async fn write(&mut self, value: u64) {
        yield_now().await;
        self.value = value;
    }
}

#[task]
async fn many_readers_and_a_writer(node: usize) -> (u64, u64, (), u64) {
    let popular: Ref<Popular> = on(node % nodes()).create(Popular { value: 1 }).await;
    let result = join!(popular.read(5), popular.read(0), popular.write(2), popular.read(0));
    let after = popular.read(0).await;
    assert_eq!(after, 2);
    Ref::free(popular).await;
    result
}

#[test]
fn readers_first_overtake_a_queued_writer() {
    for nodes in [1, 2] {
        let runtime = Runtime::builder().workers(1).nodes(nodes).build().unwrap();
        assert_eq!(runtime.run(many_readers_and_a_writer(0)), (1, 1, (), 1));
        assert_eq!(runtime.run(many_readers_and_a_writer(1)), (1, 1, (), 1));
    }
    on_any_nodes(|runtime| {
        let (a, b, (), c) = runtime.run(many_readers_and_a_writer(1));
        assert!([a, b, c].iter().all(|value| [1, 2].contains(value)));
    });
}

#[derive(Serialize, Deserialize)]
struct Shelf;

#[object]
impl Shelf {
    /// Waits for a continuation that `kept` stores and never resolves.
    async fn stay(&self, kept: Ref<Kept>) {
        suspend_with(move |k| kept.keep(k)).await;
    }

    async fn pass(&self) {
        yield_now().await;
    }

    fn change(&mut self) {}
}

struct Kept(Option<Continuation<()>>);

#[object]
impl Kept {
    fn keep(&mut self, k: Continuation<()>) {
        self.0 = Some(k);
    }
}

#[task]
async fn one_stays_and_one_passes() {
    let kept: Ref<Kept> = on(0).create_with(|()| Kept(None), ()).await;
    let shelf: Ref<Shelf> = on(0).create(Shelf).await;
    join!(shelf.stay(kept), shelf.pass(), shelf.change());
}

/// Two calls hold the lock, and the one that suspended last has ended.
#[test]
fn a_report_names_no_ended_lock_holder() {
    let runtime = Runtime::builder().workers(1).build().unwrap();
    let Err(error @ RunError::Deadlock(_)) = runtime.try_run(one_stays_and_one_passes()) else { panic!("a deadlock") };
    let report = error.to_string();
    assert!(report.contains("waits for the Shelf ") && report.contains("held by others"), "{report}");
    assert_eq!(runtime.close(), 0);
}
