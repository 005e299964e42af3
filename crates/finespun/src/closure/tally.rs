//! How it is found out that no closure of a computation is active any more.
//!
//! Nobody counts them in one place: each worker counts what it has posted, and what it has ended, alone and without a locked
//! instruction.
//!
//! ```text
//!   posted[w] + 1     before the closure is seen by others
//!   ended[w]  + n     after a *session*, in which worker w has run n threads, one after the other
//!
//!   a look:  E = the sum of all `ended`, then P = the sum of all `posted`; over if E = P
//! ```
//!
//! **A look does not err.** Both sums only grow, and never is more ended than posted. So at the moment t between the two,
//! E <= ended(t) <= posted(t) <= P, and E = P means that none was active at t; nothing but an active closure, or somebody
//! outside, posts another. Who reads `ended[w]` (Acquire) sees what the threads of that session did, the posts of the closures
//! that they took over included (a thief has seen the poster's count), so P is not too small.
//!
//! **The end is not missed.** Each session ends by counting, a fence, and a look if the top is gone; who makes the top gone
//! does so within a session, or else looks after a fence of its own. The last of these fences, in their total order, comes
//! after all counts, and after the top has gone.

use crossbeam_utils::CachePadded;

use crate::atomics::{AtomicBool, AtomicU64, Ordering, fence};

/// What one worker has done for a computation.
#[derive(Default)]
pub(super) struct Tally {
    posted: AtomicU64,
    ended: AtomicU64,
}

/// Adds to a counter that no other thread writes.
#[inline(always)]
pub(super) fn add(counter: &AtomicU64, count: u64, order: Ordering) {
    // Relaxed: only this thread writes it.
    counter.store(counter.load(Ordering::Relaxed) + count, order);
}

impl Tally {
    /// Where this worker's posts are counted.
    pub(super) fn posts(&self) -> &AtomicU64 {
        &self.posted
    }

    /// A session of so many threads has ended.
    pub(super) fn ended(&self, threads: u64) {
        // Release: what the threads did comes before a look that sees their end.
        add(&self.ended, threads, Ordering::Release);
    }
}

/// What all workers have done.
pub(super) struct Tallies {
    workers: Box<[CachePadded<Tally>]>,
    /// Posted from elsewhere than a session.
    outside: AtomicU64,
    /// The top closure is gone.
    topped: AtomicBool,
}

impl Tallies {
    /// Of so many workers.
    pub(super) fn new(workers: usize) -> Tallies {
        let workers = (0..workers).map(|_| CachePadded::new(Tally::default())).collect();
        Tallies { workers, outside: AtomicU64::new(0), topped: AtomicBool::new(false) }
    }

    pub(super) fn workers(&self) -> usize {
        self.workers.len()
    }

    /// From the beginning, with one that is active and was posted from outside.
    pub(super) fn reset(&self) {
        // Relaxed, all: nobody is in a session of it, and who looks has the lock that the caller has.
        for tally in &self.workers {
            tally.posted.store(0, Ordering::Relaxed);
            tally.ended.store(0, Ordering::Relaxed);
        }
        self.outside.store(1, Ordering::Relaxed);
        self.topped.store(false, Ordering::Relaxed);
    }

    /// The counts of one worker.
    pub(super) fn of(&self, worker: usize) -> &Tally {
        &self.workers[worker]
    }

    /// One is about to be posted from elsewhere than a session. Under the lock that looks take.
    pub(super) fn post_from_outside(&self) {
        // Relaxed: under the lock.
        self.outside.fetch_add(1, Ordering::Relaxed);
    }

    /// The top closure is gone. The caller's session ends later, or the caller asks [`is_topped`](Tallies::is_topped).
    pub(super) fn top(&self) {
        // Relaxed: ordered by the fence that follows.
        self.topped.store(true, Ordering::Relaxed);
    }

    /// Whether there is something to look for, after a session, or after the top has gone.
    pub(super) fn is_topped(&self) -> bool {
        // "The end is not missed".
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence.
        self.topped.load(Ordering::Relaxed)
    }

    /// The look. Under the lock.
    pub(super) fn are_over(&self) -> bool {
        // Relaxed: who has the lock has asked before, or will.
        if !self.topped.load(Ordering::Relaxed) {
            return false;
        }
        // Acquire: see "A look does not err".
        let ended: u64 = self.workers.iter().map(|tally| tally.ended.load(Ordering::Acquire)).sum();
        // Relaxed: not before `ended`; at least what their Acquire has shown.
        let posted: u64 = self.workers.iter().map(|tally| tally.posted.load(Ordering::Relaxed)).sum();
        // Relaxed: changed under the lock.
        ended == posted + self.outside.load(Ordering::Relaxed)
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, Mutex, UnsafeCell, lock, thread};
    use loom::model::Builder;

    /// A computation of two workers, in which closures run, and who waits for its end.
    struct Model {
        tallies: Tallies,
        waiting: Mutex<bool>,
        /// What threads write, which the end is to see.
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

        /// Runs what is there, as one session; the thread of closure 0 posts 1, that of 1 posts 2, that of 2 is the top's.
        fn session(&self, worker: usize, mut threads: u64) -> bool {
            loop {
                let Some(closure) = lock(&self.queue).pop() else { break };
                threads += 1;
                // SAFETY: each closure runs once; the end reads. Loom checks it.
                self.notes[closure].with_mut(|note| unsafe { *note = true });
                match closure {
                    2 => self.tallies.top(),
                    _ => self.post(worker, closure + 1),
                }
            }
            self.end(worker, threads)
        }

        /// Ends a session; whether the computation ends by that.
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
                // SAFETY: as above.
                assert!(note.with(|note| unsafe { *note }), "all have run before the end");
            }
            true
        }
    }

    #[test]
    fn a_computation_ends_once_after_its_last_closure() {
        let mut builder = Builder::new();
        builder.preemption_bound.get_or_insert(3);
        builder.check(|| {
            let model = Model::new();
            // The body has posted the first, and is a session of worker 0 itself.
            model.post(0, 0);
            let other = {
                let model = Arc::clone(&model);
                thread::spawn(move || model.session(1, 0))
            };
            let first = model.session(0, 1);
            let second = other.join().unwrap();
            // What a session leaves is for the next one.
            let third = model.session(0, 0);
            assert_eq!([first, second, third].iter().filter(|&&ended| ended).count(), 1, "it ends, once");
        });
    }
}
