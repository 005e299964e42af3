//! Termination detection: finds out that no closure of a computation is active any more.
//!
//! No central counter exists: each worker counts the closures that it has posted and those that it has ended, in
//! counters that it alone writes, without a locked instruction.
//!
//! ```text
//!   posted[w] + 1     before other threads can see the closure
//!   ended[w]  + n     after a *session*, in which worker w has run n threads, one after the other
//!
//!   a check: E = the sum of all `ended`, then P = the sum of all `posted`; over if E = P
//! ```
//!
//! **A check has no false positive.** Both sums only grow, and `ended` never exceeds `posted`. So at the moment t
//! between the two sums, E <= ended(t) <= posted(t) <= P, and E = P means that no closure was active at t; only an
//! active closure, or a thread outside, posts another. A thread that reads `ended[w]` (Acquire) sees everything that
//! the threads of that session did, including the posts of the closures that they stole (a thief has seen the poster's
//! count), so P is not too small.
//!
//! **The end is not missed.** Each session ends with a count, a fence, and a check if the top closure has ended. A
//! thread that ends the top closure does so within a session, or else checks after a fence of its own. The last of
//! these fences, in their total order, comes after all counts, and after the end of the top closure.

use crossbeam_utils::CachePadded;

use crate::atomics::{AtomicBool, AtomicU64, Ordering, fence};

use super::missing::Maker;

/// The counts of one worker for a computation.
#[derive(Default)]
pub(super) struct Tally {
    posted: AtomicU64,
    ended: AtomicU64,
    pub(super) maker: Maker,
}

/// Adds `count` to a counter that no other thread writes.
#[inline(always)]
pub(super) fn add(counter: &AtomicU64, count: u64, order: Ordering) {
    // Relaxed: only this thread writes it.
    counter.store(counter.load(Ordering::Relaxed) + count, order);
}

impl Tally {
    /// Returns the counter of this worker's posts.
    pub(super) fn posts(&self) -> &AtomicU64 {
        &self.posted
    }

    /// Counts the `threads` threads of a session that has ended.
    pub(super) fn ended(&self, threads: u64) {
        // Release: the threads' effects come before a check that sees their end.
        add(&self.ended, threads, Ordering::Release);
    }
}

/// The counts of all workers.
pub(super) struct Tallies {
    workers: Box<[CachePadded<Tally>]>,
    /// Number of closures posted outside sessions.
    outside: AtomicU64,
    /// Whether the top closure has ended.
    topped: AtomicBool,
}

impl Tallies {
    /// Creates the tallies of `workers` workers.
    pub(super) fn new(workers: usize) -> Tallies {
        let workers = (0..workers).map(|_| CachePadded::new(Tally::default())).collect();
        Tallies { workers, outside: AtomicU64::new(0), topped: AtomicBool::new(false) }
    }

    pub(super) fn workers(&self) -> usize {
        self.workers.len()
    }

    /// Starts again, with one active closure that was posted from outside.
    pub(super) fn reset(&self) {
        // Relaxed, all: no session of this computation is open, and a check takes the lock that the caller holds.
        for tally in &self.workers {
            tally.posted.store(0, Ordering::Relaxed);
            tally.ended.store(0, Ordering::Relaxed);
        }
        self.outside.store(1, Ordering::Relaxed);
        self.topped.store(false, Ordering::Relaxed);
    }

    /// Returns the counts of one worker.
    pub(super) fn of(&self, worker: usize) -> &Tally {
        &self.workers[worker]
    }

    /// Counts a closure that is about to be posted outside a session. The caller holds the lock that checks take.
    pub(super) fn post_from_outside(&self) {
        // Relaxed: under the lock.
        self.outside.fetch_add(1, Ordering::Relaxed);
    }

    /// Notes that the top closure has ended. The caller's session ends later, or the caller calls
    /// [`is_topped`](Tallies::is_topped).
    pub(super) fn top(&self) {
        // Relaxed: ordered by the fence that follows.
        self.topped.store(true, Ordering::Relaxed);
    }

    /// Returns whether a check is due. Called after a session, or after the top closure has ended.
    pub(super) fn is_topped(&self) -> bool {
        // See "The end is not missed".
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence.
        self.topped.load(Ordering::Relaxed)
    }

    /// Checks whether the computation is over. The caller holds the lock.
    pub(super) fn are_over(&self) -> bool {
        // Relaxed: the holder of the lock has called `is_topped` before, or will.
        if !self.topped.load(Ordering::Relaxed) {
            return false;
        }
        // Acquire: see "A check has no false positive".
        let ended: u64 = self.workers.iter().map(|tally| tally.ended.load(Ordering::Acquire)).sum();
        // Relaxed: ordered after the Acquire loads of `ended`, so at least the values that they made visible.
        let posted: u64 = self.workers.iter().map(|tally| tally.posted.load(Ordering::Relaxed)).sum();
        // Relaxed: changed under the lock.
        let posted = posted + self.outside.load(Ordering::Relaxed);
        ended == posted || mutated!(EarlyEnd) && ended + 1 == posted
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, Mutex, UnsafeCell, explore, lock, thread};

    /// A computation of two workers that run closures, and the waiter for its end.
    struct Model {
        tallies: Tallies,
        waiting: Mutex<bool>,
        /// Data that threads write, and that the end must see.
        notes: [UnsafeCell<bool>; 3],
        /// Closures that can be taken, each once.
        queue: Mutex<Vec<usize>>,
    }

    impl Model {
        fn new() -> Arc<Model> {
            let tallies = Tallies::new(2);
            tallies.reset();
            let notes = [(); 3].map(|()| UnsafeCell::new(false));
            Arc::new(Model { tallies, waiting: Mutex::new(true), notes, queue: Mutex::new(Vec::new()) })
        }

        fn post(&self, worker: usize, closure: usize) {
            add(self.tallies.of(worker).posts(), 1, Ordering::Relaxed);
            lock(&self.queue).push(closure);
        }

        /// Runs the queued closures as one session. The thread of closure 0 posts 1, the thread of 1 posts 2; 2 is the
        /// top closure.
        fn session(&self, worker: usize, mut threads: u64) -> bool {
            loop {
                let Some(closure) = lock(&self.queue).pop() else { break };
                threads += 1;
                // SAFETY: each closure runs once, and the reads follow the end of the computation. Loom checks it.
                self.notes[closure].with_mut(|note| unsafe { *note = true });
                match closure {
                    2 => self.tallies.top(),
                    _ => self.post(worker, closure + 1),
                }
            }
            self.end(worker, threads)
        }

        /// Ends a session. Returns whether the computation ends with it.
        fn end(&self, worker: usize, threads: u64) -> bool {
            self.tallies.of(worker).ended(threads);
            if !self.tallies.is_topped() {
                return false;
            }
            let mut waiting = lock(&self.waiting);
            if !*waiting || !self.tallies.are_over() {
                return false;
            }
            *waiting = false;
            for note in &self.notes {
                // SAFETY: the computation is over, so no thread writes. Loom checks it.
                assert!(note.with(|note| unsafe { *note }), "all have run before the end");
            }
            true
        }
    }

    #[test]
    fn a_computation_ends_once_after_its_last_closure() {
        explore(3, || {
            let model = Model::new();
            // The body has posted the first closure, and counts as a session of worker 0.
            model.post(0, 0);
            let other = {
                let model = Arc::clone(&model);
                thread::spawn(move || model.session(1, 0))
            };
            let first = model.session(0, 1);
            let second = other.join().unwrap();
            // The next session runs the closures that a session leaves.
            let third = model.session(0, 0);
            assert_eq!([first, second, third].iter().filter(|&&ended| ended).count(), 1, "it ends, once");
        });
    }
}
