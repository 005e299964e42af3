//! The attribution of panics to tasks.
//!
//! A call that does not panic executes none of this. Generated code keeps a [`Note`] while it runs the author's code,
//! and forgets the note on every regular exit and while it calls a task that keeps one of its own. A panic drops the
//! note in a landing pad, which records the task for this thread: the first task to be unwound stays recorded. Code
//! that catches a panic of task code takes the record and packs it with the payload ([`pack`]). From then on the
//! payload travels like any other, between frames and between workers. Before it reaches the program, [`open`] unpacks
//! it.

use std::any::Any;
use std::cell::Cell;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};

use super::Payload;

/// A task as its author knows it: its name, and the place of its definition.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(C)]
pub struct Origin {
    /// See [`image`](super::image).
    mark: [u64; 2],
    pub(crate) name: &'static str,
    pub(crate) place: &'static Location<'static>,
}

impl Origin {
    /// Creates the origin of the task `name`, defined where this is called.
    #[track_caller]
    pub const fn here(name: &'static str) -> Origin {
        Origin { mark: [0x8c5e_1f0b_93d7_62a4, 0x2f9a_c1d3_6e58_b047], name, place: Location::caller() }
    }
}

// SAFETY: the representation is C and begins with the mark, which only `here` contains.
#[cfg(feature = "objects")]
unsafe impl super::image::Static for Origin {
    fn example() -> &'static Origin {
        static EXAMPLE: Origin = Origin::here("example");
        &EXAMPLE
    }
}

/// A type that names a task's origin.
pub trait Named {
    /// The task's origin.
    const ORIGIN: &'static Origin;
}

thread_local! {
    /// The innermost task that the current panic has unwound on this thread.
    static NOTED: Cell<Option<&'static Origin>> = const { Cell::new(None) };
}

#[cold]
#[inline(never)]
fn note(origin: &'static Origin) {
    if NOTED.get().is_none() {
        NOTED.set(Some(origin));
    }
}

/// Clears a record that no catcher took, before a frame runs. The program leaves one if it catches the panic of a
/// closure that has a note of its own; only debug builds give closures notes.
#[inline]
pub(crate) fn forget() {
    if cfg!(debug_assertions) {
        NOTED.set(None);
    }
}

/// A guard that records the task `N` when it is dropped, which only unwinding does.
pub struct Note<N: Named>(PhantomData<fn() -> N>);

impl<N: Named> Note<N> {
    /// Begins a stretch of the task's own code.
    #[inline(always)]
    #[allow(clippy::new_without_default, reason = "a default would be dropped")]
    pub fn new() -> Note<N> {
        Note(PhantomData)
    }

    /// Ends the stretch: the following code is not the task's own.
    #[inline(always)]
    pub fn end(self) {
        std::mem::forget(self);
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
    /// Wraps the body, at no cost in memory.
    #[inline(always)]
    pub fn new(body: F) -> Noted<N, F> {
        Noted { body, task: PhantomData }
    }
}

impl<N: Named, F: Future> Future for Noted<N, F> {
    type Output = F::Output;

    #[inline(always)]
    fn poll(self: Pin<&mut Self>, std: &mut StdContext<'_>) -> Poll<F::Output> {
        // SAFETY: the body is pinned with `self`, whose methods do not move it.
        let body = unsafe { self.map_unchecked_mut(|this| &mut this.body) };
        let note = Note::<N>::new();
        let polled = body.poll(std);
        note.end();
        polled
    }
}

/// A panic's payload, with what is known about it.
struct Traced {
    /// The task that the panic came from.
    origin: Option<&'static Origin>,
    /// The [serial](crate::cancel::runs::Run::serial) of the run whose spawned task ended with the panic.
    run: Option<u64>,
    payload: Payload,
}

/// Returns the payload with a [`Traced`] around it, if it has none.
fn trace(payload: Payload) -> Box<Traced> {
    payload.downcast().unwrap_or_else(|payload| Box::new(Traced { origin: None, run: None, payload }))
}

/// Packs the payload of a panic of task code, just caught, with the task that the panic came from.
#[cold]
#[inline(never)]
pub(crate) fn pack(payload: Box<dyn Any + Send>) -> Payload {
    let payload = Payload::caught(payload);
    let Some(origin) = NOTED.take() else { return payload };
    let mut traced = trace(payload);
    traced.origin.get_or_insert(origin);
    Payload::caught(traced)
}

/// Packs a payload, with which a spawned task has ended, with the serial of the task's run.
#[cold]
pub(crate) fn of_run(payload: Payload, serial: u64) -> Payload {
    let mut traced = trace(payload);
    traced.run = Some(serial);
    Payload::caught(traced)
}

/// Returns the serial that [`of_run`] has packed.
pub(crate) fn run_of(payload: &Payload) -> Option<u64> {
    payload.downcast_ref::<Traced>().and_then(|traced| traced.run)
}

/// Packs a payload with the task of `origin`.
pub(crate) fn traced(payload: Payload, origin: &'static Origin) -> Payload {
    Payload::new(Traced { origin: Some(origin), run: None, payload })
}

/// Returns the task that a packed payload came from.
pub(crate) fn origin_of(payload: &Payload) -> Option<&'static Origin> {
    payload.downcast_ref::<Traced>().and_then(|traced| traced.origin)
}

/// Returns the payload as it was thrown, and the task that it came from if that is known.
pub(crate) fn open(payload: Payload) -> (Payload, Option<&'static Origin>) {
    match payload.downcast::<Traced>() {
        Ok(traced) => (traced.payload, traced.origin),
        Err(payload) => (payload, None),
    }
}

/// Returns a task's name as its author wrote it, from the type name of its body; `None` for the library's own bodies.
pub(crate) fn task_name(body: &'static str) -> Option<&'static str> {
    // The type of a body is `Noted<task::__Task, ..>`, or its path contains `Type::__task_method::__Task` or
    // `Type::__rest_method::__Task`.
    let path = &body[..body.find("::__Task")?];
    let path = &path[path.rfind(['<', '(', ' ']).map_or(0, |at| at + 1)..];
    let last = path.rfind("::").map_or(0, |at| at + 2);
    let method = ["__task_", "__rest_"].iter().find_map(|prefix| path[last..].strip_prefix(prefix));
    Some(method.unwrap_or(path))
}
