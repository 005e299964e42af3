//! Messages between nodes: what they carry, and what becomes of it.
//!
//! A [`packet`] is a message that knows what to do where it arrives, and a [`mailbox`] is what a worker sends and receives
//! packets by: it keeps what the fabric has no room for. A message carries values as they are, or as bytes ([`wire`]), which
//! is how it leaves the process, and then begins with the name of its handler ([`identity`]).
//!
//! Mailboxes belong to workers and not to nodes: it is the worker that polls, so a node that is slow to poll is so for all
//! the nodes beside it, and 64 nodes on two workers cost no more than two.

mod identity;
pub(crate) mod mailbox;
pub(crate) mod packet;
pub(crate) mod wire;
