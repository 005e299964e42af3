//! Frames made ready outside the workers, first come, first served: a queue under a lock, and its length beside it, to
//! look without the lock.
//!
//! ```text
//!   put:   lock, push, length, mark, unlock; then notify an idle worker
//!   take:  length; lock, pop, length, unlock
//! ```
//!
//! The length alone says whether there is anything, so it has two duties towards those who only look:
//!
//! - A worker that goes idle looks after it has announced itself, and whoever puts notifies after that: the fences of
//!   the idling protocol ([`super::park`]) make one see the other.
//! - The last worker to idle looks for runs that are under way while nothing is ready. A run is marked as under way
//!   when its root is put: under the lock and after the length, so that whoever sees the mark sees the root, or the
//!   root has been taken, by a worker that is not idle.

use std::collections::VecDeque;

use crate::atomics::{AtomicUsize, Mutex, Ordering, lock};
use crate::task::frame::FrameRef;

/// The queue.
pub(crate) struct Injector {
    length: AtomicUsize,
    queue: Mutex<VecDeque<SendFrame>>,
}

struct SendFrame(FrameRef);
// SAFETY: a ready frame may run on any worker.
unsafe impl Send for SendFrame {}

impl Injector {
    pub(super) fn new() -> Injector {
        Injector { length: AtomicUsize::new(0), queue: Mutex::new(VecDeque::new()) }
    }

    /// Puts a ready frame behind all others, and calls `mark`.
    pub(super) fn put(&self, frame: FrameRef, mark: impl FnOnce()) {
        let mut queue = lock(&self.queue);
        queue.push_back(SendFrame(frame));
        // Relaxed: written under the lock; for readers see above.
        self.length.store(queue.len(), Ordering::Relaxed);
        mark();
    }

    /// Takes the oldest frame.
    pub(super) fn take(&self) -> Option<FrameRef> {
        if self.is_empty() {
            return None;
        }
        let mut queue = lock(&self.queue);
        let frame = queue.pop_front();
        // Relaxed: as above.
        self.length.store(queue.len(), Ordering::Relaxed);
        frame.map(|frame| frame.0)
    }

    /// Whether there was nothing at some moment; decided under the lock.
    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        // Relaxed: as above.
        self.length.load(Ordering::Relaxed) == 0
    }
}

#[cfg(all(test, loom))]
mod models {
    use std::ptr::NonNull;

    use super::*;
    use crate::atomics::{Arc, thread};
    use crate::sched::park::{Idle, Prepared, Wake};
    use crate::task::runs::Run;

    /// One worker, and a run whose root comes from outside.
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
                    assert!(self.run.under_way(), "whoever takes the root finds the run started");
                    assert!(self.run.leave().is_none(), "nobody asked to be told");
                    return;
                }
                match self.idle.prepare_park(0, || !self.injector.is_empty()) {
                    Prepared::Work => {}
                    Prepared::Last(parking) => {
                        // `Team::look_for_deadlock`, in its order.
                        let under_way = self.run.under_way();
                        assert!(!under_way || !self.injector.is_empty(), "the root is taken for stuck");
                        assert!(matches!(parking.park(), Wake::Work));
                    }
                    Prepared::Park(_) | Prepared::Shutdown => unreachable!("there is one worker"),
                }
            }
        }
    }

    #[test]
    fn a_root_from_outside_is_found_and_never_taken_for_stuck() {
        loom::model(|| {
            let pool = Arc::new(Pool { injector: Injector::new(), idle: Idle::new(1), run: Run::new(0, false) });
            let worker = {
                let pool = Arc::clone(&pool);
                thread::spawn(move || pool.work())
            };
            // An address that stands for the root; never followed.
            pool.injector.put(NonNull::dangling(), || pool.run.start());
            pool.idle.notify_one();
            pool.run.wait();
            assert!(!pool.run.under_way() && pool.injector.is_empty());
            worker.join().unwrap();
        });
    }

    #[test]
    fn frames_are_taken_once_and_in_order() {
        let mut builder = loom::model::Builder::new();
        builder.preemption_bound.get_or_insert(3);
        builder.check(|| {
            let injector = Arc::new(Injector::new());
            let takers = [(); 2].map(|()| {
                let injector = Arc::clone(&injector);
                thread::spawn(move || injector.take().map_or(0, |frame| frame.as_ptr().addr()))
            });
            for address in [64, 128] {
                let address = std::ptr::without_provenance_mut(address);
                injector.put(NonNull::new(address).unwrap(), || {});
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
