//! The task returned by a method of a trait: one type for all implementations, so that the trait is `dyn` compatible.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::outcome::Outcome;
use super::{Task, sealed};
use crate::frame::context::Cx;

/// The task returned by a method of a `#[task]` trait.
///
/// It stores the receiver, the arguments `A`, and a pointer to the implementation's code, and delivers a `T`. Nothing
/// is boxed. Where the implementation is known, the optimiser turns it into a plain call; through `dyn`, making the
/// task is one virtual call, and awaiting it another.
pub struct MethodTask<'a, A, T> {
    this: Receiver,
    args: A,
    code: unsafe fn(Receiver, Cx, A) -> Outcome<T>,
    lends: PhantomData<&'a ()>,
}

/// A type-erased reference, of one word or two.
#[derive(Clone, Copy)]
struct Receiver(MaybeUninit<[*const (); 2]>);

impl Receiver {
    fn new<P>(this: P) -> Receiver {
        const { assert!(size_of::<P>() <= size_of::<Receiver>() && align_of::<P>() <= align_of::<Receiver>()) };
        let mut receiver = Receiver(MaybeUninit::uninit());
        // SAFETY: a `P` fits into the storage, as asserted above.
        unsafe { receiver.0.as_mut_ptr().cast::<P>().write(this) };
        receiver
    }

    /// Takes the reference out.
    ///
    /// # Safety
    /// The receiver was made from a `P`, which is taken once.
    unsafe fn take<P>(self) -> P {
        // SAFETY: the caller guarantees that the receiver was made from a `P` and is taken once.
        unsafe { self.0.as_ptr().cast::<P>().read() }
    }
}

// SAFETY: `new` demands that the receiver is `Send`, and the bound here that the arguments are; a pointer to code
// always is.
unsafe impl<A: Send, T> Send for MethodTask<'_, A, T> {}

impl<'a, A, T: Send> MethodTask<'a, A, T> {
    /// Makes the task that calls `code` with the receiver `this`, a reference, and `args`.
    ///
    /// # Safety
    /// Only for generated code: `code` must keep the call protocol.
    #[doc(hidden)]
    #[inline(always)]
    pub unsafe fn new<P, F>(this: P, args: A, code: F) -> MethodTask<'a, A, T>
    where
        P: Send + 'a,
        A: Send,
        F: Fn(P, Cx, A) -> Outcome<T> + Copy,
    {
        const { assert!(size_of::<F>() == 0, "the code of a method captures nothing") };
        let _ = code;
        MethodTask { this: Receiver::new(this), args, code: run::<P, A, T, F>, lends: PhantomData }
    }
}

/// Calls an `F` with a receiver that was made from a `P`.
unsafe fn run<P, A, T, F: Fn(P, Cx, A) -> Outcome<T>>(this: Receiver, cx: Cx, args: A) -> Outcome<T> {
    // SAFETY: `new` has received an `F`, which has size zero.
    let code = unsafe { std::ptr::NonNull::<F>::dangling().as_ref() };
    // SAFETY: `new` has made the receiver from a `P`; a task is called once.
    code(unsafe { this.take() }, cx, args)
}

impl<A, T> sealed::Sealed for MethodTask<'_, A, T> {}
impl<A, T> Task for MethodTask<'_, A, T> {
    type Output = T;
    const STRAIGHT: bool = false;
    #[inline(always)]
    unsafe fn call(self, cx: Cx) -> Outcome<T> {
        // SAFETY: `new` has made receiver, arguments and code for each other; the task is called once.
        unsafe { (self.code)(self.this, cx, self.args) }
    }
}
