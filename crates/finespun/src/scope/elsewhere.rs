//! Waiting for a spawned task that may belong to another group than its waiter.
//!
//! Sweeps end a terminated group's waits. They cancel its leaves, and orphan its spawned frames: they remove the
//! frames' waiters. A spawned frame of another group is not terminated, keeps running, and is not found by the sweep of
//! its waiter's group. So the waiter records the wait with the team's groups, where that sweep finds it.

use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};

use super::spawn::Handle;
use crate::call::outcome::{Child, Outcome};
use crate::call::{Task, poll_in_place, sealed};
use crate::frame::BodyFrame;
use crate::frame::context::{Cx, cx};

/// A handle whose frame delivers a `V`: the value itself, or a box that holds it.
pub(super) struct Owned<'s, T, V>(Handle<'s, T>, PhantomData<fn() -> V>);

impl<'s, T, V> Owned<'s, T, V> {
    pub(super) fn new(handle: Handle<'s, T>) -> Owned<'s, T, V> {
        Owned(handle, PhantomData)
    }
}

impl<T, V> sealed::Sealed for Owned<'_, T, V> {}
impl<T, V> Task for Owned<'_, T, V> {
    type Output = V;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<V> {
        if self.0.is_of_group(cx) {
            return Outcome::suspended(self.0.into_frame());
        }
        let child = Child::<Self>::new(self.0.into_frame());
        cx.context().team().groups().awaits(child.frame(), cx.group());
        poll_in_place(Elsewhere(Some(child)), cx, BodyFrame::<Elsewhere<Self>>::VTABLE)
    }
}

/// The body of the frame that waits.
struct Elsewhere<Tk: Task>(Option<Child<Tk>>);

impl<Tk: Task> Unpin for Elsewhere<Tk> {}

impl<Tk: Task> Elsewhere<Tk> {
    /// Takes the child, and removes the record of the wait.
    fn take(&mut self, cx: Cx) -> Option<Child<Tk>> {
        self.0.take().inspect(|child| cx.context().team().groups().unregister_wait(child.frame()))
    }
}

impl<Tk: Task> Future for Elsewhere<Tk> {
    type Output = Tk::Output;
    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<Tk::Output> {
        // SAFETY: a body is polled by a worker; used within this poll.
        let cx = unsafe { cx() };
        if let Some(child) = self.0.as_ref().filter(|child| cx.leaving() || !child.ended()) {
            cx.wait_for(child.frame());
            return Poll::Pending;
        }
        match self.take(cx) {
            Some(child) => Poll::Ready(child.value()),
            None => unreachable!("a wait was polled after it had ended"),
        }
    }
}

impl<Tk: Task> Drop for Elsewhere<Tk> {
    fn drop(&mut self) {
        // SAFETY: a body is destroyed by a worker; used at once.
        drop(self.take(unsafe { cx() }));
    }
}
