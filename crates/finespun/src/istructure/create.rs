//! Making an array on all nodes, and freeing it.
//!
//! Node 0 gives out the numbers. Every node knows an array before there is a handle to it, so no message arrives where its array
//! is not known yet; and a number is given out again when no node knows it any more.

use std::marker::PhantomData;
use std::rc::Rc;

use super::shape::Shape;
use super::store::Store;
use super::{Cache, IArray};
use crate::message::wire::{Reader, Unreadable, Wire, Writer};
use crate::object::Portable;
use crate::object::gathering::Gathered;
use crate::object::host::Nodes;
use crate::object::remote::{Work, at_home};
use crate::object::seats::MOST;
use crate::task::call::{Task, call_async, sealed};
use crate::task::context::Cx;
use crate::task::frame::{FrameRef, Place};
use crate::task::located;
use crate::task::outcome::Outcome;

/// The task that [`IArray::create`] makes.
#[must_use = "nothing is made until this is awaited"]
pub struct Creating<T> {
    len: usize,
    shape: Shape,
    /// How many nodes the layout names.
    nodes: usize,
    cache: Cache,
    counted: bool,
    place: Place,
    of: PhantomData<fn() -> T>,
}

impl<T> Creating<T> {
    pub(super) fn new(len: usize, layout: impl Fn(usize) -> usize, place: Place) -> Creating<T> {
        let (shape, nodes) = Shape::of(len, layout);
        Creating { len, shape, nodes, cache: Cache::Off, counted: false, place, of: PhantomData }
    }

    /// How nodes keep what they have read from others; without this, they do not.
    ///
    /// # Panics
    /// If the elements of a block are not a power of two, or no block may be kept.
    #[track_caller]
    pub fn cached(self, cache: Cache) -> Creating<T> {
        if let Cache::On { block, capacity } = cache {
            assert!(
                block.is_power_of_two(),
                "the elements of a cache's block are a power of two: this says block {block}"
            );
            assert!(capacity > 0, "a cache keeps at least one block: this says capacity 0; for none say `Cache::Off`");
        }
        Creating { cache, ..self }
    }

    /// Counts the array's reads, for [`IArray::counts`]. They then cost some 50 instructions more.
    pub fn counted(self) -> Creating<T> {
        Creating { counted: true, ..self }
    }
}

impl<T> sealed::Sealed for Creating<T> {}
impl<T: Portable + Clone> Task for Creating<T> {
    type Output = IArray<T>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<IArray<T>> {
        let Creating { len, shape, nodes, cache, counted, place, .. } = self;
        let count = Nodes::of(cx).count();
        assert!(
            nodes <= count as usize,
            "the layout of an `IArray` names node {}: this runtime has {count} nodes; say more by `Builder::nodes`",
            nodes.saturating_sub(1)
        );
        let body = async move {
            let numbering = AtHome(Numbering::Give, place);
            // SAFETY: awaited at once, as below.
            let word = unsafe { call_async(numbering) }.await;
            let making = |node| Making {
                word,
                node,
                len,
                shape: shape.clone(),
                cache,
                counted,
                made: place.to_string(),
                of: PhantomData,
            };
            let works = (0..count).map(making).collect();
            // SAFETY: as above.
            unsafe { call_async(Gathered::<Making<T>> { works, place }) }.await;
            IArray::of(word)
        };
        located::poll_here(body, cx)
    }

    /// By this worker: a thief would send by another way.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// The task that [`IArray::free`] makes.
#[must_use = "nothing is freed until this is awaited"]
pub struct Freeing<T> {
    array: IArray<T>,
    place: Place,
}

impl<T> Freeing<T> {
    pub(super) fn new(array: IArray<T>, place: Place) -> Freeing<T> {
        Freeing { array, place }
    }
}

impl<T> sealed::Sealed for Freeing<T> {}
impl<T: Portable + Clone> Task for Freeing<T> {
    type Output = ();
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        let Freeing { array, place } = self;
        let count = Nodes::of(cx).count();
        let body = async move {
            let ending = |node| Ending { array, node };
            // SAFETY: awaited at once, as below.
            let known = unsafe { call_async(Gathered { works: (0..count).map(ending).collect(), place }) }.await;
            if !known.contains(&true) {
                panic!("{array:?} has been freed, or belongs to another runtime: it is freed at {place}");
            }
            // SAFETY: as above.
            unsafe { call_async(AtHome(Numbering::Take(array.word), place)) }.await;
        };
        located::poll_here(body, cx)
    }

    /// By this worker: a thief would send by another way.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// Work at its node, as a task.
struct AtHome<W>(W, Place);

impl<W> sealed::Sealed for AtHome<W> {}
impl<W: Work> Task for AtHome<W> {
    type Output = W::Output;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<W::Output> {
        // SAFETY: passed on.
        unsafe { at_home(cx, self.0, self.1) }
    }

    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// Node 0 gives out a number, and takes one back.
enum Numbering {
    Give,
    Take(u64),
}

impl Wire for Numbering {
    fn write(self, to: &mut Writer) {
        to.value(&match self {
            Numbering::Give => None,
            Numbering::Take(word) => Some(word),
        });
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        Ok(from.value::<Option<u64>>()?.map_or(Numbering::Give, Numbering::Take))
    }
}

impl Work for Numbering {
    type Output = u64;

    fn node(&self) -> u32 {
        0
    }

    unsafe fn run(self, cx: Cx) -> Outcome<u64> {
        let seats = &Nodes::of(cx).table(0).seats;
        let word = match self {
            Numbering::Give => {
                seats.give_number().unwrap_or_else(|| panic!("there are {MOST} arrays already: free one first"))
            }
            Numbering::Take(word) => {
                seats.take_number(word);
                word
            }
        };
        // SAFETY: the call protocol.
        unsafe { Outcome::done(word) }
    }
}

/// A node gets to know an array.
struct Making<T> {
    word: u64,
    node: u32,
    len: usize,
    shape: Shape,
    cache: Cache,
    counted: bool,
    made: String,
    of: PhantomData<fn() -> T>,
}

impl<T: Portable + Clone> Wire for Making<T> {
    fn write(self, to: &mut Writer) {
        to.value(&(self.word, self.node, self.len, self.shape, self.cache, self.counted, self.made));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let (word, node, len, shape, cache, counted, made) = from.value()?;
        Ok(Making { word, node, len, shape, cache, counted, made, of: PhantomData })
    }
}

impl<T: Portable + Clone> Work for Making<T> {
    type Output = ();

    fn node(&self) -> u32 {
        self.node
    }

    unsafe fn run(self, cx: Cx) -> Outcome<()> {
        let Making { word, node, len, shape, cache, counted, made, .. } = self;
        super::remember::<T>(word, len);
        let store = Rc::new(Store::<T>::new(word, len, shape, node as usize, (cache, counted), made.into()));
        let nodes = Nodes::of(cx);
        let seat = nodes.table(node).seats.add(word, Rc::clone(&store) as _);
        store.show(seat);
        nodes.added(cx, node);
        // SAFETY: the call protocol.
        unsafe { Outcome::done(()) }
    }
}

/// A node forgets an array; whether it has known it.
struct Ending<T> {
    array: IArray<T>,
    node: u32,
}

impl<T: Portable + Clone> Wire for Ending<T> {
    fn write(self, to: &mut Writer) {
        to.value(&(self.array.word, self.node));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let (word, node) = from.value()?;
        Ok(Ending { array: IArray::of(word), node })
    }
}

impl<T: Portable + Clone> Work for Ending<T> {
    type Output = bool;

    fn node(&self) -> u32 {
        self.node
    }

    unsafe fn run(self, cx: Cx) -> Outcome<bool> {
        let kept = Nodes::of(cx).table(self.node).seats.remove(self.array.word);
        let known = kept.is_some();
        if let Some(kept) = kept {
            kept.freed();
        }
        // SAFETY: the call protocol.
        unsafe { Outcome::done(known) }
    }
}
