//! Located frames: frames that run at one node only, for methods of objects.
//!
//! A located frame may hold values that are not `Send`, and references into objects, which only the worker of their
//! node accesses. So it is never in a deque: the thread that makes it ready passes it to that worker
//! ([`crate::frame::home`] returns the node). Before its body continues, the worker enters the body's node.

use std::future::Future;
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};

use super::outcome::Outcome;
use super::{CallFuture, Task, poll_in_place};
use crate::frame::context::{Cx, cx};
use crate::frame::{BodyFrame, FrameRef, VTable};

/// A body that runs at one node.
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
        // SAFETY: the body is pinned together with the `Located` that contains it, and is not moved.
        unsafe { self.map_unchecked_mut(|located| &mut located.body) }.poll(std)
    }
}

impl<F: Future> Located<F> {
    /// The table of frames around such bodies. It has the name of the inner body's type, for reports.
    pub(crate) const TABLE: &'static VTable =
        &VTable { home: Some(Self::home), name: std::any::type_name::<F>, ..*BodyFrame::<Self>::VTABLE };

    /// Creates a body for the current node.
    pub(crate) fn here(cx: Cx, body: F) -> Located<F> {
        Located { node: cx.node(), body }
    }

    /// Returns the inner body of a frame.
    ///
    /// # Safety
    /// The body is live, and this worker alone runs the frame.
    pub(crate) unsafe fn body<'a>(frame: FrameRef) -> &'a mut F {
        // SAFETY: the caller guarantees that the body is live and that it alone accesses it.
        unsafe { &mut (*BodyFrame::<Self>::body(frame).as_ptr()).body }
    }

    unsafe fn home(frame: FrameRef) -> u32 {
        // SAFETY: the caller guarantees that the body is live; the field does not change.
        unsafe { (*BodyFrame::<Self>::body(frame).as_ptr()).node }
    }
}

/// Makes a ready frame that will run the task from its beginning, at the current node.
pub(crate) fn start<Tk: Task>(cx: Cx, task: Tk) -> FrameRef {
    start_body(cx, CallFuture::fresh(task))
}

/// Makes a ready frame that will run `body`, at the current node.
pub(crate) fn start_body<F: Future>(cx: Cx, body: F) -> FrameRef {
    let frame = BodyFrame::with_table(cx, Located::here(cx, body), Located::<F>::TABLE);
    cx.make_ready(frame);
    frame
}

/// Runs a body at the current node in a frame from the start, on this stack: the pinned schema.
pub(crate) fn poll_here<F: Future>(body: F, cx: Cx) -> Outcome<F::Output> {
    poll_in_place(Located::here(cx, body), cx, Located::<F>::TABLE)
}
