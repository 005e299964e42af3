//! Implicit locks, and the order in which callers get them.

use finespun::prelude::*;
use serde::{Deserialize, Serialize};

use crate::common::on_any_nodes;

/// Many at once, from everywhere, at objects everywhere.
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

/// Readers that wait for each other, and a writer behind them.
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
async fn readers_and_a_writer(node: usize) -> (u64, u64, (), u64) {
    let board = on(node % nodes()).create(Board { value: 1 }).await;
    let result = join!(board.read(5), board.read(0), board.write(2), board.read(0));
    Ref::free(board).await;
    result
}

#[test]
fn who_arrives_behind_a_writer_reads_what_it_wrote() {
    // Branches begin in order if nothing makes frames of them.
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
