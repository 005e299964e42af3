//! Getting and putting an element.

use std::any::type_name;
use std::fmt;

use super::IArray;
use super::auto::{Part, Section};
use super::directory::Directory;
use super::lines::{Spot, Wanted};
use super::messages::{Ask, Elements, Putting, Reading};
use super::store::Store;
use super::writers::Writer;
use crate::closure::{Cont, send_argument};
use crate::object::Portable;
use crate::object::host::Nodes;
use crate::object::remote::{at_home, request};
use crate::object::seats::Seat;
use crate::task::call::{Task, call_after_trip, call_async, sealed};
use crate::task::context::{Cx, try_cx};
use crate::task::frame::{FrameRef, Place};
use crate::task::located;
use crate::task::outcome::Outcome;
use crate::task::spawn::spawn;
use crate::task::suspend::{Continuation, suspend_at};

impl<T: Portable + Clone> IArray<T> {
    /// The array's line at the node that this code runs at.
    #[inline(always)]
    pub(super) fn seat<'a>(self, cx: Cx) -> Option<&'a Seat> {
        let lines = cx.context().here.arrays.get();
        // SAFETY: a handle's lower half is the distance of one of the lines, of which every node has as many; the line is gone when
        // the node is, whose worker runs this.
        let seat = unsafe { &*lines.byte_add(self.word as u32 as usize).cast::<Seat>() };
        (seat.word.get() == self.word).then_some(seat)
    }

    /// What is behind a line.
    ///
    /// # Safety
    /// The line is this array's; the store is used before anything can free the array.
    pub(super) unsafe fn store<'a>(seat: &Seat) -> &'a Store<T> {
        // SAFETY: a word is one array's, whose elements are `T`s: handles of other types are not made of it.
        unsafe { &*seat.kept.get().cast::<Store<T>>() }
    }
}

impl<T> IArray<T> {
    /// # Panics
    /// Always.
    pub(super) fn gone(self, what: impl fmt::Display, place: impl fmt::Display) -> ! {
        panic!(
            "{what} of an `IArray<{}>` that has been freed, or belongs to another runtime, at {place}",
            type_name::<T>()
        )
    }
}

/// The task that [`IArray::get`] makes.
#[must_use = "nothing is read until this is awaited"]
pub struct Get<T> {
    array: IArray<T>,
    index: usize,
    place: Place,
}

impl<T> Get<T> {
    #[inline(always)]
    pub(super) fn new(array: IArray<T>, index: usize, place: Place) -> Get<T> {
        Get { array, index, place }
    }
}

impl<T> sealed::Sealed for Get<T> {}
impl<T: Portable + Clone> Task for Get<T> {
    type Output = T;
    const STRAIGHT: bool = false;

    #[inline(always)]
    unsafe fn call(self, cx: Cx) -> Outcome<T> {
        let Get { array, index, place } = self;
        if let Some(seat) = array.seat(cx) {
            if index >= seat.first.get() && index < seat.end.get() {
                // SAFETY: the elements from `first` up to `end` have been written.
                let value = unsafe { &*seat.elements.get().cast::<T>().wrapping_add(index) };
                // SAFETY: the call protocol.
                return unsafe { Outcome::done(value.clone()) };
            }
            unlikely();
            // SAFETY: the store has set the directory, which is this array's at this node, and the base is used at once.
            let base = unsafe { Directory::base::<T>(seat.directory.get().cast(), index) };
            // Not a reference in an `Option`: it would be compared with null a second time.
            if !base.is_null() {
                // SAFETY: the base is of elements in the cache, of which this is one.
                let value = unsafe { &*base.wrapping_add(index) };
                // SAFETY: the call protocol.
                return unsafe { Outcome::done(value.clone()) };
            }
        }
        get(array, index, place, cx).opaque()
    }

    #[inline(always)]
    unsafe fn call_guarded(self, cx: Cx) -> Outcome<T> {
        if cx.trips() {
            return get_tripped(self.array, self.index, self.place, cx).opaque();
        }
        // SAFETY: passed on.
        unsafe { self.call(cx) }
    }

    /// At this node, whose element it may be.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// Keeps the way that is not this one short.
#[cold]
#[inline(always)]
fn unlikely() {}

/// A get whose guard check has tripped.
#[cold]
#[inline(never)]
fn get_tripped<T: Portable + Clone>(array: IArray<T>, index: usize, place: Place, cx: Cx) -> Outcome<T> {
    call_after_trip(cx, Get { array, index, place })
}

/// A copy of an element, if there is one at this node; then it is counted as read.
fn known<T: Portable + Clone>(store: &Store<T>, seat: &Seat, (home, at): Spot) -> Option<T> {
    let here = home == store.node;
    let value = if here { store.get(seat, at).cloned() } else { store.cached((home, at)) }?;
    store.count(|counts| {
        counts.local += u64::from(here);
        counts.remote += u64::from(!here);
        counts.hits += u64::from(!here);
    });
    Some(value)
}

/// Sends an element to a closure: at once if there is a copy at this node, else by a task that gets it.
pub(super) fn send<T: Portable + Clone>(array: IArray<T>, index: usize, to: Cont<T>, place: Place) {
    let Some(cx) = try_cx() else { panic!("`send` of an element was called outside a task, at {place}") };
    if let Some(seat) = array.seat(cx) {
        // SAFETY: this array's line; nothing frees it here.
        let store = unsafe { IArray::<T>::store(seat) };
        let spot = store.locate(index, place);
        if let Some(value) = known(store, seat, spot).filter(|_| !cx.block_now()) {
            return send_argument(value, to);
        }
    }
    drop(spawn(Sending { get: Get { array, index, place }, to }));
}

/// The task that gets an element for a closure.
struct Sending<T> {
    get: Get<T>,
    to: Cont<T>,
}

impl<T> sealed::Sealed for Sending<T> {}
impl<T: Portable + Clone> Task for Sending<T> {
    type Output = ();
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        let Sending { get, to } = self;
        // SAFETY: awaited at once.
        let body = async move { send_argument(unsafe { call_async(get) }.await, to) };
        located::poll_here(body, cx)
    }

    /// By this worker, as the get would be.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// An element that is not a load away.
#[cold]
#[inline(never)]
fn get<T: Portable + Clone>(array: IArray<T>, index: usize, place: Place, cx: Cx) -> Outcome<T> {
    let Some(seat) = array.seat(cx) else {
        let nodes = Nodes::of(cx);
        let node = nodes.here(cx);
        if node == cx.node() {
            array.gone(format_args!("a get of element {index}"), place);
        }
        // This worker has no node: another one's reads.
        // SAFETY: the call protocol.
        return unsafe { request(cx, Reading { node, array, index, reader: Writer::Here(place) }, place) };
    };
    // SAFETY: this array's line; a wait only begins here.
    let store = unsafe { IArray::<T>::store(seat) };
    let (home, at) = store.locate(index, place);
    let here = home == store.node;
    if let Some(value) = known(store, seat, (home, at)) {
        // SAFETY: the call protocol.
        return unsafe { Outcome::done(value) };
    }
    store.count(|counts| {
        counts.local += u64::from(here);
        counts.remote += u64::from(!here);
    });
    let wait = suspend_at(place, |k: Continuation<T>| {
        if here {
            store.defer(seat, at, k);
            return;
        }
        let nodes = Nodes::of(cx);
        // Requests that are collected are not sent here.
        let measured = (store.measured && store.requests.borrow().is_none()).then(|| (Section::begin(), nodes.aside()));
        // Most often one, which takes no memory.
        let (mut first, mut more): (Option<Wanted>, Vec<Wanted>) = (None, Vec::new());
        let mut elements = 0;
        let ask = |wanted: Wanted| {
            elements += wanted.places.len();
            match more.last_mut().or(first.as_mut()) {
                Some(last) if last.continues(&wanted) => last.places.end = wanted.places.end,
                Some(_) => more.push(wanted),
                None => first = Some(wanted),
            }
        };
        let added = if store.measured { nodes.overhead_of_request() as f64 } else { 0.0 };
        let displaced = store.lines.borrow_mut().wait(&store.shape, (home, at), k, added, ask);
        drop(displaced);
        let asked = first.is_some() as u64 + more.len() as u64;
        store.count(|counts| {
            let hit = u64::from(asked == 0);
            counts.hits += hit;
            counts.deferred += hit;
            counts.requests += asked;
        });
        for wanted in first.into_iter().chain(more).filter_map(|wanted| store.collect(wanted)) {
            nodes.send(cx, nodes.worker_of(wanted.home as u32), Ask { array, wanted, to: store.node as u32 });
        }
        if let Some((section, aside)) = measured.filter(|_| asked == 1) {
            section.end(Part::Ask, elements, nodes.aside() - aside);
        }
    });
    // SAFETY: the call protocol.
    unsafe { wait.call(cx) }
}

/// The task that [`IArray::put`] makes.
#[must_use = "nothing is written until this is awaited"]
pub struct Put<T> {
    array: IArray<T>,
    index: usize,
    value: T,
    place: Place,
}

impl<T> Put<T> {
    #[inline(always)]
    pub(super) fn new(array: IArray<T>, index: usize, value: T, place: Place) -> Put<T> {
        Put { array, index, value, place }
    }
}

impl<T> sealed::Sealed for Put<T> {}
impl<T: Portable + Clone> Task for Put<T> {
    type Output = ();
    const STRAIGHT: bool = false;

    #[inline(always)]
    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        let Put { array, index, value, place } = self;
        if let Some(seat) = array.seat(cx) {
            match write_next(seat, index, value, place) {
                // SAFETY: the call protocol.
                Ok(()) => return unsafe { Outcome::done(()) },
                Err(value) => return put(array, index, value, place, cx).opaque(),
            }
        }
        put(array, index, value, place, cx).opaque()
    }

    #[inline(always)]
    unsafe fn call_guarded(self, cx: Cx) -> Outcome<()> {
        if cx.trips() {
            return put_tripped(self.array, self.index, self.value, self.place, cx).opaque();
        }
        // SAFETY: passed on.
        unsafe { self.call(cx) }
    }

    /// At this node, whose element it may be.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// Writes an element if it is the next in order here, and nobody waits for it.
#[inline(always)]
pub(super) fn write_next<T>(seat: &Seat, index: usize, value: T, place: Place) -> Result<(), T> {
    if std::ptr::eq(place, seat.writer.get()) && index == seat.end.get() && index < seat.limit.get() {
        // SAFETY: an element of this node's, of an array of `T`s; it has not been written, and nobody waits for it.
        unsafe { seat.elements.get().cast::<T>().wrapping_add(index).write(value) };
        seat.end.set(index + 1);
        return Ok(());
    }
    Err(value)
}

/// A put whose guard check has tripped.
#[cold]
#[inline(never)]
fn put_tripped<T: Portable + Clone>(array: IArray<T>, index: usize, value: T, place: Place, cx: Cx) -> Outcome<()> {
    call_after_trip(cx, Put { array, index, value, place })
}

/// An element that is not the next in order, or somebody waits for.
#[cold]
#[inline(never)]
fn put<T: Portable + Clone>(array: IArray<T>, index: usize, value: T, place: Place, cx: Cx) -> Outcome<()> {
    let Some(seat) = array.seat(cx) else {
        let node = Nodes::of(cx).here(cx);
        if node == cx.node() {
            array.gone(format_args!("a put of element {index}"), place);
        }
        // SAFETY: the call protocol.
        return unsafe { request(cx, Putting { node, array, index, value, writer: Writer::Here(place) }, place) };
    };
    // SAFETY: this array's line; nothing frees it here.
    let store = unsafe { IArray::<T>::store(seat) };
    let (home, at) = store.locate(index, place);
    if home != store.node {
        let work = Putting { node: home as u32, array, index, value, writer: Writer::Here(place) };
        // SAFETY: the call protocol.
        return unsafe { at_home(cx, work, place) };
    }
    put_here(array, seat, at, value, &Writer::Here(place), cx);
    // SAFETY: the call protocol.
    unsafe { Outcome::done(()) }
}

/// Writes an element of this node's.
pub(super) fn put_here<T: Portable + Clone>(
    array: IArray<T>,
    seat: &Seat,
    at: usize,
    value: T,
    writer: &Writer,
    cx: Cx,
) {
    // SAFETY: this array's line; nothing frees it here.
    let store = unsafe { IArray::<T>::store(seat) };
    for to in store.put(seat, at, value, writer) {
        let wanted = Wanted { home: store.node, places: at..at + 1 };
        store.count(|counts| counts.forwards += 1);
        Elements::read(array, seat, wanted, to).send(cx);
    }
}
