//! The object that one parked worker waits on: a token like `std::thread::park`'s, but separate from the thread's
//! token, which a task may use for itself.

use crate::atomics::{AtomicBool, Condvar, Mutex, Ordering, lock};
use crate::sched::peers::Peers;
use crate::sim::{Simulator, Waited};
use std::sync::{Arc, PoisonError};
use std::{fmt, time::Duration};

/// A bell that any thread rings and one worker waits for. A ring is kept until the next wait.
pub(super) struct Bell {
    rung: AtomicBool,
    /// Held from the check of `rung` to the wait, so that no ring falls between them.
    mutex: Mutex<()>,
    condvar: Condvar,
    instead: Instead,
}

/// What the worker waits on instead of the bell's own condition variable.
enum Instead {
    Nothing,
    /// The simulated machine, the other processes, and the worker's number in this process.
    Simulated(Arc<dyn Simulator>, Option<Arc<dyn Peers>>, usize),
    /// A bell that other processes can ring, and the worker's number in this process.
    Shared(Arc<dyn Peers>, usize),
}

impl Bell {
    pub(super) fn new() -> Self {
        Self::with(Instead::Nothing)
    }

    pub(super) fn simulated(simulator: Arc<dyn Simulator>, peers: Option<Arc<dyn Peers>>, worker: usize) -> Self {
        Self::with(Instead::Simulated(simulator, peers, worker))
    }

    pub(super) fn shared(peers: Arc<dyn Peers>, worker: usize) -> Self {
        Self::with(Instead::Shared(peers, worker))
    }

    fn with(instead: Instead) -> Self {
        Self { rung: AtomicBool::new(false), mutex: Mutex::new(()), condvar: Condvar::new(), instead }
    }

    /// Tells other processes, if there are any, whether the worker is announced or parked.
    pub(super) fn set_asleep(&self, asleep: bool) {
        if let Some((peers, worker)) = self.peers() {
            peers.set_asleep(worker, asleep);
        }
    }

    /// Called while all workers of this process are parked: returns whether workers of other processes are awake, from
    /// which the worker may get work. If not, the bell will be rung when one wakes.
    pub(super) fn look_out(&self) -> bool {
        self.peers().is_some_and(|(peers, worker)| peers.look_out(worker))
    }

    /// Returns the other processes, and the worker's number in this one.
    fn peers(&self) -> Option<(&dyn Peers, usize)> {
        match &self.instead {
            Instead::Shared(peers, worker) | Instead::Simulated(_, Some(peers), worker) => Some((&**peers, *worker)),
            Instead::Nothing | Instead::Simulated(_, None, _) => None,
        }
    }

    /// Ends the current wait, or else the next one.
    pub(super) fn ring(&self) {
        match &self.instead {
            Instead::Nothing => {}
            Instead::Simulated(simulator, _, worker) => return simulator.ring(*worker),
            Instead::Shared(peers, worker) => return peers.ring(*worker),
        }
        // Release: pairs with the Acquire in `wait`.
        self.rung.store(true, Ordering::Release);
        // A worker that read `rung` before the store has released `mutex` by the time of this lock: so it already waits
        // on `condvar`, and the notification reaches it.
        drop(lock(&self.mutex));
        self.condvar.notify_one();
    }

    /// Waits until rung, or for `timeout`; on a simulated machine, or with other processes, also until a message
    /// arrives. May also return early without a reason, as if rung: the caller rechecks its condition and waits again.
    pub(super) fn wait(&self, timeout: Option<Duration>) -> Waited {
        match &self.instead {
            Instead::Nothing => {}
            Instead::Simulated(simulator, ..) => return simulator.wait(timeout),
            Instead::Shared(peers, worker) => return peers.wait(*worker, timeout),
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
