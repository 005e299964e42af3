//! Fallback: an activation leaves the stack.
//!
//! A stack function that finds its callee suspended packs its live locals into an *entry* (one of [`En1`] to
//! [`En16`], by the await that it stands at) and calls [`fallback`], which makes a frame around the function's
//! resumable body and polls it once: the body takes the entry, restores the locals, and stops at the resume point,
//! where it registers with the callee. So the frame holds nothing but what lives across that await, and the entry
//! itself never leaves the stack.

use std::future::Future;
use std::marker::PhantomData;
use std::mem::MaybeUninit;
use std::task::Poll;

use super::call::settle;
use super::context::cx;
use super::frame::{BodyFrame, VTable};
use super::located::Located;
use super::outcome::Outcome;
use super::words::{self, Word};

/// The right of a resumable body to take its entry, once, at its first poll.
pub struct Enter<E>(PhantomData<fn() -> E>);

impl<E> Enter<E> {
    /// The entry.
    ///
    /// # Safety
    /// Only generated code: the first thing that the body does.
    #[inline]
    pub unsafe fn take(self) -> E {
        // SAFETY: a body is polled by a worker.
        let entry = unsafe { cx() }.take_entry().cast::<E>();
        // SAFETY: `fallback` has just put the address of an `E` there, which it gives up.
        unsafe { entry.read() }
    }
}

/// Suspends an activation: makes its frame.
///
/// # Safety
/// Only generated code: `body` must take its entry first and then wait at the resume point that the entry names,
/// without running user code in between.
#[inline(always)]
pub unsafe fn fallback<E, T, F: Future<Output = T>, S>(entry: E, body: impl FnOnce(Enter<E>) -> F) -> Outcome<T, S> {
    // SAFETY: passed on.
    unsafe { fallback_as(entry, body, const { BodyFrame::<F>::VTABLE }) }
}

/// The same at this node: the frame runs nowhere else.
///
/// # Safety
/// As [`fallback`].
#[inline(always)]
pub unsafe fn fallback_here<E, T, F: Future<Output = T>>(entry: E, body: impl FnOnce(Enter<E>) -> F) -> Outcome<T> {
    // SAFETY: a stack function runs on a worker; used at once.
    let body = |enter| Located::here(unsafe { cx() }, body(enter));
    // SAFETY: passed on: what stands around the body runs no user code.
    unsafe { fallback_as(entry, body, const { Located::<F>::TABLE }) }
}

/// # Safety
/// As [`fallback`]; the table is for frames around an `F`.
#[inline(always)]
unsafe fn fallback_as<E, T, F: Future<Output = T>, S>(
    entry: E,
    body: impl FnOnce(Enter<E>) -> F,
    table: &'static VTable,
) -> Outcome<T, S> {
    let suspended = match words::split(entry) {
        // SAFETY: passed on; the words hold an `E`.
        Ok([a, b, c, d]) => unsafe { by_words::<E, F>(a, b, c, d, body, table) },
        // SAFETY: passed on.
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
    // SAFETY: passed on.
    unsafe { suspend(entry, body, table) }
}

#[cold]
#[inline(never)]
unsafe fn suspend<E, F: Future>(
    entry: E,
    body: impl FnOnce(Enter<E>) -> F,
    table: &'static VTable,
) -> Outcome<F::Output> {
    // From the thread and not from the caller, who need not keep it across its last call for this.
    // SAFETY: a stack function runs on a worker; used within this call.
    let cx = unsafe { cx() };
    let mut entry = MaybeUninit::new(entry);
    cx.context().counters.fallback();
    let frame = BodyFrame::with_table(cx, body(Enter(PhantomData)), table);
    cx.set_entry(entry.as_mut_ptr().cast());
    // SAFETY: nobody else knows the frame.
    let polled = unsafe { BodyFrame::<F>::poll_body(frame) };
    assert!(matches!(polled, Poll::Pending), "a resumable body stops at its resume point");
    // SAFETY: its poll has just returned pending.
    unsafe { settle(cx, frame) };
    Outcome::suspended(frame)
}

/// The place of a local between the entry and the point where the body binds it again: no destructor, and moved by
/// value, so that the compiler sees where it is dead.
#[repr(transparent)]
pub struct Held<T>(MaybeUninit<T>);

impl<T> Held<T> {
    /// Holds `value`.
    #[inline(always)]
    pub fn new(value: T) -> Held<T> {
        Held(MaybeUninit::new(value))
    }

    /// Holds nothing.
    #[inline(always)]
    pub fn empty() -> Held<T> {
        Held(MaybeUninit::uninit())
    }

    /// The value.
    ///
    /// # Safety
    /// It must hold one.
    #[inline(always)]
    pub unsafe fn take(self) -> T {
        // SAFETY: by the caller's word.
        unsafe { self.0.assume_init() }
    }
}

/// Tells the code that goes on after a suspension the type of a value that the code on the stack makes.
pub struct Tie<T>(PhantomData<fn() -> T>);

impl<T> Clone for Tie<T> {
    fn clone(&self) -> Tie<T> {
        *self
    }
}
impl<T> Copy for Tie<T> {}

impl<T> Tie<T> {
    /// A tie of a type that is yet to be found out.
    #[expect(clippy::new_without_default, reason = "generated code's")]
    #[inline(always)]
    pub fn new() -> Tie<T> {
        Tie(PhantomData)
    }

    /// The value, whose type it is.
    #[inline(always)]
    pub fn of(self, value: T) -> T {
        value
    }

    /// It is the type of this value.
    #[inline(always)]
    pub fn seen(self, _: &T) {}

    /// Such a value, where control never comes.
    ///
    /// # Safety
    /// Control never comes here.
    #[inline(always)]
    pub unsafe fn never(self) -> T {
        // SAFETY: by the caller's word.
        unsafe { std::hint::unreachable_unchecked() }
    }

    /// A place for such a value.
    #[inline(always)]
    pub fn slot(self) -> Held<T> {
        Held::empty()
    }
}

macro_rules! entries {
    ($($name:ident: $($variant:ident $type:ident),+;)+) => {$(
        /// At which await a function leaves the stack, and what it takes along.
        pub enum $name<$($type),+> {
            $(
                /// At this await.
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
