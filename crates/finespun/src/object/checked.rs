//! Calls that deliver errors as values.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};

use super::call::{Call, Method};
use super::error::{CallError, Refusal, Which};
use super::host::Nodes;
use crate::call::located;
use crate::call::located::Located;
use crate::call::outcome::{Child, Outcome};
use crate::call::{Task, call, sealed};
use crate::frame::context::{Cx, cx};
use crate::frame::origin::pack;
use crate::frame::{BodyFrame, Delivered, FrameRef};
use crate::run::settle;

/// A [`Call`] that delivers any error as a value.
#[must_use = "a call does nothing until it is awaited"]
pub struct Checked<M: Method>(pub(super) Call<M>);

/// An identity function. For an awaited `call.checked()`, `#[task]` assumes that it stores only the call, and wraps it
/// in this function, whose parameter type makes rustc verify that the method is this library's.
#[inline(always)]
pub fn checked<M: Method>(call: Checked<M>) -> Checked<M> {
    call
}

impl<M: Method> sealed::Sealed for Checked<M> {}
impl<M: Method> Task for Checked<M> {
    type Output = Result<M::Output, CallError>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Self::Output> {
        let which = Call::<M>::which(self.0.target());
        if !Nodes::of(cx).knows(self.0.target().name()) {
            // SAFETY: the value is this call's own outcome, as the call protocol requires.
            return unsafe { Outcome::done(Err(which.refused(Refusal::OTHER_RUNTIME))) };
        }
        // SAFETY: `cx` is the current worker's, and a child is waited for below.
        match catch_unwind(AssertUnwindSafe(|| unsafe { call(cx, self.0) }.open())) {
            // SAFETY: the value is this call's own outcome, as the call protocol requires.
            Ok(Ok(value)) => unsafe { Outcome::done(Ok(value)) },
            // SAFETY: the value is this call's own outcome, as the call protocol requires.
            Err(payload) => unsafe { Outcome::done(Err(which.panicked(pack(payload)))) },
            Ok(Err(child)) => {
                cx.core().counters.fallback();
                cx.wait_for(child.frame());
                let body = Located::here(cx, Catching { child: Some(child), which });
                let frame = BodyFrame::with_table(cx, body, Located::<Catching<M>>::TABLE);
                // SAFETY: the frame waits for the child, as if a poll had returned pending, and no other code knows the
                // frame.
                unsafe { settle(cx, frame) };
                Outcome::suspended(frame)
            }
        }
    }

    /// Makes a located frame: if a thief ran the task, its messages could overtake earlier ones of this worker.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// The body of a frame that waits for a call, and turns its panic into an error.
struct Catching<M: Method> {
    child: Option<Child<Call<M>>>,
    which: Which,
}

impl<M: Method> Unpin for Catching<M> {}

impl<M: Method> Future for Catching<M> {
    type Output = Result<M::Output, CallError>;
    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<Self::Output> {
        let which = self.which;
        let Some(child) = self.child.take_if(|child| child.ended()) else {
            match &self.child {
                // SAFETY: only a worker polls a body, and the context is used at once.
                Some(child) => unsafe { cx() }.wait_for(child.frame()),
                None => unreachable!("a call ends once"),
            }
            return Poll::Pending;
        };
        Poll::Ready(match child.deliver() {
            Delivered::Value(value) => Ok(value),
            Delivered::Panic(payload) => Err(which.panicked(payload)),
            Delivered::Cancelled => Err(which.cancelled()),
        })
    }
}
