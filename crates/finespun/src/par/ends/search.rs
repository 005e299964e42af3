//! Ends that may stop early: searches, and closures that fail.
//!
//! The leaves that need not be visited are those behind a *stop*, a leaf number that only decreases. Inner nodes of the
//! tree and each step of a leaf compare with it. It is a hint: which leaves are visited depends on timing, but all those
//! before the stop are, so the first result in order is always found.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::par::consumer::{Consumer, Leaf};

/// The number of the first leaf that need not be visited.
#[derive(Debug)]
pub(crate) struct Stop(AtomicUsize);

impl Stop {
    pub(crate) fn nowhere() -> Stop {
        Stop(AtomicUsize::new(usize::MAX))
    }

    /// Leaf `number` ends the traversal for all leaves behind it.
    #[inline]
    pub(crate) fn after(&self, number: usize) {
        // Relaxed: the stop is a hint, and results reach the end by joins.
        self.0.fetch_min(number + 1, Ordering::Relaxed);
    }

    /// Ends the traversal for all leaves.
    #[inline]
    pub(crate) fn everywhere(&self) {
        // Relaxed: as in `after`.
        self.0.store(0, Ordering::Relaxed);
    }

    /// Returns whether leaf `number`, and each leaf behind it, need not be visited.
    #[inline]
    pub(crate) fn is_before(&self, number: usize) -> bool {
        // Relaxed: as in `after`.
        self.0.load(Ordering::Relaxed) <= number
    }

    /// Returns the first item for which `f` returns a value, unless the traversal has been stopped before.
    #[inline]
    fn find<T, R>(
        &self,
        number: usize,
        items: impl Iterator<Item = T>,
        mut f: impl FnMut(T) -> Option<R>,
    ) -> Option<R> {
        for item in items {
            if let Some(found) = f(item) {
                return Some(found);
            }
            if self.is_before(number) {
                break;
            }
        }
        None
    }
}

/// The end of [`any`](crate::par::ParallelIterator::any).
#[derive(Debug)]
pub struct Any<F> {
    f: F,
    stop: Stop,
}

impl<F> Any<F> {
    pub(crate) fn new(f: F) -> Any<F> {
        Any { f, stop: Stop::nowhere() }
    }
}

impl<T, F: Fn(T) -> bool + Send + Sync> Consumer<T> for Any<F> {
    type Part = bool;
    type Output = bool;
    #[inline(always)]
    fn ignores_cuts() -> bool {
        true
    }
    #[inline(always)]
    fn may_end_early() -> bool {
        true
    }
    #[inline]
    unsafe fn leaf(&self, leaf: Leaf, items: impl Iterator<Item = T>) -> bool {
        let found = self.stop.find(leaf.number, items, |item| (self.f)(item).then_some(())).is_some();
        if found {
            self.stop.everywhere();
        }
        found
    }
    fn join(&self, left: bool, right: bool) -> bool {
        left || right
    }
    #[inline]
    fn skip(&self, first: usize) -> Option<bool> {
        self.stop.is_before(first).then_some(false)
    }
    fn finish(self, whole: bool) -> bool {
        whole
    }
}

/// The end of [`all`](crate::par::ParallelIterator::all).
#[derive(Debug)]
pub struct All<F> {
    f: F,
    stop: Stop,
}

impl<F> All<F> {
    pub(crate) fn new(f: F) -> All<F> {
        All { f, stop: Stop::nowhere() }
    }
}

impl<T, F: Fn(T) -> bool + Send + Sync> Consumer<T> for All<F> {
    type Part = bool;
    type Output = bool;
    #[inline(always)]
    fn ignores_cuts() -> bool {
        true
    }
    #[inline(always)]
    fn may_end_early() -> bool {
        true
    }
    #[inline]
    unsafe fn leaf(&self, leaf: Leaf, items: impl Iterator<Item = T>) -> bool {
        let failed = self.stop.find(leaf.number, items, |item| (!(self.f)(item)).then_some(())).is_some();
        if failed {
            self.stop.everywhere();
        }
        !failed
    }
    fn join(&self, left: bool, right: bool) -> bool {
        left && right
    }
    #[inline]
    fn skip(&self, first: usize) -> Option<bool> {
        self.stop.is_before(first).then_some(true)
    }
    fn finish(self, whole: bool) -> bool {
        whole
    }
}

macro_rules! finds {
    ($($(#[$doc:meta])* $name:ident: |$stop:ident, $number:ident| $found:expr;)+) => {$(
        $(#[$doc])*
        #[derive(Debug)]
        pub struct $name(Stop);

        impl $name {
            pub(crate) fn new() -> $name {
                $name(Stop::nowhere())
            }
        }

        impl<T: Send> Consumer<T> for $name {
            type Part = Option<T>;
            type Output = Option<T>;
            #[inline(always)]
            fn ignores_cuts() -> bool {
                true
            }
            #[inline(always)]
            fn may_end_early() -> bool {
                true
            }
            #[inline]
            unsafe fn leaf(&self, leaf: Leaf, items: impl Iterator<Item = T>) -> Option<T> {
                let found = self.0.find(leaf.number, items, Some);
                if found.is_some() {
                    let ($stop, $number) = (&self.0, leaf.number);
                    $found;
                }
                found
            }
            fn join(&self, left: Option<T>, right: Option<T>) -> Option<T> {
                left.or(right)
            }
            #[inline]
            fn skip(&self, first: usize) -> Option<Option<T>> {
                self.0.is_before(first).then_some(None)
            }
            fn finish(self, whole: Option<T>) -> Option<T> {
                whole
            }
        }
    )+};
}

finds! {
    /// The end of [`find_any`](crate::par::ParallelIterator::find_any) and its like.
    FindAny: |stop, _number| stop.everywhere();
    /// The end of [`find_first`](crate::par::ParallelIterator::find_first) and its like.
    FindFirst: |stop, number| stop.after(number);
}

/// Types whose values are successes or failures: `Result`, `Option` and `ControlFlow`.
pub trait Try: Sized {
    /// The value of a success.
    type Output;
    /// Makes a success.
    fn from_output(output: Self::Output) -> Self;
    /// Returns the value of a success, or the failure.
    fn branch(self) -> ControlFlow<Self, Self::Output>;
}

impl<T, E> Try for Result<T, E> {
    type Output = T;
    fn from_output(output: T) -> Self {
        Ok(output)
    }
    fn branch(self) -> ControlFlow<Self, T> {
        match self {
            Ok(output) => ControlFlow::Continue(output),
            Err(error) => ControlFlow::Break(Err(error)),
        }
    }
}

impl<T> Try for Option<T> {
    type Output = T;
    fn from_output(output: T) -> Self {
        Some(output)
    }
    fn branch(self) -> ControlFlow<Self, T> {
        match self {
            Some(output) => ControlFlow::Continue(output),
            None => ControlFlow::Break(None),
        }
    }
}

impl<B, T> Try for ControlFlow<B, T> {
    type Output = T;
    fn from_output(output: T) -> Self {
        ControlFlow::Continue(output)
    }
    fn branch(self) -> ControlFlow<Self, T> {
        match self {
            ControlFlow::Continue(output) => ControlFlow::Continue(output),
            ControlFlow::Break(value) => ControlFlow::Break(ControlFlow::Break(value)),
        }
    }
}

/// The end of [`try_for_each`](crate::par::ParallelIterator::try_for_each).
#[derive(Debug)]
pub struct TryForEach<F> {
    f: F,
    stop: Stop,
}

impl<F> TryForEach<F> {
    pub(crate) fn new(f: F) -> TryForEach<F> {
        TryForEach { f, stop: Stop::nowhere() }
    }
}

impl<T, R: Try<Output = ()> + Send, F: Fn(T) -> R + Send + Sync> Consumer<T> for TryForEach<F> {
    /// The first failure.
    type Part = Option<R>;
    type Output = R;
    #[inline(always)]
    fn ignores_cuts() -> bool {
        true
    }
    #[inline(always)]
    fn may_end_early() -> bool {
        true
    }
    #[inline]
    unsafe fn leaf(&self, leaf: Leaf, items: impl Iterator<Item = T>) -> Option<R> {
        let failed = self.stop.find(leaf.number, items, |item| (self.f)(item).branch().break_value());
        if failed.is_some() {
            self.stop.after(leaf.number);
        }
        failed
    }
    fn join(&self, left: Option<R>, right: Option<R>) -> Option<R> {
        left.or(right)
    }
    #[inline]
    fn skip(&self, first: usize) -> Option<Option<R>> {
        self.stop.is_before(first).then_some(None)
    }
    fn finish(self, whole: Option<R>) -> R {
        whole.unwrap_or_else(|| R::from_output(()))
    }
}

/// The end of [`try_reduce`](crate::par::ParallelIterator::try_reduce).
#[derive(Debug)]
pub struct TryReduce<N, F> {
    identity: N,
    op: F,
    stop: Stop,
}

impl<N, F> TryReduce<N, F> {
    pub(crate) fn new(identity: N, op: F) -> TryReduce<N, F> {
        TryReduce { identity, op, stop: Stop::nowhere() }
    }
}

impl<R, N, F> Consumer<R> for TryReduce<N, F>
where
    R: Try<Output: Send> + Send,
    N: Fn() -> R::Output + Send + Sync,
    F: Fn(R::Output, R::Output) -> R + Send + Sync,
{
    /// `None` if the leaf has been skipped: then a leaf before it has failed.
    type Part = Option<R>;
    type Output = R;
    #[inline]
    unsafe fn leaf(&self, leaf: Leaf, mut items: impl Iterator<Item = R>) -> Option<R> {
        let folded = items.try_fold((self.identity)(), |all, item| {
            if self.stop.is_before(leaf.number) {
                return ControlFlow::Break(None);
            }
            let op = |item| (self.op)(all, item).branch();
            match item.branch() {
                ControlFlow::Continue(item) => op(item).map_break(Some),
                ControlFlow::Break(failure) => ControlFlow::Break(Some(failure)),
            }
        });
        match folded {
            ControlFlow::Continue(value) => Some(R::from_output(value)),
            ControlFlow::Break(failure) => {
                if failure.is_some() {
                    self.stop.after(leaf.number);
                }
                failure
            }
        }
    }
    fn join(&self, left: Option<R>, right: Option<R>) -> Option<R> {
        let left = match left?.branch() {
            ControlFlow::Continue(left) => left,
            ControlFlow::Break(failure) => return Some(failure),
        };
        Some(match right?.branch() {
            ControlFlow::Continue(right) => (self.op)(left, right),
            ControlFlow::Break(failure) => failure,
        })
    }
    #[inline]
    fn skip(&self, first: usize) -> Option<Option<R>> {
        self.stop.is_before(first).then_some(None)
    }
    fn finish(self, whole: Option<R>) -> R {
        match whole {
            Some(whole) => whole,
            None => unreachable!("leaves are skipped only behind a failure, which is the result"),
        }
    }
}
