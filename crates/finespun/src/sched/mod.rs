//! Workers: what runs next, and where.
//!
//! Here live the worker's loop and slow path ([`worker`]), what the workers of a runtime share ([`team`]), the
//! work-stealing deque ([`deque`]), the queue of frames from outside ([`injector`]), the quantum ([`ticker`]), the idling
//! protocol ([`park`]), and when a deadlock is reported ([`deadlock`], [`report`]). The runtime room starts teams; the task room reaches its worker through
//! [`crate::task::context::Scheduler`]. This room never looks into a frame.

pub(crate) mod deadlock;
pub(crate) mod deque;
mod injector;
pub(crate) mod park;
mod report;
pub(crate) mod team;
pub(crate) mod ticker;
pub(crate) mod worker;
