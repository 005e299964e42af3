//! A worker that a visitor uses: see [`visit`](crate::sched::visit).

use std::ptr::NonNull;
use std::sync::Arc;

use super::{Worker, run_frame};
use crate::atomics::Ordering;
use crate::cancel::runs::Run;
use crate::frame::FrameRef;
use crate::frame::context::{Hosting, Scheduler};
use crate::frame::guard::stack_pointer;
use crate::sched::park::{Left, Lent};
use crate::wait::foreign::OwnThread;

/// The number of searches in vain, of some 20 us each, after which a visitor leaves: about two wake-ups of its thread.
const SEARCHES: u32 = 5;

impl Worker<'_> {
    /// Returns whether a visitor may use the worker: nothing has been made at its nodes.
    pub(crate) fn admits(&self) -> bool {
        self.cx.hosting() == Hosting::Nothing
    }

    /// Runs `root`, the root of `run`, and then other frames, until the run has ended or there is nothing to do. Then parks the
    /// worker, or leaves it awake if it has work.
    ///
    /// # Safety
    /// Only the caller uses the worker until this returns. `root` is ready and in no queue.
    pub(crate) unsafe fn visited(&self, lent: &Lent<'_>, root: FrameRef, run: &Arc<Run>) {
        let cx = self.cx;
        let own = OwnThread::mark();
        self.context().front.guard.set_limit(stack_pointer().saturating_sub(self.team.config.stack_size));
        let entered = cx.enter();
        cx.set_hosting(Hosting::Visited);
        self.visitor.set(Some(NonNull::from(&**run)));
        let promotions = self.context().counters.promotions.get();
        // SAFETY: the caller guarantees that the root is ready and in no queue; the visitor is the worker.
        unsafe { self.go_on(root, run) };
        self.visitor.set(None);
        cx.set_hosting(Hosting::Nothing);
        let shared = self.context().counters.promotions.get() != promotions;
        // Relaxed: a hint. The load avoids writing to a shared cache line.
        if self.team.visits_share.load(Ordering::Relaxed) != shared {
            self.team.visits_share.store(shared, Ordering::Relaxed);
        }
        self.leave_visit(lent, run);
        drop(entered);
        drop(own);
    }

    /// Runs `root`, and then frames until `run` has ended or there is nothing to do: the worker's loop for visitors.
    ///
    /// # Safety
    /// `root` is ready and in no queue.
    #[inline(never)]
    unsafe fn go_on(&self, root: FrameRef, run: &Run) {
        let (team, cx, mut frame) = (&**self.team, self.cx, root);
        loop {
            // SAFETY: the caller guarantees it for the root, and `next` returns ready frames that are in no queue.
            unsafe { run_frame(cx, frame) };
            if !run.is_live() || team.visits_ended() || team.sweeps() != self.swept.get() {
                return;
            }
            let Some(next) = self.next().or_else(|| self.search(run)) else { return };
            // SAFETY: a ready frame has not ended.
            let group = unsafe { next.as_ref() }.group;
            let foreign = group != run.number && !team.groups.is_of(group, run.number);
            // Again: the frame may be a located one, which has been queued after the mark.
            if foreign || team.visits_ended() {
                return self.ready(next);
            }
            frame = next;
        }
    }

    /// Searches for a frame until `run` has ended, or some searches were in vain.
    #[cold]
    #[inline(never)]
    fn search(&self, run: &Run) -> Option<FrameRef> {
        for _ in 0..SEARCHES {
            if !self.look_around() || !run.is_live() || self.team.visits_ended() || self.sweep_due() {
                return None;
            }
            if let Some(frame) = self.next() {
                return Some(frame);
            }
        }
        None
    }

    /// Parks the worker, or leaves it awake if it has work.
    fn leave_visit(&self, lent: &Lent<'_>, run: &Run) {
        self.cx.leave_run();
        let host = self.entry.host();
        host.rest();
        let context = self.context();
        // Queues that the worker's loop has emptied before it idles.
        let left = context.hidden() > 0 || !self.located.borrow().is_empty() || self.next_is_set() || host.is_stuck();
        let runs = || run.is_live() || self.team.has_other_runs(run);
        context.counters.parks.add(1);
        match lent.park(runs, || left || self.work_visible() || self.sweep_due()) {
            Left::Work | Left::Nothing => {}
            Left::AllParked => {
                self.wake_for_messages();
                if runs() && self.team.look_for_deadlock() {
                    lent.withdraw();
                }
            }
        }
    }

    fn next_is_set(&self) -> bool {
        let next = self.next.take();
        self.next.set(next);
        next.is_some()
    }
}
