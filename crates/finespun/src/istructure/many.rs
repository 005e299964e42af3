//! Getting many elements at once.

use std::iter::Peekable;

use super::IArray;
use super::access::Get;
use super::messages::Ask;
use crate::call::located;
use crate::call::outcome::Outcome;
use crate::call::{Task, call_async, sealed};
use crate::frame::context::Cx;
use crate::frame::{CallSite, Delivered, FrameRef};
use crate::object::Portable;
use crate::object::gathering::{Branch, begin, gather};
use crate::object::host::Nodes;
use crate::object::replicated::Replicated;

/// The task that [`IArray::get_many`] and [`IArray::get_range`] make.
#[must_use = "nothing is read until this is awaited"]
pub struct GetMany<T, I> {
    array: IArray<T>,
    indices: I,
    place: CallSite,
}

impl<T, I> GetMany<T, I> {
    pub(super) fn new(array: IArray<T>, indices: I, place: CallSite) -> GetMany<T, I> {
        GetMany { array, indices, place }
    }
}

impl<T, I> sealed::Sealed for GetMany<T, I> {}
impl<T: Portable + Clone, I: Iterator<Item = usize>> Task for GetMany<T, I> {
    type Output = Vec<T>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Vec<T>> {
        let GetMany { array, indices, place } = self;
        let mut indices = indices.peekable();
        let len = array.len();
        let mut values = Vec::with_capacity(indices.size_hint().0.min(len));
        array.copy_local(cx, &mut indices, &mut values);
        // The iterator is the program's code, so it runs before requests are collected, up to the first index out of
        // range.
        let mut rest = Vec::new();
        for index in indices {
            rest.push(index);
            if index >= len {
                break;
            }
        }
        if rest.is_empty() {
            // SAFETY: returned as the outcome of `Task::call`, as the call protocol demands.
            return unsafe { Outcome::done(values) };
        }
        let mut branches: Vec<Branch<T>> = values.into_iter().map(|value| Ok(Delivered::Value(value))).collect();
        let asks = array.collect_requests(cx, || {
            for index in rest {
                // SAFETY: `cx` is the current worker's. A suspended child is kept and awaited.
                branches.push(begin(cx, || unsafe { Get::new(array, index, place).call(cx) }));
                if let Some(Ok(Delivered::Panic(_))) = branches.last() {
                    break;
                }
            }
        });
        let nodes = Nodes::of(cx);
        for ask in asks {
            nodes.send(cx, nodes.worker_of(ask.wanted.home as u32), ask);
        }
        gather(cx, branches)
    }

    /// Starts as a located frame on this worker: a thief would send the messages by another route.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

impl<T: Portable + Clone> IArray<T> {
    /// Copies elements as long as they belong to this node and have been written.
    fn copy_local(self, cx: Cx, indices: &mut Peekable<impl Iterator<Item = usize>>, values: &mut Vec<T>) {
        let Some(entry) = self.entry(cx) else { return };
        let here = entry.first.get()..entry.end.get();
        while let Some(index) = indices.next_if(|index| here.contains(index)) {
            // SAFETY: the elements from `first` up to `end` have been written.
            values.push(unsafe { &*entry.elements.get().cast::<T>().wrapping_add(index) }.clone());
        }
    }

    /// Runs `gets`, and returns the requests that they would have sent, with consecutive elements combined.
    fn collect_requests(self, cx: Cx, gets: impl FnOnce()) -> Vec<Ask<T>> {
        let Some(entry) = self.entry(cx) else {
            gets();
            return Vec::new();
        };
        // SAFETY: `entry` is this array's entry, and nothing frees the array while the store is used.
        let store = unsafe { IArray::<T>::store(entry) };
        let before = store.requests.replace(Some(Vec::new()));
        gets();
        let requests = store.requests.replace(before).unwrap_or_default();
        let to = store.node as u32;
        requests.into_iter().map(|wanted| Ask { array: self, wanted, to }).collect()
    }
}

/// The task that [`IArray::freeze`] makes.
#[must_use = "nothing is read until this is awaited"]
pub struct Freeze<T> {
    array: IArray<T>,
    place: CallSite,
}

impl<T> Freeze<T> {
    pub(super) fn new(array: IArray<T>, place: CallSite) -> Freeze<T> {
        Freeze { array, place }
    }
}

impl<T> sealed::Sealed for Freeze<T> {}
impl<T: Portable + Clone + Sync> Task for Freeze<T> {
    type Output = Replicated<Vec<T>>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Replicated<Vec<T>>> {
        let Freeze { array, place } = self;
        let all = GetMany::new(array, 0..array.known_len("a freeze", place), place);
        // SAFETY: awaited at once in a task's body, as `call_async` demands.
        located::poll_here(async move { Replicated::new(unsafe { call_async(all) }.await) }, cx)
    }

    /// Starts as a located frame on this worker: a thief would send the messages by another route.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}
