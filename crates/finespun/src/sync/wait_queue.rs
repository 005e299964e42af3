//! Permits and the queue of their waiters: one atomic word, and a queue protected by a lock.
//!
//! ```text
//!       (1) take: free - n                                        (4) grant: free - n
//!             +---+                                                     +---+
//!             |   v               (3) enqueue                           |   v
//!          FREE(free) -------------------------------------------> QUEUED(free)
//!             ^   |                                                     ^   |
//!             |   |  <------------------------------------------        |   |
//!             +---+               (5) queue is empty                    +---+
//!       (2) give back: free + n                                   (2) give back, then grant
//! ```
//!
//! (3) to (5) run under the lock of the queue, (1) and (2) without it. While the queue has a waiter, (1) fails: (4)
//! grants permits in the order of the requests.
//!
//! **No permit stays free while the first waiter could have it.** (2) and (3) change the same word, so one comes first.
//! If (2) is first, the (4) that follows (3) under the same lock sees the permits. If (3) is first, (2) sees QUEUED,
//! and its caller performs (4). While the queue has a waiter, only (4) takes permits, so the permits that (4) has seen
//! remain available.
//!
//! A cancelled waiter does not block the next ones: the end of its wait calls
//! [`grant_waiters`](WaitQueue::grant_waiters), which removes it. If a waiter is cancelled while it is granted, its
//! permits return by (2).

use std::collections::VecDeque;

use crate::atomics::{AtomicUsize, Mutex, MutexGuard, Ordering, const_fn, lock};

/// A request in the queue.
pub(super) trait Request {
    /// Returns the number of permits requested.
    fn permits(&self) -> usize;

    /// Returns whether the request has been cancelled.
    fn is_cancelled(&self) -> bool;
}

/// The queue has a waiter. Set and cleared under the lock of the queue.
const QUEUED: usize = 1 << (usize::BITS - 1);

/// The maximum number of permits.
pub(super) const MAX: usize = QUEUED - 1;

/// The error of exceeding [`MAX`] permits.
#[derive(Debug)]
pub(super) struct TooMany;

/// Permits and their wait queue.
pub(super) struct WaitQueue<W> {
    /// The number of free permits, and [`QUEUED`].
    state: AtomicUsize,
    queue: Mutex<VecDeque<W>>,
}

impl<W> WaitQueue<W> {
    const_fn! {
        /// Creates an empty queue with `permits` free permits: at most [`MAX`].
        pub(super) fn new(permits: usize) -> WaitQueue<W> {
            WaitQueue { state: AtomicUsize::new(permits), queue: Mutex::new(VecDeque::new()) }
        }
    }

    /// Returns the number of free permits at this moment.
    pub(super) fn free(&self) -> usize {
        // Relaxed: a snapshot.
        self.state.load(Ordering::Relaxed) & !QUEUED
    }

    /// Takes `permits` permits (transition 1) and returns true, if they are free and the queue has no waiter.
    #[must_use]
    pub(super) fn try_take(&self, permits: usize) -> bool {
        // Acquire: pairs with the Release in (2).
        let take = |state: usize| {
            if state & QUEUED == 0 { state.checked_sub(permits) } else { None }
        };
        self.state.fetch_update(Ordering::Acquire, Ordering::Relaxed, take).is_ok()
    }

    /// Gives back `permits` permits (transition 2). Returns whether the queue has a waiter; the caller must then call
    /// [`grant_waiters`](WaitQueue::grant_waiters).
    pub(super) fn give_back(&self, permits: usize) -> Result<bool, TooMany> {
        let add = |state: usize| {
            let free = (state & !QUEUED).checked_add(permits).filter(|&free| free <= MAX)?;
            Some(state & QUEUED | free)
        };
        // Release: the accesses under the permit come before the accesses of its next holder.
        let before = self.state.fetch_update(Ordering::Release, Ordering::Relaxed, add).map_err(|_| TooMany)?;
        Ok(before & QUEUED != 0)
    }
}

impl<W: Request> WaitQueue<W> {
    /// Appends `waiter` (transition 3), then grants free permits as [`grant_waiters`](WaitQueue::grant_waiters) does.
    pub(super) fn enqueue(&self, waiter: W, grant: impl Fn(W) -> usize) {
        let mut queue = lock(&self.queue);
        queue.push_back(waiter);
        // Acquire: as in (1). From here on (1) fails, and the caller of (2) performs (4).
        self.state.fetch_or(QUEUED, Ordering::Acquire);
        self.serve_queue(queue, grant);
    }

    /// Grants the free permits to the waiters at the front of the queue, and removes cancelled waiters there
    /// (transitions 4 and 5). Calls `grant` without the lock. `grant` returns the number of permits that it could not
    /// deliver: none, or all of a cancelled waiter's.
    pub(super) fn grant_waiters(&self, grant: impl Fn(W) -> usize) {
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
                // Relaxed: continues the release sequence of (2). If the caller of a (2) saw the bit, it locks the
                // queue later, and finds it empty or with new waiters.
                self.state.fetch_and(!QUEUED, Ordering::Relaxed);
            }
            drop(queue);
            drop(cancelled);
            // `grant` returns the permits of a cancelled waiter instead of releasing them: a release would call this
            // function again, one recursion level deeper for each such waiter.
            let back = granted.into_iter().map(&grant).sum();
            // (2) for permits taken in (4), so the sum cannot exceed `MAX`.
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
    use crate::atomics::{Arc, AtomicU32, UnsafeCell, explore, thread};
    use std::cell::RefCell;

    const WAITING: u32 = 0;
    const GRANTED: u32 = 1;
    const CANCELLED: u32 = 2;

    /// A wait that is either granted or cancelled, as the claim of a leaf decides.
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

    impl Request for Wait {
        fn permits(&self) -> usize {
            self.permits
        }

        fn is_cancelled(&self) -> bool {
            self.is(CANCELLED)
        }
    }

    /// Permits, and the data that they protect: a count of uses.
    struct Shared {
        queue: WaitQueue<Wait>,
        uses: UnsafeCell<usize>,
    }

    impl Shared {
        fn new(permits: usize) -> Arc<Shared> {
            Arc::new(Shared { queue: WaitQueue::new(permits), uses: UnsafeCell::new(0) })
        }

        /// Waits for permits, as `Semaphore::acquire` does. The thread that grants them runs the waiter's continuation.
        fn acquire(&self, wait: Wait) {
            if self.queue.try_take(wait.permits) {
                assert!(wait.end(GRANTED));
                self.hold(wait.permits);
            } else {
                self.grant_waiters(|grant| self.queue.enqueue(wait, grant));
            }
        }

        /// Uses the held permits, then releases them.
        fn hold(&self, permits: usize) {
            // SAFETY: the held permits give exclusive access; loom checks it.
            self.uses.with_mut(|uses| unsafe { *uses += 1 });
            self.release(permits);
        }

        fn release(&self, permits: usize) {
            if self.queue.give_back(permits).unwrap() {
                self.grant_waiters(|grant| self.queue.grant_waiters(grant));
            }
        }

        /// Calls `grant_waiters`, then runs the continuations of the waiters that it has granted.
        fn grant_waiters(&self, grant_waiters: impl FnOnce(&dyn Fn(Wait) -> usize)) {
            let ready = RefCell::new(Vec::new());
            grant_waiters(&|wait: Wait| {
                if wait.end(GRANTED) {
                    ready.borrow_mut().push(wait.permits);
                    0
                } else {
                    wait.permits
                }
            });
            ready.into_inner().into_iter().for_each(|permits| self.hold(permits));
        }

        /// Cancels a wait that has not ended, and lets the next waiters pass, as `GrantOnDrop` does. Returns whether it
        /// cancelled.
        fn cancel(&self, wait: &Wait) -> bool {
            let cancelled = wait.end(CANCELLED);
            if cancelled {
                self.grant_waiters(|grant| self.queue.grant_waiters(grant));
            }
            cancelled
        }

        /// Checks the final state, after all threads have been joined.
        fn ends(&self, uses: usize, free: usize) {
            // SAFETY: all other threads have been joined, so this one has exclusive access.
            self.uses.with(|found| assert_eq!(unsafe { *found }, uses));
            assert_eq!(self.queue.free(), free);
            assert!(self.queue.try_take(free), "no request is left in the queue");
        }
    }

    fn acquirer(shared: &Arc<Shared>, permits: usize) -> thread::JoinHandle<()> {
        let shared = Arc::clone(shared);
        thread::spawn(move || shared.acquire(Wait::new(permits)))
    }

    #[test]
    fn three_acquirers_of_one_permit_hold_it_one_at_a_time() {
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
    fn two_single_releases_satisfy_a_request_for_two() {
        explore(3, || {
            let shared = Shared::new(0);
            let other = acquirer(&shared, 2);
            shared.release(1);
            shared.release(1);
            other.join().unwrap();
            shared.ends(1, 2);
        });
    }

    /// The first waiter is cancelled before or while it is granted: the second gets the permit.
    #[test]
    fn a_cancelled_waiter_lets_the_next_one_pass() {
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

    /// The first waiter requests more permits than exist, and is cancelled: the others do not wait for it.
    #[test]
    fn a_cancelled_request_for_too_many_permits_does_not_block_the_queue() {
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
