//! Continuations that wait for an answer from another process.
//!
//! Each worker keeps its own, under numbers: the worker, the place in its list, and how often the place has been used. A
//! number that is forged or late finds nothing, or a continuation of the requested type.

use std::any::TypeId;
use std::cell::RefCell;
use std::mem::ManuallyDrop;

use super::scrambled::{wait_in_message, wait_of_message};
use crate::frame::leaf::is_protected;
use crate::frame::{FrameRef, quietly};
use crate::run::continuation::Continuation;

/// The bits that name the place, and those that count its uses. The upper 16 bits name the worker.
const PLACE: u32 = 24;
const USES: u32 = 24;

/// Returns the number for a worker, a place and the count of its uses.
fn number(worker: u32, place: usize, uses: u32) -> u64 {
    wait_in_message(u64::from(worker) << (PLACE + USES) | (place as u64) << USES | u64::from(uses))
}

/// The continuations that a worker keeps.
pub(super) struct Kept {
    worker: u32,
    places: RefCell<Places>,
}

#[derive(Default)]
struct Places {
    all: Vec<Place>,
    /// The places that are not in use.
    free: Vec<u32>,
}

struct Place {
    uses: u32,
    kept: Option<One>,
}

/// A `Continuation` of any type.
struct One {
    leaf: FrameRef,
    of: TypeId,
    /// Makes the continuation of the leaf, and drops it.
    drop: unsafe fn(FrameRef),
    run: u32,
}

/// # Safety
/// The leaf is that of a `Continuation<T>`, which does not exist any more.
unsafe fn drop_continuation<T>(leaf: FrameRef) {
    // SAFETY: the caller guarantees that the leaf is converted back once.
    drop(unsafe { Continuation::<T>::from_leaf(leaf) });
}

impl Drop for One {
    fn drop(&mut self) {
        // SAFETY: `keep` has set the two fields together; a `One` whose leaf has been taken is not dropped.
        quietly(|| unsafe { (self.drop)(self.leaf) });
    }
}

/// Returns the worker that keeps the continuation with this number.
pub(super) fn worker_of(number: u64) -> u32 {
    (wait_of_message(number) >> (PLACE + USES)) as u32
}

impl Kept {
    pub(super) fn new(worker: u32) -> Kept {
        Kept { worker, places: RefCell::default() }
    }

    /// Returns whether this worker has given out the number.
    pub(super) fn is_own(&self, number: u64) -> bool {
        worker_of(number) == self.worker
    }

    /// Keeps a continuation until it is taken, or its run is cancelled. Returns its number.
    ///
    /// # Panics
    /// If the worker keeps 16 million.
    pub(super) fn keep<T: 'static>(&self, k: Continuation<T>, run: u32) -> u64 {
        let mut places = self.places.borrow_mut();
        let Places { all, free } = &mut *places;
        let at = free.pop().unwrap_or_else(|| {
            assert!(all.len() < 1 << PLACE, "one worker waits for 16 million answers from other processes");
            all.push(Place { uses: 0, kept: None });
            all.len() as u32 - 1
        });
        let place = &mut all[at as usize];
        place.uses = (place.uses + 1) & ((1 << USES) - 1);
        place.kept = Some(One { leaf: k.into_leaf(), of: TypeId::of::<T>(), drop: drop_continuation::<T>, run });
        number(self.worker, at as usize, place.uses)
    }

    /// Takes the continuation with this number, if it is still there and a `Continuation<T>`.
    pub(super) fn take<T: 'static>(&self, number: u64) -> Option<Continuation<T>> {
        self.take_if(number, |_| true)
    }

    /// The same for a message that gives the continuation to the program, which may keep it for ever. So cancellation must
    /// end the wait: only a forged message names another.
    pub(super) fn take_argument<T: 'static>(&self, number: u64) -> Option<Continuation<T>> {
        // SAFETY: a leaf lives as long as its continuation.
        self.take_if(number, |one| unsafe { !is_protected(one.leaf) })
    }

    fn take_if<T: 'static>(&self, number: u64, is: impl FnOnce(&One) -> bool) -> Option<Continuation<T>> {
        let one = self.remove(number, |one| one.of == TypeId::of::<T>() && is(one))?;
        let one = ManuallyDrop::new(one);
        // SAFETY: the leaf is that of a `Continuation<T>`, by its type, and is converted back once.
        Some(unsafe { Continuation::from_leaf(one.leaf) })
    }

    /// Drops the continuation with this number, if it is still there.
    pub(super) fn forget(&self, number: u64) {
        drop(self.remove(number, |_| true));
    }

    fn remove(&self, number: u64, is: impl FnOnce(&One) -> bool) -> Option<One> {
        if !self.is_own(number) {
            return None;
        }
        let number = wait_of_message(number);
        let at = number >> USES & ((1 << PLACE) - 1);
        let mut places = self.places.borrow_mut();
        let place = places.all.get_mut(at as usize)?;
        if u64::from(place.uses) != number & ((1 << USES) - 1) {
            return None;
        }
        let one = place.kept.take_if(|one| is(one))?;
        places.free.push(at as u32);
        Some(one)
    }

    /// For tests: returns the numbers of all that the worker keeps.
    pub(super) fn numbers(&self) -> Vec<u64> {
        let of = |(at, place): (usize, &Place)| {
            place.kept.as_ref()?;
            Some(number(self.worker, at, place.uses))
        };
        self.places.borrow().all.iter().enumerate().filter_map(of).collect()
    }

    /// Drops the continuations of these runs.
    pub(super) fn forget_runs(&self, mut of: impl FnMut(u32) -> bool) {
        let mut places = self.places.borrow_mut();
        let Places { all, free } = &mut *places;
        let mut removed = Vec::new();
        for (at, place) in all.iter_mut().enumerate() {
            if let Some(one) = place.kept.take_if(|one| of(one.run)) {
                removed.push(one);
                free.push(at as u32);
            }
        }
        drop(places);
        // Their destructors may run the program's code.
        drop(removed);
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn a_damaged_number_names_no_wait() {
        let of_worker = |worker| (0..32).flat_map(move |place| (1..33).map(move |uses| number(worker, place, uses)));
        let numbers: HashSet<u64> = (0..8).flat_map(of_worker).collect();
        assert_eq!(numbers.len(), 8 * 32 * 32);
        for number in &numbers {
            assert!((0..64).all(|bit| !numbers.contains(&(number ^ 1 << bit))), "{number:x}");
        }
    }
}
