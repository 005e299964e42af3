//! Work at many nodes, and the collection of its results.
//!
//! The worker that makes the call sends all messages itself, before it waits. Messages between a pair of workers
//! arrive in order, so these arrive after the worker's earlier ones. A loop like `join_all` would let a thief send some
//! of them, which could overtake.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};

use super::remote::{Work, at_home};
use crate::call::outcome::{AnyTask, Child, Outcome};
use crate::call::{Task, poll_in_place, sealed};
use crate::frame::context::{Cx, cx};
use crate::frame::origin::pack;
use crate::frame::{BodyFrame, CallSite, Delivered, Payload, drop_quietly};

/// A task that runs each work at its node, and delivers the results in the order of `works`. At most one work is for
/// the current node.
///
/// A caller that starts this task as a frame uses [`located::start`](crate::call::located::start).
///
/// # Panics
/// With the first panic in the order of `works`, when all have ended.
pub(crate) struct Gathered<W> {
    pub(crate) works: Vec<W>,
    pub(crate) place: CallSite,
}

impl<W> sealed::Sealed for Gathered<W> {}
impl<W: Work> Task for Gathered<W> {
    type Output = Vec<W::Output>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Vec<W::Output>> {
        let Gathered { mut works, place } = self;
        // This node's own work begins last, when the others are in progress.
        let own = works.iter().position(|work| work.node() == cx.node());
        let own = own.map(|at| (at, works.remove(at)));
        // SAFETY: `cx` is the current worker's; `gather` waits for a suspended callee.
        let begun = |work| begin(cx, || unsafe { at_home(cx, work, place) });
        let mut branches: Vec<_> = works.into_iter().map(begun).collect();
        if let Some((at, work)) = own {
            branches.insert(at, begun(work));
        }
        gather(cx, branches)
    }
}

/// The result of a call that has ended, or its suspended callee.
pub(crate) type Branch<V> = Result<Delivered<V>, Child<AnyTask<V>>>;

/// Waits for all suspended callees, then delivers the values in order, or throws the first panic in order.
pub(crate) fn gather<V>(cx: Cx, branches: Vec<Branch<V>>) -> Outcome<Vec<V>> {
    poll_in_place(Gathering(branches), cx, BodyFrame::<Gathering<V>>::VTABLE)
}

/// Begins a call. Catches its panic, which [`gather`] throws after all suspended callees have ended.
pub(crate) fn begin<V>(cx: Cx, call: impl FnOnce() -> Outcome<V>) -> Branch<V> {
    match catch_unwind(AssertUnwindSafe(|| call().open())) {
        Ok(Ok(value)) => Ok(Delivered::Value(value)),
        Ok(Err(child)) => {
            cx.send_pending_call();
            Err(child)
        }
        Err(payload) => Ok(Delivered::Panic(pack(payload))),
    }
}

/// The body that waits for all branches.
struct Gathering<V>(Vec<Branch<V>>);

impl<V> Unpin for Gathering<V> {}

impl<V> Future for Gathering<V> {
    type Output = Vec<V>;
    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<Vec<V>> {
        // SAFETY: only a worker polls a body, and the context is used within this poll only.
        let cx = unsafe { cx() };
        // While the stack unwinds to frames, no body proceeds, even if all callees have ended.
        let look = !cx.leaving();
        let out = self.0.iter().filter_map(|branch| branch.as_ref().err().filter(|child| !(look && child.ended())));
        if out.inspect(|child| cx.wait_for(child.frame())).count() > 0 {
            cx.core().counters.fallback();
            return Poll::Pending;
        }
        let mut branches = std::mem::take(&mut self.0).into_iter();
        let mut values = Vec::with_capacity(branches.len());
        let panic = branches.by_ref().find_map(|branch| match branch.unwrap_or_else(Child::deliver) {
            Delivered::Value(value) => {
                values.push(value);
                None
            }
            Delivered::Panic(payload) => Some(payload),
            Delivered::Cancelled => Some(Payload::new("work at a node was cancelled")),
        });
        let Some(payload) = panic else { return Poll::Ready(values) };
        // The other results are not used, and no caller could receive a panic of their destructors.
        values.into_iter().for_each(drop_quietly);
        branches.for_each(drop_quietly);
        payload.resume()
    }
}
