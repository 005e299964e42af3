//! Calls: tasks that run on the stack, their fallback to frames, and joins: most of what generated code uses.
//!
//! This module contains the task and its call ([`task`]), descriptors ([`descriptor`], [`method`]) and their schemas
//! ([`schema`]), the outcome of a call ([`outcome`]), the fallback from the stack to the heap ([`fallback`]), joins
//! ([`join`]), frames that run at one node only ([`located`]), yielding ([`yielding`]), checks and traits that
//! generated code needs of the user's types ([`bounds`], [`drops`], [`operators`], [`residual`]), the passing of values to cold paths in
//! registers ([`words`]), and calls that another process makes ([`elsewhere`]).

pub(crate) mod bounds;
pub(crate) mod descriptor;
pub(crate) mod drops;
pub(crate) mod elsewhere;
pub(crate) mod fallback;
pub(crate) mod join;
pub(crate) mod located;
pub(crate) mod method;
pub(crate) mod operators;
pub(crate) mod outcome;
pub(crate) mod residual;
pub(crate) mod schema;
mod task;
pub(crate) mod words;
pub(crate) mod yielding;

pub(crate) use task::{CallFuture, destroyed, map_outcome, poll_in_place, sealed};
pub use task::{
    DivergesAsInStd, Probe, Task, behind, call, call_async, call_direct, call_guarded, call_guarded_in, call_straight,
    never, wait,
};
#[cfg(feature = "objects")]
pub(crate) use task::{call_after_trip, migrate};
