//! A meeting of a fixed number of tasks.

use std::collections::VecDeque;
use std::panic::Location;

use super::waiter::{Operation, Party, Waiter, Waiters, block_on, grant_all, made_at, operation};
use crate::atomics::{Mutex, const_fn, lock};
use crate::frame::CallSite;
use crate::frame::leaf::Subject;

/// A barrier at which `n` tasks wait for each other, again and again.
///
/// The activities of a group meet cheaper, and without a count, by [`group::sync`](crate::group::sync).
///
/// A wait that is cancelled does not count: the barrier opens when `n` tasks wait at one time.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::sync::Barrier;
///
/// #[task]
/// async fn meet(barrier: &Barrier) -> usize {
///     usize::from(barrier.wait().await.is_leader())
/// }
///
/// #[task]
/// async fn leaders(barrier: &Barrier) -> usize {
///     reduce((0..10).map(|_| meet(barrier)), 0, |a, b| a + b).await
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run(leaders(&Barrier::new(5))), 2);
/// ```
///
/// *Cost*: a mutex held for a moment per wait; the last task to arrive resumes the others.
pub struct Barrier {
    n: usize,
    waiters: Mutex<Waiters<bool>>,
    made: CallSite,
}

impl Barrier {
    const_fn! {
        /// Creates a barrier for `n` tasks: one, if `n` is zero. Deadlock reports show where this was called.
        #[track_caller]
        pub fn new(n: usize) -> Barrier {
            Barrier { n, waiters: Mutex::new(Waiters::new()), made: Location::caller() }
        }
    }

    /// Waits until `n` tasks wait. The last one to arrive is the leader.
    #[track_caller]
    pub fn wait(&self) -> BarrierWait<'_> {
        BarrierWait { barrier: self, place: Location::caller() }
    }

    /// Blocks this plain thread until `n` parties wait.
    ///
    /// # Panics
    /// Inside a task.
    #[track_caller]
    pub fn blocking_wait(&self) -> BarrierWaitResult {
        block_on(self.wait())
    }

    /// Removes the other waiters if the caller is the last to arrive. Moves cancelled waiters to `cancelled`, which the
    /// caller must drop without holding the lock.
    fn complete(
        &self,
        waiters: &mut Waiters<bool>,
        cancelled: &mut VecDeque<Waiter<bool>>,
    ) -> Option<VecDeque<Waiter<bool>>> {
        if waiters.len() + 1 < self.n {
            return None;
        }
        *cancelled = waiters.prune();
        (waiters.len() + 1 >= self.n).then(|| waiters.take())
    }
}

impl Subject for Barrier {
    fn describe(&self) -> String {
        let made = made_at("Barrier", self.made);
        match self.waiters.try_lock() {
            Ok(waiters) => format!("{made} ({} of {} have arrived)", waiters.live(), self.n),
            Err(_) => made,
        }
    }
}

impl std::fmt::Debug for Barrier {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Barrier").field("n", &self.n).finish_non_exhaustive()
    }
}

/// The result of [`Barrier::wait`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BarrierWaitResult(bool);

impl BarrierWaitResult {
    /// Returns whether this task was the last to arrive. Each opening of the barrier has one leader.
    pub fn is_leader(&self) -> bool {
        self.0
    }
}

/// The operation returned by [`Barrier::wait`]: a task, and outside the tasks a std future.
#[must_use = "it does nothing until it is awaited"]
pub struct BarrierWait<'a> {
    barrier: &'a Barrier,
    place: CallSite,
}

// SAFETY: the subject is borrowed.
unsafe impl Operation for BarrierWait<'_> {
    type Output = BarrierWaitResult;
    /// Whether the waiter is the leader.
    type Grant = bool;
    type Back = ();
    const WANTED: &'static str = "";

    fn place(&self) -> CallSite {
        self.place
    }

    fn subject(&self) -> &(dyn Subject + '_) {
        self.barrier
    }

    fn try_now(&mut self, _: Party) -> Option<BarrierWaitResult> {
        let mut cancelled = VecDeque::new();
        let others = self.barrier.complete(&mut lock(&self.barrier.waiters), &mut cancelled)?;
        grant_all(others, || false);
        Some(BarrierWaitResult(true))
    }

    fn enqueue(&mut self, waiter: Waiter<bool>) {
        // Dropped after the lock is released.
        let mut cancelled = VecDeque::new();
        let mut waiters = lock(&self.barrier.waiters);
        if let Some(others) = self.barrier.complete(&mut waiters, &mut cancelled) {
            drop(waiters);
            grant_all(others, || false);
            // If the wait has been cancelled, the barrier opens without a leader.
            let _ = waiter.grant(true);
        } else {
            cancelled.append(&mut waiters.push(waiter));
        }
    }

    fn finish(&mut self, leader: bool) -> BarrierWaitResult {
        BarrierWaitResult(leader)
    }

    fn back(&self) {}
}

operation!(['a] BarrierWait<'a>);
