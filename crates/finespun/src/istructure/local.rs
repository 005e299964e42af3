//! A node's own elements: read as a slice, and written all at once.

use std::fmt;
use std::ops::Deref;
use std::rc::Rc;

use super::IArray;
use super::access::write_next;
use super::messages::put_here;
use super::shape::Shape;
use super::store::Store;
use super::writers::Writer;
use crate::call::located;
use crate::call::outcome::Outcome;
use crate::call::{Task, call_async, sealed};
use crate::frame::context::{Cx, try_cx};
use crate::frame::{CallSite, FrameRef};
use crate::object::Portable;
use crate::object::array_table::StoredArray;
use crate::object::host::Nodes;
use crate::object::remote::request;

/// A node's own elements, as far as they have been written in the order of their indices: the result of
/// [`IArray::local`].
///
/// A slice, in that order. It stays valid if the array is freed.
pub struct Local<T> {
    elements: *const T,
    ready: usize,
    node: usize,
    shape: Shape,
    /// Keeps the elements alive.
    _kept: Option<Rc<dyn StoredArray>>,
}

impl<T> Local<T> {
    /// Returns the array index of the element at `place` of the slice.
    ///
    /// # Panics
    /// If `place` is out of range.
    #[track_caller]
    pub fn index(&self, place: usize) -> usize {
        assert!(place < self.ready, "there are {} elements here: this asks for number {place}", self.ready);
        self.shape.index(self.node, place)
    }

    /// Returns the elements with their indices.
    pub fn indexed(&self) -> impl Iterator<Item = (usize, &T)> {
        self.iter().enumerate().map(|(place, value)| (self.shape.index(self.node, place), value))
    }
}

impl<T> Deref for Local<T> {
    type Target = [T];

    fn deref(&self) -> &[T] {
        if self.ready == 0 {
            return &[];
        }
        // SAFETY: `ready` elements have been written, do not change any more, and live as long as `_kept`.
        unsafe { std::slice::from_raw_parts(self.elements, self.ready) }
    }
}

impl<T: fmt::Debug> fmt::Debug for Local<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.iter()).finish()
    }
}

impl<T: Portable + Clone> IArray<T> {
    /// Returns the local elements for [`IArray::local`].
    pub(super) fn local_at(self, place: CallSite) -> Local<T> {
        let Some(cx) = try_cx() else {
            panic!("the local elements of an array were asked for outside a task, at {place}")
        };
        let Some(entry) = self.entry(cx) else {
            self.known_len("a look at the local elements", place);
            // This worker has no node.
            return Local { elements: std::ptr::null(), ready: 0, node: 0, shape: Shape::none(), _kept: None };
        };
        // SAFETY: `entry` is this array's entry, and nothing frees the array while the store is used.
        let store = unsafe { IArray::<T>::store(entry) };
        Local {
            elements: store.first(),
            ready: store.ready(entry),
            node: store.node,
            shape: store.shape.clone(),
            _kept: Nodes::of(cx).table(store.node as u32).arrays.kept(self.word),
        }
    }
}

/// The task that [`IArray::fill`] makes.
#[must_use = "nothing is written until this is awaited"]
pub struct Fill<T, F> {
    array: IArray<T>,
    value: F,
    place: CallSite,
}

impl<T, F> Fill<T, F> {
    pub(super) fn new(array: IArray<T>, value: F, place: CallSite) -> Fill<T, F> {
        Fill { array, value, place }
    }
}

impl<T, F> sealed::Sealed for Fill<T, F> {}
impl<T: Portable + Clone, F: FnMut(usize) -> T + Send> Task for Fill<T, F> {
    type Output = ();
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        let Fill { array, mut value, place } = self;
        let Some(entry) = array.entry(cx) else {
            array.known_len("a fill", place);
            // This worker has no node, so another worker's node is filled.
            let node = Nodes::of(cx).here(cx);
            let body = async move {
                // SAFETY: awaited at once in a task's body, as `call_async` demands.
                let indices = unsafe { call_async(Elsewhere { array, node, place }) }.await;
                for index in indices {
                    // SAFETY: awaited at once in a task's body, as `call_async` demands.
                    unsafe { call_async(super::Put::new(array, index, value(index), place)) }.await;
                }
            };
            return located::poll_here(body, cx);
        };
        // SAFETY: `entry` is this array's entry, and nothing frees the array while the store is used.
        let store = unsafe { IArray::<T>::store(entry) };
        for at in 0..store.own() {
            let index = store.shape.index(store.node, at);
            if let Err(value) = write_next(entry, index, value(index), place) {
                put_here(array, entry, at, value, &Writer::Here(place), cx);
            }
        }
        // Dropped before the outcome is made, since a panic would lose the outcome.
        drop(value);
        // SAFETY: returned as the outcome of `Task::call`, as the call protocol demands.
        unsafe { Outcome::done(()) }
    }

    /// Starts as a located frame on this worker, whose node is filled.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// The task that asks another node for the indices of its elements.
struct Elsewhere<T> {
    array: IArray<T>,
    node: u32,
    place: CallSite,
}

impl<T> sealed::Sealed for Elsewhere<T> {}
impl<T: Portable + Clone> Task for Elsewhere<T> {
    type Output = Vec<usize>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Vec<usize>> {
        // SAFETY: the caller guarantees the call protocol.
        unsafe { request(cx, super::messages::Indices { array: self.array, node: self.node }, self.place) }
    }

    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

impl<T: Portable + Clone> Store<T> {
    /// Returns the indices of this node's elements.
    pub(super) fn indices(&self) -> Vec<usize> {
        (0..self.own()).map(|at| self.shape.index(self.node, at)).collect()
    }
}
