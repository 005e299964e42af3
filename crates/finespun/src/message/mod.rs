//! Messages between nodes: their contents, and their transfer.
//!
//! A [`packet`] is a message that contains its handler. A worker sends and receives packets through its [`mailbox`],
//! which keeps the packets that the fabric has no room for. A message carries values unchanged, or as bytes ([`wire`]).
//! Only a message as bytes can leave the process; it begins with the name of its handler ([`identity`]).
//!
//! Mailboxes belong to workers, not to nodes, because the worker polls. So a long task at one node delays the messages
//! of all nodes of its worker, and 64 nodes on two workers cost no more than two nodes.
//!
//! Messages can travel **as bytes** (`message/wire.rs`, `Builder::encode`): the handler by its distance from an anchor
//! and the program's build (`message/identity.rs`), values by postcard, plain array elements as in memory, captureless
//! code by its type, a panic as text, and continuations as numbers in a table of the process
//! (`run/continuation/travel.rs`) or, in messages to other processes, of the worker (`object/kept.rs`). Half of the
//! tests run this way.
//!
//! A **packet** (`message/packet.rs`) is a function's address and 96 bytes; larger messages are boxed. Each worker has
//! one **mailbox**, polled before each frame and while idle. An idle worker trips the guard of a running worker with
//! pending messages, as a thief would; that worker handles up to 64 on top of its stack, and unwinds to frames for them
//! only if a message readied a frame or located frames wait. Handlers never nest. Packets cross workers through a
//! **fabric** (`fabric/mod.rs`): sends never wait, messages between a pair arrive in order, and fabrics without shared
//! memory get bytes only. The fabrics are threads, which share memory, and simulated machines, which do not. The
//! *adaptive* transport of threads pushes while it has credit and pulls otherwise; a pulled message says how many
//! pushed ones must precede it, and a sender returns to pushing when none of its pulled messages is left, so order is
//! kept. Overflow waits in the sender's outbox. A sender checks without a fence whether the receiver is parked; the
//! scout or the last worker to park wakes receivers that it missed.

mod bounded;
pub(crate) mod identity;
pub(crate) mod mailbox;
pub(crate) mod packet;
pub(crate) mod wire;
