//! What one worker waits on: a token, like that of `std::thread::park`, but not
//! shared with whatever a task may do with its thread's token.

use crate::atomics::{AtomicBool, Condvar, Mutex, Ordering, lock};
use std::{sync::PoisonError, time::Duration};

/// Rung by anyone, waited for by one. A ring is kept until the next wait.
#[derive(Debug)]
pub(super) struct Bell {
    rung: AtomicBool,
    /// Guards nothing but the moment between looking at `rung` and waiting.
    doorway: Mutex<()>,
    sound: Condvar,
}

impl Bell {
    pub(super) fn new() -> Self {
        Self { rung: AtomicBool::new(false), doorway: Mutex::new(()), sound: Condvar::new() }
    }

    /// Ends the present wait, or else the next one.
    pub(super) fn ring(&self) {
        // Release: pairs with the Acquire in `wait`.
        self.rung.store(true, Ordering::Release);
        // Whoever looked before the store is past the doorway now: it waits.
        drop(lock(&self.doorway));
        self.sound.notify_one();
    }

    /// Waits until rung, or for `timeout`; whether the timeout passed. It may also
    /// return early for no reason: look, and come back.
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
