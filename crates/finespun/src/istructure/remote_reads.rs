//! Reads of other nodes' elements: the waiting readers, and the cache.
//!
//! Readers of an element wait at their own node, and only the first sends a request (*distributed deferred reads*).
//! With a cache a request is for a whole block, and the line for the block is allocated before the request is sent
//! (*cache advance*): later readers of the block wait, and send nothing. The home sends the elements that have been
//! written, and each of the others when it is written (*deferred read sharing*).
//!
//! ```text
//!   no line -- first get: a request --> partial -- the last element arrives --> full -- the cache is full --> no line
//! ```
//!
//! An element never changes after it has been written, so no line is ever invalidated.

use std::collections::VecDeque;
use std::collections::hash_map::Entry;
use std::ops::Range;

use super::auto::{self, Auto, Choice};
use super::directory::{Directory, GRANULE, nothing};
use super::readers::{Map, Readers};
use super::request_costs::LINE;
use super::shape::Shape;
use crate::frame::drop_quietly;
use crate::observe::CacheChoice;
use crate::run::continuation::Continuation;

/// How an array caches elements that have been read from other nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Cache {
    /// No element is kept. A node still sends one request for an element, however many of its tasks wait for it.
    Off,
    /// A request fetches a block of elements: consecutive indices with a block layout, else consecutive places on their
    /// node. Each node keeps the last `capacity` blocks that it has fetched, and the blocks that it waits for.
    On {
        /// Number of elements in a block: a power of two.
        block: usize,
        /// Number of blocks.
        capacity: usize,
    },
    /// Each node decides by itself whether a cache pays, and how many elements a request should fetch: from the times
    /// of requests and hits, measured while the program runs, and from the hits of a sample of its blocks. It keeps up
    /// to 64 MiB of an array's elements. [`Runtime::cache_choices`](crate::Runtime::cache_choices) reports the decision
    /// and its reasons.
    Auto,
}

/// An element of another node: the node, and the element's place there.
pub(super) type Spot = (usize, usize);

/// Consecutive elements of one node.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Wanted {
    pub(super) home: usize,
    pub(super) places: Range<usize>,
}

impl Wanted {
    /// Returns true if `others` directly follow these elements.
    pub(super) fn continues(&self, others: &Wanted) -> bool {
        self.home == others.home && self.places.end == others.places.start
    }
}

/// A node's readers of other nodes' elements, and its cache.
pub(super) struct RemoteReads<T> {
    waiting: Map<Spot, Waiting<T>>,
    /// Number of awaited elements that no line counts: they were requested alone, or their line has been given up.
    loose: usize,
    cache: Option<BlockCache<T>>,
    auto: Option<Auto>,
}

/// The readers that wait for an element.
struct Waiting<T> {
    readers: Readers<T>,
    /// Set if the element's line counts it in `awaited`.
    counted: bool,
}

/// The lines of a cache.
struct BlockCache<T> {
    grid: Grid,
    capacity: usize,
    lines: Map<usize, CacheLine<T>>,
    /// The numbers of the complete lines, the oldest first.
    complete: VecDeque<usize>,
    /// The full lines, if positions are indices.
    directory: Option<Directory>,
    /// The number of the array's elements.
    len: usize,
    /// This node.
    own: usize,
}

/// The assignment of elements to lines.
struct Grid {
    block: usize,
    /// The distance between two nodes' first positions; `None` if positions are indices.
    stride: Option<usize>,
}

enum CacheLine<T> {
    Partial(Partial<T>),
    Full(Box<[T]>),
}

/// A line that waits for elements.
struct Partial<T> {
    /// Number of its elements, including this node's own.
    count: usize,
    /// The elements that have arrived; empty before the first one arrives.
    values: Vec<Option<T>>,
    missing: usize,
    /// Number of its elements with waiting readers. While it is above 0, readers of arriving elements are looked up.
    awaited: usize,
}

/// Consecutive elements of one node and one line that have arrived.
pub(super) struct Chunk {
    number: usize,
    offset: usize,
    pub(super) len: usize,
}

impl Grid {
    /// Returns the line of an element, and the element's offset in the line.
    fn find(&self, shape: &Shape, (home, place): Spot) -> (usize, usize) {
        let position = match self.stride {
            None => shape.index(home, place),
            Some(stride) => home * stride + place,
        };
        (position / self.block, position % self.block)
    }

    /// Returns the elements of a line at other nodes than `own`, and the number of all its elements.
    fn wanted(&self, shape: &Shape, len: usize, own: usize, number: usize) -> (Vec<Wanted>, usize) {
        let start = number * self.block;
        let Some(stride) = self.stride else {
            // A group of lines may extend beyond the last line.
            let end = (start + self.block).min(len).max(start);
            let mut wanted = Vec::new();
            let mut at = start;
            while at < end {
                let (home, place) = shape.spot(at);
                let count = (shape.count(len, home) - place).min(end - at);
                if home != own {
                    wanted.push(Wanted { home, places: place..place + count });
                }
                at += count;
            }
            return (wanted, end - start);
        };
        let (home, place) = (start / stride, start % stride);
        // A group of lines may extend into this node's own elements.
        let there = if home == own { 0 } else { shape.count(len, home) };
        let count = there.saturating_sub(place).min(self.block);
        (vec![Wanted { home, places: place..place + count }], count)
    }

    /// Returns the elements of a line at other nodes than `own`, one by one.
    fn spots(&self, shape: &Shape, len: usize, own: usize, number: usize) -> impl Iterator<Item = Spot> + use<> {
        let (wanted, _) = self.wanted(shape, len, own, number);
        wanted.into_iter().flat_map(|Wanted { home, places }| places.map(move |place| (home, place)))
    }
}

impl<T: Clone> RemoteReads<T> {
    pub(super) fn new(cache: Cache, shape: &Shape, len: usize, own: usize) -> RemoteReads<T> {
        let kept = |block: usize, capacity| {
            // A block has no more elements than a node.
            let block = block.min(if shape.is_block() { len } else { shape.most(len) }.next_power_of_two());
            let stride = (!shape.is_block()).then(|| shape.most(len).next_multiple_of(block));
            let directory = if stride.is_none() && block >= GRANULE { Directory::new(len) } else { None };
            let grid = Grid { block, stride };
            BlockCache { grid, capacity, lines: Map::default(), complete: VecDeque::new(), directory, len, own }
        };
        let lines_kept = auto::BYTES / (LINE * size_of::<T>().max(1));
        let (cache, auto) = match cache {
            Cache::Off => (None, None),
            Cache::On { block, capacity } => (Some(kept(block, capacity)), None),
            Cache::Auto => (Some(kept(LINE, lines_kept.max(1))), Some(Auto::new())),
        };
        RemoteReads { waiting: Map::default(), loose: 0, cache, auto }
    }

    /// Returns the decision of an automatic cache.
    pub(super) fn choice(&self, made: &str) -> Option<CacheChoice> {
        self.auto.as_ref()?.choice(made)
    }

    /// Returns the words of the directory.
    pub(super) fn directory(&self) -> *const *const () {
        let known = self.cache.as_ref().and_then(|cache| cache.directory.as_ref());
        known.map_or(nothing(), Directory::words)
    }

    /// Returns an element in the cache.
    pub(super) fn get(&self, shape: &Shape, spot: Spot) -> Option<&T> {
        let cache = self.cache.as_ref()?;
        let (number, offset) = cache.grid.find(shape, spot);
        let value = match cache.lines.get(&number)? {
            CacheLine::Partial(line) => line.values.get(offset)?.as_ref()?,
            CacheLine::Full(values) => values.get(offset)?,
        };
        if let Some(auto) = &self.auto {
            auto.hit(number);
            cache.publish(auto.ended());
        }
        Some(value)
    }

    /// Registers `k` as a reader of an element that is not in the cache, and passes the requests to send to `ask`.
    /// Returns lines that are not kept any more.
    ///
    /// `added` is the overhead that messages add, in nanoseconds for a request.
    #[must_use = "values are dropped when nothing is borrowed"]
    #[inline]
    pub(super) fn wait(
        &mut self,
        shape: &Shape,
        spot: Spot,
        k: Continuation<T>,
        added: f64,
        mut ask: impl FnMut(Wanted),
    ) -> Option<Dropped<T>> {
        let (first, waiting) = match self.waiting.entry(spot) {
            Entry::Vacant(entry) => {
                self.loose += 1;
                (true, entry.insert(Waiting { readers: Readers::Nobody, counted: false }))
            }
            Entry::Occupied(entry) => (false, entry.into_mut()),
        };
        waiting.readers.add(k);
        let (home, place) = spot;
        let alone = Wanted { home, places: place..place + 1 };
        let Some(cache) = &mut self.cache else {
            first.then_some(alone).into_iter().for_each(ask);
            return None;
        };
        let (number, _) = cache.grid.find(shape, spot);
        if let Some(line) = cache.lines.get_mut(&number) {
            self.loose -= line.count(waiting);
            if let Some(auto) = self.auto.as_ref().filter(|_| first) {
                auto.deferred();
            }
            return None;
        }
        let Some(auto) = &mut self.auto else {
            cache.request(shape, number, ask);
            self.adopt(shape, number, 1);
            return None;
        };
        if !first {
            // The element has been requested alone before.
            return None;
        }
        let was_on = auto.is_on();
        let choice = auto.miss(number, added, |line| cache.lines.contains_key(&line));
        cache.publish(auto.ended());
        match choice {
            Choice::Element => ask(alone),
            Choice::Lines { first, width } => {
                (first..first + width).for_each(|number| cache.request(shape, number, &mut ask));
            }
        }
        let dropped = (was_on && !auto.is_on()).then(|| Dropped { values: Vec::new(), lines: cache.clear() });
        if let Choice::Lines { first, width } = choice {
            self.adopt(shape, first, width);
        }
        dropped
    }

    /// Makes the `count` lines from `first` on count their elements that readers already wait for.
    fn adopt(&mut self, shape: &Shape, first: usize, count: usize) {
        let Some(cache) = &mut self.cache else { return };
        for number in first..first + count {
            if self.loose == 0 {
                return;
            }
            let Some(line) = cache.lines.get_mut(&number) else { continue };
            for spot in cache.grid.spots(shape, cache.len, cache.own, number) {
                let waiting = self.waiting.get_mut(&spot);
                self.loose -= waiting.map_or(0, |waiting| line.count(waiting));
            }
        }
    }

    /// Removes and returns the readers of an element that has arrived.
    pub(super) fn take(&mut self, spot: Spot) -> Readers<T> {
        let Some(waiting) = self.waiting.remove(&spot) else { return Readers::Nobody };
        self.loose -= usize::from(!waiting.counted);
        waiting.readers
    }

    /// Returns the first of these arrived elements that belong to one line; `None` if the first element has no line.
    pub(super) fn chunk(&self, shape: &Shape, wanted: &Wanted) -> Option<Chunk> {
        let cache = self.cache.as_ref()?;
        let (number, offset) = cache.grid.find(shape, (wanted.home, wanted.places.start));
        let len = (cache.grid.block - offset).min(wanted.places.len());
        cache.lines.contains_key(&number).then_some(Chunk { number, offset, len })
    }

    /// Removes and returns the readers of arrived elements, with the elements' offsets in `chunk`, whose first element
    /// is at `spot`.
    pub(super) fn take_readers(&mut self, spot: Spot, chunk: &Chunk) -> Vec<(usize, Readers<T>)> {
        let mut readers = Vec::new();
        let line = self.cache.as_mut().and_then(|cache| cache.lines.get_mut(&chunk.number));
        // Readers may also wait for elements whose line has been given up, or that were requested alone. Their number
        // is unknown.
        let mut unknown = usize::MAX;
        let awaited = match line {
            Some(CacheLine::Partial(line)) => &mut line.awaited,
            _ => &mut unknown,
        };
        for at in 0..chunk.len {
            if *awaited == 0 {
                break;
            }
            if let Some(found) = self.waiting.remove(&(spot.0, spot.1 + at)) {
                *awaited -= usize::from(found.counted);
                self.loose -= usize::from(!found.counted);
                readers.push((at, found.readers));
            }
        }
        readers
    }

    /// Caches the first elements of `values`, which have arrived, and returns those that are not kept.
    pub(super) fn keep(&mut self, chunk: &Chunk, values: &mut impl Iterator<Item = T>) -> Dropped<T> {
        let mut dropped = Dropped { values: Vec::new(), lines: Vec::new() };
        let Some(cache) = &mut self.cache else {
            dropped.values.extend(values.take(chunk.len));
            return dropped;
        };
        let counted = self.auto.as_ref().is_some_and(|auto| auto.counts(chunk.number));
        if cache.enter(chunk, values, counted, &mut dropped.values) {
            cache.complete.push_back(chunk.number);
            while cache.complete.len() > cache.capacity {
                let oldest = cache.complete.pop_front();
                dropped.lines.extend(oldest.and_then(|number| cache.remove(number)));
            }
        }
        dropped
    }

    /// Gives up elements that cannot be fetched, and returns their readers. A later read requests the elements again.
    pub(super) fn give_up(&mut self, shape: &Shape, wanted: &Wanted) -> (Vec<Continuation<T>>, Dropped<T>) {
        let (mut all, mut dropped) = (Vec::new(), Vec::new());
        for place in wanted.places.clone() {
            all.extend(self.take((wanted.home, place)));
            if let Some(cache) = &mut self.cache {
                let (number, _) = cache.grid.find(shape, (wanted.home, place));
                if let Some(CacheLine::Partial(Partial { missing: 1.., .. })) = cache.lines.get(&number) {
                    dropped.extend(cache.lines.remove(&number));
                    // The line's other elements may still arrive for their readers.
                    for spot in cache.grid.spots(shape, cache.len, cache.own, number) {
                        if let Some(waiting) = self.waiting.get_mut(&spot) {
                            self.loose += usize::from(std::mem::replace(&mut waiting.counted, false));
                        }
                    }
                }
            }
        }
        (all, Dropped { values: Vec::new(), lines: dropped })
    }

    /// Removes and returns all readers.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = (Spot, Readers<T>)> + use<T> {
        self.loose = 0;
        std::mem::take(&mut self.waiting).into_iter().map(|(spot, waiting)| (spot, waiting.readers))
    }

    /// Returns all readers.
    pub(super) fn readers(&self) -> impl Iterator<Item = (Spot, &Readers<T>)> {
        self.waiting.iter().map(|(&spot, waiting)| (spot, &waiting.readers))
    }
}

impl<T> CacheLine<T> {
    /// Counts an element with waiting readers, if it is not counted yet. Returns the number of elements newly counted.
    fn count(&mut self, waiting: &mut Waiting<T>) -> usize {
        let CacheLine::Partial(line) = self else { return 0 };
        let new = usize::from(!std::mem::replace(&mut waiting.counted, true));
        line.awaited += new;
        new
    }
}

impl<T> BlockCache<T> {
    /// Moves the first elements of `values` into their line, or into `dropped` if the line has them already. Returns
    /// whether the line is complete now.
    ///
    /// A line whose hits are counted is kept out of the directory.
    fn enter(
        &mut self,
        chunk: &Chunk,
        values: &mut impl Iterator<Item = T>,
        counted: bool,
        dropped: &mut Vec<T>,
    ) -> bool {
        let Chunk { number, offset, len } = *chunk;
        let values = values.take(len);
        let Some(CacheLine::Partial(line)) = self.lines.get_mut(&number) else {
            dropped.extend(values);
            return false;
        };
        let full: Box<[T]> = if line.values.is_empty() && len == line.count {
            values.collect()
        } else {
            if line.values.is_empty() {
                line.values.resize_with(line.count, || None);
            }
            for (place, value) in line.values[offset..].iter_mut().zip(values) {
                match place {
                    Some(_) => dropped.push(value),
                    None => {
                        *place = Some(value);
                        line.missing -= 1;
                    }
                }
            }
            if line.missing > 0 {
                return false;
            }
            // A line with elements of this node is never full.
            if line.values.iter().any(Option::is_none) {
                return true;
            }
            std::mem::take(&mut line.values).into_iter().flatten().collect()
        };
        self.lines.insert(number, CacheLine::Full(full));
        if !counted {
            self.publish(Some((number, 1)));
        }
        true
    }

    /// Enters full lines into the directory: `lines` is the first line and the number of lines.
    fn publish(&self, lines: Option<(usize, usize)>) {
        let (Some((first, count)), Some(directory)) = (lines, &self.directory) else { return };
        for number in first..first + count {
            if let Some(CacheLine::Full(values)) = self.lines.get(&number) {
                directory.publish(number * self.grid.block, values);
            }
        }
    }

    /// Allocates a line, and passes the requests for its elements to `ask`. Does nothing if the line exists already, or
    /// if other nodes have none of its elements.
    fn request(&mut self, shape: &Shape, number: usize, ask: impl FnMut(Wanted)) {
        let Entry::Vacant(line) = self.lines.entry(number) else { return };
        let (wanted, count) = self.grid.wanted(shape, self.len, self.own, number);
        let missing = wanted.iter().map(|wanted| wanted.places.len()).sum();
        if missing > 0 {
            line.insert(CacheLine::Partial(Partial { count, values: Vec::new(), missing, awaited: 0 }));
            wanted.into_iter().filter(|wanted| !wanted.places.is_empty()).for_each(ask);
        }
    }

    /// Removes and returns the complete lines.
    fn clear(&mut self) -> Vec<CacheLine<T>> {
        let complete = std::mem::take(&mut self.complete);
        complete.into_iter().filter_map(|number| self.remove(number)).collect()
    }

    fn remove(&mut self, number: usize) -> Option<CacheLine<T>> {
        let line = self.lines.remove(&number);
        if let (Some(CacheLine::Full(values)), Some(directory)) = (&line, &self.directory) {
            let first = number * self.grid.block;
            directory.forget(first..first + values.len());
        }
        line
    }
}

/// Values and lines that are not kept.
pub(super) struct Dropped<T> {
    values: Vec<T>,
    lines: Vec<CacheLine<T>>,
}

// Destructors of values belong to the program: each runs by itself, and its panic is discarded.

impl<T> Drop for Dropped<T> {
    fn drop(&mut self) {
        self.values.drain(..).for_each(drop_quietly);
        self.lines.clear();
    }
}

impl<T> Drop for CacheLine<T> {
    fn drop(&mut self) {
        match self {
            CacheLine::Partial(line) => line.values.drain(..).for_each(drop_quietly),
            CacheLine::Full(values) => std::mem::take(values).into_iter().for_each(drop_quietly),
        }
    }
}
