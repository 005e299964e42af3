//! A part of a loop that has left the stack: which activities it has to begin, and which it waits for.
//!
//! The frame of the construct holds the first part. When the stack is given up while there is more to begin, a part hands
//! half of that over to a new one, as a ready frame that a thief can take and split again, and asks for another turn for
//! itself. So a loop over a million activities is split as often as somebody asks for work, and at no cost but a frame.
//!
//! A part is *told* of each activity of its own that ends while it waits: it waits for all of them together, and one may end
//! the group. It looks at the outcome only; values are taken in when all have ended.

use std::future::{Future, Ready, ready};
use std::ops::ControlFlow;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context as StdContext, Poll};

use super::activities::Activities;
use super::descriptor::{Delivers, Descriptor, End};
use super::ends::How;
use crate::task::call::{Task, call_guarded, sealed};
use crate::task::context::{Cx, cx};
use crate::task::frame::{BodyFrame, Delivered, FrameRef, VTable, cancel, payload_ptr, quietly, result_ptr};
use crate::task::groups::Policy;
use crate::task::origin::pack;
use crate::task::outcome::{Child, Outcome};
use crate::task::slot::Status;
use crate::task::yielding::YieldNow;

/// How many activities may be out before a part looks which of them have ended.
const LOOK: usize = 1024;

/// For the frame of a turn.
const TURN: &VTable = &VTable { inner: true, ..*BodyFrame::<Ready<()>>::VTABLE };

/// What a part waits for.
enum Out<A: Activities, H: How<Delivers<A>>> {
    Activity(u64, Child<A::Task>),
    Part(Child<PartTask<A, H>>),
}

/// A part.
pub(super) struct Part<A: Activities, H: How<Delivers<A>>> {
    /// The loop's. It outlives the part.
    descriptor: NonNull<Descriptor<A, H>>,
    /// The activities that have not been begun.
    next: u64,
    end: u64,
    /// Where there are more: in the descriptor, or nowhere.
    policy: Policy,
    out: Vec<Out<A, H>>,
    /// The part has waited for all that are out, since it ran last.
    waited: bool,
    /// How many are looked for next.
    look_at: usize,
    /// The part is ready to go on, and waits for its turn only.
    turn: Option<Child<YieldNow>>,
}

// SAFETY: activities are made on any worker, from what is `Sync`, and what they deliver is `Send`, which those who make the
// constructs demand; so are the values and breaks within that: see `Ends`.
unsafe impl<A: Activities, H: How<Delivers<A>>> Send for Part<A, H> {}

impl<A: Activities, H: How<Delivers<A>>> Part<A, H> {
    /// The activities from `next` to before `end`, and `child`, which is the one before `next`.
    ///
    /// # Safety
    /// The descriptor outlives the part.
    pub(super) unsafe fn new(descriptor: NonNull<Descriptor<A, H>>, next: u64, end: u64) -> Part<A, H> {
        Part { descriptor, next, end, policy: Policy::Steal, out: Vec::new(), waited: false, look_at: LOOK, turn: None }
    }

    /// A part for each worker, which takes its activities from the descriptor; and the whole, which waits for them.
    ///
    /// # Safety
    /// The descriptor outlives the parts.
    pub(super) unsafe fn distributed(
        cx: Cx,
        descriptor: NonNull<Descriptor<A, H>>,
        group: u32,
        policy: Policy,
    ) -> Part<A, H> {
        // SAFETY: by the caller's word.
        let count = unsafe { descriptor.as_ref() }.count;
        // SAFETY: passed on.
        let empty = || unsafe { Part::new(descriptor, count, count) };
        let mut whole = empty();
        for _ in 0..count.min(u64::from(cx.context().here.workers.get())) {
            let part = Part { policy, ..empty() };
            let frame = BodyFrame::of_group(cx, group, PartBody(part), PartBody::<A, H>::TABLE);
            // Behind those of older groups.
            cx.make_ready_last(frame);
            whole.out.push(Out::Part(Child::new(frame)));
        }
        whole
    }

    /// An activity of this part that has been begun, and suspended.
    pub(super) fn begun(&mut self, k: u64, child: Child<A::Task>) {
        self.out.push(Out::Activity(k, child));
    }

    fn descriptor<'a>(&self) -> &'a Descriptor<A, H> {
        // SAFETY: it outlives the part, by the word of whoever made it.
        unsafe { self.descriptor.as_ref() }
    }

    /// Begins no more activities.
    fn stop(&mut self) {
        self.next = self.end;
        self.policy = Policy::Steal;
    }

    /// Those that are out and have ended, taken out.
    fn ended(&mut self) -> impl Iterator<Item = Out<A, H>> {
        self.out.extract_if(.., |out| match out {
            Out::Activity(_, child) => child.ended(),
            Out::Part(child) => child.ended(),
        })
    }

    /// Takes in what has ended, of which the part has been `told` or not.
    fn take_in(&mut self, told: bool) {
        let descriptor = self.descriptor();
        let mut left = 0;
        for out in self.ended() {
            let (k, child) = match out {
                Out::Activity(k, child) => (k, child),
                Out::Part(child) => {
                    match child.deliver() {
                        Delivered::Value(()) => {}
                        // What it has begun has no values.
                        Delivered::Panic(payload) => descriptor.end(End::Panic(payload)),
                        Delivered::Cancelled => descriptor.cut_short(),
                    }
                    continue;
                }
            };
            match child.deliver() {
                Delivered::Value(output) => match H::branch(output) {
                    ControlFlow::Continue(value) => {
                        // SAFETY: once for each activity.
                        unsafe { descriptor.put(k, value) };
                        left += 1;
                    }
                    ControlFlow::Break(end) => descriptor.end(End::Break(end)),
                },
                Delivered::Panic(payload) => descriptor.end(End::Panic(payload)),
                Delivered::Cancelled => descriptor.cut_short(),
            }
        }
        if !told {
            descriptor.left(left);
        }
    }

    /// Begins activities until one suspends, or there are no more.
    fn stretch(&mut self, cx: Cx) {
        let descriptor = self.descriptor();
        let mut left = 0;
        let (next, end) = (&mut self.next, self.end);
        let suspended = catch_unwind(AssertUnwindSafe(|| {
            while *next < end {
                let k = *next;
                *next += 1;
                // SAFETY: once for each.
                let task = unsafe { descriptor.activities.activity(k) };
                // SAFETY: `cx` is the current worker's; a child is kept and waited for.
                let output = unsafe { call_guarded(cx, task) }.open().map_err(|child| (k, child))?;
                match H::branch(output) {
                    ControlFlow::Continue(value) => {
                        // SAFETY: once for each activity.
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
                cx.send_withheld();
                self.out.push(Out::Activity(k, child));
            }
            Err(payload) => descriptor.end(End::Panic(pack(payload))),
        }
        descriptor.left(left);
    }

    /// Begins what has not been begun, and hands half of it over whenever the stack is given up.
    fn go_on(&mut self, cx: Cx) {
        cx.send_withheld();
        while !self.descriptor().has_ended() && (self.next < self.end || self.take(cx)) {
            if self.policy == Policy::Global {
                return self.create(cx);
            }
            self.stretch(cx);
            if cx.leaving() {
                return self.hand_over(cx);
            }
            if self.out.len() >= self.look_at {
                self.take_in(false);
                self.look_at = LOOK.max(2 * self.out.len());
            }
        }
        self.stop();
    }

    /// Takes activities from the descriptor; whether there were any.
    fn take(&mut self, cx: Cx) -> bool {
        let some = match self.policy {
            Policy::Steal => return false,
            Policy::Global | Policy::Envelopes => |_, _| 1,
            Policy::Representatives => |left: u64, workers| left.div_ceil(workers),
        };
        cx.context().counters.acquisitions.add(1);
        let workers = u64::from(cx.context().here.workers.get());
        let Some(taken) = self.descriptor().take(|left| some(left, workers)) else { return false };
        (self.next, self.end) = (taken.start, taken.end);
        true
    }

    /// Makes a frame of the next activity, to be run before this goes on: on a worker that has others to run, that takes longer.
    fn create(&mut self, cx: Cx) {
        self.ask_for_turn(cx);
        let descriptor = self.descriptor();
        let k = self.next;
        self.next += 1;
        let frame = catch_unwind(AssertUnwindSafe(|| {
            // SAFETY: once for each.
            unsafe { descriptor.activities.activity(k) }.start(cx)
        }));
        match frame {
            Ok(frame) => self.out.push(Out::Activity(k, Child::new(frame))),
            Err(payload) => descriptor.end(End::Panic(pack(payload))),
        }
        if self.out.len() >= self.look_at {
            self.take_in(false);
            self.look_at = LOOK.max(2 * self.out.len());
        }
    }

    fn ask_for_turn(&mut self, cx: Cx) {
        let turn = BodyFrame::with_table(cx, ready(()), TURN);
        cx.make_ready(turn);
        self.turn = Some(Child::new(turn));
    }

    /// The stack is being given up.
    fn hand_over(&mut self, cx: Cx) {
        if cx.is_terminated() {
            return self.stop();
        }
        if self.policy != Policy::Steal {
            return self.ask_for_turn(cx);
        }
        let half = (self.end - self.next).div_ceil(2);
        if half == 0 {
            return;
        }
        let middle = self.end - half;
        // SAFETY: this part waits for the other.
        let other = unsafe { Part::new(self.descriptor, middle, self.end) };
        self.end = middle;
        let frame = BodyFrame::with_table(cx, PartBody(other), PartBody::<A, H>::TABLE);
        cx.make_ready(frame);
        self.out.push(Out::Part(Child::new(frame)));
        if self.next < self.end {
            self.ask_for_turn(cx);
        }
    }

    /// Goes on. Ready when all have ended.
    pub(super) fn poll(&mut self, cx: Cx) -> Poll<()> {
        self.turn = None;
        if std::mem::take(&mut self.waited) {
            // All that it waited for, of which it has been told.
            self.take_in(true);
        }
        // The construct's own frame belongs to the group outside.
        let group = self.descriptor().group;
        let inside = (cx.group() != group).then(|| cx.enter_group(group));
        if cx.leaving() {
            self.hand_over(cx);
        } else {
            self.go_on(cx);
        }
        drop(inside);
        if let Some(turn) = &self.turn {
            cx.wait_for(turn.frame());
            return Poll::Pending;
        }
        // While the stack is being given up, nothing goes on here, even if all have ended.
        if !cx.leaving() {
            self.take_in(false);
        }
        self.wait(cx)
    }

    /// The group outside has been terminated, and with it this one: waits for what is out. Ready when nothing is.
    pub(super) fn cancel(&mut self, cx: Cx) -> Poll<()> {
        self.turn = None;
        self.stop();
        // With what they have delivered, which is user code, of which a panic has nowhere to go.
        self.ended().for_each(|out| quietly(|| drop(out)));
        self.wait(cx)
    }

    /// Waits for what is out. If some of it has ended meanwhile, the part is told when the wait begins.
    fn wait(&mut self, cx: Cx) -> Poll<()> {
        self.waited = true;
        for out in &self.out {
            cx.wait_for(match out {
                Out::Activity(_, child) => child.frame(),
                Out::Part(child) => child.frame(),
            });
        }
        if self.out.is_empty() { Poll::Ready(()) } else { Poll::Pending }
    }

    /// An activity of this part has ended while the part waits: whether it ends the group.
    ///
    /// # Safety
    /// The child is one of this part's, and has completed, or is parted from it; the part does not run before this returns.
    pub(super) unsafe fn told(&self, child: FrameRef) {
        // SAFETY: live by the caller's word.
        let header = unsafe { child.as_ref() };
        if header.vtable.inner {
            return;
        }
        let descriptor = self.descriptor();
        let end = match header.slot.status() {
            Some(Status::Panicked) => {
                // SAFETY: `Panicked` says that there is a payload; nobody else takes it, by `retract`.
                End::Panic(unsafe { payload_ptr(child).read() })
            }
            // SAFETY: `Done` says that there is an output.
            Some(Status::Done) if H::is_break(unsafe { result_ptr::<Delivers<A>>(child).as_ref() }) => {
                // SAFETY: as above; nobody else takes it, by `retract`.
                match H::branch(unsafe { result_ptr::<Delivers<A>>(child).read() }) {
                    ControlFlow::Break(value) => End::Break(value),
                    ControlFlow::Continue(_) => unreachable!("just looked"),
                }
            }
            Some(Status::Done) => return descriptor.left(1),
            // Destroyed, or parted from this: its group has ended, or will when this is taken in.
            _ => return,
        };
        header.slot.retract();
        descriptor.end(end);
    }
}

/// The frame of a part that has been handed over.
struct PartBody<A: Activities, H: How<Delivers<A>>>(Part<A, H>);

impl<A: Activities, H: How<Delivers<A>>> Unpin for PartBody<A, H> {}

impl<A: Activities, H: How<Delivers<A>>> Future for PartBody<A, H> {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<()> {
        // SAFETY: a body is polled by a worker; used within this poll.
        let cx = unsafe { cx() };
        self.0.poll(cx)
    }
}

impl<A: Activities, H: How<Delivers<A>>> PartBody<A, H> {
    const TABLE: &'static VTable =
        &VTable { cancel: Self::cancel, told: Some(Self::told), inner: true, ..*BodyFrame::<Self>::VTABLE };

    unsafe fn cancel(frame: FrameRef, cx: Cx) -> Poll<Status> {
        // SAFETY: the worker loop runs a frame exclusively.
        let part = unsafe { BodyFrame::<Self>::body(frame).as_mut() };
        if part.0.cancel(cx).is_pending() {
            return Poll::Pending;
        }
        // SAFETY: passed on; nothing is out.
        unsafe { cancel(frame, cx) }
    }

    unsafe fn told(frame: FrameRef, child: FrameRef) {
        // SAFETY: the part waits: nobody changes it.
        let part = unsafe { BodyFrame::<Self>::body(frame).as_ref() };
        // SAFETY: passed on.
        unsafe { part.0.told(child) };
    }
}

/// The type of a part's child.
struct PartTask<A, H>(std::marker::PhantomData<(A, fn() -> H)>);

impl<A, H> sealed::Sealed for PartTask<A, H> {}
impl<A, H> Task for PartTask<A, H> {
    type Output = ();
    const STRAIGHT: bool = false;
    unsafe fn call(self, _: Cx) -> Outcome<()> {
        unreachable!("the type of a child")
    }
}
