//! Frames for other processes.
//!
//! A worker of a process without work *begs* a running worker of another process: it leaves its name there and requests
//! the guard ([`Front`](crate::frame::front::Front)). The other answers at its next check, as it answers thieves of its own process: from its
//! deque, or after it has unwound its stack to frames. It cannot give its frames away, which hold addresses. It sends the
//! *tasks* of frames that have not begun, if they are portable, and lets each frame wait for its tasks' results
//! ([`VTable::migrate`](crate::frame::VTable)). So results, panics, groups and cancellation need nothing further. A closure of a
//! portable thread leaves as a whole.
//!
//! It gives every second of these frames, beginning with the oldest, in a recursion the largest: about half of the work,
//! whether the frames are of one size or of many. A process that has got frames gives in the same way when it is asked.

use std::cell::Cell;
use std::time::{Duration, Instant};

use super::{AbortOnUnwind, Worker};
use crate::frame::FrameRef;
use crate::frame::context::Scheduler;
use crate::frame::guard::Flags;

/// The most frames that one beggar gets at once.
const MOST: usize = 32;

/// The pause after an answer, as a multiple of its duration: so begging costs the worker that is asked a fifth at most, also
/// if the tasks are shorter than their messages.
const PAUSE: u32 = 4;

/// The pause after an attempt that has left nothing to give: at first, and at most. It doubles each time.
const SHORTEST: Duration = Duration::from_millis(1);
const LONGEST: Duration = Duration::from_millis(100);

/// The state of a worker as a beggar, and as one that is begged.
#[derive(Default)]
pub(super) struct Begging {
    /// The worker that this one has asked last.
    asked: Cell<Option<u32>>,
    /// After an attempt, or a promotion for a beggar, that has left nothing to give: no further one before this time, and the
    /// pause.
    barren: Cell<Option<(Instant, Duration)>>,
    /// Whether the last attempt has given any.
    fruitful: Cell<bool>,
    /// No answer before this time.
    after: Cell<Option<Instant>>,
    /// A beggar was noticed where a closure's thread posts or ends: it is answered between two frames, since encoders of
    /// arguments are the program's code.
    noticed: Cell<bool>,
}

impl Worker<'_> {
    /// Asks a worker of another process for work. Returns whether it has asked one.
    pub(super) fn beg(&self) -> bool {
        let Some(peers) = &self.team.peers else { return false };
        let asked = peers.beg(self.index, self.begging.asked.get(), self.random());
        self.begging.asked.set(asked);
        asked.is_some()
    }

    /// Makes the workers of other processes that this one may wait for handle their messages.
    pub(super) fn nudge(&self) {
        if let Some(peers) = &self.team.peers {
            self.entry.host().awaited(&mut |worker| peers.nudge(worker));
        }
    }

    /// Called when this worker has found work.
    pub(super) fn stop_begging(&self) {
        if let (Some(asked), Some(peers)) = (self.begging.asked.take(), &self.team.peers) {
            peers.stop_begging(self.index, asked);
        }
    }

    /// Returns whether an attempt to give, or a promotion for it, may be worth it now.
    pub(super) fn expects_to_give(&self, now: Instant) -> bool {
        let barren = self.begging.barren.get().is_some_and(|(until, _)| now < until);
        !barren && self.begging.after.get().is_none_or(|after| now >= after)
    }

    /// Notes that a beggar waits for an answer.
    pub(super) fn notice_beggar(&self) {
        self.begging.noticed.set(true);
    }

    /// Answers a beggar that has been noticed. Called between two frames.
    #[inline]
    pub(super) fn give_if_noticed(&self) {
        if self.begging.noticed.get() {
            self.give_between_frames();
        }
    }

    /// Gives some of several frames: the only one would come back as soon as this worker begs.
    #[cold]
    fn give_between_frames(&self) {
        self.begging.noticed.set(false);
        let alive = AbortOnUnwind;
        let (now, frames) = (self.now(), self.entry.deque.len() + self.context().hidden());
        if frames > 1 && self.entry.front().beggar().is_some() && self.expects_to_give(now) {
            if self.entry.deque.is_empty() {
                // A thief of this process has taken those that were shown.
                self.show();
            }
            self.give_without_stack(now);
        }
        std::mem::forget(alive);
    }

    /// Gives some frames to a beggar, and pauses if there is nothing to give.
    fn give_without_stack(&self, now: Instant) {
        self.begging.fruitful.set(false);
        // Nothing keeps the run of the last frame from ending: the worker leaves it.
        self.cx.leave_run();
        self.give();
        self.cx.leave_run();
        let pause = (!self.begging.fruitful.get()).then(|| {
            let before = self.begging.barren.get().map_or(SHORTEST / 2, |(_, pause)| pause);
            let pause = (before * 2).min(LONGEST);
            (now + pause, pause)
        });
        self.begging.barren.set(pause);
    }

    /// Called after the stack has been unwound to frames: gives some to a beggar, if there is one.
    #[cold]
    pub(super) fn give_after_promotion(&self, now: Instant) {
        if self.entry.front().beggar().is_none() {
            return;
        }
        self.give_without_stack(now);
    }

    /// Gives every second of the frames in the deque that another process can run, from the oldest on, to the worker that
    /// begs, if one does. Returns whether it has given any.
    pub(super) fn give(&self) -> bool {
        let Some(peers) = &self.team.peers else { return false };
        let Some(to) = self.entry.front().beggar() else { return false };
        if self.handles.get() || self.cx.leaving() || !peers.is_elsewhere(to) {
            return false;
        }
        let start = self.now();
        if self.begging.after.get().is_some_and(|after| start < after) {
            return false;
        }
        let mut frames = Vec::new();
        while let Some(frame) = self.deque().pop() {
            frames.push(frame);
        }
        // SAFETY: a ready frame is live, and this worker alone has it.
        let portable = |frame: &&FrameRef| unsafe { frame.as_ref() }.vtable.migrate.is_some();
        let mut left = frames.iter().filter(portable).count().div_ceil(2).min(MOST);
        let before = left;
        let cx = self.cx;
        let (groups, node, may_forward) = (cx.pause_groups(), cx.node(), cx.set_may_forward(false));
        let mut gives = true;
        for frame in frames.into_iter().rev() {
            // Not more than there is room for: the beggar asks again when it has received them.
            if left > 0 && gives && !self.entry.host().holds() && self.send_tasks(frame, to) {
                (left, gives) = (left - 1, false);
            } else {
                // SAFETY: as above.
                gives |= unsafe { frame.as_ref() }.vtable.migrate.is_some();
                self.publish(frame);
            }
        }
        cx.set_may_forward(may_forward);
        if cx.resume_groups(groups) {
            // The current group was terminated in the meantime: repeats a request that may have been consumed.
            self.context().front.guard.request(Flags::CANCEL);
            self.context().set_exhausted();
        }
        cx.enter_node(node);
        let gave = left < before;
        self.begging.fruitful.set(gave);
        if gave {
            // The beggar gets the frames even if it has taken its request back meanwhile.
            let _ = self.entry.front().answer(to);
            let now = self.now();
            self.begging.after.set(Some(now + (now - start) * PAUSE));
        }
        gave
    }

    /// Sends the tasks of a ready frame that only this worker has. Returns false, and does nothing, if there are none or
    /// they are portable to no other process.
    fn send_tasks(&self, frame: FrameRef, to: u32) -> bool {
        let cx = self.cx;
        // SAFETY: the frame is live.
        let (table, group) = unsafe { (frame.as_ref().vtable, frame.as_ref().group) };
        let Some(migrate) = table.migrate else { return false };
        if cx.enter_frame(group) {
            // It will be cancelled.
            return false;
        }
        cx.leave_node();
        // SAFETY: the frame is ready, in no queue, and this worker is in its group; the function is from its own table.
        let tasks = unsafe { migrate(frame, cx, to) };
        if tasks > 0 {
            self.context().counters.frames_migrated.add(1);
            self.context().counters.tasks_migrated.add(tasks as u64);
        }
        tasks > 0
    }
}
