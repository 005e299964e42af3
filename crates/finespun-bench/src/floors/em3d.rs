//! The floor of EM3D.

use finespun_object_apps::em3d::{Field, Graph, Values};

use super::slots::{Name, Slots, name};

/// A vertex, as large as the object. The last field stands for the object's data that this form does not use.
#[repr(C)]
struct Vertex {
    value: f64,
    sign: f64,
    inputs: Box<[(Name, f64)]>,
    _apart: usize,
}

pub(super) struct Fields {
    electric: Slots<Vertex>,
    magnetic: Slots<Vertex>,
}

impl Fields {
    pub(super) fn new(graph: &Graph) -> Fields {
        let field = |field: &Field| {
            let inputs =
                field.inputs.iter().map(|edges| edges.iter().map(|edge| (name(edge.from), edge.weight)).collect());
            let vertex = |(&value, inputs)| Vertex { value, sign: field.sign, inputs, _apart: 0 };
            field.start.iter().zip(inputs).map(vertex).collect()
        };
        Fields { electric: field(&graph.electric), magnetic: field(&graph.magnetic) }
    }

    pub(super) fn step(&mut self) {
        change(&mut self.electric, &self.magnetic);
        change(&mut self.magnetic, &self.electric);
    }

    pub(super) fn values(&self) -> Values {
        let values = |field: &Slots<Vertex>| field.iter().map(|vertex| vertex.value).collect();
        Values { electric: values(&self.electric), magnetic: values(&self.magnetic) }
    }
}

fn change(field: &mut Slots<Vertex>, other: &Slots<Vertex>) {
    for vertex in field.iter_mut() {
        let pulled = vertex.inputs.iter().fold(0.0, |sum, &(from, weight)| sum + weight * other.look(from).value);
        vertex.value += vertex.sign * pulled;
    }
}
