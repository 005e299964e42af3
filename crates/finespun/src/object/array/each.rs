//! Calling all objects of an array.

use std::future::{Future, ready};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as StdContext, Poll};

use super::super::Portable;
use super::super::reference::{Object, Ref};
use super::super::remote::{self, Work};
use super::{Array, Portion, in_order};
use crate::message::wire::{Reader, Unreadable, Wire, Writer, again};
use crate::task::call::{Task, call_guarded, map_outcome, poll_in_place, sealed};
use crate::task::context::{Cx, cx};
use crate::task::frame::{BodyFrame, Delivered, FrameRef, Payload, Place, VTable, discard};
use crate::task::located::{self, Located};
use crate::task::many::join_all;
use crate::task::origin::pack;
use crate::task::outcome::{Child, Outcome};
use crate::task::slot::Status;
use crate::task::yielding::YieldNow;

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

/// The arguments of the calls of some elements.
pub trait Supply: Send + 'static {
    /// One of them.
    type Argument: Portable;
    /// Those of each part.
    #[doc(hidden)]
    fn deal<'a>(self, parts: impl ExactSizeIterator<Item = &'a [usize]>) -> Vec<Self>
    where
        Self: Sized;
    /// The next.
    #[doc(hidden)]
    fn next(&mut self) -> Self::Argument;
    #[doc(hidden)]
    fn rest(self) -> Vec<Self::Argument>;
    #[doc(hidden)]
    fn again(rest: Vec<Self::Argument>) -> Self;
}

/// One for each.
pub struct Own<A>(std::vec::IntoIter<A>);

impl<A> Own<A> {
    pub(super) fn new(args: Vec<A>) -> Own<A> {
        Own(args.into_iter())
    }
}

impl<A: Portable> Supply for Own<A> {
    type Argument = A;

    fn deal<'a>(self, parts: impl ExactSizeIterator<Item = &'a [usize]>) -> Vec<Self> {
        if parts.len() == 1 {
            return vec![self];
        }
        let mut args: Vec<Option<A>> = self.0.map(Some).collect();
        let mut take = |index: &usize| args[*index].take().expect("each index is in one part");
        parts.map(|indices| Own::new(indices.iter().map(&mut take).collect())).collect()
    }

    #[inline]
    fn next(&mut self) -> A {
        self.0.next().unwrap_or_else(|| unreachable!("one for each"))
    }

    fn rest(self) -> Vec<A> {
        self.0.collect()
    }

    fn again(rest: Vec<A>) -> Own<A> {
        Own::new(rest)
    }
}

/// The same for all.
pub struct Same<A>(pub(super) A);

impl<A: Portable + Clone> Supply for Same<A> {
    type Argument = A;

    fn deal<'a>(self, parts: impl ExactSizeIterator<Item = &'a [usize]>) -> Vec<Self> {
        parts.map(|_| Same(self.0.clone())).collect()
    }

    #[inline]
    fn next(&mut self) -> A {
        self.0.clone()
    }

    fn rest(self) -> Vec<A> {
        vec![self.0]
    }

    fn again(mut rest: Vec<A>) -> Same<A> {
        Same(rest.pop().unwrap_or_else(|| unreachable!("the one that was written")))
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
    /// Afterwards there is no array.
    last: bool,
    place: Place,
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
        let piece = |(part, args): (usize, S)| Piece { part, portion: array.parts[part].portion, args };
        let sweeps = spread(cx, dealt.into_iter().enumerate().map(piece).collect(), way);
        let gather = move |swept: Vec<Swept<C::Output>>| {
            // In one part, or of what is nothing, the order is right already.
            if size_of::<C::Output>() == 0 || array.parts.len() == 1 {
                return swept.into_iter().flatten().flat_map(|(_, values)| values).collect();
            }
            in_order(
                array.len(),
                swept.into_iter().flatten().flat_map(|(part, values)| {
                    let indices = Arc::clone(&array.parts[part].indices);
                    values.into_iter().enumerate().map(move |(k, value)| (indices[k], value))
                }),
            )
        };
        // SAFETY: passed on.
        unsafe { map_outcome(cx, join_all(sweeps), gather) }
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
}

/// What is to be done with one part.
struct Piece<T, S> {
    part: usize,
    portion: Ref<Portion<T>>,
    args: S,
}

/// The values of parts.
type Swept<V> = Vec<(usize, Vec<V>)>;

/// The most sweeps that one node sends.
const FAN: usize = 8;

/// A sweep for what is here, and some for what is elsewhere. What is to be done here comes last: the others are under way
/// by then.
fn spread<T, S, C: Copy>(cx: Cx, mut pieces: Vec<Piece<T, S>>, way: Way<C>) -> Vec<Sweep<T, S, C>> {
    let own = pieces.iter().position(|piece| Ref::node(piece.portion) == cx.node() as usize);
    let own = own.map(|at| pieces.remove(at));
    let count = pieces.len().div_ceil(FAN);
    let mut sweeps = Vec::with_capacity(FAN + 1);
    let mut pieces = pieces.into_iter();
    while let Some(first) = pieces.next() {
        sweeps.push(Sweep { first, rest: pieces.by_ref().take(count - 1).collect(), way });
    }
    sweeps.extend(own.map(|first| Sweep { first, rest: Vec::new(), way }));
    sweeps
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
        let piece = |Piece { part, portion, args }: Piece<T, S>| (part, portion, args.rest());
        to.value(&(self.way.last, piece(self.first), self.rest.into_iter().map(piece).collect::<Vec<_>>()));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        type Read<T, S> = (usize, Ref<Portion<T>>, Vec<<S as Supply>::Argument>);
        let (last, first, rest): (bool, Read<T, S>, Vec<Read<T, S>>) = from.value()?;
        // SAFETY: this message was made with a `C`.
        let calls = unsafe { again() };
        let piece = |(part, portion, args): Read<T, S>| Piece { part, portion, args: S::again(args) };
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
            let gather = |swept: Vec<Self::Output>| swept.into_iter().flatten().collect();
            // SAFETY: passed on.
            return unsafe { map_outcome(cx, join_all(spread(cx, self.rest, self.way)), gather) };
        }
        let Piece { part, portion, args } = self.first;
        let elements = if self.way.last { Portion::take(cx, portion) } else { Portion::elements(cx, portion) };
        let values = Vec::with_capacity(elements.len());
        let body = Sweeping {
            part,
            elements,
            next: 0,
            args,
            calls: self.way.calls,
            values,
            later: Vec::new(),
            out: Vec::new(),
            turn: None,
            panic: None,
        };
        poll_in_place(Located::here(cx, body), cx, Sweeping::<T, S, C>::TABLE)
    }
}

/// The frame of a part's calls.
struct Sweeping<T, S: Supply, C: Calls<T, S::Argument>> {
    part: usize,
    elements: Arc<[Ref<T>]>,
    next: usize,
    args: S,
    calls: C,
    /// Of the first that have been called, in order.
    values: Vec<C::Output>,
    /// Of others that have ended, and whose they are.
    later: Vec<(usize, C::Output)>,
    /// Those that have not ended, and whose they are.
    out: Vec<(usize, Child<C::Task>)>,
    /// The loop is ready to go on, and waits for its turn only.
    turn: Option<Child<YieldNow>>,
    /// The first panic.
    panic: Option<Payload>,
}

impl<T, S: Supply, C: Calls<T, S::Argument>> Unpin for Sweeping<T, S, C> {}

impl<T, S: Supply, C: Calls<T, S::Argument>> Sweeping<T, S, C> {
    /// It can be ready, to go on, while some are out: it is destroyed when they have ended.
    const TABLE: &'static VTable = &VTable { cancel: Self::cancel, ..*Located::<Self>::TABLE };

    unsafe fn cancel(frame: FrameRef, cx: Cx) -> Poll<Status> {
        // SAFETY: the worker loop runs a frame exclusively.
        let sweeping = unsafe { Located::<Self>::body(frame) };
        sweeping.turn = None;
        let out = sweeping.out.iter().filter(|(_, child)| !child.ended());
        if out.inspect(|(_, child)| cx.wait_for(child.frame())).count() > 0 {
            return Poll::Pending;
        }
        // SAFETY: passed on; nothing is out.
        unsafe { BodyFrame::<Located<Self>>::cancel(frame, cx) }
    }

    /// Calls what has not been called, until the stack is to be given up; whether it is.
    fn sweep(&mut self, cx: Cx) -> bool {
        let elements = Arc::clone(&self.elements);
        for (index, &element) in elements.iter().enumerate().skip(self.next) {
            self.next = index + 1;
            let task = self.calls.task(element, self.args.next());
            // SAFETY: `cx` is the current worker's; a child is kept and waited for.
            match unsafe { call_guarded(cx, task) }.open() {
                Ok(value) => self.ended(index, value),
                Err(child) => {
                    cx.send_withheld();
                    self.out.push((index, child));
                    if cx.leaving() {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// A call has delivered its value.
    #[inline]
    fn ended(&mut self, index: usize, value: C::Output) {
        // Of what is nothing, any order is right.
        if size_of::<C::Output>() == 0 || index == self.values.len() {
            self.values.push(value);
        } else {
            self.later.push((index, value));
        }
    }

    fn panicked(&mut self, payload: Payload) {
        match self.panic {
            None => self.panic = Some(payload),
            Some(_) => discard(payload),
        }
    }
}

impl<T, S: Supply, C: Calls<T, S::Argument>> Future for Sweeping<T, S, C> {
    type Output = Swept<C::Output>;
    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<Self::Output> {
        // SAFETY: a body is polled by a worker; used within this poll.
        let cx = unsafe { cx() };
        let this = &mut *self;
        this.turn = None;
        if this.panic.is_none() {
            // A panic waits for those that are out, and ends the calling.
            match catch_unwind(AssertUnwindSafe(|| this.sweep(cx))) {
                Ok(false) => {}
                // Behind the call that has left the stack it goes on with the others, which that may wait for.
                Ok(true) => {
                    let turn = BodyFrame::make(cx, ready(()));
                    cx.make_ready(turn);
                    cx.wait_for(turn);
                    this.turn = Some(Child::new(turn));
                    return Poll::Pending;
                }
                Err(payload) => this.panicked(pack(payload)),
            }
        }
        for (index, child) in this.out.extract_if(.., |(_, child)| child.ended()).collect::<Vec<_>>() {
            match child.deliver() {
                Delivered::Value(value) => this.ended(index, value),
                Delivered::Panic(payload) => this.panicked(payload),
                Delivered::Cancelled => this.panicked(Box::new("a call of an array's element was cancelled")),
            }
        }
        if !this.out.is_empty() {
            this.out.iter().for_each(|(_, child)| cx.wait_for(child.frame()));
            return Poll::Pending;
        }
        if let Some(payload) = this.panic.take() {
            resume_unwind(payload);
        }
        let (mut values, later) = (std::mem::take(&mut this.values), std::mem::take(&mut this.later));
        if !later.is_empty() {
            values = in_order(this.elements.len(), values.into_iter().enumerate().chain(later));
        }
        Poll::Ready(vec![(this.part, values)])
    }
}
