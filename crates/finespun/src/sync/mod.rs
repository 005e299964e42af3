//! Locks that suspend the task instead of blocking its worker. They use [`crate::suspend`] alone, as a program could.
//!
//! A waiting task is a frame, which never runs on the lock holder's stack. So its worker runs other tasks, and a guard
//! may be held across a `join!` or any await.

mod mutex;
mod semaphore;
mod wait_queue;

pub use mutex::{Mutex, MutexGuard};
pub use semaphore::{Acquire, Permit, Semaphore};
