//! Who is alive, moved and lent at each place where a task may leave the stack.
//!
//! [`graph`] turns the normalised body into a graph of [events](event), [`solve`] runs
//! the two data-flow analyses over it, [`capture`] reads from them what each
//! state must carry, and which reasons speak against the stack schema.

pub(crate) mod capture;
mod closure;
pub(crate) mod event;
mod expression;
pub(crate) mod graph;
pub(crate) mod methods;
pub(crate) mod pattern;
mod place;
mod solve;
