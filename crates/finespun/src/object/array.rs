//! Arrays of objects, spread over the nodes.
//!
//! Each node has a *part*: the objects that are there, in the order of their indices. What is done to all elements is one
//! message to each part, which calls its own objects one after the other on its stack (the papers' data-parallel structure:
//! hybrid-execution-model, section 2). An element whose call suspends becomes a frame, and the part goes on with the next;
//! so all that waits does so at once, and the part restarts when the last has ended.

use std::future::{Future, ready};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context as StdContext, Poll};

use super::Portable;
use super::class::Class;
use super::host::Nodes;
use super::reference::{Object, Ref};
use super::remote::{self, Work};
use crate::task::call::{Task, call_guarded, map_outcome, poll_in_place, sealed};
use crate::task::context::{Cx, cx};
use crate::task::frame::{BodyFrame, Delivered, FrameRef, Payload, Place, VTable, discard};
use crate::task::located::{self, Located};
use crate::task::many::join_all;
use crate::task::origin::pack;
use crate::task::outcome::{Child, Outcome};
use crate::task::slot::Status;
use crate::task::suspend::Continuation;
use crate::task::yielding::YieldNow;

/// Objects of type `T`, by index, each on the node that a layout says. A handle: the objects live until they are freed, or
/// their runtime ends.
pub struct Array<T> {
    /// By index.
    elements: Arc<[Ref<T>]>,
    /// The nodes that have elements, and which.
    parts: Arc<[Part<T>]>,
}

/// What one node has of an array.
struct Part<T> {
    node: u32,
    /// Ascending.
    indices: Arc<[usize]>,
    elements: Arc<[Ref<T>]>,
}

impl<T> Clone for Array<T> {
    fn clone(&self) -> Array<T> {
        Array { elements: Arc::clone(&self.elements), parts: Arc::clone(&self.parts) }
    }
}

impl<T: Object> Array<T> {
    /// Makes `len` objects: the `i`th on node `layout(i)`, by `make(i, arguments)`, which runs there and captures nothing.
    ///
    /// # Panics
    /// If the layout names a node that does not exist; with the panic of `make`.
    #[track_caller]
    pub fn create<A, F>(len: usize, layout: impl Fn(usize) -> usize, make: F, args: A) -> Creating<T, A, F>
    where
        A: Portable + Clone,
        F: Fn(usize, &A) -> T + Copy + Send + 'static,
    {
        const { assert!(size_of::<F>() == 0, "what makes objects elsewhere captures nothing: give it arguments") };
        let mut nodes: Vec<Vec<usize>> = Vec::new();
        for index in 0..len {
            let node = layout(index);
            assert!(node < 1 << 16, "the layout of an array names node {node}: there are 65536 nodes at most");
            if node >= nodes.len() {
                nodes.resize(node + 1, Vec::new());
            }
            nodes[node].push(index);
        }
        Creating { len, nodes, make, args, place: Location::caller(), object: PhantomData }
    }

    /// The number of objects.
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    /// The object of that index.
    ///
    /// # Panics
    /// If there is none.
    pub fn get(&self, index: usize) -> Ref<T> {
        self.elements[index]
    }

    /// All of them, by index.
    pub fn elements(&self) -> &[Ref<T>] {
        &self.elements
    }

    /// Calls `call` for every object, at its home, and delivers what they deliver, by index:
    /// `points.each(|point| point.compute())`. `call` captures nothing; arguments go by [`each_with`](Array::each_with).
    ///
    /// One message to each node, and one restart of the caller. A node's own objects are called in the order of their
    /// indices; if one is suspended, the next is called.
    ///
    /// # Panics
    /// With the first panic of a call, when all have ended.
    #[track_caller]
    pub fn each<F, Tk>(&self, call: F) -> Each<T, (), impl Calls<T, (), Output = Tk::Output> + use<T, F, Tk>>
    where
        F: Fn(Ref<T>) -> Tk + Copy + Send + 'static,
        Tk: Task + 'static,
        Tk::Output: Portable,
    {
        const { assert!(size_of::<F>() == 0, "what is called elsewhere captures nothing: use `each_with`") };
        let calls = move |element, ()| call(element);
        Each { array: self.clone(), args: Args::Same(|| ()), calls, place: Location::caller() }
    }

    /// The same with an argument for each object, by index.
    ///
    /// # Panics
    /// If there are not as many arguments as objects, and as [`each`](Array::each).
    #[track_caller]
    pub fn each_with<A, F, Tk>(
        &self,
        args: Vec<A>,
        call: F,
    ) -> Each<T, A, impl Calls<T, A, Output = Tk::Output> + use<T, A, F, Tk>>
    where
        A: Portable,
        F: Fn(Ref<T>, A) -> Tk + Copy + Send + 'static,
        Tk: Task + 'static,
        Tk::Output: Portable,
    {
        const { assert!(size_of::<F>() == 0, "what is called elsewhere captures nothing: use `each_with`") };
        assert_eq!(args.len(), self.len(), "an array takes one argument for each of its objects");
        Each { array: self.clone(), args: Args::Own(args), calls: call, place: Location::caller() }
    }
}

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
enum Args<A> {
    /// One for each.
    Own(Vec<A>),
    /// The same for all.
    Same(fn() -> A),
}

/// The task that [`Array::each`] makes.
#[must_use = "nothing is called until this is awaited"]
pub struct Each<T, A, C> {
    array: Array<T>,
    args: Args<A>,
    calls: C,
    place: Place,
}

impl<T, A, C> sealed::Sealed for Each<T, A, C> {}
impl<T: Object, A: Portable, C: Calls<T, A>> Task for Each<T, A, C> {
    type Output = Vec<C::Output>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Vec<C::Output>> {
        let Each { array, args, calls, place } = self;
        let parts = Arc::clone(&array.parts);
        let sweep = |(index, args): (usize, Args<A>)| {
            let part = &parts[index];
            Sweep { part: index, node: part.node, elements: Arc::clone(&part.elements), args, calls, place }
        };
        let mut sweeps: Vec<_> = args.deal(&parts).into_iter().enumerate().map(sweep).collect();
        // What is to be done here comes last: the others are under way by then.
        sweeps.sort_by_key(|sweep| sweep.node == cx.node());
        let gather = move |swept: Vec<(usize, Vec<C::Output>)>| {
            // In one part, or of what is nothing, the order is right already.
            if size_of::<C::Output>() == 0 || swept.len() == 1 {
                return swept.into_iter().flat_map(|(_, values)| values).collect();
            }
            in_order(
                array.len(),
                swept.into_iter().flat_map(|(part, values)| {
                    let indices = Arc::clone(&array.parts[part].indices);
                    values.into_iter().enumerate().map(move |(k, value)| (indices[k], value))
                }),
            )
        };
        // SAFETY: passed on.
        unsafe { map_outcome(cx, join_all(sweeps), gather) }
    }
}

impl<A> Args<A> {
    /// Those of each part.
    fn deal<T>(self, parts: &[Part<T>]) -> Vec<Args<A>> {
        match self {
            Args::Same(make) => parts.iter().map(|_| Args::Same(make)).collect(),
            Args::Own(args) if parts.len() == 1 => vec![Args::Own(args)],
            Args::Own(args) => {
                let mut args: Vec<Option<A>> = args.into_iter().map(Some).collect();
                let mut take = |index: &usize| args[*index].take().expect("each index is in one part");
                parts.iter().map(|part| Args::Own(part.indices.iter().map(&mut take).collect())).collect()
            }
        }
    }
}

/// Values by index, of all indices below `len`.
fn in_order<V>(len: usize, values: impl Iterator<Item = (usize, V)>) -> Vec<V> {
    let mut all: Vec<Option<V>> = Vec::new();
    all.resize_with(len, || None);
    for (index, value) in values {
        all[index] = Some(value);
    }
    all.into_iter().map(|value| value.expect("each index once")).collect()
}

/// The calls of one part.
struct Sweep<T, A, C> {
    part: usize,
    node: u32,
    elements: Arc<[Ref<T>]>,
    args: Args<A>,
    calls: C,
    place: Place,
}

impl<T, A, C> sealed::Sealed for Sweep<T, A, C> {}
impl<T: Object, A: Portable, C: Calls<T, A>> Task for Sweep<T, A, C> {
    type Output = (usize, Vec<C::Output>);
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Self::Output> {
        if self.node == cx.node() {
            // SAFETY: passed on; here.
            return unsafe { self.run(cx) };
        }
        let place = self.place;
        // SAFETY: passed on.
        unsafe { remote::request(cx, self, place, |k: Continuation<Self::Output>| k) }
    }

    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

impl<T: Object, A: Portable, C: Calls<T, A>> Work for Sweep<T, A, C> {
    type Output = (usize, Vec<C::Output>);

    fn node(&self) -> u32 {
        self.node
    }

    unsafe fn run(self, cx: Cx) -> Outcome<Self::Output> {
        let Sweep { part, elements, args, calls, .. } = self;
        let (args, same) = match args {
            Args::Own(args) => (args.into_iter(), None),
            Args::Same(same) => (Vec::new().into_iter(), Some(same)),
        };
        let values = Vec::with_capacity(elements.len());
        let body = Sweeping {
            part,
            elements,
            next: 0,
            args,
            same,
            calls,
            values,
            later: Vec::new(),
            out: Vec::new(),
            turn: None,
            panic: None,
        };
        poll_in_place(Located::here(cx, body), cx, Sweeping::<T, A, C>::TABLE)
    }
}

/// The frame of a part's calls.
struct Sweeping<T, A, C: Calls<T, A>> {
    part: usize,
    elements: Arc<[Ref<T>]>,
    next: usize,
    args: std::vec::IntoIter<A>,
    same: Option<fn() -> A>,
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

impl<T, A, C: Calls<T, A>> Unpin for Sweeping<T, A, C> {}

impl<T, A, C: Calls<T, A>> Sweeping<T, A, C> {
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
        while self.next < self.elements.len() {
            let argument = match self.same {
                Some(same) => same(),
                None => self.args.next().unwrap_or_else(|| unreachable!("one for each")),
            };
            let index = self.next;
            self.next += 1;
            let task = self.calls.task(self.elements[index], argument);
            // SAFETY: `cx` is the current worker's; a child is kept and waited for.
            match unsafe { call_guarded(cx, task) }.open() {
                Ok(value) => self.ended(index, value),
                Err(child) => {
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

impl<T, A, C: Calls<T, A>> Future for Sweeping<T, A, C> {
    type Output = (usize, Vec<C::Output>);
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
        Poll::Ready((this.part, values))
    }
}

/// The task that makes the objects of an array.
#[must_use = "nothing is made until this is awaited"]
pub struct Creating<T, A, F> {
    len: usize,
    /// The indices of each node.
    nodes: Vec<Vec<usize>>,
    make: F,
    args: A,
    place: Place,
    object: PhantomData<fn() -> T>,
}

impl<T, A, F> sealed::Sealed for Creating<T, A, F> {}
impl<T, A, F> Task for Creating<T, A, F>
where
    T: Object,
    A: Portable + Clone,
    F: Fn(usize, &A) -> T + Copy + Send + 'static,
{
    type Output = Array<T>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Array<T>> {
        let Creating { len, nodes, make, args, place, object } = self;
        let count = Nodes::of(cx).count() as usize;
        assert!(
            nodes.len() <= count,
            "the layout of an array names node {}: this runtime has {count} nodes; say more by `Builder::nodes`",
            nodes.len().saturating_sub(1)
        );
        let maker = |(node, indices): (usize, Vec<usize>)| {
            let indices: Arc<[usize]> = indices.into();
            Making { node: node as u32, indices, make, args: args.clone(), place, object }
        };
        let makers = nodes.into_iter().enumerate().filter(|(_, indices)| !indices.is_empty()).map(maker);
        let makers: Vec<_> = makers.collect();
        let gather = move |parts: Vec<Part<T>>| {
            let mut elements: Vec<Option<Ref<T>>> = vec![None; len];
            for part in &parts {
                for (&index, &element) in part.indices.iter().zip(part.elements.iter()) {
                    elements[index] = Some(element);
                }
            }
            let elements = elements.into_iter().map(|element| element.expect("each index is on one node")).collect();
            Array { elements, parts: parts.into() }
        };
        // SAFETY: passed on.
        unsafe { map_outcome(cx, join_all(makers), gather) }
    }
}

/// Makes one part.
struct Making<T, A, F> {
    node: u32,
    indices: Arc<[usize]>,
    make: F,
    args: A,
    place: Place,
    object: PhantomData<fn() -> T>,
}

impl<T, A, F> sealed::Sealed for Making<T, A, F> {}
impl<T, A, F> Task for Making<T, A, F>
where
    T: Object,
    A: Portable,
    F: Fn(usize, &A) -> T + Copy + Send + 'static,
{
    type Output = Part<T>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Part<T>> {
        if self.node == cx.node() {
            // SAFETY: passed on; here.
            return unsafe { self.run(cx) };
        }
        let place = self.place;
        // SAFETY: passed on.
        unsafe { remote::request(cx, self, place, |k: Continuation<Part<T>>| k) }
    }

    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

impl<T, A, F> Work for Making<T, A, F>
where
    T: Object,
    A: Portable,
    F: Fn(usize, &A) -> T + Copy + Send + 'static,
{
    type Output = Part<T>;

    fn node(&self) -> u32 {
        self.node
    }

    unsafe fn run(self, cx: Cx) -> Outcome<Part<T>> {
        let Making { node, indices, make, args, .. } = self;
        let (nodes, class) = (Nodes::of(cx), Class::of::<T>());
        let insert = |&index: &usize| {
            let name = nodes.table(node).insert_value(class, make(index, &args));
            // At once: the next `make` may panic.
            nodes.added(cx, node);
            Ref::new(name)
        };
        let elements = indices.iter().map(insert).collect();
        // SAFETY: the call protocol.
        unsafe { Outcome::done(Part { node, indices, elements }) }
    }
}
