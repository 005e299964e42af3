//! The construct: a loop that calls its activities on the stack, and its frame if it has to leave that.

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
use crate::task::call::{Task, call_guarded, poll_in_place, sealed};
use crate::task::context::inside::Begun;
use crate::task::context::{Cx, cx};
use crate::task::drops::Receiver;
use crate::task::frame::{BodyFrame, FrameRef, VTable, cancel};
use crate::task::groups::Policy;
use crate::task::many::Sink;
use crate::task::outcome::{Child, Outcome};
use crate::task::slot::Status;
use crate::task::words::Parcel;

/// The task that runs a group: its activities, what becomes of their values, and how they are taken.
#[must_use = "no activity begins before this is awaited"]
pub struct Construct<A, S, H> {
    pub(super) activities: A,
    sink: S,
    how: PhantomData<fn() -> H>,
}

/// See [`Receiver`]: `collect` and the like take it whole.
pub trait OfConstruct {
    /// It may have a destructor.
    #[inline(always)]
    fn check(&self) {}
}
impl<A, S, H> OfConstruct for &&Receiver<'_, Construct<A, S, H>> {}

impl<A, S, H> Construct<A, S, H> {
    pub(super) fn new(activities: A, sink: S) -> Construct<A, S, H> {
        Construct { activities, sink, how: PhantomData }
    }

    /// The same with another sink, and outputs taken in another way.
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

/// What a construct delivers.
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
        if cx.context().here.policy.get() != Policy::Steal {
            let mut whole = Parcel::new((activities, sink));
            // SAFETY: the parcel is taken once.
            return unsafe { distributed::<A, S, H>(cx, &mut whole) };
        }
        let count = activities.count();
        let begun = Begun::new(count);
        let inside = cx.begin_group(&begun);
        let mut next = 0;
        while next < count {
            // SAFETY: once for each.
            let task = unsafe { activities.activity(next) };
            // SAFETY: `cx` is the current worker's; a child is kept and waited for.
            let called = unsafe { call_guarded(cx, task) };
            next += 1;
            if called.suspended() {
                // SAFETY: just looked.
                let child = unsafe { called.child() };
                let group = inside.leave();
                let mut rest = Parcel::new((activities, sink, child));
                // SAFETY: the parcel is taken once.
                return unsafe { suspended::<A, S, H>(cx, &mut rest, group, next, count) };
            }
            // SAFETY: as above.
            match H::branch(unsafe { called.value() }) {
                ControlFlow::Continue(value) => sink.put(value),
                ControlFlow::Break(end) => {
                    drop(inside);
                    let whole = H::first(end);
                    // Before there is an outcome, which a panic would lose; so below.
                    drop(sink);
                    drop(activities);
                    // SAFETY: the call protocol.
                    return unsafe { Outcome::done(whole) };
                }
            }
        }
        drop(inside);
        let whole = H::all(sink.finish());
        drop(activities);
        // SAFETY: the call protocol.
        unsafe { Outcome::done(whole) }
    }
}

/// Goes on in a frame, from activity `next` of `count`; the one before it is suspended.
///
/// # Safety
/// The rest of the loop is in the parcel, and is moved here.
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
    // SAFETY: by the caller's word.
    let (activities, sink, child) = unsafe { rest.take() };
    cx.context().counters.fallback();
    let descriptor = Descriptor::<A, H>::new(cx, activities, group, next - 1..count);
    let descriptor = NonNull::from(Box::leak(Box::new(descriptor)));
    // SAFETY: just made.
    unsafe { descriptor.as_ref() }.left(next - 1);
    // SAFETY: the body frees the descriptor after the part.
    let mut part = unsafe { Part::new(descriptor, next, count) };
    part.begun(next - 1, child);
    let body = Body { part: Some(part), descriptor, sink: Some(sink) };
    poll_in_place(body, cx, Body::<A, S, H>::TABLE)
}

/// Begins in a frame, by parts that take their activities from the descriptor.
///
/// # Safety
/// The construct is in the parcel, and is moved here.
#[cold]
#[inline(never)]
unsafe fn distributed<A, S, H>(cx: Cx, whole: &mut Parcel<(A, S)>) -> Outcome<Whole<A, S, H>>
where
    A: Activities,
    H: How<Delivers<A>>,
    S: Sink<H::Value>,
{
    // SAFETY: by the caller's word.
    let (activities, sink) = unsafe { whole.take() };
    let count = activities.count();
    let begun = Begun::new(count);
    let inside = cx.begin_group(&begun);
    // Numbered while it is the innermost.
    let group = inside.leave();
    let descriptor = NonNull::from(Box::leak(Box::new(Descriptor::<A, H>::new(cx, activities, group, 0..count))));
    // SAFETY: the body frees the descriptor after the parts.
    let part = unsafe { Part::distributed(cx, descriptor, group, cx.context().here.policy.get()) };
    let body = Body { part: Some(part), descriptor, sink: Some(sink) };
    poll_in_place(body, cx, Body::<A, S, H>::TABLE)
}

/// The frame of a construct that has left the stack. It belongs to the group outside.
struct Body<A: Activities, S, H: How<Delivers<A>>> {
    /// Gone when all its activities have ended.
    part: Option<Part<A, H>>,
    /// Owned.
    descriptor: NonNull<Descriptor<A, H>>,
    sink: Option<S>,
}

impl<A: Activities, S, H: How<Delivers<A>>> Unpin for Body<A, S, H> {}

impl<A, S, H> Body<A, S, H>
where
    A: Activities,
    H: How<Delivers<A>>,
    S: Sink<H::Value>,
{
    /// Cancelled, it still waits for what is out.
    const TABLE: &'static VTable =
        &VTable { cancel: Self::cancel, told: Some(Self::told), ..*BodyFrame::<Self>::VTABLE };

    unsafe fn cancel(frame: FrameRef, cx: Cx) -> Poll<Status> {
        // SAFETY: the worker loop runs a frame exclusively.
        let body = unsafe { BodyFrame::<Self>::body(frame).as_mut() };
        if let Some(part) = &mut body.part
            && part.cancel(cx).is_pending()
        {
            return Poll::Pending;
        }
        // SAFETY: passed on; nothing is out.
        unsafe { cancel(frame, cx) }
    }

    unsafe fn told(frame: FrameRef, child: FrameRef) {
        // SAFETY: the frame waits: nobody changes it.
        if let Some(part) = unsafe { &(*BodyFrame::<Self>::body(frame).as_ptr()).part } {
            // SAFETY: passed on.
            unsafe { part.told(child) };
        }
    }
}

impl<A, S, H> Future for Body<A, S, H>
where
    A: Activities,
    H: How<Delivers<A>>,
    S: Sink<H::Value>,
{
    type Output = Whole<A, S, H>;

    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<Self::Output> {
        // SAFETY: a body is polled by a worker; used within this poll.
        let cx = unsafe { cx() };
        let body = &mut *self;
        let Some(part) = &mut body.part else { unreachable!("a construct was polled after it had ended") };
        if part.poll(cx).is_pending() {
            return Poll::Pending;
        }
        body.part = None;
        // SAFETY: owned, and there until this is dropped.
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
                // SAFETY: nobody has ended the group, so all have ended with values; this is the end of the loop.
                unsafe { descriptor.take_values(|value| sink.put(value)) };
                Poll::Ready(H::all(sink.finish()))
            }
        }
    }
}

impl<A: Activities, S, H: How<Delivers<A>>> Drop for Body<A, S, H> {
    fn drop(&mut self) {
        self.part = None;
        // SAFETY: owned, and no part is left.
        let descriptor = unsafe { Box::from_raw(self.descriptor.as_ptr()) };
        // SAFETY: a body is destroyed by a worker; used at once.
        unsafe { cx() }.end_group(descriptor.group);
    }
}
