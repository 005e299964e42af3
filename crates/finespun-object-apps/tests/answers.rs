//! Known answers of problems that take seconds in a release build, and minutes without.

use finespun::prelude::*;
use finespun::testing::TestCounts;
use finespun_object_apps::em3d::{Form, Graph, Plain, Problem, Values, Variant, create, free, step, values};

fn near(found: f64, known: f64) {
    assert!((found / known - 1.0).abs() < 1e-9, "{found} instead of {known}");
}

fn graph(variant: Variant, size: usize, seed: u32) -> Graph {
    Graph::draw(Problem { variant, size, degree: 16, locality: 0.0, seed })
}

fn after(graph: &Graph, steps: u32) -> Values {
    let mut plain = Plain::new(graph);
    plain.step(steps);
    plain.values()
}

fn bits(values: &Values) -> Vec<u64> {
    values.electric.iter().chain(&values.magnetic).map(|value| value.to_bits()).collect()
}

#[test]
#[ignore = "10 s without a release build"]
fn canonical_graphs_match_the_known_values() {
    let values = after(&graph(Variant::Canonical, 4096, 42), 100);
    let (electric, magnetic) = values.sums();
    near(electric, -6.029_713_859_878_87e23);
    near(magnetic, 7.724_631_146_417_57e23);
    near(values.norm(), 1.548_625_065_611_59e22);
    near(values.electric[0], -1.443_828_396_665_53e20);
    near(values.magnetic[4095], 2.215_758_364_139_77e20);
    let (electric, magnetic) = after(&graph(Variant::Canonical, 8192, 783), 100).sums();
    near(electric, -1.312_673_813_659_14e24);
    near(magnetic, 1.681_942_483_589_78e24);
}

#[test]
#[ignore = "10 s without a release build"]
fn stable_graphs_match_the_known_values() {
    for (size, seed, invariant, electric, magnetic) in [
        (4096, 42, 2_202.750_281_147_62, -2_102.132_541_175_93, -1_666.940_637_517_99),
        (8192, 783, 4_401.473_570_692_42, -3_726.412_091_861_15, -3_851.079_715_087_93),
    ] {
        let graph = graph(Variant::Stable, size, seed);
        let values = after(&graph, 100);
        near(graph.invariant(&graph.start()), invariant);
        near(graph.invariant(&values), invariant);
        near(values.sums().0, electric);
        near(values.sums().1, magnetic);
    }
}

/// Problem size and number of nodes of the paper.
#[test]
#[ignore = "1 s in a release build, a minute without"]
fn objects_agree_with_plain_structs_at_the_paper_size() {
    for (variant, locality) in [(Variant::Canonical, 0.0), (Variant::Stable, 0.0), (Variant::Canonical, 0.99)] {
        let graph = Graph::draw(Problem { variant, size: 4096, degree: 16, locality, seed: 42 });
        let mut plain = Plain::new(&graph);
        plain.step(4);
        for form in [Form::Pull, Form::Push, Form::Forward] {
            let runtime = Runtime::builder().workers(2).nodes(64).build().expect("a runtime");
            let objects = runtime.run(create(&graph));
            runtime.run(step(&objects, form, 4));
            assert_eq!(bits(&runtime.run(values(&objects))), bits(&plain.values()), "{form:?}");
            runtime.run(free(&objects));
            assert_eq!(runtime.close(), 0);
        }
    }
}
