//! Objects with a home node, and calls that reach them.
//!
//! An object lives on one *node*, which belongs to one worker, and is known everywhere by its [`Ref`]. A method called
//! through a reference runs where the object lives: on the caller's stack if that is this node and the object is
//! unlocked, otherwise by an active message [H §3.3, C §2, §4].
//!
//! The submodules: the name space ([`reference`], [`class`], [`pages`]) and the memory that names lead to ([`space`],
//! [`slab`]), objects' implicit locks ([`table`] has their states, [`lock`] their guards), calls ([`call`], [`checked`], [`oneway`]),
//! work on another node and its answer ([`remote`], [`returning`], [`scrambled`]), on many nodes ([`gathering`], [`place`]), creating and dropping
//! objects ([`create`], [`array`]), replicated values ([`replicated`]), and a worker's nodes and mailbox ([`host`]).
//!
//! **Only a node's worker accesses the node's objects, their words and their locks**, so none of these is atomic. A
//! frame that holds a reference into an object is located (`call::located`) and runs on no other worker. Only messages
//! cross workers.

mod answering;
pub(crate) mod array;
pub(crate) mod array_table;
pub(crate) mod call;
pub(crate) mod checked;
pub(crate) mod class;
pub(crate) mod create;
pub(crate) mod error;
pub(crate) mod gathering;
pub(crate) mod host;
mod kept;
pub(crate) mod lock;
pub(crate) mod oneway;
mod overhead;
mod pages;
pub(crate) mod place;
pub(crate) mod portable;
pub(crate) mod reference;
pub(crate) mod remote;
pub(crate) mod replicated;
pub(crate) mod returning;
pub(crate) mod scrambled;
mod slab;
pub(crate) mod space;
pub(crate) mod state;
pub(crate) mod table;

use serde::{Serialize, de::DeserializeOwned};

use crate::frame::context::try_cx;

/// A value that can travel between nodes: arguments and results of objects' methods, and objects that are created
/// remotely.
///
/// Implemented for every type that serde can encode and that may move to another thread.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot travel between nodes",
    note = "derive `serde::Serialize` and `serde::Deserialize` for it, and own what it borrows"
)]
pub trait Portable: Send + Serialize + DeserializeOwned + 'static {}
impl<T: Send + Serialize + DeserializeOwned + 'static> Portable for T {}

/// Returns the node that this code runs at. For a method this is the object's home. Any other task runs at its caller's
/// node, or at the node that [`On::call`](crate::objects::On::call) names, while it is on the stack; as a frame it runs
/// at the first of its worker's nodes. On a worker without nodes, returns another worker's node.
///
/// # Panics
/// Outside a task.
#[track_caller]
pub fn here() -> usize {
    let Some(cx) = try_cx() else { panic!("`here` was called outside a task") };
    host::Nodes::of(cx).here(cx) as usize
}

/// Returns the number of nodes, which are numbered from 0.
///
/// # Panics
/// Outside a task.
#[track_caller]
pub fn nodes() -> usize {
    let Some(cx) = try_cx() else { panic!("`nodes` was called outside a task") };
    host::Nodes::of(cx).count() as usize
}
