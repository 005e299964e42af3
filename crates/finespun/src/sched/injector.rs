//! A queue of ready frames that any thread may fill. A team has one for frames that any worker takes, and each
//! worker has one for frames of its nodes. A lock protects the queue; its length is also stored outside the lock.
//!
//! The queue is FIFO, except that it has two parts: *new* frames, the roots of runs, and others, such as frames whose quantum
//! has expired. While both parts have frames, `take` alternates between them. So a short run is served soon, however many long
//! ones wait for their next quantum; and those have every second turn, however many runs begin.
//!
//! ```text
//!   put:   lock, push, length, mark, unlock; then notify an idle worker
//!   take:  length; lock, pop, length, unlock
//! ```
//!
//! Threads without the lock read only the length. Two readers depend on it:
//!
//! - A worker that goes idle announces itself and then reads the length; a producer writes the length and then
//!   notifies. The fences of the idling protocol ([`super::park`]) guarantee that one sees the other.
//! - The last worker to idle looks for runs that are under way although no frame is ready. `put` marks a run as under
//!   way under the lock, after the root and the length. So a thread that sees the mark also sees the root, or a worker
//!   that is not idle has taken the root.

use std::collections::VecDeque;

use crate::atomics::{AtomicUsize, Mutex, MutexGuard, Ordering, lock};
use crate::frame::FrameRef;

/// The queue.
pub(crate) struct Injector {
    length: AtomicUsize,
    parts: Mutex<Parts>,
}

#[derive(Default)]
struct Parts {
    new: VecDeque<SendFrame>,
    others: VecDeque<SendFrame>,
    /// Whether the last frame was taken from the new ones.
    took_new: bool,
}

impl Parts {
    #[inline(always)]
    fn pop(&mut self) -> Option<SendFrame> {
        if self.new.is_empty() {
            return self.others.pop_front();
        }
        self.pop_in_turn()
    }

    #[cold]
    fn pop_in_turn(&mut self) -> Option<SendFrame> {
        let (first, second) =
            if self.took_new { (&mut self.others, &mut self.new) } else { (&mut self.new, &mut self.others) };
        match first.pop_front() {
            Some(frame) => {
                self.took_new = !self.took_new;
                Some(frame)
            }
            None => second.pop_front(),
        }
    }
}

struct SendFrame(FrameRef);
// SAFETY: a ready frame may move to any worker that may take it from this queue: a located frame is only put in the
// inbox of its home's worker.
unsafe impl Send for SendFrame {}

impl Injector {
    pub(super) fn new() -> Injector {
        Injector { length: AtomicUsize::new(0), parts: Mutex::default() }
    }

    /// Appends a ready frame.
    pub(super) fn put(&self, frame: FrameRef) {
        drop(self.put_with(|parts| parts.others.push_back(SendFrame(frame))));
    }

    /// Appends the root of a run, then calls `mark` under the lock.
    pub(super) fn put_root(&self, root: FrameRef, mark: impl FnOnce()) {
        let _parts = self.put_with(|parts| parts.new.push_back(SendFrame(root)));
        mark();
    }

    #[inline(always)]
    fn put_with(&self, push: impl FnOnce(&mut Parts)) -> MutexGuard<'_, Parts> {
        let mut parts = lock(&self.parts);
        push(&mut parts);
        // Relaxed, both: written under the lock; see the module documentation for the readers.
        self.length.store(self.length.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
        parts
    }

    /// Takes the oldest frame of the part whose turn it is.
    pub(super) fn take(&self) -> Option<FrameRef> {
        self.take_by(Parts::pop)
    }

    /// Takes the oldest new frame.
    pub(super) fn take_root(&self) -> Option<FrameRef> {
        self.take_by(|parts| parts.new.pop_front())
    }

    /// Returns whether the root of a new run waits.
    pub(super) fn has_roots(&self) -> bool {
        !self.is_empty() && !lock(&self.parts).new.is_empty()
    }

    #[inline(always)]
    fn take_by(&self, pop: impl FnOnce(&mut Parts) -> Option<SendFrame>) -> Option<FrameRef> {
        if self.is_empty() {
            return None;
        }
        let mut parts = lock(&self.parts);
        let frame = pop(&mut parts)?;
        // Relaxed, both: written under the lock.
        self.length.store(self.length.load(Ordering::Relaxed) - 1, Ordering::Relaxed);
        Some(frame.0)
    }

    /// Returns whether the queue was empty at some moment during the call. A hint: only `take` decides, under the lock.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        // Relaxed: see the module documentation.
        self.length.load(Ordering::Relaxed) == 0
    }
}

#[cfg(all(test, loom))]
mod models {
    use std::ptr::NonNull;

    use super::*;
    use crate::atomics::{Arc, explore, thread};
    use crate::cancel::runs::Run;
    use crate::sched::park::{Idle, Prepared, Wake};

    /// One worker, and a run whose root is put from outside.
    struct Pool {
        injector: Injector,
        idle: Idle,
        run: Run,
    }

    impl Pool {
        /// Works until the run has ended.
        fn work(&self) {
            loop {
                if self.injector.take().is_some() {
                    assert!(self.run.under_way(), "the root was taken before its run was under way");
                    assert!(self.run.leave().is_none(), "no completion callback was set");
                    return;
                }
                match self.idle.prepare_park(0, || !self.injector.is_empty()) {
                    Prepared::Work => {}
                    Prepared::Last(parking) => {
                        // In the order of `Team::look_for_deadlock`.
                        let under_way = self.run.under_way();
                        assert!(!under_way || !self.injector.is_empty(), "the root is taken for stuck");
                        assert!(matches!(parking.park(), Wake::Work(_)));
                    }
                    Prepared::Park(_) | Prepared::Shutdown => unreachable!("there is one worker"),
                }
            }
        }
    }

    #[test]
    fn a_root_from_outside_is_found_and_its_run_is_never_considered_stuck() {
        loom::model(|| {
            let pool = Arc::new(Pool {
                injector: Injector::new(),
                idle: Idle::new(1, None, None),
                run: Run::new(0, 1, false),
            });
            let worker = {
                let pool = Arc::clone(&pool);
                thread::spawn(move || pool.work())
            };
            // An address that represents the root; never followed.
            pool.injector.put_root(NonNull::dangling(), || pool.run.start(0));
            pool.idle.notify_one();
            pool.run.wait();
            assert!(!pool.run.under_way() && pool.injector.is_empty());
            worker.join().unwrap();
        });
    }

    #[test]
    fn frames_are_taken_once_and_in_order() {
        explore(3, || {
            let injector = Arc::new(Injector::new());
            let takers = [(); 2].map(|()| {
                let injector = Arc::clone(&injector);
                thread::spawn(move || injector.take().map_or(0, |frame| frame.as_ptr().addr()))
            });
            for address in [64, 128] {
                let address = std::ptr::without_provenance_mut(address);
                injector.put(NonNull::new(address).unwrap());
            }
            let mut taken: Vec<_> = takers.map(|taker| taker.join().unwrap()).into_iter().collect();
            let left = std::iter::from_fn(|| injector.take()).map(|frame| frame.as_ptr().addr()).collect::<Vec<_>>();
            assert!(left.is_sorted());
            taken.retain(|&frame| frame != 0);
            taken.extend(left);
            taken.sort_unstable();
            assert_eq!(taken, [64, 128]);
        });
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use std::ptr::{NonNull, without_provenance_mut};

    use super::*;

    /// Addresses that represent frames; never followed.
    fn frame(number: usize) -> FrameRef {
        NonNull::new(without_provenance_mut(number * 64)).unwrap()
    }

    fn numbers(injector: &Injector) -> Vec<usize> {
        std::iter::from_fn(|| injector.take()).map(|frame| frame.as_ptr().addr() / 64).collect()
    }

    #[test]
    fn new_roots_and_other_frames_take_turns() {
        let injector = Injector::new();
        (1..=6).for_each(|number| injector.put(frame(number)));
        injector.put_root(frame(10), || {});
        assert_eq!(numbers(&injector), [10, 1, 2, 3, 4, 5, 6]);
        (10..=13).for_each(|number| injector.put_root(frame(number), || {}));
        (1..=2).for_each(|number| injector.put(frame(number)));
        let taken = numbers(&injector);
        assert_eq!(taken.len(), 6);
        let second = |number| taken.iter().position(|&other| other == number).unwrap();
        assert!(second(1) <= 1 && second(2) <= 3, "{taken:?}");
        assert!(taken.iter().filter(|&&number| number >= 10).is_sorted());
    }
}
