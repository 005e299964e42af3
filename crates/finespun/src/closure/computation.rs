//! A computation: the closures that one `top` has begun, and how their end is found out.
//!
//! A closure is *active* from when it is posted until its thread has run. A computation is *over* once its top closure is gone
//! (it has run, or has been destroyed) and none is active. Nobody counts them in one place: each worker counts what it has
//! posted, and what it has ended, alone and without a locked instruction ([`Tally`]).
//!
//! ```text
//!   posted[w] + 1     before the closure is in the deque
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
//!
//! Outside a session (another thread, a task, another computation's thread) a send that makes a closure full counts
//! under the lock, if the computation is not over; else it destroys the closure. Records are recycled and never freed, since a
//! continuation may be kept for as long as one likes; each use has a number of its own.

use std::any::{Any, TypeId};
use std::cell::UnsafeCell;
use std::sync::Arc;

use crossbeam_utils::CachePadded;

use crate::atomics::{AtomicBool, AtomicU64, Mutex, Ordering, fence, lock, lock_std};
use crate::task::context::Cx;
use crate::task::frame::{Payload, discard};
use crate::task::suspend::Continuation;

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
    /// Where the posts are counted.
    pub(super) fn posts(&self) -> &AtomicU64 {
        &self.posted
    }
}

/// What all threads of a computation may read: a value, and what kind it is, to be compared without a call.
pub(super) struct Shared {
    kind: TypeId,
    value: Arc<dyn Any + Send + Sync>,
}

impl Shared {
    pub(super) fn new<S: Any + Send + Sync>(value: Arc<S>) -> Shared {
        Shared { kind: TypeId::of::<S>(), value }
    }

    /// The value, if it is an `S`.
    #[inline(always)]
    pub(super) fn get<S: Any>(&self) -> Option<&S> {
        // SAFETY: of that type.
        (self.kind == TypeId::of::<S>()).then(|| unsafe { &*Arc::as_ptr(&self.value).cast::<S>() })
    }
}

/// The record of a computation.
pub(crate) struct Computation {
    /// The number of this use; zero between two.
    number: AtomicU64,
    tallies: Box<[CachePadded<Tally>]>,
    /// Posted from elsewhere than a session.
    outside: AtomicU64,
    /// The top closure is gone.
    topped: AtomicBool,
    /// A thread has panicked, or the computation was cancelled: threads that have not begun do not begin.
    stopped: AtomicBool,
    /// Written while nobody else knows this use of the record, and when it is over.
    shared: UnsafeCell<Option<Shared>>,
    ends: Mutex<Ends>,
}

#[derive(Default)]
struct Ends {
    live: bool,
    /// Who waits for the computation to be over.
    waiting: Option<Continuation<()>>,
    panic: Option<Payload>,
    /// The first argument that will never be sent.
    unsent: Option<String>,
}

// SAFETY: `shared` is written while one thread knows this use of the record, and read by threads of closures, which are active:
// those are posted later, and end before (see above). All else is atomic or locked.
unsafe impl Sync for Computation {}

/// What came of a computation beside its results.
pub(super) struct Over {
    pub(super) panic: Option<Payload>,
    pub(super) unsent: Option<String>,
}

/// Records that are no computation's.
static RECORDS: std::sync::Mutex<Vec<&'static Computation>> = std::sync::Mutex::new(Vec::new());

/// The number of the last computation.
static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

impl Computation {
    fn new(workers: usize) -> Computation {
        Computation {
            number: AtomicU64::new(0),
            tallies: (0..workers).map(|_| CachePadded::default()).collect(),
            outside: AtomicU64::new(0),
            topped: AtomicBool::new(false),
            stopped: AtomicBool::new(false),
            shared: UnsafeCell::new(None),
            ends: Mutex::new(Ends::default()),
        }
    }

    /// Begins a computation of a team of so many workers, with its body as the first that is active.
    pub(super) fn begin(workers: usize, shared: Option<Shared>) -> &'static Computation {
        let recycled = {
            let mut records = lock_std(&RECORDS);
            let fits = records.iter().position(|record| record.tallies.len() >= workers);
            fits.map(|index| records.swap_remove(index))
        };
        let this = recycled.unwrap_or_else(|| Box::leak(Box::new(Computation::new(workers))));
        let mut ends = lock(&this.ends);
        *ends = Ends { live: true, ..Ends::default() };
        for tally in &this.tallies {
            // Relaxed, all that follows: nobody else knows this use, but a look that comes too late, and takes the lock.
            tally.posted.store(0, Ordering::Relaxed);
            tally.ended.store(0, Ordering::Relaxed);
        }
        this.outside.store(1, Ordering::Relaxed);
        this.topped.store(false, Ordering::Relaxed);
        this.stopped.store(false, Ordering::Relaxed);
        // SAFETY: see `Sync`.
        unsafe { *this.shared.get() = shared };
        let number = NUMBER.fetch_add(1, std::sync::atomic::Ordering::Relaxed) + 1;
        this.number.store(number, Ordering::Relaxed);
        this
    }

    /// The number of this use.
    pub(super) fn number(&self) -> u64 {
        // Relaxed: for those who have the number from the use itself.
        self.number.load(Ordering::Relaxed)
    }

    /// The value that the threads share.
    ///
    /// # Safety
    /// Called by an active thread of this computation, and not kept any longer.
    #[inline(always)]
    pub(super) unsafe fn shared(&self) -> Option<&Shared> {
        // SAFETY: see `Sync`.
        unsafe { (*self.shared.get()).as_ref() }
    }

    /// The counts of the worker that this runs on.
    pub(super) fn tally(&self, cx: Cx) -> &Tally {
        &self.tallies[cx.context().here.worker.get() as usize]
    }

    /// A closure of number `number` is about to be posted from elsewhere than a session; `false` if its computation is over.
    #[must_use]
    pub(super) fn post_from_outside(&self, number: u64) -> bool {
        let ends = lock(&self.ends);
        let live = ends.live && self.number() == number;
        if live {
            // Relaxed: looks are under the lock.
            self.outside.fetch_add(1, Ordering::Relaxed);
        }
        live
    }

    /// So many threads have run on this worker, and nothing of theirs is used any more.
    pub(super) fn session_ends(&self, tally: &Tally, threads: u64) {
        // Release: what the threads did comes before a look that sees their end.
        add(&tally.ended, threads, Ordering::Release);
        // From here on the record may be another computation's, of which a look does no harm.
        self.look_if_topped();
    }

    fn look_if_topped(&self) {
        // "The end is not missed".
        fence(Ordering::SeqCst);
        // Relaxed: ordered by the fence.
        if self.topped.load(Ordering::Relaxed) {
            self.look();
        }
    }

    /// The top closure of computation `number` is gone.
    pub(super) fn topped(&self, number: u64) {
        let ends = lock(&self.ends);
        if !ends.live || self.number() != number {
            return;
        }
        // Relaxed: ordered by the fence.
        self.topped.store(true, Ordering::Relaxed);
        drop(ends);
        self.look_if_topped();
    }

    /// An argument of a closure of computation `number` will never be sent.
    pub(super) fn unsent(&self, number: u64, what: impl FnOnce() -> String) {
        let mut ends = lock(&self.ends);
        if ends.live && self.number() == number {
            ends.unsent.get_or_insert_with(what);
        }
    }

    /// A thread has panicked.
    pub(super) fn fail(&self, payload: Payload) {
        self.stop();
        let mut ends = lock(&self.ends);
        if ends.panic.is_none() {
            ends.panic = Some(payload);
        } else {
            drop(ends);
            discard(payload);
        }
    }

    /// Nobody wants its results any more: it is over as soon as no thread is active.
    pub(super) fn abandon(&self) {
        self.stop();
        // Relaxed: `wait` follows, which looks.
        self.topped.store(true, Ordering::Relaxed);
    }

    /// Threads that have not begun are not to begin.
    pub(super) fn stop(&self) {
        // Relaxed: a hint; who sees it late runs a thread in vain.
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        // Relaxed: as above.
        self.stopped.load(Ordering::Relaxed)
    }

    /// Ends the wait for it, if the computation is over.
    #[cold]
    fn look(&self) {
        let mut ends = lock(&self.ends);
        // Relaxed: set under the lock, or by ourselves.
        if !ends.live || !self.topped.load(Ordering::Relaxed) || ends.waiting.is_none() {
            return;
        }
        // Acquire: see "A look does not err".
        let ended: u64 = self.tallies.iter().map(|tally| tally.ended.load(Ordering::Acquire)).sum();
        // Relaxed: not before `ended`; at least what their Acquire has shown.
        let inside: u64 = self.tallies.iter().map(|tally| tally.posted.load(Ordering::Relaxed)).sum();
        // Relaxed: changed under the lock.
        if ended != inside + self.outside.load(Ordering::Relaxed) {
            return;
        }
        ends.live = false;
        let waiting = ends.waiting.take();
        drop(ends);
        if let Some(waiting) = waiting {
            waiting.resolve(());
        }
    }

    /// Whoever has begun it waits until it is over, by `end`; its body has ended, or been ended.
    pub(super) fn wait(&self, end: Continuation<()>) {
        let mut ends = lock(&self.ends);
        if !ends.live {
            drop(ends);
            return end.resolve(());
        }
        let before = ends.waiting.replace(end);
        drop(ends);
        // Of a wait that was cancelled.
        if let Some(before) = before {
            before.unwaited();
        }
        self.look_if_topped();
    }

    /// What came of it; the record is free for another. Once it is over.
    pub(super) fn finish(&'static self) -> Over {
        let mut ends = lock(&self.ends);
        debug_assert!(!ends.live, "a computation that is over");
        let over = Over { panic: ends.panic.take(), unsent: ends.unsent.take() };
        // Relaxed: under the lock; none has this number.
        self.number.store(0, Ordering::Relaxed);
        drop(ends);
        // SAFETY: see `Sync`.
        let shared = unsafe { (*self.shared.get()).take() };
        lock_std(&RECORDS).push(self);
        // User code.
        crate::task::frame::quietly(|| drop(shared));
        over
    }
}
