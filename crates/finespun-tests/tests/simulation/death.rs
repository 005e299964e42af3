//! A node that dies: every run ends with an error that names it, soon, and nothing is left.

use std::time::Duration;

use finespun::prelude::*;
use finespun::runtime::{Error, Fabric};
use finespun::testing::*;
use finespun::{RunError, Runtime};

use crate::programs::{Counter, all};
use crate::{named, simulated};

/// Runs the program on nodes of which one dies. Returns the text of the error, if the run did not end before.
fn run(node: usize, after: Duration, nodes: usize, workers: usize, n: u32) -> Option<String> {
    let machine = named("cluster").dies(node, after);
    let fabric = Fabric::Simulated(machine);
    let runtime = Runtime::builder().nodes(nodes).workers(workers).block_every(n).fabric(fabric).build().unwrap();
    let died = |error| match error {
        RunError::NodeDied { node: found, at, ref waits } => {
            assert_eq!((found, at), (node, after), "{waits:?}");
            error.to_string()
        }
        other => panic!("{other}"),
    };
    let error = runtime.try_run(all()).err().map(died);
    let simulated = runtime.simulated().unwrap();
    assert!(error.is_none() || simulated.died == Some(node));
    if error.is_some() {
        // A millisecond and ten latencies until it is noticed; the rest is unwinding.
        let bound = after + Duration::from_micros(1200);
        assert!(simulated.last_run < bound, "{:?} for a death at {after:?}", simulated.last_run);
    }
    if simulated.died.is_some() {
        let again = died(runtime.try_run(all()).err().unwrap());
        assert!(!again.contains('\n'), "a later run ends at once, before anything waits: {again}");
    }
    assert_eq!(runtime.close(), 0);
    error
}

#[test]
fn every_run_ends_with_an_error_that_names_the_node() {
    let (mut died, mut ended) = (0, 0);
    for (nodes, workers) in [(4, 4), (2, 6), (7, 3)] {
        for n in [0, 1, 3] {
            for after in (0..12).map(|power| Duration::from_micros(1 << power)) {
                let node = after.as_micros() as usize % nodes.min(workers);
                let error = run(node, after, nodes, workers, n);
                assert_eq!(error, run(node, after, nodes, workers, n), "repeatable");
                *(if error.is_some() { &mut died } else { &mut ended }) += 1;
            }
        }
    }
    assert!(died > 60 && ended > 10, "{died} died, {ended} ended before");
}

#[task]
async fn ask(counter: Ref<Counter>) -> u64 {
    let mut sum = 0;
    for _ in 0..1_000_000 {
        sum += counter.add(1).await;
    }
    sum
}

#[task]
async fn ask_node(node: usize) -> u64 {
    let counter = on(node).create(Counter(0)).await;
    ask(counter).await
}

#[test]
fn the_error_says_what_waited() {
    let runtime = simulated(named("t3d").dies(2, Duration::from_millis(3)), 4);
    let error = runtime.try_run(ask_node(2)).unwrap_err().to_string();
    let lines: Vec<_> = error.lines().collect();
    assert_eq!(lines[0], "node 2 died after 3ms of virtual time");
    assert!(lines[1].contains("::ask waits for ") && lines[1].contains("death.rs:"), "{error}");
    assert_eq!(runtime.close(), 0);
}

/// Without a run, time stands still.
#[test]
fn a_node_that_dies_after_the_last_run_lives() {
    let runtime = simulated(named("t3d").dies(1, Duration::from_secs(3)), 4);
    for _ in 0..3 {
        runtime.run(all());
    }
    assert_eq!(runtime.simulated().unwrap().died, None);
    assert_eq!(runtime.close(), 0);
}

#[test]
fn a_node_that_does_not_exist_is_refused() {
    let fabric = Fabric::Simulated(named("t3d").dies(4, Duration::ZERO));
    let error = Runtime::builder().nodes(4).fabric(fabric).build().err().unwrap();
    assert!(matches!(error, Error::DyingNode { node: 4, nodes: 4 }), "{error}");
}
