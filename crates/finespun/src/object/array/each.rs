//! Calls of all objects of an array, by a tree of messages to its parts.

use std::panic::{Location, resume_unwind};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::super::error::{Refusal, Which, throw};
use super::super::gathering::Gathered;
use super::super::host::Nodes;
use super::super::reference::{Object, Ref};
use super::super::remote::Work;
use super::supply::{Calls, Same, Supply};
use super::sweeping::{Sweeping, Swept};
use super::{Array, InOrder, NodePart, Portion};
use crate::call::located::{self, Located};
use crate::call::outcome::Outcome;
use crate::call::{Task, map_outcome, poll_in_place, sealed};
use crate::frame::context::Cx;
use crate::frame::{CallSite, FrameRef};
use crate::iterate::engine::Engine;
use crate::message::wire::{Reader, Unreadable, Wire, Writer, recreate};

/// The task that [`Array::each`] makes.
#[must_use = "nothing is called until this is awaited"]
pub struct Each<T, S, C> {
    array: Array<T>,
    args: S,
    way: Operation<C>,
}

/// The operation on the array. In an operation decoded from bytes, `place` is a placeholder.
#[derive(Clone, Copy)]
struct Operation<C> {
    calls: C,
    /// Whether the calls free the array. If so, a failure does not stop the remaining calls.
    last: bool,
    place: CallSite,
}

impl<C> Operation<C> {
    fn method(&self) -> &'static str {
        if self.last { "free" } else { "each" }
    }
}

impl<T, S, C> Each<T, S, C> {
    pub(super) fn new(array: Array<T>, args: S, calls: C, place: CallSite) -> Each<T, S, C> {
        Each { array, args, way: Operation { calls, last: false, place } }
    }
}

impl<T, S, C> sealed::Sealed for Each<T, S, C> {}
impl<T: Object, S: Supply, C: Calls<T, S::Argument>> Task for Each<T, S, C> {
    type Output = Vec<C::Output>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Vec<C::Output>> {
        let Each { array, args, way } = self;
        let (own, others) = pieces(cx, &array, way.method());
        let mut indices: Vec<_> = array.parts.iter().map(indices_of).collect();
        let args = args.sorted(own.iter().chain(&others).map(|piece| &*indices[piece.part]));
        let sweeps = spread(cx, own, others, args, way);
        let gather = move |swept: Vec<Swept<C::Output>>| gathered(&mut indices, swept);
        // SAFETY: the caller opens the outcome and awaits a suspended callee.
        unsafe { map_outcome(cx, sweeps, gather) }
    }

    /// Makes a located frame: if a thief ran the task, its messages could overtake earlier ones of this worker.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// Returns the parts of an array: this node's, if it has one, and those on other nodes. Throws an error if the array is
/// another runtime's.
fn pieces<T>(cx: Cx, array: &Array<T>, method: &'static str) -> (Option<Piece<T>>, Vec<Piece<T>>) {
    let (mut own, mut others) = (None, Vec::with_capacity(array.parts.len()));
    for (part, NodePart { portion, indices }) in array.parts.iter().enumerate() {
        let which = Which { object: "Array", method, node: portion.name().node() };
        if !Nodes::of(cx).knows(portion.name()) {
            throw(which.refused(Refusal::OTHER_RUNTIME));
        }
        let piece = Piece { part, portion: *portion, len: indices.len() };
        if piece.node() == cx.node() {
            own = Some(piece);
        } else {
            others.push(piece);
        }
    }
    (own, others)
}

fn indices_of<T>(part: &NodePart<T>) -> Arc<[usize]> {
    Arc::clone(&part.indices)
}

/// Returns the values of all parts in index order, given the indices of each part. Empties `indices`.
fn gathered<V>(indices: &mut Vec<Arc<[usize]>>, swept: Vec<Swept<V>>) -> Vec<V> {
    let Swept { parts, failure } = Swept::all(swept);
    if let Some(failure) = failure {
        resume_unwind(Box::new(failure));
    }
    let indices = std::mem::take(indices);
    let len = indices.iter().map(|indices| indices.len()).sum();
    // One part delivers its values in index order, and values of size zero have no order.
    if size_of::<V>() == 0 || indices.len() == 1 {
        let mut all = Vec::with_capacity(len);
        for (_, mut values) in parts {
            all.append(&mut values);
        }
        return all;
    }
    let mut all = InOrder::of(len);
    for (part, values) in parts {
        debug_assert_eq!(indices[part].len(), values.len(), "a part delivers a value for each of its elements");
        for (&index, value) in indices[part].iter().zip(values) {
            all.put(index, value);
        }
    }
    all.values()
}

/// The task that [`Array::free`] makes.
#[must_use = "nothing is dropped until this is awaited"]
pub struct Freeing<T> {
    array: Array<T>,
    place: CallSite,
}

impl<T> Freeing<T> {
    pub(super) fn new(array: Array<T>, place: CallSite) -> Freeing<T> {
        Freeing { array, place }
    }
}

impl<T> sealed::Sealed for Freeing<T> {}
impl<T: Object> Task for Freeing<T> {
    type Output = ();
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        let way = Operation { calls: |element: Ref<T>, ()| Ref::free(element), last: true, place: self.place };
        // SAFETY: the caller opens the outcome and awaits a suspended callee.
        unsafe { map_outcome(cx, Each { array: self.array, args: Same(()), way }, drop) }
    }

    /// Makes a located frame: if a thief ran the task, its messages could overtake earlier ones of this worker.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// One part of the array, as messages name it.
#[derive(Serialize, Deserialize)]
#[serde(bound = "T: Object")]
struct Piece<T> {
    part: usize,
    portion: Ref<Portion<T>>,
    /// The number of elements in the part. The portion's node checks it, because a forged name may name another array's
    /// portion.
    len: usize,
}

impl<T> Piece<T> {
    fn node(&self) -> u32 {
        self.portion.name().node()
    }
}

/// The maximal number of messages that one node sends to other nodes for one operation, in a run without one-way calls.
const FAN: usize = 8;

/// Makes the work for this node's part, and the works to send for `others`. `args` has this part's arguments first,
/// then the others' in order.
///
/// In a run that has sent one-way calls each node gets its message directly from this one: a message relayed by a third
/// node could overtake this node's earlier messages.
fn spread<T, S: Supply, C: Copy>(
    cx: Cx,
    own: Option<Piece<T>>,
    others: Vec<Piece<T>>,
    mut args: S,
    way: Operation<C>,
) -> Gathered<Sweep<T, S, C>> {
    let count = if cx.current_run().has_posted() { 1 } else { others.len().div_ceil(FAN) };
    let mut works = Vec::with_capacity(FAN + 1);
    works.extend(own.map(|first| Sweep { args: args.split(first.len), first, rest: Vec::new(), way }));
    let mut others = others.into_iter();
    while let Some(first) = others.next() {
        let rest: Vec<_> = others.by_ref().take(count - 1).collect();
        let len = first.len + rest.iter().map(|piece| piece.len).sum::<usize>();
        works.push(Sweep { args: args.split(len), first, rest, way });
    }
    // Dropped before any call is in progress, because the destructor may panic.
    drop(args);
    Gathered { works, place: way.place }
}

/// The work that calls the elements of some parts. The node of the first part distributes it.
struct Sweep<T, S, C> {
    first: Piece<T>,
    rest: Vec<Piece<T>>,
    /// The arguments for `first`, then for `rest` in order.
    args: S,
    way: Operation<C>,
}

impl<T: Object, S: Supply, C: Calls<T, S::Argument>> Wire for Sweep<T, S, C> {
    fn write(self, to: &mut Writer) {
        to.value(&(self.way.last, self.first, self.rest));
        to.value(&self.args.rest());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let (last, first, rest) = from.value()?;
        // SAFETY: the type of this message shows that its sender had a `C`.
        let calls = unsafe { recreate() };
        let way = Operation { calls, last, place: Location::caller() };
        let args = S::again(from.value()?).ok_or_else(|| Unreadable::new::<S>("no argument"))?;
        Ok(Sweep { first, rest, args, way })
    }
}

impl<T: Object, S: Supply, C: Calls<T, S::Argument>> Work for Sweep<T, S, C> {
    type Output = Swept<C::Output>;

    fn bytes_elsewhere(&self) -> usize {
        size_of_val(&*self.rest) + self.args.bytes()
    }

    fn node(&self) -> u32 {
        self.first.node()
    }

    unsafe fn run(self, cx: Cx) -> Outcome<Self::Output> {
        if !self.rest.is_empty() {
            // SAFETY: the caller opens the outcome and awaits a suspended callee.
            return unsafe {
                map_outcome(cx, spread(cx, Some(self.first), self.rest, self.args, self.way), Swept::all)
            };
        }
        let Piece { part, portion, len } = self.first;
        let last = self.way.last;
        let found = if last { Portion::take(cx, portion, len) } else { Portion::elements(cx, portion, len) };
        let Some(elements) = found else {
            let failure = Which { object: "Array", method: self.way.method(), node: portion.name().node() };
            let failure = failure.refused(Nodes::of(cx).table(portion.name().node()).stale(portion.name()));
            if !last {
                throw(failure);
            }
            // SAFETY: the value is this call's own outcome, as the call protocol requires.
            return unsafe { Outcome::done(Swept { parts: Vec::new(), failure: Some(failure.to_string()) }) };
        };
        let body = Engine::new(Sweeping::new(part, elements, self.args, self.way.calls, last));
        poll_in_place(Located::here(cx, body), cx, Engine::<Sweeping<T, S, C>>::LOCATED)
    }
}
