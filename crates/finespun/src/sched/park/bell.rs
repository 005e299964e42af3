//! The object that one parked worker waits on: a token like `std::thread::park`'s, but separate from the thread's
//! token, which a task may use for itself.

use crate::atomics::{AtomicBool, Condvar, Mutex, Ordering, lock};
use crate::sim::{Simulator, Waited};
use std::sync::{Arc, PoisonError};
use std::{fmt, time::Duration};

/// A bell that any thread rings and one worker waits for. A ring is kept until the next wait.
pub(super) struct Bell {
    rung: AtomicBool,
    /// Held from the check of `rung` to the wait, so that no ring falls between them.
    mutex: Mutex<()>,
    condvar: Condvar,
    /// The simulated machine that the worker waits on instead, and its number there.
    simulated: Option<(Arc<dyn Simulator>, usize)>,
}

impl Bell {
    pub(super) fn new(simulated: Option<(Arc<dyn Simulator>, usize)>) -> Self {
        Self { rung: AtomicBool::new(false), mutex: Mutex::new(()), condvar: Condvar::new(), simulated }
    }

    /// Ends the current wait, or else the next one.
    pub(super) fn ring(&self) {
        if let Some((simulator, worker)) = &self.simulated {
            return simulator.ring(*worker);
        }
        // Release: pairs with the Acquire in `wait`.
        self.rung.store(true, Ordering::Release);
        // A worker that read `rung` before the store has released `mutex` by the time of this lock: so it already waits
        // on `condvar`, and the notification reaches it.
        drop(lock(&self.mutex));
        self.condvar.notify_one();
    }

    /// Waits until rung, or for `timeout`; on a simulated machine, also until a message arrives. May also return early
    /// without a reason, as if rung: the caller rechecks its condition and waits again.
    pub(super) fn wait(&self, timeout: Option<Duration>) -> Waited {
        if let Some((simulator, _)) = &self.simulated {
            return simulator.wait(timeout);
        }
        let mutex = lock(&self.mutex);
        // Acquire: pairs with the Release in `ring`.
        if self.rung.swap(false, Ordering::Acquire) {
            return Waited::Rung;
        }
        let timed_out = if let Some(timeout) = timeout {
            let (mutex, result) = self.condvar.wait_timeout(mutex, timeout).unwrap_or_else(PoisonError::into_inner);
            drop(mutex);
            result.timed_out()
        } else {
            let mutex = self.condvar.wait(mutex);
            drop(mutex.unwrap_or_else(PoisonError::into_inner));
            false
        };
        // Acquire: pairs with the Release in `ring`.
        if !self.rung.swap(false, Ordering::Acquire) && timed_out { Waited::TimedOut } else { Waited::Rung }
    }
}

impl fmt::Debug for Bell {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bell").field("rung", &self.rung).finish_non_exhaustive()
    }
}
