//! The applications of objects on nodes, each beside its plain sequential version.
//!
//! As in `finespun-apps`, each module has a plain version, the natural task code, and in its documentation what it is, where it
//! comes from, the answer, and how the answer is known. They are a crate of their own because they take as long to compile as
//! all others together: each method and each loop over an array has its messages, frames and answers.
//!
//! | module | what it stresses | known answer |
//! |---|---|---|
//! | [`sor`] | objects on nodes that read their neighbours | Java Grande: 0.498574406322512 |
//! | [`em3d`] | objects of an irregular graph that read, write or forward | size 4096: 7.72463114641757e23; an invariant |
//! | [`microkernel`] | the mix of calls of objects and computing, in four parameters | a checksum, by another program |
//! | [`mdforce`] | objects with irregular partners, cached coordinates, combined forces | AMBER's energies of T4 lysozyme |
//! | [`hopfield`] | arrays of each step, whose elements wait for each other | exact counts of a network that recalls |
//! | [`cg`] | write-once vectors, one for each step, read by irregular rows | NAS: zeta of classes S, W, A |
//! | [`sparsemm`] | write-once arrays that are read by irregular rows | entries and norms of products; Java Grande's totals |
//! | [`densemm`] | write-once arrays that other nodes read, by blocks | exact sums of integer matrices |
//!
//! Nothing here is `unsafe`, and no application knows how many nodes or workers run it: the answers are the same for any number.
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
