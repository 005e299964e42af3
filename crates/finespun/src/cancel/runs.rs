//! A run: everything started by one call of `Runtime::run` or `Runtime::spawn`.
//!
//! A run ends when its root and every task spawned in it have ended. When the root ends first, the remaining tasks are
//! cancelled. *Cancelling* marks the run. From then on the workers destroy its ready frames instead of polling them,
//! end its waiting leaves in their sweeps, and unwind its stacks to frames at the next guard check. So destruction
//! proceeds leaf first: a frame that waits for children is destroyed when its last child has ended (a waiter outlives
//! the frames that may borrow from it).

#[cfg(feature = "processes")]
use std::fmt;
use std::sync::PoisonError;
#[cfg(feature = "simulation")]
use std::time::Duration;

use crate::atomics::{AtomicBool, AtomicUsize, Condvar, Mutex, Ordering, lock};
use crate::frame::Payload;
use crate::frame::budget::FrameMemory;
use crate::frame::leaf::Waiting;

/// The serial of the next run.
static SERIAL: std::sync::atomic::AtomicU64 = std::sync::atomic::AtomicU64::new(0);

/// The state of one run.
pub(crate) struct Run {
    /// The run number: team and index.
    pub(crate) number: u32,
    /// The run's name in all processes of its runtime, where it may have other numbers. Not 0.
    pub(crate) name: u32,
    /// Differs from the serial of every other run of the process: numbers are used again.
    pub(crate) serial: u64,
    /// Counts the root and the spawned tasks that have not ended; workers that have not swept count too
    /// (see [`Run::cancel`]).
    live: AtomicUsize,
    /// Whether a thread of some runtime has begun the run.
    inner: bool,
    /// Another team waits for the end of this run before it reports a deadlock.
    watched: AtomicBool,
    /// Set once the root has been queued. Deadlock detection ignores the run until then.
    started: AtomicBool,
    /// The virtual time at which the root was queued, on a simulated machine.
    begun: std::sync::atomic::AtomicU64,
    cancelled: AtomicBool,
    /// After cancellation: the workers that have not swept yet, by index.
    unswept: Mutex<Vec<bool>>,
    /// The run has sent messages that no task waits for.
    posts: AtomicBool,
    /// The exit code with which a task has ended the run.
    exit: Mutex<Option<i32>>,
    /// First panic of a detached task or one-way call; reported when the run ends.
    failure: Mutex<Option<Payload>>,
    /// Waits that end when the run becomes quiescent.
    quiescence_waiters: Mutex<Vec<Waiting>>,
    /// The reason, if the run was ended because frames take too much memory.
    exhausted: Mutex<Option<FrameMemory>>,
    report: Mutex<Option<Report>>,
    end: Mutex<End>,
    bell: Condvar,
    /// Called when the run ends, for callers that do not block in `wait`.
    on_end: Mutex<Option<CompletionCallback>>,
}

/// The reason why the tasks of a run cannot end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Cause {
    Deadlock,
    /// A node of a simulated machine has died, at this virtual time.
    #[cfg(feature = "simulation")]
    NodeDied {
        node: usize,
        at: Duration,
    },
    /// Another process of the runtime has died.
    #[cfg(feature = "processes")]
    ProcessDied(ProcessDied),
}

/// A process of a runtime over several processes that has ended before the others.
#[cfg(feature = "processes")]
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
#[non_exhaustive]
pub struct ProcessDied {
    /// The number of the process, from 0.
    pub rank: usize,
    /// The number of processes.
    pub processes: usize,
    /// The system's number of the process.
    pub pid: u32,
}

#[cfg(feature = "processes")]
impl fmt::Display for ProcessDied {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ProcessDied { rank, processes, pid } = self;
        write!(
            f,
            "process {rank} of {processes} (pid {pid}) has died: it crashed, or was killed (by the system, if memory was short)"
        )
    }
}

/// The end of a run.
#[derive(Default)]
struct End {
    reached: bool,
    /// Whether a thread has waited for it.
    awaited: bool,
}

/// Why a run's tasks could not end, and a line for each of their waits.
pub(crate) struct Report {
    pub(crate) cause: Cause,
    pub(crate) waits: Vec<String>,
}

/// Completion callback: called once when the run ends. Runs user code.
pub(crate) type CompletionCallback = Box<dyn FnOnce() + Send>;

impl Run {
    /// Creates a run whose root is counted. `inner` says whether a thread of some runtime begins the run.
    pub(crate) fn new(number: u32, name: u32, inner: bool) -> Run {
        Run {
            number,
            name,
            // Relaxed: only the value counts.
            serial: SERIAL.fetch_add(1, Ordering::Relaxed),
            live: AtomicUsize::new(1),
            inner,
            watched: AtomicBool::new(false),
            started: AtomicBool::new(false),
            begun: std::sync::atomic::AtomicU64::new(0),
            cancelled: AtomicBool::new(false),
            unswept: Mutex::new(Vec::new()),
            posts: AtomicBool::new(false),
            exit: Mutex::new(None),
            failure: Mutex::new(None),
            quiescence_waiters: Mutex::new(Vec::new()),
            exhausted: Mutex::new(None),
            report: Mutex::new(None),
            end: Mutex::new(End::default()),
            bell: Condvar::new(),
            on_end: Mutex::new(None),
        }
    }

    /// Sets the completion callback.
    pub(crate) fn on_end(&self, body: impl FnOnce() + Send + 'static) {
        *lock(&self.on_end) = Some(Box::new(body));
    }

    /// Records that the root has been queued, at this virtual time.
    pub(crate) fn start(&self, begun: u64) {
        // Relaxed: ordered by the Release below.
        self.begun.store(begun, Ordering::Relaxed);
        // Release: a thread that sees this sees the root queued, or taken.
        self.started.store(true, Ordering::Release);
    }

    /// Returns the virtual time at which the root was queued.
    pub(crate) fn begun(&self) -> u64 {
        // Relaxed: a task of the run asks, after the root was queued.
        self.begun.load(Ordering::Relaxed)
    }

    /// Returns whether the run is under way: its root has been queued, and not all of its tasks have ended.
    pub(crate) fn under_way(&self) -> bool {
        // Acquire: pairs with the Release in `start`.
        self.started.load(Ordering::Acquire) && self.is_live()
    }

    /// Returns whether the run has not ended. The root may not have been queued yet.
    pub(crate) fn is_live(&self) -> bool {
        // Acquire: pairs with the Release in `leave`.
        self.live.load(Ordering::Acquire) > 0
    }

    /// Returns whether a thread of some runtime has begun the run.
    pub(crate) fn is_inner(&self) -> bool {
        self.inner
    }

    /// Requests that the end of the run triggers a deadlock examination. The caller must issue a SeqCst fence before it
    /// then checks whether the run is live.
    pub(crate) fn watch(&self) {
        // Relaxed: ordered by the fences of this caller and of `Team::end_run`.
        self.watched.store(true, Ordering::Relaxed);
    }

    /// Returns whether the end of the run must trigger a deadlock examination. The caller issues a fence after the end
    /// of the run and before this call.
    pub(crate) fn is_watched(&self) -> bool {
        // Relaxed: ordered by the fences, as in `watch`.
        self.watched.load(Ordering::Relaxed)
    }

    /// Counts one more task.
    pub(crate) fn enter(&self) {
        // Relaxed: the caller is a task of the run, or keeps the run from ending, so the count is not zero.
        self.live.fetch_add(1, Ordering::Relaxed);
    }

    /// Counts down for a task of the run that has ended and no longer uses anything that it borrowed. If the count
    /// becomes zero, ends the run and returns its completion callback.
    #[must_use]
    #[inline]
    pub(crate) fn leave(&self) -> Option<CompletionCallback> {
        // Release: this task's accesses come before the end. Acquire: the last task to end sees the accesses of all
        // others.
        if self.live.fetch_sub(1, Ordering::AcqRel) == 1 { self.end() } else { None }
    }

    #[cold]
    fn end(&self) -> Option<CompletionCallback> {
        // Their waits have been cancelled. Another team that examines this run may keep its record for a while, but no
        // frame of it.
        let waiters = std::mem::take(&mut *lock(&self.quiescence_waiters));
        drop(waiters);
        let callback = lock(&self.on_end).take();
        let mut end = lock(&self.end);
        end.reached = true;
        if end.awaited {
            // A system call, also if no thread waits.
            self.bell.notify_all();
        }
        callback
    }

    /// Marks the run by `mark`, which returns true for the first mark. If this is the first, the run has not ended, and
    /// `in_flight` returns true, the run ends only after each of `workers` workers has swept: a worker that is handling
    /// a message of the run is not counted in `live`, and may leave a frame behind. Then the run also counts `held`
    /// more, each until a [`leave`](Run::leave). Returns whether this is the first mark, and the completion callback if
    /// the run ends with this call.
    ///
    /// The call counts in `live` itself: otherwise the workers, which destroy the tasks of a marked run, could end the
    /// run before their sweeps are counted. If a worker in a task or message of the run calls this, the run does not
    /// end here: the task or the sweep is still counted.
    #[must_use]
    pub(crate) fn cancel(
        &self,
        workers: usize,
        held: usize,
        mark: impl FnOnce() -> bool,
        in_flight: impl FnOnce() -> bool,
    ) -> (bool, Option<CompletionCallback>) {
        // Relaxed, here and below: the count does not become zero; the `leave` that makes it zero provides the
        // ordering.
        let grow = |live: usize| (live > 0).then_some(live + 1);
        let live = self.live.fetch_update(Ordering::Relaxed, Ordering::Relaxed, grow).is_ok();
        let first = mark();
        if !live {
            return (first, None);
        }
        if first && in_flight() {
            // Counted before a sweep can count down: both are under the lock.
            let mut unswept = lock(&self.unswept);
            self.live.fetch_add(workers + held, Ordering::Relaxed);
            *unswept = vec![true; workers];
        }
        (first, self.leave())
    }

    /// Records that `worker` has swept. If it was the last count of the run, ends the run and returns the completion
    /// callback.
    #[must_use]
    pub(crate) fn swept(&self, worker: usize) -> Option<CompletionCallback> {
        let first = lock(&self.unswept).get_mut(worker).is_some_and(std::mem::take);
        if first { self.leave() } else { None }
    }

    /// Returns whether anything of the run besides the caller may be left: another task, or a one-way message.
    pub(crate) fn others(&self) -> bool {
        // Acquire: pairs with the Release in `leave`. Relaxed: a task that has ended has set `posts` before its
        // `leave`, so the Acquire orders this load.
        self.live.load(Ordering::Acquire) > 1 || self.posts.load(Ordering::Relaxed)
    }

    /// Returns whether the run has sent a message that no task waits for, as far as the caller knows.
    pub(crate) fn has_posted(&self) -> bool {
        // Relaxed: a sender sees its own store.
        self.posts.load(Ordering::Relaxed)
    }

    /// Records that the caller is about to send a message that no task waits for and `live` does not count: it may be
    /// left when the root ends.
    #[inline]
    pub(crate) fn posts(&self) {
        // Relaxed, both: see `others`. The load avoids writing to a shared cache line.
        if !self.posts.load(Ordering::Relaxed) {
            self.posts.store(true, Ordering::Relaxed);
        }
    }

    /// Records the panic of a detached task or one-way call. Returns true for the first such panic of a run that is not
    /// cancelled; the caller then cancels the run. Any other payload is dropped.
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

    /// Takes the recorded panic of a detached task or one-way call.
    pub(crate) fn failure(&self) -> Option<Payload> {
        lock(&self.failure).take()
    }

    /// Sets the exit code of the run, unless one is set or the run is cancelled. The caller then cancels the run.
    pub(crate) fn exit(&self, code: i32) {
        let mut exit = lock(&self.exit);
        if !self.is_cancelled() {
            exit.get_or_insert(code);
        }
    }

    /// Returns the exit code that a task has set.
    pub(crate) fn exit_code(&self) -> Option<i32> {
        *lock(&self.exit)
    }

    /// Registers a wait that ends when the run becomes quiescent.
    pub(crate) fn await_quiescence(&self, k: Waiting) {
        lock(&self.quiescence_waiters).push(k);
    }

    /// Called when no task of the run can continue and `leaves` of its leaves have waiters. If these are exactly the
    /// leaves of the quiescence waiters, takes and returns those; otherwise returns an empty vector.
    pub(crate) fn take_quiescence_waiters(&self, leaves: usize) -> Vec<Waiting> {
        let mut quiescence_waiters = lock(&self.quiescence_waiters);
        let waiting = quiescence_waiters.iter().filter(|waiting| !waiting.is_cancelled()).count();
        if waiting == leaves || mutated!(EarlyQuiescence) && waiting > 0 && waiting + 1 == leaves {
            std::mem::take(&mut *quiescence_waiters)
        } else {
            Vec::new()
        }
    }

    /// Returns the number of tasks that wait for the run's quiescence.
    pub(crate) fn quiescence_waiters(&self) -> usize {
        lock(&self.quiescence_waiters).iter().filter(|waiting| !waiting.is_cancelled()).count()
    }

    /// Returns the length of the list of waits for quiescence. Later waits are added at its end.
    pub(crate) fn quiescence_list(&self) -> usize {
        lock(&self.quiescence_waiters).len()
    }

    /// Takes the first `count` waits of that list: the run is quiescent.
    pub(crate) fn take_first_quiescence_waiters(&self, count: usize) -> Vec<Waiting> {
        let mut waiters = lock(&self.quiescence_waiters);
        let count = count.min(waiters.len());
        waiters.drain(..count).collect()
    }

    /// Blocks the thread until the run has ended.
    pub(crate) fn wait(&self) {
        let mut end = lock(&self.end);
        while !end.reached {
            end.awaited = true;
            end = self.bell.wait(end).unwrap_or_else(PoisonError::into_inner);
        }
    }

    /// Marks the run as cancelled. Returns false if it was marked already. The caller that marks it first must also
    /// make the workers sweep.
    #[must_use]
    pub(crate) fn mark_cancelled(&self) -> bool {
        // Release: a thread that sees the mark sees what led to it.
        !self.cancelled.swap(true, Ordering::Release)
    }

    /// Marks the run as cancelled because its tasks cannot end, and begins the report of their waits, to which
    /// [`describe`](Run::describe) adds lines. Returns whether the run was not cancelled before.
    #[must_use]
    pub(crate) fn mark_given_up(&self, cause: Cause) -> bool {
        // Marked under the lock: a run that was cancelled before ends for that reason, without a report.
        let mut report = lock(&self.report);
        let first = self.mark_cancelled();
        if first {
            *report = Some(Report { cause, waits: Vec::new() });
        }
        first
    }

    /// Marks the run as cancelled because its frames take too much memory. Returns false if it was cancelled already,
    /// for any reason.
    #[must_use]
    pub(crate) fn mark_exhausted(&self, error: FrameMemory) -> bool {
        let mut exhausted = lock(&self.exhausted);
        let first = self.mark_cancelled();
        if first {
            *exhausted = Some(error);
        }
        first
    }

    /// Returns whether the run waits for a sweep of `worker`.
    pub(crate) fn awaits_sweep(&self, worker: usize) -> bool {
        lock(&self.unswept).get(worker).is_some_and(|unswept| *unswept)
    }

    /// Returns whether the run is out of frame memory, so that each worker counts its frames of the run in its sweep.
    pub(crate) fn counts_frames(&self) -> bool {
        lock(&self.exhausted).is_some()
    }

    /// Adds frames that a worker has found, counted by the name of the body's type.
    pub(crate) fn add_frames(&self, found: &[(&'static str, usize)]) {
        if let Some(error) = &mut *lock(&self.exhausted) {
            error.frames += found.iter().map(|(_, count)| count).sum::<usize>();
            // Most often all frames are in one worker's pool, so the largest count of one pool is good enough.
            let tasks = found.iter().filter_map(|&(body, count)| Some((crate::frame::origin::task_name(body)?, count)));
            error.most = tasks.chain(error.most).max_by_key(|(_, count)| *count);
        }
    }

    /// Returns the memory error, if the run was ended because frames take too much memory.
    pub(crate) fn exhausted(&self) -> Option<FrameMemory> {
        if !self.is_cancelled() {
            return None;
        }
        let mut error = lock(&self.exhausted).clone()?;
        // Some frames may have been destroyed before the workers counted: the chain alone has `depth + 1`.
        error.frames = error.frames.max(error.depth + 1);
        Some(error)
    }

    pub(crate) fn is_cancelled(&self) -> bool {
        // Acquire: pairs with the Release in `mark_cancelled`.
        self.cancelled.load(Ordering::Acquire)
    }

    /// Adds a line to the report, if the run has one.
    pub(crate) fn describe(&self, line: impl FnOnce() -> String) {
        if let Some(report) = &mut *lock(&self.report) {
            report.waits.push(line());
        }
    }

    /// Collects the lines that `describe` adds to a report, without cancelling the run.
    pub(crate) fn lines(&self, describe: impl FnOnce()) -> Vec<String> {
        let before = lock(&self.report).replace(Report { cause: Cause::Deadlock, waits: Vec::new() });
        describe();
        let mut report = lock(&self.report);
        match &*report {
            // Another thread has given the run up since.
            Some(Report { cause, .. }) if *cause != Cause::Deadlock => Vec::new(),
            _ => std::mem::replace(&mut *report, before).map(|report| report.waits).unwrap_or_default(),
        }
    }

    /// Takes the report of a run that could not go on.
    pub(crate) fn report(&self) -> Option<Report> {
        lock(&self.report).take()
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, explore, thread};

    /// A task outside the run cancels it; the root, which has sent a one-way message, ends; a worker handles the
    /// message.
    #[test]
    fn a_run_ends_after_its_messages() {
        explore(2, || {
            let run = Arc::new(Run::new(0, 1, false));
            let cancel = |run: &Run| drop(run.cancel(1, 0, || run.mark_cancelled(), || true));
            let outside = Arc::clone(&run);
            let outside = thread::spawn(move || cancel(&outside));
            let root = Arc::clone(&run);
            let root = thread::spawn(move || {
                cancel(&root);
                drop(root.leave());
            });
            // The message is handled only if the run is not marked.
            if !run.is_cancelled() {
                thread::yield_now();
                assert!(!lock(&run.end).reached, "a run ends while one of its messages is handled");
            }
            // The sweep may come before the cancellation asks for it; then another one follows.
            drop(run.swept(0));
            outside.join().unwrap();
            root.join().unwrap();
            drop(run.swept(0));
            assert!(lock(&run.end).reached);
        });
    }
}
