//! Which task a panic came from.
//!
//! Nothing of this is on the path of a call that does not panic. Generated code keeps a [`Note`] while it runs what
//! its author wrote, and forgets it on every way out and while another task runs that keeps one of its own. A panic
//! drops it, in a landing pad, and that is when the task is noted, for this thread: the first to be unwound stays.
//! Whatever catches a panic of task code takes the note and packs it with the payload ([`pack`]).
//! From there on the payload travels as any other, from frame to frame and from worker to worker; who hands it to
//! the program unpacks it ([`open`]).

use std::any::Any;
use std::cell::Cell;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};

use super::frame::Payload;
use super::outcome::Outcome;

/// A task, as its author knows it: its name, and where it is defined.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Origin {
    pub(crate) name: &'static str,
    pub(crate) place: &'static Location<'static>,
}

impl Origin {
    /// The task `name`, defined where this is called.
    #[track_caller]
    pub const fn here(name: &'static str) -> Origin {
        Origin { name, place: Location::caller() }
    }
}

/// What offsets within the program are counted from.
static ANCHOR: u8 = 0;

impl Origin {
    /// Where it is in the program: the same in every process of it.
    pub(crate) fn offset(&'static self) -> isize {
        std::ptr::from_ref(self).expose_provenance().wrapping_sub((&raw const ANCHOR).addr()).cast_signed()
    }

    /// The one that is there.
    ///
    /// # Safety
    /// This program's [`offset`](Origin::offset) has given the number.
    pub(crate) unsafe fn at(offset: isize) -> &'static Origin {
        let address = (&raw const ANCHOR).addr().wrapping_add_signed(offset);
        // SAFETY: by the caller's word.
        unsafe { &*std::ptr::with_exposed_provenance::<Origin>(address) }
    }
}

/// A task's own type, which says who it is.
pub trait Named {
    /// Who it is.
    const ORIGIN: &'static Origin;
}

thread_local! {
    /// The task that is being unwound, the innermost of those that were.
    static NOTED: Cell<Option<&'static Origin>> = const { Cell::new(None) };
}

#[cold]
#[inline(never)]
fn note(origin: &'static Origin) {
    if NOTED.get().is_none() {
        NOTED.set(Some(origin));
    }
}

/// A frame is about to run: forgets a note that nobody took, since the program itself caught the panic of a closure.
/// Only debug builds have such notes.
#[inline]
pub(crate) fn forget() {
    if cfg!(debug_assertions) {
        NOTED.set(None);
    }
}

/// Notes the task `N` if it is dropped, which only unwinding does.
pub struct Note<N: Named>(PhantomData<fn() -> N>);

impl<N: Named> Note<N> {
    /// What follows is the task's own code.
    #[inline(always)]
    #[allow(clippy::new_without_default, reason = "a default would be dropped")]
    pub fn new() -> Note<N> {
        Note(PhantomData)
    }

    /// What follows is not.
    #[inline(always)]
    pub fn end(self) {
        std::mem::forget(self);
    }

    /// The task has ended with `value`.
    ///
    /// # Safety
    /// As [`Outcome::done`].
    #[inline(always)]
    pub unsafe fn done<T, S>(self, value: T) -> Outcome<T, S> {
        self.end();
        // SAFETY: passed on.
        unsafe { Outcome::done(value) }
    }
}

impl<N: Named> Drop for Note<N> {
    #[inline(always)]
    fn drop(&mut self) {
        note(N::ORIGIN);
    }
}

/// The body of the task `N` as a future.
pub struct Noted<N, F> {
    body: F,
    task: PhantomData<fn() -> N>,
}

impl<N: Named, F: Future> Noted<N, F> {
    /// Nothing but the body, in memory.
    #[inline(always)]
    pub fn new(body: F) -> Noted<N, F> {
        Noted { body, task: PhantomData }
    }
}

impl<N: Named, F: Future> Future for Noted<N, F> {
    type Output = F::Output;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, std: &mut StdContext<'_>) -> Poll<F::Output> {
        // SAFETY: the body is pinned with `self`, which has no other way to it.
        let body = unsafe { self.map_unchecked_mut(|this| &mut this.body) };
        let note = Note::<N>::new();
        let polled = body.poll(std);
        note.end();
        polled
    }
}

/// The payload of a panic, and the task that it came from.
struct Traced {
    origin: &'static Origin,
    payload: Payload,
}

/// The payload of a panic of task code, which has just been caught, packed with the task that it came from.
#[cold]
#[inline(never)]
pub(crate) fn pack(payload: Box<dyn Any + Send>) -> Payload {
    let payload = Payload::caught(payload);
    match NOTED.take() {
        Some(origin) if !payload.is::<Traced>() => Payload::new(Traced { origin, payload }),
        _ => payload,
    }
}

/// A payload that comes from the task of `origin`.
pub(crate) fn traced(payload: Payload, origin: &'static Origin) -> Payload {
    Payload::new(Traced { origin, payload })
}

/// The task that a packed payload came from.
pub(crate) fn origin_of(payload: &Payload) -> Option<&'static Origin> {
    payload.downcast_ref::<Traced>().map(|traced| traced.origin)
}

/// The payload as it was thrown, and the task that it came from, if that is known.
pub(crate) fn open(payload: Payload) -> (Payload, Option<&'static Origin>) {
    match payload.downcast::<Traced>() {
        Ok(traced) => (traced.payload, Some(traced.origin)),
        Err(payload) => (payload, None),
    }
}
