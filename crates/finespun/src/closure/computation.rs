//! A computation: the closures that one `top` has begun, and the end of the computation.
//!
//! A closure is *active* from its post until its thread has run; if it migrates, until the other process has run it, and all
//! that it has begun there. A computation is *over* once its top closure has ended (it has run, or has been destroyed) and no
//! closure is active: see [`tally`](super::tally) for the detection.
//!
//! Outside a session (another thread, a task, another computation's thread) a send that makes a closure full is counted
//! under the lock, if the computation is not over; otherwise the send destroys the closure. Records are recycled and
//! never freed, since a program may keep a continuation for any length of time; each use has its own number.

use std::any::{Any, TypeId};
use std::cell::UnsafeCell;
use std::sync::Arc;

use crate::atomics::{AtomicBool, AtomicU64, Mutex, Ordering, lock};
use crate::frame::Payload;
use crate::frame::context::Cx;
use crate::process::ProcessMutex;
use crate::run::continuation::Continuation;

use super::missing::{Maker, Stamp};
use super::tally::{Tallies, Tally};

/// A value that all threads of a computation may read, and its type, to be compared without a call.
pub(super) struct Shared {
    kind: TypeId,
    /// The address of the value.
    at: *const (),
    _value: Arc<dyn Any + Send + Sync>,
}

// SAFETY: `at` points into the value, which is `Send` and `Sync`, and which threads only read.
unsafe impl Send for Shared {}

impl Shared {
    pub(super) fn new<S: Any + Send + Sync>(value: Arc<S>) -> Shared {
        Shared { kind: TypeId::of::<S>(), at: Arc::as_ptr(&value).cast(), _value: value }
    }

    /// Returns the value if it is an `S`.
    #[inline(always)]
    pub(super) fn get<S: Any>(&self) -> Option<&S> {
        // SAFETY: the comparison shows that the value is an `S`, which lives as long as `self`.
        (self.kind == TypeId::of::<S>()).then(|| unsafe { &*self.at.cast::<S>() })
    }
}

/// The record of a computation.
pub(crate) struct Computation {
    /// The number of this use; zero between two uses.
    number: AtomicU64,
    tallies: Tallies,
    /// A thread has panicked, or the computation was cancelled: threads that have not begun will not begin.
    stopped: AtomicBool,
    /// Written before any other thread knows this use of the record, and after the computation is over.
    shared: UnsafeCell<Option<Shared>>,
    ends: Mutex<Ends>,
}

#[derive(Default)]
struct Ends {
    live: bool,
    /// The continuation to resume when the computation is over.
    waiting: Option<Continuation<()>>,
    panic: Option<Payload>,
    /// An argument that another process has sent cannot be read.
    lost: Option<Payload>,
    /// Name of the first argument that will never be sent.
    unsent: Option<String>,
    /// What runs in other processes.
    elsewhere: Vec<Elsewhere>,
}

/// A closure that has migrated: the worker to which it was sent, and its name there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Elsewhere {
    pub(super) worker: u32,
    pub(super) name: u64,
}

// SAFETY: `shared` is written while only one thread knows this use of the record, and read by threads of active
// closures, which are posted later and end before the computation is over. All other fields are atomic or locked.
unsafe impl Sync for Computation {}

/// The outcome of a computation, apart from its results.
pub(super) struct Over {
    pub(super) panic: Option<Payload>,
    pub(super) unsent: Option<String>,
}

/// Records that no computation uses.
static RECORDS: ProcessMutex<Vec<&'static Computation>> = ProcessMutex::new(Vec::new());

/// The number of computations so far.
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

    /// Begins a computation of a team of `workers` workers, with its body as the first active thread.
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
        // Relaxed, all that follows: no other thread knows this use, except a late check, which takes the lock.
        this.stopped.store(false, Ordering::Relaxed);
        // SAFETY: no other thread knows this use of the record yet.
        unsafe { *this.shared.get() = shared };
        // 2^40 computations later, no continuation of this one is left.
        let number = NUMBER.fetch_add(1, Ordering::Relaxed) % Stamp::MOST + 1;
        this.number.store(number, Ordering::Relaxed);
        this
    }

    /// Returns the number of this use.
    pub(super) fn number(&self) -> u64 {
        // Relaxed: meaningful only to a caller that knows the number from this use.
        self.number.load(Ordering::Relaxed)
    }

    /// Returns the value that the threads share.
    ///
    /// # Safety
    /// Called by an active thread of this computation, which does not keep the result after its end.
    #[inline(always)]
    pub(super) unsafe fn shared(&self) -> Option<&Shared> {
        // SAFETY: the caller is an active thread of this computation, and `shared` is not written while one is active.
        unsafe { (*self.shared.get()).as_ref() }
    }

    /// Returns the record of a worker as the maker of closures.
    pub(super) fn maker(&self, worker: usize) -> &Maker {
        &self.tallies.of(worker).maker
    }

    /// Returns the counts of the current worker.
    pub(super) fn tally(&self, cx: Cx) -> &Tally {
        self.tallies.of(cx.core().worker.get() as usize)
    }

    /// Counts a closure of computation `number` that is about to be posted outside a session. Returns false if its
    /// computation is over.
    #[must_use]
    pub(super) fn post_from_outside(&self, number: u64) -> bool {
        let ends = lock(&self.ends);
        let live = ends.live && self.number() == number;
        if live {
            self.tallies.post_from_outside();
        }
        live
    }

    /// Ends a session, or a closure in another process: `threads` threads have run, and none of their data is used any more.
    pub(super) fn session_ends(&self, tally: &Tally, threads: u64) {
        tally.ended(threads);
        // From here on the record may belong to another computation, which a check does not harm.
        self.look_if_topped();
    }

    fn look_if_topped(&self) {
        if self.tallies.is_topped() {
            self.look();
        }
    }

    /// Notes that the top closure of computation `number` has ended.
    pub(super) fn topped(&self, number: u64) {
        let ends = lock(&self.ends);
        if !ends.live || self.number() != number {
            return;
        }
        self.tallies.top();
        drop(ends);
        self.look_if_topped();
    }

    /// Notes that an argument of a closure of computation `number` will never be sent.
    pub(super) fn unsent(&self, number: u64, what: impl FnOnce() -> Option<String>) {
        let mut ends = lock(&self.ends);
        if ends.live && self.number() == number && ends.unsent.is_none() {
            ends.unsent = what();
        }
    }

    /// Returns the name of the first argument of a closure of computation `number` that will never be sent.
    #[cfg(feature = "objects")]
    pub(super) fn first_unsent(&self, number: u64) -> Option<String> {
        let ends = lock(&self.ends);
        ends.unsent.clone().filter(|_| self.number() == number)
    }

    /// Notes that an argument which another process has sent cannot be read: if nothing else does, the computation panics with
    /// this.
    #[cfg(feature = "objects")]
    pub(super) fn lose(&self, payload: Payload) {
        let mut ends = lock(&self.ends);
        let other = if ends.lost.is_none() { ends.lost.replace(payload) } else { Some(payload) };
        drop(ends);
        crate::frame::drop_quietly(other);
    }

    /// Notes that an active closure has been sent to another process.
    #[cfg(feature = "objects")]
    pub(super) fn is_elsewhere(&self, elsewhere: Elsewhere) {
        let mut ends = lock(&self.ends);
        ends.elsewhere.push(elsewhere);
        drop(ends);
        if self.is_stopped() {
            self.stop_elsewhere();
        }
    }

    /// Notes that a closure in another process has ended.
    #[cfg(feature = "objects")]
    pub(super) fn is_back(&self, elsewhere: Elsewhere) {
        lock(&self.ends).elsewhere.retain(|other| *other != elsewhere);
    }

    /// Stops what runs in other processes, unless the run has been cancelled, which ends everywhere.
    fn stop_elsewhere(&self) {
        let elsewhere = std::mem::take(&mut lock(&self.ends).elsewhere);
        #[cfg(feature = "objects")]
        if let Some(cx) = crate::frame::context::try_cx().filter(|cx| !cx.is_run_cancelled()) {
            super::migrate::stop(cx, elsewhere);
        }
        #[cfg(not(feature = "objects"))]
        debug_assert!(elsewhere.is_empty(), "there are no other processes");
    }

    /// Gives up the results of computation `number`, if it is not over.
    #[cfg(feature = "objects")]
    pub(super) fn abandon_if(&self, cx: Cx, number: u64) {
        let mut ends = lock(&self.ends);
        if !ends.live || self.number() != number {
            return;
        }
        self.stop();
        self.tallies.top();
        let elsewhere = std::mem::take(&mut ends.elsewhere);
        drop(ends);
        // From here on the record may belong to another computation, which a check does not harm.
        super::migrate::stop(cx, elsewhere);
        self.look_if_topped();
    }

    /// Notes that a thread of an active closure has panicked: the computation is over as soon as no thread is active, even
    /// if the program keeps continuations.
    pub(super) fn fail(&self, payload: Payload) {
        let mut ends = lock(&self.ends);
        let other = if ends.panic.is_none() { ends.panic.replace(payload) } else { Some(payload) };
        drop(ends);
        // Afterwards: what stops elsewhere may answer with a panic, too.
        self.abandon();
        drop(other);
    }

    /// Gives up the results: the computation is over as soon as no thread is active.
    pub(super) fn abandon(&self) {
        self.stop();
        // `wait` follows, or the end of the active closure; both check.
        self.tallies.top();
        self.stop_elsewhere();
    }

    /// Keeps threads that have not begun from beginning.
    pub(super) fn stop(&self) {
        // Relaxed: a hint; a worker that sees it late runs a thread in vain.
        self.stopped.store(true, Ordering::Relaxed);
    }

    pub(super) fn is_stopped(&self) -> bool {
        // Relaxed: as in `stop`.
        self.stopped.load(Ordering::Relaxed)
    }

    /// Resumes the waiter if the computation is over.
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

    /// Registers `end`, which is resumed when the computation is over. Called by the task that began it, after its body
    /// has ended.
    pub(super) fn wait(&self, end: Continuation<()>) {
        let mut ends = lock(&self.ends);
        if !ends.live {
            drop(ends);
            return end.resolve(());
        }
        let before = ends.waiting.replace(end);
        drop(ends);
        // The continuation of a cancelled wait.
        if let Some(before) = before {
            before.unwaited();
        }
        self.look_if_topped();
    }

    /// Returns the outcome, and recycles the record. Called once the computation is over.
    pub(super) fn finish(&'static self) -> Over {
        let mut ends = lock(&self.ends);
        debug_assert!(!ends.live, "a computation that is over");
        let panic = ends.panic.take();
        let lost = ends.lost.take();
        let (panic, lost) = if panic.is_some() { (panic, lost) } else { (lost, None) };
        let over = Over { panic, unsent: ends.unsent.take() };
        // Relaxed: under the lock; no computation has the number 0.
        self.number.store(0, Ordering::Relaxed);
        drop(ends);
        // SAFETY: the computation is over, so no thread reads `shared`.
        let shared = unsafe { (*self.shared.get()).take() };
        RECORDS.lock().push(self);
        // The drop may run user code.
        crate::frame::drop_quietly((shared, lost));
        over
    }
}
