//! The fabric of threads: workers of one process, messages in memory that all of them see.

use std::ptr::NonNull;

use super::Fabric;
use super::adaptive::{self, Sent, Ways};
use crate::observe::Counters;

/// How messages between workers travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transport {
    /// Into a ring in the receiver's memory. Lowest latency; a slow receiver stalls its senders.
    Push,
    /// From the sender's memory, when the receiver is ready. A slow receiver stalls nobody.
    Pull,
    /// Pushed while there is room, pulled otherwise.
    #[default]
    Adaptive,
}

/// Messages that one worker may have under way to another in its ring, with few workers.
const SHARE: u32 = 32;
/// Messages in all the rings of a worker, with many.
const RING: usize = 2048;
/// Messages that one worker may have under way in its own memory. The buffers that were used last are used first, so that
/// few are touched while few are needed.
const QUOTA: u32 = 1024;

/// One worker's end.
pub(crate) type Threads<M> = adaptive::Node<M>;

/// The ends of so many workers.
pub(crate) fn threads<M: Send>(workers: usize, transport: Transport) -> Vec<Threads<M>> {
    let share = (RING / workers).clamp(2, SHARE as usize) as u32;
    let ways = match transport {
        Transport::Push => Ways::Push,
        Transport::Pull => Ways::Pull,
        Transport::Adaptive => Ways::Both,
    };
    adaptive::net_of(workers, ways, share, QUOTA)
}

// SAFETY: of push and pull, one at most has room and calls `write`, and returns true.
unsafe impl<M: Send> Fabric<M> for Threads<M> {
    const SHARES_MEMORY: bool = true;

    #[inline(always)]
    unsafe fn send_in_place(&self, to: usize, write: impl FnMut(NonNull<M>), counters: &Counters) -> bool {
        // SAFETY: passed on.
        match unsafe { adaptive::Node::send_in_place(self, to, write) } {
            Some(Sent::Pushed) => counters.messages_pushed.add(1),
            Some(Sent::Pulled) => counters.messages_pulled.add(1),
            None => return false,
        }
        true
    }

    #[inline(always)]
    unsafe fn receive_with<R>(&self, mut read: impl FnMut(NonNull<M>) -> R) -> Option<R> {
        // SAFETY: passed on.
        unsafe { adaptive::Node::receive_with(self, |_, place| read(place)) }
    }

    #[inline]
    fn waits(&self) -> bool {
        adaptive::Node::waits(self)
    }

    fn rest(&self) {
        adaptive::Node::rest(self);
    }
}
