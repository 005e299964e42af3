//! Continuations: the right to complete a slot once, as a first-class value.

use std::alloc::Layout;
use std::marker::PhantomData;
use std::sync::Arc;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::running::complete;
use crate::cancel::teams::{self, Externals};
use crate::frame::context::{Cx, try_cx};
use crate::frame::leaf::{self, About, AboutSubject, Waiting};
use crate::frame::pool::Class;
use crate::frame::slot::{Join, Slot, Status};
use crate::frame::{CallSite, FrameRef, Header, Payload, Types, VTable, frame_layout, payload_ptr, result_ptr};

#[cfg(feature = "objects")]
pub(crate) mod travel;

/// A leaf with a result of type `T`.
pub(crate) struct Leaf<T>(PhantomData<T>);

/// A leaf with a result of type `T`, behind which it keeps an `A`: the information about its wait.
struct LeafWith<T, A>(PhantomData<(T, A)>);

impl<T, A: About> LeafWith<T, A> {
    const RESULT: Layout = frame_layout::<(), T>();
    const ABOUT: usize = Self::RESULT.size().next_multiple_of(align_of::<A>());
    const LAYOUT: Layout = match Layout::from_size_align(Self::ABOUT + size_of::<A>(), Self::RESULT.align()) {
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
        call: None,
        migrate: None,
    };

    unsafe fn what(leaf: FrameRef) -> (String, CallSite) {
        // SAFETY: `make` has written the information at this offset.
        let about = unsafe { leaf.cast::<u8>().add(Self::ABOUT).cast::<A>().read() };
        about.describe(std::any::type_name::<T>())
    }
}

impl<T> Leaf<T> {
    /// Whether the value is stored in a box of its own: leaves are always pooled, so that sweeps and reports find them.
    pub(crate) const BOXED: bool = matches!(Class::of(LeafWith::<T, AboutSubject>::LAYOUT), Class::Large(_));

    pub(crate) fn make<A: About>(cx: Cx, claim: u32, about: A) -> FrameRef {
        const { assert!(size_of::<A>() <= size_of::<AboutSubject>() && align_of::<A>() <= align_of::<AboutSubject>()) };
        // Operations that may panic come before the allocation: a sweep must not find a block without a header.
        let group = cx.group();
        let leaf = cx.allocate(const { Class::of(LeafWith::<T, A>::LAYOUT) });
        let header = Header { slot: Slot::new(), vtable: LeafWith::<T, A>::VTABLE, join: Join::new(claim), group };
        // SAFETY: the memory is fresh, and large enough for a header.
        unsafe { leaf.write(header) };
        // SAFETY: `LAYOUT` reserves an `A` at this offset.
        unsafe { leaf.cast::<u8>().add(LeafWith::<T, A>::ABOUT).cast::<A>().write(about) };
        leaf
    }
}

const TAKEN: &str = "a continuation was used after a message had taken it";

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
    /// If called outside a task, or in a task of another runtime: call it where [`suspend`](crate::suspend) passes the
    /// continuation to its body.
    #[track_caller]
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
        // SAFETY: this continuation is consumed, and does not touch the leaf again after a refusal.
        if !unsafe { leaf::resolve(leaf) } {
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
        if let Some(waiter) = unsafe { complete(leaf, status) } {
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
    pub(crate) fn take_leaf(&self) -> Option<FrameRef> {
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
        unsafe { leaf::is_cancelled(self.leaf()) }
    }
}

impl Continuation<()> {
    /// Converts the continuation into a [`Waiting`], for queues of the modules below.
    pub(crate) fn into_waiting(self) -> Waiting {
        // SAFETY: the continuation passes to the result.
        unsafe { Waiting::new(self.into_leaf()) }
    }

    /// Converts back what [`into_waiting`](Continuation::into_waiting) has returned.
    pub(crate) fn of_waiting(waiting: Waiting) -> Continuation<()> {
        // SAFETY: only `into_waiting` makes a `Waiting`, from the leaf of a `Continuation<()>`.
        unsafe { Continuation::from_leaf(waiting.into_leaf()) }
    }
}

impl<T> Drop for Continuation<T> {
    fn drop(&mut self) {
        let Some(leaf) = FrameRef::new(*self.leaf.get_mut()) else { return };
        // SAFETY: `leaf` is this continuation's own leaf, and is converted back once: the field is not read again.
        let again = unsafe { Continuation::<T>::from_leaf(leaf) };
        let message = format!(
            "a Continuation<{}> was dropped unresolved: resolve it, or keep its holder alive",
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

/// Cancels a leaf, if it has not been resolved. Returns its waiter if that becomes ready.
///
/// # Safety
/// `leaf` is a leaf, live or freed, whose memory was neither allocated again nor reclaimed with its page.
pub(crate) unsafe fn cancel(leaf: FrameRef) -> Option<FrameRef> {
    // SAFETY: the caller guarantees the conditions of `cancel`.
    if !unsafe { leaf::cancel(leaf) } {
        return None;
    }
    // SAFETY: this thread holds the claim, so it alone completes the leaf; `Cancelled` needs no result.
    unsafe { complete(leaf, Status::Cancelled) }
}
