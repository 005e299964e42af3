//! Synchronisation: locks, permits, notifications and channels, which suspend the task instead of blocking its worker.
//!
//! A waiting task is a frame: its worker runs other tasks, and never runs them on top of the stack of a lock holder. So
//! a guard may be held across a `join!` or any await.
//!
//! # Which to use
//!
//! | use | for | uncontended cost |
//! |---|---|---|
//! | values, [`join!`](crate::join), [`reduce`](crate::reduce) | results of tasks: no synchronisation at all | none |
//! | [`Mutex`] | a value that one task at a time uses, across awaits | lock and unlock: 2 atomic operations |
//! | `std::sync::Mutex` | the same for a few instructions, without an await | the same, and it blocks the worker |
//! | [`RwLock`] | a value that many tasks read for long, and few write | 2 atomic operations |
//! | [`Semaphore`] | a limit for the number of tasks that do something | 2 atomic operations |
//! | [`Notify`] | waking a task to look again at state that has its own protection | 1 short mutex |
//! | [`Barrier`] | a fixed number of tasks that meet repeatedly; activities of a group meet by [`group::sync`](crate::group::sync) | 1 short mutex |
//! | [`OnceCell`] | a value that the first user computes, by a task | 1 load |
//! | [`mpsc`] | a stream of messages to one task | 1 short mutex to send, 1 to receive |
//! | [`oneshot`] | one value to one task, also from outside; between tasks [`suspend`](crate::suspend) is cheaper | 1 allocation, 3 short mutexes |
//! | [`watch`] | the latest value, for many tasks | 2 short mutexes to send |
//!
//! A *short mutex* is a `std::sync::Mutex` held for some instructions: two atomic operations. A wait also costs one or two
//! frames, which come from the worker's pool.
//!
//! # Where they work
//!
//! Each operation that may wait is a value with three uses:
//!
//! * in a `#[task]`, `.await` calls it as a task: on the stack if it need not wait;
//! * in an `async` block of another executor (tokio's, or one inside [`foreign`](crate::foreign)), `.await` polls it as a
//!   std future, [`Waiting`];
//! * on a plain thread, methods named `blocking_` block. They panic inside a task. In a [`blocking`](crate::blocking)
//!   call they are permitted.
//!
//! ```
//! use finespun::prelude::*;
//! use finespun::sync::mpsc;
//!
//! #[task]
//! async fn square(mut from: mpsc::Receiver<u64>, to: mpsc::Sender<u64>) {
//!     while let Some(n) = from.recv().await {
//!         let _ = to.send(n * n).await;
//!     }
//! }
//!
//! let runtime = Runtime::builder().workers(1).build().unwrap();
//! let (questions, from) = mpsc::channel(4);
//! let (to, mut answers) = mpsc::channel(4);
//! let _run = runtime.spawn(square(from, to));
//! questions.blocking_send(7).unwrap();
//! assert_eq!(answers.blocking_recv(), Some(49));
//! ```
//!
//! The same objects serve tasks of several runtimes, std futures and threads at one time.
//!
//! # Cancellation
//!
//! A wait ends early when its task is cancelled, with its run or its group, or when its future is dropped. Nothing is
//! lost then: a lock, permit or notification that had been granted passes to the next waiter, and a message stays in its
//! channel. A cancelled request does not block later ones. (But several branches of a `race` or `select!` may take a message
//! each before one ends the others: the values of the others are dropped. So does a timeout at the same moment.)
//!
//! # Deadlocks
//!
//! A cycle of waits ends in [`RunError::Deadlock`](crate::RunError::Deadlock), after a second. For each wait, the report
//! names the task, the object with the place where it was made, and the place of the wait; for a lock, also the place
//! where its holder has locked it:
//!
//! ```text
//! main::transfer waits for the Mutex made at src/main.rs:30:13, which was locked at src/main.rs:12:24, at src/main.rs:13:24
//! ```
//!
//! The library cannot see whether code outside the tasks will end a wait. See [`outside`](crate::tasks::outside),
//! and [`mpsc`] for channels.
//!
//! # Compared with tokio
//!
//! | tokio's `sync` | here | differences |
//! |---|---|---|
//! | `Mutex`, `RwLock` | the same | `try_` methods give an `Option`; no owned or mapped guards |
//! | `Semaphore` | the same | `release` for `add_permits`, `available` for `available_permits`; it is never closed |
//! | `Notify` | the same | no `notify_last`, no `enable` |
//! | `Barrier` | the same | a cancelled wait does not count |
//! | `OnceCell` | the same | the initialiser is a task |
//! | `mpsc` | the same | no `reserve`, `recv_many` and weak senders; `UnboundedReceiver` is `Receiver` |
//! | `oneshot` | the same | |
//! | `watch` | the same | no `wait_for` |
//! | `broadcast` | none | an `mpsc` per receiver |
//!
//! # Inside
//!
//! Locks and semaphores are permits with a queue of requests (`permits`, on the lock-free word of `wait_queue`); the
//! others are small states behind a mutex. All wait in the one way of `waiter`, on [`suspend`](crate::suspend)'s leaves.
//! This module is called by programs only, and never schedules.

mod barrier;
mod endpoint;
mod lock;
pub mod mpsc;
mod mutex;
mod notify;
mod once_cell;
pub mod oneshot;
mod permits;
mod rwlock;
mod semaphore;
mod wait_queue;
mod waiter;
pub mod watch;

pub use barrier::{Barrier, BarrierWait, BarrierWaitResult};
pub use mutex::{Lock, Mutex, MutexGuard};
pub use notify::{Notified, Notify};
pub use once_cell::{GetOrInit, GetOrTryInit, OnceCell, SetError};
pub use rwlock::{Read, RwLock, RwLockReadGuard, RwLockWriteGuard, Write};
pub use semaphore::{Acquire, Permit, Semaphore};
pub use waiter::Waiting;
