//! Applications of objects on nodes, each with its plain sequential version.
//!
//! As in `finespun-apps`, each module has a plain version and the natural task code; its documentation describes the
//! problem, its source, the answer, and how the answer is known. They form a separate crate because they take as long
//! to compile as all others together: each method and each loop over an array has its messages, frames and answers.
//!
//! | module | what it stresses | known answer |
//! |---|---|---|
//! | [`sor`] | objects that read their neighbours on other nodes | Java Grande: 0.498574406322512 |
//! | [`em3d`] | objects of an irregular graph that read, write or forward | 7.72463114641757e23; an invariant |
//! | [`microkernel`] | remote calls mixed with computation, four parameters | a checksum, by another program |
//! | [`mdforce`] | irregular partners, cached coordinates, combined forces | AMBER's energies of T4 lysozyme |
//! | [`hopfield`] | arrays of each step, whose elements wait for each other | exact counts of recalled patterns |
//! | [`cg`] | write-once vectors, one for each step, read by irregular rows | NAS: zeta of classes S, W, A |
//! | [`sparsemm`] | write-once arrays, read by irregular rows | norms of products; Java Grande's totals |
//! | [`densemm`] | write-once arrays that other nodes read, by blocks | exact sums of integer matrices |
//!
//! This crate contains no `unsafe` code, and no application depends on the number of nodes or workers: the answers are
//! the same for any number.
#![forbid(unsafe_code)]

pub mod cg;
pub mod densemm;
pub mod em3d;
mod files;
pub mod hopfield;
pub mod mdforce;
pub mod microkernel;
mod rows;
pub mod sor;
mod sparse;
pub mod sparsemm;

pub use files::FileError;
pub use sparse::Sparse;
