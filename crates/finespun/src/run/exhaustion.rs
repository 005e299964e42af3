//! A worker's response to a lack of memory for frames: see [`budget`](crate::frame::budget).

use super::membership::cancelled;
use super::running::chain;
use crate::atomics::Ordering;
use crate::cancel::teams;
use crate::frame::budget::{Budget, FrameMemory, Room};
use crate::frame::context::Cx;
use crate::frame::{FrameRef, pool};

impl Cx {
    /// Handles an allocation after which memory is scarce: reclaims pages, and ends a run if that is not enough.
    #[cold]
    #[inline(never)]
    pub(crate) fn memory_is_tight(self, budget: &Budget, room: Room) {
        let context = self.context();
        match room {
            Room::Enough => {}
            Room::Tight { ask } => {
                if ask {
                    context.team().sweep();
                }
                context.pool().reclaim_once(budget);
            }
            Room::Over => self.memory_is_out(budget),
        }
    }

    /// Handles an allocation above the limit: ends a run, unless the pools give enough pages back.
    fn memory_is_out(self, budget: &Budget) {
        let context = self.context();
        let Some(run) = budget.growing(self.run(), teams::find_run) else { return };
        let own = run.number == self.run();
        if run.is_cancelled() {
            if own {
                context.set_exhausted();
            }
            return;
        }
        let mut asked = Vec::new();
        if budget.is_shared() {
            asked = teams::reclaim();
            pool::reclaim_idle();
        } else {
            budget.reclaim();
            context.team().sweep();
        }
        let bytes = budget.used_at_last(&asked, || context.pool().reclaim_once(budget));
        if bytes <= budget.limit() || run.is_cancelled() {
            return;
        }
        // SAFETY: `current` is a frame that runs on this worker, so it is live.
        let of_run = |frame: &FrameRef| own && self.is_in_run_of(unsafe { frame.as_ref() }.group);
        // SAFETY: `current` is a task's frame that runs on this worker; it is `None` while closures run.
        let (task, depth) = context.current.get().filter(of_run).map_or((None, 0), |frame| unsafe { chain(frame) });
        let most = budget.growing_task(run.number).map(|task| (task, 0));
        teams::exhaust(&run, FrameMemory { task, depth, most, frames: 0, bytes, limit: budget.limit() });
    }

    /// Ends a task that keeps spawning, or a closure's thread that keeps making closures, although its run has been
    /// cancelled for lack of memory: such code may never reach a guard check.
    ///
    /// # Panics
    /// If the worker's `exhausted` flag is set, and the current run has been cancelled or the current group terminated.
    #[inline]
    pub(crate) fn check_exhausted(self) {
        #[cold]
        #[inline(never)]
        fn check(cx: Cx) {
            // Cleared before the check: a thread that ends a run sets the flag after it has marked the run.
            cx.context().exhausted.swap(false, Ordering::Acquire);
            if cx.is_terminated() {
                cx.context().set_exhausted();
                cancelled("the run is out of frame memory");
            }
        }
        // Relaxed: a hint; `check` reads the flag again, with Acquire.
        if self.context().exhausted.load(Ordering::Relaxed) {
            check(self);
        }
    }
}
