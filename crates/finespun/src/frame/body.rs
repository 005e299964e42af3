//! Frames with a body: the most usual kind.

use std::alloc::Layout;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context as StdContext, Poll, Waker};

use super::context::Cx;
use super::header::{FrameRef, Header, Polled, Types, VTable, body_offset, cancel, frame_layout, result_ptr};
use super::pool::{self, Class};
use super::slot::Status;

/// A frame whose body is the future `F`.
pub(crate) struct BodyFrame<F>(PhantomData<F>);

impl<F: Future> BodyFrame<F> {
    const LAYOUT: Layout = frame_layout::<F, F::Output>();

    pub(crate) const VTABLE: &'static VTable = &VTable {
        cancel,
        types: Types { step: Self::step, drop_body: Self::drop_body, ..Types::of_result::<F::Output>() },
        class: Class::of(Self::LAYOUT),
        spawned: false,
        alone: false,
        name: std::any::type_name::<F>,
        home: None,
        leaf: None,
        on_child_complete: None,
        inner: false,
        call: None,
        migrate: None,
    };

    /// Makes a frame of `group`, a group or run, around `body`. No other thread can reach the frame yet. The table is
    /// [`VTABLE`](Self::VTABLE) or derived from it.
    pub(crate) fn of_group(cx: Cx, group: u32, body: F, vtable: &'static VTable) -> FrameRef {
        let frame = cx.allocate(const { Class::of(Self::LAYOUT) });
        // SAFETY: fresh memory, large enough for a header.
        unsafe { frame.write(Header::new(group, vtable)) };
        // SAFETY: fresh memory of this frame's layout.
        unsafe { Self::body(frame).write(body) };
        frame
    }

    /// Makes a frame outside any worker, from the system's allocator, with [`OUTSIDE`](Self::OUTSIDE) or a derived
    /// table.
    pub(crate) fn make_outside(run: u32, body: F, vtable: &'static VTable) -> FrameRef {
        let frame = pool::allocate_large(Self::LAYOUT, None);
        // SAFETY: fresh memory, large enough for a header.
        unsafe { frame.write(Header::new(run, vtable)) };
        // SAFETY: fresh memory of this frame's layout.
        unsafe { Self::body(frame).write(body) };
        frame
    }

    /// Like [`VTABLE`](Self::VTABLE), for memory that comes from the system's allocator.
    pub(crate) const OUTSIDE: &'static VTable = &VTable { class: Class::large(Self::LAYOUT), ..*Self::VTABLE };

    /// Returns the address of the body.
    pub(crate) unsafe fn body(frame: FrameRef) -> NonNull<F> {
        // SAFETY: the layout reserves an `F` at this offset.
        unsafe { frame.cast::<u8>().add(body_offset::<F>()).cast() }
    }

    /// Polls the body once, and returns the result instead of writing it to the frame.
    ///
    /// # Safety
    /// The body is live, and only this worker accesses it.
    pub(crate) unsafe fn poll_body(frame: FrameRef) -> Poll<F::Output> {
        // SAFETY: the caller guarantees that the body is live and that it alone accesses it; frames never move, so
        // pinning holds until `drop_body`.
        let body = unsafe { Pin::new_unchecked(Self::body(frame).as_mut()) };
        body.poll(&mut StdContext::from_waker(Waker::noop()))
    }

    /// Implements [`Types::step`].
    ///
    /// # Safety
    /// As for [`poll`](super::poll).
    unsafe fn step(frame: FrameRef, _: Cx, body: &mut bool) -> Polled {
        // SAFETY: the caller guarantees that the frame is ready, so the body is live, and that it alone runs the frame.
        let Poll::Ready(value) = (unsafe { Self::poll_body(frame) }) else { return Poll::Pending };
        *body = false;
        // The body's destructor is user code too: its panic becomes the task's panic.
        // SAFETY: the body has ended and is not polled again.
        unsafe { Self::drop_body(frame) };
        // SAFETY: the body is destroyed, so its storage is free for the result.
        unsafe { result_ptr::<F::Output>(frame).write(value) };
        Poll::Ready(Some(Status::Done))
    }

    /// Destroys the body.
    ///
    /// # Safety
    /// The body is live, is not running, and is not used afterwards.
    pub(crate) unsafe fn drop_body(frame: FrameRef) {
        // SAFETY: the caller guarantees that the body is live, is not running, and is not used afterwards.
        unsafe { Self::body(frame).drop_in_place() };
    }
}
