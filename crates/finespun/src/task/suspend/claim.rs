//! The claim of a leaf: one atomic word that decides who completes the leaf and who frees it.
//!
//! A leaf has two sides: the owner of its child, which waits, and the continuation's holder. They may part ways: a
//! task that is cancelled gives up its leaf while the continuation is still in somebody's hands, even after the
//! runtime has gone. Then the leaf is a tombstone, freed by whichever side comes second.
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
//!                               +---------------> +HANDLE_GONE -----------> freed by (3)
//! ```
//!
//! Whoever did (1) or (2) completes the leaf's slot, once, and after that touches the leaf no more: from then on its
//! child's owner may free it. If the child's owner has gone before (its slot is *detached*), the completer is the
//! child's owner too: it frees after (1), and does (3) after (2).
//!
//! (2) comes from sweeps, which may find a leaf that has been freed and not been allocated again: freeing leaves the
//! word as it is, and every word of a freed leaf refuses (2).

use crate::atomics::{AtomicU32, Ordering};

use super::super::slot::Join;

pub(super) const OPEN: u32 = 0;
/// Beside OPEN: something will end the wait.
pub(super) const PROTECTED: u32 = 16;
/// Beside OPEN: the wait ends when something is given back that a task may have passed on to a plain thread. Only for the
/// deadlock report.
pub(super) const LENT: u32 = 32;
const RESOLVED: u32 = 1;
const CANCELLED: u32 = 2;
const CHILD_GONE: u32 = 4;
const HANDLE_GONE: u32 = 8;

/// The word, which stands where a frame that waits has its join count.
#[derive(Clone, Copy)]
pub(super) struct Claim<'a>(&'a AtomicU32);

impl<'a> Claim<'a> {
    #[inline]
    pub(super) fn of(join: &'a Join) -> Claim<'a> {
        Claim(join.claim())
    }

    /// Transition 1: whether the leaf is the continuation's to complete. If not, it was cancelled.
    #[inline]
    #[must_use]
    pub(super) fn resolve(self) -> bool {
        // Relaxed: the bits are there from the beginning.
        let open = self.0.load(Ordering::Relaxed) & (PROTECTED | LENT);
        // AcqRel: against (2); the failing side sees what the canceller did.
        self.0.compare_exchange(open, RESOLVED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Transition 2: whether the leaf is the canceller's to complete.
    #[must_use]
    pub(super) fn cancel(self) -> bool {
        // Relaxed: as in `resolve`.
        let open = self.0.load(Ordering::Relaxed) & LENT;
        // AcqRel: against (1).
        self.0.compare_exchange(open, CANCELLED, Ordering::AcqRel, Ordering::Acquire).is_ok()
    }

    /// Transition 3 of a cancelled leaf: whether the child's owner comes second, and frees.
    #[must_use]
    pub(super) fn child_goes(self) -> bool {
        self.goes(CHILD_GONE)
    }

    /// Transition 4 of a cancelled leaf: whether the continuation comes second, and frees.
    #[must_use]
    pub(super) fn handle_goes(self) -> bool {
        self.goes(HANDLE_GONE)
    }

    fn goes(self, side: u32) -> bool {
        // AcqRel: what the first side did comes before the second frees.
        self.0.fetch_or(side, Ordering::AcqRel) & (CHILD_GONE | HANDLE_GONE) != 0
    }

    /// Whether nobody has ended the wait.
    pub(super) fn is_open(self) -> bool {
        // Acquire pairs with the Release in (1) and (2).
        self.0.load(Ordering::Acquire) & !(PROTECTED | LENT) == OPEN
    }

    /// Whether the leaf was made as one that waits for something lent, and nothing has ended the wait.
    pub(super) fn is_lent(self) -> bool {
        // Relaxed: the bit is there from the beginning.
        self.0.load(Ordering::Relaxed) == LENT
    }

    /// Whether the wait has been cancelled.
    pub(super) fn is_cancelled(self) -> bool {
        // Acquire pairs with the Release in (2).
        self.0.load(Ordering::Acquire) & CANCELLED != 0
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::super::super::slot::{Completed, Registered, Slot, Status};
    use super::*;
    use crate::atomics::{Arc, UnsafeCell, thread};
    use loom::model::Builder;
    use std::ptr::{self, NonNull};

    /// A leaf, and the frame that waits for it.
    struct Leaf {
        claim: Join,
        slot: Slot,
        /// The result, and later the memory: whoever frees it writes here.
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

        /// The continuation is consumed, as in `Continuation::complete`; whether the value has been delivered.
        fn resolve(&self) -> bool {
            if !self.claim().resolve() {
                self.look();
                if self.claim().handle_goes() {
                    self.free();
                }
                return false;
            }
            // SAFETY: the claim is ours, the slot empty; loom checks it.
            self.result.with_mut(|result| unsafe { *result = 7 });
            self.complete(Status::Done);
            true
        }

        /// What a sweep does: `suspend::cancel`.
        fn cancel(&self) -> bool {
            let claimed = self.claim().cancel();
            if claimed {
                self.complete(Status::Cancelled);
            }
            claimed
        }

        /// As `run::complete`.
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

        /// The owner of the child registers, as `run::register`.
        fn wait(&self) {
            self.waiter.arm_one();
            // An address that stands for the waiter; never followed.
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

        /// The owner of the child takes or destroys what the leaf delivered, and gives it up: `frame::free`.
        fn take(&self) {
            match self.slot.status() {
                Some(Status::Cancelled) => {
                    self.look();
                    if self.claim().child_goes() {
                        self.free();
                    }
                }
                Some(_) => {
                    // SAFETY: delivered.
                    self.result.with(|result| assert_eq!(unsafe { *result }, 7));
                    self.free();
                }
                None => unreachable!("what is taken has ended"),
            }
        }

        /// A side that goes looks for the memory's class before.
        fn look(&self) {
            // SAFETY: the memory lives; loom checks it.
            self.result.with(|result| assert_eq!(unsafe { *result }, 0));
        }

        /// Nobody may touch the memory any more, nor free it again.
        fn free(&self) {
            // SAFETY: the second side; loom checks it.
            self.result.with_mut(|result| unsafe { *result = u32::MAX });
            // SAFETY: as above.
            self.freed.with_mut(|freed| unsafe { *freed += 1 });
        }

        /// When all threads have been joined.
        fn ends(&self, resumed: u32) {
            // SAFETY: nobody else is left.
            self.resumed.with(|times| assert_eq!(unsafe { *times }, resumed));
            // SAFETY: as above.
            self.freed.with(|times| assert_eq!(unsafe { *times }, 1, "freed once"));
        }
    }

    fn explore(model: impl Fn() + Sync + Send + 'static) {
        let mut builder = Builder::new();
        builder.preemption_bound.get_or_insert(3);
        builder.check(model);
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
        completed_by_one_side(LENT);
    }

    fn completed_by_one_side(claim: u32) {
        explore(move || {
            let leaf = Leaf::new(claim);
            let (sweeper, holder) = (sweeper(&leaf), holder(&leaf));
            leaf.wait();
            assert!(sweeper.join().unwrap() != holder.join().unwrap());
            leaf.ends(1);
        });
    }

    /// The body of `suspend` panicked: its task has gone before the wait could begin.
    #[test]
    fn a_leaf_whose_child_has_gone_is_freed_by_whoever_completes_it() {
        explore(|| {
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
        explore(|| {
            let leaf = Leaf::new(PROTECTED);
            let (sweeper, holder) = (sweeper(&leaf), holder(&leaf));
            leaf.wait();
            assert!(!sweeper.join().unwrap());
            assert!(holder.join().unwrap());
            leaf.ends(1);
        });
    }

    /// Sweeps of two workers at once, and one that comes when the leaf has been freed: one of them may cancel.
    #[test]
    fn a_leaf_is_cancelled_once() {
        explore(|| {
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
