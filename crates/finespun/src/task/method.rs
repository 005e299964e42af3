//! The task that a method of a trait makes: one type for all implementations, so that the trait can be a `dyn` type.

use std::marker::PhantomData;
use std::mem::MaybeUninit;

use super::call::{Task, sealed};
use super::context::Cx;
use super::outcome::Outcome;

/// The task that a method of a `#[task]` trait makes.
///
/// It keeps the receiver, the arguments `A`, and which implementation they are for, and delivers a `T`. Nothing is
/// boxed. Where the implementation is known, the optimiser makes a plain call of it; through `dyn`, making the task
/// is one virtual call, and awaiting it another.
pub struct MethodTask<'a, A, T> {
    this: Receiver,
    args: A,
    code: unsafe fn(Receiver, Cx, A) -> Outcome<T>,
    lends: PhantomData<&'a ()>,
}

/// A reference to a type that is not known any more, of one word or two.
#[derive(Clone, Copy)]
struct Receiver(MaybeUninit<[*const (); 2]>);

impl Receiver {
    fn new<P>(this: P) -> Receiver {
        const { assert!(size_of::<P>() <= size_of::<Receiver>() && align_of::<P>() <= align_of::<Receiver>()) };
        let mut receiver = Receiver(MaybeUninit::uninit());
        // SAFETY: it fits, as just asserted.
        unsafe { receiver.0.as_mut_ptr().cast::<P>().write(this) };
        receiver
    }

    /// What it was made of.
    ///
    /// # Safety
    /// It was made of a `P`, which is taken once.
    unsafe fn take<P>(self) -> P {
        // SAFETY: by the caller's word.
        unsafe { self.0.as_ptr().cast::<P>().read() }
    }
}

// SAFETY: the receiver is `Send`, as `new` demands; a pointer to code always is.
unsafe impl<A: Send, T> Send for MethodTask<'_, A, T> {}

impl<'a, A, T: Send> MethodTask<'a, A, T> {
    /// Calls `code` with the receiver `this`, a reference, and `args`.
    ///
    /// # Safety
    /// Only generated code: `code` must keep the call protocol.
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

/// Calls an `F` with a receiver that was made of a `P`.
unsafe fn run<P, A, T, F: Fn(P, Cx, A) -> Outcome<T>>(this: Receiver, cx: Cx, args: A) -> Outcome<T> {
    // SAFETY: `new` has seen an `F`, and there is nothing in it.
    let code = unsafe { std::ptr::NonNull::<F>::dangling().as_ref() };
    // SAFETY: `new` has made it of a `P`; a task is called once.
    code(unsafe { this.take() }, cx, args)
}

impl<A, T> sealed::Sealed for MethodTask<'_, A, T> {}
impl<A, T> Task for MethodTask<'_, A, T> {
    type Output = T;
    const STRAIGHT: bool = false;
    #[inline(always)]
    unsafe fn call(self, cx: Cx) -> Outcome<T> {
        // SAFETY: receiver, arguments and code belong together.
        unsafe { (self.code)(self.this, cx, self.args) }
    }
}
