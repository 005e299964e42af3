//! A clock for events that are about as short as reading a clock.

use std::hint;
use std::time::Instant;

/// Pairs of readings whose median is the cost of a reading.
const PAIRS: usize = 2001;

/// A delay, in nanoseconds, that a thread which stays on its core does not exceed.
const DISTURBED: u64 = 5000;

/// Nanoseconds since a start that all threads share.
pub(super) struct Clock {
    start: Instant,
    /// The difference of two consecutive readings.
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

    /// Returns the time between two readings, without the cost of a reading. The result may be negative, if a reading
    /// was faster than most: clamping it at 0 would make means too high.
    pub(super) fn between(&self, before: u64, after: u64) -> i64 {
        after as i64 - before as i64 - self.price as i64
    }

    /// Returns the cost of a reading.
    pub(super) fn price(&self) -> u64 {
        self.price
    }

    /// Computes for `nanoseconds`. Returns the time that the thread was off its core at the end. The duration is by the
    /// clock, not by rounds, so a disturbance lengthens it no more than necessary.
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

    /// Returns the time that a thread was off its core, given its delay: 0 for a delay that is not a disturbance.
    pub(super) fn late(&self, nanoseconds: u64) -> u64 {
        if nanoseconds > DISTURBED { nanoseconds } else { 0 }
    }
}
