//! Workers: which frame runs next, and where.
//!
//! The worker's loop and slow path ([`worker`]), the state that the workers of a runtime share ([`team`]), the
//! work-stealing deque ([`deque`]), the queues of frames from outside the deques ([`injector`]), the record of sent
//! messages ([`messages`]), the quantum ([`ticker`]), the idling protocol ([`park`]), the detection and report of
//! deadlocks ([`deadlock`], [`report`]), the interface to the other processes of a runtime ([`peers`]), and the charging of simulated computations ([`work`]). The module `runtime`
//! starts teams. Frames and calls reach their worker through [`crate::frame::context::Scheduler`], closures through
//! [`state`]. This module never reads the body or result of a frame.

pub(crate) mod deadlock;
pub(crate) mod deque;
mod injector;
mod messages;
#[cfg(not(feature = "objects"))]
pub(crate) mod no_nodes;
pub(crate) mod park;
pub(crate) mod peers;
mod report;
pub(crate) mod state;
pub(crate) mod team;
pub(crate) mod ticker;
#[cfg(feature = "visits")]
mod visit;
pub(crate) mod work;
pub(crate) mod worker;
