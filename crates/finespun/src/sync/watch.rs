//! A channel that keeps the last value only, for any number of senders and receivers, as tokio's.
//!
//! ```
//! use finespun::prelude::*;
//! use finespun::sync::watch;
//!
//! #[task]
//! async fn follow(mut level: watch::Receiver<u64>) -> u64 {
//!     while level.changed().await.is_ok() {}
//!     // The senders are gone: this is the last value.
//!     let last = *level.borrow();
//!     last
//! }
//!
//! #[task]
//! async fn lead(level: watch::Sender<u64>) {
//!     for n in 1..=10 {
//!         level.send_replace(n);
//!         yield_now().await;
//!     }
//! }
//!
//! #[task]
//! async fn both() -> u64 {
//!     let (to, from) = watch::channel(0);
//!     let ((), last) = join!(lead(to), follow(from));
//!     last
//! }
//! # let runtime = Runtime::builder().workers(1).build().unwrap();
//! assert_eq!(runtime.run(both()), 10);
//! ```
//!
//! Ends that are made or used outside the tasks delay deadlock reports, as in [`mpsc`](super::mpsc).
//!
//! *Cost*: sending locks a mutex and the value for a moment, and resumes all receivers that wait.

use std::fmt;
use std::ops::Deref;
use std::panic::Location;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, PoisonError, RwLock, RwLockReadGuard};

use super::endpoint::Endpoint;
use super::waiter::{Operation, Party, Waiter, Waiters, grant_all, made_at, operation};
use crate::atomics::{Mutex, lock};
use crate::frame::CallSite;
use crate::frame::leaf::Subject;

struct Chan<T> {
    /// Locked before the state.
    value: RwLock<T>,
    state: Mutex<State>,
    made: CallSite,
}

struct State {
    /// The number of changes; changed while the value is locked.
    version: u64,
    senders: usize,
    receivers: usize,
    changing: Waiters<()>,
    /// Waits for the end of all receivers.
    closing: Waiters<()>,
}

impl State {
    /// Returns whether the value has changed since `seen`, which becomes the current version. `None` if it has not, and
    /// may change.
    fn look(&self, seen: &AtomicU64) -> Option<Result<(), RecvError>> {
        // Relaxed: the receiver is borrowed exclusively.
        if seen.load(Ordering::Relaxed) != self.version {
            seen.store(self.version, Ordering::Relaxed);
            return Some(Ok(()));
        }
        (self.senders == 0).then_some(Err(RecvError(())))
    }
}

/// Makes a channel with a first value, which its receiver has seen. Deadlock reports show where this was called.
#[track_caller]
pub fn channel<T: Send + Sync>(first: T) -> (Sender<T>, Receiver<T>) {
    let state = State { version: 0, senders: 1, receivers: 1, changing: Waiters::new(), closing: Waiters::new() };
    let chan = Arc::new(Chan { value: RwLock::new(first), state: Mutex::new(state), made: Location::caller() });
    let by = Party::here();
    let receiver = Receiver { chan: Arc::clone(&chan), end: Endpoint::new(by), seen: AtomicU64::new(0) };
    (Sender { chan, end: Endpoint::new(by) }, receiver)
}

/// A shared access to a channel's value. Senders block while it lives: drop it soon.
///
/// It cannot be kept across an await.
pub struct Ref<'a, T>(RwLockReadGuard<'a, T>);

impl<T> Deref for Ref<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Debug> fmt::Debug for Ref<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T> Chan<T> {
    fn borrow(&self) -> Ref<'_, T> {
        Ref(self.value.read().unwrap_or_else(PoisonError::into_inner))
    }
}

/// A sender. When the last one is dropped, [`Receiver::changed`] is an error after the last change.
pub struct Sender<T: Send + Sync> {
    chan: Arc<Chan<T>>,
    end: Endpoint,
}

impl<T: Send + Sync> Sender<T> {
    /// Changes the value.
    ///
    /// # Errors
    /// Gives the new value back if there is no receiver.
    pub fn send(&self, value: T) -> Result<(), SendError<T>> {
        if self.is_closed() {
            return Err(SendError(value));
        }
        drop(self.send_replace(value));
        Ok(())
    }

    /// Changes the value, also if there is no receiver. Returns the value before.
    pub fn send_replace(&self, value: T) -> T {
        let mut value = value;
        self.send_modify(|own| std::mem::swap(own, &mut value));
        value
    }

    /// Changes the value by a function.
    pub fn send_modify(&self, modify: impl FnOnce(&mut T)) {
        self.send_if_modified(|value| {
            modify(value);
            true
        });
    }

    /// Calls a function that may change the value, and says whether it has. Receivers hear of a change only. Returns the
    /// function's result.
    pub fn send_if_modified(&self, modify: impl FnOnce(&mut T) -> bool) -> bool {
        self.end.used(Party::here());
        let changing = {
            let mut value = self.chan.value.write().unwrap_or_else(PoisonError::into_inner);
            if !modify(&mut value) {
                return false;
            }
            let mut state = lock(&self.chan.state);
            state.version += 1;
            state.changing.take()
        };
        grant_all(changing, || ());
        true
    }

    /// Returns a shared access to the value.
    pub fn borrow(&self) -> Ref<'_, T> {
        self.chan.borrow()
    }

    /// Makes a receiver that has seen the current value.
    pub fn subscribe(&self) -> Receiver<T> {
        let by = Party::here();
        self.end.used(by);
        let mut state = lock(&self.chan.state);
        state.receivers += 1;
        let seen = AtomicU64::new(state.version);
        drop(state);
        Receiver { chan: Arc::clone(&self.chan), end: Endpoint::new(by), seen }
    }

    /// Returns the number of receivers.
    pub fn receiver_count(&self) -> usize {
        lock(&self.chan.state).receivers
    }

    /// Returns whether there is no receiver.
    pub fn is_closed(&self) -> bool {
        self.receiver_count() == 0
    }

    /// Waits until there is no receiver.
    #[track_caller]
    pub fn closed(&self) -> Closed<'_, T> {
        Closed { sender: self, place: Location::caller() }
    }

    /// Declares that code outside the tasks will use this sender: until it is dropped, no wait for a lock or channel is
    /// reported as a deadlock. The declaration does not hold for its clones.
    pub fn external(self) -> Sender<T> {
        self.end.declare();
        self
    }
}

impl<T: Send + Sync> Clone for Sender<T> {
    fn clone(&self) -> Sender<T> {
        let by = Party::here();
        self.end.used(by);
        lock(&self.chan.state).senders += 1;
        Sender { chan: Arc::clone(&self.chan), end: Endpoint::new(by) }
    }
}

impl<T: Send + Sync> Drop for Sender<T> {
    fn drop(&mut self) {
        let changing = {
            let mut state = lock(&self.chan.state);
            state.senders -= 1;
            if state.senders > 0 {
                return;
            }
            state.changing.take()
        };
        grant_all(changing, || ());
    }
}

impl<T: Send + Sync> fmt::Debug for Sender<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Sender").finish_non_exhaustive()
    }
}

/// A receiver. It knows which version of the value it has seen.
pub struct Receiver<T: Send + Sync> {
    chan: Arc<Chan<T>>,
    end: Endpoint,
    /// Changed only while the receiver is borrowed exclusively.
    seen: AtomicU64,
}

impl<T: Send + Sync> Receiver<T> {
    /// Returns a shared access to the value, without marking it as seen.
    pub fn borrow(&self) -> Ref<'_, T> {
        self.chan.borrow()
    }

    /// Returns a shared access to the value, and marks it as seen.
    pub fn borrow_and_update(&mut self) -> Ref<'_, T> {
        let value = self.chan.borrow();
        // While the value is borrowed, the version does not change.
        *self.seen.get_mut() = lock(&self.chan.state).version;
        value
    }

    /// Returns whether there is a value that this receiver has not seen.
    ///
    /// # Errors
    /// If there is no sender.
    pub fn has_changed(&self) -> Result<bool, RecvError> {
        let state = lock(&self.chan.state);
        if state.senders == 0 { Err(RecvError(())) } else { Ok(state.version != self.seen.load(Ordering::Relaxed)) }
    }

    /// Waits until there is a value that this receiver has not seen, and marks it as seen. The result is an error if there
    /// is none, and no sender.
    ///
    /// If the wait is cancelled, the value counts as not seen.
    #[track_caller]
    pub fn changed(&mut self) -> Changed<'_, T> {
        Changed { receiver: self, place: Location::caller() }
    }

    /// Declares that code outside the tasks will use this receiver: until it is dropped, no wait for a lock or channel
    /// is reported as a deadlock. The declaration does not hold for its clones.
    pub fn external(self) -> Receiver<T> {
        self.end.declare();
        self
    }
}

impl<T: Send + Sync> Clone for Receiver<T> {
    fn clone(&self) -> Receiver<T> {
        let by = Party::here();
        self.end.used(by);
        lock(&self.chan.state).receivers += 1;
        Receiver {
            chan: Arc::clone(&self.chan),
            end: Endpoint::new(by),
            seen: AtomicU64::new(self.seen.load(Ordering::Relaxed)),
        }
    }
}

impl<T: Send + Sync> Drop for Receiver<T> {
    fn drop(&mut self) {
        let closing = {
            let mut state = lock(&self.chan.state);
            state.receivers -= 1;
            if state.receivers > 0 {
                return;
            }
            state.closing.take()
        };
        grant_all(closing, || ());
    }
}

impl<T: Send + Sync> fmt::Debug for Receiver<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Receiver").finish_non_exhaustive()
    }
}

impl<T> Subject for Chan<T> {
    fn describe(&self) -> String {
        made_at("watch channel", self.made)
    }
}

/// The operation returned by [`Receiver::changed`]: a task, and outside the tasks a std future.
#[must_use = "it does nothing until it is awaited"]
pub struct Changed<'a, T: Send + Sync> {
    /// Borrowed exclusively, by [`Receiver::changed`].
    receiver: &'a Receiver<T>,
    place: CallSite,
}

// SAFETY: the subject is in memory that the borrowed receiver owns a share of.
unsafe impl<'a, T: Send + Sync> Operation for Changed<'a, T> {
    type Output = Result<(), RecvError>;
    type Grant = ();
    type Back = &'a Receiver<T>;
    const WANTED: &'static str = "a change of";

    fn place(&self) -> CallSite {
        self.place
    }

    fn subject(&self) -> &(dyn Subject + '_) {
        &*self.receiver.chan
    }

    fn try_now(&mut self, by: Party) -> Option<Result<(), RecvError>> {
        self.receiver.end.used(by);
        let Receiver { chan, seen, .. } = self.receiver;
        lock(&chan.state).look(seen)
    }

    fn enqueue(&mut self, waiter: Waiter<()>) {
        let mut state = lock(&self.receiver.chan.state);
        if state.version != self.receiver.seen.load(Ordering::Relaxed) || state.senders == 0 {
            drop(state);
            let _ = waiter.grant(());
        } else {
            let cancelled = state.changing.push(waiter);
            drop(state);
            drop(cancelled);
        }
    }

    fn finish(&mut self, (): ()) -> Result<(), RecvError> {
        let Receiver { chan, seen, .. } = self.receiver;
        lock(&chan.state).look(seen).unwrap_or(Ok(()))
    }

    fn back(&self) -> &'a Receiver<T> {
        self.receiver
    }

    fn give_back(receiver: &'a Receiver<T>, output: Result<(), RecvError>) {
        if output.is_ok() {
            // Any version but the current one: the value counts as not seen.
            receiver.seen.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

operation!(['a, T: Send + Sync] Changed<'a, T>);

/// The operation returned by [`Sender::closed`]: a task, and outside the tasks a std future.
#[must_use = "it does nothing until it is awaited"]
pub struct Closed<'a, T: Send + Sync> {
    sender: &'a Sender<T>,
    place: CallSite,
}

// SAFETY: the subject is in memory that the borrowed sender owns a share of.
unsafe impl<T: Send + Sync> Operation for Closed<'_, T> {
    type Output = ();
    type Grant = ();
    type Back = ();
    const WANTED: &'static str = "the end of the receivers of";

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
        if state.receivers == 0 {
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

operation!(['a, T: Send + Sync] Closed<'a, T>);

/// The error of sending to a channel without receivers: gives the value back.
#[derive(Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the channel has no receiver")]
pub struct SendError<T>(pub T);

impl<T> fmt::Debug for SendError<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SendError").finish_non_exhaustive()
    }
}

/// The error of waiting for a change when there is no sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the channel has no sender")]
pub struct RecvError(());
