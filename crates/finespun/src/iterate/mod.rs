//! Loops over tasks: `join_all` and `reduce` ([`many`]), and the engine of all loops that have become frames
//! ([`engine`]).

pub(crate) mod engine;
pub(crate) mod many;
