//! The sequential version: plain structs that refer to each other by index.

use super::graph::{Edge, Field, Graph, Values};

/// Both fields with their current values.
#[derive(Clone, Debug)]
pub struct Plain {
    electric: Vec<Vertex>,
    magnetic: Vec<Vertex>,
}

#[derive(Clone, Debug)]
struct Vertex {
    value: f64,
    sign: f64,
    inputs: Vec<Edge>,
}

impl Plain {
    /// Makes the graph with the initial values.
    pub fn new(graph: &Graph) -> Plain {
        let vertices = |field: &Field| -> Vec<Vertex> {
            let vertex =
                |(&value, inputs): (&f64, &Vec<Edge>)| Vertex { value, sign: field.sign, inputs: inputs.clone() };
            field.start.iter().zip(&field.inputs).map(vertex).collect()
        };
        Plain { electric: vertices(&graph.electric), magnetic: vertices(&graph.magnetic) }
    }

    /// Performs `steps` steps.
    pub fn step(&mut self, steps: u32) {
        for _ in 0..steps {
            change(&mut self.electric, &self.magnetic);
            change(&mut self.magnetic, &self.electric);
        }
    }

    /// Returns the current values.
    pub fn values(&self) -> Values {
        let values = |field: &[Vertex]| field.iter().map(|vertex| vertex.value).collect();
        Values { electric: values(&self.electric), magnetic: values(&self.magnetic) }
    }
}

/// Performs one half of a step: updates `field` from `other`.
fn change(field: &mut [Vertex], other: &[Vertex]) {
    for vertex in field {
        let pulled = vertex.inputs.iter().fold(0.0, |sum, edge| sum + edge.weight * other[edge.from].value);
        vertex.value += vertex.sign * pulled;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::em3d::{Problem, Variant};

    fn near(found: f64, known: f64) {
        assert!((found / known - 1.0).abs() < 1e-9, "{found} instead of {known}");
    }

    fn graph(variant: Variant, size: usize, degree: usize, seed: u32) -> Graph {
        Graph::draw(Problem { variant, size, degree, locality: 0.0, seed })
    }

    fn after(graph: &Graph, steps: u32) -> Values {
        let mut plain = Plain::new(graph);
        assert_eq!(plain.values(), graph.start());
        plain.step(steps);
        plain.values()
    }

    #[test]
    fn a_small_canonical_graph_matches_the_known_sums() {
        let (electric, magnetic) = after(&graph(Variant::Canonical, 1000, 10, 1), 10).sums();
        near(electric, -8_124.107_305_015_7);
        near(magnetic, 10_366.223_598_613_7);
    }

    #[test]
    #[ignore = "10 s without a release build"]
    fn canonical_graphs_match_the_known_values() {
        let values = after(&graph(Variant::Canonical, 4096, 16, 42), 100);
        let (electric, magnetic) = values.sums();
        near(electric, -6.029_713_859_878_87e23);
        near(magnetic, 7.724_631_146_417_57e23);
        near(values.norm(), 1.548_625_065_611_59e22);
        near(values.electric[0], -1.443_828_396_665_53e20);
        near(values.magnetic[4095], 2.215_758_364_139_77e20);
        let (electric, magnetic) = after(&graph(Variant::Canonical, 8192, 16, 783), 100).sums();
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
            let graph = graph(Variant::Stable, size, 16, seed);
            let values = after(&graph, 100);
            near(graph.invariant(&graph.start()), invariant);
            near(graph.invariant(&values), invariant);
            near(values.sums().0, electric);
            near(values.sums().1, magnetic);
        }
    }

    /// Checks the invariant on several stable graphs, for which no published values exist.
    #[test]
    fn any_stable_graph_keeps_the_invariant() {
        for (size, degree, locality) in [(1, 1, 0.0), (60, 3, 0.0), (200, 8, 0.9), (500, 16, 0.99), (12, 12, 1.0)] {
            let graph = Graph::draw(Problem { variant: Variant::Stable, size, degree, locality, seed: 7 });
            let values = after(&graph, 50);
            assert_ne!(values, graph.start());
            near(graph.invariant(&values), graph.invariant(&graph.start()));
        }
    }
}
