//! The messages of an array between nodes: a request for elements, the elements in answer, and work done at an
//! element's home.

use std::mem::needs_drop;
use std::ops::Range;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};

use super::IArray;
use super::plain::Encoding;
use super::remote_reads::Wanted;
use super::request_costs::{RequestPart, Section};
use super::store::{Store, Values};
use super::writers::Writer as By;
use crate::call::Task;
use crate::call::outcome::Outcome;
use crate::frame::context::Cx;
use crate::frame::origin::pack;
use crate::frame::{Payload, drop_quietly};
use crate::message::packet::Handler;
use crate::message::wire::{Reader, Unreadable, Wire, Writer, bytes_elsewhere};
use crate::object::Portable;
use crate::object::array_table::ArrayEntry;
use crate::object::error::{read_payload, write_payload};
use crate::object::host::Nodes;
use crate::object::remote::Work;

/// A request of a node for elements of an array.
pub(super) struct Ask<T> {
    pub(super) array: IArray<T>,
    pub(super) wanted: Wanted,
    /// The node that sends the request.
    pub(super) to: u32,
}

/// The answer to a request: elements, or the panic of copying them.
pub(super) struct Elements<T> {
    array: IArray<T>,
    wanted: Wanted,
    to: u32,
    values: Result<Values<T>, Payload>,
    /// The conversion to bytes, if the elements are plain data.
    plain: Option<Encoding<T>>,
}

/// Returns the array's entry at a node of this worker, or `None` if the array has been freed.
fn entry<'a, T>(cx: Cx, array: IArray<T>, node: u32) -> Option<&'a ArrayEntry> {
    Nodes::of(cx).table(node).arrays.find(array.word)
}

/// The same for a message that has arrived as bytes, which may be forged: the node may be elsewhere, and the array may have
/// elements of another type.
fn entry_of_forged<'a, T: Portable + Clone>(cx: Cx, array: IArray<T>, node: u32) -> Option<&'a ArrayEntry> {
    Nodes::of(cx).hosted(node)?.arrays.find_kept::<Store<T>>(array.word)
}

impl<T: Portable + Clone> Store<T> {
    /// Returns whether these elements exist.
    fn has(&self, cx: Cx, Wanted { home, places }: &Wanted) -> bool {
        let exist = || !places.is_empty() && places.end <= self.shape.count(self.len, *home);
        *home < Nodes::of(cx).count() as usize && exist()
    }
}

impl<T: Portable + Clone> Elements<T> {
    /// Copies written elements at their home.
    pub(super) fn read(array: IArray<T>, entry: &ArrayEntry, wanted: Wanted, to: u32) -> Elements<T> {
        // SAFETY: `entry` is this array's entry, and nothing frees the array while the store is used.
        let store = unsafe { IArray::<T>::store(entry) };
        let values = || match store.slice(entry, wanted.places.clone()) {
            Some([value]) => Values::One(value.clone()),
            Some(values) => Values::Many(values.to_vec()),
            None => Values::collect(
                wanted.places.len(),
                wanted.places.clone().filter_map(|at| store.get(entry, at).cloned()),
            ),
        };
        let values = catch_unwind(AssertUnwindSafe(values)).map_err(pack);
        Elements { array, wanted, to, values, plain: store.plain }
    }

    /// Copies written elements and sends them in one message if all can be copied, else one by one.
    fn send_run(array: IArray<T>, entry: &ArrayEntry, wanted: Wanted, to: u32, cx: Cx) {
        let Wanted { home, places } = wanted.clone();
        let elements = Elements::read(array, entry, wanted, to);
        if elements.values.is_ok() || places.len() == 1 {
            return elements.send(cx);
        }
        // At least one element cannot be copied. Sent one by one, only that element's readers see the panic.
        discard(elements.values);
        for place in places {
            Elements::read(array, entry, Wanted { home, places: place..place + 1 }, to).send(cx);
        }
    }

    pub(super) fn send(self, cx: Cx) {
        let nodes = Nodes::of(cx);
        let worker = nodes.worker_of(self.to);
        if worker == nodes.worker() && !nodes.encodes() {
            nodes.charge();
            return self.handle(cx);
        }
        nodes.send(cx, worker, self);
    }
}

impl<T: Portable + Clone> Handler for Ask<T> {
    fn bytes_elsewhere(&self) -> usize {
        0
    }

    fn handle(self, cx: Cx) {
        let Ask { array, wanted: Wanted { home, places }, to } = self;
        let _left = cx.leave_tasks();
        // If the array has been freed, freeing it has ended the waits.
        let Some(entry) = entry(cx, array, home as u32) else { return };
        // SAFETY: `entry` is this array's entry, and nothing frees the array while the store is used.
        let store = unsafe { IArray::<T>::store(entry) };
        if store.slice(entry, places.clone()).is_some() {
            let measured = store.measured.then(|| (Section::begin(), places.len(), Nodes::of(cx).aside()));
            Elements::send_run(array, entry, Wanted { home, places }, to, cx);
            if let Some((section, elements, aside)) = measured {
                section.end(RequestPart::Serve, elements, Nodes::of(cx).aside() - aside);
            }
            return;
        }
        let mut rest = places;
        while !rest.is_empty() {
            // Written elements are sent in runs.
            let there = rest.clone().take_while(|&at| store.get(entry, at).is_some()).count();
            let other = rest.start + there;
            if there > 0 {
                Elements::send_run(array, entry, Wanted { home, places: rest.start..other }, to, cx);
            } else {
                store.defer_node(entry, other, to);
            }
            rest.start = other + usize::from(there == 0);
        }
    }

    fn write(self, to: &mut Writer) -> bool {
        to.value(&(self.array.word, self.wanted.home, self.wanted.places, self.to));
        true
    }

    fn arrive(mut from: Reader<'_>, cx: Option<Cx>) {
        let (Some((word, home, places, to)), Some(cx)) = (from.header(), cx) else { return };
        let (array, wanted) = (IArray::<T>::of(word), Wanted { home, places });
        let Some(entry) = entry_of_forged(cx, array, home as u32) else { return };
        // SAFETY: `entry` is this array's entry, and nothing frees the array while the store is used.
        if unsafe { IArray::<T>::store(entry) }.has(cx, &wanted) && to < Nodes::of(cx).count() {
            Ask { array, wanted, to }.handle(cx);
        }
    }
}

impl<T: Portable + Clone> Handler for Elements<T> {
    fn bytes_elsewhere(&self) -> usize {
        self.values.as_ref().map_or(0, |values| match values {
            Values::One(value) => bytes_elsewhere(value),
            Values::Many(values) => size_of_val(&**values) + values.iter().map(bytes_elsewhere).sum::<usize>(),
        })
    }

    fn handle(self, cx: Cx) {
        let Elements { array, wanted, to, values, .. } = self;
        let _left = cx.leave_tasks();
        // If the array has been freed, freeing it has ended the waits.
        let Some(entry) = entry(cx, array, to) else { return discard(values) };
        // SAFETY: `entry` is this array's entry, and nothing frees the array while the store is used.
        let store = unsafe { IArray::<T>::store(entry) };
        match values {
            // If this worker is also the sender, its time measurement of the sending subtracts this time.
            Ok(values) => Nodes::of(cx).put_aside(store.fetched(wanted, values)),
            Err(payload) => store.refused(&wanted, payload),
        }
    }

    fn write(self, to: &mut Writer) -> bool {
        let Elements { array, wanted, to: node, values, plain } = self;
        let before = to.mark();
        let header = |good: bool, to: &mut Writer| {
            to.value(&(array.word, wanted.home, wanted.places.clone(), node, good));
        };
        let payload = match values {
            Ok(values) => {
                header(true, to);
                let written = match plain {
                    Some(plain) => {
                        to.bytes((plain.bytes)(values.as_slice()));
                        Ok(())
                    }
                    None => to.part(|to| to.value(values.as_slice())),
                };
                discard(Ok(values));
                let Err(payload) = written else { return true };
                to.back_to(before);
                pack(payload)
            }
            Err(payload) => payload,
        };
        header(false, to);
        write_payload(payload, to);
        true
    }

    fn arrive(mut from: Reader<'_>, cx: Option<Cx>) {
        let Some((word, home, places, to, good)) = from.header::<(_, _, Range<usize>, _, _)>() else { return };
        let (array, wanted) = (IArray::<T>::of(word), Wanted { home, places });
        // Elements of a freed array are discarded.
        let Some((cx, entry)) = cx.and_then(|cx| Some((cx, entry_of_forged(cx, array, to)?))) else { return };
        // SAFETY: `entry` is this array's entry, and nothing frees the array while the store is used.
        let store = unsafe { IArray::<T>::store(entry) };
        if !store.has(cx, &wanted) || wanted.home == to as usize {
            return;
        }
        let (plain, count) = (store.plain, wanted.places.len());
        let values = match (good, plain) {
            (false, _) => Err(read_payload(&mut from)),
            (true, Some(plain)) => (plain.values)(from.rest(), count).ok_or_else(|| unlike(count)),
            (true, None) => match from.value::<Vec<T>>() {
                Ok(values) if values.len() == count => Ok(values),
                Ok(values) => {
                    discard(Ok(Values::Many(values)));
                    Err(unlike(count))
                }
                Err(error) => Err(Payload::new(error.to_string())),
            },
        };
        let values = values.map(Values::Many);
        Elements { array, wanted, to, values, plain }.handle(cx);
    }
}

/// Returns the error for an answer with other elements than those that it names.
fn unlike(count: usize) -> Payload {
    Payload::new(format!("the received bytes are not those of {count} elements"))
}

/// Drops unused values or an unused panic. A panic of a destructor is discarded.
fn discard<T>(values: Result<Values<T>, Payload>) {
    match values {
        Ok(_) if !needs_drop::<T>() => {}
        Ok(values) => values.into_iter().for_each(drop_quietly),
        Err(payload) => drop_quietly(payload),
    }
}

/// Work that reads an element on behalf of a worker without a node.
pub(super) struct Reading<T> {
    pub(super) node: u32,
    pub(super) array: IArray<T>,
    pub(super) index: usize,
    pub(super) reader: By,
}

impl<T: Portable + Clone> Wire for Reading<T> {
    fn write(self, to: &mut Writer) {
        to.value(&(self.node, self.array, self.index, self.reader.to_string()));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let (node, array, index, reader) = from.value()?;
        Ok(Reading { node, array, index, reader: By::Elsewhere(reader) })
    }
}

impl<T: Portable + Clone> Work for Reading<T> {
    type Output = T;

    fn node(&self) -> u32 {
        self.node
    }

    unsafe fn run(self, cx: Cx) -> Outcome<T> {
        let Reading { array, index, reader, .. } = self;
        let Some(entry) = entry(cx, array, cx.node()) else {
            array.stale_handle(format_args!("a get of element {index}"), &reader)
        };
        // SAFETY: `entry` is this array's entry, and nothing frees the array while the store is used.
        unsafe { IArray::<T>::store(entry) }.locate(index, &reader);
        // SAFETY: the caller guarantees the call protocol.
        unsafe { super::Get::new(array, index, reader.place()).call(cx) }
    }
}

/// Work that writes an element, at its home or on behalf of a worker without a node.
pub(super) struct Putting<T> {
    pub(super) node: u32,
    pub(super) array: IArray<T>,
    pub(super) index: usize,
    pub(super) value: T,
    pub(super) writer: By,
}

impl<T: Portable + Clone> Wire for Putting<T> {
    fn write(self, to: &mut Writer) {
        let Putting { node, array, index, value, writer } = self;
        to.value(&(node, array, index, writer.to_string()));
        to.value(&value);
        // The home receives a copy. A panic of this value's destructor is discarded.
        drop_quietly(value);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let (node, array, index, writer) = from.value()?;
        let value = from.value()?;
        Ok(Putting { node, array, index, value, writer: By::Elsewhere(writer) })
    }
}

impl<T: Portable + Clone> Work for Putting<T> {
    type Output = ();

    fn bytes_elsewhere(&self) -> usize {
        bytes_elsewhere(&self.value)
    }

    fn node(&self) -> u32 {
        self.node
    }

    unsafe fn run(self, cx: Cx) -> Outcome<()> {
        let Putting { array, index, value, writer, .. } = self;
        let Some(entry) = entry(cx, array, cx.node()) else {
            array.stale_handle(format_args!("a put of element {index}"), &writer)
        };
        // SAFETY: `entry` is this array's entry, and nothing frees the array while the store is used.
        let store = unsafe { IArray::<T>::store(entry) };
        let (home, at) = store.locate(index, &writer);
        if home != store.node {
            // SAFETY: the caller guarantees the call protocol.
            return unsafe {
                crate::object::remote::at_home(
                    cx,
                    Putting { node: home as u32, array, index, value, writer },
                    Location::caller(),
                )
            };
        }
        put_here(array, entry, at, value, &writer, cx);
        // SAFETY: returned as the outcome of `Work::run`, as the call protocol demands.
        unsafe { Outcome::done(()) }
    }
}

/// Work that returns the indices of a node's elements to a worker without a node.
pub(super) struct Indices<T> {
    pub(super) array: IArray<T>,
    pub(super) node: u32,
}

impl<T: Portable + Clone> Wire for Indices<T> {
    fn write(self, to: &mut Writer) {
        to.value(&(self.array, self.node));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let (array, node) = from.value()?;
        Ok(Indices { array, node })
    }
}

impl<T: Portable + Clone> Work for Indices<T> {
    type Output = Vec<usize>;

    fn node(&self) -> u32 {
        self.node
    }

    unsafe fn run(self, cx: Cx) -> Outcome<Vec<usize>> {
        // SAFETY: `entry` is this array's entry, and nothing frees the array while the store is used.
        let indices = entry(cx, self.array, cx.node()).map(|entry| unsafe { IArray::<T>::store(entry) }.indices());
        // SAFETY: returned as the outcome of `Work::run`, as the call protocol demands.
        unsafe { Outcome::done(indices.unwrap_or_default()) }
    }
}

/// Writes an element of this node, and sends it to the nodes that wait for it.
pub(super) fn put_here<T: Portable + Clone>(
    array: IArray<T>,
    entry: &ArrayEntry,
    at: usize,
    value: T,
    writer: &By,
    cx: Cx,
) {
    // SAFETY: `entry` is this array's entry, and nothing frees the array while the store is used.
    let store = unsafe { IArray::<T>::store(entry) };
    for to in store.put(entry, at, value, writer) {
        let wanted = Wanted { home: store.node, places: at..at + 1 };
        store.count(|counts| counts.forwards += 1);
        Elements::read(array, entry, wanted, to).send(cx);
    }
}
