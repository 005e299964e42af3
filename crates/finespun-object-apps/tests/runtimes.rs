//! Applications of objects: known answers, which are the same on every runtime.

use finespun::istructure::Cache;
use finespun::prelude::*;
use finespun::runtime::Transport;
use finespun::testing::*;
use finespun_object_apps::densemm::Form;
use finespun_object_apps::{Sparse, cg, densemm, em3d, hopfield, mdforce, sor, sparsemm};

#[path = "../../finespun-tests/tests/common/cases.rs"]
mod cases;
#[path = "../../finespun-tests/tests/common/launched.rs"]
#[allow(dead_code, reason = "each test file uses a part")]
mod launched;

use launched::Launch;

const NODES: [usize; 4] = [8, 1, 2, 4];
const FORMS: [em3d::Form; 3] = [em3d::Form::Pull, em3d::Form::Push, em3d::Form::Forward];

/// Checks on runtimes with several nodes, workers and transports, with and without encoded messages, and with every
/// n-th primitive blocking; the combinations are chosen by `cases`.
fn every_runtime(check: impl Fn(&Runtime, &str)) {
    const TRANSPORTS: [Transport; 3] = [Transport::Adaptive, Transport::Push, Transport::Pull];
    const BLOCK: [u32; 6] = [0, 1, 2, 3, 5, 7];
    for [n, nodes, transport, workers, encode] in cases::cases([BLOCK.len(), NODES.len(), TRANSPORTS.len(), 2, 2]) {
        let (n, nodes, transport) = (BLOCK[n], NODES[nodes], TRANSPORTS[transport]);
        let (workers, encode) = (2 - workers, encode == 1);
        let builder = Runtime::builder().workers(workers).nodes(nodes).transport(transport);
        let runtime = builder.encoded(encode).block_every(n).build().expect("a runtime");
        let how = format!("{nodes} nodes, {workers} workers, {transport:?}, bytes: {encode}, every {n}");
        check(&runtime, &how);
        assert_eq!(runtime.close(), 0, "frames left: {how}");
    }
}

fn grid(runtime: &Runtime, layout: sor::Layout, form: sor::Form, sweeps: u32) -> f64 {
    let grid = runtime.run(sor::create(layout));
    runtime.run(sor::sweep(&grid, form, sweeps));
    let sum = runtime.run(sor::sum(&grid));
    runtime.run(sor::free(&grid));
    sum
}

fn graph(runtime: &Runtime, graph: &em3d::Graph, form: em3d::Form, steps: u32) -> em3d::Values {
    let objects = runtime.run(em3d::create(graph));
    runtime.run(em3d::step(&objects, form, steps));
    let values = runtime.run(em3d::values(&objects));
    runtime.run(em3d::free(&objects));
    values
}

#[test]
fn grids_are_bitwise_equal_on_every_runtime() {
    for form in [sor::Form::TwoPhase, sor::Form::RedBlack] {
        let mut plain = sor::Plain::new(14);
        plain.sweep(form, 2);
        let layout = sor::Layout { side: 14, block: 3 };
        every_runtime(|runtime, how| {
            assert_eq!(grid(runtime, layout, form, 2).to_bits(), plain.sum().to_bits(), "{how}");
        });
    }
}

#[test]
fn graphs_are_bitwise_equal_on_every_runtime() {
    let problem = em3d::Problem { variant: em3d::Variant::Canonical, size: 24, degree: 3, locality: 0.0, seed: 3 };
    let drawn = em3d::Graph::draw(problem);
    let mut plain = em3d::Plain::new(&drawn);
    plain.step(2);
    every_runtime(|runtime, how| {
        for form in FORMS {
            assert_eq!(graph(runtime, &drawn, form, 2), plain.values(), "{form:?}: {how}");
        }
    });
}

/// Contributions from other nodes are added node by node, so the bits depend on the number of nodes and on the layout
/// only.
#[test]
fn forces_depend_only_on_layout_and_node_count() {
    let system = mdforce::t4().first(30);
    let pairs = mdforce::Pairs::new(&system, 0.5);
    let mut plain = mdforce::Plain::new(&system, &pairs);
    let total = plain.evaluate(1).total();
    for layout in [mdforce::Layout::Random, mdforce::Layout::Spatial] {
        let homes = NODES.map(|nodes| (nodes, layout.nodes(&system, nodes)));
        let first = NODES.map(|nodes| (nodes, std::cell::OnceCell::new()));
        every_runtime(|runtime, how| {
            let nodes = runtime.nodes();
            let (_, homes) = homes.iter().find(|(of, _)| *of == nodes).expect("a number of nodes");
            let (_, first) = first.iter().find(|(of, _)| *of == nodes).expect("a number of nodes");
            let objects = runtime.run(mdforce::create(&system, &pairs, homes));
            let energy = runtime.run(mdforce::evaluate(&objects, 2));
            let forces = runtime.run(mdforce::forces(&objects));
            runtime.run(mdforce::free(&objects));
            assert!((energy.total() / total - 1.0).abs() < 1e-9, "{how}");
            assert_eq!(first.get_or_init(|| (energy, forces.clone())), &(energy, forces), "{layout:?}: {how}");
        });
    }
}

const READS: [Form; 4] = [
    Form::Split,
    Form::Arrays(Cache::Off),
    Form::Arrays(Cache::Auto),
    Form::Arrays(Cache::On { block: 8, capacity: 3 }),
];

#[test]
fn eigenvalues_are_bitwise_equal_on_every_runtime() {
    let problem = cg::Problem { rows: 24, nonzeros: 2, shift: 5.0, iterations: 1 };
    let matrix = problem.matrix();
    let plain = cg::plain(&problem, &matrix);
    every_runtime(|runtime, how| {
        for form in READS {
            let mut system = runtime.run(cg::create(&matrix, form, false));
            assert_eq!(runtime.run(cg::solve(&mut system, &problem)), plain, "{form:?}: {how}");
            runtime.run(cg::free(system));
        }
    });
}

#[test]
fn sparse_products_are_bitwise_equal_on_every_runtime() {
    let drawn = sparsemm::Drawn::draw(&sparsemm::Problem { rows: 20, nonzeros: 60, times: 2 });
    let repeated = sparsemm::plain_repeat(&drawn, 2);
    let (left, right): (&Sparse, Sparse) = (&drawn.matrix, drawn.matrix.transpose());
    let product = sparsemm::plain(left, &right);
    every_runtime(|runtime, how| {
        for form in READS {
            let mut spread = runtime.run(sparsemm::spread(&drawn, form, false));
            assert_eq!(runtime.run(sparsemm::repeat(&mut spread, 2)), repeated, "{form:?}: {how}");
            runtime.run(sparsemm::free_spread(spread));
            let factors = runtime.run(sparsemm::create(left, &right, form, false));
            runtime.run(sparsemm::multiply(&factors));
            assert_eq!(runtime.run(sparsemm::sums(&factors)), product, "{form:?}: {how}");
            runtime.run(sparsemm::free(factors));
        }
    });
}

/// Arrays on up to 16 nodes, in every form and with several caches. Covers each pair of settings; unlike
/// `every_runtime`, never all combinations.
#[test]
#[cfg_attr(debug_assertions, ignore = "minutes without a release build")]
fn array_answers_match_the_known_values() {
    const NODES: [usize; 5] = [16, 1, 2, 4, 8];
    const TRANSPORTS: [Transport; 3] = [Transport::Adaptive, Transport::Push, Transport::Pull];
    const BLOCK: [u32; 6] = [0, 1, 2, 3, 5, 7];
    const CACHES: [Form; 7] = [
        Form::Arrays(Cache::Auto),
        Form::Split,
        Form::Arrays(Cache::Off),
        Form::Arrays(Cache::On { block: 1, capacity: 1 }),
        Form::Arrays(Cache::On { block: 8, capacity: 1 }),
        Form::Arrays(Cache::On { block: 8, capacity: 1 << 20 }),
        Form::Arrays(Cache::On { block: 64, capacity: 3 }),
    ];
    let product = densemm::plain(128);
    let update = hopfield::Update::Sequential;
    let patterns = hopfield::Problem { neurons: 256, patterns: 16, seed: 1, turned: 32, update, sweeps: 100 };
    let settings = [NODES.len(), TRANSPORTS.len(), BLOCK.len(), CACHES.len(), 2, 2];
    for [nodes, transport, n, form, workers, encode] in cases::pairs(settings) {
        let (nodes, transport, n, form) = (NODES[nodes], TRANSPORTS[transport], BLOCK[n], CACHES[form]);
        let builder = Runtime::builder().workers(2 - workers).nodes(nodes).transport(transport);
        let runtime = builder.encoded(encode == 1).block_every(n).build().expect("a runtime");
        let how = format!("{form:?}, {nodes} nodes, {transport:?}, bytes: {}, every {n}", encode == 1);
        let (found, _) = runtime.run(hopfield::recall(&patterns, form, false));
        assert_eq!((found.recalled, found.sweeps, found.changes, found.energy), (16, 33, 462, -528_988), "{how}");
        let matrices = runtime.run(densemm::create(128, form, false));
        runtime.run(densemm::multiply(&matrices));
        assert_eq!(runtime.run(densemm::sums(&matrices)), product, "{how}");
        runtime.run(densemm::free(matrices));
        assert_eq!(runtime.close(), 0, "frames left: {how}");
    }
}

/// Makes a runtime with two workers and `nodes` nodes; the transport depends on the number of nodes.
fn two_workers(nodes: usize) -> Runtime {
    let transport = match nodes {
        1 | 2 => Transport::Adaptive,
        4 => Transport::Push,
        _ => Transport::Pull,
    };
    let builder = Runtime::builder().workers(2).nodes(nodes).transport(transport);
    builder.build().expect("a runtime")
}

#[test]
#[cfg_attr(debug_assertions, ignore = "minutes without a release build")]
fn large_grid_sum_matches_the_known_value() {
    let layout = sor::Layout::whole(1024, 8);
    let sums = NODES.map(|nodes| grid(&two_workers(nodes), layout, sor::Form::RedBlack, 100));
    assert!((sums[0] - 0.522_639_754_353_222_3).abs() < 1e-12, "{}", sums[0]);
    assert!(sums.iter().all(|sum| sum.to_bits() == sums[0].to_bits()), "{sums:?}");
}

#[test]
#[cfg_attr(debug_assertions, ignore = "minutes without a release build")]
fn large_graph_values_match_the_known_values() {
    use em3d::Form::{Forward, Pull, Push};
    for (variant, electric, magnetic, runs) in [
        (em3d::Variant::Canonical, -6.029_713_859_878_87e23, 7.724_631_146_417_57e23, [(1, Pull), (8, Forward)]),
        (em3d::Variant::Stable, -2_102.132_541_175_93, -1_666.940_637_517_99, [(2, Push), (4, Pull)]),
    ] {
        let drawn = em3d::Graph::draw(em3d::Problem { variant, size: 4096, degree: 16, locality: 0.0, seed: 42 });
        for (nodes, form) in runs {
            let values = graph(&two_workers(nodes), &drawn, form, 100);
            let near = |found: f64, known: f64| (found / known - 1.0).abs() < 1e-9;
            let (found_electric, found_magnetic) = values.sums();
            assert!(near(found_electric, electric) && near(found_magnetic, magnetic), "{form:?} at {nodes} nodes");
            if variant == em3d::Variant::Stable {
                assert!(near(drawn.invariant(&values), 2_202.750_281_147_62), "{form:?} at {nodes} nodes");
            }
        }
    }
}
