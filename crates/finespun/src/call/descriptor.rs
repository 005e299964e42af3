//! The return types of functions marked `#[task]`: descriptions of calls, by schema.

use std::future::Future;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::pin::Pin;

use super::bounds::{Delivered, only_in_tasks};
use super::located;
use super::outcome::Outcome;
use super::schema::{Known, Schema, Straight};
use super::{CallFuture, Task, poll_in_place, sealed};
use crate::frame::context::{Cx, Verdict};
use crate::frame::{BodyFrame, FrameRef};

/// A task in the stack schema: the call of its stack function, with the arguments captured.
///
/// It is a closure that captures the arguments, and not a pair of arguments and function: the call uses captured
/// arguments where they are, but would move those of a pair through memory. `SCALARS` says that all arguments are known
/// to be passed in registers; it affects only speed.
pub struct StackTask<const SCALARS: bool, S, F> {
    code: F,
    schema: PhantomData<fn() -> S>,
}

/// # Safety
/// `code` must keep the call protocol, as generated code does, and never suspend if `S` is straight.
#[inline(always)]
pub unsafe fn stack_task<const SCALARS: bool, S: Schema, T: Delivered, F: FnOnce(Cx) -> Outcome<T>>(
    code: F,
) -> StackTask<SCALARS, S, F> {
    StackTask { code, schema: PhantomData }
}

impl<const SCALARS: bool, S, F> sealed::Sealed for StackTask<SCALARS, S, F> {}
only_in_tasks!([const SCALARS: bool, S, F] StackTask<SCALARS, S, F>);
impl<const SCALARS: bool, S: Schema, F> Known for StackTask<SCALARS, S, F> {
    type Schema = S;
}
impl<const SCALARS: bool, S: Schema, T, F: FnOnce(Cx) -> Outcome<T>> Task for StackTask<SCALARS, S, F> {
    type Output = T;
    const STRAIGHT: bool = S::STRAIGHT_3;
    // A capture of at most two words contains no argument that is too wide for registers.
    const IN_REGISTERS: bool = SCALARS || size_of::<F>() <= 2 * size_of::<usize>();
    #[inline(always)]
    unsafe fn call(self, cx: Cx) -> Outcome<T> {
        (self.code)(cx)
    }

    fn start(self, cx: Cx) -> FrameRef {
        if S::LOCATED {
            return located::start(cx, self);
        }
        let frame = BodyFrame::make(cx, CallFuture::fresh(self));
        cx.make_ready(frame);
        frame
    }
}

/// A task in the straight schema: a plain function. `LOCATED` says whether its frame, if it needs one, is located.
pub struct StraightTask<const LOCATED: bool, F>(F);

/// # Safety
/// Only generated code may use it.
#[inline(always)]
pub unsafe fn straight_task<T: Delivered, F: FnOnce() -> T>(code: F) -> StraightTask<false, F> {
    StraightTask(code)
}

/// Like [`straight_task`], for a function that runs at this node, and may capture values that are not `Send`.
///
/// # Safety
/// As for [`straight_task`].
#[inline(always)]
pub unsafe fn straight_task_here<T: Delivered, F: FnOnce() -> T>(code: F) -> StraightTask<true, F> {
    StraightTask(code)
}

impl<const LOCATED: bool, F> sealed::Sealed for StraightTask<LOCATED, F> {}
only_in_tasks!([const LOCATED: bool, F] StraightTask<LOCATED, F>);
impl<const LOCATED: bool, F> Known for StraightTask<LOCATED, F> {
    type Schema = Straight;
}
impl<const LOCATED: bool, T, F: FnOnce() -> T> Task for StraightTask<LOCATED, F> {
    type Output = T;
    const STRAIGHT: bool = true;
    #[inline(always)]
    unsafe fn call(self, _cx: Cx) -> Outcome<T> {
        // SAFETY: a straight task returns its outcome to its caller, as the call protocol requires.
        unsafe { Outcome::done((self.0)()) }
    }

    fn start(self, cx: Cx) -> FrameRef {
        if LOCATED {
            return located::start(cx, self);
        }
        let frame = BodyFrame::make(cx, CallFuture::fresh(self));
        cx.make_ready(frame);
        frame
    }
}

/// A task in the pinned schema: an ordinary `async` body, in a frame from the start. `LOCATED` says whether the frame
/// is located.
pub struct PinnedTask<const LOCATED: bool, F>(F);

/// # Safety
/// The future that `code` makes may await tasks only by functions of the module `call`, as generated code does.
#[inline(always)]
pub unsafe fn pinned_task<T: Delivered, Fut: Future<Output = T> + Send, F: FnOnce() -> Fut>(
    code: F,
) -> PinnedTask<false, F> {
    PinnedTask(code)
}

/// Like [`pinned_task`], for a body that runs at this node, and need not be `Send`.
///
/// # Safety
/// As for [`pinned_task`].
#[inline(always)]
pub unsafe fn pinned_task_here<T: Delivered, Fut: Future<Output = T>, F: FnOnce() -> Fut>(
    code: F,
) -> PinnedTask<true, F> {
    PinnedTask(code)
}

impl<const LOCATED: bool, F> sealed::Sealed for PinnedTask<LOCATED, F> {}
only_in_tasks!([const LOCATED: bool, F] PinnedTask<LOCATED, F>);
impl<const LOCATED: bool, Fut: Future, F: FnOnce() -> Fut> Task for PinnedTask<LOCATED, F> {
    type Output = Fut::Output;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Fut::Output> {
        // The body is polled on this stack: it needs the stack space that a stack function would have checked for.
        if cx.trips() && cx.tripped() != Verdict::Stay {
            return Outcome::suspended(self.start(cx));
        }
        if LOCATED {
            return located::poll_here((self.0)(), cx);
        }
        poll_in_place((self.0)(), cx, BodyFrame::<Fut>::VTABLE)
    }

    fn start(self, cx: Cx) -> FrameRef {
        if LOCATED {
            return located::start_body(cx, (self.0)());
        }
        let frame = BodyFrame::make(cx, (self.0)());
        cx.make_ready(frame);
        frame
    }
}

/// A task that is compiled in two forms from one body: a plain function, which is called if `S` is straight, and a
/// future, which runs in the pinned schema otherwise.
pub struct DirectOrPinnedTask<S, F> {
    code: F,
    schema: PhantomData<fn() -> S>,
}

/// The result of a `DirectOrPinnedTask`'s code, in the form that the caller requests.
pub enum CallForm<T, Fut> {
    /// The outcome of the function, which has run.
    Direct(Outcome<T>),
    /// The future, to be polled. `ManuallyDrop`, so that a caller that requests the other form has no drop code for it.
    Pinned(ManuallyDrop<Fut>),
}

/// # Safety
/// As for [`pinned_task`], with respect to the future that `code(None)` returns. If `S` is straight, the outcome that
/// `code(Some(..))` returns is not suspended.
#[inline(always)]
pub unsafe fn direct_or_pinned_task<S: Schema, T: Delivered, Fut, F>(code: F) -> DirectOrPinnedTask<S, F>
where
    Fut: Future<Output = T> + Send,
    F: FnOnce(Option<Cx>) -> CallForm<T, Fut>,
{
    DirectOrPinnedTask { code, schema: PhantomData }
}

impl<S, F> DirectOrPinnedTask<S, F> {
    fn pinned<T, Fut>(self) -> PinnedTask<false, impl FnOnce() -> Fut>
    where
        F: FnOnce(Option<Cx>) -> CallForm<T, Fut>,
    {
        PinnedTask(|| match (self.code)(None) {
            CallForm::Pinned(future) => ManuallyDrop::into_inner(future),
            CallForm::Direct(_) => unreachable!("the future was asked for"),
        })
    }
}

impl<S, F> sealed::Sealed for DirectOrPinnedTask<S, F> {}
only_in_tasks!([S, F] DirectOrPinnedTask<S, F>);
impl<S: Schema, F> Known for DirectOrPinnedTask<S, F> {
    type Schema = S;
}
impl<S: Schema, T, Fut: Future<Output = T>, F: FnOnce(Option<Cx>) -> CallForm<T, Fut>> Task
    for DirectOrPinnedTask<S, F>
{
    type Output = T;
    const STRAIGHT: bool = S::STRAIGHT_3;

    #[inline(always)]
    unsafe fn call(self, cx: Cx) -> Outcome<T> {
        if !S::STRAIGHT_3 {
            // SAFETY: the caller guarantees that it opens the outcome and awaits a suspended callee.
            return unsafe { self.pinned().call(cx) };
        }
        match (self.code)(Some(cx)) {
            CallForm::Direct(outcome) => outcome,
            CallForm::Pinned(_) => unreachable!("the function was asked for"),
        }
    }

    fn start(self, cx: Cx) -> FrameRef {
        if !S::STRAIGHT_3 {
            return self.pinned().start(cx);
        }
        let frame = BodyFrame::make(cx, CallFuture::fresh(self));
        cx.make_ready(frame);
        frame
    }
}

/// `Box::pin(task).await`, as plain `async fn`s write their recursion. A task needs no box for recursion.
impl<T: Task> sealed::Sealed for Pin<Box<T>> {}
impl<T: Task> Task for Pin<Box<T>> {
    type Output = T::Output;
    const STRAIGHT: bool = false;
    const GUARDS: bool = T::GUARDS;

    unsafe fn call(self, cx: Cx) -> Outcome<T::Output> {
        // SAFETY: the description of a call is inert until it is called, and is moved into the call: it does not rely
        // on its address.
        let task = *unsafe { Pin::into_inner_unchecked(self) };
        // SAFETY: the caller guarantees that it opens the outcome and awaits a suspended callee.
        unsafe { task.call(cx) }
    }

    fn start(self, cx: Cx) -> FrameRef {
        // SAFETY: the description of a call does not rely on its address, as in `call`.
        unsafe { *Pin::into_inner_unchecked(self) }.start(cx)
    }
}
