//! Threads: what `#[thread]` makes of a function, and what is done with their closures.

use std::any::Any;

use crate::task::context::{Cx, try_cx};

use super::argument::{Elements, Parameters, Supplies};
use super::computation::{Computation, Shared};
use super::frame::{self, Closure};
use super::holes;
use super::tail::Tail;

/// A function marked [`#[thread]`](macro@super::thread): code whose calls can be described by closures.
///
/// The attribute implements it. A thread returns nothing, runs to its end once it has begun, and sends its results.
pub trait Thread: Sized + 'static {
    /// The types of its parameters but a vector.
    #[doc(hidden)]
    type Fixed: Parameters;
    /// Its vector, or nothing.
    #[doc(hidden)]
    type Tail: Tail;
    /// What `make_closure!` delivers for a full closure.
    #[doc(hidden)]
    type Full;
    /// Its name.
    const NAME: &'static str;
    /// The names of its parameters.
    #[doc(hidden)]
    const PARAMETERS: &'static [&'static str];
    /// Whether all arguments can travel to other processes: they are [`Portable`](crate::Portable), or continuations of such.
    const MIGRATES: bool;

    #[doc(hidden)]
    fn enter(fixed: Self::Fixed, tail: Self::Tail);

    #[doc(hidden)]
    fn full(closure: Closure<Self>) -> Self::Full;
}

/// A full closure. What [`post`] takes.
#[diagnostic::on_unimplemented(
    message = "only a full closure can be posted",
    label = "this is what a closure with missing arguments gives: their continuations",
    note = "it is posted when the last of its arguments is sent: `send_argument(value, continuation)`"
)]
pub trait Postable {
    #[doc(hidden)]
    fn post(self);
}

impl<Th: Thread> Postable for Closure<Th> {
    #[inline(always)]
    fn post(self) {
        // SAFETY: full, and nobody else has it.
        unsafe { holes::post(self.into_frame()) };
    }
}

/// Hands a full closure over to the scheduler: its thread will run on this worker, the last posted first, unless another worker
/// takes it, the first posted first.
///
/// A closure with missing arguments is posted by whoever sends the last of them; that it cannot be posted before is an error
/// at compile time.
///
/// Others come to see it when they ask for work and this worker posts, or ends a thread: a thread does not wait for
/// what it has posted, by whatever means. Cost: as a push onto a list.
#[inline(always)]
pub fn post<C: Postable>(closure: C) {
    closure.post();
}

/// Makes a closure; its holes' continuations, and those of its vector's elements.
#[doc(hidden)]
#[inline(always)]
pub fn made<Th, S, E>(
    supplies: S,
    elements: E,
) -> frame::Made<Th, S::Gives, <E::Ready as super::argument::Supply<Th::Tail>>::Gives>
where
    Th: Thread,
    S: Supplies<Th::Fixed>,
    E: Elements<Th::Tail>,
{
    frame::make(supplies, elements)
}

/// Whether a tail call stays on the stack: there is room, and nobody wants anything of this worker.
#[doc(hidden)]
#[inline(always)]
pub fn stays() -> bool {
    match try_cx() {
        Some(cx) => !cx.trips(),
        None => panic!("`tail_call!` was called outside a thread"),
    }
}

/// The computation whose thread runs here.
fn current(cx: Cx) -> Option<&'static Computation> {
    // SAFETY: null, or a record, which is never freed.
    unsafe { cx.context().threads.computation.get().cast::<Computation>().as_ref() }
}

/// Calls a thread with what its computation shares. Costs two loads and a comparison of types.
///
/// # Panics
/// If the computation shares no `S`.
#[doc(hidden)]
#[inline(always)]
pub fn shared<S: Any + Send + Sync>(thread: &'static str, enter: impl FnOnce(&S)) {
    #[cold]
    #[inline(never)]
    fn without(thread: &'static str, kind: &'static str) -> ! {
        panic!(
            "the thread `{thread}` reads a `{kind}`, which its computation does not share: say `top(..).sharing(value)`"
        )
    }

    // SAFETY: a thread of the computation is about to run here, until this returns.
    let shared = try_cx().and_then(current).and_then(|computation| unsafe { computation.shared() });
    match shared.and_then(Shared::get::<S>) {
        Some(shared) => enter(shared),
        None => without(thread, std::any::type_name::<S>()),
    }
}
