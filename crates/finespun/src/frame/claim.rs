//! The claim of a leaf: one atomic word that decides which side completes the leaf and which side frees it.
//!
//! A leaf has two sides: the child's owner, which is the task that waits, and the holder of the continuation. Either
//! may let go first: a cancelled task gives up its leaf while some thread still holds the continuation, perhaps after
//! the runtime has ended. The second side to let go frees it.
//!
//! ```text
//!            (1) resolve or drop of the continuation
//!     OPEN ---------------------------------------> RESOLVED    the child's owner frees
//!       |                                              ^
//!       |                                              |  (1)
//!       |                                          PROTECTED    the runtime's own wait, which (2) leaves alone
//!       |
//!       |  (2) cancel                          (3) child given up        (4) continuation consumed
//!       +-----------------> CANCELLED ----------> +CHILD_GONE ------------> freed by (4)
//!                               |   (4)                             (3)
//!                               +---------------> +HOLDER_GONE -----------> freed by (3)
//! ```
//!
//! The side that did (1) or (2) completes the leaf's slot, once, and does not access the leaf afterwards: from then on
//! the child's owner may free the leaf. If the child's owner has let go before (the slot is *detached*), the completer
//! takes the owner's role too: it frees the leaf after (1), and does (3) after (2).
//!
//! Sweeps perform (2). They may find a leaf that has been freed and not been allocated again: freeing leaves the word
//! unchanged, and every word of a freed leaf refuses (2).

use crate::atomics::{AtomicU32, Ordering};

use super::slot::Join;

pub(crate) const OPEN: u32 = 0;
/// Set in addition to OPEN: the runtime guarantees that the wait ends, so cancellation leaves it alone.
pub(crate) const PROTECTED: u32 = 16;
/// Set in addition to OPEN: the wait ends when a permit or a lock's guard is given back, which a task may have passed
/// on to a plain thread. Only deadlock detection uses this: it delays its report.
pub(crate) const WAITS_FOR_LOCK: u32 = 32;
const RESOLVED: u32 = 1;
const CANCELLED: u32 = 2;
const CHILD_GONE: u32 = 4;
const HOLDER_GONE: u32 = 8;

/// The claim word. It occupies the join count of the leaf, which waits for no slots.
#[derive(Clone, Copy)]
pub(super) struct Claim<'a>(&'a AtomicU32);

impl<'a> Claim<'a> {
    #[inline]
    pub(super) fn of(join: &'a Join) -> Claim<'a> {
        Claim(join.claim())
    }

    /// Performs transition 1. Returns true if the continuation completes the leaf, false if the leaf was cancelled.
    #[inline]
    #[must_use]
    pub(super) fn resolve(self) -> bool {
        // Relaxed: these bits never change while the leaf is open.
        let open = self.0.load(Ordering::Relaxed) & (PROTECTED | WAITS_FOR_LOCK);
        // AcqRel: ordered against (2); on failure, Acquire shows the canceller's writes.
        self.0.compare_exchange(open, RESOLVED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Performs transition 2. Returns true if the canceller completes the leaf.
    #[must_use]
    pub(super) fn cancel(self) -> bool {
        // Relaxed: this bit never changes while the leaf is open.
        let open = self.0.load(Ordering::Relaxed) & WAITS_FOR_LOCK;
        // AcqRel: ordered against (1).
        self.0.compare_exchange(open, CANCELLED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Performs transition 3 of a cancelled leaf. Returns true if the child's owner is the second side, and must free
    /// the leaf.
    #[must_use]
    pub(super) fn child_goes(self) -> bool {
        self.goes(CHILD_GONE)
    }

    /// Performs transition 4 of a cancelled leaf. Returns true if the continuation is the second side, and must free
    /// the leaf.
    #[must_use]
    pub(super) fn holder_goes(self) -> bool {
        self.goes(HOLDER_GONE)
    }

    fn goes(self, side: u32) -> bool {
        // AcqRel: the first side's accesses happen before the second side frees the leaf.
        self.0.fetch_or(side, Ordering::AcqRel) & (CHILD_GONE | HOLDER_GONE) != 0
    }

    /// Returns whether neither side has ended the wait.
    pub(super) fn is_open(self) -> bool {
        // Acquire pairs with the Release in (1) and (2).
        self.0.load(Ordering::Acquire) & !(PROTECTED | WAITS_FOR_LOCK) == OPEN
    }

    /// Returns whether the leaf waits for a permit or a lock, and neither side has ended the wait.
    pub(super) fn waits_for_lock(self) -> bool {
        // Relaxed: the bit is set from the beginning.
        self.0.load(Ordering::Relaxed) == WAITS_FOR_LOCK
    }

    /// Returns whether cancellation leaves the wait alone.
    #[cfg(feature = "objects")]
    pub(super) fn is_protected(self) -> bool {
        // Relaxed: the bit is set from the beginning.
        self.0.load(Ordering::Relaxed) == PROTECTED
    }

    /// Returns whether the wait has been cancelled.
    pub(super) fn is_cancelled(self) -> bool {
        // Acquire pairs with the Release in (2).
        self.0.load(Ordering::Acquire) & CANCELLED != 0
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::super::slot::{Completed, Registered, Slot, Status};
    use super::*;
    use crate::atomics::{Arc, UnsafeCell, explore, thread};
    use std::ptr::{self, NonNull};

    /// A leaf, and the join count of the frame that waits for it.
    struct Leaf {
        claim: Join,
        slot: Slot,
        /// The result. Freeing the leaf overwrites it, which lets loom detect later accesses.
        result: UnsafeCell<u32>,
        waiter: Join,
        resumed: UnsafeCell<u32>,
        freed: UnsafeCell<u32>,
    }

    impl Leaf {
        fn new(claim: u32) -> Arc<Leaf> {
            Arc::new(Leaf {
                claim: Join::new(claim),
                slot: Slot::new(),
                result: UnsafeCell::new(0),
                waiter: Join::new(0),
                resumed: UnsafeCell::new(0),
                freed: UnsafeCell::new(0),
            })
        }

        fn claim(&self) -> Claim<'_> {
            Claim::of(&self.claim)
        }

        /// Consumes the continuation, as `Continuation::complete` does. Returns whether the value has been delivered.
        fn resolve(&self) -> bool {
            if !self.claim().resolve() {
                self.look();
                if self.claim().holder_goes() {
                    self.free();
                }
                return false;
            }
            // SAFETY: this side has the claim, and the slot is empty; loom checks it.
            self.result.with_mut(|result| unsafe { *result = 7 });
            self.complete(Status::Done);
            true
        }

        /// Cancels the leaf as a sweep does: `continuation::cancel`.
        fn cancel(&self) -> bool {
            let claimed = self.claim().cancel();
            if claimed {
                self.complete(Status::Cancelled);
            }
            claimed
        }

        /// Completes the slot, as `run::complete` does.
        fn complete(&self, status: Status) {
            match self.slot.complete(status) {
                Completed::Unwaited => {}
                Completed::Waiter(_) => {
                    if self.waiter.count_down(1) {
                        self.resume();
                    }
                }
                Completed::Detached => self.take(),
            }
        }

        /// Registers the child's owner as the waiter, as `run::register` does.
        fn wait(&self) {
            self.waiter.arm_one();
            // An address that represents the waiter; it is never followed.
            let waiter = NonNull::new(ptr::without_provenance_mut(64)).unwrap();
            if self.slot.wait(waiter) == Registered::Ended {
                self.resume();
            }
        }

        fn resume(&self) {
            // SAFETY: a ready frame runs once, on one thread; loom checks it.
            self.resumed.with_mut(|resumed| unsafe { *resumed += 1 });
            self.take();
        }

        /// Takes or destroys the leaf's result as the child's owner, and gives the leaf up: `frame::free`.
        fn take(&self) {
            match self.slot.status() {
                Some(Status::Cancelled) => {
                    self.look();
                    if self.claim().child_goes() {
                        self.free();
                    }
                }
                Some(_) => {
                    // SAFETY: the slot has ended with a result; loom checks it.
                    self.result.with(|result| assert_eq!(unsafe { *result }, 7));
                    self.free();
                }
                None => unreachable!("a result is taken only from an ended slot"),
            }
        }

        /// Reads the leaf's memory, as each side does before it lets go, to find the size class.
        fn look(&self) {
            // SAFETY: the leaf has not been freed; loom checks it.
            self.result.with(|result| assert_eq!(unsafe { *result }, 0));
        }

        /// Frees the leaf. No thread may access it afterwards, nor free it again.
        fn free(&self) {
            // SAFETY: this is the only side left; loom checks it.
            self.result.with_mut(|result| unsafe { *result = u32::MAX });
            // SAFETY: this is the only side left; loom checks it.
            self.freed.with_mut(|freed| unsafe { *freed += 1 });
        }

        /// Checks the counts after all threads have been joined.
        fn ends(&self, resumed: u32) {
            // SAFETY: all threads have been joined.
            self.resumed.with(|times| assert_eq!(unsafe { *times }, resumed));
            // SAFETY: all threads have been joined.
            self.freed.with(|times| assert_eq!(unsafe { *times }, 1, "freed once"));
        }
    }

    fn sweeper(leaf: &Arc<Leaf>) -> thread::JoinHandle<bool> {
        let leaf = Arc::clone(leaf);
        thread::spawn(move || leaf.cancel())
    }

    fn holder(leaf: &Arc<Leaf>) -> thread::JoinHandle<bool> {
        let leaf = Arc::clone(leaf);
        thread::spawn(move || leaf.resolve())
    }

    #[test]
    fn a_leaf_is_completed_by_one_side_and_freed_by_one() {
        completed_by_one_side(OPEN);
    }

    #[test]
    fn a_lent_leaf_is_completed_by_one_side_and_freed_by_one() {
        completed_by_one_side(WAITS_FOR_LOCK);
    }

    fn completed_by_one_side(claim: u32) {
        explore(3, move || {
            let leaf = Leaf::new(claim);
            let (sweeper, holder) = (sweeper(&leaf), holder(&leaf));
            leaf.wait();
            assert!(sweeper.join().unwrap() != holder.join().unwrap());
            leaf.ends(1);
        });
    }

    /// The body of `suspend` panicked: its task dropped the child before the wait could begin.
    #[test]
    fn a_leaf_with_a_dropped_child_is_freed_by_its_completer() {
        explore(3, || {
            let leaf = Leaf::new(OPEN);
            let (sweeper, holder) = (sweeper(&leaf), holder(&leaf));
            if !leaf.slot.detach() {
                leaf.take();
            }
            assert!(sweeper.join().unwrap() != holder.join().unwrap());
            leaf.ends(0);
        });
    }

    #[test]
    fn a_protected_leaf_is_not_cancelled() {
        explore(3, || {
            let leaf = Leaf::new(PROTECTED);
            let (sweeper, holder) = (sweeper(&leaf), holder(&leaf));
            leaf.wait();
            assert!(!sweeper.join().unwrap());
            assert!(holder.join().unwrap());
            leaf.ends(1);
        });
    }

    /// Three cancellations, the last after the leaf has been freed: at most one succeeds.
    #[test]
    fn a_leaf_is_cancelled_once() {
        explore(3, || {
            let leaf = Leaf::new(OPEN);
            let holder = holder(&leaf);
            leaf.wait();
            let cancelled = [leaf.cancel(), leaf.cancel()];
            assert!(!cancelled[1]);
            let late = holder.join().unwrap();
            assert!(cancelled[0] != late);
            assert!(!leaf.cancel());
            leaf.ends(1);
        });
    }
}
