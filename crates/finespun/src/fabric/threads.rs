//! The fabric of threads: workers of one process, with messages in memory that they all share.

use std::ptr::NonNull;

use super::Fabric;
use super::adaptive::{self, Mode, Sent};
use crate::observe::Counters;

/// How messages between workers travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "processes", derive(serde::Serialize, serde::Deserialize))]
#[non_exhaustive]
pub enum Transport {
    /// Into a ring in the receiver's memory. Lowest latency; a slow receiver stalls its senders.
    Push,
    /// From the sender's memory, when the receiver is ready. A slow receiver stalls no sender before that sender's
    /// buffers are all in use.
    Pull,
    /// Pushed while room is left, pulled otherwise.
    #[default]
    Adaptive,
}

/// Messages that one worker may have in flight to another in its ring, with few workers. While more are in flight they are
/// pulled, which moves more cache lines between the cores. Credit returns by halves, so half of this number always fits.
const SHARE: u32 = 256;
/// Messages that all workers together may have in flight in one worker's ring, with many workers.
const RING: usize = 2048;
/// Messages that one worker may have in flight in its own memory. Recently used buffers are reused first, so that few
/// are touched while few are needed.
const QUOTA: u32 = 1024;

/// One worker's endpoint.
pub(crate) type Threads<M> = adaptive::Node<M>;

/// Creates the endpoints of `workers` workers.
pub(crate) fn threads<M: Send>(workers: usize, transport: Transport) -> Vec<Threads<M>> {
    let share = (RING / workers).clamp(2, SHARE as usize) as u32;
    let mode = match transport {
        Transport::Push => Mode::Push,
        Transport::Pull => Mode::Pull,
        Transport::Adaptive => Mode::Both,
    };
    adaptive::net_of(workers, mode, share, QUOTA)
}

// SAFETY: at most one transport takes the message, calling `write` once; `None` means that neither called it.
unsafe impl<M: Send> Fabric<M> for Threads<M> {
    fn weighs(&self) -> bool {
        false
    }

    #[inline(always)]
    unsafe fn send_in_place(
        &self,
        to: usize,
        _: impl Fn() -> usize,
        write: impl FnMut(NonNull<M>),
        counters: &Counters,
    ) -> bool {
        // SAFETY: the caller guarantees that `write` initializes the place with an `M`, and does not panic.
        match unsafe { adaptive::Node::send_in_place(self, to, write) } {
            Some(Sent::Pushed) => counters.messages_pushed.add(1),
            Some(Sent::Pulled) => counters.messages_pulled.add(1),
            None => return false,
        }
        true
    }

    #[inline(always)]
    unsafe fn receive_with<R>(&self, mut read: impl FnMut(NonNull<M>) -> R) -> Option<R> {
        // SAFETY: the caller guarantees that `read` takes or destroys the message, and does not receive.
        unsafe { adaptive::Node::receive_with(self, |_, place| read(place)) }
    }

    #[inline]
    fn arrived(&self) -> bool {
        adaptive::Node::waits(self)
    }

    #[inline]
    fn waits(&self) -> bool {
        adaptive::Node::waits(self)
    }

    fn rest(&self) {
        adaptive::Node::rest(self);
    }
}
