//! Calls of functions at given times.
//!
//! On a simulated machine the machine keeps the times: they are virtual. On real machines the process has one thread for
//! all times, shared by all runtimes. It starts with the first time that is set, sleeps until the first of the times that
//! are set, and ends when none has been set for ten seconds. So it uses no processor time between, and none is left of a
//! program that waits for no time.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicU64;
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::atomics::{Ordering, lock_std as lock};
use crate::frame::quietly;
use crate::process::{PerProcess, start_thread};
use crate::sched::work::{now, on_simulator};
use crate::wait::foreign::mark_own_thread;

/// A function that is called at its time, or dropped before.
type Alarm = Box<dyn FnOnce() + Send>;

/// A time at which a function may be called. Dropping it cancels the call; a call that has begun continues.
pub(super) struct Timer {
    at: Instant,
    number: u64,
    /// Set once the time has been set, with the clock that keeps it.
    set: Option<Kept>,
}

#[derive(Clone, Copy)]
enum Kept {
    Thread,
    Machine,
}

/// Returns the end of a duration that begins now. One that is too long for the clock ends in thirty years, like tokio's.
pub(super) fn after(duration: Duration) -> Instant {
    const FAR: Duration = Duration::from_secs(86_400 * 365 * 30);
    let now = now();
    now.checked_add(duration).unwrap_or(now + FAR)
}

impl Timer {
    pub(super) fn new(at: Instant) -> Timer {
        static NUMBERS: AtomicU64 = AtomicU64::new(0);
        // Relaxed: only uniqueness matters.
        Timer { at, number: NUMBERS.fetch_add(1, Ordering::Relaxed), set: None }
    }

    /// Returns the right to set the time, once.
    pub(super) fn setter(&mut self) -> Setter {
        let kept = if on_simulator(|_| ()).is_some() { Kept::Machine } else { Kept::Thread };
        self.set = Some(kept);
        Setter { at: self.at, number: self.number, kept }
    }
}

/// The right to set the time of a [`Timer`].
pub(super) struct Setter {
    at: Instant,
    number: u64,
    kept: Kept,
}

impl Setter {
    /// Has `alarm` called at the time: at once, on the clock's thread, if it has passed.
    ///
    /// # Panics
    /// If the clock's thread cannot be started.
    pub(super) fn set(self, alarm: Alarm) {
        match self.kept {
            Kept::Machine => {
                let set = |simulator: &dyn crate::sim::Simulator| simulator.set_timer(self.number, self.at, alarm);
                on_simulator(set).expect("a task stays on its machine");
            }
            Kept::Thread => clock().set((self.at, self.number), alarm),
        }
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        match self.set {
            None => {}
            // The machine that ends has dropped its timers, or drops them.
            Some(Kept::Machine) => drop(on_simulator(|simulator| simulator.cancel_timer(self.number)).flatten()),
            Some(Kept::Thread) => clock().cancel(&(self.at, self.number)),
        }
    }
}

/// The times of a process, and its thread for them. A forked child has no such thread, and no task that waits for one.
#[derive(Default)]
struct Clock {
    queue: Mutex<Queue>,
    bell: Condvar,
}

#[derive(Default)]
struct Queue {
    alarms: BTreeMap<(Instant, u64), Alarm>,
    /// Whether the thread runs.
    runs: bool,
}

fn clock() -> &'static Clock {
    static CLOCK: PerProcess<Clock> = PerProcess::new();
    CLOCK.get(Clock::default)
}

const KEEP_ALIVE: Duration = Duration::from_secs(10);

impl Clock {
    fn set(&'static self, key: (Instant, u64), alarm: Alarm) {
        let mut queue = lock(&self.queue);
        queue.alarms.insert(key, alarm);
        if queue.runs {
            if queue.alarms.first_key_value().is_some_and(|(first, _)| *first == key) {
                self.bell.notify_one();
            }
            return;
        }
        let thread = std::thread::Builder::new().name("finespun-clock".to_owned());
        // Under the lock, so that no other alarm relies on a thread that does not start. The thread waits for the lock.
        match start_thread(thread, || self.serve()) {
            Ok(_) => queue.runs = true,
            Err(error) => {
                let alarm = queue.alarms.remove(&key);
                drop(queue);
                drop(alarm);
                panic!("no thread to wait for a time: {error}; raise the limit of threads (`ulimit -u`)");
            }
        }
    }

    fn cancel(&self, key: &(Instant, u64)) {
        let alarm = lock(&self.queue).alarms.remove(key);
        // Dropped without the lock: an alarm that is dropped may wake a worker.
        drop(alarm);
    }

    fn serve(&self) {
        mark_own_thread();
        let mut queue = lock(&self.queue);
        loop {
            let now = Instant::now();
            let first = queue.alarms.first_entry();
            if let Some(due) = first.as_ref().map(|first| first.key().0).filter(|&at| at > now) {
                let (woken, _) = self.bell.wait_timeout(queue, due - now).unwrap_or_else(PoisonError::into_inner);
                queue = woken;
            } else if let Some(first) = first {
                let alarm = first.remove();
                drop(queue);
                quietly(alarm);
                queue = lock(&self.queue);
            } else {
                let (woken, waited) = self.bell.wait_timeout(queue, KEEP_ALIVE).unwrap_or_else(PoisonError::into_inner);
                queue = woken;
                if waited.timed_out() && queue.alarms.is_empty() {
                    queue.runs = false;
                    return;
                }
            }
        }
    }
}
