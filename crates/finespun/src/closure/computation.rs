//! A computation: the closures that one `top` has begun, and how it ends.
//!
//! A closure is *active* from when it is posted until its thread has run. A computation is *over* once its top closure is gone
//! (it has run, or has been destroyed) and none is active: see [`tally`](super::tally) for how that is found out.
//!
//! Outside a session (another thread, a task, another computation's thread) a send that makes a closure full counts
//! under the lock, if the computation is not over; else it destroys the closure. Records are recycled and never freed, since a
//! continuation may be kept for as long as one likes; each use has a number of its own.

use std::any::{Any, TypeId};
use std::cell::UnsafeCell;
use std::sync::Arc;

use crate::atomics::{AtomicBool, AtomicU64, Mutex, Ordering, lock};
use crate::process::ProcessMutex;
use crate::task::context::Cx;
use crate::task::frame::Payload;
use crate::task::suspend::Continuation;

use super::tally::{Tallies, Tally};

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
    tallies: Tallies,
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
// those are posted later, and end before. All else is atomic or locked.
unsafe impl Sync for Computation {}

/// What came of a computation beside its results.
pub(super) struct Over {
    pub(super) panic: Option<Payload>,
    pub(super) unsent: Option<String>,
}

/// Records that are no computation's.
static RECORDS: ProcessMutex<Vec<&'static Computation>> = ProcessMutex::new(Vec::new());

/// The number of the last computation.
static NUMBER: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

impl Computation {
    fn new(workers: usize) -> Computation {
        Computation {
            number: AtomicU64::new(0),
            tallies: Tallies::new(workers),
            stopped: AtomicBool::new(false),
            shared: UnsafeCell::new(None),
            ends: Mutex::new(Ends::default()),
        }
    }

    /// Begins a computation of a team of so many workers, with its body as the first that is active.
    pub(super) fn begin(workers: usize, shared: Option<Shared>) -> &'static Computation {
        let recycled = {
            let mut records = RECORDS.lock();
            let fits = records.iter().position(|record| record.tallies.workers() >= workers);
            fits.map(|index| records.swap_remove(index))
        };
        let this = recycled.unwrap_or_else(|| Box::leak(Box::new(Computation::new(workers))));
        let mut ends = lock(&this.ends);
        *ends = Ends { live: true, ..Ends::default() };
        this.tallies.reset();
        // Relaxed, all that follows: nobody else knows this use, but a look that comes too late, and takes the lock.
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
        self.tallies.of(cx.context().here.worker.get() as usize)
    }

    /// A closure of number `number` is about to be posted from elsewhere than a session; `false` if its computation is over.
    #[must_use]
    pub(super) fn post_from_outside(&self, number: u64) -> bool {
        let ends = lock(&self.ends);
        let live = ends.live && self.number() == number;
        if live {
            self.tallies.post_from_outside();
        }
        live
    }

    /// So many threads have run on this worker, and nothing of theirs is used any more.
    pub(super) fn session_ends(&self, tally: &Tally, threads: u64) {
        tally.ended(threads);
        // From here on the record may be another computation's, of which a look does no harm.
        self.look_if_topped();
    }

    fn look_if_topped(&self) {
        if self.tallies.is_topped() {
            self.look();
        }
    }

    /// The top closure of computation `number` is gone.
    pub(super) fn topped(&self, number: u64) {
        let ends = lock(&self.ends);
        if !ends.live || self.number() != number {
            return;
        }
        self.tallies.top();
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

    /// A thread has panicked, in a session: it is over as soon as none is active, wherever continuations are kept.
    pub(super) fn fail(&self, payload: Payload) {
        self.abandon();
        let mut ends = lock(&self.ends);
        if ends.panic.is_none() {
            ends.panic = Some(payload);
        } else {
            drop(ends);
            drop(payload);
        }
    }

    /// Nobody wants its results any more: it is over as soon as no thread is active.
    pub(super) fn abandon(&self) {
        self.stop();
        // `wait` follows, or a session ends, which looks.
        self.tallies.top();
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
        if !ends.live || ends.waiting.is_none() || !self.tallies.are_over() {
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
        RECORDS.lock().push(self);
        // User code.
        crate::task::frame::quietly(|| drop(shared));
        over
    }
}
