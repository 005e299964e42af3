//! Parallel iterators and sorts, compared with std's sequential ones.

#[path = "../common/mod.rs"]
mod common;

mod adaptors;
mod dropping;
mod early;
mod ends;
mod shape;
mod sorts;
