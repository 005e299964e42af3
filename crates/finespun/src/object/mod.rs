//! Objects that live somewhere, and calls that find them.
//!
//! An object lives on one *node*, which is one worker's, and is known everywhere by its [`Ref`]. Calling a method through
//! that runs the method where the object lives: on this stack if that is here and nobody holds the object, else by an
//! active message (hybrid-execution-model, section 3.3; concert-runtime-mechanisms, sections 2 and 4).
//!
//! Here live the name space ([`reference`], [`class`], [`table`]), objects' implicit locks ([`table`] too: they are words
//! of the same entries; [`generations`]), calls ([`call`], [`checked`]), work done on another node and its answer ([`remote`]), on many
//! ([`gathering`], [`place`]), making and dropping objects ([`create`], [`array`]), and what a worker has of all that
//! ([`host`]).
//!
//! **Only the worker of a node touches its objects, their entries and their locks**, so none of that is atomic. A frame
//! that holds a reference into an object is a located one (`task::located`), which runs nowhere else. What crosses
//! workers is messages.

mod answering;
pub(crate) mod array;
pub(crate) mod call;
pub(crate) mod checked;
pub(crate) mod class;
pub(crate) mod create;
pub(crate) mod error;
pub(crate) mod gathering;
mod generations;
pub(crate) mod host;
pub(crate) mod lock;
pub(crate) mod oneway;
mod overhead;
pub(crate) mod place;
pub(crate) mod reference;
pub(crate) mod remote;
pub(crate) mod replicated;
pub(crate) mod seats;
pub(crate) mod table;

use serde::{Serialize, de::DeserializeOwned};

use crate::task::context::try_cx;

/// What may travel between nodes: arguments and results of objects' methods, and objects that are made elsewhere.
///
/// Implemented for all that serde can encode and that may move to another thread.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot travel between nodes",
    note = "derive `serde::Serialize` and `serde::Deserialize` for it, and own what it borrows"
)]
pub trait Portable: Send + Serialize + DeserializeOwned + 'static {}
impl<T: Send + Serialize + DeserializeOwned + 'static> Portable for T {}

/// The node that this code runs at: an object's home in its methods, the first of the worker's nodes in other tasks.
///
/// # Panics
/// Outside a task.
pub fn here() -> usize {
    let Some(cx) = try_cx() else { panic!("`here` was called outside a task") };
    host::Nodes::of(cx).here(cx) as usize
}

/// How many nodes there are: they are numbered from 0.
///
/// # Panics
/// Outside a task.
pub fn nodes() -> usize {
    let Some(cx) = try_cx() else { panic!("`nodes` was called outside a task") };
    host::Nodes::of(cx).count() as usize
}
