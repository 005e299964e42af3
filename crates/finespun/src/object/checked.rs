//! Calls that deliver what goes wrong as an error.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};

use super::call::{Call, Method};
use super::error::{CallError, Refusal, Which};
use super::host::Nodes;
use crate::task::call::{Task, call, sealed, settle};
use crate::task::context::{Cx, cx};
use crate::task::frame::{BodyFrame, Delivered, FrameRef};
use crate::task::located;
use crate::task::located::Located;
use crate::task::origin::pack;
use crate::task::outcome::{Child, Outcome};

/// A [`Call`] that delivers what goes wrong as an error.
#[must_use = "a call does nothing until it is awaited"]
pub struct Checked<M: Method>(pub(super) Call<M>);

/// The compiler of tasks takes this for one that keeps nothing but the call, and rustc sees that it is.
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
            // SAFETY: the call protocol.
            return unsafe { Outcome::done(Err(which.refused(Refusal::OTHER_RUNTIME))) };
        }
        // SAFETY: passed on; a child is waited for below.
        match catch_unwind(AssertUnwindSafe(|| unsafe { call(cx, self.0) }.open())) {
            // SAFETY: the call protocol.
            Ok(Ok(value)) => unsafe { Outcome::done(Ok(value)) },
            // SAFETY: the call protocol.
            Err(payload) => unsafe { Outcome::done(Err(which.panicked(pack(payload)))) },
            Ok(Err(child)) => {
                cx.context().counters.fallback();
                cx.wait_for(child.frame());
                let body = Located::here(cx, Catching { child: Some(child), which });
                let frame = BodyFrame::with_table(cx, body, Located::<Catching<M>>::TABLE);
                // SAFETY: the frame waits for the child, as if a poll had said so, and nobody else knows it.
                unsafe { settle(cx, frame) };
                Outcome::suspended(frame)
            }
        }
    }

    /// By this worker: a thief would send by another way.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// Waits for a child, and catches.
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
                // SAFETY: a body is polled by a worker; used at once.
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
