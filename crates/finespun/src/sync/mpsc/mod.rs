//! Channels with many senders and one receiver, as tokio's and std's.
//!
//! [`channel`] has a bound: [`Sender::send`] waits while the channel is full, in the order of the requests.
//! [`unbounded_channel`] has none. Messages arrive in the order in which they were sent.
//!
//! The channel ends on either side. When the last sender is dropped, the receiver gets the messages that are left, then
//! `None`. When the receiver is dropped or closed, sending fails and gives the message back.
//!
//! **Outside the tasks.** Both ends work on plain threads (`try_`, `blocking_`), in std futures on other executors
//! (`.await`), and across runtimes. If the receiver waits, and all senders are held by tasks that wait, this is a deadlock
//! and is reported. A sender or receiver that was made or last used outside the tasks may end a wait at any time: while
//! there is one in the process, no wait for a lock or channel is reported as a deadlock. A task that hands its own end to
//! a plain thread declares this by [`Sender::external`], unless the thread uses the end within a second.
//!
//! **Cancellation.** A cancelled `recv` loses no message. A cancelled `send` has not sent, and drops its message; its
//! place in the queue passes to the next sender.
//!
//! ```
//! use finespun::prelude::*;
//! use finespun::sync::mpsc;
//!
//! #[task]
//! async fn produce(to: mpsc::Sender<u64>, n: u64) {
//!     for i in 0..n {
//!         if to.send(i).await.is_err() {
//!             return;
//!         }
//!     }
//! }
//!
//! #[task]
//! async fn consume(mut from: mpsc::Receiver<u64>) -> u64 {
//!     let mut sum = 0;
//!     while let Some(n) = from.recv().await {
//!         sum += n;
//!     }
//!     sum
//! }
//!
//! #[task]
//! async fn both() -> u64 {
//!     let (to, from) = mpsc::channel(16);
//!     let ((), sum) = join!(produce(to, 100), consume(from));
//!     sum
//! }
//! # let runtime = Runtime::builder().workers(1).build().unwrap();
//! assert_eq!(runtime.run(both()), 4950);
//! ```
//!
//! *Cost*: sending and receiving lock a mutex for a moment each. A wait costs the waiter's frames.

mod chan;
mod error;
mod receiver;
mod sender;

use std::panic::Location;
use std::sync::Arc;

use super::waiter::Party;
use chan::Chan;

pub use chan::{Closed, Recv, Sending};
pub use error::{SendError, TryRecvError, TrySendError};
pub use receiver::Receiver;
pub use sender::{Sender, UnboundedSender};

/// The receiver of an [`unbounded_channel`].
pub type UnboundedReceiver<T> = Receiver<T>;

/// Makes a channel for at most `bound` messages that have not been received. Deadlock reports show where this was called.
///
/// # Panics
/// If `bound` is zero.
#[track_caller]
pub fn channel<T: Send>(bound: usize) -> (Sender<T>, Receiver<T>) {
    assert!(bound > 0, "a channel needs room for one message: `mpsc::channel(0)` was called");
    let (chan, by) = (Arc::new(Chan::new(bound, Location::caller())), Party::here());
    (Sender::new(Arc::clone(&chan), by), Receiver::new(chan, by))
}

/// Makes a channel for any number of messages. Deadlock reports show where this was called.
#[track_caller]
pub fn unbounded_channel<T: Send>() -> (UnboundedSender<T>, UnboundedReceiver<T>) {
    let (chan, by) = (Arc::new(Chan::new(usize::MAX, Location::caller())), Party::here());
    (UnboundedSender::new(Arc::clone(&chan), by), Receiver::new(chan, by))
}
