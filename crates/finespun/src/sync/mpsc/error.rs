//! The errors of sending and receiving.

use std::fmt;

/// The error of sending to a channel whose receiver has been closed or dropped: gives the message back.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the channel is closed: its receiver has been closed or dropped")]
pub struct SendError<T>(pub T);

/// The error of sending without waiting: gives the message back.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum TrySendError<T> {
    /// No slot is free.
    #[error("the channel is full")]
    Full(T),
    /// The receiver has been closed or dropped.
    #[error("the channel is closed: its receiver has been closed or dropped")]
    Closed(T),
}

/// The error of receiving without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TryRecvError {
    /// The channel has no message now.
    #[error("the channel is empty")]
    Empty,
    /// The channel has no message and will get none: it has no senders, or has been closed.
    #[error("the channel is empty, and has no senders or has been closed")]
    Disconnected,
}

impl<T> TrySendError<T> {
    /// Returns the message.
    pub fn into_inner(self) -> T {
        match self {
            TrySendError::Full(value) | TrySendError::Closed(value) => value,
        }
    }
}

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendError").finish_non_exhaustive()
    }
}

impl<T> fmt::Debug for TrySendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            TrySendError::Full(_) => "Full(..)",
            TrySendError::Closed(_) => "Closed(..)",
        })
    }
}
