//! Creation of the objects of an array.

use std::marker::PhantomData;
use std::sync::Arc;

use super::super::Portable;
use super::super::class::Class;
use super::super::gathering::Gathered;
use super::super::host::Nodes;
use super::super::reference::{Object, Ref};
use super::super::remote::Work;
use super::{Array, InOrder, NodePart, Portion};
use crate::call::located;
use crate::call::outcome::Outcome;
use crate::call::{Task, map_outcome, sealed};
use crate::frame::context::Cx;
use crate::frame::{CallSite, FrameRef};
use crate::message::wire::{Reader, Unreadable, Wire, Writer, bytes_elsewhere, recreate};

/// The task that creates the objects of an array.
#[must_use = "nothing is made until this is awaited"]
pub struct Creating<T, A, F> {
    len: usize,
    /// The indices of the elements on each node.
    nodes: Vec<Vec<usize>>,
    make: F,
    args: A,
    place: CallSite,
    object: PhantomData<fn() -> T>,
}

impl<T, A, F> Creating<T, A, F> {
    pub(super) fn new(len: usize, nodes: Vec<Vec<usize>>, make: F, args: A, place: CallSite) -> Creating<T, A, F> {
        Creating { len, nodes, make, args, place, object: PhantomData }
    }
}

impl<T, A, F> sealed::Sealed for Creating<T, A, F> {}
impl<T, A, F> Task for Creating<T, A, F>
where
    T: Object,
    A: Portable + Clone,
    F: Fn(usize, &A) -> T + Copy + Send + 'static,
{
    type Output = Array<T>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Array<T>> {
        let Creating { len, nodes, make, args, place, object } = self;
        let count = Nodes::of(cx).count() as usize;
        assert!(
            nodes.len() <= count,
            "the layout of an array names node {}: this runtime has {count} nodes; set a larger number by `Builder::nodes`",
            nodes.len().saturating_sub(1)
        );
        let maker = |(node, indices): (usize, Vec<usize>)| {
            let indices: Arc<[usize]> = indices.into();
            Making { node: node as u32, indices, make, args: args.clone(), object }
        };
        let makers = nodes.into_iter().enumerate().filter(|(_, indices)| !indices.is_empty()).map(maker);
        let works: Vec<_> = makers.collect();
        let indices: Vec<_> = works.iter().map(|maker| Arc::clone(&maker.indices)).collect();
        let gather = move |made: Vec<Made<T>>| gathered(len, indices, made);
        // Dropped before any call is in progress, because the destructor of `args` may panic.
        drop(args);
        // SAFETY: the caller opens the outcome and awaits a suspended callee.
        unsafe { map_outcome(cx, Gathered { works, place }, gather) }
    }

    /// Makes a located frame: if a thief ran the task, its messages could overtake earlier ones of this worker.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

/// Returns the array of the created parts. `indices` holds the indices of each part, in the order of `made`.
fn gathered<T>(len: usize, indices: Vec<Arc<[usize]>>, made: Vec<Made<T>>) -> Array<T> {
    let mut elements = InOrder::of(len);
    let mut parts = Vec::with_capacity(made.len());
    for (indices, (portion, made)) in indices.into_iter().zip(made) {
        for (&index, element) in indices.iter().zip(made) {
            elements.put(index, element);
        }
        parts.push(NodePart { portion, indices });
    }
    Array { elements: elements.values().into(), parts: parts.into() }
}

/// A part's portion object, and its elements.
type Made<T> = (Ref<Portion<T>>, Vec<Ref<T>>);

/// The work that creates one part.
struct Making<T, A, F> {
    node: u32,
    indices: Arc<[usize]>,
    make: F,
    args: A,
    object: PhantomData<fn() -> T>,
}

impl<T: Object, A: Portable, F: Copy + Send + 'static> Wire for Making<T, A, F> {
    fn write(self, to: &mut Writer) {
        to.value(&(self.node, &*self.indices));
        to.value(&self.args);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let (node, indices): (u32, Vec<usize>) = from.value()?;
        // SAFETY: the type of this message shows that its sender had an `F`.
        let make = unsafe { recreate() };
        let args = from.value()?;
        Ok(Making { node, indices: indices.into(), make, args, object: PhantomData })
    }
}

impl<T, A, F> Work for Making<T, A, F>
where
    T: Object,
    A: Portable,
    F: Fn(usize, &A) -> T + Copy + Send + 'static,
{
    type Output = Made<T>;

    fn bytes_elsewhere(&self) -> usize {
        size_of_val(&*self.indices) + bytes_elsewhere(&self.args)
    }

    fn node(&self) -> u32 {
        self.node
    }

    unsafe fn run(self, cx: Cx) -> Outcome<Made<T>> {
        let Making { node, indices, make, args, .. } = self;
        let (table, class) = (Nodes::table_of(cx, node), Class::of_objects::<T>());
        let insert = |&index: &usize| Ref::new(table.insert(class, make(index, &args)));
        let elements: Vec<_> = indices.iter().map(insert).collect();
        // Dropped here because its destructor may panic: after `Outcome::done` the panic would lose the outcome.
        drop(args);
        let class = Class::of_objects::<Portion<T>>();
        let portion = Ref::new(table.insert(class, Portion::new(&elements)));
        // SAFETY: the value is this call's own outcome, as the call protocol requires.
        unsafe { Outcome::done((portion, elements)) }
    }
}
