//! A part of a loop that has become a frame: the activities it still has to begin, and the children it waits for.
//!
//! The frame of the construct holds the first part. A part is a [`Loop`]. When the stack is unwound to frames while
//! activities remain, the part moves half of them to a new part, a ready frame that a thief can take and split again.
//! So a loop over a million activities splits as often as a thief asks for work, at the cost of two frames per split.
//!
//! A part waits for all its children together, but must react at once when an activity ends the group. So the callback
//! `on_child_complete` runs for each activity that ends while the part waits, and takes breaks and panics only. The
//! part stores the values when all children have ended.

use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr::NonNull;

use super::activities::Activities;
use super::descriptor::{Delivers, Descriptor, End};
use super::ends::How;
use crate::call::outcome::{Child, Outcome};
use crate::call::{Task, call_guarded, sealed};
use crate::cancel::groups::Policy;
use crate::frame::context::Cx;
use crate::frame::origin::pack;
use crate::frame::slot::Status;
use crate::frame::{BodyFrame, Delivered, FrameRef, VTable, drop_quietly, payload_ptr, result_ptr};
use crate::iterate::engine::{Engine, Loop, Turn};
use crate::run::membership::Inside;

/// The most activities of a part that one process gets at once.
const ELSEWHERE: u64 = 16;

/// Number of outstanding children at which a part first collects the ended ones.
const LOOK: usize = 1024;

/// A child that a part waits for.
enum Out<A: Activities, H: How<Delivers<A>>> {
    Activity(u64, Child<A::Task>),
    Part(Child<PartTask<A, H>>),
}

/// A range of activities to begin and the children to wait for.
pub(super) struct Part<A: Activities, H: How<Delivers<A>>> {
    /// The loop's descriptor, which outlives the part.
    descriptor: NonNull<Descriptor<A, H>>,
    /// The range of activities that have not been begun.
    next: u64,
    end: u64,
    /// How the part acquires more activities from the descriptor. Under `Steal` it acquires none.
    policy: Policy,
    out: Vec<Out<A, H>>,
    /// Set when the part registered as the waiter of all outstanding children and has not run since.
    waited: bool,
    /// Number of outstanding children at which the part next collects the ended ones.
    look_at: usize,
}

// SAFETY: activities are made on any worker from data that is `Sync`. Their outputs are `Send`, as the functions that
// make constructs demand; so are the values and breaks within the outputs: see `Ends`.
unsafe impl<A: Activities, H: How<Delivers<A>>> Send for Part<A, H> {}

impl<A: Activities, H: How<Delivers<A>>> Part<A, H> {
    /// Makes a part for the activities `next..end`.
    ///
    /// # Safety
    /// The descriptor outlives the part.
    pub(super) unsafe fn new(descriptor: NonNull<Descriptor<A, H>>, next: u64, end: u64) -> Part<A, H> {
        Part { descriptor, next, end, policy: Policy::Steal, out: Vec::new(), waited: false, look_at: LOOK }
    }

    /// Makes a ready part for each worker, but no more parts than activities; these parts acquire their activities from
    /// the descriptor. Returns a part without activities of its own, which waits for them.
    ///
    /// # Safety
    /// The descriptor outlives the parts.
    pub(super) unsafe fn distributed(
        cx: Cx,
        descriptor: NonNull<Descriptor<A, H>>,
        group: u32,
        policy: Policy,
    ) -> Part<A, H> {
        // SAFETY: the caller guarantees that the descriptor is live.
        let count = unsafe { descriptor.as_ref() }.count;
        // SAFETY: the caller guarantees that the descriptor outlives the parts.
        let empty = || unsafe { Part::new(descriptor, count, count) };
        let mut whole = empty();
        for _ in 0..count.min(u64::from(cx.core().workers.get())) {
            let part = Part { policy, ..empty() };
            let frame = BodyFrame::of_group(cx, group, Engine::new(part), Self::TABLE);
            // Queued behind all ready frames, so that frames of older groups run first.
            cx.make_ready_last(frame);
            whole.out.push(Out::Part(Child::new(frame)));
        }
        whole
    }

    /// Adds activity `k`, which has been begun and has suspended as `child`.
    pub(super) fn begun(&mut self, k: u64, child: Child<A::Task>) {
        self.out.push(Out::Activity(k, child));
    }

    fn descriptor<'a>(&self) -> &'a Descriptor<A, H> {
        // SAFETY: the caller of `new` guarantees that the descriptor outlives the part.
        unsafe { self.descriptor.as_ref() }
    }

    /// Removes and returns the outstanding children that have ended.
    fn ended(&mut self) -> impl Iterator<Item = Out<A, H>> {
        self.out.extract_if(.., |out| match out {
            Out::Activity(_, child) => child.ended(),
            Out::Part(child) => child.ended(),
        })
    }

    /// Collects the children that have ended. `counted` says that `on_child_complete` has run for all of them, so that
    /// the barrier has already counted them.
    fn take_in(&mut self, counted: bool) {
        let descriptor = self.descriptor();
        let mut left = 0;
        for out in self.ended() {
            let (k, child) = match out {
                Out::Activity(k, child) => (k, child),
                Out::Part(child) => {
                    match child.deliver() {
                        // The part has stored the values of its activities itself.
                        Delivered::Value(()) => {}
                        Delivered::Panic(payload) => descriptor.end(End::Panic(payload)),
                        Delivered::Cancelled => descriptor.activity_destroyed(),
                    }
                    continue;
                }
            };
            match child.deliver() {
                Delivered::Value(output) => match H::branch(output) {
                    ControlFlow::Continue(value) => {
                        // SAFETY: activity `k` has ended with this value, and its child is taken out once.
                        unsafe { descriptor.put(k, value) };
                        left += 1;
                    }
                    ControlFlow::Break(end) => descriptor.end(End::Break(end)),
                },
                Delivered::Panic(payload) => descriptor.end(End::Panic(payload)),
                Delivered::Cancelled => descriptor.activity_destroyed(),
            }
        }
        if !counted {
            descriptor.count_ended(left);
        }
    }

    /// Begins activities until one suspends or ends the group, or none is left.
    fn run(&mut self, cx: Cx) {
        let descriptor = self.descriptor();
        let mut left = 0;
        let (next, end) = (&mut self.next, self.end);
        let suspended = catch_unwind(AssertUnwindSafe(|| {
            while *next < end {
                let k = *next;
                *next += 1;
                // SAFETY: `next` advances past `k`, so each activity is made once.
                let task = unsafe { descriptor.activities.activity(k) };
                // SAFETY: `cx` is the current worker's. A suspended child is kept in `out` and awaited.
                let output = unsafe { call_guarded(cx, task) }.open().map_err(|child| (k, child))?;
                match H::branch(output) {
                    ControlFlow::Continue(value) => {
                        // SAFETY: activity `k` has just ended; its value is stored once.
                        unsafe { descriptor.put(k, value) };
                        left += 1;
                    }
                    ControlFlow::Break(value) => {
                        descriptor.end(End::Break(value));
                        break;
                    }
                }
            }
            Ok(())
        }));
        match suspended {
            Ok(Ok(())) => {}
            Ok(Err((k, child))) => {
                cx.send_pending_call();
                self.out.push(Out::Activity(k, child));
            }
            Err(payload) => descriptor.end(End::Panic(pack(payload))),
        }
        descriptor.count_ended(left);
    }

    /// Collects the children that have ended if there are many.
    fn look(&mut self) {
        if self.out.len() >= self.look_at {
            self.take_in(false);
            self.look_at = LOOK.max(2 * self.out.len());
        }
    }

    /// Acquires activities from the descriptor. Returns false if none is left.
    fn take(&mut self, cx: Cx) -> bool {
        let some = match self.policy {
            Policy::Steal => return false,
            Policy::Global | Policy::Envelopes => |_, _| 1,
            Policy::Representatives => |left: u64, workers| left.div_ceil(workers),
        };
        cx.core().counters.acquisitions.add(1);
        let workers = u64::from(cx.core().workers.get());
        let Some(taken) = self.descriptor().take(|left| some(left, workers)) else { return false };
        (self.next, self.end) = (taken.start, taken.end);
        true
    }

    /// Starts the next activity as a ready frame. The deque is last in, first out, so the activity, and the frames that
    /// it leaves in this deque, run before this part's turn.
    fn create(&mut self, cx: Cx, turn: &mut Turn) {
        turn.ask(cx);
        let descriptor = self.descriptor();
        let k = self.next;
        self.next += 1;
        let frame = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: `next` has advanced past `k`, so each activity is made once.
            unsafe { descriptor.activities.activity(k) }.start(cx)
        }));
        match frame {
            Ok(frame) => self.out.push(Out::Activity(k, Child::new(frame))),
            Err(payload) => descriptor.end(End::Panic(pack(payload))),
        }
        self.look();
    }

    /// The table of a part's frame.
    const TABLE: &'static VTable = &VTable {
        on_child_complete: Some(Self::on_child_complete_in),
        inner: true,
        migrate: match A::Task::ELSEWHERE {
            Some(_) => Some(Self::migrate),
            None => None,
        },
        ..*Engine::<Self>::TABLE
    };

    /// Implements [`VTable::migrate`]: sends activities of a part that has not begun, each in a message, so that each can
    /// end the group.
    unsafe fn migrate(frame: FrameRef, cx: Cx, to: u32) -> usize {
        // SAFETY: the caller guarantees that the frame is ready, so its body is live, and that it alone could run it.
        let part = &mut unsafe { BodyFrame::<Engine<Self>>::body(frame).as_mut() }.of;
        let descriptor = part.descriptor();
        let Some(elsewhere) = A::Task::ELSEWHERE else { return 0 };
        let begun = part.waited || !part.out.is_empty() || part.policy != Policy::Steal;
        if begun || part.next == part.end || descriptor.has_ended() {
            return 0;
        }
        let mut sent = 0;
        for k in part.next..part.end.min(part.next + ELSEWHERE) {
            part.next = k + 1;
            // SAFETY: `next` has advanced past `k`, so each activity is made once.
            match catch_unwind(AssertUnwindSafe(|| unsafe { descriptor.activities.activity(k) })) {
                Ok(task) => match (elsewhere.one)(cx, to, task).open() {
                    Ok(_) => unreachable!("the frame waits in any case"),
                    Err(child) => part.out.push(Out::Activity(k, child)),
                },
                Err(payload) => {
                    descriptor.end(End::Panic(pack(payload)));
                    break;
                }
            }
            sent += 1;
        }
        if sent == 0 {
            return 0;
        }
        let more = part.next < part.end;
        // SAFETY: as above.
        unsafe { Engine::<Self>::wait_in(frame, cx, more) };
        sent
    }

    unsafe fn on_child_complete_in(frame: FrameRef, child: FrameRef) {
        // SAFETY: the part waits, so no thread modifies it.
        let engine = unsafe { BodyFrame::<Engine<Self>>::body(frame).as_ref() };
        // SAFETY: the caller guarantees that `child` is one of this part's and has completed or is orphaned, and that
        // the part does not run before this returns.
        unsafe { engine.of.on_child_complete(child) };
    }

    /// Handles the end of `child` while the part waits: takes a break or panic and terminates the group with it; counts
    /// a value in the barrier.
    ///
    /// # Safety
    /// `child` is one of this part's. It has completed or is orphaned, and the part does not run before
    /// this returns.
    pub(super) unsafe fn on_child_complete(&self, child: FrameRef) {
        // SAFETY: the caller guarantees that `child` is live.
        let header = unsafe { child.as_ref() };
        if header.vtable.inner {
            return;
        }
        let descriptor = self.descriptor();
        let end = match header.slot.status() {
            Some(Status::Panicked) => {
                // SAFETY: `Panicked` guarantees a payload. `retract` below prevents a second read.
                End::Panic(unsafe { payload_ptr(child).read() })
            }
            // SAFETY: `Done` guarantees an output.
            Some(Status::Done) if H::is_break(unsafe { result_ptr::<Delivers<A>>(child).as_ref() }) => {
                // SAFETY: `Done` guarantees an output. `retract` below prevents a second read.
                match H::branch(unsafe { result_ptr::<Delivers<A>>(child).read() }) {
                    ControlFlow::Break(value) => End::Break(value),
                    ControlFlow::Continue(_) => unreachable!("`is_break` was checked above"),
                }
            }
            Some(Status::Done) => return descriptor.count_ended(1),
            // The child was destroyed or orphaned. Either the group has been terminated, or the part terminates the
            // group when it collects the child.
            _ => return,
        };
        header.slot.retract();
        descriptor.end(end);
    }
}

impl<A: Activities, H: How<Delivers<A>>> Loop for Part<A, H> {
    type Output = ();

    fn begin(&mut self, cx: Cx) -> Option<Inside<'static>> {
        if std::mem::take(&mut self.waited) {
            // `on_child_complete` has been called for every child that the part waited for.
            self.take_in(true);
        }
        // The construct's own frame belongs to the enclosing group.
        let group = self.descriptor().group;
        (cx.group() != group).then(|| cx.enter_group(group))
    }

    fn stretch(&mut self, cx: Cx, turn: &mut Turn) -> bool {
        if self.descriptor().has_ended() || !(self.next < self.end || self.take(cx)) {
            return false;
        }
        if self.policy == Policy::Global {
            self.create(cx, turn);
            return false;
        }
        self.run(cx);
        if !cx.leaving() {
            self.look();
        }
        true
    }

    /// Moves half of the remaining activities to a new ready part. Under a policy other than `Steal` only asks for a
    /// turn; in a terminated group gives up the rest.
    fn hand_over(&mut self, cx: Cx, turn: &mut Turn) {
        if cx.is_terminated() {
            return self.stop();
        }
        if self.policy != Policy::Steal {
            return turn.ask(cx);
        }
        let half = (self.end - self.next).div_ceil(2);
        if half == 0 {
            return;
        }
        let middle = self.end - half;
        // SAFETY: the descriptor outlives this part, and this part waits for the new one.
        let other = unsafe { Part::new(self.descriptor, middle, self.end) };
        self.end = middle;
        let frame = BodyFrame::with_table(cx, Engine::new(other), Self::TABLE);
        cx.make_ready(frame);
        self.out.push(Out::Part(Child::new(frame)));
        if self.next < self.end {
            turn.ask(cx);
        }
    }

    fn stop(&mut self) {
        self.next = self.end;
        self.policy = Policy::Steal;
    }

    fn collect(&mut self) {
        self.take_in(false);
    }

    fn discard(&mut self) {
        // Dropping a child drops its value, which is user code. A panic of that code is discarded.
        self.ended().for_each(drop_quietly);
    }

    /// Registers all children, since the registration calls `on_child_complete` for one that has already ended.
    fn wait(&mut self, cx: Cx, _: bool) -> bool {
        self.waited = true;
        for out in &self.out {
            cx.wait_for(match out {
                Out::Activity(_, child) => child.frame(),
                Out::Part(child) => child.frame(),
            });
        }
        !self.out.is_empty()
    }

    fn finish(&mut self, _: Cx) {}
}

/// The task type of a child part.
struct PartTask<A, H>(std::marker::PhantomData<(A, fn() -> H)>);

impl<A, H> sealed::Sealed for PartTask<A, H> {}
impl<A, H> Task for PartTask<A, H> {
    type Output = ();
    const STRAIGHT: bool = false;
    unsafe fn call(self, _: Cx) -> Outcome<()> {
        unreachable!("`PartTask` is never called")
    }
}
