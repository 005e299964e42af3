//! The object that one parked worker waits on: a token like `std::thread::park`'s, but separate from the thread's
//! token, which a task may use for itself.

use crate::atomics::{AtomicBool, Condvar, Mutex, Ordering, lock};
use std::{sync::PoisonError, time::Duration};

/// A bell that any thread rings and one worker waits for. A ring is kept until the next wait.
#[derive(Debug)]
pub(super) struct Bell {
    rung: AtomicBool,
    /// Closes the window between a look at `rung` and the wait.
    doorway: Mutex<()>,
    sound: Condvar,
}

impl Bell {
    pub(super) fn new() -> Self {
        Self { rung: AtomicBool::new(false), doorway: Mutex::new(()), sound: Condvar::new() }
    }

    /// Ends the current wait, or else the next one.
    pub(super) fn ring(&self) {
        // Release: pairs with the Acquire in `wait`.
        self.rung.store(true, Ordering::Release);
        // After this lock, a worker that looked before the store has released `doorway`: it waits, and the notification
        // reaches it.
        drop(lock(&self.doorway));
        self.sound.notify_one();
    }

    /// Waits until rung, or for `timeout`. Returns true if the timeout passed. May also return early without a reason:
    /// the caller rechecks its condition and waits again.
    pub(super) fn wait(&self, timeout: Option<Duration>) -> bool {
        let doorway = lock(&self.doorway);
        // Acquire: pairs with the Release in `ring`.
        if self.rung.swap(false, Ordering::Acquire) {
            return false;
        }
        let timed_out = if let Some(timeout) = timeout {
            let (doorway, result) = self.sound.wait_timeout(doorway, timeout).unwrap_or_else(PoisonError::into_inner);
            drop(doorway);
            result.timed_out()
        } else {
            let doorway = self.sound.wait(doorway);
            drop(doorway.unwrap_or_else(PoisonError::into_inner));
            false
        };
        // Acquire: pairs with the Release in `ring`.
        !self.rung.swap(false, Ordering::Acquire) && timed_out
    }
}
