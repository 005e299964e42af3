//! Continuations of closures: the right to fill one hole, once.

use std::fmt;
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ptr::NonNull;
use std::sync::Arc;

use crate::cancel::teams::Externals;
use crate::frame::FrameRef;
use crate::frame::context::closures_cx;

use super::holes::{filled, give_up};

/// The right to send an argument of type `T` to a closure that misses it: the papers' `Cont`, a closure and a place in
/// it.
///
/// Each hole has one continuation, and sending consumes it, so no argument is sent twice. It can be an argument of
/// another closure, a local, or stored anywhere else, on any thread. Dropping it declares that the argument will never
/// be sent: this destroys the closure, and with its arguments the continuations among them, and so on. If the
/// computation loses its result by this, [`top`](fn@super::top) panics and names the first argument that was dropped.
#[must_use = "a continuation that is dropped destroys the closure that waits for it"]
pub struct Cont<T> {
    closure: FrameRef,
    hole: NonNull<T>,
    /// A consumer of `T`: contravariant.
    takes: PhantomData<fn(T)>,
}

// SAFETY: sending writes a `T` into memory reserved for it, and may make the closure run, which is `Send`.
unsafe impl<T: Send> Send for Cont<T> {}
// SAFETY: a shared continuation has no operations.
unsafe impl<T> Sync for Cont<T> {}

impl<T> Cont<T> {
    /// # Safety
    /// `hole` is a hole of `closure` for a `T`, and has no other continuation.
    #[inline(always)]
    pub(super) unsafe fn new(closure: FrameRef, hole: NonNull<T>) -> Cont<T> {
        Cont { closure, hole, takes: PhantomData }
    }

    /// Marks the argument as one that something outside will send (a socket, a timer, another thread): until then, no run of
    /// this runtime is reported as deadlocked.
    ///
    /// # Panics
    /// If called outside a thread of this runtime: call it before the continuation leaves the computation.
    ///
    /// ```
    /// use finespun::closure::{Cont, top};
    /// use finespun::Runtime;
    ///
    /// # let runtime = Runtime::builder().workers(1).build().unwrap();
    /// let answer = runtime.run(top(|k: Cont<u64>| {
    ///     let k = k.external();
    ///     std::thread::spawn(move || {
    ///         std::thread::sleep(std::time::Duration::from_millis(10));
    ///         k.send(42);
    ///     });
    /// }));
    /// assert_eq!(answer, 42);
    /// ```
    #[track_caller]
    pub fn external(self) -> ExternalCont<T> {
        // SAFETY: the closure lives as long as one of its holes is open.
        let group = unsafe { self.closure.as_ref() }.group;
        match closures_cx() {
            Some(cx) if cx.of_team(group) => {
                let count = cx.external();
                count.enter();
                ExternalCont { to: self, counted: Counted(count) }
            }
            _ => panic!(
                "`Cont::external` was called outside the threads of its runtime: call it before the continuation leaves them"
            ),
        }
    }
}

/// A [`Cont`] whose argument something outside the threads will send.
#[must_use = "a continuation that is dropped destroys the closure that waits for it"]
pub struct ExternalCont<T> {
    // Dropped first: what the argument makes ready is ready before the count ends.
    to: Cont<T>,
    counted: Counted,
}

/// A part of the team's number of external waits.
struct Counted(Arc<Externals>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.leave();
    }
}

impl<T: Send> ExternalCont<T> {
    /// Sends the argument, as [`send_argument`] does.
    pub fn send(self, value: T) {
        let ExternalCont { to, counted } = self;
        send_argument(value, to);
        drop(counted);
    }
}

impl<T> fmt::Debug for ExternalCont<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExternalCont").finish_non_exhaustive()
    }
}

/// Sends an argument to the closure that misses it, and posts the closure if this was its last missing argument.
///
/// Cost: some stores if the worker that has made the closure sends, and has not shown closures to thieves in the meantime.
/// Otherwise an atomic subtraction, and, if the program itself has brought the continuation to another thread, a memory
/// barrier of the whole process (about a microsecond). Once the computation is over, the value is destroyed.
#[inline(always)]
pub fn send_argument<T: Send>(value: T, to: Cont<T>) {
    let to = ManuallyDrop::new(to);
    // SAFETY: this is the hole's only continuation, so no other thread writes there, and the closure waits for it.
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

/// An iterator over the continuations of a vector's elements, in order. Dropping it drops the remaining continuations.
pub struct Conts<T> {
    closure: FrameRef,
    next: NonNull<T>,
    left: usize,
    /// As in [`Cont`].
    takes: PhantomData<fn(T)>,
}

// SAFETY: equivalent to a list of continuations, each of which is `Send`.
unsafe impl<T: Send> Send for Conts<T> {}
// SAFETY: a shared iterator has no operations on the continuations.
unsafe impl<T> Sync for Conts<T> {}

impl<T> Conts<T> {
    /// # Safety
    /// The `count` places from `first` on satisfy the conditions of [`Cont::new`].
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
        // SAFETY: the offset is within the elements, or one past their end.
        self.next = unsafe { hole.add(1) };
        // SAFETY: `new`'s caller guarantees a hole, whose continuation is made only here.
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
