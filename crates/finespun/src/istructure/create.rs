//! Creation of an array on all nodes, and its end.
//!
//! Node 0 does both: it assigns the numbers, sends messages to the other nodes, and counts their answers.
//!
//! ```text
//!   node 0                                       every other node
//!   number assigned, made here --- CreateMessage -------> made
//!   all made: handle to the caller <---- Acknowledged
//!
//!   ended here, if present --- FreeMessage ------------> ended: tasks that wait there panic
//!   all ended: the number is free <----- Acknowledged
//! ```
//!
//! So every node knows an array before a handle to it exists, and no message arrives at a node that does not know its
//! array yet. An array is freed once, and its number is reused only after no node knows it any more. If the calling
//! task is cancelled in between, the protocol continues without it, and an array without a handle is freed.

use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;

use serde::{Deserialize, Serialize};
use zerocopy::{FromBytes, Immutable, IntoBytes};

use super::plain::PlainData;
use super::shape::Shape;
use super::{Cache, IArray};
use crate::call::located;
use crate::call::outcome::Outcome;
use crate::call::{Task, call_async, sealed};
use crate::frame::context::Cx;
use crate::frame::{CallSite, FrameRef, Payload, quietly};
use crate::message::packet::Handler;
use crate::message::wire::{Reader, Unreadable, Wire, Writer};
use crate::object::array_table::{ArrayTable, MOST, is_word};
use crate::object::error::{read_payload, write_payload};
use crate::object::host::Nodes;
use crate::object::remote::{Work, at_home};
use crate::run::continuation::Continuation;
use crate::wait::suspend::suspend_at;

/// A type of array that can be made on all nodes.
pub trait Creates: Sized + 'static {
    /// The type of the handle.
    type Handle: Copy + Send + 'static;
}

/// The operations that differ between the types of arrays.
pub(crate) trait Kind: Creates {
    /// The type of the elements.
    type Element;
    /// Returns the type's name.
    fn name() -> String;
    /// Makes the handle for an array's word.
    fn of(word: u64) -> Self::Handle;
    /// Adds the array to `node`.
    fn add(word: u64, settings: Settings, node: u32, arrays: &ArrayTable) -> Result<(), Payload>;
}

/// The settings of an array, which every node receives.
#[derive(Clone, Serialize, Deserialize)]
pub(crate) struct Settings {
    pub(super) len: usize,
    pub(super) shape: Shape,
    pub(super) cache: Cache,
    pub(super) counted: bool,
    /// The source location that makes the array.
    pub(super) made: Box<str>,
}

impl Settings {
    /// Returns whether an array can have these settings, with elements of this kind over `nodes` nodes.
    fn fit<A: Kind>(&self, nodes: usize) -> bool {
        /// Arithmetic with indices does not overflow.
        const LONGEST: usize = 1 << 48;
        let bytes = self.len.checked_mul(size_of::<A::Element>().max(1)).filter(|_| self.len <= LONGEST);
        let cache = match self.cache {
            Cache::On { block, capacity } => block.is_power_of_two() && capacity > 0,
            Cache::Off | Cache::Auto => true,
        };
        bytes.is_some_and(|bytes| bytes <= isize::MAX as usize) && cache && self.shape.fits(self.len, nodes)
    }
}

/// The task that [`IArray::create`] and [`MArray::create`](super::MArray::create) make.
#[must_use = "nothing is made until this is awaited"]
pub struct Creating<A> {
    settings: Settings,
    /// Number of nodes that the layout names: the largest one plus 1.
    nodes: usize,
    place: CallSite,
    of: PhantomData<fn() -> A>,
}

impl<A> Creating<A> {
    pub(super) fn new(len: usize, layout: impl Fn(usize) -> usize, place: CallSite) -> Creating<A>
    where
        A: Kind,
    {
        assert!(
            len.checked_mul(size_of::<A::Element>().max(1)).is_some_and(|bytes| bytes <= isize::MAX as usize),
            "an `{}` of {len} elements has more than {} bytes, at {place}",
            A::name(),
            isize::MAX
        );
        let (shape, nodes) = Shape::of(len, layout);
        let settings = Settings { len, shape, cache: Cache::Off, counted: false, made: place.to_string().into() };
        Creating { settings, nodes, place, of: PhantomData }
    }
}

impl<T, A: Creates<Handle = IArray<T>>> Creating<A> {
    /// Sets how nodes keep elements that they have read from others. Default: [`Cache::Off`].
    ///
    /// # Panics
    /// If the number of elements in a block is not a power of two, or the capacity is 0.
    #[track_caller]
    pub fn cached(mut self, cache: Cache) -> Creating<A> {
        if let Cache::On { block, capacity } = cache {
            assert!(
                block.is_power_of_two(),
                "the elements of a cache's block are a power of two: this says block {block}"
            );
            assert!(capacity > 0, "a cache keeps at least one block: this says capacity 0; for none say `Cache::Off`");
        }
        self.settings.cache = cache;
        self
    }

    /// Counts the array's reads, for [`IArray::counts`]. A read then costs some 50 instructions more.
    pub fn counted(mut self) -> Creating<A> {
        self.settings.counted = true;
        self
    }
}

impl<T> Creating<IArray<T>> {
    /// Sends elements between nodes as their bytes in memory instead of by serde. Numbers are always sent so; this is
    /// for structs and arrays of numbers. The required traits come from the crate `zerocopy`, which derives them.
    ///
    /// ```
    /// use finespun::istructure::IArray;
    /// use finespun::layout;
    /// use finespun::prelude::*;
    /// use finespun::testing::*;
    ///
    /// #[task]
    /// async fn last_corner(len: usize) -> [f64; 3] {
    ///     let corners = IArray::create(len, layout::cyclic(nodes())).plain().await;
    ///     for index in 0..len {
    ///         corners.put(index, [index as f64, 0.5, 0.0]).await;
    ///     }
    ///     corners.get(len - 1).await
    /// }
    /// # let runtime = Runtime::builder().workers(1).nodes(2).encode(true).build().unwrap();
    /// assert_eq!(runtime.run(last_corner(8)), [7.0, 0.5, 0.0]);
    /// ```
    pub fn plain(self) -> Creating<PlainData<T>>
    where
        T: FromBytes + IntoBytes + Immutable,
    {
        let Creating { settings, nodes, place, .. } = self;
        Creating { settings, nodes, place, of: PhantomData }
    }
}

impl<A> sealed::Sealed for Creating<A> {}
impl<A: Kind> Task for Creating<A> {
    type Output = A::Handle;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<A::Handle> {
        let Creating { settings, nodes, place, .. } = self;
        let count = Nodes::of(cx).count();
        assert!(
            nodes <= count as usize,
            "the layout of an `{}` names node {}: this runtime has {count} nodes; set a larger number by `Builder::nodes`",
            A::name(),
            nodes.saturating_sub(1)
        );
        let making = CreateWork::<A> { settings, of: PhantomData };
        // SAFETY: awaited at once in a task's body, as `call_async` demands.
        let body = async move { A::of(unsafe { call_async(AtHome(making, place)) }.await) };
        located::poll_here(body, cx)
    }

    /// Starts as a located frame on this worker: a thief would send the messages by another route.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// The task that [`IArray::free`] and [`MArray::free`](super::MArray::free) make.
#[must_use = "nothing is freed until this is awaited"]
pub struct Freeing<A> {
    array: A,
    word: u64,
    place: CallSite,
}

impl<A> Freeing<A> {
    pub(super) fn new(array: A, word: u64, place: CallSite) -> Freeing<A> {
        Freeing { array, word, place }
    }
}

impl<A> sealed::Sealed for Freeing<A> {}
impl<A: fmt::Debug + Copy + Send + 'static> Task for Freeing<A> {
    type Output = ();
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        let Freeing { array, word, place } = self;
        let body = async move {
            // SAFETY: awaited at once in a task's body, as `call_async` demands.
            if !unsafe { call_async(AtHome(FreeWork(word), place)) }.await {
                panic!("{array:?} has been freed, or belongs to another runtime: it is freed at {place}");
            }
        };
        located::poll_here(body, cx)
    }

    /// Starts as a located frame on this worker: a thief would send the messages by another route.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// A task that does work at the work's node.
struct AtHome<W>(W, CallSite);

impl<W> sealed::Sealed for AtHome<W> {}
impl<W: Work> Task for AtHome<W> {
    type Output = W::Output;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<W::Output> {
        // SAFETY: the caller guarantees the call protocol.
        unsafe { at_home(cx, self.0, self.1) }
    }

    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// Work by which node 0 makes an array.
struct CreateWork<A> {
    settings: Settings,
    of: PhantomData<fn() -> A>,
}

impl<A> Clone for CreateWork<A> {
    fn clone(&self) -> CreateWork<A> {
        CreateWork { settings: self.settings.clone(), of: PhantomData }
    }
}

impl<A: Kind> CreateWork<A> {
    /// Adds the array to `node`.
    fn at(self, cx: Cx, word: u64, node: u32) -> Result<(), Payload> {
        let (nodes, len) = (Nodes::of(cx), self.settings.len);
        let arrays = &nodes.table(node).arrays;
        let fits = self.settings.fit::<A>(nodes.count() as usize) && is_word(word);
        if let Some(forged) = arrays.same_number(word).filter(|_| fits) {
            // Node 0 knows no array with this number.
            end_at(cx, forged, node);
        }
        if !(fits && super::remember::<A::Handle>(word, len)) {
            return Err(Payload::new(format!("a forged message makes an `{}` at node {node}", A::name())));
        }
        A::add(word, self.settings, node, arrays).inspect_err(|_| super::forget_part(word))?;
        nodes.added(cx, node);
        Ok(())
    }
}

impl<A: Kind> Wire for CreateWork<A> {
    fn write(self, to: &mut Writer) {
        to.value(&self.settings);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        Ok(CreateWork { settings: from.value()?, of: PhantomData })
    }
}

impl<A: Kind> Work for CreateWork<A> {
    type Output = u64;

    fn node(&self) -> u32 {
        0
    }

    unsafe fn run(self, cx: Cx) -> Outcome<u64> {
        let nodes = Nodes::of(cx);
        let arrays = &nodes.table(0).arrays;
        let word = arrays.give_number().unwrap_or_else(|| panic!("there are {MOST} arrays already: free one first"));
        if let Err(payload) = self.clone().at(cx, word, 0) {
            arrays.take_number(word);
            payload.resume();
        }
        let others = nodes.count() - 1;
        if others == 0 {
            // SAFETY: returned as the outcome of `Work::run`, as the call protocol demands.
            return unsafe { Outcome::done(word) };
        }
        let wait = suspend_at(Location::caller(), |k: Continuation<u64>| {
            let made = move |cx: Cx, refused: Option<Payload>| {
                let refused = match refused {
                    None => k.complete(Ok(word)).is_err(),
                    Some(payload) => {
                        quietly(|| k.end(Err(payload)));
                        true
                    }
                };
                if refused {
                    // No task has received the handle.
                    end(cx, word, || {});
                }
            };
            arrays.await_others(word, others, Box::new(made));
            for node in 1..=others {
                nodes.send(cx, nodes.worker_of(node), CreateMessage { making: self.clone(), word, node });
            }
        });
        // SAFETY: the caller guarantees the call protocol.
        unsafe { wait.call(cx) }
    }
}

/// The message by which another node makes an array.
struct CreateMessage<A> {
    making: CreateWork<A>,
    word: u64,
    node: u32,
}

impl<A: Kind> Handler for CreateMessage<A> {
    fn bytes_elsewhere(&self) -> usize {
        0
    }

    fn handle(self, cx: Cx) {
        let refused = self.making.at(cx, self.word, self.node).err();
        Nodes::of(cx).send(cx, 0, Acknowledged { word: self.word, refused });
    }

    fn write(self, to: &mut Writer) -> bool {
        self.making.write(to);
        to.value(&(self.word, self.node));
        true
    }

    fn arrive(mut from: Reader<'_>, cx: Option<Cx>) {
        let making = CreateWork::<A>::read(&mut from);
        let (Ok(making), Some((word, node)), Some(cx)) = (making, from.header(), cx) else { return };
        if node > 0 && Nodes::of(cx).hosts(node) {
            CreateMessage { making, word, node }.handle(cx);
        }
    }
}

/// Work by which node 0 frees an array. Returns false if it does not exist.
struct FreeWork(u64);

impl Wire for FreeWork {
    fn write(self, to: &mut Writer) {
        to.value(&self.0);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        Ok(FreeWork(from.value()?))
    }
}

impl Work for FreeWork {
    type Output = bool;

    fn node(&self) -> u32 {
        0
    }

    unsafe fn run(self, cx: Cx) -> Outcome<bool> {
        let (nodes, word) = (Nodes::of(cx), self.0);
        let arrays = &nodes.table(0).arrays;
        // While an array is being made, nobody knows its handle.
        if arrays.find(word).is_none() || arrays.is_out(word) {
            // SAFETY: returned as the outcome of `Work::run`, as the call protocol demands.
            return unsafe { Outcome::done(false) };
        }
        if nodes.count() == 1 {
            end(cx, word, || {});
            // SAFETY: returned as the outcome of `Work::run`, as the call protocol demands.
            return unsafe { Outcome::done(true) };
        }
        let wait = suspend_at(Location::caller(), |k: Continuation<bool>| end(cx, word, || k.resolve(true)));
        // SAFETY: the caller guarantees the call protocol.
        unsafe { wait.call(cx) }
    }
}

/// Ends an array that exists at node 0, and calls `then` when no node knows it any more.
fn end(cx: Cx, word: u64, then: impl FnOnce() + 'static) {
    let nodes = Nodes::of(cx);
    end_at(cx, word, 0);
    let others = nodes.count() - 1;
    if others == 0 {
        nodes.table(0).arrays.take_number(word);
        return then();
    }
    let ended = move |cx: Cx, _: Option<Payload>| {
        Nodes::of(cx).table(0).arrays.take_number(word);
        then();
    };
    nodes.table(0).arrays.await_others(word, others, Box::new(ended));
    for node in 1..=others {
        nodes.send(cx, nodes.worker_of(node), FreeMessage { word, node });
    }
}

/// Removes an array from a node, if the node knows it.
fn end_at(cx: Cx, word: u64, node: u32) {
    if let Some(kept) = Nodes::of(cx).table(node).arrays.remove(word) {
        kept.choice().into_iter().for_each(|choice| Nodes::of(cx).choices().add(choice));
        kept.on_free();
    }
}

/// The message by which another node ends an array.
struct FreeMessage {
    word: u64,
    node: u32,
}

impl Handler for FreeMessage {
    fn bytes_elsewhere(&self) -> usize {
        0
    }

    fn handle(self, cx: Cx) {
        let _left = cx.leave_tasks();
        end_at(cx, self.word, self.node);
        Nodes::of(cx).send(cx, 0, Acknowledged { word: self.word, refused: None });
    }

    fn write(self, to: &mut Writer) -> bool {
        to.value(&(self.word, self.node));
        true
    }

    fn arrive(mut from: Reader<'_>, cx: Option<Cx>) {
        let (Some((word, node)), Some(cx)) = (from.header(), cx) else { return };
        // Node 0 does not send this message to itself.
        if node > 0 && Nodes::of(cx).hosts(node) {
            FreeMessage { word, node }.handle(cx);
        }
    }
}

/// The answer of a node to node 0: it has made or ended an array, or cannot make it.
struct Acknowledged {
    word: u64,
    refused: Option<Payload>,
}

impl Handler for Acknowledged {
    fn bytes_elsewhere(&self) -> usize {
        0
    }

    fn handle(self, cx: Cx) {
        if let Some((then, refused)) = Nodes::of(cx).table(0).arrays.reached(self.word, self.refused) {
            then(cx, refused);
        }
    }

    fn write(self, to: &mut Writer) -> bool {
        to.value(&(self.word, self.refused.is_some()));
        if let Some(payload) = self.refused {
            write_payload(payload, to);
        }
        true
    }

    fn arrive(mut from: Reader<'_>, cx: Option<Cx>) {
        let Some((word, refused)) = from.header() else { return };
        let refused = if refused { Some(read_payload(&mut from)) } else { None };
        if let Some(cx) = cx.filter(|cx| Nodes::of(*cx).hosts(0)) {
            Acknowledged { word, refused }.handle(cx);
        }
    }
}
