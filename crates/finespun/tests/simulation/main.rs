//! Simulated machines: the same answers as on threads, in repeatable virtual time.

#[path = "../common/mod.rs"]
mod common;

use std::time::Duration;

use finespun::prelude::*;
use finespun::runtime::Fabric;
use finespun::simulation::{Machine, work};
use finespun::testing::*;
use serde::{Deserialize, Serialize};

use crate::common::fib;

fn simulated(name: &str, nodes: usize) -> Runtime {
    let machine = Machine::named(name).unwrap();
    Runtime::builder().nodes(nodes).fabric(Fabric::Simulated(machine)).build().unwrap()
}

#[test]
fn one_processor_computes() {
    let runtime = simulated("t3d", 1);
    assert_eq!(runtime.run(fib(15)), 610);
    println!("{:?} {}", runtime.simulated(), runtime.stats());
    assert_eq!(runtime.close(), 0);
}

#[task]
async fn costly(n: u64) -> u64 {
    if n < 2 {
        work(Duration::from_micros(10));
        return n;
    }
    let (a, b) = join!(costly(n - 1), costly(n - 2));
    a + b
}

#[test]
fn processors_steal() {
    for nodes in [1, 2, 4, 16, 64] {
        let runtime = simulated("cluster", nodes);
        assert_eq!(runtime.run(costly(20)), 6765);
        let stats = runtime.stats();
        println!("{nodes} {:?} steals {} promotions {}", runtime.simulated(), stats.steals, stats.promotions);
        assert_eq!(runtime.close(), 0);
    }
}

#[derive(Serialize, Deserialize)]
struct Counter(u64);

#[object]
impl Counter {
    fn add(&mut self, n: u64) -> u64 {
        self.0 += n;
        self.0
    }
}

#[task]
async fn round_trips(node: usize, n: u64) -> u64 {
    let counter = on(node).create(Counter(0)).await;
    let mut last = 0;
    for k in 0..n {
        last = counter.add(k).await;
    }
    last
}

#[test]
fn messages_take_the_machines_time() {
    let runtime = simulated("t3d", 2);
    for n in [1, 100] {
        assert_eq!(runtime.run(round_trips(1, n)), n * (n - 1) / 2);
        println!("{:?}", runtime.simulated());
    }
    println!("{}", runtime.stats());
    assert_eq!(runtime.close(), 0);
}
