//! Helpers shared by the tests.
#![allow(dead_code, unused_imports, reason = "each test file uses a part")]

mod cases;
mod kept;
#[cfg(feature = "objects")]
mod launched;
mod patience;

use finespun::prelude::*;
#[cfg(feature = "objects")]
use finespun::runtime::Transport;
use finespun::testing::*;

pub use cases::cases;
pub use kept::{kept, may_be_forgotten};
#[cfg(feature = "objects")]
pub use launched::{Launch, Shared, launched};
pub use patience::within_a_minute;

/// Numbers of workers and values of block-every-n. No result may depend on them.
pub const WORKERS: [usize; 4] = [1, 2, 3, 8];
pub const BLOCK: [u32; 6] = [0, 1, 2, 3, 5, 7];

/// Fabrics: threads, or a simulated machine by its name.
pub const FABRICS: &[&str] = &[
    "threads",
    #[cfg(feature = "simulation")]
    "cluster",
];
/// Fabrics for programs with objects: these; two processes of one host, or of two; three processes, two of them on one host;
/// and three processes of a simulated machine.
#[cfg(feature = "objects")]
const FABRICS_OF_NODES: &[&str] = &[
    "threads",
    "processes",
    "hosts",
    "two hosts",
    #[cfg(feature = "simulation")]
    "cluster",
    #[cfg(feature = "simulation")]
    "simulated processes",
];

/// Returns the fabrics for programs with objects. If a launcher has started several processes of the test program, these
/// are what all such tests run on: the first process does the tests, and the others serve it (`scripts/ranks`).
#[cfg(feature = "objects")]
fn fabrics_of_nodes() -> &'static [&'static str] {
    if launched() { &["launched"] } else { FABRICS_OF_NODES }
}

/// Sets the fabric.
fn on(builder: finespun::Builder, fabric: &str) -> finespun::Builder {
    #[cfg(feature = "objects")]
    match fabric {
        "processes" | "launched" => return builder.over(2, 2),
        "hosts" => return builder.over(2, 1),
        "two hosts" => return builder.over(3, 2),
        _ => {}
    }
    #[cfg(all(feature = "simulation", feature = "objects"))]
    if fabric == "simulated processes" {
        let machine = finespun::simulation::Machine::named("cluster").unwrap();
        let builder = builder.processes(3).workers(1);
        return builder.fabric(finespun::runtime::Fabric::Simulated(machine));
    }
    #[cfg(feature = "simulation")]
    if fabric != "threads" {
        let machine = finespun::simulation::Machine::named(fabric).unwrap();
        return builder.fabric(finespun::runtime::Fabric::Simulated(machine));
    }
    assert_eq!(fabric, "threads");
    builder
}

/// The settings under which a test runs, for the report of a failure.
struct Case(String);

impl Drop for Case {
    fn drop(&mut self) {
        if std::thread::panicking() {
            eprintln!("under these settings: {}", self.0);
        }
    }
}

/// Calls `test` with a runtime for each pair of values of `WORKERS`, `BLOCK` and `FABRICS`. Panics if a frame is left
/// afterwards.
pub fn everywhere(test: impl Fn(&Runtime)) {
    for [workers, n, fabric] in cases([WORKERS.len(), BLOCK.len(), FABRICS.len()]) {
        let (workers, n, fabric) = (WORKERS[workers], BLOCK[n], FABRICS[fabric]);
        let runtime = on(Runtime::builder().workers(workers).block_every(n), fabric).build().unwrap();
        let _case = Case(format!("{workers} workers, block every {n}, {fabric}"));
        test(&runtime);
        assert_eq!(runtime.close(), 0, "frames left");
    }
}

/// Does the same for programs with objects: with fewer and more nodes than workers, over every transport, and with
/// messages as bytes.
#[cfg(feature = "objects")]
pub fn on_any_nodes(test: impl Fn(&Runtime)) {
    const SHAPES: [(usize, usize); 7] = [(2, 8), (1, 1), (1, 4), (2, 1), (2, 2), (3, 3), (4, 2)];
    const TRANSPORTS: [Transport; 3] = [Transport::Adaptive, Transport::Push, Transport::Pull];
    let fabrics = fabrics_of_nodes();
    // Processes have one transport, and bytes.
    let (transports, encode) = if launched() { (1, 1) } else { (TRANSPORTS.len(), 2) };
    for [n, shape, transport, encode, fabric] in cases([BLOCK.len(), SHAPES.len(), transports, encode, fabrics.len()]) {
        let ((workers, nodes), transport, fabric) = (SHAPES[shape], TRANSPORTS[transport], fabrics[fabric]);
        let (n, encode) = (BLOCK[n], encode == 1);
        let runtime = Runtime::builder().workers(workers).nodes(nodes).block_every(n);
        let runtime = on(runtime.transport(transport).encode(encode), fabric).build().unwrap();
        assert!(!launched() || runtime.workers() > workers, "other processes have workers, too");
        let _case = Case(format!(
            "{workers} workers, {nodes} nodes, {transport:?}, block every {n}, bytes: {encode}, {fabric}"
        ));
        test(&runtime);
        assert_eq!(runtime.close(), 0, "frames left");
    }
}

/// Calls `test` with runtimes of these numbers of processes, of workers of each, and of nodes. Panics if a frame is left
/// afterwards.
#[cfg(feature = "objects")]
pub fn over_shapes(shapes: &[(usize, usize, usize)], test: impl Fn(&Runtime) + Send + 'static) {
    let shapes = shapes.to_vec();
    within_a_minute(move || {
        for (processes, workers, nodes) in shapes {
            for (block, per_host) in [(0, processes), (0, 1), (1, processes), (3, 2), (5, processes), (5, 1)] {
                if launched() && per_host != processes {
                    // The launched processes are as they are.
                    continue;
                }
                let runtime = Runtime::builder().over(processes, per_host).workers(workers).nodes(nodes);
                let runtime = runtime.block_every(block).build().unwrap();
                let _case = Case(format!(
                    "{processes} processes of {workers} workers, {nodes} nodes, block every {block}, {per_host} processes of a host"
                ));
                test(&runtime);
                assert_eq!(runtime.close(), 0, "frames left");
            }
        }
    });
}

/// The plain function that `fib` is compared with.
pub fn plain_fib(n: u64) -> u64 {
    if n < 2 { n } else { plain_fib(n - 1) + plain_fib(n - 2) }
}

#[task]
pub async fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join!(fib(n - 1), fib(n - 2));
    a + b
}
