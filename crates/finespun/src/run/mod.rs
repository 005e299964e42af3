//! Running frames: the run and group of running code, and how frames continue and end.
//!
//! This module contains the worker's state with the run and group of the code ([`context`], [`membership`]), the
//! execution of a frame until it waits or ends ([`running`]), continuations ([`continuation`]), the release of a
//! group's barrier ([`release`]), the worker's index ([`index`]), the completion owners of spawned tasks ([`owner`], [`scope_state`]), and the answer
//! to a lack of memory ([`exhaustion`]). A worker continues with the waiter that a completion makes ready. Otherwise
//! the scheduler, above, decides which frame runs next and on which worker.

pub(crate) mod context;
pub(crate) mod continuation;
mod exhaustion;
pub(crate) mod index;
pub(crate) mod membership;
pub(crate) mod owner;
pub(crate) mod release;
mod running;
mod scope_state;

pub(crate) use continuation::make_ready;
pub(crate) use running::{orphan, run, settle};
