//! The receiving end.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::super::endpoint::Endpoint;
use super::super::waiter::{Party, block_on};
use super::chan::{Chan, Recv};
use super::error::TryRecvError;

/// The receiving end of a channel.
///
/// Dropping it closes the channel, and drops the messages that have not been received.
pub struct Receiver<T: Send> {
    chan: Arc<Chan<T>>,
    end: Endpoint,
}

impl<T: Send> Receiver<T> {
    pub(super) fn new(chan: Arc<Chan<T>>, by: Party) -> Receiver<T> {
        Receiver { chan, end: Endpoint::new(by) }
    }

    /// Waits for the next message. Returns `None` when no message is left, and there are no senders or the channel has
    /// been closed.
    ///
    /// If the wait is cancelled, no message is lost. (One that has been received is dropped if at the same moment another
    /// branch of a [`select!`](crate::select) or [`race`](crate::race), or a timeout, ends the wait.)
    #[track_caller]
    pub fn recv(&mut self) -> Recv<'_, T> {
        Recv { chan: &self.chan, end: &self.end, place: Location::caller() }
    }

    /// Takes the next message without waiting.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`] if there is none, [`TryRecvError::Disconnected`] if there will be none.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.end.used(Party::here());
        self.chan.try_recv()
    }

    /// Blocks this plain thread until there is a message, as [`recv`](Receiver::recv) waits.
    ///
    /// # Panics
    /// Inside a task.
    #[track_caller]
    pub fn blocking_recv(&mut self) -> Option<T> {
        block_on(self.recv())
    }

    /// Closes the channel: sending fails from now on. Messages that have been sent can still be received.
    pub fn close(&mut self) {
        self.end.used(Party::here());
        self.chan.close();
    }

    /// Returns whether the channel gets no further messages: it has been closed, or has no senders.
    pub fn is_closed(&self) -> bool {
        self.chan.is_disconnected()
    }

    /// Returns whether no message can be received now.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Returns the number of messages that can be received now.
    pub fn len(&self) -> usize {
        self.chan.len()
    }

    /// Returns the number of messages that can be sent now without waiting.
    pub fn capacity(&self) -> usize {
        self.chan.free()
    }

    /// Returns the bound of the channel; `usize::MAX` if it has none.
    pub fn max_capacity(&self) -> usize {
        self.chan.capacity
    }

    /// Declares that code outside the tasks will use this end: until it is dropped, no wait for a lock or channel is
    /// reported as a deadlock.
    pub fn external(self) -> Receiver<T> {
        self.end.declare();
        self
    }
}

impl<T: Send> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.chan.drop_receiver();
    }
}

impl<T: Send> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").field("len", &self.len()).finish_non_exhaustive()
    }
}
