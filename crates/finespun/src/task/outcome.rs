//! What a call on the stack returns: a value, or the frame of a task that was suspended.

use std::marker::PhantomData;
use std::mem::{ManuallyDrop, MaybeUninit};
use std::ptr::{self, NonNull};

use super::call::{Task, cancelled};
use super::frame::{self, FrameRef};

/// What a stack function returns.
///
/// A plain pair: for a value of one word it travels in two registers, whatever the word is. The value is there
/// exactly when the frame is not. `S`, the schemas of the callees, is nothing at run time.
#[must_use]
#[repr(C)]
pub struct Outcome<T, S = ()> {
    frame: Option<FrameRef>,
    value: MaybeUninit<T>,
    schema: PhantomData<fn() -> S>,
}

impl<T, S> Outcome<T, S> {
    /// The call has ended with `value`.
    ///
    /// # Safety
    /// Only the call protocol of generated code may use it.
    #[inline(always)]
    pub unsafe fn done(value: T) -> Self {
        Outcome { frame: None, value: MaybeUninit::new(value), schema: PhantomData }
    }

    /// The call was suspended; `frame` delivers a `T`, and this is its only owner.
    #[inline(always)]
    pub(crate) fn suspended(frame: FrameRef) -> Self {
        Outcome { frame: Some(frame), value: MaybeUninit::uninit(), schema: PhantomData }
    }

    /// The same, of a call that cannot have been suspended.
    ///
    /// # Safety
    /// It has not been.
    #[inline(always)]
    pub(crate) unsafe fn ended(self) -> Self {
        Outcome { frame: None, ..self }
    }

    /// The same, whatever the callees are.
    #[inline(always)]
    pub fn with_schema<S2>(self) -> Outcome<T, S2> {
        // SAFETY: `S` is no part of the layout, and nothing is dropped. As a whole, so that LLVM need not copy it.
        unsafe { (&raw const self).cast::<Outcome<T, S2>>().read() }
    }

    /// The same, with a frame of which the optimizer knows nothing.
    #[inline(always)]
    pub(crate) fn opaque(self) -> Self {
        let mut frame = self.frame.map_or(ptr::null_mut(), NonNull::as_ptr);
        // SAFETY: no instruction; the register stays as it is.
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
            // SAFETY: without a frame there is a value.
            None => Ok(unsafe { self.value.assume_init() }),
            Some(frame) => Err(Child { frame, task: PhantomData }),
        }
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

    /// Whether the callee was suspended.
    #[inline(always)]
    pub fn suspended(&self) -> bool {
        self.0.frame.is_some()
    }

    /// The suspended callee.
    ///
    /// # Safety
    /// It must have been suspended.
    #[inline(always)]
    pub unsafe fn child(self) -> Child<Tk> {
        match self.0.frame {
            Some(frame) => Child { frame, task: PhantomData },
            // SAFETY: by the caller's word.
            None => unsafe { std::hint::unreachable_unchecked() },
        }
    }

    /// The callee's value.
    ///
    /// # Safety
    /// It must not have been suspended.
    #[inline(always)]
    pub unsafe fn value(self) -> Tk::Output {
        // SAFETY: by the caller's word; without a frame there is a value.
        unsafe { self.0.value.assume_init() }
    }

    /// The outcome itself, for the caller's caller: forwarding of a tail await.
    ///
    /// # Safety
    /// The task borrows nothing that ends with the function that returns this.
    #[inline(always)]
    pub unsafe fn into_outcome<S>(self) -> Outcome<Tk::Output, S> {
        self.0.with_schema()
    }

    /// Either of them.
    #[inline(always)]
    pub fn open(self) -> Result<Tk::Output, Child<Tk>> {
        self.0.open()
    }
}

/// A suspended callee: the only owner of its frame, typed by the task, so that what the task borrows stays borrowed
/// while the frame lives.
///
/// Neither the type nor its `Send` asks that `Tk` be a task: inside an `async` body such a question would be asked
/// for every lifetime, which a closure that takes one cannot answer.
#[must_use]
pub struct Child<Tk> {
    frame: FrameRef,
    task: PhantomData<Tk>,
}

// SAFETY: a frame may be waited for and taken on any worker: the captured state of a floating task is `Send`, which
// the compiler checks where it captures, and so is its result.
unsafe impl<Tk> Send for Child<Tk> {}

impl<Tk: Task> Child<Tk> {
    pub(crate) fn new(frame: FrameRef) -> Child<Tk> {
        Child { frame, task: PhantomData }
    }

    pub(crate) fn frame(&self) -> FrameRef {
        self.frame
    }

    /// Whether there is nothing to wait for: the child has ended, or cancellation has parted it from its waiter.
    #[inline]
    pub(crate) fn ended(&self) -> bool {
        // SAFETY: owned, hence live.
        unsafe { has_ended(self.frame) }
    }

    /// Hands the frame to the caller's caller: forwarding of a tail await.
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

    /// Nobody will wait for it: it is a leaf, of which somebody else has the continuation.
    pub(crate) fn unwaited(self) {
        let leaf = self.into_frame();
        // SAFETY: owned, and given up.
        unsafe { super::suspend::unwaited(leaf) };
    }

    /// Takes the result of an ended child: its value, or a resumed panic.
    pub(crate) fn deliver(self) -> frame::Delivered<Tk::Output> {
        debug_assert!(self.ended());
        // SAFETY: the child has ended, as every caller has checked, and this was its only owner.
        unsafe { take(self.into_frame()) }
    }

    /// The value of an ended child, or its panic, resumed.
    pub(crate) fn value(self) -> Tk::Output {
        debug_assert!(self.ended());
        // SAFETY: as in `deliver`.
        unsafe { value_of(self.into_frame()) }
    }
}

/// [`Child::ended`]. These are functions of a frame and a result's type, for they would be compiled for each task otherwise.
///
/// # Safety
/// `frame` is live.
#[inline]
unsafe fn has_ended(frame: FrameRef) -> bool {
    // SAFETY: live by the caller's word.
    let slot = &unsafe { frame.as_ref() }.slot;
    slot.status().is_some() || slot.is_parted()
}

/// [`Child::deliver`].
///
/// # Safety
/// `frame` is of an ended child that delivers a `T`; the caller owns it, and does not use it afterwards.
unsafe fn take<T>(frame: FrameRef) -> frame::Delivered<T> {
    // SAFETY: owned, hence live.
    if unsafe { frame.as_ref() }.slot.leave_parted() {
        return frame::Delivered::Cancelled;
    }
    // SAFETY: ended and owned, by the caller's word.
    unsafe { frame::take(frame) }
}

/// [`Child::value`].
///
/// # Safety
/// As [`take`].
unsafe fn value_of<T>(frame: FrameRef) -> T {
    // SAFETY: passed on.
    match unsafe { take(frame) } {
        frame::Delivered::Value(value) => value,
        frame::Delivered::Panic(payload) => payload.resume(),
        frame::Delivered::Cancelled => cancelled("the awaited task was cancelled"),
    }
}

impl<Tk> Drop for Child<Tk> {
    fn drop(&mut self) {
        // SAFETY: owned, and given up.
        unsafe { drop_child(self.frame) };
    }
}

/// Destroys a child that has ended, or has been parted from its waiter; aborts the process if it has not. Not generic: it is in
/// the cleanup of all code that awaits.
///
/// # Safety
/// The caller owns the frame, and does not use it afterwards.
unsafe fn drop_child(frame: FrameRef) {
    // SAFETY: owned, hence live.
    let header = unsafe { frame.as_ref() };
    if header.slot.leave_parted() {
        return;
    }
    if header.slot.status().is_none() {
        // A frame that waits is never dropped before its children have ended: a waiter outlives what may borrow from it. To go
        // on would free storage that a running task borrows.
        eprintln!("finespun: a frame was dropped before its child `{}` had ended", (header.vtable.name)());
        std::process::abort();
    }
    // SAFETY: ended and owned; by then the result is gone.
    let _free = unsafe { frame::Free::new(frame) };
    // SAFETY: as above.
    unsafe { frame::drop_result(frame) };
}
