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
//! and the program's build (`message/identity.rs`), the library's fields by hand, the program's by postcard,
//! captureless code by its type, a panic as text, and continuations as unforgeable numbers in a table
//! (`run/continuation/travel.rs`). Half of the tests run this way.
//!
//! A **packet** (`message/packet.rs`) is a function's address and 96 bytes; larger messages are boxed. Each worker has
//! one **mailbox**, polled before each frame and while idle. An idle worker that waits for another worker's reply trips
//! that worker's guard, as a thief would; the worker handles up to 64 messages on top of its stack and leaves the stack
//! only if a resumed frame may be waiting for it. Handlers never nest. Packets cross workers through a **fabric**
//! (`fabric/mod.rs`): sends never wait, messages between a pair arrive in order, and fabrics without shared memory get
//! bytes only. The only fabric so far is threads. Its *adaptive* transport pushes while it has credit and pulls
//! otherwise; a pulled message says how many pushed ones must precede it, and a sender returns to pushing when none of
//! its pulled messages is left, so order is kept. Overflow waits in the sender's outbox. A sender checks without a
//! fence whether the receiver sleeps; the scout and the last worker to park find what that misses.

mod identity;
pub(crate) mod mailbox;
pub(crate) mod packet;
pub(crate) mod wire;
