//! Finds the locals that are live, moved and borrowed at each location where a task may leave the stack.
//!
//! [`graph`] turns the normalised body into a graph of [events](event), [`solve`] runs the two data-flow analyses over
//! it, and [`capture`] derives from them the locals that each state carries and the reasons against the stack schema.

pub(crate) mod capture;
mod closure;
pub(crate) mod event;
mod expression;
pub(crate) mod graph;
pub(crate) mod methods;
pub(crate) mod pattern;
mod place;
mod solve;
