//! Loops over tasks: `join_all` and `reduce` ([`many`]), and the turn that every loop has in common ([`turn`]).

pub(crate) mod many;
pub(crate) mod turn;
