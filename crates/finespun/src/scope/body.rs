//! The frame of a spawned task.
//!
//! Sweeps and reports must find it, since a wait for it may be part of a cycle. So it always comes from a pool: a task
//! or a value that is too large is stored in a box.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};

use crate::call::{CallFuture, Task};
use crate::frame::context::{Cx, cx};
use crate::frame::origin::pack;
use crate::frame::pool::Class;
use crate::frame::{BodyFrame, FrameRef, VTable, frame_layout};
use crate::run::owner::CompletionOwner;

/// Returns whether a frame that delivers a `T` would be too large for a pool. If so, it delivers a `Box<T>`.
pub(super) const fn too_large<T>() -> bool {
    matches!(Class::of(frame_layout::<Spawned<Pin<Box<()>>>, T>()), Class::Large(_))
}

/// The body of a spawned task.
struct Spawned<C> {
    call: C,
    completion_owner: Option<CompletionOwner>,
}

impl<C> Unpin for Spawned<C> {}

impl<C: Future + Unpin> Future for Spawned<C> {
    type Output = C::Output;
    fn poll(mut self: Pin<&mut Self>, std: &mut StdContext<'_>) -> Poll<C::Output> {
        let call = &mut self.call;
        match catch_unwind(AssertUnwindSafe(|| Pin::new(call).poll(std))) {
            Ok(polled) => polled,
            Err(payload) => {
                let payload = pack(payload);
                match &self.completion_owner {
                    Some(completion_owner) => completion_owner.panicked(payload).resume(),
                    None => payload.resume(),
                }
            }
        }
    }
}

impl<C> Drop for Spawned<C> {
    fn drop(&mut self) {
        // The completion owner is notified when the frame has completed, and not earlier: see `run::run`.
        if let Some(completion_owner) = self.completion_owner.take() {
            // SAFETY: a body is destroyed by a worker; used at once.
            unsafe { cx() }.set_completion_owner(completion_owner);
        }
    }
}

impl<C: Future + Unpin> Spawned<C> {
    const TABLE: &'static VTable = &VTable { spawned: true, alone: true, ..*BodyFrame::<Self>::VTABLE };
    /// The table of a scope's task, whose panic the scope records, not the run.
    const SCOPED: &'static VTable = &VTable { alone: false, ..*Self::TABLE };
    const POOLED: bool = matches!(Self::TABLE.class, Class::Pooled(_));

    fn start(cx: Cx, group: u32, call: C, completion_owner: CompletionOwner) -> FrameRef {
        let table = if let CompletionOwner::Run(_) = completion_owner { Self::TABLE } else { Self::SCOPED };
        let frame = BodyFrame::of_group(cx, group, Spawned { call, completion_owner: Some(completion_owner) }, table);
        cx.make_ready(frame);
        frame
    }
}

/// A call that moves its value into a box.
struct IntoBox<C>(C);

impl<C: Future + Unpin> Future for IntoBox<C> {
    type Output = Box<C::Output>;
    fn poll(mut self: Pin<&mut Self>, std: &mut StdContext<'_>) -> Poll<Box<C::Output>> {
        Pin::new(&mut self.0).poll(std).map(Box::new)
    }
}

/// Makes the frame of a spawned task of `group`, ready to run. It delivers the value, or a box if the value is
/// [`too_large`].
pub(super) fn start<Tk: Task>(cx: Cx, group: u32, task: Tk, completion_owner: CompletionOwner) -> FrameRef {
    let call = CallFuture::fresh(task);
    if too_large::<Tk::Output>() {
        Spawned::start(cx, group, Box::pin(IntoBox(call)), completion_owner)
    } else if Spawned::<CallFuture<Tk>>::POOLED {
        Spawned::start(cx, group, call, completion_owner)
    } else {
        Spawned::start(cx, group, Box::pin(call), completion_owner)
    }
}
