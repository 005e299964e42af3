//! Decides whether a group is in the subtree of a terminated group: one word per group, and an epoch counter of the
//! team.
//!
//! ```text
//!                (1) terminate, or found beneath a terminated group
//!   LIVE(epoch) ------------------------------------------------> TERMINATED
//!      |   ^
//!      +---+ (2) found to be in no terminated subtree as of now
//! ```
//!
//! `LIVE(epoch)` caches the result of the last look-up. It is valid while the team's termination epoch still equals
//! `epoch`. So after each termination a group is looked up once, by the first thread that asks, and the result is noted
//! for all groups on the way: "marking each activity that is identified as being either in or out of the subtree, and
//! searching only until a marked activity is found" [M §6.2].
//!
//! **No activity of a terminated subtree keeps running.** The terminating thread performs (1), then increments the
//! epoch (Release). A reader that sees the new epoch (Acquire) also sees the terminated group's mark; a reader that
//! sees the old epoch is reached by the sweep that follows. A group that begins after the increment has the word
//! LIVE(0). No epoch is 0 after an increment, so the group is looked up.
//!
//! **Records are reused**, and a sweep may look up a group that has ended: it visits frames without knowing whether
//! they have been freed. The result for an ended group does not matter, but it must not be noted for the next group in
//! the record. So the word also holds a use number, and a result is noted only if the word has not changed since it was
//! read.

use crate::atomics::{AtomicU64, Ordering};

/// The bit of a TERMINATED word.
const IN: u64 = 1;
/// The lowest bit of the use number, which is above the epoch.
const USE: u32 = 40;
/// The bits of the epoch. An epoch that does not fit never equals a noted one, so every caller looks the group up.
const COUNTER: u64 = ((1 << USE) - 1) & !IN;

/// The mark word of a group.
pub(super) struct Mark(AtomicU64);

/// A copy of the word as it was read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Seen(u64);

/// The meaning of the word at a given epoch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Known {
    /// The group is terminated, or beneath a terminated one.
    Terminated,
    /// The group is beneath no terminated group.
    Live,
    /// The caller must look the group up.
    Unknown,
}

impl Mark {
    pub(super) fn new() -> Mark {
        Mark(AtomicU64::new(0))
    }

    /// Starts a new use of the record, after all other fields of the new group have been written and before its number
    /// is handed out.
    pub(super) fn begin(&self) {
        // Relaxed: only this thread changes the use number.
        let before = self.0.load(Ordering::Relaxed) >> USE;
        // Release: a thread that sees the new use, by the Acquire in `look`, sees the other fields of the new group. A
        // swap, so it is later in the modification order than any `note` that has succeeded.
        self.0.swap((before + 1) << USE, Ordering::Release);
    }

    /// Terminates a group that has not ended (transition 1). Returns true for the first caller. The caller increments
    /// the epoch next.
    pub(super) fn terminate(&self) -> bool {
        // AcqRel: a thread that sees the mark sees what led to it.
        self.0.fetch_or(IN, Ordering::AcqRel) & IN == 0
    }

    /// Reads the word. Must precede reads of the group's other fields.
    #[inline]
    pub(super) fn look(&self) -> Seen {
        // Acquire: pairs with the Release in `begin`, `terminate` and `note`.
        Seen(self.0.load(Ordering::Acquire))
    }

    /// Notes a look-up's result as of epoch `now` (transition 1 or 2), if the word is still `seen`. `found` means that
    /// the group is in a terminated subtree.
    pub(super) fn note(&self, seen: Seen, found: bool, now: u64) {
        let after = if found { seen.0 | IN } else { seen.0 >> USE << USE | now << 1 & COUNTER };
        // Release: as in `terminate`. Relaxed: on failure another thread has terminated the group or noted a result, or
        // the record belongs to another group.
        let _ = self.0.compare_exchange(seen.0, after, Ordering::Release, Ordering::Relaxed);
    }
}

impl Seen {
    /// Returns the meaning of the word when the epoch is `now`.
    #[inline]
    pub(super) fn known(self, now: u64) -> Known {
        match self.0 {
            mark if mark & IN != 0 => Known::Terminated,
            mark if mark << (64 - USE) >> (65 - USE) == now => Known::Live,
            _ => Known::Unknown,
        }
    }

    /// Returns whether the group is noted as terminated or beneath a terminated one.
    pub(super) fn is_in(self) -> bool {
        self.0 & IN != 0
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    /// An epoch that does not fit is not noted, and leaves the use number unchanged.
    #[test]
    fn an_epoch_that_does_not_fit_is_not_noted() {
        let mark = Mark::new();
        mark.begin();
        let seen = mark.look();
        for now in [1 << 39, (1 << 39) + 5, u64::MAX >> 1] {
            mark.note(mark.look(), false, now);
            assert_eq!(mark.look().known(now), Known::Unknown);
            assert_eq!(mark.look().0 >> USE, seen.0 >> USE);
        }
        mark.note(mark.look(), false, 7);
        assert_eq!(mark.look().known(7), Known::Live);
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, explore, thread};

    /// A group and one nested in it.
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

        /// Looks up `inner` bottom up, as `Groups::is_terminated` does.
        fn inner_is_terminated(&self) -> bool {
            let now = self.terminations.load(Ordering::Acquire);
            let inner = self.inner.look();
            match inner.known(now) {
                Known::Terminated => return true,
                Known::Live => return false,
                Known::Unknown => {}
            }
            let outer = self.outer.look();
            let found = outer.known(now) == Known::Terminated;
            self.outer.note(outer, found, now);
            self.inner.note(inner, found, now);
            found
        }
    }

    /// A thread that knows of a termination finds the mark, while others look up concurrently.
    #[test]
    fn termination_is_seen_despite_concurrent_lookups() {
        explore(4, || {
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

    /// Two groups are terminated, one within the other: a concurrent look-up that found LIVE overwrites neither mark.
    #[test]
    fn a_concurrent_lookup_never_clears_a_mark() {
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

    /// A sweep looks up an ended group beneath a terminated one: the result is not noted for the next group in the
    /// record, which is not beneath the terminated one.
    #[test]
    fn lookup_of_an_ended_group_does_not_mark_its_successor() {
        /// A record, and whether its group is beneath the terminated one.
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
