//! The gate between a simulation and the threads outside it.
//!
//! ```text
//!            1 no event is left, or it is time to look
//!   +--------+ ------------------------> +------+    3 enter    +----------+
//!   | closed |                           | open | ------------> | occupied |
//!   +--------+ <------------------------ +------+ <------------ +----------+
//!                2 a worker is rung                  4 leave
//! ```
//!
//! The simulation runs while the gate is closed. A thread outside that queues a frame for its workers, begins a run or
//! cancels one enters first, and waits while the gate is closed (3). A thread that only rings a worker does not wait: its
//! ring is kept. The simulation goes on (2) when a worker has been rung and no thread is within. So everything that a
//! thread does between `enter` and `leave`, rings included, happens at one moment of the simulation.
//!
//! All states are under one mutex. Only `called` is also read without it: a hint that a thread wants the gate to open.

use crate::atomics::{AtomicBool, Condvar, Mutex, MutexGuard, Ordering, lock};
use std::sync::PoisonError;
use std::time::Duration;

/// Real time for which a simulation that does not rest keeps the gate open.
const GLANCE: Duration = Duration::from_millis(1);

pub(super) struct Gate {
    state: Mutex<State>,
    changed: Condvar,
    /// Whether a thread waits for the gate, or has rung, since the gate was closed.
    called: AtomicBool,
}

struct State {
    open: bool,
    /// Number of threads between `enter` and `leave`.
    within: usize,
    /// Workers that have been rung.
    rung: Vec<usize>,
}

impl Gate {
    /// Creates a closed gate.
    pub(super) fn new() -> Gate {
        let state = State { open: false, within: 0, rung: Vec::new() };
        Gate { state: Mutex::new(state), changed: Condvar::new(), called: AtomicBool::new(false) }
    }

    /// Lets a thread outside in (3), as soon as the gate is open.
    pub(super) fn enter(&self) {
        let mut state = lock(&self.state);
        while !state.open {
            // Relaxed: a hint, written under the lock like its reset in `take_rings`, so it is not lost.
            self.called.store(true, Ordering::Relaxed);
            state = self.wait(state);
        }
        state.within += 1;
    }

    /// Ends `enter` (4).
    pub(super) fn leave(&self) {
        lock(&self.state).within -= 1;
        self.changed.notify_all();
    }

    /// Rings a worker, from a thread outside.
    pub(super) fn ring(&self, worker: usize) {
        let mut state = lock(&self.state);
        state.rung.push(worker);
        // Relaxed: as in `enter`.
        self.called.store(true, Ordering::Relaxed);
        drop(state);
        self.changed.notify_all();
    }

    /// Returns whether a thread outside wants the gate to open: a hint.
    pub(super) fn is_called(&self) -> bool {
        // Relaxed: a hint.
        self.called.load(Ordering::Relaxed)
    }

    /// Opens the gate until a worker is rung (1, 2). Returns the rung workers.
    pub(super) fn rest(&self) -> Vec<usize> {
        let mut state = self.open_locked();
        while state.rung.is_empty() || state.within > 0 {
            state = self.wait(state);
        }
        self.take_rings(state)
    }

    /// Opens the gate for a moment, to the threads that wait for it. Returns the rung workers.
    pub(super) fn glance(&self) -> Vec<usize> {
        let state = self.open_locked();
        let (state, _) = self.changed.wait_timeout(state, GLANCE).unwrap_or_else(PoisonError::into_inner);
        self.take_rings(self.until_empty(state))
    }

    /// Opens the gate until `close`: the simulation's thread is at another simulation's gate, or the simulation has ended.
    pub(super) fn open(&self) {
        drop(self.open_locked());
    }

    /// Closes the gate when no thread is within. The rings are kept.
    pub(super) fn close(&self) {
        self.until_empty(lock(&self.state)).open = false;
    }

    fn open_locked(&self) -> MutexGuard<'_, State> {
        let mut state = lock(&self.state);
        state.open = true;
        self.changed.notify_all();
        state
    }

    fn until_empty<'a>(&'a self, mut state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        while state.within > 0 {
            state = self.wait(state);
        }
        state
    }

    /// Closes the gate, which is empty.
    fn take_rings(&self, mut state: MutexGuard<'_, State>) -> Vec<usize> {
        state.open = false;
        // Relaxed: as in `enter`.
        self.called.store(false, Ordering::Relaxed);
        std::mem::take(&mut state.rung)
    }

    fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        self.changed.wait(state).unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, AtomicUsize, explore, thread};

    /// Two threads queue an item each, and ring. The simulation takes the items of the rings that it returns.
    #[test]
    fn what_a_thread_queues_within_the_gate_is_found_by_its_ring() {
        explore(2, || {
            let shared = Arc::new((Gate::new(), AtomicUsize::new(0), AtomicUsize::new(0)));
            let threads = [0, 1].map(|worker| {
                let shared = Arc::clone(&shared);
                thread::spawn(move || {
                    let (gate, queued, within) = &*shared;
                    gate.enter();
                    within.fetch_add(1, Ordering::Relaxed);
                    queued.fetch_add(1, Ordering::Relaxed);
                    gate.ring(worker);
                    within.fetch_sub(1, Ordering::Relaxed);
                    gate.leave();
                })
            });
            let (gate, queued, within) = &*shared;
            let mut rung = Vec::new();
            while rung.len() < 2 {
                rung.extend(gate.rest());
                assert_eq!(within.load(Ordering::Relaxed), 0, "the simulation runs while a thread is within");
                assert_eq!(queued.load(Ordering::Relaxed), rung.len(), "an item without a ring, or a ring without one");
            }
            rung.sort_unstable();
            assert_eq!(rung, [0, 1]);
            threads.map(|thread| thread.join().unwrap());
            gate.open();
        });
    }

    /// A ring without `enter`, at any time, ends a rest.
    #[test]
    fn a_ring_is_not_lost() {
        loom::model(|| {
            let gate = Arc::new(Gate::new());
            let ringer = Arc::clone(&gate);
            let thread = thread::spawn(move || ringer.ring(7));
            gate.open();
            gate.close();
            assert_eq!(gate.rest(), [7]);
            thread.join().unwrap();
        });
    }
}
