//! Light activities: plain closures, in chunks. ParC's `lparfor`.

use std::marker::PhantomData;
use std::ops::ControlFlow;
use std::time::Duration;

use super::Nothing;
use super::activities::{Activities, Span};
use super::construct::Construct;
use super::ends::{Ends, How};
use crate::call::outcome::Outcome;
use crate::call::{Task, sealed};
use crate::frame::context::{Cx, Verdict, try_cx};

/// Default number of chunks for each worker. It is large enough that a slow worker has little left when the others have
/// finished.
const CHUNKS: u64 = 16;

/// A chunk doubles its *strip*, the integers between two guard checks, until one takes this long. If all integers take
/// equally long, and the first strip ([`FIRST`]) less than this, no strip takes more than about twice this time.
const STRIP: Duration = Duration::from_micros(10);
/// Number of integers before the first guard check.
const FIRST: u64 = 16;

/// Calls a plain closure for each integer of a range, in chunks: ParC's `lparfor`.
///
/// The activities are the chunks: contiguous pieces of the range, sixteen for each worker unless
/// [`chunks`](Construct::chunks) says otherwise. Each chunk is a plain loop that checks the guard first after sixteen
/// integers, and later about every ten to twenty microseconds, or every sixteen integers if these take longer. Between
/// two checks, a chunk can be neither stolen nor terminated. The closure cannot wait. It captures references and
/// `Copy` values only.
///
/// ```
/// use finespun::prelude::*;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// #[task]
/// async fn double(numbers: &[AtomicU64]) {
///     lparfor(0..numbers.len(), move |k| {
///         let n = numbers[k].load(Ordering::Relaxed);
///         numbers[k].store(2 * n, Ordering::Relaxed);
///     })
///     .await
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// let numbers = [1, 2, 3].map(AtomicU64::new);
/// runtime.run(double(&numbers));
/// assert_eq!(numbers.map(AtomicU64::into_inner), [2, 4, 6]);
/// ```
///
/// # Panics
/// With the first panic of the closure.
///
/// *Cost*: a call for each chunk. *Source*: maxi-parc-runtime, section 2.3, which makes as many chunks as there are
/// processors.
pub fn lparfor<S, F, O>(span: S, body: F) -> Construct<Chunked<S, F>, Nothing, Chunks<O>>
where
    S: Span + Clone + Send + Sync,
    F: Fn(S::Index) -> O + Copy + Send + Sync,
    O: Ends<Value = ()> + Send,
{
    let workers = try_cx().map_or(1, |cx| u64::from(cx.core().workers.get()));
    Construct::new(Chunked { span, body, chunks: CHUNKS * workers }, Nothing)
}

impl<S, F, O> Construct<Chunked<S, F>, Nothing, Chunks<O>> {
    /// Sets the number of chunks; 0 counts as 1. A range with fewer integers has a chunk for each integer.
    pub fn chunks(mut self, chunks: u64) -> Self {
        self.activities.chunks = chunks.max(1);
        self
    }
}

/// Interprets the outputs of chunks whose closure delivers an `O`. The group delivers the [`Ends::Whole`] type of `O`.
#[derive(Debug)]
pub struct Chunks<O>(PhantomData<fn() -> O>);

impl<O: Ends<Value = ()>> How<ControlFlow<O::Break>> for Chunks<O> {
    type Value = ();
    type Break = O::Break;
    type Whole<T> = O::Whole<T>;

    #[inline(always)]
    fn branch(output: ControlFlow<O::Break>) -> ControlFlow<O::Break> {
        output
    }
    #[inline(always)]
    fn is_break(output: &ControlFlow<O::Break>) -> bool {
        output.is_break()
    }
    #[inline(always)]
    fn all<T>(whole: T) -> O::Whole<T> {
        O::all(whole)
    }
    #[inline(always)]
    fn first<T>(end: O::Break) -> O::Whole<T> {
        O::first(end)
    }
}

/// The chunks of a range.
#[derive(Clone, Debug)]
pub struct Chunked<S, F> {
    span: S,
    body: F,
    chunks: u64,
}

impl<S, F> sealed::Sealed for Chunked<S, F> {}
impl<S, F, O> Activities for Chunked<S, F>
where
    S: Span + Clone + Send + Sync,
    F: Fn(S::Index) -> O + Copy + Send + Sync,
    O: Ends<Value = ()> + Send,
{
    type Task = Chunk<S, F>;

    fn count(&self) -> u64 {
        self.chunks.min(self.span.count())
    }

    unsafe fn activity(&self, k: u64) -> Chunk<S, F> {
        let (count, chunks) = (u128::from(self.span.count()), u128::from(self.count()));
        let from = |k: u64| (u128::from(k) * count / chunks) as u64;
        Chunk { span: self.span.clone(), body: self.body, from: from(k), to: from(k + 1) }
    }
}

/// A contiguous piece of a range.
#[derive(Debug)]
pub struct Chunk<S, F> {
    span: S,
    body: F,
    from: u64,
    to: u64,
}

impl<S, F> sealed::Sealed for Chunk<S, F> {}
impl<S, F, O> Task for Chunk<S, F>
where
    S: Span,
    F: Fn(S::Index) -> O,
    O: Ends<Value = ()>,
{
    type Output = ControlFlow<O::Break>;
    const STRAIGHT: bool = false;

    #[inline]
    unsafe fn call(mut self, cx: Cx) -> Outcome<ControlFlow<O::Break>> {
        let mut strip = FIRST;
        loop {
            let end = self.to.min(self.from.saturating_add(strip));
            // The last strip is not timed: reading the clock costs as much as a short strip.
            let now = || cx.core().scheduler().now();
            let start = (end < self.to).then(now);
            let ended = (self.from..end).try_for_each(|k| (self.body)(self.span.at(k)).branch());
            self.from = end;
            if ended.is_break() || end == self.to {
                // Dropped before the outcome is made, since a panic would lose the outcome.
                drop(self);
                // SAFETY: returned as the outcome of `Task::call`, as the call protocol demands.
                return unsafe { Outcome::done(ended) };
            }
            if cx.trips() && cx.tripped() != Verdict::Stay {
                return Outcome::suspended(self.start(cx));
            }
            if start.is_some_and(|start| now() - start < STRIP) {
                strip = strip.saturating_mul(2);
            }
        }
    }
}
