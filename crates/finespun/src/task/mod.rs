//! Tasks: calls that may later turn out to have been threads.
//!
//! Here live the task and its call ([`call`]), its descriptors ([`descriptor`]) and what they say of their schemas
//! ([`schema`]), what a call returns ([`outcome`]), the frame and where its memory comes from ([`frame`], [`pool`]), the
//! slot that one value is written to once ([`slot`]), the way from the stack to the heap ([`fallback`]), running and
//! completing frames ([`run`]), joins ([`join`], [`many`]), and continuations ([`suspend`]). Generated code and the
//! scheduler call this room. It never decides what runs next or where: what it needs of a scheduler is the trait
//! [`context::Scheduler`].

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
pub(crate) mod words;
pub(crate) mod yielding;
