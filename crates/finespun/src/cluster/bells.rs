//! The bells of all workers of a runtime, in memory that the processes of a host share.
//!
//! ```text
//!   worker:   1 asleep = true    fence    2 looks for messages    3 waits while rung == 0
//!   sender:   4 publishes a message    fence    5 loads asleep    6 rung |= MESSAGE, wakes the worker
//! ```
//!
//! Dekker's pattern, as in `sched/park.rs`: either the worker finds the message (2), or the sender sees the worker asleep
//! (5). A wake-up between (2) and (3) has set `rung`, so that the wait returns at once.
//!
//! A worker that sends to a worker needs no fence, which would wait until the message has reached memory, 60 ns: it has
//! taken a ticket of the receiver's ring by an addition in SeqCst order, and loads `asleep` in that order. The receiver
//! looks at the number of tickets, not at the message (2). If it misses the ticket, its fence precedes the addition in the
//! single order, and so the load, which sees the worker asleep.
//!
//! While a process has no work, one of its workers is on the *lookout* for workers of other processes that are awake, from
//! which it begs. If none is, it says so and sleeps; the first that wakes rings it:
//!
//! ```text
//!   lookout:  1 lookout = itself    fence    2 loads asleep of the others    3 waits while rung == 0
//!   waker:    4 asleep = false      fence    5 takes lookout                 6 rung |= RUNG, wakes the lookout
//! ```
//!
//! For workers on other hosts, each process has copies of its own, of which only `asleep` says anything: the carrier is then
//! the waker (4) of this process's lookout.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use crate::atomics::{AtomicU32, Ordering, fence};
use crate::fabric::placed::{Placed, Placement};
use crate::sim::{Simulator, Waited};

/// In [`Bell::rung`]: a thread of the worker's process has rung.
const RUNG: u32 = 1;
/// In [`Bell::rung`]: a worker of another process has sent a message.
const MESSAGE: u32 = 2;

/// The bell of one worker.
#[repr(align(128))]
struct Bell {
    /// 1 while the worker is announced or parked.
    asleep: AtomicU32,
    rung: AtomicU32,
}

/// The worker of one process that is on the lookout while no worker of another process is awake, plus one, or zero.
#[repr(align(128))]
struct Lookout(AtomicU32);

/// The bells of all workers.
pub(super) struct Bells {
    workers: usize,
    /// Of the workers whose processes share memory with this one, from `first` on.
    near: Placed<Bell>,
    first: usize,
    /// This process's own copies for all others, by their numbers.
    far: Placed<Bell>,
    /// Of the processes that share memory, from `first_process` on.
    lookouts: Placed<Lookout>,
    first_process: usize,
    simulated: Option<Simulated>,
}

/// On a simulated machine: the machine, on which the workers wait instead, and the workers of this process.
pub(super) struct Simulated {
    pub(super) machine: Arc<dyn Simulator>,
    pub(super) own: Range<usize>,
}

/// Returns the number of bytes that [`Bells::new`] places, for these numbers of workers and processes that share memory.
pub(super) fn placed_bytes(workers: usize, processes: usize) -> usize {
    workers * size_of::<Bell>() + processes * size_of::<Lookout>()
}

impl Bells {
    /// Places the bells of `workers` workers. The workers `near`, in the processes `processes`, share memory.
    pub(super) fn new(
        workers: usize,
        near: &Range<usize>,
        processes: &Range<usize>,
        placement: &mut Placement,
        simulated: Option<Simulated>,
    ) -> Bells {
        let bell = |_| Bell { asleep: AtomicU32::new(0), rung: AtomicU32::new(0) };
        // SAFETY: zeros are the initial state of a bell, which contains no address.
        let bells = unsafe { placement.place(near.len(), bell) };
        // SAFETY: zeros are the initial state, which contains no address.
        let lookouts = unsafe { placement.place(processes.len(), |_| Lookout(AtomicU32::new(0))) };
        let far = if near.len() < workers { workers } else { 0 };
        // SAFETY: not in a segment.
        let far = unsafe { Placement::private().place(far, bell) };
        let (first, first_process) = (near.start, processes.start);
        Bells { workers, near: bells, first, far, lookouts, first_process, simulated }
    }

    #[inline]
    fn of(&self, worker: usize) -> &Bell {
        let near = worker.checked_sub(self.first).and_then(|at| self.near.get(at));
        near.unwrap_or_else(|| &self.far[worker])
    }

    /// Puts `worker` of process `rank`, which has the workers `own`, on the lookout. Returns whether a worker of another
    /// process is awake, in which case `worker` is not rung.
    pub(super) fn look_out(&self, rank: usize, own: &Range<usize>, worker: usize) -> bool {
        let lookout = &self.lookouts[rank - self.first_process].0;
        // (1) Relaxed: ordered by the fence.
        lookout.store(worker as u32 + 1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        // (2) Relaxed: ordered by the fence.
        let awake = |other: usize| !own.contains(&other) && self.of(other).asleep.load(Ordering::Relaxed) == 0;
        let any = (0..self.workers).any(awake);
        if any {
            // Relaxed: another process may have taken it meanwhile, and rings in vain.
            lookout.store(0, Ordering::Relaxed);
        }
        any
    }

    /// Called after a worker of another process than these has woken: rings their lookouts. They share memory with this one.
    pub(super) fn ring_lookouts(&self, processes: impl Iterator<Item = usize>) {
        // Between (4) and (5).
        fence(Ordering::SeqCst);
        for process in processes {
            let lookout = &self.lookouts[process - self.first_process];
            // (5) Relaxed, both: ordered by the fence. Loaded first: most times the word is zero.
            if lookout.0.load(Ordering::Relaxed) != 0
                && let worker @ 1.. = lookout.0.swap(0, Ordering::Relaxed)
                && (worker as usize) <= self.workers
            {
                self.ring_with(worker as usize - 1, RUNG);
            }
        }
    }

    pub(super) fn set_asleep(&self, worker: usize, asleep: bool) {
        // Relaxed: ordered by the worker's fence before (2). A stale value that is too high wakes in vain.
        self.of(worker).asleep.store(asleep.into(), Ordering::Relaxed);
    }

    pub(super) fn is_asleep(&self, worker: usize) -> bool {
        // Relaxed: a hint.
        self.of(worker).asleep.load(Ordering::Relaxed) != 0
    }

    /// Rings the bell of a worker of this process.
    pub(super) fn ring(&self, worker: usize) {
        self.ring_with(worker, RUNG);
    }

    fn ring_with(&self, worker: usize, bit: u32) {
        match &self.simulated {
            None => self.of(worker).ring(bit),
            Some(Simulated { machine, own }) if own.contains(&worker) && bit == MESSAGE => {
                machine.ring_for_message(worker)
            }
            Some(Simulated { machine, own }) if own.contains(&worker) => machine.ring(worker),
            // A copy of the bell of a worker in another process.
            Some(_) => {}
        }
    }

    /// Wakes the first of these workers that is asleep, after a message has been published for it.
    pub(super) fn wake_for_message(&self, mut workers: Range<usize>) {
        // Between (4) and (5).
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fences.
        if let Some(worker) = workers.find(|&worker| self.of(worker).asleep.load(Ordering::Relaxed) != 0) {
            self.ring_with(worker, MESSAGE);
        }
    }

    /// Wakes `worker` if it is asleep, after the caller has taken a ticket of its ring.
    #[inline]
    pub(super) fn wake_for_ticket(&self, worker: usize) {
        // Loom treats what is in SeqCst order as AcqRel, so that its model shows only that this fence would do.
        #[cfg(loom)]
        fence(Ordering::SeqCst);
        // (5) SeqCst: see the module's documentation.
        if self.of(worker).asleep.load(Ordering::SeqCst) != 0 {
            self.ring_with(worker, MESSAGE);
        }
    }

    /// Waits until the bell is rung, or for `timeout`. May return early without a reason, as if rung.
    pub(super) fn wait(&self, worker: usize, timeout: Option<Duration>) -> Waited {
        let bell = &self.of(worker);
        // Acquire: pairs with the Release in `ring`.
        let mut rung = bell.rung.swap(0, Ordering::Acquire);
        let mut timed_out = false;
        if rung == 0 {
            timed_out = futex::wait(&bell.rung, timeout);
            rung = bell.rung.swap(0, Ordering::Acquire);
        }
        match rung {
            0 if timed_out => Waited::TimedOut,
            rung if rung & MESSAGE != 0 => Waited::Arrived,
            _ => Waited::Rung,
        }
    }
}

impl Bell {
    fn ring(&self, bit: u32) {
        // Release: pairs with the Acquire in `wait`.
        if self.rung.fetch_or(bit, Ordering::Release) == 0 {
            futex::wake(&self.rung);
        }
    }
}

/// Waiting on a word that other processes change.
#[cfg(all(target_os = "linux", not(loom)))]
mod futex {
    use std::ptr;
    use std::time::Duration;

    use crate::atomics::AtomicU32;

    /// Waits while the word is 0. Returns whether the timeout has passed.
    pub(super) fn wait(word: &AtomicU32, timeout: Option<Duration>) -> bool {
        let timeout = timeout.map(|timeout| libc::timespec {
            tv_sec: timeout.as_secs().try_into().unwrap_or(libc::time_t::MAX),
            tv_nsec: timeout.subsec_nanos().into(),
        });
        let timeout = timeout.as_ref().map_or(ptr::null(), ptr::from_ref);
        // SAFETY: the word is valid during the call, and the timeout is null or valid. Not a private futex, since other
        // processes wake it.
        let result = unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAIT, 0, timeout) };
        result != 0 && std::io::Error::last_os_error().raw_os_error() == Some(libc::ETIMEDOUT)
    }

    /// Wakes the thread that waits.
    pub(super) fn wake(word: &AtomicU32) {
        // SAFETY: the word is valid during the call.
        unsafe { libc::syscall(libc::SYS_futex, word.as_ptr(), libc::FUTEX_WAKE, 1) };
    }
}

/// The same for systems without a futex that processes share: looks once in a millisecond.
#[cfg(not(all(target_os = "linux", not(loom))))]
mod futex {
    use std::time::{Duration, Instant};

    use crate::atomics::{AtomicU32, Ordering};

    pub(super) fn wait(word: &AtomicU32, timeout: Option<Duration>) -> bool {
        let end = timeout.map(|timeout| Instant::now() + timeout);
        // Relaxed: the caller looks again.
        while word.load(Ordering::Relaxed) == 0 {
            if end.is_some_and(|end| Instant::now() >= end) {
                return true;
            }
            std::thread::sleep(Duration::from_millis(1));
        }
        false
    }

    pub(super) fn wake(_: &AtomicU32) {}
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, AtomicBool, thread};

    fn bells() -> Arc<Bells> {
        Arc::new(Bells::new(2, &(0..2), &(0..2), &mut Placement::private(), None))
    }

    fn rung(bells: &Bells, worker: usize) -> bool {
        bells.of(worker).rung.load(Ordering::Relaxed) != 0
    }

    /// A worker that goes to sleep finds the message, or is rung.
    #[test]
    fn no_message_is_missed() {
        loom::model(|| {
            let (bells, message) = (bells(), Arc::new(AtomicBool::new(false)));
            let sender = {
                let (bells, message) = (Arc::clone(&bells), Arc::clone(&message));
                thread::spawn(move || {
                    message.store(true, Ordering::Relaxed);
                    bells.wake_for_message(0..1);
                })
            };
            bells.set_asleep(0, true);
            fence(Ordering::SeqCst);
            let found = message.load(Ordering::Relaxed);
            sender.join().unwrap();
            assert!(found || rung(&bells, 0));
        });
    }

    /// A worker that goes to sleep finds the ticket, or is rung.
    #[test]
    fn no_ticket_is_missed() {
        loom::model(|| {
            let (bells, tickets) = (bells(), Arc::new(AtomicU32::new(0)));
            let sender = {
                let (bells, tickets) = (Arc::clone(&bells), Arc::clone(&tickets));
                thread::spawn(move || {
                    tickets.fetch_add(1, Ordering::SeqCst);
                    bells.wake_for_ticket(0);
                })
            };
            bells.set_asleep(0, true);
            fence(Ordering::SeqCst);
            let found = tickets.load(Ordering::Relaxed) != 0;
            sender.join().unwrap();
            assert!(found || rung(&bells, 0));
        });
    }

    /// A lookout sees the worker of another process that wakes, or is rung.
    #[test]
    fn a_lookout_learns_that_another_process_wakes() {
        loom::model(|| {
            let bells = bells();
            bells.set_asleep(0, true);
            bells.set_asleep(1, true);
            let waker = {
                let bells = Arc::clone(&bells);
                thread::spawn(move || {
                    bells.set_asleep(1, false);
                    bells.ring_lookouts(0..1);
                })
            };
            let awake = bells.look_out(0, &(0..1), 0);
            waker.join().unwrap();
            assert!(awake || rung(&bells, 0));
        });
    }
}
