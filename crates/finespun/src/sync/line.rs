//! Permits, and the line of those who wait for some: one atomic word beside a queue under a lock.
//!
//! ```text
//!       (1) take: free - n                                        (4) serve: free - n
//!             +---+                                                     +---+
//!             |   v               (3) stand in line                     |   v
//!          FREE(free) -------------------------------------------> QUEUED(free)
//!             ^   |                                                     ^   |
//!             |   |  <------------------------------------------        |   |
//!             +---+               (5) nobody is left                    +---+
//!       (2) give back: free + n                                   (2) give back, then serve
//! ```
//!
//! (3) to (5) are done under the lock of the queue, (1) and (2) without. While somebody is in line nobody takes (1):
//! permits go out in the order of the requests, to whom (4) grants them.
//!
//! **No permit lies idle while the first in line could have it.** (2) and (3) change the same word, so one comes
//! first. If (2) does, the (4) that follows (3) under the same lock sees the permits. If (3) does, (2) sees QUEUED and
//! comes to serve. Between (4)s only (2) changes the count, so what (4) has seen is there.
//!
//! A waiter that is cancelled makes way: its wait ends with a [`serve`](Line::serve) that passes it over. One that is
//! cancelled while it is granted gives its permits back by (2).

use std::collections::VecDeque;

use crate::atomics::{AtomicUsize, Mutex, MutexGuard, Ordering, const_fn, lock};

/// Somebody in line.
pub(super) trait Waiter {
    /// How many permits it waits for.
    fn permits(&self) -> usize;

    /// Whether it waits no more.
    fn is_cancelled(&self) -> bool;
}

/// Somebody is in line. Set and cleared under the lock of the queue.
const QUEUED: usize = 1 << (usize::BITS - 1);

/// The most permits that there may be.
pub(super) const MAX: usize = QUEUED - 1;

/// There would be more than [`MAX`].
#[derive(Debug)]
pub(super) struct TooMany;

/// Permits and a line.
pub(super) struct Line<W> {
    /// The free permits, and [`QUEUED`].
    state: AtomicUsize,
    queue: Mutex<VecDeque<W>>,
}

impl<W> Line<W> {
    const_fn! {
        /// Nobody in line, `permits` free: at most [`MAX`].
        pub(super) fn new(permits: usize) -> Line<W> {
            Line { state: AtomicUsize::new(permits), queue: Mutex::new(VecDeque::new()) }
        }
    }

    /// Permits free at this moment.
    pub(super) fn free(&self) -> usize {
        // Relaxed: a picture of one moment.
        self.state.load(Ordering::Relaxed) & !QUEUED
    }

    /// Transition 1: whether there were as many, and nobody in line.
    #[must_use]
    pub(super) fn try_take(&self, permits: usize) -> bool {
        // Acquire: pairs with the Release in (2).
        let take = |state: usize| {
            if state & QUEUED == 0 { state.checked_sub(permits) } else { None }
        };
        self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, take).is_ok()
    }

    /// Transition 2: whether somebody is in line, whom the caller serves.
    pub(super) fn give_back(&self, permits: usize) -> Result<bool, TooMany> {
        let add = |state: usize| {
            let free = (state & !QUEUED).checked_add(permits).filter(|&free| free <= MAX)?;
            Some(state & QUEUED | free)
        };
        // Release: what was done under the permit comes before whoever gets it next.
        let before = self.state.fetch_update(Ordering::Release, Ordering::Relaxed, add).map_err(|_| TooMany)?;
        Ok(before & QUEUED != 0)
    }
}

impl<W: Waiter> Line<W> {
    /// Transition 3, and as [`serve`](Line::serve).
    pub(super) fn stand(&self, waiter: W, grant: impl Fn(W) -> usize) {
        let mut queue = lock(&self.queue);
        queue.push_back(waiter);
        // Acquire: as in (1). From here on (2) comes to the queue, and (1) does not pass it.
        self.state.fetch_or(QUEUED, Ordering::Acquire);
        self.serve_queue(queue, grant);
    }

    /// Transitions 4 and 5: grants from the front of the line what the free permits allow, and passes over who waits
    /// no more. `grant` is called without the lock; it returns how many of the permits come back, none or all.
    pub(super) fn serve(&self, grant: impl Fn(W) -> usize) {
        self.serve_queue(lock(&self.queue), grant);
    }

    fn serve_queue<'a>(&'a self, mut queue: MutexGuard<'a, VecDeque<W>>, grant: impl Fn(W) -> usize) {
        loop {
            let mut granted = Vec::new();
            let mut cancelled = Vec::new();
            while let Some(first) = queue.front() {
                if first.is_cancelled() {
                    cancelled.extend(queue.pop_front());
                    continue;
                }
                let permits = first.permits();
                // Acquire, both: as in (1).
                if self.state.load(Ordering::Acquire) & !QUEUED < permits {
                    break;
                }
                self.state.fetch_sub(permits, Ordering::Acquire);
                granted.extend(queue.pop_front());
            }
            if queue.is_empty() {
                // Relaxed: continues the release sequence of (2). A (2) that saw the bit comes for the lock next, and
                // finds nobody.
                self.state.fetch_and(!QUEUED, Ordering::Relaxed);
            }
            drop(queue);
            drop(cancelled);
            // Not one by one: the permits of a granted one who waits no more would come back here, one level deeper
            // for each.
            let back = granted.into_iter().map(&grant).sum();
            // As (2), of permits that there were.
            if back == 0 || self.state.fetch_add(back, Ordering::Release) & QUEUED == 0 {
                return;
            }
            queue = lock(&self.queue);
        }
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, AtomicU32, UnsafeCell, thread};
    use loom::model::Builder;
    use std::cell::RefCell;

    const WAITING: u32 = 0;
    const GRANTED: u32 = 1;
    const CANCELLED: u32 = 2;

    /// A wait, which is granted or cancelled: what the claim of a leaf decides.
    struct Wait {
        permits: usize,
        claim: Arc<AtomicU32>,
    }

    impl Wait {
        fn new(permits: usize) -> Wait {
            Wait { permits, claim: Arc::new(AtomicU32::new(WAITING)) }
        }

        fn end(&self, how: u32) -> bool {
            self.claim.compare_exchange(WAITING, how, Ordering::AcqRel, Ordering::Acquire).is_ok()
        }

        fn is(&self, how: u32) -> bool {
            self.claim.load(Ordering::Acquire) == how
        }
    }

    impl Clone for Wait {
        fn clone(&self) -> Wait {
            Wait { permits: self.permits, claim: Arc::clone(&self.claim) }
        }
    }

    impl Waiter for Wait {
        fn permits(&self) -> usize {
            self.permits
        }

        fn is_cancelled(&self) -> bool {
            self.is(CANCELLED)
        }
    }

    /// One permit, and what it protects: how often it has been used.
    struct Shared {
        line: Line<Wait>,
        uses: UnsafeCell<usize>,
    }

    impl Shared {
        fn new(permits: usize) -> Arc<Shared> {
            Arc::new(Shared { line: Line::new(permits), uses: UnsafeCell::new(0) })
        }

        /// Waits for permits, as `Semaphore::acquire`. Whoever grants them goes on with what waited.
        fn acquire(&self, wait: Wait) {
            if self.line.try_take(wait.permits) {
                assert!(wait.end(GRANTED));
                self.hold(wait.permits);
            } else {
                self.serve(|grant| self.line.stand(wait, grant));
            }
        }

        /// The permits are held.
        fn hold(&self, permits: usize) {
            // SAFETY: by the permits; loom checks it.
            self.uses.with_mut(|uses| unsafe { *uses += 1 });
            self.release(permits);
        }

        fn release(&self, permits: usize) {
            if self.line.give_back(permits).unwrap() {
                self.serve(|grant| self.line.serve(grant));
            }
        }

        /// What is granted becomes ready, and runs after that.
        fn serve(&self, serve: impl FnOnce(&dyn Fn(Wait) -> usize)) {
            let ready = RefCell::new(Vec::new());
            serve(&|wait: Wait| {
                if wait.end(GRANTED) {
                    ready.borrow_mut().push(wait.permits);
                    0
                } else {
                    wait.permits
                }
            });
            ready.into_inner().into_iter().for_each(|permits| self.hold(permits));
        }

        /// A wait is cancelled, if it has not ended, and makes way: `MakeWay`.
        fn cancel(&self, wait: &Wait) -> bool {
            let cancelled = wait.end(CANCELLED);
            if cancelled {
                self.serve(|grant| self.line.serve(grant));
            }
            cancelled
        }

        /// When all threads have been joined.
        fn ends(&self, uses: usize, free: usize) {
            // SAFETY: nobody else is left.
            self.uses.with(|found| assert_eq!(unsafe { *found }, uses));
            assert_eq!(self.line.free(), free);
            assert!(self.line.try_take(free), "nobody is left in line");
        }
    }

    fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
        let mut builder = Builder::new();
        builder.preemption_bound.get_or_insert(preemptions);
        builder.check(model);
    }

    fn acquirer(shared: &Arc<Shared>, permits: usize) -> thread::JoinHandle<()> {
        let shared = Arc::clone(shared);
        thread::spawn(move || shared.acquire(Wait::new(permits)))
    }

    #[test]
    fn one_permit_serves_three_one_at_a_time() {
        explore(2, || {
            let shared = Shared::new(1);
            let others = [acquirer(&shared, 1), acquirer(&shared, 1)];
            shared.acquire(Wait::new(1));
            for other in others {
                other.join().unwrap();
            }
            shared.ends(3, 1);
        });
    }

    #[test]
    fn permits_that_come_one_by_one_serve_a_request_for_two() {
        explore(3, || {
            let shared = Shared::new(0);
            let other = acquirer(&shared, 2);
            shared.release(1);
            shared.release(1);
            other.join().unwrap();
            shared.ends(1, 2);
        });
    }

    /// The first in line is cancelled while it is granted, or before: the second gets the permit.
    #[test]
    fn a_cancelled_waiter_makes_way() {
        explore(3, || {
            let shared = Shared::new(0);
            let first = Wait::new(1);
            shared.acquire(first.clone());
            shared.acquire(Wait::new(1));
            let canceller = {
                let (shared, first) = (Arc::clone(&shared), first.clone());
                thread::spawn(move || shared.cancel(&first))
            };
            shared.release(1);
            let cancelled = canceller.join().unwrap();
            assert!(cancelled != first.is(GRANTED));
            shared.ends(2 - usize::from(cancelled), 1);
        });
    }

    /// The first in line wants more than there will ever be, and is cancelled: the others do not wait for it.
    #[test]
    fn a_greedy_waiter_makes_way() {
        explore(3, || {
            let shared = Shared::new(1);
            let greedy = Wait::new(2);
            shared.acquire(greedy.clone());
            let other = acquirer(&shared, 1);
            assert!(shared.cancel(&greedy));
            other.join().unwrap();
            shared.ends(1, 1);
        });
    }
}
