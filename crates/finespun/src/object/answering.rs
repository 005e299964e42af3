//! The frame that waits for work that has been suspended, and answers: the papers' proxy context
//! (hybrid-execution-model, section 3.2.2).

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
use crate::task::spawn::Keeper;

/// Its body.
pub(super) struct Answering<T> {
    child: Option<Child<WorkTask<T>>>,
    reply: Option<Reply<T>>,
    keeper: Option<Keeper>,
}

impl<T> Unpin for Answering<T> {}

impl<T: Portable> Answering<T> {
    /// Waits for the child, and answers.
    pub(super) fn start(cx: Cx, reply: Reply<T>, child: Child<WorkTask<T>>) {
        // The run does not end before this does.
        let run = cx.current_run();
        run.enter();
        cx.wait_for(child.frame());
        let body = Answering { child: Some(child), reply: Some(reply), keeper: Some(Keeper::Run(run)) };
        let frame = BodyFrame::with_table(cx, Located::here(cx, body), Located::<Self>::TABLE);
        // SAFETY: just made.
        let detached = unsafe { frame.as_ref() }.slot.detach();
        debug_assert!(detached, "nobody has run the frame yet");
        // SAFETY: the frame waits for the child, as if a poll had said so, and nobody else knows it.
        unsafe { call::settle(cx, frame) };
    }
}

impl<T: Portable> Future for Answering<T> {
    type Output = ();
    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<()> {
        // SAFETY: a body is polled by a worker; used within this poll.
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
            // The run is at its end, and the caller's wait with it.
            Delivered::Cancelled => return Poll::Ready(()),
        };
        // The run is told first: whoever gets the answer may end it, and then nothing else should be left. Of the run
        // this frame keeps nothing but the answer.
        if let Some(told) = self.keeper.take().and_then(Keeper::tell) {
            // As in `run::run`.
            cx.leave_run();
            quietly(told);
        }
        if let Some(reply) = self.reply.take() {
            answer(cx, reply, result);
        }
        Poll::Ready(())
    }
}

impl<T> Drop for Answering<T> {
    fn drop(&mut self) {
        // It has been cancelled. The run is told when nothing of the frame is left.
        if let Some(keeper) = self.keeper.take() {
            // SAFETY: a body is destroyed by a worker; used at once.
            unsafe { cx() }.set_keeper(keeper);
        }
    }
}
