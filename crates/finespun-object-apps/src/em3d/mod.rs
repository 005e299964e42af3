//! EM3D: waves on an irregular bipartite graph, every vertex an object.
//!
//! An irregular code of the hybrid execution model (hybrid-execution-model, section 4.3.3, table 6): the electric and
//! the magnetic field have values at vertices; in a step, each electric value changes by a weighted sum of some
//! magnetic values, and then each magnetic value by a weighted sum of electric values. The paper's 8192 vertices are a
//! `size` of 4096 here: the size counts the vertices of one field. The three forms follow the paper:
//!
//! - *pull*: a vertex reads all its inputs concurrently; its frame restarts once.
//! - *push*: a vertex writes its value to all vertices that need it; when all have written, each vertex computes from
//!   the received values.
//! - *forward*: one message with the value travels through all vertices that need it, and the last vertex answers.
//!
//! In every form a vertex adds up its inputs in the order of its edges, so the values are bitwise equal.
//!
//! Answers, for the graph of [`Graph::draw`] with `locality` 0, by an independent program in another language:
//!
//! | variant | size, degree, steps, seed | sum of electric values | of magnetic values |
//! |---|---|---|---|
//! | canonical | 1000, 10, 10, 1 | -8124.1073050157 | 10366.2235986137 |
//! | canonical | 4096, 16, 100, 42 | -6.02971385987887e23 | 7.72463114641757e23 |
//! | canonical | 8192, 16, 100, 783 | -1.31267381365914e24 | 1.68194248358978e24 |
//! | stable | 4096, 16, 100, 42 | -2102.13254117593 | -1666.94063751799 |
//! | stable | 8192, 16, 100, 783 | -3726.41209186115 | -3851.07971508793 |
//!
//! The stable variant has the invariant [`Graph::invariant`] for every size: 2202.75028114762 for the fourth row and
//! 4401.47357069242 for the fifth, before the first step and after the last.

mod graph;
mod objects;
mod plain;

pub use graph::{Edge, Field, Graph, Problem, Values, Variant};
pub use objects::{Form, Objects, Vertex, create, free, step, values};
pub use plain::Plain;
