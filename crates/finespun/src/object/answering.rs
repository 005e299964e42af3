//! The frame that waits for suspended work, and answers: the papers' proxy context (hybrid-execution-model, section
//! 3.2.2).

use std::future::Future;
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};

use super::Portable;
use super::remote::{Reply, WorkTask, answer};
use crate::task::call;
use crate::task::context::{Cx, cx};
use crate::task::frame::{BodyFrame, Delivered, quietly};
use crate::task::located::Located;
use crate::task::outcome::Child;
use crate::task::spawn::CompletionOwner;

/// The body of that frame.
pub(super) struct Answering<T> {
    child: Option<Child<WorkTask<T>>>,
    reply: Option<Reply<T>>,
    completion_owner: Option<CompletionOwner>,
}

impl<T> Unpin for Answering<T> {}

impl<T: Portable> Answering<T> {
    /// Makes the frame, which waits for the child and then answers.
    pub(super) fn start(cx: Cx, reply: Reply<T>, child: Child<WorkTask<T>>) {
        // The run does not end before this frame does.
        let run = cx.current_run();
        run.enter();
        cx.wait_for(child.frame());
        let body =
            Answering { child: Some(child), reply: Some(reply), completion_owner: Some(CompletionOwner::Run(run)) };
        let frame = BodyFrame::with_table(cx, Located::here(cx, body), Located::<Self>::TABLE);
        // SAFETY: the frame has just been made.
        let detached = unsafe { frame.as_ref() }.slot.detach();
        debug_assert!(detached, "nobody has run the frame yet");
        // SAFETY: the frame waits for the child, as if a poll had returned pending, and no other code knows the frame.
        unsafe { call::settle(cx, frame) };
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
            // The run is ending, and the caller's wait with it.
            Delivered::Cancelled => return Poll::Ready(()),
        };
        // Leave the run before answering: the receiver of the answer may end the run, and no part of the run may then
        // be left. This frame keeps nothing of the run but the answer.
        if let Some(callback) = self.completion_owner.take().and_then(CompletionOwner::notify) {
            // As in `run::run`.
            cx.leave_run();
            quietly(callback);
        }
        if let Some(reply) = self.reply.take() {
            answer(cx, reply, result);
        }
        Poll::Ready(())
    }
}

impl<T> Drop for Answering<T> {
    fn drop(&mut self) {
        // The frame has been cancelled. The run is notified when nothing of the frame is left.
        if let Some(completion_owner) = self.completion_owner.take() {
            // SAFETY: only a worker destroys a body, and the context is used at once.
            unsafe { cx() }.set_completion_owner(completion_owner);
        }
    }
}
