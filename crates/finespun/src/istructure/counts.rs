//! Counts of an array's reads.

use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use super::IArray;
use super::store::Store;
use crate::call::located;
use crate::call::outcome::Outcome;
use crate::call::{Task, call_async, sealed};
use crate::frame::context::Cx;
use crate::frame::{CallSite, FrameRef};
use crate::message::wire::{Reader, Unreadable, Wire, Writer};
use crate::object::Portable;
use crate::object::gathering::Gathered;
use crate::object::host::Nodes;
use crate::object::remote::Work;

/// Counts of the reads of an array that was made [`counted`](super::Creating::counted): the parameters of its program
/// in the cost model of i-structure-software-cache, section 3.1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// Reads of elements at their home (N_L).
    pub local: u64,
    /// Reads of elements of other nodes (N_R).
    pub remote: u64,
    /// Remote reads that needed no request of their own: the element was in the cache, or had been requested.
    pub hits: u64,
    /// Hits that had to wait.
    pub deferred: u64,
    /// Requests: one for each block, or for each element without a cache.
    pub requests: u64,
    /// Elements that were sent when they were written, because a node had requested them before.
    pub forwards: u64,
}

impl Counts {
    /// Returns the share of remote reads that needed no request (R_hit); 0 without remote reads.
    pub fn hit_ratio(&self) -> f64 {
        ratio(self.hits, self.remote)
    }

    /// Returns the share of hits that had to wait (R_d-hit); 0 without hits.
    pub fn deferred_ratio(&self) -> f64 {
        ratio(self.deferred, self.hits)
    }
}

fn ratio(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

impl AddAssign for Counts {
    fn add_assign(&mut self, other: Counts) {
        self.local += other.local;
        self.remote += other.remote;
        self.hits += other.hits;
        self.deferred += other.deferred;
        self.requests += other.requests;
        self.forwards += other.forwards;
    }
}

/// The task that [`IArray::counts`] makes.
#[must_use = "nothing is looked up until this is awaited"]
pub struct Counting<T> {
    array: IArray<T>,
    place: CallSite,
}

impl<T> Counting<T> {
    pub(super) fn new(array: IArray<T>, place: CallSite) -> Counting<T> {
        Counting { array, place }
    }
}

impl<T> sealed::Sealed for Counting<T> {}
impl<T: Portable + Clone> Task for Counting<T> {
    type Output = Vec<Counts>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Vec<Counts>> {
        let Counting { array, place } = self;
        array.known_len("a look at the counts", place);
        let works = (0..Nodes::of(cx).count()).map(|node| CountsAt { array, node }).collect();
        // SAFETY: awaited at once in a task's body, as `call_async` demands.
        located::poll_here(async move { unsafe { call_async(Gathered { works, place }) }.await }, cx)
    }

    /// Starts as a located frame on this worker: a thief would send the messages by another route.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// Work that returns the counts of a node.
struct CountsAt<T> {
    array: IArray<T>,
    node: u32,
}

impl<T: Portable + Clone> Wire for CountsAt<T> {
    fn write(self, to: &mut Writer) {
        to.value(&(self.array, self.node));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let (array, node) = from.value()?;
        Ok(CountsAt { array, node })
    }
}

impl<T: Portable + Clone> Work for CountsAt<T> {
    type Output = Counts;

    fn node(&self) -> u32 {
        self.node
    }

    unsafe fn run(self, cx: Cx) -> Outcome<Counts> {
        let entry = Nodes::of(cx).table(self.node).arrays.find_kept::<Store<T>>(self.array.word);
        // SAFETY: `entry` is this array's entry, and nothing frees the array while the store is used.
        let counts = entry.and_then(|entry| unsafe { IArray::<T>::store(entry) }.counts());
        // SAFETY: returned as the outcome of `Work::run`, as the call protocol demands.
        unsafe { Outcome::done(counts.unwrap_or_default()) }
    }
}
