//! The frame that answers a request whose work has suspended: it waits for the work, then sends the result. The papers'
//! proxy context [H §3.3].

use std::future::Future;
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};

use super::Portable;
use super::remote::{Reply, answer};
use crate::call::located::Located;
use crate::call::outcome::{AnyTask, Child};
use crate::frame::context::{Cx, cx};
use crate::frame::{BodyFrame, Delivered, quietly};
use crate::run::owner::CompletionOwner;
use crate::run::settle;

/// The body of the answering frame.
pub(super) struct Answering<T> {
    child: Option<Child<AnyTask<T>>>,
    reply: Option<Reply<T>>,
    completion_owner: Option<CompletionOwner>,
}

impl<T> Unpin for Answering<T> {}

impl<T: Portable> Answering<T> {
    /// Makes a frame that waits for `child` and then sends its result to `reply`.
    pub(super) fn start(cx: Cx, reply: Reply<T>, child: Child<AnyTask<T>>) {
        // The run does not end before the work has.
        let run = cx.current_run();
        run.enter();
        cx.wait_for(child.frame());
        let body =
            Answering { child: Some(child), reply: Some(reply), completion_owner: Some(CompletionOwner::Run(run)) };
        let frame = BodyFrame::with_table(cx, Located::here(cx, body), Located::<Self>::TABLE);
        // SAFETY: the frame has just been made.
        let detached = unsafe { frame.as_ref() }.slot.detach();
        debug_assert!(detached, "the frame has not run");
        // SAFETY: the frame waits for the child, as if a poll had returned pending, and no other code knows the frame.
        unsafe { settle(cx, frame) };
    }
}

impl<T: Portable> Future for Answering<T> {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<()> {
        // SAFETY: only a worker polls a body, and the context is used within this poll only.
        let cx = unsafe { cx() };
        let Some(child) = self.child.take_if(|child| child.ended()) else {
            match &self.child {
                Some(child) => cx.wait_for(child.frame()),
                None => unreachable!("an answer is given once"),
            }
            return Poll::Pending;
        };
        let result = match child.deliver() {
            Delivered::Value(value) => Ok(value),
            Delivered::Panic(payload) => Err(payload),
            // The run has been cancelled or the work's group terminated. Dropping `reply` with the body ends the
            // caller's wait, if it has not ended yet.
            Delivered::Cancelled => return Poll::Ready(()),
        };
        let reply = self.reply.take();
        let has_waiter = reply.as_ref().is_some_and(|reply| reply.k.is_some());
        let leave = |this: &mut Self| {
            if let Some(callback) = this.completion_owner.take().and_then(CompletionOwner::notify) {
                // As in `run::run`: the callback must not run as part of the ended run.
                cx.leave_run();
                quietly(callback);
            }
        };
        // Leave the run's count before an answer that a task waits for: it may let the run end, which this frame must not
        // delay. From there on the frame uses nothing of the run but the answer. A panic that no task waits for fails the
        // run, so the run must not have ended.
        if has_waiter {
            leave(&mut self);
        }
        if let Some(reply) = reply {
            answer(cx, reply, result);
        }
        leave(&mut self);
        Poll::Ready(())
    }
}

impl<T> Drop for Answering<T> {
    fn drop(&mut self) {
        // The frame or its child has been cancelled. The worker notifies the run after it has destroyed the body.
        if let Some(completion_owner) = self.completion_owner.take() {
            // SAFETY: only a worker destroys a body, and the context is used at once.
            unsafe { cx() }.set_completion_owner(completion_owner);
        }
    }
}
