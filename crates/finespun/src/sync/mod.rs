//! Locks that suspend the task instead of blocking its worker. They use [`crate::suspend`] alone, as a program could.
//!
//! A waiting task is a frame: its worker runs other tasks, and never runs them on top of the stack of a lock holder. So
//! a guard may be held across a `join!` or any await.

mod mutex;
mod semaphore;
mod wait_queue;

pub use mutex::{Mutex, MutexGuard};
pub use semaphore::{Acquire, Permit, Semaphore};
