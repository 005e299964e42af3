//! `suspend`: waiting for a continuation.

use std::marker::PhantomData;
use std::panic::Location;

use crate::call::outcome::Outcome;
use crate::call::{Task, map_outcome, sealed};
use crate::frame::context::Cx;
use crate::frame::leaf::{About, AboutSubject, OPEN, PROTECTED, WAITS_FOR_LOCK, unwaited};
use crate::frame::slot::Status;
use crate::frame::{self, CallSite, FrameRef};
use crate::run::continuation::{Continuation, Leaf, cancel};

/// Calls `body` with the continuation of this wait, and waits until the continuation is resolved: call with current
/// continuation. The primitive from which semaphores, locks, barriers and channels are built.
///
/// When the continuation is resolved before `body` returns, the task does not suspend, and nothing is allocated from
/// the system. (A value of about 1 KiB or more is stored in a box, and its wait always suspends.) Otherwise the wait
/// costs one frame for the slot (32 bytes, and the value or at least 16 bytes) beside the waiting task's own.
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

/// Like [`suspend`], for library functions; reports show `place`, the user's call site.
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
        // SAFETY: the leaf was made above, for a `T`, and this call owns it.
        match unsafe { delivered_at_once::<T>(cx, leaf, forced) } {
            // SAFETY: this function returns the outcome to its caller, as the call protocol demands.
            Some(value) => unsafe { Outcome::done(value) },
            None => Outcome::suspended(leaf),
        }
    }
}

impl<T, F: FnOnce(Continuation<T>)> Suspend<T, F> {
    /// Makes the leaf, which stores a `V`, and calls the body with its continuation.
    fn begin<V>(self, cx: Cx) -> FrameRef {
        begin::<T, V, CallSite>(cx, self.claim, self.place, self.body)
    }
}

/// Makes a leaf, which stores a `V`: a `T` or a box of one. Calls the body with its continuation.
#[inline(always)]
fn begin<T, V, A: About>(cx: Cx, claim: u32, about: A, body: impl FnOnce(Continuation<T>)) -> FrameRef {
    /// Gives up the leaf when the body panics.
    struct Unwind(FrameRef);
    impl Drop for Unwind {
        fn drop(&mut self) {
            // SAFETY: this call owns the leaf as a child, and does not use it after the panic.
            unsafe { unwaited(self.0) };
        }
    }

    let leaf = Leaf::<V>::make(cx, claim, about);
    let unwind = Unwind(leaf);
    // SAFETY: the leaf was made above, for a `T` or a box of one, and has no other continuation.
    body(unsafe { Continuation::from_leaf(leaf) });
    std::mem::forget(unwind);
    if cx.is_terminated() {
        // This worker may have swept before the leaf was made. A waiter cannot have registered yet.
        // SAFETY: `leaf` is live: this call owns its child.
        let waiter = unsafe { cancel(leaf) };
        debug_assert!(waiter.is_none());
    }
    leaf
}

/// Takes the value of a leaf that has been resolved before the body of its wait returned, unless the wait is `forced` to
/// suspend. If the result is `Some`, the leaf has been freed.
///
/// # Safety
/// The leaf is one of a `T` that is not boxed, and the caller owns it as a child.
#[inline(always)]
unsafe fn delivered_at_once<T>(cx: Cx, leaf: FrameRef, forced: bool) -> Option<T> {
    // SAFETY: the caller owns the child, so the leaf is live.
    if !forced && unsafe { leaf.as_ref() }.slot.status() == Some(Status::Done) && !cx.leaving() && !cx.block_now() {
        // SAFETY: the leaf is completed and delivers a `T`; the caller is its only owner.
        if let frame::Delivered::Value(value) = unsafe { frame::take::<T>(leaf) } {
            return Some(value);
        }
    }
    None
}

/// Waits for a lock, permits or a channel, which `about` describes. Calls `request` with the continuation, and maps the
/// value with which it is resolved; the wait keeps `state` for both. A task may have moved the guard or the other end to
/// a plain thread, so a deadlock is reported only after a delay.
///
/// # Safety
/// As for [`call`](crate::call::call).
pub(crate) unsafe fn wait_for<S, T: Send, R>(
    cx: Cx,
    about: AboutSubject,
    forced: bool,
    mut state: S,
    request: impl FnOnce(&mut S, Continuation<T>),
    map: impl FnOnce(S, T) -> R,
) -> Outcome<R> {
    const { assert!(!Leaf::<T>::BOXED) };
    let leaf = begin::<T, T, AboutSubject>(cx, WAITS_FOR_LOCK, about, |k| request(&mut state, k));
    // SAFETY: the leaf was made above, for a `T`, and this call owns it.
    match unsafe { delivered_at_once::<T>(cx, leaf, forced) } {
        // SAFETY: this function returns the outcome to its caller, as the call protocol demands.
        Some(value) => unsafe { Outcome::done(map(state, value)) },
        // SAFETY: the caller guarantees the call protocol for this worker.
        None => unsafe { map_outcome(cx, Suspended { leaf, value: PhantomData::<T> }, move |value| map(state, value)) },
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
