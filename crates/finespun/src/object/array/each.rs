//! Calling all objects of an array: a tree of messages to its parts.

use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as StdContext, Poll};
use std::vec::IntoIter;

use serde::{Deserialize, Serialize};

use super::super::Portable;
use super::super::error::{Refusal, Which, throw};
use super::super::host::Nodes;
use super::super::reference::{Object, Ref};
use super::super::remote::{self, Work};
use super::supply::{Same, Supply};
use super::sweeping::{Sweeping, keep};
use super::{Array, Part, Portion, in_order};
use crate::message::wire::{Reader, Unreadable, Wire, Writer, again};
use crate::task::call::{Task, call, map_outcome, poll_in_place, sealed};
use crate::task::context::{Cx, cx};
use crate::task::frame::{BodyFrame, Delivered, FrameRef, Payload, Place};
use crate::task::located::{self, Located};
use crate::task::origin::pack;
use crate::task::outcome::{Child, Outcome};

/// What is called of each element: a function of a reference and an argument that makes a task.
pub trait Calls<T, A>: Copy + Send + 'static {
    /// The task.
    type Task: Task<Output = Self::Output> + 'static;
    /// What it delivers.
    type Output: Portable;
    /// Makes it.
    fn task(self, element: Ref<T>, argument: A) -> Self::Task;
}

impl<T, A, F, Tk> Calls<T, A> for F
where
    F: Fn(Ref<T>, A) -> Tk + Copy + Send + 'static,
    Tk: Task + 'static,
    Tk::Output: Portable,
{
    type Task = Tk;
    type Output = Tk::Output;
    fn task(self, element: Ref<T>, argument: A) -> Tk {
        self(element, argument)
    }
}

/// The task that [`Array::each`] makes.
#[must_use = "nothing is called until this is awaited"]
pub struct Each<T, S, C> {
    array: Array<T>,
    args: S,
    way: Way<C>,
}

/// How it is done everywhere.
#[derive(Clone, Copy)]
struct Way<C> {
    calls: C,
    /// Afterwards there is no array. Nothing stops at a failure.
    last: bool,
    place: Place,
}

impl<C> Way<C> {
    fn method(&self) -> &'static str {
        if self.last { "free" } else { "each" }
    }
}

impl<T, S, C> Each<T, S, C> {
    pub(super) fn new(array: Array<T>, args: S, calls: C, place: Place) -> Each<T, S, C> {
        Each { array, args, way: Way { calls, last: false, place } }
    }
}

impl<T, S, C> sealed::Sealed for Each<T, S, C> {}
impl<T: Object, S: Supply, C: Calls<T, S::Argument>> Task for Each<T, S, C> {
    type Output = Vec<C::Output>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Vec<C::Output>> {
        let Each { array, args, way } = self;
        let dealt = args.deal(array.parts.iter().map(|part| &*part.indices));
        let piece = |(part, args): (usize, S)| {
            let Part { portion, indices } = &array.parts[part];
            let which = Which { object: "Array", method: way.method(), node: portion.name().node() };
            if !Nodes::of(cx).knows(portion.name()) {
                throw(which.refused(Refusal::Stale));
            }
            Piece { part, portion: *portion, len: indices.len(), args }
        };
        let sweeps = spread(cx, dealt.into_iter().enumerate().map(piece).collect(), way);
        let gather = move |swept: Vec<Swept<C::Output>>| {
            let Swept { parts, failure } = Swept::all(swept);
            if let Some(failure) = failure {
                resume_unwind(Box::new(failure));
            }
            // In one part, or of what is nothing, the order is right already.
            if size_of::<C::Output>() == 0 || array.parts.len() == 1 {
                return parts.into_iter().flat_map(|(_, values)| values).collect();
            }
            in_order(
                array.len(),
                parts.into_iter().flat_map(|(part, values)| {
                    let indices = Arc::clone(&array.parts[part].indices);
                    values.into_iter().enumerate().map(move |(k, value)| (indices[k], value))
                }),
            )
        };
        // SAFETY: passed on.
        unsafe { map_outcome(cx, Sweeps(sweeps), gather) }
    }

    /// By this worker: a thief would send by another way.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// The task that [`Array::free`] makes.
#[must_use = "nothing is dropped until this is awaited"]
pub struct Freeing<T> {
    array: Array<T>,
    place: Place,
}

impl<T> Freeing<T> {
    pub(super) fn new(array: Array<T>, place: Place) -> Freeing<T> {
        Freeing { array, place }
    }
}

impl<T> sealed::Sealed for Freeing<T> {}
impl<T: Object> Task for Freeing<T> {
    type Output = ();
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        let way = Way { calls: |element: Ref<T>, ()| Ref::free(element), last: true, place: self.place };
        // SAFETY: passed on.
        unsafe { map_outcome(cx, Each { array: self.array, args: Same(()), way }, drop) }
    }

    /// By this worker: a thief would send by another way.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// What is to be done with one part.
struct Piece<T, S> {
    part: usize,
    portion: Ref<Portion<T>>,
    /// Its elements: another runtime's portion may have the same name.
    len: usize,
    args: S,
}

/// What came of some parts.
#[derive(Serialize, Deserialize)]
pub(super) struct Swept<V> {
    /// Whose they are, and their values.
    pub(super) parts: Vec<(usize, Vec<V>)>,
    /// If nothing stops at a failure: what the first was.
    pub(super) failure: Option<String>,
}

impl<V> Swept<V> {
    fn all(swept: Vec<Swept<V>>) -> Swept<V> {
        let (mut parts, mut failure) = (Vec::new(), None);
        for some in swept {
            parts.extend(some.parts);
            failure = failure.or(some.failure);
        }
        Swept { parts, failure }
    }
}

/// The most sweeps that one node sends.
const FAN: usize = 8;

/// A sweep for what is here, and some for what is elsewhere. What is to be done here comes last: the others are under way
/// by then.
///
/// In a run with one-way calls nobody sends for others: what goes by a third node would overtake what was sent before.
fn spread<T, S, C: Copy>(cx: Cx, mut pieces: Vec<Piece<T, S>>, way: Way<C>) -> Vec<Sweep<T, S, C>> {
    let own = pieces.iter().position(|piece| Ref::node(piece.portion) == cx.node() as usize);
    let own = own.map(|at| pieces.remove(at));
    let count = if cx.current_run().has_posted() { 1 } else { pieces.len().div_ceil(FAN) };
    let mut sweeps = Vec::with_capacity(FAN + 1);
    let mut pieces = pieces.into_iter();
    while let Some(first) = pieces.next() {
        sweeps.push(Sweep { first, rest: pieces.by_ref().take(count - 1).collect(), way });
    }
    sweeps.extend(own.map(|first| Sweep { first, rest: Vec::new(), way }));
    sweeps
}

/// All of these, begun by this worker one after the other: a thief would send by another way.
struct Sweeps<T, S, C>(Vec<Sweep<T, S, C>>);

impl<T, S, C> sealed::Sealed for Sweeps<T, S, C> {}
impl<T: Object, S: Supply, C: Calls<T, S::Argument>> Task for Sweeps<T, S, C> {
    type Output = Vec<Swept<C::Output>>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Self::Output> {
        let count = self.0.len();
        let body =
            Gathering { sweeps: self.0.into_iter(), swept: Vec::with_capacity(count), out: Vec::new(), panic: None };
        poll_in_place(body, cx, BodyFrame::<Gathering<T, S, C>>::VTABLE)
    }
}

/// The frame of some sweeps.
struct Gathering<T: Object, S: Supply, C: Calls<T, S::Argument>> {
    /// Those that have not been begun.
    sweeps: IntoIter<Sweep<T, S, C>>,
    swept: Vec<Swept<C::Output>>,
    /// Those that have not ended.
    out: Vec<Child<Sweep<T, S, C>>>,
    /// The first panic.
    panic: Option<Payload>,
}

impl<T: Object, S: Supply, C: Calls<T, S::Argument>> Unpin for Gathering<T, S, C> {}

impl<T: Object, S: Supply, C: Calls<T, S::Argument>> Gathering<T, S, C> {
    fn begin(&mut self, cx: Cx) {
        for sweep in self.sweeps.by_ref() {
            // SAFETY: `cx` is the current worker's; a child is kept and waited for.
            match unsafe { call(cx, sweep) }.open() {
                Ok(swept) => self.swept.push(swept),
                Err(child) => {
                    cx.send_withheld();
                    self.out.push(child);
                }
            }
        }
    }
}

impl<T: Object, S: Supply, C: Calls<T, S::Argument>> Future for Gathering<T, S, C> {
    type Output = Vec<Swept<C::Output>>;
    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<Self::Output> {
        // SAFETY: a body is polled by a worker; used within this poll.
        let cx = unsafe { cx() };
        let this = &mut *self;
        // A panic waits for those that are out. What is here comes last, so it leaves none behind that has not been begun.
        if let Err(payload) = catch_unwind(AssertUnwindSafe(|| this.begin(cx))) {
            keep(&mut this.panic, pack(payload));
        }
        for child in this.out.extract_if(.., |child| child.ended()).collect::<Vec<_>>() {
            match child.deliver() {
                Delivered::Value(swept) => this.swept.push(swept),
                Delivered::Panic(payload) => keep(&mut this.panic, payload),
                Delivered::Cancelled => keep(&mut this.panic, Box::new("a call of an array was cancelled")),
            }
        }
        if !this.out.is_empty() {
            cx.context().counters.fallback();
            this.out.iter().for_each(|child| cx.wait_for(child.frame()));
            return Poll::Pending;
        }
        if let Some(payload) = this.panic.take() {
            resume_unwind(payload);
        }
        Poll::Ready(std::mem::take(&mut this.swept))
    }
}

/// The calls of some parts, by the node of the first.
struct Sweep<T, S, C> {
    first: Piece<T, S>,
    rest: Vec<Piece<T, S>>,
    way: Way<C>,
}

impl<T, S, C> sealed::Sealed for Sweep<T, S, C> {}
impl<T: Object, S: Supply, C: Calls<T, S::Argument>> Task for Sweep<T, S, C> {
    type Output = Swept<C::Output>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Self::Output> {
        let place = self.way.place;
        // SAFETY: passed on.
        unsafe { remote::at_home(cx, self, place) }
    }

    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

impl<T: Object, S: Supply, C: Calls<T, S::Argument>> Wire for Sweep<T, S, C> {
    fn write(self, to: &mut Writer) {
        let piece = |Piece { part, portion, len, args }: Piece<T, S>| (part, portion, len, args.rest());
        to.value(&(self.way.last, piece(self.first), self.rest.into_iter().map(piece).collect::<Vec<_>>()));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        type Read<T, S> = (usize, Ref<Portion<T>>, usize, Vec<<S as Supply>::Argument>);
        let (last, first, rest): (bool, Read<T, S>, Vec<Read<T, S>>) = from.value()?;
        // SAFETY: this message was made with a `C`.
        let calls = unsafe { again() };
        let piece = |(part, portion, len, args): Read<T, S>| Piece { part, portion, len, args: S::again(args) };
        let way = Way { calls, last, place: std::panic::Location::caller() };
        Ok(Sweep { first: piece(first), rest: rest.into_iter().map(piece).collect(), way })
    }
}

impl<T: Object, S: Supply, C: Calls<T, S::Argument>> Work for Sweep<T, S, C> {
    type Output = Swept<C::Output>;

    fn node(&self) -> u32 {
        self.first.portion.name().node()
    }

    unsafe fn run(mut self, cx: Cx) -> Outcome<Self::Output> {
        if !self.rest.is_empty() {
            self.rest.push(self.first);
            // SAFETY: passed on.
            return unsafe { map_outcome(cx, Sweeps(spread(cx, self.rest, self.way)), Swept::all) };
        }
        let Piece { part, portion, len, args } = self.first;
        let last = self.way.last;
        let found = if last { Portion::take(cx, portion, len) } else { Portion::elements(cx, portion, len) };
        let Some(elements) = found else {
            let failure = Which { object: "Array", method: self.way.method(), node: portion.name().node() };
            let failure = failure.refused(Refusal::Stale);
            if !last {
                throw(failure);
            }
            // SAFETY: the call protocol.
            return unsafe { Outcome::done(Swept { parts: Vec::new(), failure: Some(failure.to_string()) }) };
        };
        let body = Sweeping::new(part, elements, args, self.way.calls, last);
        poll_in_place(Located::here(cx, body), cx, Sweeping::<T, S, C>::TABLE)
    }
}
