//! Light activities that are bound to nodes: ParC's mapped `lparfor`.

use std::ops::Range;
use std::panic::Location;

use super::Nothing;
use super::activities::{Activities, Integer, Span};
use super::construct::Construct;
use super::ends::MayBreak;
use crate::call::located;
use crate::call::outcome::Outcome;
use crate::call::{Task, sealed};
use crate::frame::context::{Cx, try_cx};
use crate::frame::{CallSite, FrameRef};
use crate::message::wire::{Reader, Unreadable, Wire, Writer, bytes_elsewhere, recreate};
use crate::object::Portable;
use crate::object::host::Nodes;
use crate::object::remote::{Work, at_home};

/// Calls a plain function for each integer of a range, in as many chunks as there are nodes, chunk k at node k: ParC's
/// mapped `lparfor`. Equal ranges are always split in the same way, so a later loop finds at a node the data that an
/// earlier loop placed there.
///
/// The function captures nothing. It receives the integer and a reference to the node's clone of the argument. The
/// chunk of a remote node is sent as a message. The runtime's configuration sets the number of nodes.
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
pub fn mapped<I, F, A>(span: Range<I>, body: F, argument: A) -> Construct<Mapped<I, F, A>, Nothing, MayBreak>
where
    I: Integer + Portable + Sync,
    F: Fn(I, &A) + Copy + Send + Sync + 'static,
    A: Portable + Clone + Sync,
{
    const {
        assert!(
            size_of::<F>() == 0,
            "a function that runs on another node must not capture anything: pass data as its argument"
        )
    };
    let own = try_cx().map_or(0, |cx| u64::from(cx.node()));
    Construct::new(Mapped { span, body, argument, own, place: Location::caller() }, Nothing)
}

/// The chunks of a range, one for each node.
#[derive(Debug)]
pub struct Mapped<I, F, A> {
    span: Range<I>,
    body: F,
    argument: A,
    /// The caller's node. Its chunk comes last, after the others have been sent.
    own: u64,
    place: CallSite,
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

/// The chunk of one node.
#[derive(Debug)]
pub struct MappedChunk<I, F, A> {
    node: u32,
    start: I,
    range: Range<u64>,
    body: F,
    argument: A,
    place: CallSite,
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
        // SAFETY: the caller guarantees the call protocol: it opens the outcome and awaits a suspended callee.
        unsafe { at_home(cx, self, place) }
    }

    fn start(self, cx: Cx) -> FrameRef {
        // Located at the caller's node, which sends the chunk, as for `CallAt`: if a thief ran this frame, its message
        // could overtake earlier ones of this worker.
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
        let (node, start, range, argument): (_, I, Range<u64>, _) = from.value()?;
        let last = start.plus(range.end.saturating_sub(1));
        let exist = range.is_empty() || last >= start && start.to(last) == range.end - 1;
        if !exist {
            return Err(Unreadable::new::<Self>("a range of integers that do not exist"));
        }
        // SAFETY: the sender made this message with an `F`, so a value of `F` has existed.
        let body = unsafe { recreate() };
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

    fn bytes_elsewhere(&self) -> usize {
        bytes_elsewhere(&self.argument)
    }

    fn node(&self) -> u32 {
        self.node
    }

    unsafe fn run(self, _: Cx) -> Outcome<()> {
        self.range.for_each(|k| (self.body)(self.start.plus(k), &self.argument));
        // SAFETY: returned as the outcome of `Work::run`, as the call protocol demands.
        unsafe { Outcome::done(()) }
    }
}
