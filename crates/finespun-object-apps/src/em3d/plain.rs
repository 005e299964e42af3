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
