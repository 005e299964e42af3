//! A node's reads of other nodes' elements: the readers that wait, and the cache.
//!
//! Readers of an element wait at their own node, and only the first sends a request (*distributed deferred reads*). With a cache
//! a request is for a whole block, and the line for the block is allocated before the request is sent (*cache advance*): later
//! readers of the block wait, and send nothing. The home sends the elements that have been written, and each of the others when
//! it is written (*deferred read sharing*).
//!
//! ```text
//!   no line -- first get: a request --> partial -- the last element arrives --> full -- the cache is full --> no line
//! ```
//!
//! An element never changes after it has been written, so no line is ever invalidated.

use std::cell::Cell;
use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::ops::Range;
use std::ptr;

use super::shape::Shape;
use super::store::{Map, Readers};
use crate::task::frame::{FrameRef, quietly};
use crate::task::suspend::Continuation;

/// Whether and how an array keeps what has been read from other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Cache {
    /// No element is kept. A node still sends one request for an element, however many of its tasks wait for it.
    Off,
    /// A request fetches a block of elements: with a block layout elements that follow each other, else elements that follow
    /// each other on their node. Each node keeps the last `capacity` blocks that it has fetched, and the blocks that it waits for.
    On {
        /// Elements: a power of two.
        block: usize,
        /// Blocks.
        capacity: usize,
    },
}

/// An element of another node: the node, and the element's place there.
pub(super) type Spot = (usize, usize);

/// Consecutive elements of one node.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wanted {
    pub(super) home: usize,
    pub(super) places: Range<usize>,
}

/// A node's readers of other nodes' elements, and its cache.
pub(super) struct Lines<T> {
    waiting: Map<Spot, Readers<T>>,
    cache: Option<Kept<T>>,
}

/// The lines of a cache.
struct Kept<T> {
    grid: Grid,
    capacity: usize,
    lines: Map<usize, Line<T>>,
    /// The numbers of the complete lines, the oldest first.
    complete: VecDeque<usize>,
    /// The full lines, if positions are indices.
    directory: Option<Directory>,
}

/// The assignment of elements to lines.
struct Grid {
    block: usize,
    /// The distance between two nodes' first positions; `None` if positions are indices.
    stride: Option<usize>,
}

enum Line<T> {
    Partial { values: Vec<Option<T>>, missing: usize },
    Full(Box<[T]>),
}

/// Finds elements of other nodes' by their indices: of each granule where its elements would begin if index 0 were among them,
/// or null.
///
/// The first word is the number of indices, for which there are entries.
pub(super) struct Directory {
    words: Box<[Cell<*const ()>]>,
}

/// Indices to an entry. A constant, as it saves instructions of every access: where blocks are smaller, there are no entries.
const GRANULE: usize = 8;

/// The directory of nodes without a cache.
struct Nothing([*const (); 1]);

// SAFETY: nothing is behind its pointer, a null.
unsafe impl Sync for Nothing {}

static NOTHING: Nothing = Nothing([ptr::null()]);

/// The words of a directory without indices.
pub(super) fn nothing() -> *const *const () {
    NOTHING.0.as_ptr()
}

impl Directory {
    fn new(len: usize) -> Directory {
        // Pages of zeros, of which those that are used are there.
        let words = Box::new_zeroed_slice(1 + len.div_ceil(GRANULE));
        // SAFETY: a null pointer is a pointer.
        let words: Box<[Cell<*const ()>]> = unsafe { words.assume_init() };
        words[0].set(ptr::without_provenance(len));
        Directory { words }
    }

    /// The elements from `first` on are these.
    fn publish<T>(&self, first: usize, values: &[T]) {
        let base = values.as_ptr().wrapping_sub(first);
        for at in (first..first + values.len()).step_by(GRANULE) {
            self.words[1 + at / GRANULE].set(base.cast());
        }
    }

    fn forget(&self, indices: Range<usize>) {
        for at in indices.step_by(GRANULE) {
            self.words[1 + at / GRANULE].set(ptr::null());
        }
    }

    /// Returns where element 0 would be if it were in one array with element `index`, or null if that element is not cached.
    ///
    /// # Safety
    /// `words` is what [`Lines::directory`] gives, at the node that this runs at, for an array of `T`s that has not been freed. The
    /// result is used before anything else happens to the array.
    #[inline(always)]
    pub(super) unsafe fn base<T>(words: *const *const (), index: usize) -> *const T {
        // SAFETY: a directory has a first word.
        let len = unsafe { *words }.addr();
        if index >= len {
            return ptr::null();
        }
        // SAFETY: a directory has an entry for each index below its first word.
        unsafe { *words.add(1 + index / GRANULE) }.cast()
    }
}

impl Grid {
    /// The line of an element, and the element's offset in the line.
    fn find(&self, shape: &Shape, (home, place): Spot) -> (usize, usize) {
        let position = match self.stride {
            None => shape.index(home, place),
            Some(stride) => home * stride + place,
        };
        (position / self.block, position % self.block)
    }

    /// The elements of a line that other nodes than `own` have, and the number of all its elements.
    fn wanted(&self, shape: &Shape, len: usize, own: usize, number: usize) -> (Vec<Wanted>, usize) {
        let start = number * self.block;
        let Some(stride) = self.stride else {
            let end = (start + self.block).min(len);
            let mut wanted = Vec::new();
            let mut at = start;
            while at < end {
                let (home, place) = (shape.home(at), shape.place(at));
                let count = (shape.count(len, home) - place).min(end - at);
                if home != own {
                    wanted.push(Wanted { home, places: place..place + count });
                }
                at += count;
            }
            return (wanted, end - start);
        };
        let (home, place) = (start / stride, start % stride);
        let count = shape.count(len, home).saturating_sub(place).min(self.block);
        (vec![Wanted { home, places: place..place + count }], count)
    }
}

impl<T: Clone> Lines<T> {
    pub(super) fn new(cache: Cache, shape: &Shape, len: usize) -> Lines<T> {
        let kept = |block: usize, capacity| {
            // A block has no more than a node.
            let block = block.min(if shape.is_block() { len } else { shape.most(len) }.next_power_of_two());
            let stride = (!shape.is_block()).then(|| shape.most(len).next_multiple_of(block));
            let directory = (stride.is_none() && block >= GRANULE).then(|| Directory::new(len));
            Kept { grid: Grid { block, stride }, capacity, lines: Map::default(), complete: VecDeque::new(), directory }
        };
        let cache = match cache {
            Cache::Off => None,
            Cache::On { block, capacity } => Some(kept(block, capacity)),
        };
        Lines { waiting: Map::default(), cache }
    }

    /// The words of the directory.
    pub(super) fn directory(&self) -> *const *const () {
        let known = self.cache.as_ref().and_then(|cache| cache.directory.as_ref());
        known.map_or(nothing(), |directory| directory.words.as_ptr().cast())
    }

    /// An element in the cache.
    pub(super) fn get(&self, shape: &Shape, spot: Spot) -> Option<&T> {
        let cache = self.cache.as_ref()?;
        let (number, offset) = cache.grid.find(shape, spot);
        match cache.lines.get(&number)? {
            Line::Partial { values, .. } => values[offset].as_ref(),
            Line::Full(values) => values.get(offset),
        }
    }

    /// Lets `k` wait for an element that is not in the cache, and passes on the requests to send.
    pub(super) fn wait(
        &mut self,
        shape: &Shape,
        len: usize,
        own: usize,
        spot: Spot,
        k: Continuation<T>,
        ask: impl FnMut(Wanted),
    ) {
        let (first, readers) = match self.waiting.entry(spot) {
            Entry::Vacant(entry) => (true, entry.insert(Readers::Nobody)),
            Entry::Occupied(entry) => (false, entry.into_mut()),
        };
        readers.add(k);
        let Some(cache) = &mut self.cache else {
            let (home, place) = spot;
            return first.then_some(Wanted { home, places: place..place + 1 }).into_iter().for_each(ask);
        };
        let (number, _) = cache.grid.find(shape, spot);
        if let Entry::Vacant(line) = cache.lines.entry(number) {
            let (wanted, count) = cache.grid.wanted(shape, len, own, number);
            let missing = wanted.iter().map(|wanted| wanted.places.len()).sum();
            line.insert(Line::Partial { values: (0..count).map(|_| None).collect(), missing });
            wanted.into_iter().for_each(ask);
        }
    }

    /// Takes the readers of an element that has arrived.
    pub(super) fn take(&mut self, spot: Spot) -> Readers<T> {
        self.waiting.remove(&spot).unwrap_or(Readers::Nobody)
    }

    /// Whether elements are kept.
    pub(super) fn keeps(&self) -> bool {
        self.cache.is_some()
    }

    /// Keeps an element that has arrived, and returns the lines that it has displaced.
    pub(super) fn keep(&mut self, shape: &Shape, spot: Spot, value: T) -> Dropped<T> {
        let Some(cache) = &mut self.cache else { return Dropped { value: Some(value), lines: Vec::new() } };
        let (number, offset) = cache.grid.find(shape, spot);
        let (value, complete) = cache.enter(number, offset, value);
        let mut dropped = Dropped { value, lines: Vec::new() };
        if complete {
            cache.complete.push_back(number);
            while cache.complete.len() > cache.capacity {
                let oldest = cache.complete.pop_front();
                dropped.lines.extend(oldest.and_then(|number| cache.remove(number)));
            }
        }
        dropped
    }

    /// Gives up elements that cannot be fetched, and returns their readers. A later read requests them again.
    pub(super) fn give_up(&mut self, shape: &Shape, wanted: &Wanted) -> (Vec<Continuation<T>>, Dropped<T>) {
        let (mut all, mut dropped) = (Vec::new(), Vec::new());
        for place in wanted.places.clone() {
            all.extend(self.take((wanted.home, place)));
            if let Some(cache) = &mut self.cache {
                let (number, _) = cache.grid.find(shape, (wanted.home, place));
                if let Some(Line::Partial { missing: 1.., .. }) = cache.lines.get(&number) {
                    dropped.extend(cache.lines.remove(&number));
                }
            }
        }
        (all, Dropped { value: None, lines: dropped })
    }

    /// Takes all readers.
    pub(super) fn take_all(&mut self) -> Map<Spot, Readers<T>> {
        std::mem::take(&mut self.waiting)
    }

    /// The element that a leaf waits for.
    pub(super) fn waits_for(&self, leaf: FrameRef) -> Option<Spot> {
        self.waiting.iter().find(|(_, readers)| readers.has(leaf)).map(|(&spot, _)| spot)
    }
}

impl<T> Kept<T> {
    /// Enters an element into its line. Returns the value if the line has it already, and whether the line is complete.
    fn enter(&mut self, number: usize, offset: usize, value: T) -> (Option<T>, bool) {
        let Some(Line::Partial { values, missing }) = self.lines.get_mut(&number) else { return (Some(value), false) };
        if values[offset].is_some() {
            return (Some(value), false);
        }
        values[offset] = Some(value);
        *missing -= 1;
        if *missing > 0 {
            return (None, false);
        }
        // A line with elements of this node is never full.
        if values.iter().all(Option::is_some) {
            let values = std::mem::take(values).into_iter().flatten().collect();
            self.lines.insert(number, Line::Full(values));
            if let (Some(Line::Full(values)), Some(directory)) = (self.lines.get(&number), &self.directory) {
                directory.publish(number * self.grid.block, values);
            }
        }
        (None, true)
    }

    fn remove(&mut self, number: usize) -> Option<Line<T>> {
        let line = self.lines.remove(&number);
        if let (Some(Line::Full(values)), Some(directory)) = (&line, &self.directory) {
            let first = number * self.grid.block;
            directory.forget(first..first + values.len());
        }
        line
    }
}

/// Values and lines that are not kept.
pub(super) struct Dropped<T> {
    value: Option<T>,
    lines: Vec<Line<T>>,
}

// The values' destructors are the program's: each runs by itself, and no task catches its panic.

impl<T> Drop for Dropped<T> {
    fn drop(&mut self) {
        quietly(|| drop(self.value.take()));
        self.lines.clear();
    }
}

impl<T> Drop for Line<T> {
    fn drop(&mut self) {
        match self {
            Line::Partial { values, .. } => values.drain(..).for_each(|value| quietly(|| drop(value))),
            Line::Full(values) => std::mem::take(values).into_iter().for_each(|value| quietly(|| drop(value))),
        }
    }
}
