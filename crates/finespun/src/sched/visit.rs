//! Visits: a thread that calls `Runtime::run` runs the root itself, as a worker.
//!
//! A caller that handed its root to a worker would wait for two wake-ups, the worker's and its own: tens of microseconds, more
//! than many jobs take. So it borrows a parked worker whose thread waits ([`Idle::lend`](super::park::Idle::lend)): the
//! worker's deque, frames, nodes and counters. Other workers notice no difference. The visitor leaves when its run has ended,
//! or when it has found nothing to do for about as long as two wake-ups take; then it parks the worker, or wakes the worker's
//! thread if there is something left to do.
//!
//! A visitor runs frames of its own run only: the calling thread may hold locks for which a task of another run waits, and that
//! task may run for long. When it finds another frame, or something must be swept, it makes that ready again and leaves.
//!
//! Objects and their methods' locals need not be `Send`: they belong to the thread of their node's worker. So a visitor makes no
//! object and handles no message ([`Cx::may_host`](crate::frame::context::Cx::may_host)): it sends a message to the worker that it
//! uses, and leaves. From then on the team has no visitors any more.
//!
//! A visitor runs on a stack of its own, as large as the workers': the caller's may have 2 MiB, and a program must not
//! depend on which thread runs a task. The thread keeps the stack until it ends.
//!
//! Waking another worker, which could take a share, is a system call of some microseconds. A visit wakes one if the last
//! visit has shared work, or if there is no scout, which asks from time to time.
//!
//! No visits take place on simulated machines, in runtimes over several processes, and where threads matter: with workers that
//! are bound to cores, or that the program prepares (`Builder::on_worker_start`). Nor if no worker is parked. Then the root is
//! queued for the workers.

use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::AtomicPtr;

use corosensei::on_stack;
use corosensei::stack::{DefaultStack, Stack};

use super::team::Team;
use super::worker::{AbortOnUnwind, Worker};
use crate::atomics::Ordering;
use crate::cancel::runs::Run;
use crate::frame::{FrameRef, STACK_RESERVE};

thread_local! {
    /// The stack of this thread's last visit.
    static STACK: Cell<Option<DefaultStack>> = const { Cell::new(None) };
}

/// Returns a stack of at least `bytes`, if there is memory for it.
fn take_stack(bytes: usize) -> Option<DefaultStack> {
    let room = |stack: &DefaultStack| stack.base().get() - stack.limit().get();
    // A visit on top of another one, in a blocking call, needs a second stack.
    let kept = STACK.try_with(Cell::take).ok().flatten();
    kept.filter(|stack| room(stack) >= bytes).or_else(|| DefaultStack::new(bytes).ok())
}

/// The address of a worker, for visitors.
#[derive(Default)]
pub(crate) struct Door(AtomicPtr<Worker<'static>>);

impl Door {
    /// Lets visitors use `worker`, while its thread waits.
    pub(super) fn open(&self, worker: &Worker<'_>) {
        // Relaxed: the idling mutex orders this store before a visit.
        self.0.store(std::ptr::from_ref(worker).cast::<Worker<'static>>().cast_mut(), Ordering::Relaxed);
    }
}

impl Team {
    /// Returns whether visitors must leave.
    pub(super) fn visits_ended(&self) -> bool {
        // Relaxed: a hint.
        self.visits_end.load(Ordering::Relaxed)
    }

    /// Runs the root of `run` on this thread until the run has ended or there is nothing to do.
    ///
    /// # Errors
    /// Returns the root if no worker can be visited.
    ///
    /// # Safety
    /// The frame is the root of `run`, ready, and in no queue.
    pub(crate) unsafe fn visit(self: &Arc<Team>, root: FrameRef, run: &Arc<Run>) -> Result<(), FrameRef> {
        if !self.config.visits || self.visits_ended() || self.simulator.is_some() || self.peers.is_some() {
            return Err(root);
        }
        // Relaxed: a hint.
        let Some(lent) = self.idle.lend(self.visits_share.load(Ordering::Relaxed)) else { return Err(root) };
        let Some(mut stack) = take_stack(self.config.stack_size.saturating_add(STACK_RESERVE)) else {
            return Err(root);
        };
        // Relaxed: see `open`.
        let worker = self.workers[lent.worker()].door.0.load(Ordering::Relaxed);
        // SAFETY: the worker has opened its door before its thread first waited, and lives on the stack of that thread, which
        // waits until the worker is given back.
        let worker = unsafe { &*worker };
        if !worker.admits() {
            return Err(root);
        }
        run.start(0);
        let alive = AbortOnUnwind;
        on_stack(&mut stack, || {
            // SAFETY: as long as the worker is lent, only this thread uses it. The caller guarantees the rest.
            unsafe { worker.visited(&lent, root, run) };
        });
        std::mem::forget(alive);
        drop(lent);
        // Fails while the thread ends.
        let _ = STACK.try_with(|kept| kept.set(Some(stack)));
        Ok(())
    }
}
