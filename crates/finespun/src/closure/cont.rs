//! Continuations of closures: the right to fill one hole, once.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;

use crate::task::frame::FrameRef;

use super::holes::{filled, give_up};

/// The right to send an argument of type `T` to a closure that misses it: the papers' `Cont`, a closure and a place in it.
///
/// There is one for each hole, and sending consumes it, so nothing is sent twice. It can be an argument of another closure, a
/// local, or kept anywhere else, on any thread. Dropping it says that the argument will never come: its closure is destroyed,
/// and with its arguments those continuations that it had, and so on. If that takes the computation's result,
/// [`top`](fn@super::top) panics and names the first argument that was dropped.
#[must_use = "a continuation that is dropped destroys the closure that waits for it"]
pub struct Cont<T> {
    closure: FrameRef,
    hole: NonNull<T>,
    /// It takes a `T`: one for a longer life is no use for a shorter.
    takes: PhantomData<fn(T)>,
}

// SAFETY: sending writes a `T` into memory that is reserved for it, and may make the closure run, which is `Send`.
unsafe impl<T: Send> Send for Cont<T> {}
// SAFETY: a shared continuation offers nothing.
unsafe impl<T> Sync for Cont<T> {}

impl<T> Cont<T> {
    /// # Safety
    /// The hole is one of the closure's, for a `T`, and has no other continuation.
    #[inline(always)]
    pub(super) unsafe fn new(closure: FrameRef, hole: NonNull<T>) -> Cont<T> {
        Cont { closure, hole, takes: PhantomData }
    }
}

/// Sends an argument to the closure that misses it, which is posted if that was its last.
///
/// A store, and an atomic subtraction unless it was the last. Once the computation is over, what is sent is destroyed.
#[inline(always)]
pub fn send_argument<T: Send>(value: T, to: Cont<T>) {
    let to = ManuallyDrop::new(to);
    // SAFETY: this is the hole's only continuation, so nobody else writes there, and the closure waits for it.
    unsafe {
        to.hole.write(value);
        filled(to.closure);
    }
}

impl<T> Drop for Cont<T> {
    #[inline]
    fn drop(&mut self) {
        // SAFETY: this was the hole's only continuation.
        unsafe { give_up(self.closure, self.hole) };
    }
}

impl<T> fmt::Debug for Cont<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cont").finish_non_exhaustive()
    }
}

/// The continuations of a vector's elements, in order: an iterator. Those that are left are dropped with it.
pub struct Conts<T> {
    closure: FrameRef,
    next: NonNull<T>,
    left: usize,
    /// As of one.
    takes: PhantomData<fn(T)>,
}

// SAFETY: as so many continuations.
unsafe impl<T: Send> Send for Conts<T> {}
// SAFETY: as above.
unsafe impl<T> Sync for Conts<T> {}

impl<T> Conts<T> {
    /// # Safety
    /// As [`Cont::new`], of each.
    #[inline(always)]
    pub(super) unsafe fn new(closure: FrameRef, first: NonNull<T>, count: usize) -> Conts<T> {
        Conts { closure, next: first, left: count, takes: PhantomData }
    }
}

impl<T> Iterator for Conts<T> {
    type Item = Cont<T>;

    #[inline]
    fn next(&mut self) -> Option<Cont<T>> {
        self.left = self.left.checked_sub(1)?;
        let hole = self.next;
        // SAFETY: within the elements, or one past their end.
        self.next = unsafe { hole.add(1) };
        // SAFETY: each is given out once.
        Some(unsafe { Cont::new(self.closure, hole) })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.left, Some(self.left))
    }
}

impl<T> ExactSizeIterator for Conts<T> {}

impl<T> Drop for Conts<T> {
    #[inline]
    fn drop(&mut self) {
        self.for_each(drop);
    }
}

impl<T> fmt::Debug for Conts<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Conts").field("left", &self.left).finish_non_exhaustive()
    }
}
