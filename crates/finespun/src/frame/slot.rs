//! The slot protocol: one atomic word that the waiter and the completer each write once. The second side resumes the
//! waiter.
//!
//! ```text
//!            (1) wait                      (2) complete
//!   EMPTY ------------> WAITED(frame) ------------------> ENDED(status)   completer resumes the waiter
//!     |                                                        ^
//!     |                      (2) complete                      |
//!     +--------------------------------------------------------+          waiter finds it ended, and continues
//!     |
//!     |  (3) detach                        (2) complete
//!     +------------> DETACHED -----------------------------> ENDED        completer frees the frame
//!                       ^
//!                       |  (5) the owner gives up the frame
//!     WAITED(frame) -> ORPHANED -----------------------------> ENDED        the owner frees the frame
//!                 (4) orphan           (2) complete
//! ```
//!
//! Cancellation does (4): it removes the waiter of a spawned frame, which is then orphaned, so that a cycle of handles
//! can be destroyed. The orphaned slot counts as ended in the waiter's join count. The waiter then gives up the frame
//! by (5), or takes the result if (2) came first.
//!
//! The sweep that orphans frames may have passed the slot before its waiter registers. So after (1) the waiter checks
//! whether its run is marked as cancelled or its group as terminated, and if so does (4) itself. This is Dekker's
//! pattern: the canceller writes the mark and then reads the slot, the waiter writes the slot and then reads the mark
//! ([`Slot::wait_or_orphan`]).
//!
//! A frame that waits for several slots counts them down: see [`Join`].
//!
//! A value is written before (2) with Release and read after an Acquire of ENDED. A waiter is published by (1) with
//! Release (its join count and body are settled: a frame registers only after its poll has returned) and taken by (2)
//! with Acquire. A slot has at most one waiter, because it has one owner.

use std::ptr::{self, NonNull};

use crate::atomics::{AtomicPtr, AtomicU32, Ordering, fence};

use super::{FrameRef, Header};

#[cfg(all(test, loom))]
mod models;

// Frame addresses are at least 8-aligned, so these words are not frame addresses.
const EMPTY: *mut Header = ptr::null_mut();
const DETACHED: *mut Header = ptr::without_provenance_mut(2);
const ORPHANED: *mut Header = ptr::without_provenance_mut(4);
/// Bit 0 marks an ended slot; the bits from 2 on hold the [`Status`].
const ENDED: usize = 1;
/// Set above the status, in the word of an ended slot, when the result has been taken: see [`Slot::retract`].
const TAKEN: usize = 1 << 6;

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// With a value.
    Done,
    /// With a panic's payload.
    Panicked,
    /// Without a result: the task was cancelled, or the waiter's `on_child_complete` took the result
    /// ([`Slot::retract`]).
    Cancelled,
}

/// Returns the word of a slot that ended with `status`.
fn ended(status: Status) -> *mut Header {
    ptr::without_provenance_mut(ENDED | ((status as usize) << 2))
}

/// Result of registering a waiter.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Registered {
    /// Registered: the completer will resume the waiter.
    Waiting,
    /// No completer will resume the waiter: the slot has ended, and the result may be taken, or it is orphaned.
    Ended,
}

/// Result of completing a slot.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Completed {
    /// The slot has no waiter yet, or is orphaned; the owner will find the slot ended.
    Unwaited,
    /// The waiter, which the slot held: count down its join count.
    Waiter(FrameRef),
    /// The owner has given up the frame: destroy the result and free the frame.
    Detached,
}

/// The number of slots that a frame waits for and that have not ended: the papers' join counter.
///
/// ```text
///   1 arm(n): n + 1, before the first of the n registrations
///   2 each slot that ends or is orphaned after its registration: - 1
///   3 the waiter, after the last registration: - (1 + slots that it found ended or orphaned)
/// ```
///
/// The side that takes the count to zero resumes the waiter. The extra 1 keeps the completers from resuming the waiter
/// while it is still registering. A single slot needs the extra 1 only if the child was spawned: for other children the
/// registration is the last step.
#[derive(Debug)]
pub(crate) struct Join(AtomicU32);

impl Join {
    pub(crate) fn new(word: u32) -> Join {
        Join(AtomicU32::new(word))
    }

    /// Sets the count for `count` participants, each of which will call [`arrive`](Join::arrive).
    #[inline]
    pub(crate) fn set(&self, count: u32) {
        // Relaxed: published together with the pointers that the participants receive.
        self.0.store(count, Ordering::Relaxed);
    }

    /// Arms the count before registering with one slot.
    pub(crate) fn arm_one(&self) {
        // Relaxed: published by the Release of `Slot::wait`.
        self.0.store(1, Ordering::Relaxed);
    }

    /// Arms the count before registering with `slots` slots (1).
    pub(crate) fn arm(&self, slots: u32) {
        // Relaxed: published by the Release of `Slot::wait`.
        self.0.store(slots + 1, Ordering::Relaxed);
    }

    /// Takes `count` away (2, 3). Returns whether the count is now zero.
    #[must_use]
    pub(crate) fn count_down(&self, count: u32) -> bool {
        // Release: this side's result or registration comes before the resumption by the last side. Acquire: if this is
        // the last side, it sees the results and registrations of the others.
        self.0.fetch_sub(count, Ordering::AcqRel) == count
    }

    /// Returns the word of a frame that never waits: a leaf keeps its claim there, a closure the number of its missing
    /// arguments.
    #[inline(always)]
    pub(crate) fn claim(&self) -> &AtomicU32 {
        &self.0
    }
}

/// The slot word.
#[derive(Debug)]
pub(crate) struct Slot(AtomicPtr<Header>);

impl Slot {
    pub(crate) fn new() -> Slot {
        Slot(AtomicPtr::new(EMPTY))
    }

    /// Returns the word of a frame that never has a waiter: a closure.
    pub(crate) fn unused(&self) -> &AtomicPtr<Header> {
        &self.0
    }

    /// Registers `waiter` (transition 1).
    pub(crate) fn wait(&self, waiter: FrameRef) -> Registered {
        // Success Release pairs with the Acquire in `complete`: the completer sees the waiter settled.
        // Failure Acquire pairs with the Release in `complete`: the result may be read.
        match self.0.compare_exchange(EMPTY, waiter.as_ptr(), Ordering::Release, Ordering::Acquire) {
            Ok(_) => Registered::Waiting,
            Err(found) => {
                debug_assert!(found.addr() & ENDED == ENDED || found == ORPHANED, "a slot has one waiter");
                Registered::Ended
            }
        }
    }

    /// Registers `waiter` with a spawned frame (transition 1). If `cancelled` says that the waiter's run has been
    /// cancelled or its group terminated, the sweep may have passed already, and this orphans the slot (transition 4).
    ///
    /// The caller must keep the waiter from running until this returns: a running waiter may free the frame.
    pub(crate) fn wait_or_orphan(&self, waiter: FrameRef, cancelled: impl FnOnce() -> bool) -> Registered {
        let registered = self.wait(waiter);
        if registered == Registered::Waiting {
            // Pairs with the fence in `orphan`: the sweep sees the waiter, or this thread sees the mark.
            fence(Ordering::SeqCst);
            if cancelled() && self.orphan().is_some() {
                return Registered::Ended;
            }
        }
        registered
    }

    /// Ends the slot with `status` (transition 2).
    pub(crate) fn complete(&self, status: Status) -> Completed {
        // Release publishes the result to `wait` and `status`; Acquire sees the waiter's settled state.
        let found = self.0.swap(ended(status), Ordering::AcqRel);
        debug_assert_eq!(found.addr() & ENDED, 0, "a slot completes once");
        match NonNull::new(found) {
            None => Completed::Unwaited,
            Some(_) if found == DETACHED => Completed::Detached,
            Some(_) if found == ORPHANED => Completed::Unwaited,
            Some(waiter) => Completed::Waiter(waiter),
        }
    }

    /// Marks the result of an ended slot as taken. Called by the waiter's `on_child_complete` callback, before the
    /// completion is counted, so that the waiter does not run yet.
    pub(crate) fn retract(&self) {
        // Release: the result is not touched again after this. The count that follows makes the waiter ready.
        self.0.store(ended(Status::Cancelled).map_addr(|word| word | TAKEN), Ordering::Release);
    }

    /// Returns whether the waiter's `on_child_complete` took the result of an ended slot.
    pub(crate) fn is_retracted(&self) -> bool {
        // Relaxed: called by the waiter, which has already observed the end.
        self.0.load(Ordering::Relaxed).addr() & TAKEN != 0
    }

    /// Gives up the frame (transition 3). Returns false if the slot has ended already; the owner must then destroy the
    /// result itself.
    #[must_use]
    pub(crate) fn detach(&self) -> bool {
        // Release: the owner's accesses to the frame come before the completer frees it. Acquire: as in `wait`.
        self.0.compare_exchange(EMPTY, DETACHED, Ordering::Release, Ordering::Acquire).is_ok()
    }

    /// Orphans the slot (transition 4), after the waiter's run or group has been marked. Returns the removed waiter,
    /// which the caller must count down; `None` if the slot has no waiter.
    pub(crate) fn orphan(&self) -> Option<FrameRef> {
        // Pairs with the fence in `wait_or_orphan`: a waiter that this load misses will see the mark.
        fence(Ordering::SeqCst);
        let waiter = self.waiter()?;
        // AcqRel: as in `complete`, with respect to the waiter.
        let orphaned = self.0.compare_exchange(waiter.as_ptr(), ORPHANED, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        orphaned.then_some(waiter)
    }

    /// Returns whether cancellation has removed the waiter from the frame, which has not ended yet.
    pub(crate) fn is_orphaned(&self) -> bool {
        // Acquire pairs with the Release in `orphan`.
        self.0.load(Ordering::Acquire) == ORPHANED
    }

    /// Gives up an orphaned frame (transition 5). Returns false if the slot has ended or was never orphaned.
    #[must_use]
    pub(crate) fn give_up_orphaned(&self) -> bool {
        // Release and Acquire: as in `detach`.
        self.0.compare_exchange(ORPHANED, DETACHED, Ordering::Release, Ordering::Acquire).is_ok()
    }

    /// Returns the registered waiter, if any.
    pub(crate) fn waiter(&self) -> Option<FrameRef> {
        // Acquire pairs with the Release in `wait`.
        let found = self.0.load(Ordering::Acquire);
        NonNull::new(found).filter(|_| found.addr() & ENDED == 0 && found != DETACHED && found != ORPHANED)
    }

    /// Returns how the slot ended, or `None` if it has not ended.
    pub(crate) fn status(&self) -> Option<Status> {
        // Acquire pairs with the Release in `complete`: the result may be read.
        let word = self.0.load(Ordering::Acquire).addr();
        if word & ENDED == 0 {
            return None;
        }
        Some(match word >> 2 {
            0 => Status::Done,
            1 => Status::Panicked,
            _ => Status::Cancelled,
        })
    }
}
