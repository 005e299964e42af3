//! The part of an array on one node: the node's own elements with their readers, and the reads of other nodes'
//! elements.

use std::any::type_name;
use std::cell::{Cell, RefCell, UnsafeCell};
use std::fmt;
use std::iter;
use std::mem::MaybeUninit;
use std::mem::needs_drop;
use std::ops::Range;
use std::ptr;
use std::slice;

use super::counts::Counts;
use super::create::Settings;
use super::directory::nothing;
use super::plain::Encoding;
use super::readers::{Map, Readers, serve, serve_last};
use super::remote_reads::{Cache, RemoteReads, Spot, Wanted};
use super::request_costs::{RequestPart, Section};
use super::shape::Shape;
use super::writers::{Writer, Writers};
use crate::frame::origin::open;
use crate::frame::{Payload, drop_quietly, quietly};
use crate::object::Portable;
use crate::object::array_table::{ArrayEntry, NOWHERE, StoredArray};
use crate::object::error::text;
use crate::observe::CacheChoice;
use crate::run::continuation::Continuation;
use crate::sched::team::Waits;
use crate::sched::work::on_simulator;
use crate::sim::Read;

/// The part of an array on one node.
pub(super) struct Store<T> {
    word: u64,
    pub(super) len: usize,
    pub(super) shape: Shape,
    pub(super) node: usize,
    /// The source location that made the array.
    made: Box<str>,
    elements: Box<[UnsafeCell<MaybeUninit<T>>]>,
    /// A bit for each element, set if it was written out of order; empty as long as none was.
    written: RefCell<Vec<u64>>,
    /// Number of elements written in order, if the array's reads are seen or it has left its entry; otherwise the entry
    /// holds it.
    ready: Cell<usize>,
    counts: Option<Cell<Counts>>,
    /// Set if each read takes virtual time of a simulated machine.
    charged: bool,
    /// Set if each read must be seen, so that none may take the fast path: reads are counted or charged.
    sees_reads: bool,
    /// Set if elements of other nodes are cached.
    keeps: bool,
    /// Set if the times of requests are measured.
    pub(super) measured: bool,
    /// The conversion to bytes, if the elements are plain data.
    pub(super) plain: Option<Encoding<T>>,
    writers: RefCell<Writers>,
    deferred: RefCell<Map<usize, Deferred<T>>>,
    /// The reads and cached elements of other nodes.
    pub(super) remote: RefCell<RemoteReads<T>>,
    /// The collected requests, while `get_many` collects them.
    pub(super) requests: RefCell<Option<Vec<Wanted>>>,
}

/// The readers that wait for an element of this node.
struct Deferred<T> {
    /// Tasks at this node.
    readers: Readers<T>,
    /// Nodes that receive the element when it is written.
    nodes: Vec<u32>,
}

/// The values of consecutive elements: most often one, which needs no allocation.
pub(super) enum Values<T> {
    One(T),
    Many(Vec<T>),
}

impl<T> Values<T> {
    /// Collects the values of `count` elements.
    pub(super) fn collect(count: usize, mut values: impl Iterator<Item = T>) -> Values<T> {
        match values.next() {
            Some(value) if count == 1 => Values::One(value),
            first => Values::Many(first.into_iter().chain(values).collect()),
        }
    }
}

impl<T> Values<T> {
    pub(super) fn as_slice(&self) -> &[T] {
        match self {
            Values::One(value) => slice::from_ref(value),
            Values::Many(values) => values,
        }
    }
}

impl<T> IntoIterator for Values<T> {
    type Item = T;
    type IntoIter = iter::Chain<std::option::IntoIter<T>, std::vec::IntoIter<T>>;

    fn into_iter(self) -> Self::IntoIter {
        let (one, many) = match self {
            Values::One(value) => (Some(value), Vec::new()),
            Values::Many(values) => (None, values),
        };
        one.into_iter().chain(many)
    }
}

/// Values that have arrived and are not cached yet.
trait Arrived<T>: Iterator<Item = T> {
    fn slice(&self) -> &[T];
}

impl<T> Arrived<T> for std::vec::IntoIter<T> {
    fn slice(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T> Arrived<T> for std::array::IntoIter<T, 1> {
    fn slice(&self) -> &[T] {
        self.as_slice()
    }
}

impl<T: Portable + Clone> Store<T> {
    pub(super) fn new(
        word: u64,
        settings: Settings,
        node: usize,
        plain: Option<Encoding<T>>,
    ) -> Result<Store<T>, Payload> {
        let Settings { len, shape, cache, counted, made } = settings;
        let remote = RemoteReads::new(cache, &shape, len, node);
        let own = shape.count(len, node);
        let mut elements = Vec::new();
        if elements.try_reserve_exact(own).is_err() {
            let bytes = own * size_of::<T>();
            return Err(Payload::new(format!(
                "no memory is left for the {bytes} bytes that node {node} has of the `IArray<{}>` of {len} elements made at {made}",
                type_name::<T>()
            )));
        }
        // SAFETY: the capacity is at least `own`, and a `MaybeUninit` needs no initialisation.
        unsafe { elements.set_len(own) };
        let charged = on_simulator(|simulator| simulator.reads_take_time()) == Some(true);
        Ok(Store {
            word,
            len,
            shape,
            node,
            made,
            elements: elements.into(),
            ready: Cell::new(0),
            counts: counted.then(Cell::default),
            charged,
            sees_reads: counted || charged,
            keeps: cache != Cache::Off,
            measured: cache == Cache::Auto,
            plain,
            written: RefCell::default(),
            writers: RefCell::default(),
            deferred: RefCell::default(),
            remote: RefCell::new(remote),
            requests: RefCell::default(),
        })
    }

    /// Adds `wanted` to the collected requests and returns `None`; returns `wanted` for sending if requests are not
    /// collected.
    pub(super) fn collect(&self, wanted: Wanted) -> Option<Wanted> {
        let mut requests = self.requests.borrow_mut();
        let Some(requests) = requests.as_mut() else { return Some(wanted) };
        match requests.last_mut() {
            Some(last) if last.continues(&wanted) => last.places.end = wanted.places.end,
            _ => requests.push(wanted),
        }
        None
    }

    /// Returns the number of elements at this node.
    pub(super) fn own(&self) -> usize {
        self.elements.len()
    }

    /// Returns the address of the first element at this node.
    pub(super) fn first(&self) -> *const T {
        self.elements.as_ptr().cast()
    }

    /// Returns the number of elements written in order.
    pub(super) fn ready(&self, entry: &ArrayEntry) -> usize {
        if self.sees_reads { self.ready.get() } else { entry.ready() }
    }

    /// Returns the counts, if the array is counted.
    pub(super) fn counts(&self) -> Option<Counts> {
        self.counts.as_ref().map(Cell::get)
    }

    /// Counts a read which has sent this many requests, if the array is counted, and charges a simulated processor for it.
    pub(super) fn note(&self, read: Read, requests: u64) {
        self.count(|counts| {
            let [local, hit, deferred] = [Read::Local, Read::Hit, Read::Deferred].map(|kind| u64::from(read == kind));
            counts.local += local;
            counts.remote += 1 - local;
            counts.hits += hit + deferred;
            counts.deferred += deferred;
            counts.requests += requests;
        });
        if self.charged && (self.keeps || read == Read::Local) {
            on_simulator(|simulator| simulator.read(read));
        }
    }

    /// Applies `change` to the counts, if the array is counted.
    pub(super) fn count(&self, change: impl FnOnce(&mut Counts)) {
        if let Some(counts) = &self.counts {
            let mut now = counts.get();
            change(&mut now);
            counts.set(now);
        }
    }

    /// Fills in the array's entry.
    pub(super) fn show(&self, entry: &ArrayEntry) {
        let first = self.shape.run(self.node).filter(|_| !self.sees_reads);
        let elements = self.elements.as_ptr().cast::<T>().cast_mut();
        entry.first.set(first.unwrap_or(NOWHERE));
        entry.set_ready(0);
        entry.limit.set(first.map_or(0, |first| first + self.elements.len()));
        entry.elements.set(elements.wrapping_sub(first.unwrap_or(0)).cast());
        let directory = if !self.sees_reads { self.remote.borrow().directory() } else { nothing() };
        entry.directory.set(directory.cast());
    }

    /// Returns true if the next put in order may take the fast path: this node's indices are consecutive, no element
    /// was written out of order, no reader waits and reads are not seen.
    fn open(&self) -> bool {
        let plain = !self.sees_reads && self.shape.run(self.node).is_some();
        plain && self.written.borrow().is_empty() && self.deferred.borrow().is_empty()
    }

    /// Returns the home of an index, and its place there.
    ///
    /// # Panics
    /// If the index is out of range.
    pub(super) fn locate(&self, index: usize, from: impl fmt::Display) -> (usize, usize) {
        if index >= self.len {
            panic!("there is no element {index} in {}, at {from}", self.name());
        }
        self.shape.spot(index)
    }

    /// Returns the array's description for reports.
    pub(super) fn name(&self) -> String {
        format!("the `IArray<{}>` of {} elements that was made at {}", type_name::<T>(), self.len, self.made)
    }

    /// Returns an element's description for reports.
    fn element(&self, node: usize, at: usize) -> String {
        format!("element {} of {}", self.shape.index(node, at), self.name())
    }

    fn is_written(&self, entry: &ArrayEntry, at: usize) -> bool {
        at < self.ready(entry) || self.written.borrow().get(at / 64).is_some_and(|bits| bits >> (at % 64) & 1 == 1)
    }

    /// Returns an element of this node, if it has been written.
    pub(super) fn get(&self, entry: &ArrayEntry, at: usize) -> Option<&T> {
        // SAFETY: the element has been written, and no element is written twice.
        self.is_written(entry, at).then(|| unsafe { (*self.elements[at].get()).assume_init_ref() })
    }

    /// Returns elements of this node, if all have been written in order.
    pub(super) fn slice(&self, entry: &ArrayEntry, places: Range<usize>) -> Option<&[T]> {
        if places.end > self.ready(entry) {
            return None;
        }
        // SAFETY: the elements have been written, and no element is written twice.
        Some(unsafe { std::slice::from_raw_parts(self.first().add(places.start), places.len()) })
    }

    /// Returns a copy of another node's element, if it is in the cache.
    pub(super) fn cached(&self, spot: Spot) -> Option<T> {
        self.remote.borrow().get(&self.shape, spot).cloned()
    }

    /// Registers a reader at this node for an element of this node.
    pub(super) fn defer(&self, entry: &ArrayEntry, at: usize, k: Continuation<T>) {
        self.deferred.borrow_mut().entry(at).or_default().readers.add(k);
        entry.close();
    }

    /// Registers `node` as a reader of an element that has not been written.
    pub(super) fn defer_node(&self, entry: &ArrayEntry, at: usize, node: u32) {
        let mut deferred = self.deferred.borrow_mut();
        let nodes = &mut deferred.entry(at).or_default().nodes;
        let forgotten = mutated!(LostReader) && nodes.len() == 1;
        if !nodes.contains(&node) && !forgotten {
            nodes.push(node);
        }
        entry.close();
    }

    /// Handles the arrival of another node's elements. Returns the nanoseconds that this has taken, if times are
    /// measured.
    pub(super) fn fetched(&self, wanted: Wanted, values: Values<T>) -> u64 {
        let values = match values {
            // The common case without a cache.
            Values::One(value) if !self.keeps => {
                let readers = self.remote.borrow_mut().take((wanted.home, wanted.places.start));
                serve_last(readers, value);
                return 0;
            }
            values => values,
        };
        let elements = wanted.places.len();
        let section = self.measured.then(Section::begin);
        // Resuming readers is part of the readers' cost, not the request's.
        let mut serving = 0;
        match values {
            Values::One(value) => self.enter(wanted, &mut [value].into_iter(), section.as_ref().map(|_| &mut serving)),
            Values::Many(values) => self.enter(wanted, &mut values.into_iter(), section.as_ref().map(|_| &mut serving)),
        }
        section.map_or(0, |section| section.end(RequestPart::Take, elements, serving))
    }

    /// Resumes the readers of elements that have arrived, and caches the elements. If times are measured, adds the time
    /// of resuming readers to `serving`.
    fn enter<V: Arrived<T>>(&self, mut wanted: Wanted, values: &mut V, mut serving: Option<&mut u64>) {
        while !wanted.places.is_empty() {
            let spot = (wanted.home, wanted.places.start);
            let chunk = self.remote.borrow().chunk(&self.shape, &wanted);
            let Some(chunk) = chunk else {
                // The cache has no line for this element: its readers get the value.
                wanted.places.start += 1;
                let (readers, Some(value)) = (self.remote.borrow_mut().take(spot), values.next()) else { return };
                serve_last(readers, value);
                continue;
            };
            let readers = self.remote.borrow_mut().take_readers(spot, &chunk);
            if !readers.is_empty() {
                let section = serving.is_some().then(Section::begin);
                for (at, readers) in readers {
                    readers.into_iter().for_each(|k| serve(k, &values.slice()[at]));
                }
                if let (Some(section), Some(serving)) = (section, &mut serving) {
                    **serving += section.nanoseconds();
                }
            }
            wanted.places.start += chunk.len;
            let dropped = self.remote.borrow_mut().keep(&chunk, values);
            // A panic of a destructor is discarded.
            if needs_drop::<T>() {
                drop_quietly(dropped);
            }
        }
    }

    /// Handles a failed request for elements of another node: resumes their readers with a panic.
    pub(super) fn refused(&self, wanted: &Wanted, payload: Payload) {
        let (waiting, dropped) = self.remote.borrow_mut().give_up(&self.shape, wanted);
        drop_quietly(dropped);
        let (payload, _) = open(payload);
        let first = self.element(wanted.home, wanted.places.start);
        let more = match wanted.places.len() {
            1 => String::new(),
            count => format!(" (or one of the next {} there)", count - 1),
        };
        let message = format!("{first}{more} could not be read: {}", text(&*payload));
        drop_quietly(payload);
        waiting.into_iter().for_each(|k| quietly(|| k.end(Err(Payload::new(message.clone())))));
    }

    /// Writes an element of this node and resumes its readers. Returns the nodes that the caller must send the element
    /// to.
    ///
    /// # Panics
    /// If the element has been written before.
    pub(super) fn put(&self, entry: &ArrayEntry, at: usize, value: T, writer: &Writer) -> Vec<u32> {
        if self.is_written(entry, at) {
            let first = self.writers.borrow().who(at);
            drop_quietly(value);
            panic!("{} is put at {writer}, and was put before {first}", self.element(self.node, at));
        }
        // SAFETY: no code reads an element that has not been written, and this worker alone writes.
        unsafe { (*self.elements[at].get()).write(value) };
        let in_order = at == self.ready(entry);
        self.writers.borrow_mut().wrote(at, in_order, writer, self.elements.len());
        let mut written = self.written.borrow_mut();
        if in_order {
            let mut ready = at + 1;
            while written.get(ready / 64).is_some_and(|bits| bits >> (ready % 64) & 1 == 1) {
                ready += 1;
            }
            if self.sees_reads {
                self.ready.set(ready);
            } else {
                entry.set_ready(ready);
            }
            if ready == self.elements.len() {
                *written = Vec::new();
            }
        } else {
            if written.is_empty() {
                *written = vec![0; self.elements.len().div_ceil(64)];
            }
            written[at / 64] |= 1 << (at % 64);
        }
        drop(written);
        let deferred = self.deferred.borrow_mut().remove(&at);
        // The next put in order from the same source location takes the fast path, without recording the location.
        entry.writer.set(match writer {
            Writer::Here(place) if self.open() => ptr::from_ref(*place),
            _ => ptr::null(),
        });
        let Some(Deferred { readers, nodes }) = deferred else { return Vec::new() };
        // SAFETY: the element was just written.
        let value = unsafe { (*self.elements[at].get()).assume_init_ref() };
        readers.into_iter().for_each(|k| serve(k, value));
        nodes
    }
}

impl<T> Default for Deferred<T> {
    fn default() -> Deferred<T> {
        Deferred { readers: Readers::Nobody, nodes: Vec::new() }
    }
}

impl<T: Portable + Clone> StoredArray for Store<T> {
    fn report_waits(&self, waits: &mut Waits) {
        let (deferred, remote) = (self.deferred.borrow(), self.remote.borrow());
        let here = deferred.iter().map(|(&at, deferred)| ((self.node, at), &deferred.readers));
        for ((node, at), readers) in here.chain(remote.readers()) {
            let what = self.element(node, at);
            waits.extend(readers.as_slice().iter().map(|k| (k.leaf(), what.clone())));
        }
    }

    fn before_clear(&self, entry: &ArrayEntry) {
        if !self.sees_reads {
            self.ready.set(entry.ready());
        }
    }

    fn choice(&self) -> Option<CacheChoice> {
        self.remote.borrow().choice(&self.made)
    }

    fn on_free(&self) {
        // A slice of the array keeps its elements alive, not its name.
        super::forget(self.word);
        let deferred = std::mem::take(&mut *self.deferred.borrow_mut());
        let remote = self.remote.borrow_mut().take_all();
        let here = deferred.into_iter().map(|(at, Deferred { readers, .. })| ((self.node, at), readers));
        for ((node, at), waiting) in here.chain(remote) {
            let message = format!("{} was freed while a task waited for it", self.element(node, at));
            waiting.into_iter().for_each(|k| quietly(|| k.end(Err(Payload::new(message.clone())))));
        }
    }
}

impl<T> Drop for Store<T> {
    fn drop(&mut self) {
        super::forget_part(self.word);
        if !std::mem::needs_drop::<T>() {
            return;
        }
        let ready = self.ready.get();
        // A panic of a destructor is discarded.
        // SAFETY: `drop_element` is called once for each element that has been written, and none is used afterwards.
        let drop_element =
            |element: &mut UnsafeCell<MaybeUninit<T>>| quietly(|| unsafe { element.get_mut().assume_init_drop() });
        self.elements.iter_mut().take(ready).for_each(drop_element);
        for (word, bits) in self.written.get_mut().iter().enumerate() {
            let mut left = *bits;
            while left != 0 {
                let at = word * 64 + left.trailing_zeros() as usize;
                left &= left - 1;
                if at >= ready
                    && let Some(element) = self.elements.get_mut(at)
                {
                    drop_element(element);
                }
            }
        }
    }
}
