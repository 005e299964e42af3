//! Closures that migrate: full closures of portable threads that have not begun.
//!
//! ```text
//!   home                                         worker that begs
//!
//!   closure, active <- Absent                    a computation of its own: `top`, with a result for each of the waits
//!     Cont -> wait <- Continuation --- Request ---> Cont of a `Resolve`: resolves the Continuation
//!                       the value <--- Answer ----- a thread sends it an argument, or drops the Cont
//!     wait for the end <-------------- Answer ----- the computation is over
//!     a thread panics ---------------- Stop ------> the computation is abandoned
//! ```
//!
//! The other process runs the thread, and all that it posts, as a computation of its own. This is over when it has no active
//! closure, and each continuation that came with the arguments has been used or dropped, or when one of its threads has
//! panicked. At home the closure counts as active until then, and until the values that it has sent have arrived.

use std::any::Any;
use std::collections::{HashMap, VecDeque};
use std::future::Future;
use std::hash::{BuildHasher, RandomState};
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, LazyLock, Mutex, Weak};
use std::task::{Context as StdContext, Poll};

use crate::atomics::lock_std as lock;
use crate::call::Task;
use crate::call::outcome::{AnyTask, Child, Outcome};
use crate::frame::context::{Cx, cx, try_cx};
use crate::frame::{BodyFrame, CallSite, Delivered, Payload};
use crate::message::packet::Handler;
use crate::message::wire::{Part, Reader, Unreadable, Wire, Writer};
use crate::object::Portable;
use crate::object::host::Nodes;
use crate::object::remote::{Work, request_of_worker};
use crate::process::ProcessMutex;
use crate::run::continuation::Continuation;
use crate::run::settle;
use crate::wait::suspend::suspend_at;

use super::argument::{Given, Missing, Parameters, Without};
use super::computation::{Computation, Elsewhere, Shared};
use super::cont::{Cont, Conts, send_argument};
use super::frame::{self, Closure};
use super::thread::{Thread, Ways, post};
use super::top::{FirstClosures, Top};
use super::way::{Arrived, Arriving, Leaving, both};

/// A closure that runs in another process: counts as active until it is dropped, by a worker.
pub struct Absent {
    computation: &'static Computation,
    elsewhere: Elsewhere,
}

impl Drop for Absent {
    fn drop(&mut self) {
        self.computation.is_back(self.elsewhere);
        // SAFETY: only workers destroy frames and what they own; used at once.
        let tally = self.computation.tally(unsafe { cx() });
        self.computation.session_ends(tally, 1);
    }
}

/// The answer of a [`Resolve`]: the value; or the name of the argument that was dropped first, if it was another one.
type Sent<T> = Result<T, Option<String>>;

/// A detached frame that waits for an answer, and then calls `then`.
struct Awaiting<T, F> {
    child: Option<Child<AnyTask<T>>>,
    then: Option<F>,
}

impl<T, F> Unpin for Awaiting<T, F> {}

impl<T: Send, F: FnOnce(Result<T, Payload>) + Send> Awaiting<T, F> {
    /// Makes the frame, for an outcome that is suspended in any case. An [`Absent`] in `then` keeps its run and its group from
    /// ending before `then` has been called or dropped. Afterwards the frame uses neither.
    fn start(cx: Cx, outcome: Outcome<T>, then: F) {
        let Err(child) = outcome.open::<AnyTask<T>>() else { unreachable!("forced to wait") };
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

/// Returns the right to have a value sent to `to`. Reports show `place`.
pub(super) fn expect<T: Portable>(to: Cont<T>, absent: &Arc<Absent>, place: CallSite) -> Continuation<Sent<T>> {
    // SAFETY: only workers write messages; used within this call.
    let cx = unsafe { cx() };
    let absent = Arc::clone(absent);
    let mut own = None;
    let wait = suspend_at(place, |k: Continuation<Sent<T>>| own = Some(k));
    // SAFETY: `start` opens the outcome, and its frame awaits the suspended callee.
    let outcome = unsafe { wait.forced().call(cx) };
    Awaiting::start(cx, outcome, move |result| {
        match result {
            Ok(Ok(value)) => send_argument(value, to),
            Ok(Err(what)) => {
                if let Some(what) = what {
                    absent.computation.unsent(absent.computation.number(), || Some(what));
                }
                drop(to);
            }
            Err(payload) => {
                absent.computation.lose(payload);
                drop(to);
            }
        }
        drop(absent);
    });
    own.unwrap_or_else(|| unreachable!("the wait has begun"))
}

static NUMBERS: LazyLock<RandomState> = LazyLock::new(RandomState::new);
static NEXT: AtomicU64 = AtomicU64::new(0);

/// Sends an active closure of the computation to worker `to` of another process.
pub(super) fn send<Th: Thread>(
    cx: Cx,
    computation: &'static Computation,
    to: u32,
    (ways, way): Ways<Th>,
    (fixed, tail): (Th::Fixed, Th::Tail),
) {
    // Relaxed: only uniqueness matters. Hashed, since other processes send such names, too.
    let name = NUMBERS.hash_one(NEXT.fetch_add(1, Ordering::Relaxed));
    let elsewhere = Elsewhere { worker: to, name };
    let absent = Arc::new(Absent { computation, elsewhere });
    let part = Part::written(|to| {
        to.bytes(&name.to_le_bytes());
        let mut leaving = Leaving { to, absent: &absent, place: Th::PLACE };
        both(fixed.write(&ways, &mut leaving), way.write(tail, &mut leaving))
    });
    let part = match part {
        Ok(part) => part,
        // Before a wait for one of its arguments ends in vain.
        Err(payload) => return computation.fail(payload),
    };
    // The answer may come at once, if the run is cancelled.
    let held = Arc::clone(&absent);
    let end = request_of_worker(cx, to, Ok(Moved::<Th>::Leaving(part)), Th::PLACE);
    Awaiting::start(cx, end, move |result| {
        if let Err(payload) = result {
            computation.fail(payload);
        }
        drop(absent);
    });
    computation.is_elsewhere(elsewhere);
    drop(held);
}

/// A closure on its way to a worker of another process.
enum Moved<Th: Thread> {
    /// At the sender.
    Leaving(Part),
    /// At the receiver, with its name.
    Arrived(u64, Arrived<Th::Fixed>, Arrived<Th::Tail>),
}

impl<Th: Thread> Wire for Moved<Th> {
    fn write(self, to: &mut Writer) {
        match self {
            Moved::Leaving(arguments) => arguments.write(to),
            Moved::Arrived(..) => unreachable!("it is sent once"),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let Some((ways, way)) = Th::WAYS else { return Err(Unreadable::new::<Th>("its closures do not migrate")) };
        let name = from.bytes().ok_or_else(|| Unreadable::new::<Th>("its name is missing"))?;
        let read = |from: &mut Arriving<'_, '_>| Some((Th::Fixed::read(&ways, from)?, way.read(from)?));
        let (fixed, tail) = Arriving::read(from, read)?;
        Ok(Moved::Arrived(u64::from_le_bytes(name), fixed, tail))
    }
}

impl<Th: Thread> Work for Moved<Th> {
    type Output = ();
    const ANYWHERE: bool = true;

    fn node(&self) -> u32 {
        unreachable!("it runs at any node")
    }

    unsafe fn run(self, cx: Cx) -> Outcome<()> {
        let Moved::Arrived(name, fixed, tail) = self else { unreachable!("it runs in another process") };
        let waiting = Waiting { list: Arc::default(), name };
        let list = Arc::downgrade(&waiting.list);
        let first = First::<Th> { name, fixed, tail, list };
        // SAFETY: the caller keeps the call protocol.
        unsafe { Top::with(first, Shared::new(Arc::new(waiting)), Th::PLACE).call(cx) }
    }
}

static NAMED: ProcessMutex<Option<Named>> = ProcessMutex::new(None);

/// The closures of other processes, by their names.
#[derive(Default)]
struct Named {
    /// The computations of those that have arrived, with the computations' numbers.
    arrived: HashMap<u64, Numbered>,
    /// The names in the latest [`Stop`]s for which no computation was found: the closure has not arrived, or its computation
    /// is over.
    early: VecDeque<u64>,
}

type Numbered = (&'static Computation, u64);

impl Named {
    /// The most names in `early`. If more stops overtake their closures, a computation runs to its end in vain.
    const EARLY: usize = 1024;

    /// Notes the computation of a closure. Returns whether it has been stopped.
    fn arrive(&mut self, name: u64, computation: Numbered) -> bool {
        self.arrived.insert(name, computation);
        let stopped = self.early.iter().position(|early| *early == name);
        stopped.is_some_and(|at| self.early.remove(at).is_some())
    }

    /// Returns the computation to abandon, unless its closure is still to arrive.
    fn stop(&mut self, name: u64) -> Option<Numbered> {
        let arrived = self.arrived.get(&name).copied();
        if arrived.is_none() {
            self.early.truncate(Self::EARLY - 1);
            self.early.push_front(name);
        }
        arrived
    }
}

/// The continuations of another process that the computation of a closure still has to resolve. The computation owns this:
/// when it is over, it drops the continuations that a program keeps.
pub(super) struct Waiting {
    list: Arc<List>,
    /// The closure's name.
    name: u64,
}

/// Each is a `Continuation`, until it is resolved.
type List = Mutex<Vec<Option<Box<dyn Any + Send>>>>;

impl Drop for Waiting {
    fn drop(&mut self) {
        if let Some(named) = &mut *NAMED.lock() {
            named.arrived.remove(&self.name);
        }
    }
}

/// The body of the computation of a closure that has arrived. Its results are the ends of waits.
struct First<Th: Thread> {
    name: u64,
    fixed: Arrived<Th::Fixed>,
    tail: Arrived<Th::Tail>,
    list: Weak<List>,
}

impl<Th: Thread> FirstClosures for First<Th> {
    type Result = ();
    type Output = ();

    fn results(&self) -> usize {
        self.fixed.waits + self.tail.waits
    }

    fn begin(self, ends: Conts<()>) {
        let Some(computation) = try_cx().and_then(Cx::computation) else { unreachable!("a computation begins") };
        if NAMED.lock().get_or_insert_default().arrive(self.name, (computation, computation.number())) {
            computation.abandon();
        }
        let imports = Imports { ends, list: self.list, computation, number: computation.number() };
        // Posted, so that other workers may take it.
        let arguments = (Given(self.fixed), Given(self.tail), Given(imports));
        post(frame::make::<Begin<Th>, _, _>(arguments, Without).full());
    }

    fn output(_: Vec<()>) {}
}

/// Makes the continuations among the arguments of a closure that has arrived.
pub struct Imports {
    ends: Conts<()>,
    list: Weak<List>,
    computation: &'static Computation,
    number: u64,
}

/// The thread that makes the arguments of a thread that has migrated, and continues as it.
struct Begin<Th>(PhantomData<fn() -> Th>);

impl<Th: Thread> Thread for Begin<Th> {
    type Fixed = (Arrived<Th::Fixed>, Arrived<Th::Tail>, Imports);
    type Tail = ();
    type Full = Closure<Self>;
    const NAME: &'static str = Th::NAME;
    const PARAMETERS: &'static [&'static str] = &[];

    fn enter((fixed, tail, mut imports): Self::Fixed, (): ()) {
        let (fixed, tail) = ((fixed.make)(&mut imports), (tail.make)(&mut imports));
        drop(imports);
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
    pub(super) fn hole(k: Continuation<Sent<T>>, imports: &mut Imports) -> Cont<T> {
        let mut at = 0;
        if let Some(list) = imports.list.upgrade() {
            let mut list = lock(&list);
            at = list.len();
            list.push(Some(Box::new(k)));
        }
        let (list, computation, number) = (Weak::clone(&imports.list), imports.computation, imports.number);
        let import = Import { list, at, computation, number, of: PhantomData };
        let arguments = (Given(import), Given(End(imports.ends.next())), Missing);
        let (((), (), hole), ()) = frame::make::<Self, _, _>(arguments, Without).with_holes();
        hole
    }
}

impl<T: Portable> Thread for Resolve<T> {
    type Fixed = (Import<T>, End, T);
    type Tail = ();
    type Full = Closure<Self>;
    const NAME: &'static str = "a closure in another process";
    const PARAMETERS: &'static [&'static str] = &[];

    fn enter((import, end, value): Self::Fixed, (): ()) {
        if let Some(k) = import.take() {
            k.resolve(Ok(value));
        }
        drop((import, end));
    }

    fn full(closure: Closure<Self>) -> Closure<Self> {
        closure
    }
}

/// A continuation of another process, which the computation that it came to owns.
pub(super) struct Import<T: Portable> {
    list: Weak<List>,
    at: usize,
    computation: &'static Computation,
    number: u64,
    of: PhantomData<fn(T)>,
}

impl<T: Portable> Import<T> {
    /// Returns the continuation, unless it has been taken, or the computation is over.
    fn take(&self) -> Option<Continuation<Sent<T>>> {
        let k = lock(&*self.list.upgrade()?).get_mut(self.at)?.take()?;
        k.downcast().ok().map(|k| *k)
    }
}

impl<T: Portable> Drop for Import<T> {
    fn drop(&mut self) {
        if let Some(k) = self.take() {
            k.resolve(Err(self.computation.first_unsent(self.number)));
        }
    }
}

/// Sent when dropped: a continuation of another process has been used or dropped.
pub(super) struct End(Option<Cont<()>>);

impl Drop for End {
    fn drop(&mut self) {
        if let Some(to) = self.0.take() {
            send_argument((), to);
        }
    }
}

/// The message that abandons the computation of a closure with this name that has migrated. It may overtake the closure,
/// which another worker has sent.
struct Stop(u64);

/// Abandons what has migrated.
pub(super) fn stop(cx: Cx, elsewhere: Vec<Elsewhere>) {
    for Elsewhere { worker, name } in elsewhere {
        Nodes::of(cx).send(cx, worker, Stop(name));
    }
}

impl Handler for Stop {
    fn bytes_elsewhere(&self) -> usize {
        0
    }

    fn handle(self, cx: Cx) {
        let _left = cx.leave_tasks();
        let arrived = NAMED.lock().get_or_insert_default().stop(self.0);
        if let Some((computation, number)) = arrived {
            computation.abandon_if(cx, number);
        }
    }

    fn write(self, to: &mut Writer) -> bool {
        to.bytes(&self.0.to_le_bytes());
        true
    }

    fn arrive(mut from: Reader<'_>, cx: Option<Cx>) {
        if let (Some(name), Some(cx)) = (from.bytes(), cx) {
            Stop(u64::from_le_bytes(name)).handle(cx);
        }
    }
}

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn a_stop_may_overtake_its_closure() {
        let computation = || -> Numbered { (Computation::begin(1, None), 0) };
        let mut named = Named::default();
        assert!(!named.arrive(1, computation()) && named.stop(1).is_some());
        assert!(named.stop(2).is_none());
        assert!(named.arrive(2, computation()) && !named.arrive(2, computation()));
        (10..10_000).for_each(|name| assert!(named.stop(name).is_none()));
        assert_eq!(named.early.len(), Named::EARLY);
        assert!(named.arrive(9_999, computation()) && !named.arrive(10, computation()));
    }
}
