//! The sending ends.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::super::endpoint::Endpoint;
use super::super::waiter::{Party, block_on};
use super::chan::{Chan, Closed, Sending};
use super::error::{SendError, TrySendError};

/// A share in the sending end of a channel.
struct End<T: Send> {
    chan: Arc<Chan<T>>,
    end: Endpoint,
}

impl<T: Send> End<T> {
    fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        self.end.used(Party::here());
        self.chan.try_send(value)
    }

    #[track_caller]
    fn closed(&self) -> Closed<'_, T> {
        Closed { chan: &self.chan, end: &self.end, place: Location::caller() }
    }
}

impl<T: Send> Clone for End<T> {
    fn clone(&self) -> End<T> {
        let by = Party::here();
        self.end.used(by);
        self.chan.add_sender();
        End { chan: Arc::clone(&self.chan), end: Endpoint::new(by) }
    }
}

impl<T: Send> Drop for End<T> {
    fn drop(&mut self) {
        self.chan.drop_sender();
    }
}

/// A sender of a channel with a bound.
///
/// When the last one is dropped, the receiver gets `None` after the messages that are left.
pub struct Sender<T: Send>(End<T>);

impl<T: Send> Sender<T> {
    pub(super) fn new(chan: Arc<Chan<T>>, by: Party) -> Sender<T> {
        Sender(End { chan, end: Endpoint::new(by) })
    }

    /// Sends a message. Waits while the channel is full.
    ///
    /// The result is an error, which gives the message back, if the receiver has been closed or dropped. If the wait is
    /// cancelled, the message is not sent, and is dropped.
    #[track_caller]
    pub fn send(&self, value: T) -> Sending<'_, T> {
        Sending { chan: &self.0.chan, end: &self.0.end, value: Some(value), place: Location::caller() }
    }

    /// Sends a message without waiting.
    ///
    /// # Errors
    /// Gives the message back if the channel is full, or its receiver has been closed or dropped.
    pub fn try_send(&self, value: T) -> Result<(), TrySendError<T>> {
        self.0.try_send(value)
    }

    /// Blocks this plain thread until it has sent a message, as [`send`](Sender::send) waits.
    ///
    /// # Errors
    /// Gives the message back if the receiver has been closed or dropped.
    ///
    /// # Panics
    /// Inside a task.
    #[track_caller]
    pub fn blocking_send(&self, value: T) -> Result<(), SendError<T>> {
        block_on(self.send(value))
    }

    /// Returns the number of messages that can be sent now without waiting.
    pub fn capacity(&self) -> usize {
        self.0.chan.free()
    }

    /// Returns the bound of the channel.
    pub fn max_capacity(&self) -> usize {
        self.0.chan.capacity
    }
}

/// A sender of a channel without a bound.
///
/// When the last one is dropped, the receiver gets `None` after the messages that are left.
pub struct UnboundedSender<T: Send>(End<T>);

impl<T: Send> UnboundedSender<T> {
    pub(super) fn new(chan: Arc<Chan<T>>, by: Party) -> UnboundedSender<T> {
        UnboundedSender(End { chan, end: Endpoint::new(by) })
    }

    /// Sends a message. Never waits.
    ///
    /// # Errors
    /// Gives the message back if the receiver has been closed or dropped.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        self.0.try_send(value).map_err(|error| SendError(error.into_inner()))
    }
}

/// The methods that both senders have.
macro_rules! sender {
    ($name:ident) => {
        impl<T: Send> $name<T> {
            /// Waits until the receiver has been closed or dropped.
            #[track_caller]
            pub fn closed(&self) -> Closed<'_, T> {
                self.0.closed()
            }

            /// Returns whether the receiver has been closed or dropped.
            pub fn is_closed(&self) -> bool {
                self.0.chan.is_closed()
            }

            /// Returns whether both senders belong to the same channel.
            pub fn same_channel(&self, other: &$name<T>) -> bool {
                Arc::ptr_eq(&self.0.chan, &other.0.chan)
            }

            /// Declares that code outside the tasks will use this sender: until it is dropped, no wait for a lock or
            /// channel is reported as a deadlock. The declaration does not hold for its clones.
            pub fn external(self) -> $name<T> {
                self.0.end.declare();
                self
            }
        }

        impl<T: Send> Clone for $name<T> {
            fn clone(&self) -> $name<T> {
                $name(self.0.clone())
            }
        }

        impl<T: Send> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name)).field("closed", &self.is_closed()).finish_non_exhaustive()
            }
        }
    };
}

sender!(Sender);
sender!(UnboundedSender);
