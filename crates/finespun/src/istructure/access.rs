//! Getting and putting an element.

use std::any::type_name;
use std::fmt;
use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};
use std::thread;

use super::IArray;
use super::directory::Directory;
use super::messages::{Ask, Putting, Reading, put_here};
use super::remote_reads::{Spot, Wanted};
use super::request_costs::{RequestPart, Section};
use super::store::Store;
use super::writers::Writer;
use crate::call::located;
use crate::call::outcome::Outcome;
use crate::call::{Task, call_after_trip, call_async, sealed};
use crate::closure::{Cont, send_argument};
use crate::frame::context::{Cx, try_cx};
use crate::frame::origin::pack;
use crate::frame::{CallSite, FrameRef};
use crate::object::Portable;
use crate::object::array_table::ArrayEntry;
use crate::object::host::Nodes;
use crate::object::remote::{at_home, request};
use crate::run::continuation::Continuation;
use crate::scope::spawn::spawn;
use crate::sim::Read;
use crate::wait::suspend::suspend_at;

impl<T: Portable + Clone> IArray<T> {
    /// Returns the array's entry at the node that this code runs at.
    #[inline(always)]
    pub(super) fn entry<'a>(self, cx: Cx) -> Option<&'a ArrayEntry> {
        let entries = cx.here().arrays.get();
        // SAFETY: the lower half of a handle's word is the byte offset of one of the entries, whose number is the same
        // on every node. The entries live as long as the node, whose worker runs this.
        let entry = unsafe { &*entries.byte_add(self.word as u32 as usize) };
        (entry.word.get() == self.word).then_some(entry)
    }

    /// Returns the array's part on the entry's node.
    ///
    /// # Safety
    /// `entry` is this array's entry, and the store is used before any code can free the array.
    pub(super) unsafe fn store<'a>(entry: &ArrayEntry) -> &'a Store<T> {
        // SAFETY: a word belongs to one array, whose elements are `T`s: no handle of another type is made from it.
        unsafe { &*entry.kept.get().cast::<Store<T>>() }
    }
}

impl<T> IArray<T> {
    /// Reports the use of a stale handle.
    ///
    /// # Panics
    /// Always.
    pub(super) fn stale_handle(self, what: impl fmt::Display, place: impl fmt::Display) -> ! {
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
    place: CallSite,
}

impl<T> Get<T> {
    #[inline(always)]
    pub(super) fn new(array: IArray<T>, index: usize, place: CallSite) -> Get<T> {
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
        if let Some(entry) = array.entry(cx) {
            if index >= entry.first.get() && index < entry.end.get() {
                // SAFETY: the elements from `first` up to `end` have been written.
                let value = unsafe { &*entry.elements.get().cast::<T>().wrapping_add(index) };
                // SAFETY: returned as the outcome of `Task::call`, as the call protocol demands.
                return unsafe { Outcome::done(value.clone()) };
            }
            unlikely();
            // SAFETY: the store has set the directory, which is this array's at this node, and the base is used at
            // once.
            let base = unsafe { Directory::base::<T>(entry.directory.get().cast(), index) };
            // A raw pointer, since a reference in an `Option` would be compared with null a second time.
            if !base.is_null() {
                // SAFETY: a base that is not null belongs to elements in the cache, which include this one.
                let value = unsafe { &*base.wrapping_add(index) };
                // SAFETY: returned as the outcome of `Task::call`, as the call protocol demands.
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
        // SAFETY: the caller guarantees the call protocol.
        unsafe { self.call(cx) }
    }

    /// Starts as a located frame at this node, which may be the element's home.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// Marks the calling path as unlikely, so that the compiler keeps the other path short.
#[cold]
#[inline(always)]
fn unlikely() {}

/// Handles a get whose guard check has tripped.
#[cold]
#[inline(never)]
fn get_tripped<T: Portable + Clone>(array: IArray<T>, index: usize, place: CallSite, cx: Cx) -> Outcome<T> {
    call_after_trip(cx, Get { array, index, place })
}

/// Returns a copy of an element, and notes the read, if the element is present at this node.
fn known<T: Portable + Clone>(store: &Store<T>, entry: &ArrayEntry, (home, at): Spot) -> Option<T> {
    let here = home == store.node;
    let value = if here { store.get(entry, at).cloned() } else { store.cached((home, at)) }?;
    store.note(if here { Read::Local } else { Read::Hit }, 0);
    Some(value)
}

/// Sends an element to a closure: at once if it is present at this node, else by a task that gets it.
pub(super) fn send<T: Portable + Clone>(array: IArray<T>, index: usize, to: Cont<T>, place: CallSite) {
    let Some(cx) = try_cx().filter(|cx| cx.is_in_task()) else {
        panic!("`IArray::send` was called outside a task and a thread of closures, at {place}")
    };
    if let Some(entry) = array.entry(cx).filter(|_| !cx.block_now()) {
        // SAFETY: `entry` is this array's entry, and nothing frees the array while the store is used.
        let store = unsafe { IArray::<T>::store(entry) };
        let spot = store.locate(index, place);
        if let Some(value) = known(store, entry, spot) {
            return send_argument(value, to);
        }
    }
    drop(spawn(Sending { get: Get { array, index, place }, to }));
}

/// Returns a poll function that returns a panic instead of unwinding.
fn catching<T>(
    mut poll: impl FnMut(&mut StdContext<'_>) -> Poll<T>,
) -> impl FnMut(&mut StdContext<'_>) -> Poll<thread::Result<T>> {
    move |std| match catch_unwind(AssertUnwindSafe(|| poll(std))) {
        Ok(polled) => polled.map(Ok),
        Err(payload) => Poll::Ready(Err(payload)),
    }
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
        let body = async move {
            // SAFETY: awaited at once.
            let mut call = unsafe { call_async(get) };
            let poll = |std: &mut StdContext<'_>| Pin::new(&mut call).poll(std);
            match poll_fn(catching(poll)).await {
                Ok(value) => send_argument(value, to),
                Err(payload) => {
                    // The run fails first, because the panic is the cause: dropping `to` ends the computation without a
                    // result.
                    if let Some(cx) = try_cx() {
                        cx.fail(pack(payload));
                    }
                    drop(to);
                }
            }
        };
        located::poll_here(body, cx)
    }

    /// Starts as a located frame on this worker, as the get would.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// Gets an element that the fast path does not find.
#[cold]
#[inline(never)]
fn get<T: Portable + Clone>(array: IArray<T>, index: usize, place: CallSite, cx: Cx) -> Outcome<T> {
    let Some(entry) = array.entry(cx) else {
        let nodes = Nodes::of(cx);
        let node = nodes.here(cx);
        if node == cx.node() {
            array.stale_handle(format_args!("a get of element {index}"), place);
        }
        // This worker has no node, so another worker's node reads the element.
        // SAFETY: the caller guarantees the call protocol.
        return unsafe { request(cx, Reading { node, array, index, reader: Writer::Here(place) }, place) };
    };
    // SAFETY: `entry` is this array's entry, and nothing frees the array here: a wait only begins.
    let store = unsafe { IArray::<T>::store(entry) };
    let (home, at) = store.locate(index, place);
    let here = home == store.node;
    if let Some(value) = known(store, entry, (home, at)) {
        // SAFETY: returned as the outcome of `Task::call`, as the call protocol demands.
        return unsafe { Outcome::done(value) };
    }
    let wait = suspend_at(place, |k: Continuation<T>| {
        if here {
            store.note(Read::Local, 0);
            store.defer(entry, at, k);
            return;
        }
        let nodes = Nodes::of(cx);
        // Not measured while requests are collected, since they are not sent here.
        let measured = (store.measured && store.requests.borrow().is_none()).then(|| (Section::begin(), nodes.aside()));
        // Most often there is one request, which needs no allocation.
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
        let displaced = store.remote.borrow_mut().wait(&store.shape, (home, at), k, added, ask);
        drop(displaced);
        let asked = first.is_some() as u64 + more.len() as u64;
        let read = match (asked, store.measured && elements == 1) {
            (0, _) => Read::Deferred,
            (_, true) => Read::Alone,
            (_, false) => Read::Miss,
        };
        store.note(read, asked);
        for wanted in first.into_iter().chain(more).filter_map(|wanted| store.collect(wanted)) {
            nodes.send(cx, nodes.worker_of(wanted.home as u32), Ask { array, wanted, to: store.node as u32 });
        }
        if let Some((section, aside)) = measured.filter(|_| asked == 1) {
            section.end(RequestPart::Ask, elements, nodes.aside() - aside);
        }
    });
    // SAFETY: the caller guarantees the call protocol.
    unsafe { wait.call(cx) }
}

/// The task that [`IArray::put`] makes.
#[must_use = "nothing is written until this is awaited"]
pub struct Put<T> {
    array: IArray<T>,
    index: usize,
    value: T,
    place: CallSite,
}

impl<T> Put<T> {
    #[inline(always)]
    pub(super) fn new(array: IArray<T>, index: usize, value: T, place: CallSite) -> Put<T> {
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
        if let Some(entry) = array.entry(cx) {
            match write_next(entry, index, value, place) {
                // SAFETY: returned as the outcome of `Task::call`, as the call protocol demands.
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
        // SAFETY: the caller guarantees the call protocol.
        unsafe { self.call(cx) }
    }

    /// Starts as a located frame at this node, which may be the element's home.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// Writes an element by the fast path: it is the next in order at this node, and no reader waits for it. Otherwise
/// returns the value.
#[inline(always)]
pub(super) fn write_next<T>(entry: &ArrayEntry, index: usize, value: T, place: CallSite) -> Result<(), T> {
    if std::ptr::eq(place, entry.writer.get()) && index == entry.end.get() && index < entry.limit.get() {
        // SAFETY: the element belongs to this node and to an array of `T`s. It has not been written, and no reader
        // waits for it.
        unsafe { entry.elements.get().cast::<T>().wrapping_add(index).write(value) };
        entry.end.set(index + 1);
        return Ok(());
    }
    Err(value)
}

/// Handles a put whose guard check has tripped.
#[cold]
#[inline(never)]
fn put_tripped<T: Portable + Clone>(array: IArray<T>, index: usize, value: T, place: CallSite, cx: Cx) -> Outcome<()> {
    call_after_trip(cx, Put { array, index, value, place })
}

/// Puts an element that the fast path does not write.
#[cold]
#[inline(never)]
fn put<T: Portable + Clone>(array: IArray<T>, index: usize, value: T, place: CallSite, cx: Cx) -> Outcome<()> {
    let Some(entry) = array.entry(cx) else {
        let node = Nodes::of(cx).here(cx);
        if node == cx.node() {
            array.stale_handle(format_args!("a put of element {index}"), place);
        }
        // SAFETY: the caller guarantees the call protocol.
        return unsafe { request(cx, Putting { node, array, index, value, writer: Writer::Here(place) }, place) };
    };
    // SAFETY: `entry` is this array's entry, and nothing frees the array while the store is used.
    let store = unsafe { IArray::<T>::store(entry) };
    let (home, at) = store.locate(index, place);
    if home != store.node {
        let work = Putting { node: home as u32, array, index, value, writer: Writer::Here(place) };
        // SAFETY: the caller guarantees the call protocol.
        return unsafe { at_home(cx, work, place) };
    }
    put_here(array, entry, at, value, &Writer::Here(place), cx);
    // SAFETY: returned as the outcome of `Task::call`, as the call protocol demands.
    unsafe { Outcome::done(()) }
}
