//! Messages between nodes: how a message gets from a sender's memory into a receiver's hands.
//!
//! Two transports, both of the Illinois Concert system (Karamcheti, Plevyak, Chien: *Runtime Mechanisms for Efficient
//! Dynamic Multithreading*, sections 4.1 and 4.3), between a fixed set of nodes:
//!
//! - [`push`]: the sender writes into a ring in the receiver's memory. Lowest latency; a slow receiver stalls its
//!   senders, who run out of credit.
//! - [`pull`]: the sender keeps the message in its own memory and links it into the receiver's queue. A slow receiver
//!   stalls nobody before its senders' own buffers are all out.
//!
//! What they carry is not their business: a value moves as it is. Nobody in the library sends messages yet: these are the
//! protocols, with their models, and `finespun bench transports` measures them.
//!
//! Neither ever waits: where there is no room, the message comes back to who wanted to send it. In either, the messages
//! of one sender arrive in the order in which they were sent.

pub mod pull;
pub mod push;

/// A value on cache lines of its own: two, since processors fetch them in pairs.
#[repr(align(128))]
pub(crate) struct Line<T>(pub(crate) T);

#[cfg(all(test, not(loom)))]
mod tests {
    use std::thread;

    use super::{pull, push};

    const NODES: usize = 4;
    const EACH: u64 = 5_000;

    /// Every node sends so many messages to every node, and receives between them.
    macro_rules! everybody_to_everybody {
        ($name:ident, $transport:ident) => {
            #[test]
            fn $name() {
                let work = |index: usize, node: $transport::Node<Box<(usize, u64)>>| {
                    let (mut sent, mut next) = ([0; NODES], [0; NODES]);
                    while sent != [EACH; NODES] || next != [EACH; NODES] {
                        for (to, sent) in sent.iter_mut().enumerate().filter(|(_, sent)| **sent < EACH) {
                            if node.send(to, Box::new((index, *sent))).is_ok() {
                                *sent += 1;
                            }
                        }
                        match node.receive() {
                            Some((from, message)) => {
                                assert_eq!(*message, (from, next[from]), "in order, from each sender");
                                next[from] += 1;
                            }
                            None => thread::yield_now(),
                        }
                    }
                    // Who stops looking at once might keep the last buffer that another needs.
                    for _ in 0..1000 {
                        assert!(node.receive().is_none());
                    }
                };
                thread::scope(|scope| {
                    for (index, node) in $transport::net(NODES, 3).into_iter().enumerate() {
                        scope.spawn(move || work(index, node));
                    }
                });
            }
        };
    }

    everybody_to_everybody!(by_push, push);
    everybody_to_everybody!(by_pull, pull);
}
