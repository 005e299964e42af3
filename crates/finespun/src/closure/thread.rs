//! Threads: the trait that `#[thread]` implements, and the operations on their closures.

use std::any::Any;
use std::panic::Location;

use crate::frame::CallSite;
use crate::frame::context::closures_cx;

use super::argument::{Elements, Parameters, Supplies};
use super::computation::Shared;
use super::frame::{self, Closure};
use super::holes;
use super::tail::Tail;
use super::way::Way;

/// How the arguments of a thread travel: those in its closure's fixed part, and the vector.
#[doc(hidden)]
pub type Ways<Th> = (<<Th as Thread>::Fixed as Parameters>::Ways, Way<<Th as Thread>::Tail>);

/// A function marked [`#[thread]`](macro@super::thread): code whose calls closures describe.
///
/// The attribute implements this trait. A thread returns nothing, runs to its end once it has begun, and sends its
/// results.
pub trait Thread: Sized + 'static {
    /// The types of its parameters except a vector.
    #[doc(hidden)]
    type Fixed: Parameters;
    /// Its vector, or `()`.
    #[doc(hidden)]
    type Tail: Tail;
    /// The result of `make_closure!` for a full closure.
    #[doc(hidden)]
    type Full;
    /// Its name.
    const NAME: &'static str;
    /// The names of its parameters.
    #[doc(hidden)]
    const PARAMETERS: &'static [&'static str];
    /// Where the thread is.
    #[doc(hidden)]
    const PLACE: CallSite = Location::caller();
    /// How its arguments travel, if it is portable.
    #[doc(hidden)]
    const WAYS: Option<Ways<Self>> = None;
    /// Whether the thread is portable: marked `#[thread(portable)]`, so that its closures may migrate.
    const MIGRATES: bool = Self::WAYS.is_some();

    #[doc(hidden)]
    fn enter(fixed: Self::Fixed, tail: Self::Tail);

    #[doc(hidden)]
    fn full(closure: Closure<Self>) -> Self::Full;
}

/// A full closure, as [`post`] requires it.
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
        // SAFETY: the closure is full, and `self` had exclusive access to it.
        unsafe { holes::post(self.into_frame()) };
    }
}

/// Hands a full closure to the scheduler. This worker runs its closures last posted first; other workers steal them
/// first posted first.
///
/// The sender of the last missing argument posts a closure with holes; posting it earlier is a compile error.
///
/// Another worker that asks for work sees the closure when this worker next posts, or ends a thread: a thread must not
/// wait, by any means, for a closure that it has posted. Cost: a push onto a list.
#[inline(always)]
pub fn post<C: Postable>(closure: C) {
    closure.post();
}

/// Makes a closure. Returns the continuations of its holes and of its vector's elements.
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

/// Returns whether a tail call stays on the stack: the stack has room, and no request for this worker is pending.
#[doc(hidden)]
#[inline(always)]
pub fn stays() -> bool {
    match closures_cx() {
        Some(cx) => !cx.trips(),
        None => panic!("`tail_call!` was called outside a thread"),
    }
}

/// Calls a thread with the value that its computation shares. Costs two loads and a comparison of types.
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

    // SAFETY: a thread of the computation whose closures run here is active until `enter` returns, and the result is not
    // kept longer.
    let shared = closures_cx().and_then(|cx| unsafe { cx.own_computation().computation.shared() });
    match shared.and_then(Shared::get::<S>) {
        Some(shared) => enter(shared),
        None => without(thread, std::any::type_name::<S>()),
    }
}
