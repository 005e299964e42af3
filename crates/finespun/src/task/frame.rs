//! The frame: the heap context of a task that left the stack.
//!
//! ```text
//!  offset 0        8         16            24 (rounded up to the alignment of what follows)
//!  +-----------+-----------+-------------+------------------------------------------+
//!  | slot word | vtable    | join | group| body (a resumable future)                |
//!  |           |           | count| id   | ... later overlapped by the result       |
//!  +-----------+-----------+-------------+------------------------------------------+
//! ```
//!
//! * The *slot word* is the one-shot slot protocol of [`super::slot`]: who waits for this frame, or that it has ended.
//! * The *join count* belongs to the frame as a waiter: how many of the slots it waits for are still empty.
//! * Body and result share storage: the body is destroyed before the result is written.
//!
//! Which field may be touched when: the body only by the worker that runs the frame (a frame is in at most one ready
//! queue, or is waited for, or is running, never two of these); the result only between completion and the taking by
//! the one owner of the [`Child`](super::outcome::Child); vtable and group are constant while the frame lives.

use std::alloc::Layout;
use std::any::Any;
use std::future::Future;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::task::{Context as StdContext, Poll, Waker};

use super::context::Cx;
use super::origin::pack;
use super::pool::{self, Class};
use super::slot::{Join, Slot, Status};
use super::suspend;

pub(crate) use super::payload::{Payload, discard};

/// Runs user code whose panic has nowhere to go.
pub(crate) fn quietly(body: impl FnOnce()) {
    let mut body = Some(body);
    quietly_called(&mut || {
        if let Some(body) = body.take() {
            body();
        }
    });
}

/// The same, compiled in place: for what is no cleanup.
#[inline(always)]
pub(crate) fn quietly_here(body: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
        discard(payload);
    }
}

/// Not generic: cleanup is in every frame's code, and is compiled once.
fn quietly_called(body: &mut dyn FnMut()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
        discard(payload);
    }
}

/// The part that every frame begins with.
#[repr(C)]
pub struct Header {
    pub(crate) slot: Slot,
    pub(crate) vtable: &'static VTable,
    pub(crate) join: Join,
    /// The innermost group that the frame belongs to, or its run.
    pub(crate) group: u32,
}

/// Where in the source something was written.
pub(crate) type Place = &'static Location<'static>;

/// Names the type of a leaf's value, and where its wait was written.
pub(crate) type Describe = unsafe fn(FrameRef) -> (&'static str, Place);

/// Tells a frame, the first, of one that it waits for.
pub(crate) type Told = unsafe fn(FrameRef, FrameRef);

/// A frame, untyped.
pub(crate) type FrameRef = NonNull<Header>;

/// The operations of a frame, by its type.
pub struct VTable {
    /// Instead of [`poll`] once the group is terminated: destroys the body, or waits for what it still has out.
    pub(crate) cancel: unsafe fn(FrameRef, Cx) -> Poll<Status>,
    /// The operations that depend on the types of body and result. Everything else about a frame is compiled once for all types.
    pub(crate) types: Types,
    /// Where the memory comes from and goes back to.
    pub(crate) class: Class,
    /// Whether the frame was spawned: a waiter borrows nothing from it, and cancellation may part the two.
    pub(crate) spawned: bool,
    /// Whether a panic of it that nobody waits for is its run's.
    pub(crate) alone: bool,
    /// The name of the body's type, for reports.
    pub(crate) name: fn() -> &'static str,
    /// For a frame that runs at one node only: which.
    pub(crate) home: Option<unsafe fn(FrameRef) -> u32>,
    /// For a slot without a body, written by a continuation: the type of its value, and where the wait was written.
    pub(crate) leaf: Option<Describe>,
    /// For a frame that waits for several: what is done as soon as one of them has ended, before that counts. On any thread.
    pub(crate) told: Option<Told>,
    /// Whether who waits for the frame does so on its own account: what this delivers is nothing to be told of.
    pub(crate) inner: bool,
    /// For a closure: its thread.
    pub(crate) thread: Option<&'static ThreadTable>,
}

/// The operations on a frame's body and result, by their types.
#[derive(Clone, Copy)]
pub(crate) struct Types {
    /// Polls the body. If it ends, clears the flag, destroys the body, writes the result, and says `Done`; a closure, which has
    /// neither, runs, frees itself and says `Gone`. A frame with a body may unwind: then it is live, there is no result, and the
    /// body is there if the flag is still set. A closure does not unwind.
    pub(crate) step: unsafe fn(FrameRef, Cx, &mut bool) -> Poll<Status>,
    /// Destroys the body.
    pub(crate) drop_body: unsafe fn(FrameRef),
    /// Destroys a result at this address.
    pub(crate) drop_value: unsafe fn(NonNull<u8>),
    /// Where the result is, or a panic's payload: its distance from the frame's address.
    pub(crate) result: usize,
}

impl Types {
    /// Of a frame without a body, with a result of type `T`.
    pub(crate) const fn of_result<T>() -> Types {
        Types {
            step: |_, _, _| unreachable!("a frame without a body is not run"),
            drop_body: |_| unreachable!("a frame without a body is not run"),
            drop_value: drop_value::<T>,
            result: result_offset::<T>(),
        }
    }
}

/// # Safety
/// A `T` is there, and is not used afterwards.
unsafe fn drop_value<T>(value: NonNull<u8>) {
    // SAFETY: by the caller's word.
    unsafe { value.cast::<T>().drop_in_place() };
}

/// What a closure can do, by its thread: see the closure room.
pub(crate) struct ThreadTable {
    /// Runs the thread with the arguments of a full closure, which is gone then.
    pub(crate) run: unsafe fn(FrameRef),
    /// Destroys the arguments that the closure has got, and the closure.
    pub(crate) destroy: unsafe fn(FrameRef),
    /// Names the argument of that size at that offset from the frame's address.
    pub(crate) argument: fn(usize, usize) -> String,
}

const HEADER: usize = size_of::<Header>();

const fn round_up(offset: usize, align: usize) -> usize {
    (offset + align - 1) & !(align - 1)
}

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

/// Where a result of type `T` lies in every frame that delivers one, whatever its body.
pub(crate) const fn result_offset<T>() -> usize {
    round_up(HEADER, max(align_of::<T>(), align_of::<Payload>()))
}

const fn body_offset<F>() -> usize {
    round_up(HEADER, align_of::<F>())
}

/// The most bytes in a frame: its contents are made on the stack.
pub(crate) const LARGEST_FRAME: usize = 2 * 1024 * 1024;

/// Stack below the last guard check, for plain calls, destructors, straight tasks, and the locals of one task; and the
/// whole stack of a thread for blocking calls. Address space, which takes memory only where it is used. Arguments, locals and
/// results take several times their size on their way into a frame and out of it: 13 times as measured, and between 128 and 192
/// times in a debug build, where every call copies its arguments.
pub(crate) const STACK_RESERVE: usize = (if cfg!(debug_assertions) { 192 } else { 32 }) * LARGEST_FRAME;

/// The memory of a frame with body `F` and result `T`.
pub(crate) const fn frame_layout<F, T>() -> Layout {
    let body = body_offset::<F>() + size_of::<F>();
    let result = result_offset::<T>() + max(size_of::<T>(), size_of::<Payload>());
    assert!(
        max(body, result) <= LARGEST_FRAME,
        "a task's arguments, the locals that it keeps across an await, or its result take more than 2 MiB: put what is large \
         into a `Box` or a `Vec`"
    );
    let align = max(align_of::<Header>(), max(align_of::<F>(), align_of::<T>()));
    match Layout::from_size_align(round_up(max(body, result), align), align) {
        Ok(layout) => layout,
        Err(_) => panic!("a task's frame is larger than the address space"),
    }
}

/// The place of the result of type `T`.
///
/// # Safety
/// `frame` must be live and deliver a `T`.
pub(crate) unsafe fn result_ptr<T>(frame: FrameRef) -> NonNull<T> {
    // SAFETY: the frame's layout reserves a `T` at this offset.
    unsafe { frame.cast::<u8>().add(result_offset::<T>()).cast() }
}

/// The place of the result, whatever its type, and of a panic's payload.
///
/// # Safety
/// `frame` must be live, and have room for a result: any but a closure.
unsafe fn result_at(frame: FrameRef) -> NonNull<u8> {
    // SAFETY: live by the caller's word.
    let offset = unsafe { frame.as_ref() }.vtable.types.result;
    // SAFETY: the frame's layout reserves the result there.
    unsafe { frame.cast::<u8>().add(offset) }
}

/// The place of a panic's payload: the same bytes as the result.
///
/// # Safety
/// `frame` must be live, and have room for a result.
pub(crate) unsafe fn payload_ptr(frame: FrameRef) -> NonNull<Payload> {
    // SAFETY: the layout reserves the larger of result and `Payload` at this offset, aligned for both.
    unsafe { result_at(frame) }.cast()
}

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
        told: None,
        inner: false,
        thread: None,
    };

    /// Makes a frame around `body`, not visible to anyone yet.
    pub(crate) fn make(cx: Cx, body: F) -> FrameRef {
        Self::with_table(cx, body, Self::VTABLE)
    }

    /// As `make`, for a body with its own way to be cancelled.
    pub(crate) fn with_table(cx: Cx, body: F, vtable: &'static VTable) -> FrameRef {
        Self::of_group(cx, cx.group(), body, vtable)
    }

    /// As `with_table`, for a frame of another group than the current.
    pub(crate) fn of_group(cx: Cx, group: u32, body: F, vtable: &'static VTable) -> FrameRef {
        let frame = cx.allocate(const { Class::of(Self::LAYOUT) });
        // SAFETY: fresh memory, large enough for a header.
        unsafe { frame.write(Header::new(group, vtable)) };
        // SAFETY: fresh memory of this frame's layout.
        unsafe { Self::body(frame).write(body) };
        frame
    }

    /// Makes a frame outside any worker, from the system's allocator, with the table [`OUTSIDE`](Self::OUTSIDE) or one like it.
    pub(crate) fn make_outside(run: u32, body: F, vtable: &'static VTable) -> FrameRef {
        let frame = pool::allocate_large(Self::LAYOUT, None);
        // SAFETY: fresh memory, large enough for a header.
        unsafe { frame.write(Header::new(run, vtable)) };
        // SAFETY: fresh memory of this frame's layout.
        unsafe { Self::body(frame).write(body) };
        frame
    }

    /// The memory came from the system.
    pub(crate) const OUTSIDE: &'static VTable = &VTable { class: Class::large(Self::LAYOUT), ..*Self::VTABLE };

    /// The place of the body.
    pub(crate) unsafe fn body(frame: FrameRef) -> NonNull<F> {
        // SAFETY: the layout reserves an `F` at this offset.
        unsafe { frame.cast::<u8>().add(body_offset::<F>()).cast() }
    }

    /// Polls the body once, leaving a result to the caller.
    ///
    /// # Safety
    /// The body is live and this worker is the only one that touches it.
    pub(crate) unsafe fn poll_body(frame: FrameRef) -> Poll<F::Output> {
        // SAFETY: exclusive by the caller's word; frames never move, so pinning holds until `drop_body`.
        let body = unsafe { Pin::new_unchecked(Self::body(frame).as_mut()) };
        body.poll(&mut StdContext::from_waker(Waker::noop()))
    }

    /// See [`Types::step`].
    ///
    /// # Safety
    /// As [`poll`].
    unsafe fn step(frame: FrameRef, _: Cx, body: &mut bool) -> Poll<Status> {
        // SAFETY: the worker loop runs a frame exclusively.
        let Poll::Ready(value) = (unsafe { Self::poll_body(frame) }) else { return Poll::Pending };
        *body = false;
        // The body's destructor is user code too: its panic is the task's.
        // SAFETY: the body has ended and is not polled again.
        unsafe { Self::drop_body(frame) };
        // SAFETY: the body is gone, so its storage is free for the result.
        unsafe { result_ptr::<F::Output>(frame).write(value) };
        Poll::Ready(Status::Done)
    }

    /// Destroys the body.
    ///
    /// # Safety
    /// The body is there, is not running, and is not used afterwards.
    pub(crate) unsafe fn drop_body(frame: FrameRef) {
        // SAFETY: by the caller's word the body is live, is not running, and will not be used again.
        unsafe { Self::body(frame).drop_in_place() };
    }
}

impl Header {
    /// Of a frame that nothing waits for yet.
    #[inline(always)]
    fn new(group: u32, vtable: &'static VTable) -> Header {
        Header { slot: Slot::new(), vtable, join: Join::new(0), group }
    }
}

/// Runs a frame until it ends or must wait; on the end, its body has been destroyed, and its result (or a panic's payload)
/// written. A closure is gone then.
///
/// # Safety
/// The frame is ready, and the caller alone runs it.
#[inline]
pub(crate) unsafe fn poll(frame: FrameRef, cx: Cx, types: &Types) -> Poll<Status> {
    let mut body = true;
    // SAFETY: exclusive by the caller's word.
    match catch_unwind(AssertUnwindSafe(|| unsafe { (types.step)(frame, cx, &mut body) })) {
        Ok(polled) => polled,
        // SAFETY: the step has unwound.
        Err(payload) => Poll::Ready(unsafe { panicked(frame, body, payload) }),
    }
}

/// A frame's step has unwound; `body` says whether its body is still there.
///
/// # Safety
/// The frame is live, has no result, and the caller alone uses it.
#[cold]
unsafe fn panicked(frame: FrameRef, body: bool, payload: Box<dyn Any + Send>) -> Status {
    if body {
        // SAFETY: live by the caller's word.
        let types = &unsafe { frame.as_ref() }.vtable.types;
        // A second panic has nowhere to go.
        // SAFETY: the body has unwound and is not polled again.
        quietly(|| unsafe { (types.drop_body)(frame) });
    }
    // SAFETY: body and value are gone, so their storage is free for the payload.
    unsafe { payload_ptr(frame).write(pack(payload)) };
    Status::Panicked
}

/// [`VTable::cancel`] of a frame that has nothing out: destroys the body.
///
/// # Safety
/// The body is there, and the caller alone runs the frame.
pub(crate) unsafe fn cancel(frame: FrameRef, _cx: Cx) -> Poll<Status> {
    // SAFETY: the worker loop runs live frames.
    let types = &unsafe { frame.as_ref() }.vtable.types;
    // A destructor's panic has nowhere to go: whoever waits is cancelled too.
    // SAFETY: the worker loop runs a frame exclusively; the body is not polled again.
    quietly(|| unsafe { (types.drop_body)(frame) });
    Poll::Ready(Status::Cancelled)
}

/// Destroys the result of a completed frame, by its status.
///
/// # Safety
/// The frame has completed, and the caller is its only owner; nobody has taken the result.
pub(crate) unsafe fn drop_result(frame: FrameRef) {
    // SAFETY: live by the caller's word.
    let header = unsafe { frame.as_ref() };
    match header.slot.status() {
        // SAFETY: `Done` says that a value was written.
        Some(Status::Done) => unsafe { (header.vtable.types.drop_value)(result_at(frame)) },
        // SAFETY: `Panicked` says that a payload was written.
        Some(Status::Panicked) => unsafe { payload_ptr(frame).drop_in_place() },
        Some(Status::Cancelled | Status::Gone) | None => {}
    }
}

/// The panic of a frame that nobody waits for any more, if it is the run's; the frame is freed then.
///
/// # Safety
/// As [`drop_result`] and [`free`].
pub(crate) unsafe fn lost_panic(frame: FrameRef) -> Option<Payload> {
    // SAFETY: live by the caller's word.
    let header = unsafe { frame.as_ref() };
    if !header.vtable.alone || header.slot.status() != Some(Status::Panicked) {
        return None;
    }
    // SAFETY: `Panicked` says that a payload was written; it is read once.
    let payload = unsafe { payload_ptr(frame).read() };
    // SAFETY: by the caller's word.
    unsafe { free(frame) };
    Some(payload)
}

/// Frees a frame when it is dropped: also if what comes before panics.
pub(crate) struct Free(FrameRef);

impl Free {
    /// # Safety
    /// As [`free`], when this is dropped.
    pub(crate) unsafe fn new(frame: FrameRef) -> Free {
        Free(frame)
    }
}

impl Drop for Free {
    fn drop(&mut self) {
        // SAFETY: by the word of whoever made this.
        unsafe { free(self.0) };
    }
}

/// Gives the memory of a frame that has ended, or never ran, back.
///
/// # Safety
/// Body and result are gone or moved out; the caller is the frame's only owner.
pub(crate) unsafe fn free(frame: FrameRef) {
    // SAFETY: the frame is live until it is freed below.
    let header = unsafe { frame.as_ref() };
    if header.vtable.leaf.is_some() && header.slot.status() == Some(Status::Cancelled) && !header.slot.is_retracted() {
        // SAFETY: a cancelled leaf has two sides, and this is the child's owner.
        return unsafe { suspend::abandon(frame) };
    }
    let class = header.vtable.class;
    // SAFETY: the memory is of this class, and the caller owns it.
    unsafe { pool::free(frame.cast(), class) };
}

/// What a completed frame delivered.
pub(crate) enum Delivered<T> {
    /// The value.
    Value(T),
    /// The task panicked.
    Panic(Payload),
    /// The task was cancelled.
    Cancelled,
}

impl<T> Delivered<T> {
    /// The same, with something else made of a value.
    pub(crate) fn map<V>(self, map: impl FnOnce(T) -> V) -> Delivered<V> {
        match self {
            Delivered::Value(value) => Delivered::Value(map(value)),
            Delivered::Panic(payload) => Delivered::Panic(payload),
            Delivered::Cancelled => Delivered::Cancelled,
        }
    }
}

/// Takes the result out of a completed frame and frees it.
///
/// # Safety
/// The frame has completed, delivers a `T`, and the caller is its only owner.
pub(crate) unsafe fn take<T>(frame: FrameRef) -> Delivered<T> {
    // SAFETY: live by the caller's word.
    let status = unsafe { frame.as_ref() }.slot.status();
    let delivered = ManuallyDrop::new(match status {
        // SAFETY: `Done` says that a `T` was written; it is read once.
        Some(Status::Done) => Delivered::Value(unsafe { result_ptr::<T>(frame).read() }),
        // SAFETY: `Panicked` says that a payload was written; it is read once.
        Some(Status::Panicked) => Delivered::Panic(unsafe { payload_ptr(frame).read() }),
        Some(Status::Cancelled | Status::Gone) => Delivered::Cancelled,
        None => unreachable!("a result was taken from a frame that has not completed"),
    });
    // SAFETY: moved out above.
    unsafe { free(frame) };
    ManuallyDrop::into_inner(delivered)
}

/// The node that a frame which has not ended runs at, if it is one.
///
/// # Safety
/// The frame is live, and its body has not ended.
#[inline]
pub(crate) unsafe fn home(frame: FrameRef) -> Option<u32> {
    // SAFETY: live by the caller's word.
    let home = unsafe { frame.as_ref() }.vtable.home?;
    // SAFETY: the table's own function, of a frame whose body is there.
    Some(unsafe { home(frame) })
}

/// A task's name as its author wrote it, from the type of its body; `None` for the library's own.
pub(crate) fn task_name(body: &'static str) -> Option<&'static str> {
    // A body is a `Noted<task::__Task, ..>`, or one of `Type::__task_method::__Task` or `Type::__rest_method::__Task`.
    let path = &body[..body.find("::__Task")?];
    let path = &path[path.rfind(['<', '(', ' ']).map_or(0, |at| at + 1)..];
    let last = path.rfind("::").map_or(0, |at| at + 2);
    let method = ["__task_", "__rest_"].iter().find_map(|prefix| path[last..].strip_prefix(prefix));
    Some(method.unwrap_or(path))
}
