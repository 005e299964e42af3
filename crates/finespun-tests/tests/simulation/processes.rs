//! Several processes on one simulated machine: their messages take virtual time, and adversaries delay them.

use std::time::Duration;

use finespun::RunError;
use finespun::closure::{Cont, make_closure, post, send_argument, thread, top};
use finespun::prelude::*;
use finespun::runtime::Fabric;
use finespun::simulation::{Machine, now, work};
use finespun::tasks::quiesce;
use finespun::testing::*;
use serde::{Deserialize, Serialize};

use super::named;
use crate::common::within_a_minute;

fn processes(machine: Machine, processes: usize) -> Runtime {
    let builder = Runtime::builder().processes(processes).nodes(processes).fabric(Fabric::Simulated(machine));
    builder.build().unwrap()
}

/// Calls `test` with runtimes of several sizes, on the machine as described and with adversaries. Panics if a frame is left
/// afterwards.
fn over_processes(test: impl Fn(&Runtime) + Send + 'static) {
    within_a_minute(move || {
        for seed in 0..12 {
            for size in [2, 3, 8] {
                let mut machine = named("cluster").seed(seed).delays(Duration::from_micros(30 * (seed % 3)));
                machine = machine.pauses(Duration::from_micros(20 * (seed % 2))).slow(1 + seed as u32 % 4);
                let runtime = processes(machine, size);
                test(&runtime);
                assert_eq!(runtime.close(), 0, "frames left: {size} processes, seed {seed}");
            }
        }
    });
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

#[thread(portable)]
fn fork(parent: Cont<u64>, n: u64) {
    if n < 2 {
        work(Duration::from_micros(3));
        return send_argument(n, parent);
    }
    let k1 = make_closure!(sum, parent, _, _);
    post(make_closure!(fork, k1.x, n - 1));
    post(make_closure!(fork, k1.y, n - 2));
}

#[thread(portable)]
fn sum(parent: Cont<u64>, x: u64, y: u64) {
    send_argument(x + y, parent);
}

#[test]
fn tasks_and_closures_migrate() {
    over_processes(|runtime| {
        assert_eq!(runtime.run(fib(14)), 377);
        let tasks = runtime.stats().tasks_migrated;
        assert!(tasks > 0, "no task has migrated");
        assert_eq!(runtime.run(top(|k| post(make_closure!(fork, k, 14)))), 377);
        assert!(runtime.stats().tasks_migrated > tasks, "no closure has migrated");
    });
}

/// What happens, and when, depends on the seed only. The number of events does not: a thread outside ends a run in the other
/// processes.
#[test]
fn a_run_is_repeatable() {
    let measured = |seed| {
        let machine = named("cluster").seed(seed).delays(Duration::from_micros(20));
        let runtime = processes(machine, 4);
        assert_eq!(runtime.run(fib(13)), 233);
        let stats = runtime.stats();
        (runtime.simulated().unwrap().last_run, stats.tasks_migrated, stats.frames)
    };
    assert_eq!(measured(1), measured(1));
    assert_ne!(measured(1), measured(2));
}

/// One at each node.
#[derive(Serialize, Deserialize)]
struct Spreader(u64);

#[object]
impl Spreader {
    /// Counts itself, and sends two more of these calls, to other nodes, which send further ones.
    async fn spread(&mut self, to: Vec<Ref<Spreader>>, depth: usize) {
        self.0 += 1;
        work(Duration::from_micros(10 * depth as u64));
        if depth > 0 {
            for step in [1, 3] {
                let next = to[(here() as usize + step) % to.len()];
                next.spread(to.clone(), depth - 1).oneway().await;
            }
        }
    }

    /// Counts itself, and calls the next one. It works until all other processes have parked and have
    /// answered a wave.
    async fn relay(&mut self, to: Vec<Ref<Spreader>>, hops: usize) {
        self.0 += 1;
        work(Duration::from_millis(2));
        if hops > 0 {
            let next = to[(here() as usize * 5 + hops) % to.len()];
            next.relay(to, hops - 1).oneway().await;
        }
    }

    fn count(&self) -> u64 {
        self.0
    }
}

#[task]
async fn spreaders() -> Vec<Ref<Spreader>> {
    let mut all = Vec::new();
    for node in 0..nodes() {
        all.push(on(node).create(Spreader(0)).await);
    }
    all
}

/// Returns the number of calls that have been counted when the runtime rests.
#[task]
async fn count(depth: usize, hops: usize) -> u64 {
    let all = spreaders().await;
    all[0].spread(all.clone(), depth).oneway().await;
    all[0].relay(all.clone(), hops).oneway().await;
    quiesce().await;
    let mut sum = 0;
    for spreader in all {
        sum += spreader.count().await;
    }
    sum
}

/// Rest is found when all calls have ended, not earlier.
#[test]
fn quiescence_is_found_and_never_early() {
    over_processes(|runtime| {
        for (depth, hops) in [(0, 0), (5, 0), (0, 40)] {
            assert_eq!(runtime.run(count(depth, hops)), (2 << depth) + hops as u64);
        }
    });
}

/// Waits for a continuation that it keeps itself, after all nodes have had work.
#[task]
async fn never(depth: usize) {
    let all = spreaders().await;
    all[0].spread(all.clone(), depth).oneway().await;
    let mut own = None;
    suspend(|k: Continuation<()>| own = Some(k)).await;
}

#[test]
fn a_deadlock_is_found() {
    over_processes(|runtime| {
        for depth in [0, 4] {
            assert!(matches!(runtime.try_run(never(depth)), Err(RunError::Deadlock(_))));
        }
        assert_eq!(runtime.run(count(2, 2)), 10);
    });
}

/// Returns the time until rest is found, after every process has had work and rests.
#[task]
async fn time_to_rest() -> Duration {
    let all = spreaders().await;
    for spreader in all {
        spreader.count().await;
    }
    let begun = now();
    quiesce().await;
    now() - begun
}

/// The waves go along a tree: each level adds a message down and one up to each of two waves or three.
#[test]
fn rest_is_found_in_a_logarithmic_number_of_steps() {
    within_a_minute(|| {
        // A network whose latency is all that counts.
        let latency = Duration::from_micros(500);
        let machine = include_str!("../../../finespun/src/sim/machines/cluster.toml")
            .replace("latency_us = 0.7", "latency_us = 500.0");
        for levels in 1..=4_u32 {
            let runtime = processes(Machine::parse(&machine).unwrap(), (2 << levels) - 1);
            let steps = runtime.run(time_to_rest()).as_secs_f64() / latency.as_secs_f64();
            // Measured: 9.3, 11.1, 18.5, 24.8; 30.4 with 5 levels.
            assert!(steps < f64::from(4 + 6 * levels), "{steps} latencies with {levels} levels");
        }
    });
}

/// A simulation that never begins keeps no thread waiting.
#[test]
fn stacks_that_do_not_exist_are_an_error() {
    within_a_minute(|| {
        for bytes in [1 << 46, usize::MAX] {
            let builder = Runtime::builder().processes(3).nodes(3).stack_size(bytes);
            assert!(builder.fabric(Fabric::Simulated(named("cluster"))).build().is_err(), "{bytes}");
        }
    });
}
