//! Work at many nodes, and what comes of it.
//!
//! It is all begun at once, by the worker that calls it, and so follows what this node has sent before: between a pair of
//! nodes messages arrive in order. A loop like `join_all` would let a thief begin some, which would send them by another way.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};

use super::remote::{Work, WorkTask, at_home};
use crate::task::call::{Task, poll_in_place, sealed};
use crate::task::context::{Cx, cx};
use crate::task::frame::{BodyFrame, Delivered, Payload, Place, quietly};
use crate::task::origin::pack;
use crate::task::outcome::{Child, Outcome};

/// Does all of these, each at its node, and delivers what comes of them, in their order. At most one is for this node.
///
/// Whoever calls this task makes its frame, if it starts as one, by [`located::start`](crate::task::located::start).
///
/// # Panics
/// With the first panic, in their order, when all have ended.
pub(crate) struct Gathered<W> {
    pub(crate) works: Vec<W>,
    pub(crate) place: Place,
}

impl<W> sealed::Sealed for Gathered<W> {}
impl<W: Work> Task for Gathered<W> {
    type Output = Vec<W::Output>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Vec<W::Output>> {
        let Gathered { mut works, place } = self;
        // What is to be done here comes last: the others are under way by then.
        let own = works.iter().position(|work| work.node() == cx.node());
        let own = own.map(|at| (at, works.remove(at)));
        // SAFETY: `cx` is the current worker's.
        let begun = |work| begin(cx, || unsafe { at_home(cx, work, place) });
        let mut branches: Vec<_> = works.into_iter().map(begun).collect();
        if let Some((at, work)) = own {
            branches.insert(at, begun(work));
        }
        gather(cx, branches)
    }
}

/// What has ended, or is out.
pub(crate) type Branch<V> = Result<Delivered<V>, Child<WorkTask<V>>>;

/// Waits for all that is out, and delivers the values in their order, or the first panic.
pub(crate) fn gather<V>(cx: Cx, branches: Vec<Branch<V>>) -> Outcome<Vec<V>> {
    poll_in_place(Gathering(branches), cx, BodyFrame::<Gathering<V>>::VTABLE)
}

/// Begins a call. A panic waits for those that are out.
pub(crate) fn begin<V>(cx: Cx, call: impl FnOnce() -> Outcome<V>) -> Branch<V> {
    match catch_unwind(AssertUnwindSafe(|| call().open())) {
        Ok(Ok(value)) => Ok(Delivered::Value(value)),
        Ok(Err(child)) => {
            cx.send_withheld();
            Err(child)
        }
        Err(payload) => Ok(Delivered::Panic(pack(payload))),
    }
}

/// The frame that waits for all.
struct Gathering<V>(Vec<Branch<V>>);

impl<V> Unpin for Gathering<V> {}

impl<V> Future for Gathering<V> {
    type Output = Vec<V>;
    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<Vec<V>> {
        // SAFETY: a body is polled by a worker; used within this poll.
        let cx = unsafe { cx() };
        // While the stack is being given up, nothing goes on here, even if all have ended.
        let look = !cx.leaving();
        let out = self.0.iter().filter_map(|branch| branch.as_ref().err().filter(|child| !(look && child.ended())));
        if out.inspect(|child| cx.wait_for(child.frame())).count() > 0 {
            cx.context().counters.fallback();
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
        // Nobody sees what else there is, nor its destructors' panics.
        values.into_iter().for_each(|value| quietly(|| drop(value)));
        branches.for_each(|branch| quietly(|| drop(branch)));
        payload.resume()
    }
}
