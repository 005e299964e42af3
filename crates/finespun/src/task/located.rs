//! Frames that run at one node only: those of objects' methods.
//!
//! Such a frame may hold what is not `Send`, and references into objects, which only the worker of their node touches.
//! So it is never in a deque: whoever makes it ready hands it to that worker ([`super::frame::home`] says which). Before
//! its body goes on, the worker is at the body's node.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};

use super::call::{CallFuture, Task, poll_in_place};
use super::context::{Cx, cx};
use super::frame::{BodyFrame, FrameRef, VTable};
use super::outcome::Outcome;

/// A body with a home.
pub(crate) struct Located<F> {
    node: u32,
    body: F,
}

impl<F: Future> Future for Located<F> {
    type Output = F::Output;
    #[inline]
    fn poll(self: Pin<&mut Self>, std: &mut StdContext<'_>) -> Poll<F::Output> {
        // SAFETY: a body is polled by a worker; used at once.
        unsafe { cx() }.enter_node(self.node);
        // SAFETY: the body is pinned with what it lies in.
        unsafe { self.map_unchecked_mut(|located| &mut located.body) }.poll(std)
    }
}

impl<F: Future> Located<F> {
    /// For frames around such bodies. The name is the body's own, for reports.
    pub(crate) const TABLE: &'static VTable =
        &VTable { home: Some(Self::home), name: std::any::type_name::<F>, ..*BodyFrame::<Self>::VTABLE };

    /// A body of the node that this code runs at.
    pub(crate) fn here(cx: Cx, body: F) -> Located<F> {
        Located { node: cx.node(), body }
    }

    /// The body of a frame around one.
    ///
    /// # Safety
    /// The body is there, and this worker alone runs the frame.
    pub(crate) unsafe fn body<'a>(frame: FrameRef) -> &'a mut F {
        // SAFETY: by the caller's word.
        unsafe { &mut (*BodyFrame::<Self>::body(frame).as_ptr()).body }
    }

    unsafe fn home(frame: FrameRef) -> u32 {
        // SAFETY: by the caller's word the body is there; the field is written once.
        unsafe { (*BodyFrame::<Self>::body(frame).as_ptr()).node }
    }
}

/// Makes a ready frame that will run the task from its beginning, at this node.
pub(crate) fn start<Tk: Task>(cx: Cx, task: Tk) -> FrameRef {
    start_body(cx, CallFuture::fresh(task))
}

/// Makes a ready frame of that body, at this node.
pub(crate) fn start_body<F: Future>(cx: Cx, body: F) -> FrameRef {
    let frame = BodyFrame::with_table(cx, Located::here(cx, body), Located::<F>::TABLE);
    cx.make_ready(frame);
    frame
}

/// Runs a body at this node in a frame from the start, on this stack: the pinned schema.
pub(crate) fn poll_here<F: Future>(body: F, cx: Cx) -> Outcome<F::Output> {
    poll_in_place(Located::here(cx, body), cx, Located::<F>::TABLE)
}
