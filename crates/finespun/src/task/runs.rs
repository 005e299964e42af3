//! A run: everything that one call of `Runtime::run` started.
//!
//! A run ends when its root and every task spawned in it have ended. When the root ends first, the rest is cancelled.
//! *Cancelling* marks the run. From then on its ready frames are destroyed instead of polled, its waiting leaves are
//! ended by their workers' sweeps, and what is on a stack becomes frames at its next guard check. So destruction goes
//! leaf first: a frame that waits for children is destroyed when the last of them has ended (a waiter outlives what may borrow from it).

use std::sync::PoisonError;

use super::budget::FrameMemory;
use super::frame::Payload;
use super::suspend::Continuation;
use crate::atomics::{AtomicBool, AtomicUsize, Condvar, Mutex, Ordering, lock};

/// The state of one run.
pub(crate) struct Run {
    /// Its number: team and index.
    pub(crate) number: u32,
    /// The root and the spawned tasks that have not ended.
    live: AtomicUsize,
    /// A thread of some runtime has begun it.
    inner: bool,
    /// Another team waits for its end, before it reports a deadlock.
    watched: AtomicBool,
    /// The root has been handed to the workers: before, nobody can be stuck.
    started: AtomicBool,
    cancelled: AtomicBool,
    /// Cancelled: the workers that have not swept since.
    unswept: Mutex<Vec<bool>>,
    /// Messages have been sent that nobody waits for.
    posts: AtomicBool,
    /// The code that a task has ended the run with.
    exit: Mutex<Option<i32>>,
    /// The first panic of what nobody waits for.
    failure: Mutex<Option<Payload>>,
    /// Who waits for the run to come to rest.
    resting: Mutex<Vec<Continuation<()>>>,
    /// Why the run has been ended, if frames have taken too much memory.
    exhausted: Mutex<Option<FrameMemory>>,
    /// Lines of the deadlock report, if there is one.
    report: Mutex<Option<Vec<String>>>,
    ended: Mutex<bool>,
    bell: Condvar,
    /// Told that the run has ended, for those who do not sleep on it.
    on_end: Mutex<Option<Told>>,
}

/// Somebody who is told that a run has ended: user code.
pub(crate) type Told = Box<dyn FnOnce() + Send>;

impl Run {
    /// A run with its root. `inner` says that a thread of some runtime begins it.
    pub(crate) fn new(number: u32, inner: bool) -> Run {
        Run {
            number,
            live: AtomicUsize::new(1),
            inner,
            watched: AtomicBool::new(false),
            started: AtomicBool::new(false),
            cancelled: AtomicBool::new(false),
            unswept: Mutex::new(Vec::new()),
            posts: AtomicBool::new(false),
            exit: Mutex::new(None),
            failure: Mutex::new(None),
            resting: Mutex::new(Vec::new()),
            exhausted: Mutex::new(None),
            report: Mutex::new(None),
            ended: Mutex::new(false),
            bell: Condvar::new(),
            on_end: Mutex::new(None),
        }
    }

    /// Calls `body` when the run has ended.
    pub(crate) fn on_end(&self, body: impl FnOnce() + Send + 'static) {
        *lock(&self.on_end) = Some(Box::new(body));
    }

    /// The root has been handed to the workers.
    pub(crate) fn start(&self) {
        // Release: whoever sees this sees the root queued, or taken.
        self.started.store(true, Ordering::Release);
    }

    /// Whether the run is under way: its root is with the workers, and something of it has not ended.
    pub(crate) fn under_way(&self) -> bool {
        // Acquire: pairs with the Release in `start`.
        self.started.load(Ordering::Acquire) && self.is_live()
    }

    /// Whether something of the run has not ended; its root may still be on its way to the workers.
    pub(crate) fn is_live(&self) -> bool {
        // Acquire: pairs with the Release in `leave`.
        self.live.load(Ordering::Acquire) > 0
    }

    /// Whether a thread of some runtime has begun the run.
    pub(crate) fn is_inner(&self) -> bool {
        self.inner
    }

    /// From now on the end of the run has deadlocks examined. A fence must follow before the caller looks whether the run
    /// is live.
    pub(crate) fn watch(&self) {
        // Relaxed: ordered by the fences.
        self.watched.store(true, Ordering::Relaxed);
    }

    /// Whether the end of the run is to have deadlocks examined. A fence must come before, after the end.
    pub(crate) fn is_watched(&self) -> bool {
        // Relaxed: ordered by the fences.
        self.watched.load(Ordering::Relaxed)
    }

    /// One more task of the run.
    pub(crate) fn enter(&self) {
        // Relaxed: the caller is a task of the run, or keeps one from ending, so the count is not zero.
        self.live.fetch_add(1, Ordering::Relaxed);
    }

    /// A task of the run has ended, and nothing that it borrowed is used any more. If it was the last: whom to tell.
    #[must_use]
    #[inline]
    pub(crate) fn leave(&self) -> Option<Told> {
        // Release: this task's accesses come before the end. Acquire: the last sees all others'.
        if self.live.fetch_sub(1, Ordering::AcqRel) == 1 { self.end() } else { None }
    }

    #[cold]
    fn end(&self) -> Option<Told> {
        let told = lock(&self.on_end).take();
        let mut ended = lock(&self.ended);
        *ended = true;
        self.bell.notify_all();
        told
    }

    /// Keeps a cancelled run from ending before every worker has swept: one that is just handling a message of the run is
    /// counted by nobody, and may leave a frame behind.
    ///
    /// Only if somebody has sent a message, which the team is told before the first. That and the mark are SeqCst: if a
    /// receiver has not seen the mark, the sender's word came before it, and who marks reads it afterwards.
    pub(crate) fn await_sweeps(&self, workers: usize) {
        let mut unswept = lock(&self.unswept);
        let grow = |live: usize| (live > 0).then_some(live + workers);
        // Relaxed, both: the count is not zero, so somebody will still change it, after us.
        if self.live.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grow).is_ok() {
            *unswept = vec![true; workers];
        }
    }

    /// That worker has swept. If that was the last that the run has waited for: whom to tell.
    #[must_use]
    pub(crate) fn swept(&self, worker: usize) -> Option<Told> {
        let first = lock(&self.unswept).get_mut(worker).is_some_and(std::mem::take);
        if first { self.leave() } else { None }
    }

    /// Whether something else than the caller may be left.
    pub(crate) fn others(&self) -> bool {
        // Acquire: pairs with the Release in `leave`. Relaxed: who has ended has said so before.
        self.live.load(Ordering::Acquire) > 1 || self.posts.load(Ordering::Relaxed)
    }

    /// Whether such a message has been sent, as far as the caller knows.
    pub(crate) fn has_posted(&self) -> bool {
        // Relaxed: whoever has sent one sees that it has.
        self.posts.load(Ordering::Relaxed)
    }

    /// A message is about to be sent that nobody waits for, and that nobody counts: when the root ends, it may be left.
    #[inline]
    pub(crate) fn posts(&self) {
        // Relaxed, both: see `others`; the look is to spare the line.
        if !self.posts.load(Ordering::Relaxed) {
            self.posts.store(true, Ordering::Relaxed);
        }
    }

    /// Something that nobody waits for has panicked: the run is to be cancelled. Whether this is the first such panic.
    #[must_use]
    pub(crate) fn fail(&self, payload: Payload) -> bool {
        let mut failure = lock(&self.failure);
        let first = failure.is_none() && !self.is_cancelled();
        if first {
            *failure = Some(payload);
        } else {
            drop(failure);
            drop(payload);
        }
        first
    }

    /// The first panic of what nobody waited for.
    pub(crate) fn failure(&self) -> Option<Payload> {
        lock(&self.failure).take()
    }

    /// A task ends the run with this code, if none has.
    pub(crate) fn exit(&self, code: i32) {
        let mut exit = lock(&self.exit);
        if !self.is_cancelled() {
            exit.get_or_insert(code);
        }
    }

    /// The code that a task has ended the run with.
    pub(crate) fn exit_code(&self) -> Option<i32> {
        *lock(&self.exit)
    }

    /// Somebody waits for the run to come to rest.
    pub(crate) fn await_rest(&self, k: Continuation<()>) {
        lock(&self.resting).push(k);
    }

    /// Nothing of the run can go on, and so many of its leaves are waited for: if those are all of the resting, they.
    pub(crate) fn at_rest(&self, leaves: usize) -> Vec<Continuation<()>> {
        let mut resting = lock(&self.resting);
        let waiting = resting.iter().filter(|k| !k.is_cancelled()).count();
        if waiting == leaves { std::mem::take(&mut *resting) } else { Vec::new() }
    }

    /// Sleeps until the run has ended.
    pub(crate) fn wait(&self) {
        let mut ended = lock(&self.ended);
        while !*ended {
            ended = self.bell.wait(ended).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Marks the run; `false` if it was marked already. Whoever marks it also tells the workers.
    #[must_use]
    pub(crate) fn mark_cancelled(&self) -> bool {
        // Release: what led to it is seen by those who see the mark. SeqCst: see `await_sweeps`.
        !self.cancelled.swap(true, Ordering::SeqCst)
    }

    /// Marks the run as deadlocked, which the sweeps will describe.
    #[must_use]
    pub(crate) fn mark_deadlocked(&self) -> bool {
        lock(&self.report).get_or_insert_default();
        self.mark_cancelled()
    }

    /// Marks the run as one that has taken too much memory; `false` if it was marked already, in whatever way.
    #[must_use]
    pub(crate) fn mark_exhausted(&self, error: FrameMemory) -> bool {
        let mut exhausted = lock(&self.exhausted);
        let first = self.mark_cancelled();
        if first {
            *exhausted = Some(error);
        }
        first
    }

    /// Whether that worker is to count its frames of the run: it has taken too much memory, and the worker has not swept
    /// since.
    pub(crate) fn counts_frames(&self, worker: usize) -> bool {
        lock(&self.exhausted).is_some() && lock(&self.unswept).get(worker).is_some_and(|unswept| *unswept)
    }

    /// So many frames of the run have been found, by the names of their bodies' types.
    pub(crate) fn add_frames(&self, found: &[(&'static str, usize)]) {
        if let Some(error) = &mut *lock(&self.exhausted) {
            error.frames += found.iter().map(|(_, count)| count).sum::<usize>();
            // Most often all of them are one worker's.
            let tasks = found.iter().filter_map(|&(body, count)| Some((super::frame::task_name(body)?, count)));
            error.most = tasks.chain(error.most).max_by_key(|(_, count)| *count);
        }
    }

    /// Why the run has been ended, if frames have taken too much memory.
    pub(crate) fn exhausted(&self) -> Option<FrameMemory> {
        let mut error = lock(&self.exhausted).clone()?;
        // When the workers counted, some had been destroyed.
        error.frames = error.frames.max(error.depth + 1);
        Some(error)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        // Acquire: pairs with the Release in `mark_cancelled`. SeqCst: see `await_sweeps`.
        self.cancelled.load(Ordering::SeqCst)
    }

    /// Adds a line to the report of a deadlocked run.
    pub(crate) fn describe(&self, line: impl FnOnce() -> String) {
        if let Some(lines) = &mut *lock(&self.report) {
            lines.push(line());
        }
    }

    /// The report of a deadlocked run.
    pub(crate) fn report(&self) -> Option<Vec<String>> {
        lock(&self.report).take()
    }
}
