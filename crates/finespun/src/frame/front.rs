//! The beginning of a worker's state, which other workers use, also those of other processes: its guard, and the word where
//! a worker of another process asks for frames.
//!
//! ```text
//!              1 a worker of another process asks            2 the worker answers
//!     +------+ -----------------------------------> +-----+ ----------------------> free
//!     | free |                                      | one |
//!     +------+ <----------------------------------- +-----+
//!              3 the other has found work elsewhere
//! ```
//!
//! The word `beggar` names the worker that asks. All transitions are compare-and-swaps, so a request is either answered or
//! taken back. After (1) the guard is requested, whose protocol orders the word before: a worker that takes the flag finds
//! the beggar, unless it has taken its request back. The answer is frames, in messages (`sched::worker::begging`), or
//! nothing yet: the beggar requests the guard again from time to time.

use std::cell::UnsafeCell;

use super::guard::{Flags, Guard};
use crate::atomics::{AtomicBool, AtomicU32, Ordering};

/// The beginning of a worker's state.
#[repr(C)]
pub(crate) struct Front {
    /// The first field, so that a check compares the stack pointer with the word that [`Cx`](super::context::Cx) points to.
    pub(crate) guard: Guard,
    /// Whether the worker runs a frame or handles messages: only then can it promote. Set with Release, so that another
    /// process that sees it set finds the state complete.
    pub(crate) running: AtomicBool,
    /// The worker of another process that asks for frames, plus one, or zero.
    beggar: AtomicU32,
}

impl Front {
    pub(super) fn new() -> Front {
        Front { guard: Guard::new(0), running: AtomicBool::new(false), beggar: AtomicU32::new(0) }
    }

    fn is_running(&self) -> bool {
        // Acquire: pairs with the Release of the worker.
        self.running.load(Ordering::Acquire)
    }

    /// Makes this worker handle its messages at its next guard check, if it runs. Returns whether it does.
    pub(crate) fn nudge(&self) -> bool {
        let running = self.is_running();
        if running {
            self.guard.request(Flags::MESSAGES);
        }
        running
    }

    /// (1) Asks for frames for `worker`, if this worker runs and no other has asked. Returns whether it has asked.
    pub(crate) fn ask(&self, worker: u32) -> bool {
        // Relaxed, all: `request` publishes the word.
        let free = self.is_running() && self.beggar.load(Ordering::Relaxed) == 0;
        let asked = free && self.change(0, worker + 1);
        if asked {
            self.guard.request(Flags::BEG);
        }
        asked
    }

    /// Repeats the request of `worker`, if it has not been answered and this worker runs. Returns whether it has asked.
    pub(crate) fn ask_again(&self, worker: u32) -> bool {
        if self.beggar() != Some(worker) {
            return false;
        }
        let running = self.is_running();
        if running {
            self.guard.request(Flags::BEG);
        }
        running
    }

    /// Returns the worker that asks for frames.
    pub(crate) fn beggar(&self) -> Option<u32> {
        // Relaxed: this worker looks after it has taken the flag; others only look for their own name.
        self.beggar.load(Ordering::Relaxed).checked_sub(1)
    }

    /// (2) Answers the request of `worker`. Returns false if it has been taken back.
    pub(crate) fn answer(&self, worker: u32) -> bool {
        self.change(worker + 1, 0)
    }

    /// (3) Takes back the request of `worker`. Returns false if it has been answered.
    pub(crate) fn take_back(&self, worker: u32) -> bool {
        self.change(worker + 1, 0)
    }

    fn change(&self, from: u32, to: u32) -> bool {
        // Relaxed, both: the word protects nothing.
        self.beggar.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok()
    }
}

/// A place for a worker's state that other processes see, too: zeros at first. They use the [`Front`], once it says that
/// the worker is running.
#[repr(C, align(128))]
pub(crate) struct StatePlace(UnsafeCell<[u64; WORDS]>);

const WORDS: usize = 128;

// SAFETY: `front` gives access to atomic fields only; the team that puts a state there uses it as it uses any other.
unsafe impl Sync for StatePlace {}
// SAFETY: as above.
unsafe impl Send for StatePlace {}

impl StatePlace {
    pub(crate) fn new() -> StatePlace {
        StatePlace(UnsafeCell::new([0; WORDS]))
    }

    /// Returns where the state is put.
    pub(super) fn address(&self) -> *mut u64 {
        self.0.get().cast()
    }

    /// Returns the beginning of the state; zeros if no state has been put here yet.
    pub(crate) fn front(&self) -> &Front {
        // SAFETY: a state begins with a `Front`. Before, the place contains zeros, which are one, too. Its fields are
        // atomic, and nothing else is at their addresses.
        unsafe { &*self.0.get().cast() }
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, thread};

    const ROOMY: usize = 1;

    /// The owner: looks once, as at a guard check. Returns the worker that it has answered.
    fn look(front: &Front) -> Option<u32> {
        if !front.guard.trips_at(ROOMY) || !front.guard.take().beg() {
            return None;
        }
        front.beggar().filter(|&worker| front.answer(worker))
    }

    /// A request is answered once, or taken back; and not lost.
    #[test]
    fn a_request_is_answered_or_taken_back() {
        loom::model(|| {
            let front = Arc::new(Front::new());
            front.running.store(true, Ordering::Release);
            let beggar = {
                let front = Arc::clone(&front);
                thread::spawn(move || (front.ask(7), front.take_back(7)))
            };
            let mut answered = look(&front).is_some();
            let (asked, taken_back) = beggar.join().unwrap();
            answered |= look(&front).is_some();
            assert!(asked && answered != taken_back);
        });
    }

    /// Of two workers that ask, one is answered; the other asks again, and is answered then.
    #[test]
    fn no_request_is_lost() {
        loom::model(|| {
            let front = Arc::new(Front::new());
            front.running.store(true, Ordering::Release);
            let beggars = [3, 5].map(|worker| {
                let front = Arc::clone(&front);
                thread::spawn(move || front.ask(worker))
            });
            let mut answered: Vec<u32> = look(&front).into_iter().collect();
            let asked = beggars.map(|beggar| beggar.join().unwrap());
            answered.extend(look(&front));
            assert_eq!(answered.len(), asked.iter().filter(|&&asked| asked).count());
            assert!(!answered.is_empty());
        });
    }
}
