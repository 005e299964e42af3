//! Continuations: the right to complete a slot once, as a first-class value.
//!
//! `suspend` makes a *leaf*: a frame without a body, whose slot a [`Continuation`] completes. The leaf may be orphaned:
//! a cancelled task gives up its leaf while its continuation still exists. The leaf's *claim* decides which side
//! completes it and which side frees it: see [`claim`] for its states.

use std::alloc::Layout;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::call::{Task, map_outcome, sealed};
use super::context::{Cx, try_cx};
use super::frame::{self, CallSite, FrameRef, Header, Payload, Types, VTable, frame_layout, payload_ptr, result_ptr};
use super::outcome::Outcome;
use super::pool::{self, Class};
use super::slot::{Join, Slot, Status};
use super::teams::Externals;
use super::{run, teams};

mod claim;
#[cfg(feature = "objects")]
pub(crate) mod travel;

use claim::{Claim, OPEN, PROTECTED, WAITS_FOR_LOCK};

/// A leaf with a result of type `T`. The source location of the wait is stored behind the result.
struct Leaf<T>(PhantomData<T>);

impl<T> Leaf<T> {
    const RESULT: Layout = frame_layout::<(), T>();
    const PLACE: usize = Self::RESULT.size().next_multiple_of(align_of::<CallSite>());
    const LAYOUT: Layout = match Layout::from_size_align(Self::PLACE + size_of::<CallSite>(), Self::RESULT.align()) {
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
        on_child_complete: None,
        inner: false,
        thread: None,
    };

    /// Whether the value is stored in a box of its own: leaves are always pooled, so that sweeps and reports find them.
    const BOXED: bool = matches!(Class::of(Self::LAYOUT), Class::Large(_));

    fn make(cx: Cx, claim: u32, place: CallSite) -> FrameRef {
        // Operations that may panic come before the allocation: a sweep must not find a block without a header.
        let group = cx.group();
        let leaf = cx.allocate(const { Class::of(Self::LAYOUT) });
        let header = Header { slot: Slot::new(), vtable: Self::VTABLE, join: Join::new(claim), group };
        // SAFETY: the memory is fresh, and large enough for a header.
        unsafe { leaf.write(header) };
        // SAFETY: `LAYOUT` reserves a `CallSite` at this offset.
        unsafe { leaf.cast::<u8>().add(Self::PLACE).cast::<CallSite>().write(place) };
        leaf
    }

    unsafe fn what(leaf: FrameRef) -> (&'static str, CallSite) {
        // SAFETY: `make` has written the call site at this offset.
        (std::any::type_name::<T>(), unsafe { leaf.cast::<u8>().add(Self::PLACE).cast::<CallSite>().read() })
    }
}

const TAKEN: &str = "a continuation is not used after it has been sent";

/// The right to complete a wait with a `T`, once.
///
/// [`resolve`](Continuation::resolve) consumes it, so the type system rules out a second value. A continuation that is
/// dropped unresolved resumes its waiter with a panic that says so. It may be resolved on any thread, and may outlive
/// the waiting task, its run and the runtime. If anything but a task, of this or of another runtime, will resolve it,
/// say so by [`external`](Continuation::external), or the wait may be reported as a deadlock.
///
/// Before this runtime reports a deadlock, it waits for tasks of other runtimes: for each run that is under way when
/// this runtime gets stuck, and for each run that a task begins later. It does not wait for a run that a plain thread
/// begins later in order to resolve the continuation there: mark the wait as external, or hold an
/// [`Outside`](crate::tasks::Outside) of this runtime until then.
#[must_use = "a continuation that is dropped ends its wait with a panic"]
pub struct Continuation<T> {
    /// Null after the continuation has been moved into a message as bytes, which leaves this value behind. Atomic,
    /// because serialization has only a shared reference.
    leaf: AtomicPtr<Header>,
    value: PhantomData<fn(T)>,
}

// SAFETY: resolving writes a `T` and makes a frame ready, both of which any thread may do for a `Send` value.
unsafe impl<T: Send> Send for Continuation<T> {}
// SAFETY: a shared continuation allows only reads of its leaf pointer and taking it, both atomic.
unsafe impl<T> Sync for Continuation<T> {}

impl<T> Continuation<T> {
    /// Completes the wait with `value`. The waiting task becomes ready; it does not run inside this call.
    ///
    /// If the task has been cancelled, drops `value`.
    #[inline]
    pub fn resolve(self, value: T) {
        self.end(Ok(value));
    }

    /// Marks the wait as one that something outside the tasks will complete (a socket, a timer, another thread): until
    /// then, no run of this runtime is reported as deadlocked.
    ///
    /// # Panics
    /// If called outside a task, or in a task of another runtime: call it where [`suspend`] passes the continuation to
    /// its body.
    pub fn external(self) -> External<T> {
        let Some(cx) = try_cx() else { panic!("`external` was called outside a task") };
        // SAFETY: the leaf lives until the continuation gives it up.
        let group = unsafe { self.leaf().as_ref() }.group;
        assert!(
            cx.of_team(group),
            "`Continuation::external` was called in a task of another runtime: call it in the body of `suspend`"
        );
        let count = cx.external();
        count.enter();
        External { continuation: Some(self), count }
    }

    /// Completes the slot; drops the result if the wait has been cancelled.
    #[inline(always)]
    pub(crate) fn end(self, result: Result<T, Payload>) {
        /// Out of line, so that the common path need not keep the result in memory.
        #[cold]
        #[inline(never)]
        fn unsent<T>(result: Result<T, Payload>) {
            drop(result);
        }
        if let Err(result) = self.complete(result) {
            unsent(result);
        }
    }

    /// Completes the slot; gives the result back if the wait has been cancelled.
    #[inline(always)]
    pub(crate) fn complete(self, result: Result<T, Payload>) -> Result<(), Result<T, Payload>> {
        let leaf = self.into_leaf();
        // SAFETY: the leaf lives until the continuation gives it up.
        let claim = Claim::of(unsafe { &(*leaf.as_ptr()).join });
        if !claim.resolve() {
            // SAFETY: this continuation is consumed, so its side calls `let_go` once and does not touch the leaf again.
            unsafe { let_go(leaf, |claim| claim.handle_goes()) };
            return Err(result);
        }
        let status = match result {
            Ok(value) if Leaf::<T>::BOXED => {
                // SAFETY: this thread holds the claim, the slot is empty, and the leaf reserves a box.
                unsafe { result_ptr::<Box<T>>(leaf).write(Box::new(value)) };
                Status::Done
            }
            Err(payload) if Leaf::<T>::BOXED => {
                // SAFETY: this thread holds the claim, the slot is empty, and every leaf reserves a payload.
                unsafe { payload_ptr(leaf).write(payload) };
                Status::Panicked
            }
            Ok(value) => {
                // SAFETY: this thread holds the claim, the slot is empty, and the leaf reserves a `T`.
                unsafe { result_ptr::<T>(leaf).write(value) };
                Status::Done
            }
            Err(payload) => {
                // SAFETY: this thread holds the claim, the slot is empty, and every leaf reserves a payload.
                unsafe { payload_ptr(leaf).write(payload) };
                Status::Panicked
            }
        };
        // SAFETY: the result that `status` names has been written; the claim is held once, so the leaf completes once.
        if let Some(waiter) = unsafe { run::complete(leaf, status) } {
            make_ready(waiter);
        }
        Ok(())
    }

    /// Converts the continuation into its leaf, which must be converted back by [`from_leaf`](Continuation::from_leaf).
    pub(crate) fn into_leaf(self) -> FrameRef {
        FrameRef::new(*std::mem::ManuallyDrop::new(self).leaf.get_mut()).expect(TAKEN)
    }

    /// Converts a leaf back into its continuation.
    ///
    /// # Safety
    /// The leaf comes from [`into_leaf`](Continuation::into_leaf) of a `Continuation<T>`, and is converted back once.
    pub(crate) unsafe fn from_leaf(leaf: FrameRef) -> Continuation<T> {
        Continuation { leaf: AtomicPtr::new(leaf.as_ptr()), value: PhantomData }
    }

    /// Takes the leaf out, unless it has been taken before. The continuation is empty afterwards.
    fn take_leaf(&self) -> Option<FrameRef> {
        // Relaxed: the message that carries the leaf publishes to the receiver what came before.
        FrameRef::new(self.leaf.swap(std::ptr::null_mut(), Ordering::Relaxed))
    }

    /// Completes the leaf with a placeholder that no waiter sees: the child's owner has given up the leaf.
    pub(crate) fn unwaited(self) {
        // A box of a zero-sized value does not allocate.
        self.end(Err(Payload::new(())));
    }

    /// Like `resolve`, but gives the value back if the waiting task has been cancelled.
    pub(crate) fn try_resolve(self, value: T) -> Result<(), T> {
        match self.complete(Ok(value)) {
            Err(Ok(value)) => Err(value),
            _ => Ok(()),
        }
    }

    /// Returns the leaf.
    ///
    /// # Panics
    /// If the leaf has been taken.
    #[inline]
    pub(crate) fn leaf(&self) -> FrameRef {
        // Relaxed: see `take_leaf`.
        FrameRef::new(self.leaf.load(Ordering::Relaxed)).expect(TAKEN)
    }

    /// Returns whether the waiting task has been cancelled, so that no task will see the value.
    pub(crate) fn is_cancelled(&self) -> bool {
        // SAFETY: the leaf lives until the continuation gives it up.
        Claim::of(unsafe { &(*self.leaf().as_ptr()).join }).is_cancelled()
    }
}

impl<T> Drop for Continuation<T> {
    fn drop(&mut self) {
        let Some(leaf) = FrameRef::new(*self.leaf.get_mut()) else { return };
        // SAFETY: `leaf` is this continuation's own leaf, and is converted back once: the field is not read again.
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
    /// The team's number of external waits, in which this one counts.
    count: Arc<Externals>,
}

impl<T> External<T> {
    /// Completes the wait with `value`, as [`Continuation::resolve`] does.
    pub fn resolve(mut self, value: T) {
        if let Some(k) = self.continuation.take() {
            k.resolve(value);
        }
    }

    /// Completes the wait with a panic.
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

/// Makes a frame ready, from any thread.
pub(crate) fn make_ready(frame: FrameRef) {
    // SAFETY: a frame that becomes ready is live.
    let group = unsafe { frame.as_ref() }.group;
    match try_cx() {
        Some(cx) if cx.of_team(group) => cx.make_ready(frame),
        _ => teams::inject(frame),
    }
}

/// Cancels a leaf (transition 2 of [`claim`]), if it has not been resolved. Returns its waiter if that becomes ready.
///
/// # Safety
/// `leaf` is a leaf, or was one that has been freed, and has not been allocated again, nor its page reclaimed.
pub(crate) unsafe fn cancel(leaf: FrameRef) -> Option<FrameRef> {
    // SAFETY: the caller guarantees that the memory still holds the claim of a leaf; the claim of a freed leaf is not
    // open.
    if !Claim::of(unsafe { &(*leaf.as_ptr()).join }).cancel() {
        return None;
    }
    // SAFETY: this thread holds the claim, so it alone completes the leaf; `Cancelled` needs no result.
    unsafe { run::complete(leaf, Status::Cancelled) }
}

/// A description of a waiting leaf: the waiter, the awaited type, and the source location of the wait.
pub(crate) struct Waiting {
    pub(crate) waiter: Option<FrameRef>,
    pub(crate) what: String,
    pub(crate) place: CallSite,
}

/// Returns whether a leaf has not been completed and has a waiter.
///
/// # Safety
/// `leaf` is a live leaf.
pub(crate) unsafe fn is_waited_for(leaf: FrameRef) -> bool {
    // SAFETY: the caller guarantees that `leaf` is live.
    let header = unsafe { leaf.as_ref() };
    Claim::of(&header.join).is_open() && header.slot.waiter().is_some()
}

/// Returns whether a leaf waits for a lock or for permits, whose guard a task may have moved to a plain thread.
///
/// # Safety
/// `leaf` is a live leaf.
pub(crate) unsafe fn waits_for_lock(leaf: FrameRef) -> bool {
    // SAFETY: the caller guarantees that `leaf` is live.
    Claim::of(unsafe { &(*leaf.as_ptr()).join }).waits_for_lock()
}

/// Describes a leaf. Returns `None` if the leaf has been resolved or cancelled. `table` is the leaf's vtable.
///
/// # Safety
/// `leaf` is a live leaf.
pub(crate) unsafe fn waiting(leaf: FrameRef, table: &'static VTable) -> Option<Waiting> {
    // SAFETY: the caller guarantees that `leaf` is live.
    let header = unsafe { leaf.as_ref() };
    if !Claim::of(&header.join).is_open() {
        return None;
    }
    // SAFETY: the function comes from the leaf's own table.
    let (value, place) = unsafe { (table.leaf?)(leaf) };
    Some(Waiting { waiter: header.slot.waiter(), what: format!("a continuation of `{value}`"), place })
}

/// Gives up a cancelled leaf on behalf of one side (transition 3 or 4 of [`claim`]); the second side frees it.
///
/// # Safety
/// Each side calls this once, and does not touch the leaf again.
#[cold]
#[inline(never)]
unsafe fn let_go(leaf: FrameRef, second: fn(Claim<'_>) -> bool) {
    // SAFETY: the leaf is live until the second side has given it up.
    let header = unsafe { leaf.as_ref() };
    let class = header.vtable.class;
    if second(Claim::of(&header.join)) {
        // SAFETY: both sides have given up the leaf, which is of this class.
        unsafe { pool::free(leaf.cast(), class) };
    }
}

/// Gives up a cancelled leaf on behalf of the child's owner (3).
///
/// # Safety
/// The owner calls this once, and does not touch the leaf again.
pub(crate) unsafe fn abandon(leaf: FrameRef) {
    // SAFETY: the caller guarantees that the owner calls this once, and does not touch the leaf again.
    unsafe { let_go(leaf, |claim| claim.child_goes()) };
}

/// Gives up a leaf that will have no waiter. If it has not been completed, the completer frees it.
///
/// # Safety
/// The caller owns the leaf as a child, and does not use it afterwards.
pub(crate) unsafe fn unwaited(leaf: FrameRef) {
    // SAFETY: the caller guarantees that it owns the leaf, which is therefore live.
    let header = unsafe { leaf.as_ref() };
    if !header.slot.detach() {
        // SAFETY: the leaf is completed, so the continuation no longer uses it, and the caller is the only owner.
        frame::quietly(|| unsafe { frame::drop_result(leaf) });
        // SAFETY: the result has been destroyed, and the caller is the only owner.
        unsafe { frame::free(leaf) };
    }
}

/// Calls `body` with the continuation of this wait, and waits until the continuation is resolved: call with current
/// continuation. The primitive from which semaphores, locks, barriers and channels are built.
///
/// When the continuation is resolved before `body` returns, the task does not suspend, and nothing is allocated from
/// the system. Otherwise the wait costs one frame for the slot (32 bytes, and the value or at least 16 bytes) beside
/// the waiting task's own.
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

/// Like [`suspend`], for a library's wait that its caller wrote at `place`.
pub(crate) fn suspend_at<T: Send, F: FnOnce(Continuation<T>)>(place: CallSite, body: F) -> Suspend<T, F> {
    Suspend { body, claim: OPEN, place, forced: false, value: PhantomData }
}

/// Like [`suspend_at`], for a wait for work that another node does beneath the caller's group. Termination of the group
/// does not cancel the wait: it cancels the work, which then completes the wait. So the group does not end before the
/// work.
pub(crate) fn suspend_beneath<T: Send, F: FnOnce(Continuation<T>)>(cx: Cx, place: CallSite, body: F) -> Suspend<T, F> {
    let claim = if cx.is_in_group() { PROTECTED } else { OPEN };
    Suspend { claim, ..suspend_at(place, body) }
}

impl<T, F> Suspend<T, F> {
    /// Marks the wait as one for a lock or for permits. A task may have moved their guard to a plain thread, so a
    /// deadlock is reported only after a delay.
    pub(crate) fn waits_for_lock(self) -> Suspend<T, F> {
        Suspend { claim: WAITS_FOR_LOCK, ..self }
    }

    /// Makes the wait suspend even if the continuation is resolved at once.
    pub(crate) fn forced(self) -> Suspend<T, F> {
        Suspend { forced: true, ..self }
    }
}

/// Like [`suspend`], for a wait of the runtime itself that must not be cancelled.
#[track_caller]
pub(crate) fn suspend_protected<T: Send, F: FnOnce(Continuation<T>)>(body: F) -> Suspend<T, F> {
    Suspend { body, claim: PROTECTED, place: Location::caller(), forced: false, value: PhantomData }
}

/// The task returned by [`suspend`].
#[must_use = "a task does nothing until it is awaited"]
pub struct Suspend<T, F> {
    body: F,
    claim: u32,
    place: CallSite,
    /// Suspends even if the continuation is resolved at once.
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
        // SAFETY: this call owns the child until it returns it, so the leaf is live.
        if !forced && unsafe { leaf.as_ref() }.slot.status() == Some(Status::Done) && !cx.leaving() && !cx.block_now() {
            // SAFETY: the leaf is completed and delivers a `T`; this call is its only owner.
            if let frame::Delivered::Value(value) = unsafe { frame::take::<T>(leaf) } {
                // SAFETY: this function returns the outcome to its caller, as the call protocol demands.
                return unsafe { Outcome::done(value) };
            }
        }
        Outcome::suspended(leaf)
    }
}

impl<T, F: FnOnce(Continuation<T>)> Suspend<T, F> {
    /// Makes the leaf, which stores a `V`, and calls the body with its continuation.
    fn begin<V>(self, cx: Cx) -> FrameRef {
        /// Gives up the leaf when the body panics.
        struct Unwind(FrameRef);
        impl Drop for Unwind {
            fn drop(&mut self) {
                // SAFETY: this call owns the leaf as a child, and does not use it after the panic.
                unsafe { unwaited(self.0) };
            }
        }

        let leaf = Leaf::<V>::make(cx, self.claim, self.place);
        let unwind = Unwind(leaf);
        // SAFETY: the leaf was made above, for a `T` or a box of one, and has no other continuation.
        (self.body)(unsafe { Continuation::from_leaf(leaf) });
        std::mem::forget(unwind);
        if cx.is_terminated() {
            // This worker may have swept before the leaf was made. A waiter cannot have registered yet.
            // SAFETY: `leaf` is live: this call owns its child.
            let waiter = unsafe { cancel(leaf) };
            debug_assert!(waiter.is_none());
        }
        leaf
    }
}

/// A task whose call returns a leaf that has been made already.
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
