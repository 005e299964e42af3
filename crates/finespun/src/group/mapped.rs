//! Light activities that are bound to nodes: ParC's mapped `lparfor`.

use std::ops::Range;
use std::panic::Location;

use super::Nothing;
use super::activities::{Activities, Integer, Span};
use super::construct::Construct;
use super::ends::Asked;
use crate::message::wire::{Reader, Unreadable, Wire, Writer, again};
use crate::object::Portable;
use crate::object::host::Nodes;
use crate::object::remote::{Work, at_home};
use crate::task::call::{Task, sealed};
use crate::task::context::{Cx, try_cx};
use crate::task::frame::{FrameRef, Place};
use crate::task::located;
use crate::task::outcome::Outcome;

/// Calls a plain function for each integer of a range, in as many chunks as there are nodes, chunk k at node k: ParC's mapped
/// `lparfor`. The same range is cut in the same way each time, so what one loop has placed at its node the next finds there.
///
/// What is called captures nothing, and is given the integer and the argument, of which each node gets a copy; a chunk of
/// another node is a message. The number of nodes is that of the runtime.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::mapped;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// static SUM: AtomicU64 = AtomicU64::new(0);
///
/// #[task]
/// async fn add_all(n: u64, times: u64) {
///     mapped(0..n, |k, times: &u64| { SUM.fetch_add(k * times, Ordering::Relaxed); }, times).await
/// }
/// # let runtime = Runtime::builder().workers(1).nodes(3).build().unwrap();
/// runtime.run(add_all(10, 2));
/// assert_eq!(SUM.load(Ordering::Relaxed), 90);
/// ```
///
/// # Panics
/// With the first panic of the function.
///
/// *Cost*: a message for each node but the caller's. *Source*: maxi-parc-runtime, sections 2.3 and 4.2.
#[track_caller]
pub fn mapped<I, F, A>(span: Range<I>, body: F, argument: A) -> Construct<Mapped<I, F, A>, Nothing, Asked>
where
    I: Integer + Portable + Sync,
    F: Fn(I, &A) + Copy + Send + Sync + 'static,
    A: Portable + Clone + Sync,
{
    const { assert!(size_of::<F>() == 0, "what is called elsewhere captures nothing: give it the argument") };
    let own = try_cx().map_or(0, |cx| u64::from(cx.node()));
    Construct::new(Mapped { span, body, argument, own, place: Location::caller() }, Nothing)
}

/// The chunks of a range, by node.
#[derive(Debug)]
pub struct Mapped<I, F, A> {
    span: Range<I>,
    body: F,
    argument: A,
    /// The caller's node, whose chunk comes last: the others are under way by then.
    own: u64,
    place: Place,
}

impl<I, F, A> sealed::Sealed for Mapped<I, F, A> {}
impl<I, F, A> Activities for Mapped<I, F, A>
where
    I: Integer + Portable + Sync,
    F: Fn(I, &A) + Copy + Send + Sync + 'static,
    A: Portable + Clone + Sync,
{
    type Task = MappedChunk<I, F, A>;

    fn count(&self) -> u64 {
        try_cx().map_or(1, |cx| u64::from(Nodes::of(cx).count()))
    }

    unsafe fn activity(&self, k: u64) -> MappedChunk<I, F, A> {
        let nodes = self.count();
        let node = (self.own + 1 + k) % nodes;
        let count = u128::from(self.span.count());
        let from = |node: u64| (u128::from(node) * count / u128::from(nodes)) as u64;
        MappedChunk {
            node: node as u32,
            start: self.span.start,
            range: from(node)..from(node + 1),
            body: self.body,
            argument: self.argument.clone(),
            place: self.place,
        }
    }
}

/// The chunk of a node.
#[derive(Debug)]
pub struct MappedChunk<I, F, A> {
    node: u32,
    start: I,
    range: Range<u64>,
    body: F,
    argument: A,
    place: Place,
}

impl<I, F, A> sealed::Sealed for MappedChunk<I, F, A> {}
impl<I, F, A> Task for MappedChunk<I, F, A>
where
    I: Integer + Portable,
    F: Fn(I, &A) + Copy + Send + 'static,
    A: Portable,
{
    type Output = ();
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        let place = self.place;
        // SAFETY: passed on.
        unsafe { at_home(cx, self, place) }
    }

    fn start(self, cx: Cx) -> FrameRef {
        // As `CallAt`.
        located::start(cx, self)
    }
}

impl<I, F, A> Wire for MappedChunk<I, F, A>
where
    I: Integer + Portable,
    F: Copy + Send + 'static,
    A: Portable,
{
    fn write(self, to: &mut Writer) {
        to.value(&(self.node, self.start, self.range, self.argument));
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Unreadable> {
        let (node, start, range, argument) = from.value()?;
        // SAFETY: this message was made with an `F`.
        let body = unsafe { again() };
        Ok(MappedChunk { node, start, range, body, argument, place: Location::caller() })
    }
}

impl<I, F, A> Work for MappedChunk<I, F, A>
where
    I: Integer + Portable,
    F: Fn(I, &A) + Copy + Send + 'static,
    A: Portable,
{
    type Output = ();

    fn node(&self) -> u32 {
        self.node
    }

    unsafe fn run(self, _: Cx) -> Outcome<()> {
        self.range.for_each(|k| (self.body)(self.start.plus(k), &self.argument));
        // SAFETY: the call protocol.
        unsafe { Outcome::done(()) }
    }
}
