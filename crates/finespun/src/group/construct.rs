//! The construct: a loop that calls its activities on the stack, and the frame that continues the loop after a
//! fallback.

use std::future::Future;
use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context as StdContext, Poll};

use super::activities::Activities;
use super::descriptor::{Delivers, Descriptor, End};
use super::ends::How;
use super::part::Part;
use crate::call::drops::Receiver;
use crate::call::outcome::{Child, Outcome};
use crate::call::words::Parcel;
use crate::call::{Task, call_guarded, poll_in_place, sealed};
use crate::cancel::groups::Policy;
use crate::frame::context::{Cx, cx};
use crate::frame::{BodyFrame, FrameRef, Polled, VTable, cancel};
use crate::iterate::engine::Engine;
use crate::iterate::many::Sink;
use crate::run::membership::Begun;

/// The task that runs a group: its activities, the sink of their values, and the interpretation `H` of their outputs.
#[must_use = "no activity begins before this is awaited"]
pub struct Construct<A, S, H> {
    pub(super) activities: A,
    sink: S,
    how: PhantomData<fn() -> H>,
}

/// Lets `#[task]` code call `collect` and similar methods, which consume the construct: see [`Receiver`].
pub trait OfConstruct {
    /// Accepts the call: a construct may have a destructor.
    #[inline(always)]
    fn check(&self) {}
}
impl<A, S, H> OfConstruct for &&Receiver<'_, Construct<A, S, H>> {}

impl<A, S, H> Construct<A, S, H> {
    pub(super) fn new(activities: A, sink: S) -> Construct<A, S, H> {
        Construct { activities, sink, how: PhantomData }
    }

    /// Replaces the sink, and the interpretation of outputs.
    pub(super) fn with<S2, H2>(self, sink: impl FnOnce(&A) -> S2) -> Construct<A, S2, H2> {
        let sink = sink(&self.activities);
        Construct::new(self.activities, sink)
    }
}

impl<A, S, H> std::fmt::Debug for Construct<A, S, H> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Construct").finish_non_exhaustive()
    }
}

/// The output of a construct.
type Whole<A, S, H> = <H as How<Delivers<A>>>::Whole<<S as Sink<<H as How<Delivers<A>>>::Value>>::Output>;

impl<A, S, H> sealed::Sealed for Construct<A, S, H> {}
impl<A, S, H> Task for Construct<A, S, H>
where
    A: Activities,
    H: How<Delivers<A>>,
    S: Sink<H::Value>,
{
    type Output = Whole<A, S, H>;
    const STRAIGHT: bool = false;

    #[inline(always)]
    unsafe fn call(self, cx: Cx) -> Outcome<Whole<A, S, H>> {
        let Construct { activities, mut sink, .. } = self;
        if cx.context().policy.get() != Policy::Steal {
            let mut whole = Parcel::new((activities, sink));
            // SAFETY: the parcel is taken once.
            return unsafe { distributed::<A, S, H>(cx, &mut whole) };
        }
        let count = activities.count();
        let begun = Begun::new(count);
        let inside = cx.begin_group(&begun);
        let mut next = 0;
        while next < count {
            // SAFETY: `next` advances after each call, so each activity is made once.
            let task = unsafe { activities.activity(next) };
            // SAFETY: `cx` is the current worker's. A suspended child is kept and awaited.
            let called = unsafe { call_guarded(cx, task) };
            next += 1;
            if called.suspended() {
                // SAFETY: `called.suspended()` is true.
                let child = unsafe { called.child() };
                let group = inside.leave();
                let mut rest = Parcel::new((activities, sink, child));
                // SAFETY: the parcel is taken once.
                return unsafe { suspended::<A, S, H>(cx, &mut rest, group, next, count) };
            }
            // SAFETY: `called.suspended()` is false, so the call has ended with a value.
            match H::branch(unsafe { called.value() }) {
                ControlFlow::Continue(value) => sink.put(value),
                ControlFlow::Break(end) => {
                    drop(inside);
                    let whole = H::first(end);
                    // Dropped before the outcome is made, since a panic would lose the outcome. The same applies below.
                    drop(sink);
                    drop(activities);
                    // SAFETY: returned as the outcome of `Task::call`, as the call protocol demands.
                    return unsafe { Outcome::done(whole) };
                }
            }
        }
        drop(inside);
        let whole = H::all(sink.finish());
        drop(activities);
        // SAFETY: returned as the outcome of `Task::call`, as the call protocol demands.
        unsafe { Outcome::done(whole) }
    }
}

/// Continues the loop in a frame, from activity `next` of `count`. The activity before `next` is suspended as the child
/// in the parcel.
///
/// # Safety
/// The parcel holds the rest of the loop and has not been taken.
#[cold]
#[inline(never)]
unsafe fn suspended<A, S, H>(
    cx: Cx,
    rest: &mut Parcel<(A, S, Child<A::Task>)>,
    group: u32,
    next: u64,
    count: u64,
) -> Outcome<Whole<A, S, H>>
where
    A: Activities,
    H: How<Delivers<A>>,
    S: Sink<H::Value>,
{
    // SAFETY: the caller guarantees that the parcel has not been taken.
    let (activities, sink, child) = unsafe { rest.take() };
    cx.core().counters.fallback();
    let descriptor = Descriptor::<A, H>::new(cx, activities, group, next - 1..count);
    let descriptor = NonNull::from(Box::leak(Box::new(descriptor)));
    // SAFETY: the descriptor was just made and is live.
    unsafe { descriptor.as_ref() }.count_ended(next - 1);
    // SAFETY: the body frees the descriptor after the part.
    let mut part = unsafe { Part::new(descriptor, next, count) };
    part.begun(next - 1, child);
    let body = ConstructBody { part: Some(Engine::new(part)), descriptor, sink: Some(sink) };
    poll_in_place(body, cx, ConstructBody::<A, S, H>::TABLE)
}

/// Runs the construct in a frame from the start, by parts that acquire their activities from the descriptor.
///
/// # Safety
/// The parcel holds the construct and has not been taken.
#[cold]
#[inline(never)]
unsafe fn distributed<A, S, H>(cx: Cx, whole: &mut Parcel<(A, S)>) -> Outcome<Whole<A, S, H>>
where
    A: Activities,
    H: How<Delivers<A>>,
    S: Sink<H::Value>,
{
    // SAFETY: the caller guarantees that the parcel has not been taken.
    let (activities, sink) = unsafe { whole.take() };
    let count = activities.count();
    let begun = Begun::new(count);
    let inside = cx.begin_group(&begun);
    // `leave` gives the group its number while it is the innermost group.
    let group = inside.leave();
    let descriptor = NonNull::from(Box::leak(Box::new(Descriptor::<A, H>::new(cx, activities, group, 0..count))));
    // SAFETY: the body frees the descriptor after the parts.
    let part = unsafe { Part::distributed(cx, descriptor, group, cx.context().policy.get()) };
    let body = ConstructBody { part: Some(Engine::new(part)), descriptor, sink: Some(sink) };
    poll_in_place(body, cx, ConstructBody::<A, S, H>::TABLE)
}

/// The body of a construct that runs in a frame. The frame belongs to the enclosing group.
struct ConstructBody<A: Activities, S, H: How<Delivers<A>>> {
    /// `None` once all activities have ended.
    part: Option<Engine<Part<A, H>>>,
    /// Owned by this body.
    descriptor: NonNull<Descriptor<A, H>>,
    sink: Option<S>,
}

impl<A: Activities, S, H: How<Delivers<A>>> Unpin for ConstructBody<A, S, H> {}

impl<A, S, H> ConstructBody<A, S, H>
where
    A: Activities,
    H: How<Delivers<A>>,
    S: Sink<H::Value>,
{
    /// The vtable of the construct's frame. A cancelled construct still waits for its outstanding children.
    const TABLE: &'static VTable = &VTable {
        cancel: Self::cancel,
        on_child_complete: Some(Self::on_child_complete),
        ..*BodyFrame::<Self>::VTABLE
    };

    unsafe fn cancel(frame: FrameRef, cx: Cx) -> Polled {
        // SAFETY: the worker loop runs a frame exclusively.
        let body = unsafe { BodyFrame::<Self>::body(frame).as_mut() };
        if let Some(part) = &mut body.part
            && part.cancel(cx).is_pending()
        {
            return Poll::Pending;
        }
        // SAFETY: the caller guarantees that the body is present and that it runs the frame exclusively. No child is
        // outstanding.
        unsafe { cancel(frame, cx) }
    }

    unsafe fn on_child_complete(frame: FrameRef, child: FrameRef) {
        // SAFETY: the frame waits, so no thread modifies its body.
        if let Some(part) = unsafe { &(*BodyFrame::<Self>::body(frame).as_ptr()).part } {
            // SAFETY: the caller guarantees that `child` is one of this part's and has completed or is orphaned, and
            // that the frame does not run before this returns.
            unsafe { part.of.on_child_complete(child) };
        }
    }
}

impl<A, S, H> Future for ConstructBody<A, S, H>
where
    A: Activities,
    H: How<Delivers<A>>,
    S: Sink<H::Value>,
{
    type Output = Whole<A, S, H>;

    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<Self::Output> {
        // SAFETY: only a worker polls a body, and `cx` is not used after this poll.
        let cx = unsafe { cx() };
        let body = &mut *self;
        let Some(part) = &mut body.part else { unreachable!("a construct was polled after it had ended") };
        if part.run(cx).is_pending() {
            return Poll::Pending;
        }
        body.part = None;
        // SAFETY: this body owns the descriptor, which lives until the body is dropped.
        let descriptor = unsafe { body.descriptor.as_ref() };
        let Some(mut sink) = body.sink.take() else { unreachable!("a construct was polled after it had ended") };
        if let Some(output) = descriptor.activities.returned() {
            return Poll::Ready(match H::branch(output) {
                ControlFlow::Continue(value) => {
                    sink.put(value);
                    H::all(sink.finish())
                }
                ControlFlow::Break(end) => H::first(end),
            });
        }
        match descriptor.take_end() {
            Some(End::Break(end)) => Poll::Ready(H::first(end)),
            Some(End::Panic(payload)) => payload.resume(),
            None => {
                // SAFETY: the group was not ended early, so all activities have ended with values. This is the only
                // call, as the construct ends here.
                unsafe { descriptor.take_values(|value| sink.put(value)) };
                Poll::Ready(H::all(sink.finish()))
            }
        }
    }
}

impl<A: Activities, S, H: How<Delivers<A>>> Drop for ConstructBody<A, S, H> {
    fn drop(&mut self) {
        self.part = None;
        // SAFETY: this body owns the descriptor, and no part is left that refers to it.
        let descriptor = unsafe { Box::from_raw(self.descriptor.as_ptr()) };
        // SAFETY: only a worker destroys a body, and `cx` is used at once.
        unsafe { cx() }.end_group(descriptor.group);
    }
}
