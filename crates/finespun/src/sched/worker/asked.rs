//! The worker as the [`Scheduler`] that running code calls, above all when a guard check has tripped.

use std::time::{Duration, Instant};

use super::{FAIR, MESSAGES_IN_PLACE, RETRY, Reason, Worker};
use crate::atomics::Ordering;
use crate::frame::budget::{Budget, Room};
use crate::frame::context::{Cx, Hosting, Scheduler, Verdict};
use crate::frame::guard::Flags;
use crate::frame::{FrameRef, home};

/// Minimum pause after a promotion, as a multiple of its duration: fruitless requests cost 5% at most.
const PROMOTION_PAUSE: u32 = 20;

/// Longest time that a frame of a promotion counts for in that pause; most take a fifth.
const LONGEST_PER_FRAME: Duration = Duration::from_nanos(500);

impl Worker<'_> {
    /// Makes the next guard check trip if block-every-n is on or the machine is simulated. Called again after each trip,
    /// so every check trips.
    pub(super) fn arm_guard(&self) {
        if self.trips_always {
            self.context().front.guard.request(Flags::ATTENTION);
        }
    }

    fn leave(&self, reason: Reason) -> Verdict {
        self.leaving_for.set(reason);
        Verdict::Leave
    }

    /// Answers requests for work and for the handling of messages: decides whether the stack is unwound to frames.
    fn promote(&self, flags: Flags) -> Verdict {
        if self.cx.hosting() == Hosting::Visited && self.entry.host().waits() {
            // A visitor leaves messages to the worker's thread.
            return self.leave(Reason::Thief);
        }
        let served = self.serve();
        let verdict = self.promote_after_serving(flags.steal(), flags.beg(), served);
        if verdict == Verdict::Stay {
            self.publish_next();
        }
        verdict
    }

    /// Queues the frame that the last message has made ready.
    fn publish_next(&self) {
        if let Some(frame) = self.next.take() {
            self.publish(frame);
        }
    }

    /// The second half of `promote`. If a message has made a frame ready, it is the next one: to run first when the stack
    /// has been unwound, and else for any worker.
    fn promote_after_serving(&self, near: bool, beg: bool, served: bool) -> Verdict {
        if self.show() {
            return Verdict::Stay;
        }
        if !self.entry.deque.is_empty() && (self.give() || near && !served) {
            return Verdict::Stay;
        }
        if !near && !served && !beg {
            return Verdict::Stay;
        }
        let now = self.charged_now();
        if self.promote_after.get().is_some_and(|after| now < after) {
            return Verdict::Stay;
        }
        if !near && !served && !self.expects_to_give(now) {
            return Verdict::Stay;
        }
        self.left_at.set(Some((now, self.context().counters.frames.get())));
        self.context().counters.promotions.add(1);
        self.leave(Reason::Thief)
    }

    /// Moves the older half of this worker's ready closures to the deque, where thieves see them. Returns whether it
    /// moved any.
    pub(super) fn show(&self) -> bool {
        let shown = self.context().older_half_of_hidden();
        let any = !shown.is_empty();
        shown.into_iter().for_each(|closure| self.publish(closure));
        any
    }

    /// Handles pending messages on top of the stack; the handlers may use the reserve below the guard's limit. Returns
    /// whether the stack should be unwound: a message made a frame ready, or located frames wait until this worker's
    /// stack is empty. Does nothing while the worker handles messages or unwinds its stack.
    fn serve(&self) -> bool {
        let cx = self.cx;
        let host = self.entry.host();
        if self.handles.get() || cx.leaving() || !(host.waits() || host.holds()) {
            return false;
        }
        let (groups, node, may_forward) = (cx.pause_groups(), cx.node(), cx.set_may_forward(false));
        self.handle(MESSAGES_IN_PLACE);
        cx.set_may_forward(may_forward);
        // As in `work`.
        self.context().front.running.store(true, Ordering::Release);
        if cx.resume_groups(groups) {
            // The current group was terminated in the meantime, and a guard check of a handler may have consumed the
            // request: repeats it.
            self.context().front.guard.request(Flags::CANCEL);
            self.context().set_exhausted();
        }
        cx.enter_node(node);
        self.next.get().is_some() || !self.located.borrow().is_empty()
    }

    /// Returns the budget: the number of closures that may run one after the other before the worker's loop continues and
    /// looks for messages. A worker that waits for this one ends the session sooner, by the guard.
    pub(crate) fn frame_budget(&self) -> u32 {
        if self.simulator.is_some() {
            self.check_simulation();
            return 1;
        }
        let tick = self.tick.get();
        let turns = FAIR - tick % FAIR;
        // The `turns` count as turns of the loop, whose next one checks the injector first.
        self.tick.set(tick.wrapping_add(turns - 1));
        turns
    }

    /// Pops the youngest frame of this worker's deque, if it is a closure; `None` also if the deque is empty or a sweep is
    /// due.
    #[inline(never)]
    pub(crate) fn next_shown_closure(&self) -> Option<FrameRef> {
        if self.sweep_due() {
            return None;
        }
        let frame = self.deque().pop()?;
        // SAFETY: the frame is ready, and so live.
        if unsafe { frame.as_ref() }.vtable.call.is_some() {
            return Some(frame);
        }
        // For the worker's loop.
        self.deque().push(frame);
        None
    }

    /// Services the guard where a thread posts. The next check trips, too, so that the session ends.
    pub(crate) fn service_guard_in_thread(&self) {
        self.service_guard();
        self.context().front.guard.request(Flags::ATTENTION);
    }

    /// Services the guard at a point where the stack cannot be unwound. If a thief asks, publishes ready closures.
    pub(crate) fn service_guard(&self) {
        let context = self.context();
        context.counters.guard_trips.add(1);
        let flags = context.front.guard.take();
        if flags.scout() {
            self.team.idle.appoint_scout();
        }
        if flags.cancel() {
            context.pool().reclaim_once(&self.team.budget);
        }
        if flags.quantum() {
            context.counters.quanta.add(1);
        }
        if flags.steal() || flags.beg() {
            self.show();
        }
        if flags.beg() {
            self.notice_beggar();
        }
        self.arm_guard();
    }

    /// As [`service_guard`](Self::service_guard), before the worker's loop has its turn: threads that post nothing check no
    /// guard. On a simulated machine, where every check takes time, the loop's turn is enough.
    pub(crate) fn service_guard_in_turn(&self) {
        if self.simulator.is_none() {
            self.service_guard();
        }
    }

    /// Returns the time, on a simulated machine after all that the worker has done.
    fn charged_now(&self) -> Instant {
        if let Some(simulator) = self.simulator {
            simulator.charge(&self.context().counters);
        }
        self.now()
    }

    /// On a simulated machine, lets time pass at a guard check, where a processor also polls for messages.
    fn pass_time(&self) {
        let Some(simulator) = self.simulator else { return };
        self.check_simulation();
        self.team.poll_peers();
        if self.entry.host().any() {
            self.serve();
            self.publish_next();
        }
        while simulator.stalls() && self.entry.host().holds() && !self.handles.get() && !self.cx.leaving() {
            if self.entry.host().is_stuck() {
                simulator.wait(Some(RETRY));
            }
            self.serve();
            self.publish_next();
        }
    }

    /// On a simulated machine: charges this worker for what it has done, and lets others run.
    pub(crate) fn check_simulation(&self) {
        if let Some(simulator) = self.simulator {
            let core = self.cx.core();
            // SAFETY: the current frame is live.
            let frame = core.current.get().map(|frame| (unsafe { frame.as_ref() }.vtable.name)());
            simulator.check(&core.counters, frame);
        }
    }
}

impl Scheduler for Worker<'_> {
    fn tripped(&self, stack_pointer: usize) -> Verdict {
        let context = self.context();
        context.counters.guard_trips.add(1);
        let flags = context.front.guard.take();
        if self.trips_always {
            self.arm_guard();
            self.pass_time();
        }
        if flags.scout() {
            self.team.idle.appoint_scout();
        }
        if flags.cancel() {
            context.pool().reclaim_once(&self.team.budget);
        }
        if context.front.guard.overflows(stack_pointer) {
            context.counters.stack_limits.add(1);
            return self.leave(Reason::StackLimit);
        }
        if flags.cancel() && self.cx.is_terminated() {
            return self.leave(Reason::Cancelled);
        }
        if flags.quantum() {
            context.counters.quanta.add(1);
            return self.leave(Reason::Quantum);
        }
        if flags.asked() && self.promote(flags) == Verdict::Leave {
            return Verdict::Leave;
        }
        if self.block_now() { Verdict::Block } else { Verdict::Stay }
    }

    fn block_now(&self) -> bool {
        let every = self.team.config.block_every;
        if every == 0 {
            return false;
        }
        let count = (self.blocked.get() + 1) % every;
        self.blocked.set(count);
        count == 0
    }

    fn enter_node(&self, cx: Cx, node: u32) {
        self.entry.host().enter_node(cx, node);
    }

    fn send_pending_call(&self) {
        self.entry.host().send_pending_call(self.cx);
    }

    fn ready_last(&self, frame: FrameRef) {
        // SAFETY: a ready frame has not ended.
        match unsafe { home(frame) } {
            Some(node) => self.ready_at(node, frame),
            None => self.team.inject_last(frame),
        }
    }

    fn ready(&self, frame: FrameRef) {
        // SAFETY: a ready frame has not ended.
        if let Some(node) = unsafe { home(frame) } {
            return self.ready_at(node, frame);
        }
        if self.handles.get() {
            let Some(before) = self.next.replace(Some(frame)) else { return };
            return self.publish(before);
        }
        self.publish(frame);
    }

    fn now(&self) -> Instant {
        self.simulator.map_or_else(Instant::now, |simulator| simulator.now())
    }

    fn end_visits(&self) {
        self.team.end_visits();
    }

    fn exclude_from_pause(&self, took: Duration) {
        self.left_at.update(|at| at.map(|(at, frames)| (at + took, frames)));
    }

    fn allocated(&self, budget: &Budget, room: Room) {
        self.cx.memory_is_tight(budget, room);
    }

    fn publish_exposed(&self, exposed: &mut Vec<FrameRef>) {
        if self.leaving_for.get() == Reason::Quantum && !exposed.is_empty() {
            // Queues the preempted frame, the youngest, behind all others.
            let running = exposed.remove(0);
            self.ready_last(running);
            self.serve_roots_next();
        }
        // The list is youngest first, so this loop pushes the oldest frame first, at the stealing end.
        while let Some(frame) = exposed.pop() {
            self.ready(frame);
        }
        if let Some((start, frames)) = self.left_at.take() {
            let now = self.charged_now();
            let took = now - start;
            self.context().counters.promotion_ns.add(took.as_nanos() as u64);
            // The system may have stopped this thread meanwhile.
            let most = LONGEST_PER_FRAME * (self.context().counters.frames.get() - frames + 8) as u32;
            let took = if self.simulator.is_some() { took } else { took.min(most) };
            self.promote_after.set(Some(now + took * PROMOTION_PAUSE));
            self.give_after_promotion(now);
        }
    }
}
