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
//! (4) is cancellation's: it takes the waiter of a spawned frame away, so that a cycle of handles can be destroyed.
//! ```
//!
//! A frame that waits for several slots counts them down: see [`Join`].
//!
//! A value is written before (2) with Release and read after an Acquire of ENDED. A waiter is published by (1) with
//! Release (its join count and body are settled: a frame registers only after its poll has returned) and taken by (2)
//! with Acquire. There is one waiter at most: a slot has one owner.

use std::ptr::{self, NonNull};

use crate::atomics::{AtomicPtr, AtomicU32, Ordering};

use super::frame::{FrameRef, Header};

// Frame addresses are at least 8-aligned, so these words are no frame's.
const EMPTY: *mut Header = ptr::null_mut();
const DETACHED: *mut Header = ptr::without_provenance_mut(2);
const PARTED: *mut Header = ptr::without_provenance_mut(4);
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

    /// Transition 2.
    pub(crate) fn complete(&self, status: Status) -> Completed {
        // Release publishes the result to `wait` and `status`; Acquire sees the waiter's settled state.
        let ended = ptr::without_provenance_mut(ENDED | ((status as usize) << 2));
        let found = self.0.swap(ended, Ordering::AcqRel);
        debug_assert_eq!(found.addr() & ENDED, 0, "a slot completes once");
        match NonNull::new(found) {
            None => Completed::Unwaited,
            Some(_) if found == DETACHED => Completed::Detached,
            Some(_) if found == PARTED => Completed::Unwaited,
            Some(waiter) => Completed::Waiter(waiter),
        }
    }

    /// Transition 3; `false` when the slot has ended already, and the owner must destroy the result itself.
    #[must_use]
    pub(crate) fn detach(&self) -> bool {
        // Release: what the owner did with the frame comes before the completer frees it. Acquire: as in `wait`.
        self.0.compare_exchange(EMPTY, DETACHED, Ordering::Release, Ordering::Acquire).is_ok()
    }

    /// Transition 4: the waiter, which the caller counts down, and which finds the slot parted.
    pub(crate) fn part(&self) -> Option<FrameRef> {
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

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, AtomicBool, AtomicUsize, UnsafeCell, thread};

    /// An address that stands for a frame; never followed.
    fn frame() -> FrameRef {
        NonNull::new(ptr::without_provenance_mut(64)).unwrap()
    }

    /// A slot with its result, as a frame has them.
    struct Cell {
        slot: Slot,
        result: UnsafeCell<u32>,
    }

    impl Cell {
        fn new() -> Arc<Cell> {
            Arc::new(Cell { slot: Slot::new(), result: UnsafeCell::new(0) })
        }

        fn write(&self, value: u32) {
            // SAFETY: written before completion, by the completer alone.
            self.result.with_mut(|result| unsafe { *result = value });
        }

        fn read(&self) -> u32 {
            // SAFETY: read after completion.
            self.result.with(|result| unsafe { *result })
        }
    }

    #[test]
    fn one_side_resumes_the_waiter_and_sees_the_value() {
        loom::model(|| {
            let cell = Cell::new();
            let completer = {
                let cell = Arc::clone(&cell);
                thread::spawn(move || {
                    cell.write(7);
                    match cell.slot.complete(Status::Done) {
                        Completed::Waiter(waiter) => {
                            assert_eq!(waiter, frame());
                            assert_eq!(cell.read(), 7);
                            true
                        }
                        Completed::Unwaited => false,
                        Completed::Detached => unreachable!(),
                    }
                })
            };
            let here = match cell.slot.wait(frame()) {
                Registered::Waiting => false,
                Registered::Ended => {
                    assert_eq!(cell.slot.status(), Some(Status::Done));
                    assert_eq!(cell.read(), 7);
                    true
                }
            };
            let there = completer.join().unwrap();
            assert!(here != there, "exactly one side resumes the waiter");
        });
    }

    #[test]
    fn a_detached_slot_is_freed_by_one_side() {
        loom::model(|| {
            let cell = Cell::new();
            let completer = {
                let cell = Arc::clone(&cell);
                thread::spawn(move || {
                    cell.write(7);
                    let freed = cell.slot.complete(Status::Panicked) == Completed::Detached;
                    if freed {
                        cell.write(0);
                    }
                    freed
                })
            };
            let here = !cell.slot.detach();
            if here {
                assert_eq!(cell.read(), 7);
                cell.write(0);
            }
            assert!(completer.join().unwrap() != here, "exactly one side frees the frame");
        });
    }

    /// A waiter of two slots, whose completers run on two threads, as in `run::register` and `run::count_down`.
    #[test]
    fn a_join_resumes_once_with_all_values() {
        loom::model(|| {
            let cells = [Cell::new(), Cell::new()];
            let join = Arc::new(Join::new(0));
            let resumed = Arc::new(AtomicUsize::new(0));
            let resume = |cells: &[Arc<Cell>; 2], resumed: &AtomicUsize| {
                assert_eq!((cells[0].read(), cells[1].read()), (1, 2));
                // Relaxed: counted after all threads are joined.
                resumed.fetch_add(1, Ordering::Relaxed);
            };
            let completers = [0, 1].map(|i| {
                let (cells, join, resumed) = (cells.clone(), Arc::clone(&join), Arc::clone(&resumed));
                thread::spawn(move || {
                    cells[i].write(i as u32 + 1);
                    if let Completed::Waiter(_) = cells[i].slot.complete(Status::Done)
                        && join.count_down(1)
                    {
                        resume(&cells, &resumed);
                    }
                })
            });
            join.arm(2);
            let mut here = 1;
            for cell in &cells {
                if cell.slot.wait(frame()) == Registered::Ended {
                    here += 1;
                }
            }
            if join.count_down(here) {
                resume(&cells, &resumed);
            }
            completers.map(|completer| completer.join().unwrap());
            assert_eq!(resumed.load(Ordering::Relaxed), 1);
        });
    }

    /// The body of the frame is settled before the completer may resume it.
    #[test]
    fn a_waiter_is_settled_when_it_is_resumed() {
        loom::model(|| {
            let cell = Cell::new();
            let settled = Arc::new(AtomicBool::new(false));
            let completer = {
                let (cell, settled) = (Arc::clone(&cell), Arc::clone(&settled));
                thread::spawn(move || {
                    if let Completed::Waiter(_) = cell.slot.complete(Status::Cancelled) {
                        // Relaxed: ordered by the slot.
                        assert!(settled.load(Ordering::Relaxed));
                    }
                })
            };
            settled.store(true, Ordering::Relaxed);
            let _ = cell.slot.wait(frame());
            completer.join().unwrap();
        });
    }
}
