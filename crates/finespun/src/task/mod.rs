//! Tasks: calls that run on the stack but may later become heap frames.
//!
//! This module contains the task and its call ([`call`]), its descriptors ([`descriptor`]) and their schemas
//! ([`schema`]), the outcome of a call ([`outcome`]), the frame and its memory ([`frame`], [`pool`]), the write-once
//! slot ([`slot`]), the fallback from the stack to the heap ([`fallback`]), running and completing frames ([`run`]),
//! joins and loops ([`join`], [`many`], [`turn`]), spawned tasks and scopes ([`spawn`]), and continuations
//! ([`suspend`]). Generated code and the scheduler call this module. It does not decide which frame runs next or where:
//! the scheduler does, through the trait [`context::Scheduler`].

pub(crate) mod budget;
pub(crate) mod call;
pub(crate) mod context;
pub(crate) mod descriptor;
pub(crate) mod drops;
pub(crate) mod fallback;
pub(crate) mod foreign;
pub(crate) mod frame;
pub(crate) mod groups;
pub(crate) mod guard;
pub(crate) mod join;
pub(crate) mod located;
pub(crate) mod many;
pub(crate) mod method;
pub(crate) mod operators;
pub(crate) mod origin;
pub(crate) mod outcome;
pub(crate) mod outside;
pub(crate) mod payload;
pub(crate) mod pool;
pub(crate) mod quiesce;
pub(crate) mod residual;
pub(crate) mod run;
pub(crate) mod runs;
pub(crate) mod schema;
pub(crate) mod slot;
pub(crate) mod spawn;
pub(crate) mod suspend;
pub(crate) mod teams;
pub(crate) mod turn;
pub(crate) mod words;
pub(crate) mod yielding;
