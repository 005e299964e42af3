//! The slot protocol: one atomic word, written to once by each of two sides; whoever comes second resumes the waiter.
//!
//! ```text
//!            (1) wait                      (2) complete
//!   EMPTY ------------> WAITED(frame) ------------------> ENDED(status)   completer resumes the waiter
//!     |                                                        ^
//!     |                      (2) complete                      |
//!     +--------------------------------------------------------+          waiter finds it ended, and goes on
//!     |
//!     |  (3) detach                        (2) complete
//!     +------------> DETACHED -----------------------------> ENDED        completer frees the frame
//!                       ^
//!                       |  (5) the parted owner goes
//!     WAITED(frame) -> PARTED -----------------------------> ENDED        the owner frees the frame
//!                  (4) part            (2) complete
//!
//! (4) is cancellation's: it takes the waiter of a spawned frame away, so that a cycle of handles can be destroyed. The
//! waiter finds it parted, counts it as ended, and gives it up by (5), or takes the result if (2) came first.
//! ```
//!
//! The sweep that parts may have passed the slot when its waiter registers. So the waiter looks for the run's mark
//! after (1), and does (4) itself: Dekker's pattern, mark and slot against slot and mark ([`Slot::wait_or_part`]).
//!
//! A frame that waits for several slots counts them down: see [`Join`].
//!
//! A value is written before (2) with Release and read after an Acquire of ENDED. A waiter is published by (1) with
//! Release (its join count and body are settled: a frame registers only after its poll has returned) and taken by (2)
//! with Acquire. There is one waiter at most: a slot has one owner.

use std::ptr::{self, NonNull};

use crate::atomics::{AtomicPtr, AtomicU32, Ordering, fence};

use super::frame::{FrameRef, Header};

#[cfg(all(test, loom))]
mod models;

// Frame addresses are at least 8-aligned, so these words are no frame's.
const EMPTY: *mut Header = ptr::null_mut();
const DETACHED: *mut Header = ptr::without_provenance_mut(2);
const PARTED: *mut Header = ptr::without_provenance_mut(4);
/// Bit 0 marks an ended slot, the bits from 2 on say how it ended.
const ENDED: usize = 1;
/// Above those, in the word of a slot that has ended.
const TAKEN: usize = 1 << 6;

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// With a value.
    Done,
    /// With a panic's payload.
    Panicked,
    /// With nothing: it was cancelled, or somebody has taken what there was in the waiter's place ([`Slot::retract`]).
    Cancelled,
    /// Without a trace: the frame was a closure, which nobody waits for, and which its thread has freed. In no slot.
    Gone,
}

/// The word of a slot that ended so.
fn ended(status: Status) -> *mut Header {
    ptr::without_provenance_mut(ENDED | ((status as usize) << 2))
}

/// What a waiter finds when it registers.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Registered {
    /// Registered: the completer will resume the waiter.
    Waiting,
    /// The slot has ended already: take the result.
    Ended,
}

/// What a completer finds.
#[must_use]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Completed {
    /// Nobody waits yet; the owner will find the slot ended.
    Unwaited,
    /// This frame waits: count its join down.
    Waiter(FrameRef),
    /// The owner has gone: destroy the result and free the frame.
    Detached,
}

/// How many of the slots that a frame waits for are still empty: the papers' join counter.
///
/// ```text
///   1 arm(n): n + 1, before the first of the n registrations
///   2 each slot completed by somebody else: - 1
///   3 the waiter, after the last registration: - (1 + slots that it found ended)
/// ```
///
/// Whoever takes it to zero resumes the frame. The extra one keeps the completers from doing so while the waiter is
/// still registering. A single slot needs none of that: registering is the last step anyway.
#[derive(Debug)]
pub(crate) struct Join(AtomicU32);

impl Join {
    pub(crate) fn new(word: u32) -> Join {
        Join(AtomicU32::new(word))
    }

    /// Of who waits for so many, each of whom will [`arrive`](Join::arrive).
    #[inline]
    pub(crate) fn set(&self, count: u32) {
        // Relaxed: published with what those who arrive are given.
        self.0.store(count, Ordering::Relaxed);
    }

    /// Before registering with one slot.
    pub(crate) fn arm_one(&self) {
        // Relaxed: published by the Release of `Slot::wait`.
        self.0.store(1, Ordering::Relaxed);
    }

    /// Before registering with `slots` slots (1).
    pub(crate) fn arm(&self, slots: u32) {
        // Relaxed: as above.
        self.0.store(slots + 1, Ordering::Relaxed);
    }

    /// Takes `count` away (2, 3); whether that was the last.
    #[must_use]
    pub(crate) fn count_down(&self, count: u32) -> bool {
        // Release: this side's result or registration comes before the resumption by whoever is last.
        // Acquire: if that is us, we see the others'.
        self.0.fetch_sub(count, Ordering::AcqRel) == count
    }

    /// One of those arrives of whom each counts for one, and who are all that it is made up of; whether that is the last.
    ///
    /// ```text
    ///   n > 1 --> n - 1 (somebody is left)        1 (the last: no write, since nobody is left who would read it)
    /// ```
    #[must_use]
    #[inline]
    pub(crate) fn arrive(&self) -> bool {
        // Acquire: we see what the others did before they arrived; if one is left, it is us, and the count stays.
        self.0.load(Ordering::Acquire) == 1 || self.count_down(1)
    }

    /// The word, for a frame that waits for nobody: the claim of a leaf.
    pub(crate) fn claim(&self) -> &AtomicU32 {
        &self.0
    }
}

/// The word.
#[derive(Debug)]
pub(crate) struct Slot(AtomicPtr<Header>);

impl Slot {
    pub(crate) fn new() -> Slot {
        Slot(AtomicPtr::new(EMPTY))
    }

    /// The word, for a frame that nobody waits for: a closure's.
    pub(crate) fn unused(&self) -> &AtomicPtr<Header> {
        &self.0
    }

    /// Transition 1.
    pub(crate) fn wait(&self, waiter: FrameRef) -> Registered {
        // Success Release pairs with the Acquire in `complete`: the completer sees the waiter settled.
        // Failure Acquire pairs with the Release in `complete`: the result may be read.
        match self.0.compare_exchange(EMPTY, waiter.as_ptr(), Ordering::Release, Ordering::Acquire) {
            Ok(_) => Registered::Waiting,
            Err(found) => {
                debug_assert!(found.addr() & ENDED == ENDED || found == PARTED, "a slot has one waiter");
                Registered::Ended
            }
        }
    }

    /// As [`wait`](Slot::wait), for a spawned frame: if its run has been `cancelled`, the sweep may be over, and the
    /// waiter parts itself (4).
    ///
    /// Something must keep the waiter from running until this returns: once it runs, the frame may be gone.
    pub(crate) fn wait_or_part(&self, waiter: FrameRef, cancelled: impl FnOnce() -> bool) -> Registered {
        let registered = self.wait(waiter);
        if registered == Registered::Waiting {
            // Pairs with the fence in `part`: the sweep sees the waiter, or we see the mark.
            fence(Ordering::SeqCst);
            if cancelled() && self.part().is_some() {
                return Registered::Ended;
            }
        }
        registered
    }

    /// Transition 2.
    pub(crate) fn complete(&self, status: Status) -> Completed {
        // Release publishes the result to `wait` and `status`; Acquire sees the waiter's settled state.
        let found = self.0.swap(ended(status), Ordering::AcqRel);
        debug_assert_eq!(found.addr() & ENDED, 0, "a slot completes once");
        match NonNull::new(found) {
            None => Completed::Unwaited,
            Some(_) if found == DETACHED => Completed::Detached,
            Some(_) if found == PARTED => Completed::Unwaited,
            Some(waiter) => Completed::Waiter(waiter),
        }
    }

    /// What an ended slot delivered has been taken. By who tells the waiter of it, which does not run before that.
    pub(crate) fn retract(&self) {
        // Release: what was taken is not touched again. The waiter is made ready by a later count.
        self.0.store(ended(Status::Cancelled).map_addr(|word| word | TAKEN), Ordering::Release);
    }

    /// Whether what an ended slot delivered has been taken in the waiter's place.
    pub(crate) fn is_retracted(&self) -> bool {
        // Relaxed: for the waiter, which has seen the end.
        self.0.load(Ordering::Relaxed).addr() & TAKEN != 0
    }

    /// Transition 3; `false` when the slot has ended already, and the owner must destroy the result itself.
    #[must_use]
    pub(crate) fn detach(&self) -> bool {
        // Release: what the owner did with the frame comes before the completer frees it. Acquire: as in `wait`.
        self.0.compare_exchange(EMPTY, DETACHED, Ordering::Release, Ordering::Acquire).is_ok()
    }

    /// Transition 4, once the run has been marked: the waiter, which the caller counts down, and which finds the slot
    /// parted.
    pub(crate) fn part(&self) -> Option<FrameRef> {
        // Pairs with the fence in `wait_or_part`: whom we do not see here will see the mark.
        fence(Ordering::SeqCst);
        let waiter = self.waiter()?;
        // AcqRel: as `complete` towards the waiter.
        let parted = self.0.compare_exchange(waiter.as_ptr(), PARTED, Ordering::AcqRel, Ordering::Relaxed).is_ok();
        parted.then_some(waiter)
    }

    /// Whether cancellation has parted the owner from the frame, which has not ended yet.
    pub(crate) fn is_parted(&self) -> bool {
        // Acquire pairs with the Release in `part`.
        self.0.load(Ordering::Acquire) == PARTED
    }

    /// Transition 5; `false` when the slot has ended meanwhile, or was never parted.
    #[must_use]
    pub(crate) fn leave_parted(&self) -> bool {
        // As `detach`.
        self.0.compare_exchange(PARTED, DETACHED, Ordering::Release, Ordering::Acquire).is_ok()
    }

    /// Who waits, if somebody does.
    pub(crate) fn waiter(&self) -> Option<FrameRef> {
        // Acquire pairs with the Release in `wait`.
        let found = self.0.load(Ordering::Acquire);
        NonNull::new(found).filter(|_| found.addr() & ENDED == 0 && found != DETACHED && found != PARTED)
    }

    /// How the slot ended, if it has.
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
