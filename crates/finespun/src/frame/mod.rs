//! Frames: the heap contexts of tasks that left the stack, their memory, and what running code knows of its worker.
//!
//! This module contains the frame and its operations ([`header`], [`body`]), the write-once slot and the join count
//! ([`slot`]), the claim of a leaf ([`claim`], [`leaf`]), cells for locals that callees borrow ([`lent`]), the memory of frames and its limit ([`pool`], [`budget`]),
//! payloads of panics and their attribution to tasks ([`payload`], [`origin`]), names of statics (`image`), the numbers of
//! runs, groups and teams ([`number`]), the guard word ([`guard`]), the beginning of a worker's state, to which
//! [`Cx`](context::Cx) points ([`context`]), and the part of it that all processes see ([`front`]). A frame has a body, or is a *leaf*, completed by a continuation, or is a *call frame*, which holds a
//! function's arguments and runs to its end without waiting. The module has no records of runs and groups (see
//! [`cancel`](crate::cancel)), only their numbers, and no code that runs frames (see [`run`](crate::run)).

mod body;
pub(crate) mod budget;
mod claim;
pub(crate) mod context;
pub(crate) mod front;
pub(crate) mod guard;
mod header;
#[cfg(feature = "objects")]
pub(crate) mod image;
pub(crate) mod leaf;
pub(crate) mod lent;
pub(crate) mod number;
pub(crate) mod origin;
mod payload;
pub(crate) mod pool;
pub(crate) mod slot;

pub(crate) use body::BodyFrame;
#[cfg(all(test, feature = "objects"))]
pub(crate) use header::LARGEST_FRAME;
#[cfg(feature = "objects")]
pub(crate) use header::quietly_here;
pub(crate) use header::{
    CallSite, CallTable, Delivered, FrameRef, Free, Header, Polled, STACK_RESERVE, Types, VTable, cancel, drop_quietly,
    drop_result, frame_layout, free, home, lost_panic, payload_ptr, poll, quietly, result_offset, result_ptr, take,
};
pub(crate) use payload::{Payload, discard};
