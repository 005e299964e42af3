//! Whether a group lies beneath one that has been terminated: one word per group, and a counter of the team.
//!
//! ```text
//!                (1) terminate, or found beneath one that is
//!   OUT(since) ------------------------------------------------> IN
//!      |   ^
//!      +---+ (2) found to be in no terminated subtree as of now
//! ```
//!
//! *Since* is the value that the team's counter of terminations had when that was found out: while it has not changed,
//! nobody need look again. So a group is looked up once after each termination, by whoever wants to know first, and what is
//! found is noted for all groups on the way: maxi-parc-runtime, section 6.2, "marking each activity that is identified as
//! being either in or out of the subtree, and searching only until a marked activity is found".
//!
//! **Nobody goes on beneath a terminated group**: who terminates does (1), then raises the counter. Whoever sees the new
//! value (Acquire against Release) sees the mark above it; and who sees the old one is told by a sweep that comes after. A
//! group that begins meanwhile is OUT(0), which is no value of a counter that has been raised, so it looks.
//!
//! **Records are used again**, and a sweep may look for a group that has ended: it goes by frames of which it cannot tell
//! whether they have been freed. What it finds of such a group is of no consequence, but it must not be noted for the next one.
//! So the word has a number of its use too, and what is found is noted only if the word is still what it was before.

use crate::atomics::{AtomicU64, Ordering};

const IN: u64 = 1;
/// Above the counter: the number of the use.
const USE: u32 = 40;
/// The bits between. A counter that has outgrown them is equal to none that has been noted: then everybody looks.
const COUNTER: u64 = ((1 << USE) - 1) & !IN;

/// The word.
pub(super) struct Mark(AtomicU64);

/// The word as it was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen(u64);

/// What the word says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// Beneath a terminated group, or one.
    In,
    /// Beneath none.
    Out,
    /// That has to be found out.
    Unknown,
}

impl Mark {
    pub(super) fn new() -> Mark {
        Mark(AtomicU64::new(0))
    }

    /// A new group, of which everything else has been written. Nobody knows it yet.
    pub(super) fn begin(&self) {
        // Relaxed: nobody else changes the use.
        let before = self.0.load(Ordering::Relaxed) >> USE;
        // Release: who sees the new use, by the Acquire in `look`, sees what else there is of the new group.
        // An exchange, and so later than any `note` that has succeeded.
        self.0.swap((before + 1) << USE, Ordering::Release);
    }

    /// Transition 1, of a group that has not ended; whether this is the first time. The caller raises the counter next.
    pub(super) fn terminate(&self) -> bool {
        // AcqRel: what led to it is seen by who sees the mark.
        self.0.fetch_or(IN, Ordering::AcqRel) & IN == 0
    }

    /// The word, before anything else of the group is looked at.
    #[inline]
    pub(super) fn look(&self) -> Seen {
        // Acquire: pairs with the Release in `terminate` and `note`.
        Seen(self.0.load(Ordering::Acquire))
    }

    /// Transition 1 or 2, if nothing has happened since the word was seen: what has been found out, as of `now`.
    pub(super) fn note(&self, seen: Seen, found: bool, now: u64) {
        let after = if found { seen.0 | IN } else { seen.0 >> USE << USE | now << 1 & COUNTER };
        // Release: as in `terminate`. Relaxed: somebody has terminated the group, or knows as well; or it is another.
        let _ = self.0.compare_exchange(seen.0, after, Ordering::Release, Ordering::Relaxed);
    }
}

impl Seen {
    /// What is known when the counter stands at `now`.
    #[inline]
    pub(super) fn known(self, now: u64) -> Known {
        match self.0 {
            mark if mark & IN != 0 => Known::In,
            mark if mark << (64 - USE) >> (65 - USE) == now => Known::Out,
            _ => Known::Unknown,
        }
    }

    /// Whether the group has been terminated, as far as anybody has noted.
    pub(super) fn is_in(self) -> bool {
        self.0 & IN != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// A counter that does not fit says nothing, and leaves the use as it is.
    #[test]
    fn a_large_counter_is_not_noted() {
        let mark = Mark::new();
        mark.begin();
        let seen = mark.look();
        for now in [1 << 39, (1 << 39) + 5, u64::MAX >> 1] {
            mark.note(mark.look(), false, now);
            assert_eq!(mark.look().known(now), Known::Unknown);
            assert_eq!(mark.look().0 >> USE, seen.0 >> USE);
        }
        mark.note(mark.look(), false, 7);
        assert_eq!(mark.look().known(7), Known::Out);
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, thread};

    /// A group and one beneath it.
    struct Two {
        terminations: AtomicU64,
        outer: Mark,
        inner: Mark,
    }

    impl Two {
        fn new() -> Arc<Two> {
            Arc::new(Two { terminations: AtomicU64::new(0), outer: Mark::new(), inner: Mark::new() })
        }

        fn terminate(&self) {
            self.outer.terminate();
            self.terminations.fetch_add(1, Ordering::Release);
        }

        /// As `Groups::is_terminated`, bottom up.
        fn inner_is_terminated(&self) -> bool {
            let now = self.terminations.load(Ordering::Acquire);
            let inner = self.inner.look();
            match inner.known(now) {
                Known::In => return true,
                Known::Out => return false,
                Known::Unknown => {}
            }
            let outer = self.outer.look();
            let found = outer.known(now) == Known::In;
            self.outer.note(outer, found, now);
            self.inner.note(inner, found, now);
            found
        }
    }

    /// Who has been told of a termination finds it, whoever else looks at the same time.
    #[test]
    fn who_is_told_finds_the_mark() {
        loom::model(|| {
            let two = Two::new();
            let others = [0, 1].map(|_| {
                let two = Arc::clone(&two);
                thread::spawn(move || two.inner_is_terminated())
            });
            two.terminate();
            assert!(two.inner_is_terminated());
            for other in others {
                let _ = other.join().unwrap();
            }
            assert!(two.inner_is_terminated());
        });
    }

    /// Two groups are terminated, one within the other: the mark of none is lost to who notes that it was out.
    #[test]
    fn a_mark_is_never_taken_back() {
        loom::model(|| {
            let two = Two::new();
            let outer = {
                let two = Arc::clone(&two);
                thread::spawn(move || two.terminate())
            };
            let looks = {
                let two = Arc::clone(&two);
                thread::spawn(move || two.inner_is_terminated())
            };
            two.inner.terminate();
            two.terminations.fetch_add(1, Ordering::Release);
            assert!(two.inner_is_terminated());
            outer.join().unwrap();
            let _ = looks.join().unwrap();
            assert!(two.inner_is_terminated() && two.outer.look().is_in());
        });
    }

    /// A sweep looks for a group that has ended, beneath one that has been terminated: it says nothing of the next that has
    /// the record, which lies elsewhere.
    #[test]
    fn what_is_found_of_an_ended_group_is_not_noted_for_the_next() {
        /// A record; whether its group lies beneath the terminated one.
        struct Record {
            mark: Mark,
            beneath: AtomicU64,
        }
        loom::model(|| {
            let record = Arc::new(Record { mark: Mark::new(), beneath: AtomicU64::new(1) });
            let late = {
                let record = Arc::clone(&record);
                thread::spawn(move || {
                    let seen = record.mark.look();
                    let found = record.beneath.load(Ordering::Relaxed) == 1;
                    record.mark.note(seen, found, 1);
                })
            };
            record.beneath.store(0, Ordering::Relaxed);
            record.mark.begin();
            late.join().unwrap();
            assert!(!record.mark.look().is_in());
        });
    }
}
