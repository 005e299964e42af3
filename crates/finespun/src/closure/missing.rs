//! The number of a closure's missing arguments, the papers' join counter: the worker that has made a closure counts it down
//! without a locked instruction, as long as no other thread does.
//!
//! Each closure has a *stamp*: the number of its computation, its *maker*, and an epoch of the maker. Only the maker counts
//! *plainly*, by a load and a store, and only while the stamp is the one that it gives now. Any other thread must
//! *exclude* the maker from plain counting before it counts, by an atomic subtraction.
//!
//! ```text
//!                        another thread: claims          ... has seen that the maker is not busy with this closure
//!   stamp:    MADE(maker, epoch) -----------> CLAIMED -----------> SHARED
//!                        |                                     ^
//!                        | the maker begins another epoch      | without a fence
//!                        v                                     |
//!             MADE, of an earlier epoch -----------------> CLAIMED: as SHARED
//!
//!   the maker:   1 busy = closure   light fence   2 stamp = mine?   3 missing = n - 1 (Release)   4 busy = 0 (Release)
//!   the other:   5 stamp = CLAIMED  heavy fence   6 waits while busy = closure (Acquire)          7 stamp = SHARED
//!                8 missing -= 1
//! ```
//!
//! **No count is lost.** Let the maker do 3. Then 2 has not seen 5, so by Dekker's pattern 6 sees 1, or a later value of
//! `busy`, and goes on only when it has seen 4, or a later one: 3 happens before 8. A third thread that finds CLAIMED does
//! the same as the other; one that finds SHARED (Acquire) has seen 7 (Release). After 5, or after another thread's store of
//! SHARED, 2 fails. A store of CLAIMED after SHARED costs a fence more.
//!
//! **Epochs** spare almost all of these fences. A continuation usually comes to another worker within a closure, which its
//! maker has shown to thieves. Before it shows closures, it begins another epoch, and from then on counts as all others do
//! where the stamp is older. The other thread first does 5, then a light fence, and then looks at the maker's epoch
//! (Acquire): if it has changed (Release), the thread has seen all plain counts of the closure, and 6 is not needed.
//!
//! The numbers of epochs come again. So this holds only if the maker's epoch is at most half a lap later; and twice in a
//! lap, after it has begun an epoch, the maker executes the heavy fence. It begins such an epoch before the stamp is its
//! own again. A thread that has looked before that epoch has done 5 before the maker's fence, so that 2 sees it.
//!
//! A program that sends from threads outside needs a heavy fence for each closure. After some, the maker counts atomically
//! for a while.
//!
//! The maker waits for nothing between 1 and 4, so 6 ends.

use std::time::Duration;

use crossbeam_utils::CachePadded;

use crate::atomics::{AtomicU32, AtomicU64, AtomicUsize, Ordering, hint, thread};

use super::fence::{POSSIBLE, heavy, light};

/// A closure's stamp.
///
/// ```text
///   63       24 23    12   11      10     0
///   | number   | maker | claimed | epoch  |
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp(u64);

const CLAIMED: u64 = 1 << 11;
const EPOCHS: u64 = CLAIMED - 1;
const HALF_LAP: u32 = 1 << 10;
const MAKER: u32 = 12;
const NUMBER: u32 = 24;
/// The maker's field if all threads count atomically.
const NOBODY: u64 = (1 << (NUMBER - MAKER)) - 1;

impl Stamp {
    /// The largest number of a computation.
    pub(super) const MOST: u64 = u64::MAX >> NUMBER;
    /// The stamp of no closure.
    pub(super) const NONE: Stamp = Stamp(0);

    /// Returns the stamp of closures that `maker` makes in an epoch; `None` if it counts atomically, as workers with high
    /// numbers always do.
    pub(super) fn new(number: u64, maker: Option<u32>, epoch: u32) -> Stamp {
        let maker = maker.map_or(NOBODY, |maker| u64::from(maker).min(NOBODY));
        Stamp(number << NUMBER | maker << MAKER | u64::from(epoch) & EPOCHS)
    }

    /// Returns whether the maker may count plainly.
    pub(super) fn has_maker(self) -> bool {
        self.maker() != NOBODY
    }

    /// Returns whether this is a stamp of that computation's closures by that worker.
    pub(super) fn is_of(self, number: u64, worker: u32) -> bool {
        self.number() == number && self.maker() == u64::from(worker)
    }

    fn maker(self) -> u64 {
        self.0 >> MAKER & NOBODY
    }

    /// Returns the number of the computation.
    #[inline(always)]
    pub(super) fn number(self) -> u64 {
        self.0 >> NUMBER
    }
}

/// A closure's stamp in its frame.
pub(super) struct StampWord(AtomicU64);

impl StampWord {
    #[inline(always)]
    pub(super) fn new(stamp: Stamp) -> StampWord {
        StampWord(AtomicU64::new(stamp.0))
    }

    /// Returns the stamp, of which only the number stays as it is.
    #[inline(always)]
    pub(super) fn get(&self) -> Stamp {
        // Relaxed: published with the closure.
        Stamp(self.0.load(Ordering::Relaxed))
    }

    /// Excludes the maker, which is another thread, from plain counting of the closure at this address. `maker_of` returns
    /// the record of a maker.
    pub(super) fn exclude<'a>(&self, closure: usize, maker_of: impl FnOnce(usize) -> &'a Maker) {
        let Some((found, maker)) = self.claimed(maker_of) else { return };
        let mut rounds = 0;
        while maker.is_busy(closure) {
            rounds += 1;
            // The maker's thread may have lost its processor while it counted.
            match rounds {
                0..100 => hint::spin_loop(),
                100..1000 => thread::yield_now(),
                _ => std::thread::sleep(Duration::from_micros(50)),
            }
        }
        self.share(found);
    }

    /// Claims the closure, and executes the heavy fence (5). Returns the stamp and the maker; `None` if there is nothing to
    /// wait for.
    fn claimed<'a>(&self, maker_of: impl FnOnce(usize) -> &'a Maker) -> Option<(Stamp, &'a Maker)> {
        // Acquire: see "No count is lost".
        let found = Stamp(self.0.load(Ordering::Acquire));
        if !found.has_maker() {
            return None;
        }
        let maker = maker_of(found.maker() as usize);
        if self.claim(found, maker) {
            return None;
        }
        // Relaxed: a count.
        maker.fences.fetch_add(1, Ordering::Relaxed);
        heavy();
        Some((found, maker))
    }

    /// Notes that the maker is excluded (7).
    fn share(&self, found: Stamp) {
        // Release: see "No count is lost".
        self.0.store(found.0 & !CLAIMED | NOBODY << MAKER, Ordering::Release);
    }

    /// Claims the closure (5), which had the stamp `found`. Returns whether the maker has begun another epoch.
    fn claim(&self, found: Stamp, maker: &Maker) -> bool {
        // Relaxed: ordered by the fences.
        self.0.store(found.0 | CLAIMED, Ordering::Relaxed);
        light();
        // Acquire: see "Epochs".
        let later = u64::from(maker.epoch.load(Ordering::Acquire)).wrapping_sub(found.0) & EPOCHS;
        0 < later && later <= u64::from(HALF_LAP)
    }
}

/// A worker as the maker of a computation's closures.
#[derive(Default)]
pub(super) struct Maker {
    /// On a cache line of its own: other workers read it whenever they send.
    epoch: CachePadded<AtomicU32>,
    /// The address of the closure that the worker may be counting down plainly; 0 if none.
    busy: AtomicUsize,
    /// How many heavy fences other threads have needed since the worker began to count plainly.
    fences: AtomicU32,
    /// In how many of the next epochs and sessions the worker counts atomically.
    pause: AtomicU32,
}

/// After this number of heavy fences, the maker counts atomically for a while: the program sends from other threads. Each
/// fence disturbs all processors that run threads of the process.
const MANY: u32 = 16;
const PAUSE: u32 = 1000;

impl Maker {
    /// Begins an epoch, or a session in one: of the stamps that the worker gives and compares from now on. Returns whether
    /// it counts plainly, which it may do only if `available`.
    pub(super) fn begin_epoch(&self, epoch: u32, available: bool) -> bool {
        // Relaxed: only the worker writes it.
        let before = self.epoch.load(Ordering::Relaxed);
        // Release: see "Epochs".
        self.epoch.store(epoch, Ordering::Release);
        if available && before / HALF_LAP != epoch / HALF_LAP {
            heavy();
        }
        // Relaxed, all: only the worker writes `pause`, and a fence that is not counted does no harm.
        if self.fences.load(Ordering::Relaxed) >= MANY {
            self.fences.store(0, Ordering::Relaxed);
            self.pause.store(PAUSE, Ordering::Relaxed);
        }
        let pause = self.pause.load(Ordering::Relaxed);
        self.pause.store(pause.saturating_sub(1), Ordering::Relaxed);
        available && pause == 0
    }

    /// Returns whether the worker may be counting down that closure (6).
    fn is_busy(&self, closure: usize) -> bool {
        // Acquire pairs with 4.
        self.busy.load(Ordering::Acquire) == closure
    }

    /// Counts down plainly, from `left`, which is more than 1, if the closure still has the stamp `mine`. Returns whether
    /// it has done so. Called on the worker.
    #[inline(always)]
    pub(super) fn counts(
        &self,
        closure: usize,
        stamp: &StampWord,
        mine: Stamp,
        missing: &AtomicU32,
        left: u32,
    ) -> bool {
        if !POSSIBLE {
            return false;
        }
        // Release, both stores of `busy`: a thread that reads a later value has seen earlier counts.
        self.busy.store(closure, Ordering::Release);
        light();
        // Relaxed: ordered by the fence.
        let alone = stamp.get() == mine;
        if alone {
            // Release: this argument comes before the run of the thread.
            missing.store(left - 1, Ordering::Release);
        }
        self.busy.store(0, Ordering::Release);
        alone
    }
}

/// Returns the number of missing arguments. 1 means that the caller, which has one of them, is the last. Then it need not
/// count: no thread will read the count.
#[inline(always)]
pub(super) fn left(missing: &AtomicU32) -> u32 {
    // Acquire pairs with the Release of earlier counts.
    missing.load(Ordering::Acquire)
}

/// Counts down by one, on the maker, or after [`exclude`](StampWord::exclude). Returns whether this was the last missing
/// argument.
pub(super) fn count_down(missing: &AtomicU32) -> bool {
    // Release: this argument comes before the run of the thread. Acquire: the last sees the arguments of all.
    missing.fetch_sub(1, Ordering::AcqRel) == 1
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, UnsafeCell, explore};

    /// A closure with three holes, and its maker.
    struct Closure {
        missing: AtomicU32,
        stamp: StampWord,
        maker: Maker,
        holes: [UnsafeCell<u32>; 3],
    }

    const ADDRESS: usize = 64;

    impl Closure {
        fn new() -> Arc<Closure> {
            Closure::of_epoch(1)
        }

        fn of_epoch(epoch: u32) -> Arc<Closure> {
            let maker = Maker::default();
            assert!(maker.begin_epoch(epoch, true));
            let stamp = StampWord::new(Stamp::new(7, Some(0), epoch));
            let holes = [(); 3].map(|()| UnsafeCell::new(0));
            Arc::new(Closure { missing: AtomicU32::new(3), stamp, maker, holes })
        }

        /// Fills a hole. Returns whether it was the last. `mine` is the stamp that the thread gives, if it is the maker.
        /// `None` if the maker is busy: the program would wait.
        fn fill(&self, index: usize, mine: Option<Stamp>) -> Option<bool> {
            // SAFETY: each hole is filled once, and the last reads all; loom checks this.
            self.holes[index].with_mut(|hole| unsafe { *hole = 1 });
            let left = left(&self.missing);
            if left != 1 {
                if mine.is_some_and(|mine| self.maker.counts(ADDRESS, &self.stamp, mine, &self.missing, left)) {
                    return Some(false);
                }
                if mine.is_none()
                    && let Some((found, maker)) = self.stamp.claimed(|_| &self.maker)
                {
                    if maker.is_busy(ADDRESS) {
                        return None;
                    }
                    self.stamp.share(found);
                }
                if !count_down(&self.missing) {
                    return Some(false);
                }
            }
            // SAFETY: all have arrived; loom checks this.
            assert!(self.holes.iter().all(|hole| hole.with(|hole| unsafe { *hole == 1 })));
            Some(true)
        }
    }

    /// Exactly one is the last, unless one of the threads has not filled its hole.
    fn check(last: impl IntoIterator<Item = Option<bool>>) {
        let last: Vec<Option<bool>> = last.into_iter().collect();
        let expected = if last.contains(&None) { 0 } else { 1 };
        assert_eq!(last.into_iter().filter(|&last| last == Some(true)).count(), expected);
    }

    /// The maker fills two holes, another thread one.
    #[test]
    fn the_last_of_maker_and_another_sees_all_values() {
        explore(3, || {
            let closure = Closure::new();
            let other = {
                let closure = Arc::clone(&closure);
                thread::spawn(move || closure.fill(2, None))
            };
            let mine = Some(Stamp::new(7, Some(0), 1));
            let here = [closure.fill(0, mine), closure.fill(1, mine)];
            check(here.into_iter().chain([other.join().unwrap()]));
        });
    }

    /// The maker fills one hole, and two other threads fill one each.
    #[test]
    fn the_last_of_maker_and_two_others_sees_all_values() {
        explore(3, || {
            let closure = Closure::new();
            let others = [1, 2].map(|index| {
                let closure = Arc::clone(&closure);
                thread::spawn(move || closure.fill(index, None))
            });
            let here = closure.fill(0, Some(Stamp::new(7, Some(0), 1)));
            check(others.map(|other| other.join().unwrap()).into_iter().chain([here]));
        });
    }

    /// The maker fills a hole, begins another epoch, shows a continuation to another thread, and fills the third hole.
    #[test]
    fn a_shown_continuation_needs_no_fence() {
        explore(3, || {
            let closure = Closure::new();
            let shown = Arc::new(AtomicU32::new(0));
            let other = {
                let (closure, shown) = (Arc::clone(&closure), Arc::clone(&shown));
                // Relaxed: the continuation may have come in any way.
                thread::spawn(move || if shown.load(Ordering::Relaxed) == 1 { closure.fill(2, None) } else { None })
            };
            let first = closure.fill(0, Some(Stamp::new(7, Some(0), 1)));
            assert!(closure.maker.begin_epoch(2, true));
            shown.store(1, Ordering::Relaxed);
            let third = closure.fill(1, Some(Stamp::new(7, Some(0), 2)));
            // If the other has not seen it, the closure still waits.
            check([first, third, other.join().unwrap()]);
        });
    }

    /// The maker's epochs pass the stamp's once more, while another thread fills a hole without a fence.
    ///
    /// Loom knows no pair of fences of which one is free, and here two light ones would do as much as a light and a heavy
    /// one. So the maker executes only the fence of the epoch.
    #[test]
    fn epochs_come_again() {
        // The second time, the maker executes no fence, since half a lap ends neither before nor after.
        for [made, left_for, again] in [[1, 2, 2 * HALF_LAP + 1], [1000, 2100, 2 * HALF_LAP + 1000]] {
            explore(3, move || {
                let closure = Closure::of_epoch(made);
                let other = {
                    let closure = Arc::clone(&closure);
                    thread::spawn(move || {
                        let claimed = closure.stamp.claim(closure.stamp.get(), &closure.maker);
                        claimed.then(|| count_down(&closure.missing))
                    })
                };
                assert!(closure.maker.begin_epoch(left_for, true));
                assert!(closure.maker.begin_epoch(again, true));
                let mine = Stamp::new(7, Some(0), again);
                let left = left(&closure.missing);
                let counts = closure.stamp.get() == mine;
                if counts {
                    closure.missing.store(left - 1, Ordering::Release);
                }
                let other = other.join().unwrap();
                assert_ne!(other, Some(true), "one hole stays open");
                let counted = u32::from(counts) + u32::from(other.is_some());
                assert_eq!(closure.missing.load(Ordering::Relaxed), 3 - counted);
            });
        }
    }
}
