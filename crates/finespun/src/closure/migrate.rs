//! Closures that migrate: full closures that have not begun, whose arguments travel.
//!
//! ```text
//!   home                                         worker that begs
//!
//!   closure, active <- Absent                    a computation of its own: `top`, with a result for each of the waits
//!     Cont -> wait <- Continuation --- Request ---> Cont of a `Resolve`: resolves the Continuation
//!                       the value <--- Answer ----- a thread sends it an argument
//!     wait for the end <-------------- Answer ----- the computation is over
//! ```
//!
//! The other process runs the thread, and all that it posts, as a computation of its own. This is over when it has no active
//! closure, and each continuation that came with the arguments has been used or given up. At home the closure counts as
//! active until then, and until the values that it has sent have arrived.

use std::future::Future;
use std::marker::PhantomData;
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as StdContext, Poll};

use crate::call::Task;
use crate::call::outcome::{Child, Outcome};
use crate::frame::context::{Cx, cx};
use crate::frame::{BodyFrame, CallSite, Delivered, Payload, quietly};
use crate::message::wire::{Part, Reader, Unreadable, Wire, Writer};
use crate::object::Portable;
use crate::object::remote::{Work, WorkTask, request_of_worker};
use crate::run::continuation::Continuation;
use crate::run::settle;
use crate::wait::suspend::suspend_at;

use super::argument::{Given, Missing, Parameters, Without};
use super::computation::Computation;
use super::cont::{Cont, Conts, send_argument};
use super::frame::{self, Closure};
use super::thread::{Thread, Ways, post};
use super::top::{FirstClosures, Top};
use super::way::{Arrived, Arriving, Leaving, both};

/// A closure that runs in another process: counts as active until it is dropped, by a worker.
pub struct Absent {
    computation: &'static Computation,
}

impl Drop for Absent {
    fn drop(&mut self) {
        // SAFETY: only workers destroy frames and what they own; used at once.
        let tally = self.computation.tally(unsafe { cx() });
        self.computation.session_ends(tally, 1);
    }
}

/// A detached frame that waits for an answer, and then calls `then`.
struct Awaiting<T, F> {
    child: Option<Child<WorkTask<T>>>,
    then: Option<F>,
}

impl<T, F> Unpin for Awaiting<T, F> {}

impl<T: Send, F: FnOnce(Result<T, Payload>) + Send> Awaiting<T, F> {
    /// Makes the frame, for an outcome that is suspended in any case. Its run does not end before `then` has been called or
    /// dropped: an [`Absent`] in it keeps a computation from being over.
    fn start(cx: Cx, outcome: Outcome<T>, then: F) {
        let Err(child) = outcome.open::<WorkTask<T>>() else { unreachable!("forced to wait") };
        cx.wait_for(child.frame());
        let frame = BodyFrame::make(cx, Awaiting { child: Some(child), then: Some(then) });
        // SAFETY: the frame has just been made.
        let detached = unsafe { frame.as_ref() }.slot.detach();
        debug_assert!(detached, "the frame has not run");
        // SAFETY: the frame waits for the child, as if a poll had returned pending, and no other code knows the frame.
        unsafe { settle(cx, frame) };
    }
}

impl<T: Send, F: FnOnce(Result<T, Payload>) + Send> Future for Awaiting<T, F> {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<()> {
        let Some(child) = self.child.take_if(|child| child.ended()) else {
            match &self.child {
                // SAFETY: only a worker polls a body, and the context is used at once.
                Some(child) => unsafe { cx() }.wait_for(child.frame()),
                None => unreachable!("an answer is taken once"),
            }
            return Poll::Pending;
        };
        let then = self.then.take();
        match (child.deliver(), then) {
            (Delivered::Value(value), Some(then)) => then(Ok(value)),
            (Delivered::Panic(payload), Some(then)) => then(Err(payload)),
            (Delivered::Cancelled, then) => drop(then),
            (_, None) => unreachable!("an answer is taken once"),
        }
        Poll::Ready(())
    }
}

/// Returns a continuation whose value is sent to `to`. If it is dropped, so is `to`.
pub(super) fn expect<T: Portable>(to: Cont<T>, absent: &Arc<Absent>) -> Continuation<T> {
    // SAFETY: only workers write messages; used within this call.
    let cx = unsafe { cx() };
    let absent = Arc::clone(absent);
    let mut own = None;
    let wait = suspend_at(Location::caller(), |k: Continuation<T>| own = Some(k));
    // SAFETY: `start` opens the outcome, and its frame awaits the suspended callee.
    let outcome = unsafe { wait.forced().call(cx) };
    Awaiting::start(cx, outcome, move |result| {
        match result {
            Ok(value) => send_argument(value, to),
            Err(payload) => {
                quietly(|| drop(payload));
                drop(to);
            }
        }
        drop(absent);
    });
    own.unwrap_or_else(|| unreachable!("the wait has begun"))
}

/// Sends an active closure of the computation to worker `to` of another process.
pub(super) fn send<Th: Thread>(cx: Cx, computation: &'static Computation, to: u32, fixed: Th::Fixed, tail: Th::Tail) {
    let absent = Arc::new(Absent { computation });
    let part = Part::written(|to| {
        let mut leaving = Leaving { to, absent: &absent };
        let (ways, way) = ways::<Th>();
        both(fixed.write(&ways, &mut leaving), way.write(tail, &mut leaving))
    });
    let end = request_of_worker(cx, to, part.map(Moved::<Th>::Leaving), Th::PLACE);
    Awaiting::start(cx, end, move |result| {
        if let Err(payload) = result {
            computation.fail(payload);
        }
        drop(absent);
    });
}

fn ways<Th: Thread>() -> Ways<Th> {
    Th::WAYS.unwrap_or_else(|| unreachable!("a closure migrates only if its arguments travel"))
}

/// A closure on its way to a worker of another process.
enum Moved<Th: Thread> {
    /// At the sender.
    Leaving(Part),
    /// At the receiver.
    Arrived(Arrived<(Th::Fixed, Th::Tail)>),
}

impl<Th: Thread> Wire for Moved<Th> {
    fn write(self, to: &mut Writer) {
        match self {
            Moved::Leaving(arguments) => arguments.write(to),
            Moved::Arrived(_) => unreachable!("it is sent once"),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let (ways, way) = ways::<Th>();
        let read = Arriving::read(from, |from| Some(Th::Fixed::read(&ways, from)?.and(way.read(from)?)));
        read.map(Moved::Arrived)
    }
}

impl<Th: Thread> Work for Moved<Th> {
    type Output = ();
    const ANYWHERE: bool = true;

    fn node(&self) -> u32 {
        unreachable!("it runs at any node")
    }

    unsafe fn run(self, cx: Cx) -> Outcome<()> {
        match self {
            // SAFETY: the caller keeps the call protocol.
            Moved::Arrived(arguments) => unsafe { Top::of(First::<Th>(arguments), Th::PLACE).call(cx) },
            Moved::Leaving(_) => unreachable!("it runs in another process"),
        }
    }
}

/// The body of the computation of a closure that has arrived. Its results are the ends of waits.
struct First<Th: Thread>(Arrived<(Th::Fixed, Th::Tail)>);

impl<Th: Thread> FirstClosures for First<Th> {
    type Result = ();
    type Output = ();

    fn results(&self) -> usize {
        self.0.waits
    }

    fn begin(self, ends: Conts<()>) {
        // Posted, so that other workers may take it.
        post(frame::make::<Begin<Th>, _, _>((Given(self.0), Given(ends)), Without).full());
    }

    fn output(_: Vec<()>) {}
}

/// The thread that makes the arguments of a thread that has migrated, and continues as it.
struct Begin<Th>(PhantomData<fn() -> Th>);

impl<Th: Thread> Thread for Begin<Th> {
    type Fixed = (Arrived<(Th::Fixed, Th::Tail)>, Conts<()>);
    type Tail = ();
    type Full = Closure<Self>;
    const NAME: &'static str = Th::NAME;
    const PARAMETERS: &'static [&'static str] = &["arguments", "ends"];
    const PLACE: CallSite = Th::PLACE;
    const WAYS: Option<Ways<Self>> = None;

    fn enter((arguments, mut ends): Self::Fixed, (): ()) {
        let (fixed, tail) = (arguments.make)(&mut ends);
        Th::enter(fixed, tail);
    }

    fn full(closure: Closure<Self>) -> Closure<Self> {
        closure
    }
}

/// The thread that resolves a continuation of another process with its last argument.
pub(super) struct Resolve<T>(PhantomData<fn() -> T>);

impl<T: Portable> Resolve<T> {
    /// Makes a closure of the thread. Returns the continuation of its last argument.
    pub(super) fn hole(k: Continuation<T>, ends: &mut Conts<()>) -> Cont<T> {
        let end = End(ends.next());
        let ((_, (), hole), ()) = frame::make::<Self, _, _>((Given(k), Given(end), Missing), Without).with_holes();
        hole
    }
}

impl<T: Portable> Thread for Resolve<T> {
    type Fixed = (Continuation<T>, End, T);
    type Tail = ();
    type Full = Closure<Self>;
    const NAME: &'static str = "a closure in another process";
    const PARAMETERS: &'static [&'static str] = &["continuation", "end", "argument"];
    const PLACE: CallSite = Location::caller();
    const WAYS: Option<Ways<Self>> = None;

    fn enter((k, end, value): Self::Fixed, (): ()) {
        k.resolve(value);
        drop(end);
    }

    fn full(closure: Closure<Self>) -> Closure<Self> {
        closure
    }
}

/// Sent when dropped: a continuation of another process has been used or given up.
pub(super) struct End(Option<Cont<()>>);

impl Drop for End {
    fn drop(&mut self) {
        if let Some(to) = self.0.take() {
            send_argument((), to);
        }
    }
}
