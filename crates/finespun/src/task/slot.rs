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
//! ```
//!
//! A value is written before (2) with Release and read after an Acquire of ENDED. A waiter is published by (1) with
//! Release (its join count and body are settled: a frame registers only after its poll has returned) and taken by (2)
//! with Acquire. There is one waiter at most: a slot has one owner.

use std::ptr::{self, NonNull};

use crate::atomics::{AtomicPtr, Ordering};

use super::frame::{FrameRef, Header};

// Frame addresses are at least 8-aligned, so these words are no frame's.
const EMPTY: *mut Header = ptr::null_mut();
const DETACHED: *mut Header = ptr::without_provenance_mut(2);
/// Bit 0 marks an ended slot, the bits from 2 on say how it ended.
const ENDED: usize = 1;

/// How a task ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Status {
    /// With a value.
    Done,
    /// With a panic's payload.
    Panicked,
    /// With nothing: it was cancelled.
    Cancelled,
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

/// The word.
#[derive(Debug)]
pub(crate) struct Slot(AtomicPtr<Header>);

impl Slot {
    pub(crate) fn new() -> Slot {
        Slot(AtomicPtr::new(EMPTY))
    }

    /// Transition 1.
    pub(crate) fn wait(&self, waiter: FrameRef) -> Registered {
        // Success Release pairs with the Acquire in `complete`: the completer sees the waiter settled.
        // Failure Acquire pairs with the Release in `complete`: the result may be read.
        match self.0.compare_exchange(EMPTY, waiter.as_ptr(), Ordering::Release, Ordering::Acquire) {
            Ok(_) => Registered::Waiting,
            Err(found) => {
                debug_assert_eq!(found.addr() & ENDED, ENDED, "a slot has one waiter");
                Registered::Ended
            }
        }
    }

    /// Transition 2.
    pub(crate) fn complete(&self, status: Status) -> Completed {
        // Release publishes the result to `wait` and `status`; Acquire sees the waiter's settled state.
        let ended = ptr::without_provenance_mut(ENDED | ((status as usize) << 2));
        let found = self.0.swap(ended, Ordering::AcqRel);
        debug_assert_eq!(found.addr() & ENDED, 0, "a slot completes once");
        match NonNull::new(found) {
            None => Completed::Unwaited,
            Some(_) if found == DETACHED => Completed::Detached,
            Some(waiter) => Completed::Waiter(waiter),
        }
    }

    /// Transition 3; `false` when the slot has ended already, and the owner must destroy the result itself.
    #[must_use]
    pub(crate) fn detach(&self) -> bool {
        // Release: what the owner did with the frame comes before the completer frees it. Acquire: as in `wait`.
        self.0.compare_exchange(EMPTY, DETACHED, Ordering::Release, Ordering::Acquire).is_ok()
    }

    /// Who waits, if somebody does.
    pub(crate) fn waiter(&self) -> Option<FrameRef> {
        // Acquire pairs with the Release in `wait`.
        let found = self.0.load(Ordering::Acquire);
        NonNull::new(found).filter(|_| found.addr() & ENDED == 0 && found != DETACHED)
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
