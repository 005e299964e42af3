//! A channel for a single value, as tokio's.
//!
//! ```
//! use finespun::prelude::*;
//! use finespun::sync::oneshot;
//!
//! #[task]
//! async fn answer(to: oneshot::Sender<u64>) {
//!     let _ = to.send(42);
//! }
//!
//! #[task]
//! async fn ask() -> Result<u64, oneshot::RecvError> {
//!     let (to, from) = oneshot::channel();
//!     drop(spawn(answer(to)));
//!     from.await
//! }
//! # let runtime = Runtime::builder().workers(1).build().unwrap();
//! assert_eq!(runtime.run(ask()), Ok(42));
//! ```
//!
//! Between two tasks of one program, [`suspend`](crate::suspend) is cheaper: a continuation is the sender, and the wait
//! the receiver. Ends that are made or used outside the tasks delay deadlock reports, as in [`mpsc`](super::mpsc).
//!
//! *Cost*: one allocation; each operation locks a mutex for a moment.

use std::fmt;
use std::panic::Location;
use std::sync::Arc;

use super::endpoint::Endpoint;
use super::waiter::{Operation, Party, Waiter, Waiters, block_on, grant_all, made_at, operation};
use crate::atomics::{Mutex, lock};
use crate::frame::CallSite;
use crate::frame::leaf::Subject;

struct Chan<T> {
    state: Mutex<State<T>>,
    made: CallSite,
}

struct State<T> {
    value: Option<T>,
    /// The sender has sent, or was dropped.
    sent: bool,
    /// The receiver has been closed or dropped.
    closed: bool,
    receiver: Option<Waiter<()>>,
    /// Waits for the end of the receiver.
    closing: Waiters<()>,
}

impl<T> State<T> {
    /// Takes the value. `None` if it may still come.
    fn take(&mut self) -> Option<Result<T, RecvError>> {
        match self.value.take() {
            Some(value) => Some(Ok(value)),
            None if self.sent || self.closed => Some(Err(RecvError(()))),
            None => None,
        }
    }
}

/// Makes a channel for one value. Deadlock reports show where this was called.
#[track_caller]
pub fn channel<T: Send>() -> (Sender<T>, Receiver<T>) {
    let state = State { value: None, sent: false, closed: false, receiver: None, closing: Waiters::new() };
    let chan = Arc::new(Chan { state: Mutex::new(state), made: Location::caller() });
    let by = Party::here();
    (Sender { chan: Arc::clone(&chan), end: Endpoint::new(by) }, Receiver { chan, end: Endpoint::new(by) })
}

/// The sender of the value. Dropping it without sending makes receiving an error.
pub struct Sender<T: Send> {
    chan: Arc<Chan<T>>,
    end: Endpoint,
}

impl<T: Send> Sender<T> {
    /// Sends the value. Never waits.
    ///
    /// # Errors
    /// Gives the value back if the receiver has been closed or dropped.
    pub fn send(self, value: T) -> Result<(), T> {
        let mut state = lock(&self.chan.state);
        if state.closed {
            return Err(value);
        }
        // The drop of the sender wakes the receiver.
        state.value = Some(value);
        Ok(())
    }

    /// Waits until the receiver has been closed or dropped.
    #[track_caller]
    pub fn closed(&mut self) -> Closed<'_, T> {
        Closed { sender: self, place: Location::caller() }
    }

    /// Returns whether the receiver has been closed or dropped.
    pub fn is_closed(&self) -> bool {
        lock(&self.chan.state).closed
    }

    /// Declares that code outside the tasks will use this sender: until it is dropped, no wait for a lock or channel is
    /// reported as a deadlock.
    pub fn external(self) -> Sender<T> {
        self.end.declare();
        self
    }
}

impl<T: Send> Drop for Sender<T> {
    fn drop(&mut self) {
        let receiver = {
            let mut state = lock(&self.chan.state);
            state.sent = true;
            state.receiver.take()
        };
        if let Some(receiver) = receiver {
            // If the wait has been cancelled, the value stays in the channel.
            let _ = receiver.grant(());
        }
    }
}

impl<T: Send> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// The receiver of the value: an operation, which is a task, and outside the tasks a std future. `.await` gives the
/// value, or an error if the sender has been dropped.
#[must_use = "it does nothing until it is awaited"]
pub struct Receiver<T: Send> {
    chan: Arc<Chan<T>>,
    end: Endpoint,
}

impl<T: Send> Receiver<T> {
    /// Takes the value without waiting.
    ///
    /// # Errors
    /// [`TryRecvError::Empty`] if it has not been sent yet, [`TryRecvError::Closed`] if it will not be, or has been taken.
    pub fn try_recv(&mut self) -> Result<T, TryRecvError> {
        self.end.used(Party::here());
        match lock(&self.chan.state).take() {
            Some(result) => result.map_err(|RecvError(())| TryRecvError::Closed),
            None => Err(TryRecvError::Empty),
        }
    }

    /// Blocks this plain thread until the value has come.
    ///
    /// # Errors
    /// If the sender has been dropped.
    ///
    /// # Panics
    /// Inside a task.
    #[track_caller]
    pub fn blocking_recv(self) -> Result<T, RecvError> {
        block_on(self)
    }

    /// Makes sending an error from now on. A value that has been sent can still be received.
    pub fn close(&mut self) {
        self.end.used(Party::here());
        self.end_receiver();
    }

    /// Declares that code outside the tasks will use this receiver: until it is dropped, no wait for a lock or channel
    /// is reported as a deadlock.
    pub fn external(self) -> Receiver<T> {
        self.end.declare();
        self
    }

    fn end_receiver(&self) {
        let closing = {
            let mut state = lock(&self.chan.state);
            state.closed = true;
            state.closing.take()
        };
        grant_all(closing, || ());
    }
}

impl<T: Send> Drop for Receiver<T> {
    fn drop(&mut self) {
        self.end_receiver();
        let undelivered = lock(&self.chan.state).value.take();
        drop(undelivered);
    }
}

impl<T: Send> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

impl<T> Subject for Chan<T> {
    fn describe(&self) -> String {
        made_at("oneshot channel", self.made)
    }
}

// SAFETY: the subject is in memory that the operation owns a share of.
unsafe impl<T: Send> Operation for Receiver<T> {
    type Output = Result<T, RecvError>;
    type Grant = ();
    type Back = ();
    const WANTED: &'static str = "the value of";

    /// The place where the channel was made, since the receiver itself is the operation.
    fn place(&self) -> CallSite {
        self.chan.made
    }

    fn subject(&self) -> &(dyn Subject + '_) {
        &*self.chan
    }

    fn try_now(&mut self, by: Party) -> Option<Result<T, RecvError>> {
        self.end.used(by);
        lock(&self.chan.state).take()
    }

    fn enqueue(&mut self, waiter: Waiter<()>) {
        let mut state = lock(&self.chan.state);
        if state.sent || state.closed {
            drop(state);
            let _ = waiter.grant(());
        } else {
            state.receiver = Some(waiter);
        }
    }

    fn finish(&mut self, (): ()) -> Result<T, RecvError> {
        lock(&self.chan.state).take().unwrap_or(Err(RecvError(())))
    }

    fn back(&self) {}

    fn cancelled(&mut self) {
        let waiter = lock(&self.chan.state).receiver.take();
        drop(waiter);
    }
}

operation!([T: Send] Receiver<T>);

/// The operation of waiting for the end of the receiver: a task, and outside the tasks a std future.
#[must_use = "it does nothing until it is awaited"]
pub struct Closed<'a, T: Send> {
    sender: &'a Sender<T>,
    place: CallSite,
}

// SAFETY: the subject is in memory that the borrowed sender owns a share of.
unsafe impl<T: Send> Operation for Closed<'_, T> {
    type Output = ();
    type Grant = ();
    type Back = ();
    const WANTED: &'static str = "the end of the receiver of";

    fn place(&self) -> CallSite {
        self.place
    }

    fn subject(&self) -> &(dyn Subject + '_) {
        &*self.sender.chan
    }

    fn try_now(&mut self, by: Party) -> Option<()> {
        self.sender.end.used(by);
        self.sender.is_closed().then_some(())
    }

    fn enqueue(&mut self, waiter: Waiter<()>) {
        let mut state = lock(&self.sender.chan.state);
        if state.closed {
            drop(state);
            let _ = waiter.grant(());
        } else {
            let cancelled = state.closing.push(waiter);
            drop(state);
            drop(cancelled);
        }
    }

    fn finish(&mut self, (): ()) {}

    fn back(&self) {}
}

operation!(['a, T: Send] Closed<'a, T>);

/// The error of receiving when the sender has been dropped without sending.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the sender was dropped without sending, or the value has been taken")]
pub struct RecvError(());

/// The error of receiving without waiting.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TryRecvError {
    /// The value has not been sent yet.
    #[error("the value has not been sent yet")]
    Empty,
    /// The sender was dropped without sending, or the value has been taken.
    #[error("the sender was dropped without sending, or the value has been taken")]
    Closed,
}
