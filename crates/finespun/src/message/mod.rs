//! Messages between nodes: their contents, and their transfer.
//!
//! A [`packet`] is a message that contains its handler. A worker sends and receives packets through its [`mailbox`],
//! which keeps the packets that the fabric has no room for. A message carries values unchanged, or as bytes ([`wire`]).
//! Only a message as bytes can leave the process; it begins with the name of its handler ([`identity`]).
//!
//! Mailboxes belong to workers, not to nodes, because the worker polls. So a long task at one node delays the messages
//! of all nodes of its worker, and 64 nodes on two workers cost no more than two nodes.

mod identity;
pub(crate) mod mailbox;
pub(crate) mod packet;
pub(crate) mod wire;
