//! M-structures: arrays whose elements are taken out, and put back.

use std::any::type_name;
use std::cell::RefCell;
use std::collections::VecDeque;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::rc::Rc;

use super::create::{Creates, Creating, Freeing, Kind, Settings};
use super::readers::Map;
use super::shape::Shape;
use super::writers::Writer as By;
use crate::call::located;
use crate::call::outcome::Outcome;
use crate::call::{Task, sealed};
use crate::frame::context::Cx;
use crate::frame::{CallSite, FrameRef, Payload, drop_quietly, quietly};
use crate::message::wire::{Reader, Unreadable, Wire, Writer, bytes_elsewhere};
use crate::object::Portable;
use crate::object::array_table::{ArrayEntry, ArrayTable, StoredArray};
use crate::object::host::Nodes;
use crate::object::remote::{Work, at_home, request};
use crate::run::continuation::Continuation;
use crate::sched::team::Waits;
use crate::wait::suspend::suspend_at;

/// An array whose elements are taken out and put back, spread over the nodes: an M-structure. Like
/// [`IArray`](super::IArray), a handle.
///
/// An element is empty or full. A task that takes an empty element waits until another task puts it; waiting tasks are
/// served in FIFO order. So a task owns an element exclusively between take and put, and sums that many tasks add to
/// need no other lock.
///
/// ```
/// use finespun::istructure::MArray;
/// use finespun::layout;
/// use finespun::prelude::*;
///
/// #[task]
/// async fn count(votes: MArray<u64>, vote: usize) {
///     let before = votes.take(vote % 3).await;
///     votes.put(vote % 3, before + 1).await;
/// }
///
/// #[task]
/// async fn election() -> Vec<u64> {
///     let votes = MArray::create(3, layout::block(3, nodes())).await;
///     for candidate in 0..3 {
///         votes.put(candidate, 0).await;
///     }
///     parfor(0..100, |vote| count(votes, vote)).await;
///     let found = join_all((0..3).map(|candidate| votes.take(candidate))).await;
///     votes.free().await;
///     found
/// }
/// # let runtime = Runtime::builder().workers(2).nodes(2).build().unwrap();
/// assert_eq!(runtime.run(election()), [34, 33, 33]);
/// ```
pub struct MArray<T> {
    pub(super) word: u64,
    pub(super) of: PhantomData<fn(T) -> T>,
}

impl<T: Portable> MArray<T> {
    /// Makes an array of `len` empty elements, the `i`th on node `layout(i)`.
    ///
    /// # Panics
    /// If the layout names a node that does not exist, or 4096 arrays exist already.
    #[track_caller]
    pub fn create(len: usize, layout: impl Fn(usize) -> usize) -> Creating<MArray<T>> {
        Creating::new(len, layout, Location::caller())
    }

    /// Takes the element at `index` out, as soon as it is full, and leaves it empty.
    ///
    /// If a task is cancelled after it has received the element, and before it resumes, the value is dropped and the
    /// element stays empty.
    ///
    /// # Panics
    /// If `index` is out of range, the array has been freed, or is freed while the task waits.
    #[track_caller]
    pub fn take(self, index: usize) -> Take<T> {
        Take { array: self, index, place: Location::caller() }
    }

    /// Puts the element at `index`, at its home. The first task that waits for it receives it.
    ///
    /// # Panics
    /// If `index` is out of range, the element is full, or the array has been freed.
    #[track_caller]
    pub fn put(self, index: usize, value: T) -> PutBack<T> {
        PutBack { array: self, index, value, place: Location::caller() }
    }

    /// Frees the array on all nodes. Tasks that wait for an element panic.
    ///
    /// # Panics
    /// If the array has been freed already.
    #[track_caller]
    pub fn free(self) -> Freeing<MArray<T>> {
        Freeing::new(self, self.word, Location::caller())
    }

    /// Returns the array's part on `node`, if this worker hosts the node and knows the array.
    fn cells<'a>(self, cx: Cx, node: u32) -> Option<&'a Cells<T>> {
        let entry: &ArrayEntry = Nodes::of(cx).hosted(node)?.arrays.find_kept::<Cells<T>>(self.word)?;
        // SAFETY: the array is a `Cells<T>`. Nothing frees it before the caller awaits.
        Some(unsafe { &*entry.kept.get().cast::<Cells<T>>() })
    }
}

impl<T: 'static> Creates for MArray<T> {
    type Handle = MArray<T>;
}

impl<T: Portable> Kind for MArray<T> {
    type Element = Option<T>;

    fn name() -> String {
        format!("MArray<{}>", type_name::<T>())
    }

    fn of(word: u64) -> MArray<T> {
        MArray::of(word)
    }

    fn add(word: u64, settings: Settings, node: u32, arrays: &ArrayTable) -> Result<(), Payload> {
        arrays.add(word, Rc::new(Cells::<T>::new(word, settings, node as usize)?));
        Ok(())
    }
}

/// The part of an array on one node.
struct Cells<T> {
    word: u64,
    len: usize,
    shape: Shape,
    node: usize,
    made: Box<str>,
    elements: RefCell<Vec<Option<T>>>,
    /// The tasks that wait for each element of this node, in FIFO order.
    takers: RefCell<Map<usize, VecDeque<Continuation<T>>>>,
}

impl<T: Portable> Cells<T> {
    fn new(word: u64, settings: Settings, node: usize) -> Result<Cells<T>, Payload> {
        let Settings { len, shape, made, .. } = settings;
        let own = shape.count(len, node);
        let mut elements = Vec::new();
        if elements.try_reserve_exact(own).is_err() {
            return Err(Payload::new(format!(
                "no memory is left for the {own} elements that node {node} has of the `{}` of {len} elements made at {made}",
                MArray::<T>::name()
            )));
        }
        elements.resize_with(own, || None);
        let (elements, takers) = (RefCell::new(elements), RefCell::default());
        Ok(Cells { word, len, shape, node, made, elements, takers })
    }

    /// Returns the home of an index, and its place there.
    ///
    /// # Panics
    /// If the index is out of range.
    fn locate(&self, index: usize, from: impl fmt::Display) -> (usize, usize) {
        if index >= self.len {
            panic!("there is no element {index} in {}, at {from}", self.name());
        }
        self.shape.spot(index)
    }

    fn name(&self) -> String {
        format!("the `{}` of {} elements that was made at {}", MArray::<T>::name(), self.len, self.made)
    }

    fn element(&self, at: usize) -> String {
        format!("element {} of {}", self.shape.index(self.node, at), self.name())
    }

    fn take(&self, at: usize) -> Option<T> {
        self.elements.borrow_mut()[at].take()
    }

    fn wait(&self, at: usize, k: Continuation<T>) {
        let mut takers = self.takers.borrow_mut();
        let takers = takers.entry(at).or_default();
        if takers.len() == takers.capacity() {
            takers.retain(|k| !k.is_cancelled());
        }
        takers.push_back(k);
    }

    /// Gives the value to the first waiting task that is not cancelled, or fills the element.
    ///
    /// # Panics
    /// If the element is full.
    fn put(&self, at: usize, value: T, from: impl fmt::Display) {
        let mut value = value;
        while let Some(k) = self.next_taker(at) {
            match k.try_resolve(value) {
                Ok(()) => return,
                // The waiting task has been cancelled.
                Err(back) => value = back,
            }
        }
        let mut elements = self.elements.borrow_mut();
        if elements[at].is_some() {
            drop(elements);
            panic!("{} is put at {from}, but it is full: take it before putting it again", self.element(at));
        }
        elements[at] = Some(value);
    }

    fn next_taker(&self, at: usize) -> Option<Continuation<T>> {
        let mut takers = self.takers.borrow_mut();
        let next = takers.get_mut(&at)?.pop_front();
        if next.is_none() {
            takers.remove(&at);
        }
        next
    }
}

impl<T: Portable> StoredArray for Cells<T> {
    fn report_waits(&self, waits: &mut Waits) {
        for (&at, takers) in &*self.takers.borrow() {
            let what = self.element(at);
            waits.extend(takers.iter().map(|k| (k.leaf(), what.clone())));
        }
    }

    fn before_clear(&self, _: &ArrayEntry) {}

    fn on_free(&self) {
        super::forget(self.word);
        for (at, takers) in self.takers.take() {
            let message = format!("{} was freed while a task waited for it", self.element(at));
            takers.into_iter().for_each(|k| quietly(|| k.end(Err(Payload::new(message.clone())))));
        }
    }
}

impl<T> Drop for Cells<T> {
    fn drop(&mut self) {
        super::forget_part(self.word);
        // A panic of a destructor is discarded.
        self.elements.get_mut().drain(..).for_each(drop_quietly);
    }
}

/// The task that [`MArray::take`] makes.
#[must_use = "nothing is taken until this is awaited"]
pub struct Take<T> {
    array: MArray<T>,
    index: usize,
    place: CallSite,
}

impl<T> sealed::Sealed for Take<T> {}
impl<T: Portable> Task for Take<T> {
    type Output = T;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<T> {
        let Take { array, index, place } = self;
        let node = Nodes::of(cx).here(cx);
        let work = Taking { node, array, index, by: By::Here(place) };
        // SAFETY: the caller guarantees the call protocol.
        unsafe { if node == cx.node() { work.run(cx) } else { request(cx, work, place) } }
    }

    /// Starts as a located frame at this node, which may be the element's home.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// The task that [`MArray::put`] makes.
#[must_use = "nothing is put until this is awaited"]
pub struct PutBack<T> {
    array: MArray<T>,
    index: usize,
    value: T,
    place: CallSite,
}

impl<T> sealed::Sealed for PutBack<T> {}
impl<T: Portable> Task for PutBack<T> {
    type Output = ();
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        let PutBack { array, index, value, place } = self;
        let node = Nodes::of(cx).here(cx);
        let work = Filling { node, array, index, value, by: By::Here(place) };
        // SAFETY: the caller guarantees the call protocol.
        unsafe { if node == cx.node() { work.run(cx) } else { request(cx, work, place) } }
    }

    /// Starts as a located frame at this node, which may be the element's home.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// Reports the use of a stale handle.
///
/// # Panics
/// Always.
fn gone<T>(what: &str, index: usize, by: &By) -> ! {
    panic!(
        "a {what} of element {index} of an `MArray<{}>` that has been freed, or belongs to another runtime, at {by}",
        type_name::<T>()
    )
}

/// Work that takes an element at its home, or sends itself to the home.
struct Taking<T> {
    node: u32,
    array: MArray<T>,
    index: usize,
    by: By,
}

impl<T: Portable> Wire for Taking<T> {
    fn write(self, to: &mut Writer) {
        to.value(&(self.node, self.array, self.index, self.by.to_string()));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let (node, array, index, by) = from.value()?;
        Ok(Taking { node, array, index, by: By::Elsewhere(by) })
    }
}

impl<T: Portable> Work for Taking<T> {
    type Output = T;

    fn node(&self) -> u32 {
        self.node
    }

    unsafe fn run(self, cx: Cx) -> Outcome<T> {
        let Taking { node, array, index, by } = self;
        let Some(cells) = array.cells(cx, node) else { gone::<T>("take", index, &by) };
        let (home, at) = cells.locate(index, &by);
        let place = by.place();
        if home != cells.node {
            // SAFETY: the caller guarantees the call protocol.
            return unsafe { at_home(cx, Taking { node: home as u32, array, index, by }, place) };
        }
        if let Some(value) = cells.take(at) {
            // SAFETY: returned as the outcome of `Work::run`, as the call protocol demands.
            return unsafe { Outcome::done(value) };
        }
        let wait = suspend_at(place, |k| cells.wait(at, k));
        // SAFETY: the caller guarantees the call protocol.
        unsafe { wait.call(cx) }
    }
}

/// Work that puts an element at its home, or sends itself to the home.
struct Filling<T> {
    node: u32,
    array: MArray<T>,
    index: usize,
    value: T,
    by: By,
}

impl<T: Portable> Wire for Filling<T> {
    fn write(self, to: &mut Writer) {
        let Filling { node, array, index, value, by } = self;
        to.value(&(node, array, index, by.to_string()));
        to.value(&value);
        // The home receives a copy. A panic of this value's destructor is discarded.
        drop_quietly(value);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let (node, array, index, by) = from.value()?;
        let value = from.value()?;
        Ok(Filling { node, array, index, value, by: By::Elsewhere(by) })
    }
}

impl<T: Portable> Work for Filling<T> {
    type Output = ();

    fn bytes_elsewhere(&self) -> usize {
        bytes_elsewhere(&self.value)
    }

    fn node(&self) -> u32 {
        self.node
    }

    unsafe fn run(self, cx: Cx) -> Outcome<()> {
        let Filling { node, array, index, value, by } = self;
        let Some(cells) = array.cells(cx, node) else { gone::<T>("put", index, &by) };
        let (home, at) = cells.locate(index, &by);
        let place = by.place();
        if home != cells.node {
            // SAFETY: the caller guarantees the call protocol.
            return unsafe { at_home(cx, Filling { node: home as u32, array, index, value, by }, place) };
        }
        cells.put(at, value, &by);
        // SAFETY: returned as the outcome of `Work::run`, as the call protocol demands.
        unsafe { Outcome::done(()) }
    }
}
