//! Locks that suspend the task instead of blocking its worker: built on [`crate::suspend`] alone, as a user could.
//!
//! A waiting task is a frame, so its worker goes on with other tasks, and a guard may be held across a `join!` or
//! any await: what waits is a frame, and never runs on the stack of what holds.

mod line;
mod mutex;
mod semaphore;

pub use mutex::{Mutex, MutexGuard};
pub use semaphore::{Acquire, Permit, Semaphore};
