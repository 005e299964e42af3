//! Messages between nodes: their contents, and their transfer.
//!
//! A [`packet`] is a message that contains its handler. A worker sends and receives packets through its [`mailbox`],
//! which keeps those that the fabric has no room for. A message carries values unchanged, or as bytes ([`wire`]). Bytes
//! are the form in which it can leave the process; it then begins with the name of its handler ([`identity`]).
//!
//! Mailboxes belong to workers, not to nodes, because the worker polls: a node that is slow to poll delays all the
//! nodes of its worker, and 64 nodes on two workers cost no more than two.

mod identity;
pub(crate) mod mailbox;
pub(crate) mod packet;
pub(crate) mod wire;
