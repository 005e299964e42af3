//! Requests to all workers to reclaim their pages, and the workers' answers: one word, which holds the epoch (the
//! number of the last request) and the number of workers that have not answered it yet (*outstanding*).
//!
//! ```text
//!                     ask: (e + 1, workers)
//!            +-------------------------------------+
//!            v                                     |
//!   ASKED(e, n) --answer(e): n - 1--> .. --> ANSWERED(e, 0)
//!     |      ^                                  answer(e): nothing
//!     +------+
//!   ask: (e + 1, workers); answer(another epoch): nothing
//! ```
//!
//! A pool answers an epoch once, after it has reclaimed its pages. So in ANSWERED(e, 0) every pool of the team has
//! reclaimed its pages since the request of epoch e, and the memory that it gave back has been counted: each answer is
//! a Release, and a thread that sees the last one with Acquire sees all of them (each continues the release sequence of
//! the earlier ones). A later request restarts the wait of every waiting worker.

use crate::atomics::{AtomicU64, Ordering};

/// The state: the epoch in the upper half, the number of outstanding workers in the lower.
pub(super) struct Asked(AtomicU64);

impl Asked {
    /// The epoch of a new state.
    pub(super) const FIRST: u32 = 0;

    pub(super) fn new() -> Asked {
        Asked(AtomicU64::new(u64::from(Asked::FIRST) << 32))
    }

    /// Starts the next epoch, with `workers` outstanding workers.
    pub(super) fn ask(&self, workers: u32) {
        // Relaxed: a hint, which decides when pools check and how long a worker waits for them.
        let ask = |state| Some(u64::from(epoch_of(state).wrapping_add(1)) << 32 | u64::from(workers));
        let _ = self.0.fetch_update(Ordering::Relaxed, Ordering::Relaxed, ask);
    }

    pub(super) fn epoch(&self) -> u32 {
        // Relaxed: as in `ask`.
        epoch_of(self.0.load(Ordering::Relaxed))
    }

    /// Records that a worker has reclaimed its pages for `epoch`. An answer to an epoch other than the last has no
    /// effect.
    pub(super) fn answer(&self, epoch: u32) {
        let answer = |state: u64| (epoch_of(state) == epoch && state as u32 > 0).then(|| state - 1);
        // Release: pairs with the Acquire in `is_answered`. Relaxed: the load decides only what is written.
        let _ = self.0.fetch_update(Ordering::Release, Ordering::Relaxed, answer);
    }

    /// Returns whether all workers have answered the last epoch.
    pub(super) fn is_answered(&self) -> bool {
        self.0.load(Ordering::Acquire) as u32 == 0
    }
}

fn epoch_of(state: u64) -> u32 {
    (state >> 32) as u32
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, AtomicUsize, thread};

    /// A team's request word, and the memory that its workers use.
    struct Team {
        asked: Asked,
        used: AtomicUsize,
        /// The last epoch for which the worker has reclaimed its pages.
        reclaimed: AtomicUsize,
    }

    fn team(used: usize) -> Arc<Team> {
        Arc::new(Team { asked: Asked::new(), used: AtomicUsize::new(used), reclaimed: AtomicUsize::new(0) })
    }

    #[test]
    fn a_reader_of_all_answers_sees_the_memory_given_back() {
        loom::model(|| {
            let team = team(2);
            team.asked.ask(2);
            let workers = [(); 2].map(|()| {
                let team = Arc::clone(&team);
                thread::spawn(move || {
                    let epoch = team.asked.epoch();
                    team.used.fetch_sub(1, Ordering::Relaxed);
                    team.asked.answer(epoch);
                })
            });
            if team.asked.is_answered() {
                assert_eq!(team.used.load(Ordering::Relaxed), 0);
            }
            workers.map(|worker| worker.join().unwrap());
            assert!(team.asked.is_answered());
        });
    }

    #[test]
    fn an_answer_to_an_earlier_epoch_does_not_count() {
        loom::model(|| {
            let team = team(0);
            team.asked.ask(1);
            let worker = {
                let team = Arc::clone(&team);
                thread::spawn(move || {
                    let mut last = Asked::FIRST;
                    for _ in 0..2 {
                        let epoch = team.asked.epoch();
                        if epoch != last {
                            team.reclaimed.store(epoch as usize, Ordering::Relaxed);
                            team.asked.answer(epoch);
                            last = epoch;
                        }
                    }
                })
            };
            team.asked.ask(1);
            if team.asked.is_answered() {
                assert_eq!(team.reclaimed.load(Ordering::Relaxed), 2);
            }
            worker.join().unwrap();
        });
    }
}
