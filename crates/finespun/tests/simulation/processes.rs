//! Several processes on one simulated machine: their messages take virtual time, and adversaries delay them.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use finespun::objects::suspend_with;
use finespun::prelude::*;
use finespun::runtime::Fabric;
use finespun::simulation::{Machine, compute, now, work};
use finespun::tasks::quiesce;
use finespun::testing::*;
use finespun::{RunError, everywhere};

use super::named;
use crate::common::within_a_minute;

fn processes(machine: Machine, processes: usize) -> Runtime {
    let builder = Runtime::builder().processes(processes).nodes(processes).fabric(Fabric::Simulated(machine));
    builder.build().unwrap()
}

/// Machines: as described, and with adversaries.
fn machines() -> Vec<Machine> {
    let adversary = |seed| {
        let machine = named("cluster").seed(seed).delays(Duration::from_micros(30 * (seed % 3)));
        machine.pauses(Duration::from_micros(20 * (seed % 2))).slow(1 + seed as u32 % 4)
    };
    std::iter::once(named("cluster")).chain((1..8).map(adversary)).collect()
}

#[task(portable)]
async fn fib(n: u64) -> u64 {
    if n < 2 {
        work(Duration::from_micros(3));
        return n;
    }
    let (a, b) = join!(fib(n - 1), fib(n - 2));
    a + b
}

#[test]
fn tasks_migrate_between_simulated_processes() {
    within_a_minute(|| {
        let mut migrated = 0;
        for machine in machines() {
            for size in [2, 3, 8] {
                let runtime = processes(machine.clone(), size);
                assert_eq!(runtime.run(fib(14)), 377);
                migrated += runtime.stats().tasks_migrated;
                assert_eq!(runtime.close(), 0);
            }
        }
        assert!(migrated > 100, "{migrated} tasks have migrated");
    });
}
