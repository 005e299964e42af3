//! Fallback: an activation leaves the stack.
//!
//! A stack function that finds its callee suspended packs its live locals into an *entry* (one of [`En1`] to [`En16`];
//! the await is its variant) and calls [`fallback`]. This makes a frame around the function's resumable body and polls
//! it once: the body takes the entry, restores the locals, and stops at the resume point, where it names the slot that
//! it waits for. So the frame holds only the locals that live across that await, and the entry itself never leaves the
//! stack.

use std::future::Future;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::task::Poll;

use super::Task;
use super::located::Located;
use super::outcome::{Child, Outcome};
use super::words::{self, Word};
use crate::frame::context::cx;
use crate::frame::{BodyFrame, VTable};
use crate::run::settle;

/// The right of a resumable body to take its entry, once, at its first poll.
pub struct Enter<E>(PhantomData<fn() -> E>);

impl<E> Enter<E> {
    /// Takes the entry.
    ///
    /// # Safety
    /// Only for generated code: the body must do this first.
    #[inline]
    pub unsafe fn take(self) -> E {
        // SAFETY: a body is polled by a worker; used at once.
        let entry = unsafe { cx() }.take_entry().cast::<E>();
        // SAFETY: `suspend` has just stored the address of an `E` there, which it does not use or drop afterwards.
        unsafe { entry.read() }
    }
}

/// Suspends an activation: makes its frame.
///
/// # Safety
/// Only for generated code: `body` must take its entry first and then wait at the resume point that the entry names,
/// without running user code in between.
#[inline(always)]
pub unsafe fn fallback<E, T, F: Future<Output = T>, S>(entry: E, body: impl FnOnce(Enter<E>) -> F) -> Outcome<T, S> {
    // SAFETY: the caller guarantees the conditions on `body`; the table is for frames around an `F`.
    unsafe { fallback_as(entry, body, const { BodyFrame::<F>::VTABLE }) }
}

/// Like [`fallback`], for a frame that runs only at the current node.
///
/// # Safety
/// As for [`fallback`].
#[inline(always)]
pub unsafe fn fallback_here<E, T, F: Future<Output = T>>(entry: E, body: impl FnOnce(Enter<E>) -> F) -> Outcome<T> {
    // SAFETY: a stack function runs on a worker; used at once.
    let body = |enter| Located::here(unsafe { cx() }, body(enter));
    // SAFETY: the caller guarantees the conditions on `body`, and `Located` runs no user code around it; the table is
    // for frames around a `Located<F>`.
    unsafe { fallback_as(entry, body, const { Located::<F>::TABLE }) }
}

/// # Safety
/// As for [`fallback`]; the table is for frames around an `F`.
#[inline(always)]
unsafe fn fallback_as<E, T, F: Future<Output = T>, S>(
    entry: E,
    body: impl FnOnce(Enter<E>) -> F,
    table: &'static VTable,
) -> Outcome<T, S> {
    let suspended = match words::split(entry) {
        // SAFETY: the words hold an `E`; the caller guarantees the conditions of `suspend` on body and table.
        Ok([a, b, c, d]) => unsafe { by_words::<E, F>(a, b, c, d, body, table) },
        // SAFETY: the caller guarantees the conditions of `suspend` on body and table.
        Err(entry) => unsafe { suspend(entry, body, table) },
    };
    suspended.with_schema()
}

#[cold]
#[inline(never)]
unsafe fn by_words<E, F: Future>(
    a: Word,
    b: Word,
    c: Word,
    d: Word,
    body: impl FnOnce(Enter<E>) -> F,
    table: &'static VTable,
) -> Outcome<F::Output> {
    // SAFETY: the words hold an `E`, moved here by the caller.
    let entry = unsafe { words::join([a, b, c, d]) };
    // SAFETY: the caller guarantees the conditions of `suspend` on body and table.
    unsafe { suspend(entry, body, table) }
}

#[cold]
#[inline(never)]
unsafe fn suspend<E, F: Future>(
    entry: E,
    body: impl FnOnce(Enter<E>) -> F,
    table: &'static VTable,
) -> Outcome<F::Output> {
    // `cx` is read from the thread and not passed as an argument, so that the caller need not keep it across its last
    // call.
    // SAFETY: a stack function runs on a worker; used within this call.
    let cx = unsafe { cx() };
    let mut entry = MaybeUninit::new(entry);
    cx.core().counters.fallback();
    let frame = BodyFrame::with_table(cx, body(Enter(PhantomData)), table);
    cx.set_entry(entry.as_mut_ptr().cast());
    // SAFETY: the body is live, and no other thread can reach the frame.
    let polled = unsafe { BodyFrame::<F>::poll_body(frame) };
    assert!(matches!(polled, Poll::Pending), "a resumable body stops at its resume point");
    // SAFETY: the frame's poll has just returned pending on this worker, and no other thread can reach the frame.
    unsafe { settle(cx, frame) };
    Outcome::suspended(frame)
}

/// Returns a suspended call as a call that may have a value instead, whose type rustc then knows.
#[inline(always)]
pub fn pending<Tk: Task>(child: Child<Tk>) -> Result<Tk::Output, Child<Tk>> {
    Err(child)
}

/// The same for the calls of a `join!`.
#[inline(always)]
pub fn pending_join<F: Future>(join: F) -> Result<F::Output, F> {
    Err(join)
}

/// A place for a local between the entry and the point where the body binds it again. It has no destructor and is moved
/// by value, so that rustc sees where it is dead.
#[repr(transparent)]
pub struct Held<T>(MaybeUninit<T>);

impl<T> Held<T> {
    /// Creates a place that holds `value`.
    #[inline(always)]
    pub fn new(value: T) -> Held<T> {
        Held(MaybeUninit::new(value))
    }

    /// Creates an empty place.
    #[inline(always)]
    pub fn empty() -> Held<T> {
        Held(MaybeUninit::uninit())
    }

    /// Takes the value.
    ///
    /// # Safety
    /// The place must hold a value.
    #[inline(always)]
    pub unsafe fn take(self) -> T {
        // SAFETY: the caller guarantees that the place holds a value.
        unsafe { self.0.assume_init() }
    }
}

/// Places that can be emptied together: the fields of a tuple.
///
/// # Safety
/// A value without initialized bytes must be valid, and be what `empty` creates.
pub unsafe trait Empty: Sized {
    /// Creates empty places.
    fn empty() -> Self;

    /// Creates empty places without LLVM's knowledge that they are empty. It leaves such places in memory. Else it would follow
    /// each of many places through each state of a body, in a time that grows with the product.
    #[inline]
    fn opaque() -> Self {
        let places = std::hint::black_box(MaybeUninit::<Self>::uninit());
        // SAFETY: the implementation guarantees that no byte need be initialized.
        unsafe { places.assume_init() }
    }
}

// SAFETY: a `Held` is a `MaybeUninit`.
unsafe impl<T> Empty for Held<T> {
    #[inline(always)]
    fn empty() -> Held<T> {
        Held::empty()
    }
}

macro_rules! empty_together {
    ($($type:ident)+) => {
        // SAFETY: so is each of the fields.
        unsafe impl<$($type: Empty),+> Empty for ($($type,)+) {
            #[inline(always)]
            fn empty() -> Self {
                ($($type::empty(),)+)
            }
        }
    };
}
empty_together!(A);
empty_together!(A B);
empty_together!(A B C);
empty_together!(A B C D);
empty_together!(A B C D E);
empty_together!(A B C D E F);
empty_together!(A B C D E F G);
empty_together!(A B C D E F G H);

/// A witness of a type, without a value: the stack code ties it to the type of one of its values, and the resumable
/// body, which gets that value after a suspension, takes the type from it.
pub struct Tie<T>(PhantomData<fn() -> T>);

impl<T> Clone for Tie<T> {
    fn clone(&self) -> Tie<T> {
        *self
    }
}
impl<T> Copy for Tie<T> {}

impl<T> Tie<T> {
    /// Creates a tie whose type rustc is yet to infer.
    #[expect(clippy::new_without_default, reason = "only generated code creates it")]
    #[inline(always)]
    pub fn new() -> Tie<T> {
        Tie(PhantomData)
    }

    /// Ties the type to `value`, and returns the value.
    #[inline(always)]
    pub fn of(self, value: T) -> T {
        value
    }

    /// Ties the type to the type of the referenced value.
    #[inline(always)]
    pub fn seen(self, _: &T) {}

    /// Returns a value of the type, in code that is never reached.
    ///
    /// # Safety
    /// Control never reaches the call.
    #[inline(always)]
    pub unsafe fn never(self) -> T {
        // SAFETY: the caller guarantees that control never reaches this.
        unsafe { std::hint::unreachable_unchecked() }
    }

    /// Creates an empty place for a value of the type.
    #[inline(always)]
    pub fn slot(self) -> Held<T> {
        Held::empty()
    }
}

macro_rules! entries {
    ($($name:ident: $($variant:ident $type:ident),+;)+) => {$(
        /// An entry: the await at which a function leaves the stack, and the suspended callee and the locals that the
        /// frame takes over.
        pub enum $name<$($type),+> {
            $(
                /// The contents of the entry at this await.
                $variant($type),
            )+
        }
    )+};
}

entries! {
    En1: P0 A;
    En2: P0 A, P1 B;
    En3: P0 A, P1 B, P2 C;
    En4: P0 A, P1 B, P2 C, P3 D;
    En5: P0 A, P1 B, P2 C, P3 D, P4 E;
    En6: P0 A, P1 B, P2 C, P3 D, P4 E, P5 F;
    En7: P0 A, P1 B, P2 C, P3 D, P4 E, P5 F, P6 G;
    En8: P0 A, P1 B, P2 C, P3 D, P4 E, P5 F, P6 G, P7 H;
    En9: P0 A, P1 B, P2 C, P3 D, P4 E, P5 F, P6 G, P7 H, P8 I;
    En10: P0 A, P1 B, P2 C, P3 D, P4 E, P5 F, P6 G, P7 H, P8 I, P9 J;
    En11: P0 A, P1 B, P2 C, P3 D, P4 E, P5 F, P6 G, P7 H, P8 I, P9 J, P10 K;
    En12: P0 A, P1 B, P2 C, P3 D, P4 E, P5 F, P6 G, P7 H, P8 I, P9 J, P10 K, P11 L;
    En13: P0 A, P1 B, P2 C, P3 D, P4 E, P5 F, P6 G, P7 H, P8 I, P9 J, P10 K, P11 L, P12 M;
    En14: P0 A, P1 B, P2 C, P3 D, P4 E, P5 F, P6 G, P7 H, P8 I, P9 J, P10 K, P11 L, P12 M, P13 N;
    En15: P0 A, P1 B, P2 C, P3 D, P4 E, P5 F, P6 G, P7 H, P8 I, P9 J, P10 K, P11 L, P12 M, P13 N, P14 O;
    En16: P0 A, P1 B, P2 C, P3 D, P4 E, P5 F, P6 G, P7 H, P8 I, P9 J, P10 K, P11 L, P12 M, P13 N, P14 O, P15 P;
}
