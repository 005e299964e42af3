//! Continuations: the right to write a slot once, first class.
//!
//! `suspend` makes a *leaf*: a frame without a body, whose slot a [`Continuation`] writes. Leaf and continuation may
//! part ways: a task that is cancelled gives up its leaf while the continuation is still in somebody's hands. The
//! *claim* of the leaf decides who completes it and who frees it: its states stand in [`claim`].

use std::alloc::Layout;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::call::{Task, map_outcome, sealed};
use super::context::{Cx, try_cx};
use super::frame::{self, FrameRef, Header, Payload, Place, Types, VTable, frame_layout, payload_ptr, result_ptr};
use super::outcome::Outcome;
use super::pool::{self, Class};
use super::slot::{Join, Slot, Status};
use super::teams::Externals;
use super::{run, teams};

mod claim;
pub(crate) mod travel;

use claim::{Claim, LENT, OPEN, PROTECTED};

/// A leaf that delivers a `T`: behind the result lies where in the source the wait was written.
struct Leaf<T>(PhantomData<T>);

impl<T> Leaf<T> {
    const RESULT: Layout = frame_layout::<(), T>();
    const PLACE: usize = Self::RESULT.size().next_multiple_of(align_of::<Place>());
    const LAYOUT: Layout = match Layout::from_size_align(Self::PLACE + size_of::<Place>(), Self::RESULT.align()) {
        Ok(layout) => layout.pad_to_align(),
        Err(_) => panic!("a slot is larger than the address space"),
    };
    const VTABLE: &'static VTable = &VTable {
        cancel: |_, _| unreachable!("a leaf is never run"),
        spawned: false,
        alone: false,
        types: Types::of_result::<T>(),
        class: Class::of(Self::LAYOUT),
        name: std::any::type_name::<Continuation<T>>,
        home: None,
        leaf: Some(Self::what),
        told: None,
        inner: false,
        thread: None,
    };

    /// Whether the value lies in a box of its own: leaves are always pooled, so that sweeps and reports find them.
    const BOXED: bool = matches!(Class::of(Self::LAYOUT), Class::Large(_));

    fn make(cx: Cx, claim: u32, place: Place) -> FrameRef {
        // What may panic comes before the memory: a block without a header is nothing that a sweep may find.
        let group = cx.group();
        let leaf = cx.allocate(const { Class::of(Self::LAYOUT) });
        let header = Header { slot: Slot::new(), vtable: Self::VTABLE, join: Join::new(claim), group };
        // SAFETY: fresh memory, large enough.
        unsafe { leaf.write(header) };
        // SAFETY: the layout reserves the place.
        unsafe { leaf.cast::<u8>().add(Self::PLACE).cast::<Place>().write(place) };
        leaf
    }

    unsafe fn what(leaf: FrameRef) -> (&'static str, Place) {
        // SAFETY: written by `make`.
        (std::any::type_name::<T>(), unsafe { leaf.cast::<u8>().add(Self::PLACE).cast::<Place>().read() })
    }
}

const TAKEN: &str = "a continuation is not used after it has been sent";

/// The right to end a wait with a `T`, once.
///
/// [`resolve`](Continuation::resolve) consumes it, so a second value is impossible by type. One that is dropped
/// unresolved wakes its waiter with a panic that says so. It may be resolved on any thread, and may outlive the
/// waiting task, its run and the runtime. If anything but a task, of this or of another runtime, will resolve it, say so by
/// [`external`](Continuation::external), or the wait may be reported as a deadlock.
///
/// A task of another runtime is waited for if its run is under way when all else of this runtime has come to a stop, or is begun
/// later by a task. A run that a plain thread begins later, to resolve the continuation there, is outside: mark the wait as
/// external, or hold an [`Outside`](crate::Outside) of this runtime until then.
#[must_use = "a continuation that is dropped ends its wait with a panic"]
pub struct Continuation<T> {
    /// Null when it travels in a message as bytes, and this is what is left. Atomic, since that is seen through a
    /// reference.
    leaf: AtomicPtr<Header>,
    value: PhantomData<fn(T)>,
}

// SAFETY: resolving writes a `T` and makes a frame ready, both of which any thread may do for a `Send` value.
unsafe impl<T: Send> Send for Continuation<T> {}
// SAFETY: a shared continuation offers nothing.
unsafe impl<T> Sync for Continuation<T> {}

impl<T> Continuation<T> {
    /// Ends the wait with `value`. The waiting task becomes ready; it does not run inside this call.
    ///
    /// If the task has been cancelled meanwhile, `value` is dropped.
    #[inline]
    pub fn resolve(self, value: T) {
        self.end(Ok(value));
    }

    /// Marks the wait as one that something outside the tasks will end (a socket, a timer, another thread): it does
    /// not count for the deadlock report.
    ///
    /// # Panics
    /// Outside a task: call it where [`suspend`] hands the continuation out.
    pub fn external(self) -> External<T> {
        let Some(cx) = try_cx() else { panic!("`external` was called outside a task") };
        // SAFETY: the leaf lives until this side has let it go.
        let group = unsafe { self.leaf().as_ref() }.group;
        assert!(cx.of_team(group), "`external` was called on another runtime than the wait's");
        let count = cx.external();
        count.enter();
        External { continuation: Some(self), count }
    }

    /// Writes the slot; if the wait has been cancelled, drops the result.
    #[inline(always)]
    pub(crate) fn end(self, result: Result<T, Payload>) {
        /// Not in place: the way on which nothing is left need not keep the result in memory.
        #[cold]
        #[inline(never)]
        fn unsent<T>(result: Result<T, Payload>) {
            drop(result);
        }
        if let Err(result) = self.complete(result) {
            unsent(result);
        }
    }

    /// Writes the slot; the result back if the wait has been cancelled.
    #[inline(always)]
    pub(crate) fn complete(self, result: Result<T, Payload>) -> Result<(), Result<T, Payload>> {
        let leaf = self.into_leaf();
        // SAFETY: the leaf lives until this side has let it go.
        let claim = Claim::of(unsafe { &(*leaf.as_ptr()).join });
        if !claim.resolve() {
            // SAFETY: this continuation is consumed.
            unsafe { let_go(leaf, |claim| claim.handle_goes()) };
            return Err(result);
        }
        let status = match result {
            Ok(value) if Leaf::<T>::BOXED => {
                // SAFETY: the claim is ours, the slot empty, and the leaf is one for a box.
                unsafe { result_ptr::<Box<T>>(leaf).write(Box::new(value)) };
                Status::Done
            }
            Err(payload) if Leaf::<T>::BOXED => {
                // SAFETY: as above.
                unsafe { payload_ptr(leaf).write(payload) };
                Status::Panicked
            }
            Ok(value) => {
                // SAFETY: the claim is ours, the slot empty, the storage reserved.
                unsafe { result_ptr::<T>(leaf).write(value) };
                Status::Done
            }
            Err(payload) => {
                // SAFETY: as above.
                unsafe { payload_ptr(leaf).write(payload) };
                Status::Panicked
            }
        };
        // SAFETY: written above; claimed once.
        if let Some(waiter) = unsafe { run::complete(leaf, status) } {
            make_ready(waiter);
        }
        Ok(())
    }

    /// The leaf, which stands for the continuation: [`from_leaf`](Continuation::from_leaf) must follow.
    pub(crate) fn into_leaf(self) -> FrameRef {
        FrameRef::new(*std::mem::ManuallyDrop::new(self).leaf.get_mut()).expect(TAKEN)
    }

    /// The continuation again.
    ///
    /// # Safety
    /// The leaf is what [`into_leaf`](Continuation::into_leaf) has given of a `Continuation<T>`, once.
    pub(crate) unsafe fn from_leaf(leaf: FrameRef) -> Continuation<T> {
        Continuation { leaf: AtomicPtr::new(leaf.as_ptr()), value: PhantomData }
    }

    /// The leaf, unless it has been taken before: the continuation is nothing any more.
    fn take_leaf(&self) -> Option<FrameRef> {
        // Relaxed: whoever sends the continuation on says how the receiver sees what came before.
        FrameRef::new(self.leaf.swap(std::ptr::null_mut(), Ordering::Relaxed))
    }

    /// Nobody waits: the child's owner has left.
    pub(crate) fn unwaited(self) {
        // Of what is nothing a box is no allocation.
        self.end(Err(Payload::new(())));
    }

    /// As `resolve`, but gives the value back if the waiting task has been cancelled.
    pub(crate) fn try_resolve(self, value: T) -> Result<(), T> {
        match self.complete(Ok(value)) {
            Err(Ok(value)) => Err(value),
            _ => Ok(()),
        }
    }

    /// The leaf.
    ///
    /// # Panics
    /// If it has been taken.
    #[inline]
    pub(crate) fn leaf(&self) -> FrameRef {
        // Relaxed: see `take_leaf`.
        FrameRef::new(self.leaf.load(Ordering::Relaxed)).expect(TAKEN)
    }

    /// Whether the waiting task has been cancelled: nobody will see the value.
    pub(crate) fn is_cancelled(&self) -> bool {
        // SAFETY: the leaf lives until this side has let it go.
        Claim::of(unsafe { &(*self.leaf().as_ptr()).join }).is_cancelled()
    }
}

impl<T> Drop for Continuation<T> {
    fn drop(&mut self) {
        let Some(leaf) = FrameRef::new(*self.leaf.get_mut()) else { return };
        // SAFETY: the own one.
        let again = unsafe { Continuation::<T>::from_leaf(leaf) };
        let message = format!(
            "a Continuation<{}> was dropped unresolved: resolve it, or let its holder live",
            std::any::type_name::<T>()
        );
        again.end(Err(Payload::new(message)));
    }
}

impl<T> std::fmt::Debug for Continuation<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Continuation").finish_non_exhaustive()
    }
}

/// A [`Continuation`] that something outside the tasks will resolve.
#[must_use = "a continuation that is dropped ends its wait with a panic"]
pub struct External<T> {
    continuation: Option<Continuation<T>>,
    /// The team's waits of this kind.
    count: Arc<Externals>,
}

impl<T> External<T> {
    /// As [`Continuation::resolve`].
    pub fn resolve(mut self, value: T) {
        if let Some(k) = self.continuation.take() {
            k.resolve(value);
        }
    }

    /// Ends the wait with a panic.
    pub(crate) fn fail(mut self, payload: Payload) {
        if let Some(k) = self.continuation.take() {
            k.end(Err(payload));
        }
    }
}

impl<T> Drop for External<T> {
    fn drop(&mut self) {
        drop(self.continuation.take());
        self.count.leave();
    }
}

impl<T> std::fmt::Debug for External<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("External").finish_non_exhaustive()
    }
}

/// Makes a frame ready from wherever this is.
pub(crate) fn make_ready(frame: FrameRef) {
    // SAFETY: a frame that becomes ready is live.
    let group = unsafe { frame.as_ref() }.group;
    match try_cx() {
        Some(cx) if cx.of_team(group) => cx.make_ready(frame),
        _ => teams::inject(frame),
    }
}

/// Cancels a leaf, if nobody has resolved it (2): its waiter, if that makes it ready.
///
/// # Safety
/// `leaf` is a leaf, or was one that has been freed, and has not been allocated again, nor its page reclaimed.
pub(crate) unsafe fn cancel(leaf: FrameRef) -> Option<FrameRef> {
    // SAFETY: the claim of a leaf, or what is left of one: that is not open.
    if !Claim::of(unsafe { &(*leaf.as_ptr()).join }).cancel() {
        return None;
    }
    // SAFETY: claimed: nobody else completes it; `Cancelled` needs no result.
    unsafe { run::complete(leaf, Status::Cancelled) }
}

/// What a leaf waits for, and who waits.
pub(crate) struct Waiting {
    pub(crate) waiter: Option<FrameRef>,
    pub(crate) what: String,
    pub(crate) place: Place,
}

/// Whether nobody has ended a leaf, and somebody waits for it.
///
/// # Safety
/// `leaf` is a leaf.
pub(crate) unsafe fn is_waited_for(leaf: FrameRef) -> bool {
    // SAFETY: live by the caller's word.
    let header = unsafe { leaf.as_ref() };
    Claim::of(&header.join).is_open() && header.slot.waiter().is_some()
}

/// Whether a leaf waits for something that a task may have passed on to a plain thread.
///
/// # Safety
/// `leaf` is a leaf.
pub(crate) unsafe fn is_lent(leaf: FrameRef) -> bool {
    // SAFETY: live by the caller's word.
    Claim::of(unsafe { &(*leaf.as_ptr()).join }).is_lent()
}

/// Describes a leaf that nobody has ended.
///
/// # Safety
/// `leaf` is a leaf.
pub(crate) unsafe fn waiting(leaf: FrameRef, table: &'static VTable) -> Option<Waiting> {
    // SAFETY: live by the caller's word.
    let header = unsafe { leaf.as_ref() };
    if !Claim::of(&header.join).is_open() {
        return None;
    }
    // SAFETY: the table's own function.
    let (value, place) = unsafe { (table.leaf?)(leaf) };
    Some(Waiting { waiter: header.slot.waiter(), what: format!("a continuation of `{value}`"), place })
}

/// One side of a cancelled leaf goes; the second frees it (3, 4).
///
/// # Safety
/// Called once by each side, which does not touch the leaf again.
#[cold]
#[inline(never)]
unsafe fn let_go(leaf: FrameRef, second: fn(Claim<'_>) -> bool) {
    // SAFETY: live until the second side has gone.
    let header = unsafe { leaf.as_ref() };
    let class = header.vtable.class;
    if second(Claim::of(&header.join)) {
        // SAFETY: both sides have gone.
        unsafe { pool::free(leaf.cast(), class) };
    }
}

/// The owner of a cancelled leaf gives it up (3).
///
/// # Safety
/// As [`let_go`].
pub(crate) unsafe fn abandon(leaf: FrameRef) {
    // SAFETY: the caller guarantees that this side calls it once, and does not touch the leaf again.
    unsafe { let_go(leaf, |claim| claim.child_goes()) };
}

/// Nobody will wait for a leaf. Whoever completes it frees it.
///
/// # Safety
/// The caller owns the leaf as a child, and does not use it afterwards.
pub(crate) unsafe fn unwaited(leaf: FrameRef) {
    // SAFETY: by the caller's word.
    let header = unsafe { leaf.as_ref() };
    if !header.slot.detach() {
        // SAFETY: completed, so the continuation has let go, and the caller is the only owner.
        frame::quietly(|| unsafe { frame::drop_result(leaf) });
        // SAFETY: as above.
        unsafe { frame::free(leaf) };
    }
}

/// Calls `body` with the continuation of this wait, and waits until somebody resolves it: call with current
/// continuation. The primitive from which semaphores, locks, barriers and channels are built.
///
/// When the continuation is resolved before `body` returns, nothing is suspended and nothing is allocated from the
/// system. Otherwise the wait costs one frame for the slot (24 bytes, and the value or at least 16 bytes) beside the waiting task's own.
///
/// # Panics
/// The wait panics if the continuation is dropped unresolved.
///
/// ```
/// use finespun::prelude::*;
///
/// #[task]
/// async fn from_another_thread() -> u64 {
///     suspend(|k: Continuation<u64>| {
///         // Something outside the tasks will resolve it: no deadlock, however long that takes.
///         let k = k.external();
///         std::thread::spawn(move || k.resolve(42));
///     })
///     .await
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run(from_another_thread()), 42);
/// ```
#[track_caller]
pub fn suspend<T: Send, F: FnOnce(Continuation<T>) + Send>(body: F) -> Suspend<T, F> {
    Suspend { body, claim: OPEN, place: Location::caller(), forced: false, value: PhantomData }
}

/// As [`suspend`], for a library's wait that its caller wrote at `place`.
pub(crate) fn suspend_at<T: Send, F: FnOnce(Continuation<T>)>(place: Place, body: F) -> Suspend<T, F> {
    Suspend { body, claim: OPEN, place, forced: false, value: PhantomData }
}

/// As [`suspend_at`], for a wait for what is done beneath the same group, elsewhere: in a group it is not cancelled, since what is
/// done is, and then ends the wait. So the group does not end before.
pub(crate) fn suspend_beneath<T: Send, F: FnOnce(Continuation<T>)>(cx: Cx, place: Place, body: F) -> Suspend<T, F> {
    let claim = if cx.is_in_group() { PROTECTED } else { OPEN };
    Suspend { claim, ..suspend_at(place, body) }
}

impl<T, F> Suspend<T, F> {
    /// What ends the wait is something that a task may have passed on to a plain thread: it is not reported at once.
    pub(crate) fn lent(self) -> Suspend<T, F> {
        Suspend { claim: LENT, ..self }
    }

    /// Suspends even if the continuation is resolved at once.
    pub(crate) fn forced(self) -> Suspend<T, F> {
        Suspend { forced: true, ..self }
    }
}

/// As [`suspend`], for a wait of the runtime's own that must not be cancelled.
#[track_caller]
pub(crate) fn suspend_protected<T: Send, F: FnOnce(Continuation<T>)>(body: F) -> Suspend<T, F> {
    Suspend { body, claim: PROTECTED, place: Location::caller(), forced: false, value: PhantomData }
}

/// The task that [`suspend`] makes.
#[must_use = "a task does nothing until it is awaited"]
pub struct Suspend<T, F> {
    body: F,
    claim: u32,
    place: Place,
    /// Suspends even if the continuation is resolved at once: block-every-n.
    forced: bool,
    value: PhantomData<fn() -> T>,
}

impl<T, F> sealed::Sealed for Suspend<T, F> {}
impl<T: Send, F: FnOnce(Continuation<T>)> Task for Suspend<T, F> {
    type Output = T;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<T> {
        if Leaf::<T>::BOXED {
            let wait = Suspended { leaf: self.begin::<Box<T>>(cx), value: PhantomData::<Box<T>> };
            // SAFETY: the caller guarantees the call protocol for this worker.
            return unsafe { map_outcome(cx, wait, |value| *value) };
        }
        let forced = self.forced;
        let leaf = self.begin::<T>(cx);
        // SAFETY: this side owns the child until it hands it on.
        if !forced && unsafe { leaf.as_ref() }.slot.status() == Some(Status::Done) && !cx.leaving() && !cx.block_now() {
            // SAFETY: completed; this is the only owner.
            if let frame::Delivered::Value(value) = unsafe { frame::take::<T>(leaf) } {
                // SAFETY: the call protocol.
                return unsafe { Outcome::done(value) };
            }
        }
        Outcome::suspended(leaf)
    }
}

impl<T, F: FnOnce(Continuation<T>)> Suspend<T, F> {
    /// Makes the leaf, which stores a `V`, and calls the body with its continuation.
    fn begin<V>(self, cx: Cx) -> FrameRef {
        /// The body panicked: nobody will wait.
        struct Unwind(FrameRef);
        impl Drop for Unwind {
            fn drop(&mut self) {
                // SAFETY: this side has not given the leaf up.
                unsafe { unwaited(self.0) };
            }
        }

        let leaf = Leaf::<V>::make(cx, self.claim, self.place);
        let unwind = Unwind(leaf);
        // SAFETY: just made, for a `T` or a box of one.
        (self.body)(unsafe { Continuation::from_leaf(leaf) });
        std::mem::forget(unwind);
        if cx.is_terminated() {
            // The sweep of this worker may be over. A waiter cannot have registered yet.
            // SAFETY: a leaf whose child this side owns.
            let waiter = unsafe { cancel(leaf) };
            debug_assert!(waiter.is_none());
        }
        leaf
    }
}

/// A leaf that is waited for.
struct Suspended<V> {
    leaf: FrameRef,
    value: PhantomData<V>,
}

impl<V> sealed::Sealed for Suspended<V> {}
impl<V> Task for Suspended<V> {
    type Output = V;
    const STRAIGHT: bool = false;
    unsafe fn call(self, _: Cx) -> Outcome<V> {
        Outcome::suspended(self.leaf)
    }
}
