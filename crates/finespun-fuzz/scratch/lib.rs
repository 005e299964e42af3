//! The support library of generated bodies: traces, tracked values, leaves, and the program that runs and compares the
//! bodies.
//!
//! Every value that logs its life to a trace carries the handle of the trace, so nothing depends on the thread.

#![allow(clippy::all, unused, missing_docs, reason = "compiled by the pipeline only")]

#[macro_use]
mod leaves;

pub mod compare;
pub mod plain;
pub mod tasks;
pub mod trace;
pub mod values;
