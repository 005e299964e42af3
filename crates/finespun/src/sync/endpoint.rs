//! The ends of channels that are held outside the tasks, for deadlock detection.
//!
//! The library cannot see which code holds an end of a channel; it knows which code made or used it last. While that is
//! not a task, the other end's wait may still be ended, so no wait for a lock or channel is reported, as while a plain
//! thread holds a permit.
//!
//! ```text
//!               (1) made or used outside the tasks
//!     TASK ---------------------------------------> OUTSIDE
//!       ^                                              |        both: (3) declared, by `external`
//!       +----------------------------------------------+        ----------------------------------> DECLARED
//!               (2) used by a task
//! ```
//!
//! An end that is OUTSIDE or DECLARED counts as a permit that a plain thread has taken; (1) and (3) count it before the
//! change, (2) and the drop of the end uncount it afterwards. The word orders nothing else.

use super::waiter::Party;
use crate::atomics::{AtomicU32, Ordering};
use crate::sched::deadlock::{permit_returned, permit_taken};

const TASK: u32 = 0;
const OUTSIDE: u32 = 1;
const DECLARED: u32 = 2;

/// An end of a channel: which code has it, as far as the library knows.
pub(super) struct Endpoint(AtomicU32);

impl Endpoint {
    /// Makes an end that `by` holds.
    pub(super) fn new(by: Party) -> Endpoint {
        let state = state_of(by);
        if state == OUTSIDE {
            permit_taken();
        }
        Endpoint(AtomicU32::new(state))
    }

    /// Records that `by` uses the end.
    #[inline]
    pub(super) fn used(&self, by: Party) {
        // Relaxed: a word of its own.
        let state = self.0.load(Ordering::Relaxed);
        if state != state_of(by) && state != DECLARED {
            self.change(state, state_of(by));
        }
    }

    /// Records that code outside the tasks will use the end (transition 3).
    pub(super) fn declare(&self) {
        // Relaxed: as above.
        while self.0.load(Ordering::Relaxed) != DECLARED {
            self.change(self.0.load(Ordering::Relaxed), DECLARED);
        }
    }

    /// Performs a transition, unless another thread comes first.
    #[cold]
    fn change(&self, from: u32, to: u32) {
        if to != TASK {
            permit_taken();
        }
        // Relaxed: `permit_taken` and `permit_returned` have their own orderings.
        let changed = self.0.compare_exchange(from, to, Ordering::Relaxed, Ordering::Relaxed).is_ok();
        // One count for the state that the end does not have: the one before, or the new one if the exchange failed.
        let uncount = if changed { from } else { to };
        if uncount != TASK {
            permit_returned();
        }
    }
}

fn state_of(by: Party) -> u32 {
    match by {
        Party::Task => TASK,
        Party::Outside => OUTSIDE,
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        // Relaxed: `&mut self` excludes other threads.
        if self.0.load(Ordering::Relaxed) != TASK {
            permit_returned();
        }
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, explore, thread};
    use crate::sched::deadlock::held_outside;

    /// A task, a plain thread and a declaration come together. The end counts once if its last state is outside.
    #[test]
    fn an_end_counts_once_while_it_is_outside() {
        explore(3, || {
            let before = held_outside();
            let end = Arc::new(Endpoint::new(Party::Outside));
            let user = |by: Party| {
                let end = Arc::clone(&end);
                thread::spawn(move || end.used(by))
            };
            let users = [user(Party::Task), user(Party::Outside)];
            end.declare();
            users.into_iter().for_each(|user| user.join().unwrap());
            assert_eq!(end.0.load(Ordering::Relaxed), DECLARED);
            assert_eq!(held_outside() - before, 1);
            drop(end);
            assert_eq!(held_outside(), before);
        });
    }

    #[test]
    fn uses_at_one_time_leave_the_count_of_the_last_one() {
        explore(3, || {
            let before = held_outside();
            let end = Arc::new(Endpoint::new(Party::Task));
            let other = {
                let end = Arc::clone(&end);
                thread::spawn(move || end.used(Party::Outside))
            };
            end.used(Party::Task);
            other.join().unwrap();
            let counted = usize::from(end.0.load(Ordering::Relaxed) != TASK);
            assert_eq!(held_outside() - before, counted);
            drop(end);
            assert_eq!(held_outside(), before);
        });
    }
}
