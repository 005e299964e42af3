//! Work that is done on another node, and its answer.
//!
//! ```text
//!   caller's worker                                    the node's worker
//!
//!   leaf <- Continuation --- Request ----------------> runs the work on its stack
//!                                                        ended: answers at once
//!   leaf <--------------------------------- Answer       suspended: a frame waits for it, and answers
//!   the caller goes on
//! ```
//!
//! The wrappers of hybrid-execution-model, section 3.3: the method runs straight from the message, and only if it blocks
//! is there a frame. The answer goes to the worker whose leaf it is, as a message of its own, so that a waiting task is
//! made ready by the worker that runs it and no address is followed by anybody else.

use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};

use super::host::Nodes;
use crate::message::packet::Handler;
use crate::task::call::{self, Task, sealed};
use crate::task::context::{Cx, cx};
use crate::task::frame::{BodyFrame, Delivered, Payload, Place, quietly};
use crate::task::located::Located;
use crate::task::origin::{self, pack};
use crate::task::outcome::{Child, Outcome};
use crate::task::spawn::Keeper;
use crate::task::suspend::{Continuation, suspend_at};

/// Something that is done at a node.
pub(crate) trait Work: Send + 'static {
    /// What comes of it.
    type Output: Send + 'static;

    /// The node.
    fn node(&self) -> u32;

    /// Does it, at the node.
    ///
    /// # Safety
    /// As [`Task::call`]; `cx` is at the node.
    unsafe fn run(self, cx: Cx) -> Outcome<Self::Output>;
}

/// Where the answer to a piece of work goes.
pub(crate) trait Reply<T>: Send + 'static {
    /// At the worker whose leaf it is.
    fn reply(self, result: Result<T, Payload>);
}

impl<T: Send + 'static> Reply<T> for Continuation<T> {
    fn reply(self, result: Result<T, Payload>) {
        drop(self.complete(result));
    }
}

/// Sends the work to its node, and waits for the answer.
///
/// # Safety
/// As [`Task::call`].
pub(crate) unsafe fn request<W, T, R>(
    cx: Cx,
    work: W,
    place: Place,
    reply: impl FnOnce(Continuation<T>) -> R,
) -> Outcome<T>
where
    W: Work,
    T: Send + 'static,
    R: Reply<W::Output>,
{
    let nodes = Nodes::of(cx);
    let wait = suspend_at(place, |k: Continuation<T>| {
        let to = nodes.worker_of(work.node());
        nodes.send(cx, to, Request { run: cx.run(), reply: reply(k), work });
    });
    // SAFETY: passed on.
    unsafe { wait.forced().call(cx) }
}

/// Work on its way.
struct Request<W, R> {
    run: u32,
    reply: R,
    work: W,
}

/// The type of a child that some work has left.
struct WorkTask<W>(PhantomData<W>);

impl<W> sealed::Sealed for WorkTask<W> {}
impl<W: Work> Task for WorkTask<W> {
    type Output = W::Output;
    const STRAIGHT: bool = false;
    unsafe fn call(self, _: Cx) -> Outcome<W::Output> {
        unreachable!("the type of a child")
    }
}

impl<W: Work, R: Reply<W::Output>> Handler for Request<W, R> {
    fn handle(self, cx: Cx, from: usize) {
        let Request { run, reply, work } = self;
        let home = from as u32;
        if !cx.try_enter_run(run) {
            // Nobody waits any more. A destructor's panic has nowhere to go, here and below.
            return quietly(|| drop((reply, work)));
        }
        cx.enter_node(work.node());
        origin::forget();
        // SAFETY: the worker is at the node; a child is waited for below.
        let called = catch_unwind(AssertUnwindSafe(|| unsafe { work.run(cx) }.open::<WorkTask<W>>()));
        match called {
            Ok(Ok(value)) => answer(cx, home, reply, Ok(value)),
            Ok(Err(child)) => Answering::start(cx, home, reply, child),
            Err(payload) => answer(cx, home, reply, Err(pack(payload))),
        }
        cx.flush_exposed();
    }
}

/// Sends the answer.
#[inline]
fn answer<T: Send + 'static, R: Reply<T>>(cx: Cx, home: u32, reply: R, result: Result<T, Payload>) {
    let nodes = Nodes::of(cx);
    if home == nodes.worker() {
        quietly(|| reply.reply(result));
    } else {
        nodes.send(cx, home, Answer { reply, result });
    }
}

/// An answer on its way.
struct Answer<T, R> {
    reply: R,
    result: Result<T, Payload>,
}

impl<T: Send + 'static, R: Reply<T>> Handler for Answer<T, R> {
    #[inline]
    fn handle(self, _: Cx, _: usize) {
        quietly(|| self.reply.reply(self.result));
    }
}

/// The frame that waits for work that has been suspended, and answers: the papers' proxy context.
struct Answering<W: Work, R: Reply<W::Output>> {
    child: Option<Child<WorkTask<W>>>,
    reply: Option<R>,
    home: u32,
    keeper: Option<Keeper>,
}

impl<W: Work, R: Reply<W::Output>> Unpin for Answering<W, R> {}

impl<W: Work, R: Reply<W::Output>> Answering<W, R> {
    fn start(cx: Cx, home: u32, reply: R, child: Child<WorkTask<W>>) {
        // The run does not end before this does.
        let run = cx.current_run();
        run.enter();
        cx.wait_for(child.frame());
        let body = Answering { child: Some(child), reply: Some(reply), home, keeper: Some(Keeper::Run(run)) };
        let frame = BodyFrame::with_table(cx, Located::here(cx, body), Located::<Self>::TABLE);
        // SAFETY: just made.
        let detached = unsafe { frame.as_ref() }.slot.detach();
        debug_assert!(detached, "nobody has run the frame yet");
        // SAFETY: the frame waits for the child, as if a poll had said so, and nobody else knows it.
        unsafe { call::settle(cx, frame) };
    }
}

impl<W: Work, R: Reply<W::Output>> Future for Answering<W, R> {
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
        if let Some(reply) = self.reply.take() {
            answer(cx, self.home, reply, result);
        }
        Poll::Ready(())
    }
}

impl<W: Work, R: Reply<W::Output>> Drop for Answering<W, R> {
    fn drop(&mut self) {
        // The run is told when the frame has completed, and nothing of it is left.
        if let Some(keeper) = self.keeper.take() {
            // SAFETY: a body is destroyed by a worker; used at once.
            unsafe { cx() }.set_keeper(keeper);
        }
    }
}
