//! Work that is done on another node, and its answer.
//!
//! ```text
//!   caller's worker                                    the node's worker
//!
//!   leaf <- Continuation --- Request ----------------> runs the work on its stack
//!                                                        ended: answers at once
//!   leaf <--------------------------------- Answer       suspended: a frame waits for it, and answers
//!   the caller goes on                                   ends in a request of its own: that is handed the answer
//! ```
//!
//! The wrappers of hybrid-execution-model, section 3.3: the method runs straight from the message, and only if it blocks
//! is there a frame. The answer goes to the worker whose leaf it is, as a message of its own, so that a waiting task is
//! made ready by the worker that runs it and no address is followed by anybody else.
//!
//! *Forwarding.* While work that a message has begun is on the stack, a request of its own is *withheld*: made, but not
//! sent before somebody waits for its leaf, or the worker sends something else. Work whose last await is a call returns
//! the leaf of that call as it is; so if what comes back to [`deliver`] is the leaf of the withheld request, nobody in
//! between waits for it, and the request goes out with the first caller's continuation in place of its own. A chain of
//! such calls over many nodes answers once, and none of those nodes keeps a frame (hybrid-execution-model, section 3.2.2).

use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;

use super::Portable;
use super::answering::Answering;
use super::error::{read_payload, write_payload};
use super::host::Nodes;
use crate::message::packet::Handler;
use crate::message::wire::{Reader, Wire, Writer};
use crate::task::call::{Task, sealed};
use crate::task::context::{self, Cx};
use crate::task::frame::{FrameRef, Payload, Place, quietly, quietly_here};
use crate::task::origin::{self, pack};
use crate::task::outcome::{Child, Outcome};
use crate::task::suspend::{Continuation, suspend_beneath};

/// Something that is done at a node.
pub(crate) trait Work: Wire + Send + 'static {
    /// What comes of it.
    type Output: Portable;

    /// The node.
    fn node(&self) -> u32;

    /// Does it, at the node.
    ///
    /// # Safety
    /// As [`Task::call`]; `cx` is at the node.
    unsafe fn run(self, cx: Cx) -> Outcome<Self::Output>;
}

/// Where an answer goes.
pub(crate) struct Reply<T> {
    /// The worker whose leaf it is, or [`ANY`].
    pub(super) home: u32,
    /// Nothing if nobody wants to know.
    pub(super) k: Option<Continuation<T>>,
}

/// Whoever has the answer resolves the continuation.
pub(super) const ANY: u32 = u32::MAX;

/// Sends the work to its node, and waits for the answer.
///
/// # Safety
/// As [`Task::call`].
pub(crate) unsafe fn request<W: Work>(cx: Cx, work: W, place: Place) -> Outcome<W::Output> {
    let nodes = Nodes::of(cx);
    let wait = suspend_beneath(cx, place, |k: Continuation<W::Output>| {
        let leaf = k.leaf();
        let request = Request { group: cx.group(), home: nodes.worker(), k: Some(k), work };
        if cx.hands_on() {
            nodes.withhold(cx, leaf, Box::new(request));
        } else {
            nodes.send(cx, nodes.worker_of(request.work.node()), request);
        }
    });
    // SAFETY: passed on.
    unsafe { wait.forced().call(cx) }
}

/// Does the work, if this is its node; else sends it there, and waits for the answer.
///
/// # Safety
/// As [`Task::call`].
#[inline]
pub(crate) unsafe fn at_home<W: Work>(cx: Cx, work: W, place: Place) -> Outcome<W::Output> {
    if work.node() == cx.node() {
        // SAFETY: passed on; here.
        return unsafe { work.run(cx) };
    }
    // SAFETY: passed on.
    unsafe { request(cx, work, place) }
}

/// Sends the work to its node, and asks for no answer.
pub(super) fn tell<W: Work>(cx: Cx, work: W) {
    let nodes = Nodes::of(cx);
    let request = Request { group: cx.run(), home: ANY, k: None, work };
    nodes.send(cx, nodes.worker_of(request.work.node()), request);
}

/// Work on its way, and its [`Reply`]: flat, for a call with 16 bytes of arguments to lie in one cache line.
struct Request<W: Work> {
    /// What it is done for: the caller's group. It does not end before the caller has its answer; for a request that nobody waits
    /// for, the run.
    group: u32,
    home: u32,
    k: Option<Continuation<W::Output>>,
    work: W,
}

/// A request that has not been sent.
pub(super) trait Withheld {
    /// Sends it.
    fn send(self: Box<Self>, cx: Cx);

    /// Sends it with another reply: nobody waits for its own.
    ///
    /// # Safety
    /// `leaf` is nothing or what [`Continuation::into_leaf`] gave of a continuation of the request's own output, which is
    /// given up; the leaf of the request's own continuation has been left by [`Child::unwaited`].
    unsafe fn redirect(self: Box<Self>, cx: Cx, home: u32, leaf: Option<FrameRef>);
}

impl<W: Work> Withheld for Request<W> {
    fn send(self: Box<Self>, cx: Cx) {
        let nodes = Nodes::of(cx);
        nodes.send(cx, nodes.worker_of(self.work.node()), *self);
    }

    unsafe fn redirect(mut self: Box<Self>, cx: Cx, home: u32, leaf: Option<FrameRef>) {
        // SAFETY: by the caller's word.
        let k = leaf.map(|leaf| unsafe { Continuation::from_leaf(leaf) });
        self.home = home;
        if let Some(own) = std::mem::replace(&mut self.k, k) {
            own.unwaited();
        }
        self.send(cx);
    }
}

/// The type of a child that some work has left.
pub(crate) struct WorkTask<T>(PhantomData<fn() -> T>);

impl<T> sealed::Sealed for WorkTask<T> {}
impl<T> Task for WorkTask<T> {
    type Output = T;
    const STRAIGHT: bool = false;
    unsafe fn call(self, _: Cx) -> Outcome<T> {
        unreachable!("the type of a child")
    }
}

impl<W: Work> Handler for Request<W> {
    fn write(self, to: &mut Writer) -> bool {
        let Request { group, home, k, work } = self;
        match (Writer::part(|to| work.write(to)), k) {
            (Ok(part), k) => {
                to.value(&(group, home, k));
                to.append(part);
                return true;
            }
            (Err(payload), Some(k)) => quietly(|| k.end(Err(pack(payload)))),
            // SAFETY: messages are sent by workers; used at once.
            (Err(payload), None) => unsafe { context::cx() }.fail(pack(payload)),
        }
        false
    }

    fn arrive(mut from: Reader<'_>, cx: Option<Cx>) {
        let Ok((group, home, k)) = from.value() else { unreachable!("the library's own") };
        match (W::read(&mut from), cx) {
            (Ok(work), Some(cx)) => Request { group, home, k, work }.handle(cx),
            (Err(error), Some(cx)) if cx.try_enter(group) => {
                answer(cx, Reply { home, k }, Err(Payload::new(error.to_string())));
            }
            _ => {}
        }
    }

    fn handle(self, cx: Cx) {
        let Request { group, home, k, work } = self;
        if !cx.try_enter(group) {
            cx.leave_run();
            // Nobody waits any more, or only to be destroyed. A destructor's panic has nowhere to go, here and below.
            return quietly(|| drop((k, work)));
        }
        cx.enter_node(work.node());
        origin::forget();
        // SAFETY: the worker is at the node; the outcome is that of this call.
        unsafe { deliver(cx, Reply { home, k }, |cx| work.run(cx)) };
        cx.flush_exposed();
    }
}

/// Makes a call, and has its value sent to where it is wanted, now or when the call has ended.
///
/// # Safety
/// `call` is called as [`Task::call`]; it borrows nothing.
#[inline]
pub(super) unsafe fn deliver<T: Portable>(cx: Cx, reply: Reply<T>, call: impl FnOnce(Cx) -> Outcome<T>) {
    let before = cx.set_hands_on(true);
    let called = catch_unwind(AssertUnwindSafe(|| call(cx).open::<WorkTask<T>>()));
    cx.set_hands_on(before);
    delivered(cx, reply, called);
}

/// What a call has come to is sent to where it is wanted. Compiled for each type of value, and not for each call.
fn delivered<T: Portable>(cx: Cx, reply: Reply<T>, called: thread::Result<Result<T, Child<WorkTask<T>>>>) {
    match called {
        Ok(Ok(value)) => answer(cx, reply, Ok(value)),
        Ok(Err(child)) => match Nodes::of(cx).take_withheld(cx, child.frame()) {
            Some(request) => hand_on(cx, reply, child, request),
            None => Answering::start(cx, reply, child),
        },
        Err(payload) => answer(cx, reply, Err(pack(payload))),
    }
}

/// The request that a call has ended in, `child`, answers in its place.
fn hand_on<T>(cx: Cx, reply: Reply<T>, child: Child<WorkTask<T>>, request: Box<dyn Withheld>) {
    child.unwaited();
    if reply.home == ANY {
        // Nobody of this run waits for it, or who waits is not known to be of this run.
        cx.current_run().posts();
    }
    cx.context().counters.messages_handed_on.add(1);
    let leaf = reply.k.map(Continuation::into_leaf);
    // SAFETY: the request delivers a `T`: the call has returned its leaf for a frame that does.
    unsafe { request.redirect(cx, reply.home, leaf) };
}

/// Sends the answer.
#[inline]
pub(super) fn answer<T: Portable>(cx: Cx, reply: Reply<T>, result: Result<T, Payload>) {
    let nodes = Nodes::of(cx);
    let Reply { home, k } = reply;
    let Some(k) = k else {
        return match result {
            Ok(value) => quietly(|| drop(value)),
            // Nobody else wants to know.
            Err(payload) => cx.fail(payload),
        };
    };
    if home == ANY || home == nodes.worker() {
        nodes.charge();
        quietly_here(|| k.end(result));
    } else {
        nodes.send(cx, home, Answer { k, result });
    }
}

/// An answer on its way.
struct Answer<T> {
    k: Continuation<T>,
    result: Result<T, Payload>,
}

impl<T: Portable> Handler for Answer<T> {
    fn write(self, to: &mut Writer) -> bool {
        let part = self.result.and_then(|value| {
            let part = Writer::part(|to| to.value(&value)).map_err(pack);
            // Its copy arrives. A destructor's panic has nowhere to go.
            quietly(|| drop(value));
            part
        });
        to.value(&(self.k, part.is_ok()));
        match part {
            Ok(part) => to.append(part),
            Err(payload) => write_payload(payload, to),
        }
        true
    }

    fn arrive(mut from: Reader<'_>, cx: Option<Cx>) {
        let Ok((k, good)) = from.value::<(Continuation<T>, bool)>() else { unreachable!("the library's own") };
        let result = if good {
            from.value().map_err(|error| Payload::new(error.to_string()))
        } else {
            Err(read_payload(&mut from))
        };
        match cx {
            Some(cx) => Answer { k, result }.handle(cx),
            None => drop((k, result)),
        }
    }

    #[inline]
    fn handle(self, cx: Cx) {
        /// Nobody waits any more.
        #[cold]
        #[inline(never)]
        fn unsent<T>(cx: Cx, result: Result<T, Payload>) {
            let _left = cx.leave_tasks();
            quietly(|| drop(result));
        }
        if let Err(result) = self.k.complete(self.result) {
            unsent(cx, result);
        }
    }
}
