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
//! * The *slot word* is the one-shot slot protocol of [`super::slot`]: the waiter of this frame, or that the frame has
//!   ended.
//! * The *join count* belongs to the frame as a waiter: the number of slots that it waits for and that have not ended.
//! * Body and result share storage: the body is destroyed before the result is written.
//!
//! Access rules: only the worker that runs the frame accesses the body (a frame is in at most one ready queue, or
//! waits, or is running, never two of these). Between completion and taking, only the one owner of the
//! [`Child`](crate::call::outcome::Child) accesses the result; or, before the completion is counted and the owner can
//! run, its callback [`on_child_complete`](VTable::on_child_complete). Vtable and group are constant while the frame
//! lives.

use std::alloc::Layout;
use std::any::Any;
use std::mem::ManuallyDrop;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::ptr::NonNull;
use std::task::Poll;

use super::context::Cx;
use super::leaf;
use super::origin::pack;
use super::payload::{Payload, discard};
use super::pool::{self, Class};
use super::slot::{Join, Slot, Status};

/// Runs user code and discards its panic, which has no place to be reported.
pub(crate) fn quietly(body: impl FnOnce()) {
    let mut body = Some(body);
    quietly_called(&mut || {
        if let Some(body) = body.take() {
            body();
        }
    });
}

/// Drops a value and discards the panic of its destructor, as [`quietly`] does.
pub(crate) fn drop_quietly<T>(value: T) {
    if std::mem::needs_drop::<T>() {
        let mut value = ManuallyDrop::new(value);
        // SAFETY: the value is not used afterwards.
        unsafe { drop_at(NonNull::from(&mut value).cast(), drop_value::<T>) };
    }
}

/// # Safety
/// `destructor` may be called with `value`.
unsafe fn drop_at(value: NonNull<u8>, destructor: unsafe fn(NonNull<u8>)) {
    // SAFETY: the caller guarantees that the destructor may be called.
    quietly_called(&mut || unsafe { destructor(value) });
}

/// Like [`quietly`], but inlined: for code that is not cleanup.
#[inline(always)]
pub(crate) fn quietly_here(body: impl FnOnce()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
        discard(payload);
    }
}

/// Implements [`quietly`]. Not generic, so that it is compiled once: every frame's code contains cleanup.
fn quietly_called(body: &mut dyn FnMut()) {
    if let Err(payload) = catch_unwind(AssertUnwindSafe(body)) {
        discard(payload);
    }
}

/// The header at the start of every frame.
#[repr(C)]
pub struct Header {
    pub(crate) slot: Slot,
    pub(crate) vtable: &'static VTable,
    pub(crate) join: Join,
    /// The number of the innermost group that the frame belongs to, or of its run.
    pub(crate) group: u32,
}

/// A location in the source.
pub(crate) type CallSite = &'static Location<'static>;

/// Returns what a leaf waits for, and the source location of its wait.
pub(crate) type Describe = unsafe fn(FrameRef) -> (String, CallSite);

/// Notifies a waiting frame (first argument) that one of its children (second argument) has completed.
pub(crate) type OnChildComplete = unsafe fn(FrameRef, FrameRef);

/// A pointer to a frame of any type.
pub(crate) type FrameRef = NonNull<Header>;

/// The table of a frame's operations, one for each type of frame.
pub struct VTable {
    /// Called instead of [`poll`] once the group is terminated or the run cancelled: destroys the body, or waits for
    /// its outstanding children.
    pub(crate) cancel: unsafe fn(FrameRef, Cx) -> Polled,
    /// The operations that depend on the types of body and result. Everything else about a frame is compiled once for
    /// all types.
    pub(crate) types: Types,
    /// The size class, or the system's allocator, that the memory comes from and returns to.
    pub(crate) class: Class,
    /// Whether the frame was spawned: it borrows nothing from its waiter, so cancellation may orphan it.
    pub(crate) spawned: bool,
    /// Whether its run reports a panic that no waiter takes.
    pub(crate) alone: bool,
    /// The name of the body's type, for reports.
    pub(crate) name: fn() -> &'static str,
    /// For a frame that runs at one node only: returns the node.
    pub(crate) home: Option<unsafe fn(FrameRef) -> u32>,
    /// For a leaf, a frame without a body whose slot a continuation completes: describes the wait.
    pub(crate) leaf: Option<Describe>,
    /// For a frame that waits for several children: called on any thread when a child completes, before the
    /// completion is counted.
    pub(crate) on_child_complete: Option<OnChildComplete>,
    /// Whether the frame is internal to its waiter, and not an activity of a group: the waiter's `on_child_complete`
    /// ignores its completion.
    pub(crate) inner: bool,
    /// For a call frame: its operations.
    pub(crate) call: Option<&'static CallTable>,
    /// For a frame of tasks whose calls may be made in another process, or a closure that may run there.
    pub(crate) migrate: Option<Migrate>,
}

/// Sends those tasks of a ready frame that have not begun to a worker of another process, and lets the frame wait for
/// their results, or sends a closure, whose frame is then gone. Returns how many: if none, the frame is as before. Called in the frame's group, by the worker that alone
/// could run it.
pub(crate) type Migrate = unsafe fn(FrameRef, Cx, u32) -> usize;

/// The result of running or cancelling a frame. `Pending`: the frame waits for the slots listed in the worker's
/// state. `Some`: the frame has ended, and the result that the status names has been written. `None`: the frame has
/// ended and been freed, and nothing waits for it.
pub(crate) type Polled = Poll<Option<Status>>;

/// The operations on a frame's body and result that depend on their types.
#[derive(Clone, Copy)]
pub(crate) struct Types {
    /// Polls the body. If the body ends, sets the third argument to false, destroys the body, and writes the result. If
    /// the call unwinds, the frame stays live and has no result; its body is still live if that argument is still true.
    /// For a call frame, which has neither body nor result: runs it and frees the frame, and does not unwind.
    pub(crate) step: unsafe fn(FrameRef, Cx, &mut bool) -> Polled,
    /// Destroys the body.
    pub(crate) drop_body: unsafe fn(FrameRef),
    /// Destroys a result at the given address.
    pub(crate) drop_value: unsafe fn(NonNull<u8>),
    /// The offset of the result, or of a panic's payload, from the frame's address.
    pub(crate) result: usize,
}

impl Types {
    /// Returns the operations of a frame without a body, with a result of type `T`.
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
/// `value` points to a `T`, which is not used afterwards.
unsafe fn drop_value<T>(value: NonNull<u8>) {
    // SAFETY: the caller guarantees that `value` points to a `T`, and does not use it afterwards.
    unsafe { value.cast::<T>().drop_in_place() };
}

/// The operations of a call frame: a frame that holds a function's arguments, some of which may be missing, and runs to
/// its end without waiting.
pub(crate) struct CallTable {
    /// Calls the function with the arguments, none of which is missing, and frees the frame.
    pub(crate) run: unsafe fn(FrameRef, Cx),
    /// Destroys the arguments that are not missing, and frees the frame.
    pub(crate) destroy: unsafe fn(FrameRef),
    /// Names the argument of the given size at the given offset from the frame's address; `None` if it is the library's own.
    pub(crate) argument: fn(usize, usize) -> Option<String>,
}

const HEADER: usize = size_of::<Header>();

const fn round_up(offset: usize, align: usize) -> usize {
    (offset + align - 1) & !(align - 1)
}

const fn max(a: usize, b: usize) -> usize {
    if a > b { a } else { b }
}

/// Returns the offset of a result of type `T`: the same in every frame that delivers one, whatever its body.
pub(crate) const fn result_offset<T>() -> usize {
    round_up(HEADER, max(align_of::<T>(), align_of::<Payload>()))
}

pub(super) const fn body_offset<F>() -> usize {
    round_up(HEADER, align_of::<F>())
}

/// The largest size of a frame in bytes. Limited because a frame's contents are first built on the stack.
pub(crate) const LARGEST_FRAME: usize = 2 * 1024 * 1024;

/// The stack space below the last guard check, for plain calls, destructors, straight tasks, and the locals of one
/// task; also the size of the whole stack of a thread for blocking calls. It is address space, which takes memory only
/// where it is used. Arguments, locals and results take several times their size on their way into a frame and out
/// again: 13 times as measured, and between 128 and 192 times in a debug build, where every call copies its arguments. A
/// sanitizer's frames are larger.
pub(crate) const STACK_RESERVE: usize = RESERVED_FRAMES * LARGEST_FRAME;

const RESERVED_FRAMES: usize = match (cfg!(debug_assertions), cfg!(sanitized)) {
    (false, _) => 32,
    (true, false) => 192,
    (true, true) => 768,
};

/// Returns the layout of a frame with body `F` and result `T`.
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

/// Returns the address of the result of type `T`.
///
/// # Safety
/// `frame` must be live and deliver a `T`.
pub(crate) unsafe fn result_ptr<T>(frame: FrameRef) -> NonNull<T> {
    // SAFETY: the frame's layout reserves a `T` at this offset.
    unsafe { frame.cast::<u8>().add(result_offset::<T>()).cast() }
}

/// Returns the address of the result, whatever its type, or of a panic's payload.
///
/// # Safety
/// `frame` must be live, and reserve room for a result: every frame but a call frame does.
unsafe fn result_at(frame: FrameRef) -> NonNull<u8> {
    // SAFETY: the caller guarantees that `frame` is live.
    let offset = unsafe { frame.as_ref() }.vtable.types.result;
    // SAFETY: the frame's layout reserves the result there.
    unsafe { frame.cast::<u8>().add(offset) }
}

/// Returns the address of a panic's payload: the same as the result's.
///
/// # Safety
/// `frame` must be live, and reserve room for a result.
pub(crate) unsafe fn payload_ptr(frame: FrameRef) -> NonNull<Payload> {
    // SAFETY: the caller guarantees that `frame` is live and reserves room for a result. The layout reserves the larger
    // of result and `Payload` at this offset, aligned for both.
    unsafe { result_at(frame) }.cast()
}

impl Header {
    /// Creates the header of a frame without a waiter.
    #[inline(always)]
    pub(crate) fn new(group: u32, vtable: &'static VTable) -> Header {
        debug_assert_ne!(group, crate::frame::number::NOTHING, "a frame belongs to a run");
        Header { slot: Slot::new(), vtable, join: Join::new(0), group }
    }
}

/// Runs a frame until it ends or must wait. When it ends, its body has been destroyed, and its result (or a panic's
/// payload) written. A call frame has been freed.
///
/// # Safety
/// The frame is ready, and the caller alone runs it.
#[inline]
pub(crate) unsafe fn poll(frame: FrameRef, cx: Cx, types: &Types) -> Polled {
    let mut body = true;
    // SAFETY: the caller guarantees that the frame is ready and that it alone runs it, as `step` requires.
    match catch_unwind(AssertUnwindSafe(|| unsafe { (types.step)(frame, cx, &mut body) })) {
        Ok(polled) => polled,
        // SAFETY: the step has unwound, so the frame is live and has no result; the caller alone runs it.
        Err(payload) => Poll::Ready(Some(unsafe { panicked(frame, body, payload) })),
    }
}

/// Handles a frame whose step has unwound. `body` says whether the body is still live.
///
/// # Safety
/// The frame is live, has no result, and the caller alone uses it.
#[cold]
unsafe fn panicked(frame: FrameRef, body: bool, payload: Box<dyn Any + Send>) -> Status {
    if body {
        // SAFETY: the caller guarantees that the frame is live.
        let types = &unsafe { frame.as_ref() }.vtable.types;
        // A second panic cannot be reported.
        // SAFETY: `body` says that the body is live; it has unwound and is not polled again.
        quietly(|| unsafe { (types.drop_body)(frame) });
    }
    // SAFETY: the frame has neither body nor result, so their storage is free for the payload.
    unsafe { payload_ptr(frame).write(pack(payload)) };
    Status::Panicked
}

/// Implements [`VTable::cancel`] for a frame without outstanding children: destroys the body.
///
/// # Safety
/// The body is live, and the caller alone runs the frame.
pub(crate) unsafe fn cancel(frame: FrameRef, _cx: Cx) -> Polled {
    // SAFETY: the caller guarantees that it runs the frame, which is live.
    let types = &unsafe { frame.as_ref() }.vtable.types;
    // A destructor's panic is discarded: the frame ends as `Cancelled` in any case.
    // SAFETY: the caller guarantees that the body is live and that it alone runs the frame; the body is not polled
    // again.
    quietly(|| unsafe { (types.drop_body)(frame) });
    Poll::Ready(Some(Status::Cancelled))
}

/// Destroys the result of a completed frame, as its status requires.
///
/// # Safety
/// The frame has completed, the caller is its only owner, and the result has not been taken.
pub(crate) unsafe fn drop_result(frame: FrameRef) {
    // SAFETY: the caller owns the frame, which is therefore live.
    let header = unsafe { frame.as_ref() };
    match header.slot.status() {
        // SAFETY: `Done` says that a value was written.
        Some(Status::Done) => unsafe { (header.vtable.types.drop_value)(result_at(frame)) },
        // SAFETY: `Panicked` says that a payload was written.
        Some(Status::Panicked) => unsafe { payload_ptr(frame).drop_in_place() },
        Some(Status::Cancelled) | None => {}
    }
}

/// Takes the payload of a frame that panicked and has no waiter, and frees the frame. Returns `None`, and does nothing,
/// if the frame did not panic or its run does not report the panic.
///
/// # Safety
/// As for [`drop_result`] and [`free`].
pub(crate) unsafe fn lost_panic(frame: FrameRef) -> Option<Payload> {
    // SAFETY: the caller owns the frame, which is therefore live.
    let header = unsafe { frame.as_ref() };
    if !header.vtable.alone || header.slot.status() != Some(Status::Panicked) {
        return None;
    }
    // SAFETY: `Panicked` says that a payload was written; it is read once.
    let payload = unsafe { payload_ptr(frame).read() };
    // SAFETY: the payload is moved out; the caller guarantees that it is the frame's only owner.
    unsafe { free(frame) };
    Some(payload)
}

/// Frees a frame when dropped, even during unwinding.
pub(crate) struct Free(FrameRef);

impl Free {
    /// # Safety
    /// The conditions of [`free`] hold when this is dropped.
    pub(crate) unsafe fn new(frame: FrameRef) -> Free {
        Free(frame)
    }
}

impl Drop for Free {
    fn drop(&mut self) {
        // SAFETY: the caller of `new` guarantees the conditions of `free` at this point.
        unsafe { free(self.0) };
    }
}

/// Frees the memory of a frame that has ended, or never ran. A cancelled leaf is given up instead: the second side
/// frees it.
///
/// # Safety
/// Body and result are destroyed or moved out; the caller is the frame's only owner.
pub(crate) unsafe fn free(frame: FrameRef) {
    // SAFETY: the frame is live until it is freed below.
    let header = unsafe { frame.as_ref() };
    if header.vtable.leaf.is_some() && header.slot.status() == Some(Status::Cancelled) && !header.slot.is_retracted() {
        // SAFETY: the caller owns the cancelled leaf as a child, calls this once, and does not use the leaf afterwards.
        return unsafe { leaf::abandon(frame) };
    }
    let class = header.vtable.class;
    // SAFETY: the memory is of this class, and the caller owns it.
    unsafe { pool::free(frame.cast(), class) };
}

/// The result of a completed frame.
pub(crate) enum Delivered<T> {
    /// The value.
    Value(T),
    /// The task panicked.
    Panic(Payload),
    /// The task was cancelled.
    Cancelled,
}

impl<T> Delivered<T> {
    /// Maps a value by `map`; leaves a panic and a cancellation as they are.
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
    // SAFETY: the caller owns the frame, which is therefore live.
    let status = unsafe { frame.as_ref() }.slot.status();
    let delivered = ManuallyDrop::new(match status {
        // SAFETY: `Done` says that a `T` was written; it is read once.
        Some(Status::Done) => Delivered::Value(unsafe { result_ptr::<T>(frame).read() }),
        // SAFETY: `Panicked` says that a payload was written; it is read once.
        Some(Status::Panicked) => Delivered::Panic(unsafe { payload_ptr(frame).read() }),
        Some(Status::Cancelled) => Delivered::Cancelled,
        None => unreachable!("a result was taken from a frame that has not completed"),
    });
    // SAFETY: the result is moved out above, and the caller is the only owner.
    unsafe { free(frame) };
    ManuallyDrop::into_inner(delivered)
}

/// Returns the node at which a frame must run, or `None` if it may run on any worker.
///
/// # Safety
/// The frame is live, and its body has not ended.
#[inline]
pub(crate) unsafe fn home(frame: FrameRef) -> Option<u32> {
    // SAFETY: the caller guarantees that the frame is live.
    let home = unsafe { frame.as_ref() }.vtable.home?;
    // SAFETY: the function comes from the frame's own table; the caller guarantees that the body has not ended.
    Some(unsafe { home(frame) })
}
