//! The result of a call on the stack: a value, or the frame of a suspended task.

use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};

use super::{Task, sealed};
use crate::frame::context::Cx;
use crate::frame::origin::{Named, Note};
use crate::frame::{self, FrameRef};
use crate::run::membership::cancelled;

/// The return type of a stack function.
///
/// A plain pair: with a value of one word it is returned in two registers, whatever the word's type. The value is
/// present exactly when the frame is not. `S`, the schemas of the callees, does not exist at run time.
#[must_use]
#[repr(C)]
pub struct Outcome<T, S = ()> {
    value: MaybeUninit<T>,
    frame: Option<FrameRef>,
    schema: PhantomData<fn() -> S>,
}

impl<T, S> Outcome<T, S> {
    /// Creates the outcome of a call that has ended with `value`.
    ///
    /// # Safety
    /// Only the call protocol of generated code may use it.
    #[inline(always)]
    pub unsafe fn done(value: T) -> Self {
        Outcome { frame: None, value: MaybeUninit::new(value), schema: PhantomData }
    }

    /// Creates the outcome of a suspended call; `frame` delivers a `T`, and the outcome is its only owner.
    #[inline(always)]
    pub(crate) fn suspended(frame: FrameRef) -> Self {
        Outcome { frame: Some(frame), value: MaybeUninit::uninit(), schema: PhantomData }
    }

    /// Creates an outcome without frame and value.
    ///
    /// # Safety
    /// The outcome is not opened.
    #[cfg(feature = "objects")]
    #[inline(always)]
    pub(crate) unsafe fn nothing() -> Self {
        Outcome { frame: None, value: MaybeUninit::uninit(), schema: PhantomData }
    }

    /// Converts the outcome of a call that cannot have been suspended into one without a frame.
    ///
    /// # Safety
    /// The call has not been suspended.
    #[inline(always)]
    pub(crate) unsafe fn ended(self) -> Self {
        Outcome { frame: None, ..self }
    }

    /// Changes the schemas of the callees, which affect only the type.
    #[inline(always)]
    pub fn with_schema<S2>(self) -> Outcome<T, S2> {
        // Read as a whole, so that LLVM need not copy the fields.
        // SAFETY: `S` is not part of the layout, and `self` has no destructor.
        unsafe { (&raw const self).cast::<Outcome<T, S2>>().read() }
    }

    /// Converts the result into a `V`: a value by `map`, the result of a suspended call by reading it as a `V`.
    ///
    /// # Safety
    /// A `T` begins with a `V`, which has the same [offset](crate::frame::result_offset) in frames. After the `V` has been
    /// moved out, the rest of the `T` needs no destructor.
    pub(crate) unsafe fn map_prefix<V>(self, map: impl FnOnce(T) -> V) -> Outcome<V, S> {
        match self.frame {
            Some(frame) => Outcome::suspended(frame),
            // SAFETY: without a frame, the outcome holds a value; the caller returns the result as the call's outcome.
            None => unsafe { Outcome::done(map(self.value.assume_init())) },
        }
    }

    /// Returns the same outcome, with a frame pointer that is opaque to the optimizer: see
    /// [`behind`](crate::call::behind).
    #[inline(always)]
    pub(crate) fn opaque(self) -> Self {
        #[cfg_attr(miri, allow(unused_mut, reason = "only the assembly changes it"))]
        let mut frame = self.frame.map_or(ptr::null_mut(), NonNull::as_ptr);
        // SAFETY: the assembly contains no instruction; the register stays unchanged.
        #[cfg(all(any(target_arch = "x86_64", target_arch = "aarch64"), not(miri)))]
        #[allow(clippy::pointers_in_nomem_asm_block, reason = "the pointer is not followed")]
        unsafe {
            std::arch::asm!("/* {0} */", inout(reg) frame, options(pure, nomem, nostack, preserves_flags));
        }
        Outcome { frame: NonNull::new(frame), ..self }
    }

    #[inline(always)]
    pub(crate) fn open<Tk: Task<Output = T>>(self) -> Result<T, Child<Tk>> {
        match self.frame {
            // SAFETY: without a frame, the outcome holds a value.
            None => Ok(unsafe { self.value.assume_init() }),
            Some(frame) => Err(Child { frame, task: PhantomData }),
        }
    }
}

impl<N: Named> Note<N> {
    /// Ends the note, and returns `value` as the call's outcome.
    ///
    /// # Safety
    /// As [`Outcome::done`].
    #[inline(always)]
    pub unsafe fn done<T, S>(self, value: T) -> Outcome<T, S> {
        self.end();
        // SAFETY: the caller guarantees the conditions of `Outcome::done`.
        unsafe { Outcome::done(value) }
    }
}

/// The outcome of a call, typed by the task that was called. A pair and not a `Result`: value and child stay in two
/// registers, and the hot path does not choose between them.
#[must_use]
pub struct Called<Tk: Task>(Outcome<Tk::Output>);

impl<Tk: Task> Called<Tk> {
    #[inline(always)]
    pub(crate) fn new(outcome: Outcome<Tk::Output>) -> Called<Tk> {
        Called(outcome)
    }

    /// Returns whether the callee was suspended.
    #[inline(always)]
    pub fn suspended(&self) -> bool {
        self.0.frame.is_some()
    }

    /// Returns the suspended callee.
    ///
    /// # Safety
    /// The callee must have been suspended.
    #[inline(always)]
    pub unsafe fn child(self) -> Child<Tk> {
        match self.0.frame {
            Some(frame) => Child { frame, task: PhantomData },
            // SAFETY: the caller guarantees that the callee was suspended, so this is not reached.
            None => unsafe { std::hint::unreachable_unchecked() },
        }
    }

    /// Returns the callee's value.
    ///
    /// # Safety
    /// The callee must not have been suspended.
    #[inline(always)]
    pub unsafe fn value(self) -> Tk::Output {
        // SAFETY: the caller guarantees that the callee was not suspended; without a frame, the outcome holds a value.
        unsafe { self.0.value.assume_init() }
    }

    /// Returns the outcome itself, for the caller's caller: forwarding of a tail await.
    ///
    /// # Safety
    /// The task borrows nothing that ends with the function that returns this.
    #[inline(always)]
    pub unsafe fn into_outcome<S>(self) -> Outcome<Tk::Output, S> {
        self.0.with_schema()
    }

    /// Returns the value, or the suspended callee.
    #[inline(always)]
    pub fn open(self) -> Result<Tk::Output, Child<Tk>> {
        self.0.open()
    }
}

/// A suspended callee: the only owner of its frame, typed by the task, so that the task's borrows last while the frame
/// lives.
///
/// Neither the type nor its `Send` impl requires `Tk` to be a task. Inside an `async` body rustc would have to prove
/// this bound for every lifetime, which fails for a closure that takes a reference.
#[must_use]
pub struct Child<Tk> {
    frame: FrameRef,
    task: PhantomData<Tk>,
}

// SAFETY: any worker may wait for and take a frame: the captured state of a floating task is `Send`, which the compiler
// checks at the capture, and so is its result.
unsafe impl<Tk> Send for Child<Tk> {}

/// The task type of a child of which only the type of its value is known, so that the code that waits for it is compiled
/// once for each type of value.
pub(crate) struct AnyTask<T>(PhantomData<fn() -> T>);

impl<T> sealed::Sealed for AnyTask<T> {}
impl<T> Task for AnyTask<T> {
    type Output = T;
    const STRAIGHT: bool = false;
    unsafe fn call(self, _: Cx) -> Outcome<T> {
        unreachable!("the type of a child is not called")
    }
}

impl<Tk: Task> Child<Tk> {
    pub(crate) fn new(frame: FrameRef) -> Child<Tk> {
        Child { frame, task: PhantomData }
    }

    /// Forgets the type of the task.
    ///
    /// # Safety
    /// What the task borrows outlives the child.
    #[cfg(feature = "objects")]
    #[inline(always)]
    pub(crate) unsafe fn any(self) -> Child<AnyTask<Tk::Output>> {
        Child::new(self.into_frame())
    }

    pub(crate) fn frame(&self) -> FrameRef {
        self.frame
    }

    /// Returns whether the wait is over: the child has ended, or cancellation has removed its waiter.
    #[inline]
    pub(crate) fn ended(&self) -> bool {
        // SAFETY: this owns the frame, which is therefore live.
        unsafe { has_ended(self.frame) }
    }

    /// Returns the frame to the caller's caller: forwarding of a tail await.
    ///
    /// # Safety
    /// The task borrows nothing that ends with the function that returns this.
    #[inline(always)]
    pub unsafe fn into_outcome(self) -> Outcome<Tk::Output> {
        Outcome::suspended(self.into_frame())
    }

    #[inline(always)]
    pub(crate) fn into_frame(self) -> FrameRef {
        ManuallyDrop::new(self).frame
    }

    /// Gives up the child, a leaf whose continuation is held elsewhere: the leaf will have no waiter.
    pub(crate) fn unwaited(self) {
        let leaf = self.into_frame();
        // SAFETY: this owns the leaf as a child, and gives it up.
        unsafe { crate::frame::leaf::unwaited(leaf) };
    }

    /// Takes the result of an ended child: its value, its panic, or that it was cancelled.
    #[inline(always)]
    pub(crate) fn deliver(self) -> frame::Delivered<Tk::Output> {
        // SAFETY: every caller has checked that the child has ended; this was its only owner, and gives it up.
        unsafe { take(self.into_frame()) }
    }

    /// Takes the value of an ended child, or resumes its panic. Panics if the child was cancelled.
    #[inline(always)]
    pub(crate) fn value(self) -> Tk::Output {
        // SAFETY: as in `deliver`.
        unsafe { value_of(self.into_frame()) }
    }
}

/// Implements [`Child::ended`]. This function and the next ones are generic at most in the result, so that they are not
/// compiled for each task.
///
/// # Safety
/// `frame` is live.
#[inline]
unsafe fn has_ended(frame: FrameRef) -> bool {
    // SAFETY: the caller guarantees that `frame` is live.
    let slot = &unsafe { frame.as_ref() }.slot;
    slot.status().is_some() || slot.is_orphaned()
}

/// Implements [`Child::deliver`].
///
/// # Safety
/// `frame` is the frame of an ended child that delivers a `T`; the caller owns it, and does not use it afterwards.
unsafe fn take<T>(frame: FrameRef) -> frame::Delivered<T> {
    // SAFETY: the caller owns the frame, which is therefore live.
    debug_assert!(unsafe { has_ended(frame) });
    // SAFETY: the caller owns the frame, which is therefore live.
    if unsafe { frame.as_ref() }.slot.give_up_orphaned() {
        return frame::Delivered::Cancelled;
    }
    // SAFETY: the caller guarantees that the child has ended and delivers a `T`, and that it owns the frame.
    unsafe { frame::take(frame) }
}

/// Implements [`Child::value`].
///
/// # Safety
/// As for [`take`].
unsafe fn value_of<T>(frame: FrameRef) -> T {
    // SAFETY: the caller guarantees that the child has ended and delivers a `T`, and that it gives up the frame.
    match unsafe { take(frame) } {
        frame::Delivered::Value(value) => value,
        frame::Delivered::Panic(payload) => payload.resume(),
        frame::Delivered::Cancelled => cancelled("the awaited task was cancelled"),
    }
}

impl<Tk> Drop for Child<Tk> {
    fn drop(&mut self) {
        // SAFETY: this owns the frame, and gives it up.
        unsafe { drop_child(self.frame) };
    }
}

/// Destroys a child that has ended, or that cancellation has orphaned; aborts the process otherwise. Not generic: it is
/// part of the cleanup of all code that awaits.
///
/// # Safety
/// The caller owns the frame, and does not use it afterwards.
unsafe fn drop_child(frame: FrameRef) {
    // SAFETY: the caller owns the frame, which is therefore live.
    let header = unsafe { frame.as_ref() };
    if header.slot.give_up_orphaned() {
        return;
    }
    if header.slot.status().is_none() {
        // A waiting frame is never dropped before its children have ended: a waiter outlives the children that may
        // borrow from it. To continue would free storage that a running task borrows.
        eprintln!("finespun: a frame was dropped before its child `{}` had ended", (header.vtable.name)());
        std::process::abort();
    }
    // SAFETY: the child has ended, and the caller owns the frame; the result is destroyed before this is dropped.
    let _free = unsafe { frame::Free::new(frame) };
    // SAFETY: the child has ended, and the caller owns the frame; the result has not been taken.
    unsafe { frame::drop_result(frame) };
}
