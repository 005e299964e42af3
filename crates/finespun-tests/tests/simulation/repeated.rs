//! A run is repeatable: the same events at the same times.

use finespun::prelude::*;
use finespun::runtime::{Fabric, Simulated};
use finespun::simulation::Machine;
use finespun::testing::*;
use finespun::{Stats, runtime::Schema};

use crate::programs::all;

/// Runs the program twice on one runtime.
fn run(machine: &Machine, nodes: usize, workers: usize, n: u32) -> ([[u64; 6]; 2], [Simulated; 2], Vec<Stats>) {
    let fabric = Fabric::Simulated(machine.clone());
    let runtime = Runtime::builder().nodes(nodes).workers(workers).block_every(n).fabric(fabric).build().unwrap();
    let once = || (runtime.run(all()), runtime.simulated().unwrap());
    let (first, second) = (once(), once());
    let stats = runtime.worker_stats();
    assert_eq!(runtime.close(), 0);
    ([first.0, second.0], [first.1, second.1], stats)
}

#[test]
fn a_run_has_the_same_events_each_time() {
    let mut times = Vec::new();
    for (nodes, workers) in [(1, 1), (4, 4), (3, 6), (8, 2), (32, 32)] {
        for n in [0, 1, 3] {
            for seed in [0, 1] {
                let machine = Machine::named(["t3d", "cluster"][seed as usize % 2]).unwrap().seed(seed);
                let first = run(&machine, nodes, workers, n);
                assert_eq!(first, run(&machine, nodes, workers, n), "{nodes} nodes, {workers} workers, n = {n}");
                assert_eq!(first.0[0], first.0[1]);
                times.push(first.1[0].last_run);
            }
        }
    }
    times.sort_unstable();
    times.dedup();
    assert!(times.len() > 20, "the settings make a difference: {times:?}");
}

#[test]
fn seeds_change_the_events_and_not_the_answer() {
    let runs: Vec<_> = (0..10).map(|seed| run(&Machine::named("t3d").unwrap().seed(seed), 16, 16, 0)).collect();
    assert!(runs.iter().all(|(answer, ..)| *answer == runs[0].0));
    let mut events: Vec<_> = runs.iter().map(|(_, simulated, _)| simulated[1].events).collect();
    events.sort_unstable();
    events.dedup();
    assert!(events.len() > 5, "{events:?}");
}

/// Neither the build nor the host makes a difference: these numbers are those of a debug and of a release build.
#[test]
fn debug_and_release_builds_have_the_same_events() {
    let fabric = Fabric::Simulated(Machine::named("t3d").unwrap());
    let runtime = Runtime::builder().nodes(8).schema(Schema::Auto).fabric(fabric).build().unwrap();
    runtime.run(all());
    let simulated = runtime.simulated().unwrap();
    assert_eq!((simulated.last_run.as_nanos(), simulated.events), (3_660_175, 8308));
}
