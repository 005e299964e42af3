//! A clock for what is about as short as reading a clock.

use std::hint;
use std::time::Instant;

/// Pairs of readings that the price of a reading is the median of.
const PAIRS: usize = 2001;

/// Nanoseconds by which a thread that stays on its core is not late.
const DISTURBED: u64 = 5000;

/// Nanoseconds since a start that all threads share.
pub(super) struct Clock {
    start: Instant,
    /// What lies between two readings with nothing between them.
    price: u64,
}

impl Clock {
    pub(super) fn new() -> Clock {
        let mut clock = Clock { start: Instant::now(), price: 0 };
        let mut pairs: Vec<u64> = (0..PAIRS)
            .map(|_| {
                let before = clock.now();
                clock.now() - before
            })
            .collect();
        pairs.sort_unstable();
        clock.price = pairs[PAIRS / 2];
        clock
    }

    #[inline]
    pub(super) fn now(&self) -> u64 {
        self.start.elapsed().as_nanos() as u64
    }

    /// What happened between two readings took so long, without the reading; a reading that was quicker than most makes
    /// it negative, so that means are not too high.
    pub(super) fn between(&self, before: u64, after: u64) -> i64 {
        after as i64 - before as i64 - self.price as i64
    }

    /// What a reading costs.
    pub(super) fn price(&self) -> u64 {
        self.price
    }

    /// Computes for so long; delivers how long the thread has been off its core at the end. By the clock and not by rounds:
    /// what disturbs the machine makes it no longer than it must.
    pub(super) fn compute(&self, nanoseconds: u64) -> u64 {
        let end = self.now() + nanoseconds;
        loop {
            let now = self.now();
            if now >= end {
                return self.late(now - end);
            }
            hint::spin_loop();
        }
    }

    /// So long a thread has been off its core that is late by that.
    pub(super) fn late(&self, nanoseconds: u64) -> u64 {
        if nanoseconds > DISTURBED { nanoseconds } else { 0 }
    }
}
