//! `top`: a computation of closures, as a task that waits for its results.

use std::any::Any;
use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, Location, catch_unwind};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context as StdContext, Poll, Waker};

use crate::atomics::lock_std as lock;
use crate::call::outcome::Outcome;
use crate::call::{CallFuture, Task, poll_in_place, sealed};
use crate::frame::context::Cx;
use crate::frame::origin::pack;
use crate::frame::{BodyFrame, CallSite, FrameRef, Polled, VTable, cancel, quietly};
use crate::run::continuation::Continuation;
use crate::wait::suspend::{Suspend, suspend_at, suspend_protected};

use super::argument::{Each, Given};
use super::computation::{Computation, Shared};
use super::cont::{Cont, Conts};
use super::frame::{self, Closure};
use super::session::Session;
use super::tail::Vector;
use super::thread::Thread;

/// Begins a computation of closures, and waits for its result: the paper's `top` closure.
///
/// `body` makes the first closures, and receives the continuation of the result. `top` returns the result when the
/// computation has no active closure left: the top closure runs last (section 2.3 of the PCM paper).
///
/// # Panics
/// With the first panic of a thread, after which no thread begins; in another process, none after a message
/// has arrived there. The panic of another process comes as its text. If the result's continuation was dropped, or a
/// continuation that it depends on, with the name of the dropped argument. If another process has sent an argument that
/// cannot be encoded or decoded.
///
/// ```
/// use finespun::closure::{Cont, make_closure, post, send_argument, tail_call, thread, top};
/// use finespun::Runtime;
///
/// #[thread]
/// fn fib_fork(parent: Cont<u64>, n: u64) {
///     if n < 2 {
///         send_argument(n, parent);
///     } else {
///         let k1 = make_closure!(fib_sum, parent, _, _);
///         let s1 = make_closure!(fib_fork, k1.x, n - 1);
///         post(s1);
///         tail_call!(fib_fork, k1.y, n - 2);
///     }
/// }
///
/// #[thread]
/// fn fib_sum(parent: Cont<u64>, x: u64, y: u64) {
///     send_argument(x + y, parent);
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
///
/// assert_eq!(runtime.run(top(|result| post(make_closure!(fib_fork, result, 10)))), 55);
/// ```
#[track_caller]
pub fn top<T: Send + 'static, F: FnOnce(Cont<T>) + Send>(body: F) -> Top<One<T, F>> {
    Top { body: One(body, PhantomData), shared: None, place: Location::caller() }
}

/// Like [`top`], for any number of results of one type, which are returned in the order of their continuations.
///
/// # Panics
/// As [`top`].
///
/// ```
/// use finespun::closure::{Cont, make_closure, post, send_argument, thread, top_of};
/// use finespun::Runtime;
///
/// #[thread]
/// fn square(to: Cont<u64>, n: u64) {
///     send_argument(n * n, to);
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
///
/// let squares = top_of(4, |results| results.zip(0..).for_each(|(to, n)| post(make_closure!(square, to, n))));
/// assert_eq!(runtime.run(squares), [0, 1, 4, 9]);
/// ```
#[track_caller]
pub fn top_of<T: Send + 'static, F: FnOnce(Conts<T>) + Send>(results: usize, body: F) -> Top<Many<T, F>> {
    Top { body: Many(results, body, PhantomData), shared: None, place: Location::caller() }
}

/// The task returned by [`top`] and [`top_of`].
#[must_use = "a task does nothing until it is awaited, joined, spawned or run"]
pub struct Top<B> {
    body: B,
    shared: Option<Shared>,
    place: CallSite,
}

impl<B> Top<B> {
    /// A computation with this body and this shared value; reports show `place`.
    #[cfg(feature = "objects")]
    pub(super) fn with(body: B, shared: Shared, place: CallSite) -> Top<B> {
        Top { body, shared: Some(shared), place }
    }

    /// Gives all threads of the computation shared read access to a value that is too large, or too often used, to be
    /// an argument. A thread takes it as its first parameter, marked `#[shared]`. The closures of such a computation stay
    /// in their process.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use finespun::closure::{Cont, make_closure, post, send_argument, thread, top};
    /// use finespun::Runtime;
    ///
    /// #[thread]
    /// fn look_up(#[shared] table: &Vec<u64>, to: Cont<u64>, index: usize) {
    ///     send_argument(table[index], to);
    /// }
    /// # let runtime = Runtime::builder().workers(1).build().unwrap();
    ///
    /// let table = Arc::new(vec![3_u64, 1, 4]);
    /// let found = top(|to| post(make_closure!(look_up, to, 2))).sharing(table);
    /// assert_eq!(runtime.run(found), 4);
    /// ```
    pub fn sharing<S: Any + Send + Sync>(self, shared: Arc<S>) -> Top<B> {
        Top { shared: Some(Shared::new(shared)), ..self }
    }
}

/// The code that makes the first closures of a computation.
pub trait FirstClosures {
    /// The type of one result.
    #[doc(hidden)]
    type Result: Send + 'static;
    /// The type of all results together, as the task returns them.
    #[doc(hidden)]
    type Output;
    #[doc(hidden)]
    fn results(&self) -> usize;
    #[doc(hidden)]
    fn begin(self, results: Conts<Self::Result>);
    #[doc(hidden)]
    fn output(results: Vec<Self::Result>) -> Self::Output;
}

/// A body with one result.
#[doc(hidden)]
pub struct One<T, F>(F, PhantomData<fn() -> T>);

impl<T: Send + 'static, F: FnOnce(Cont<T>) + Send> FirstClosures for One<T, F> {
    type Result = T;
    type Output = T;
    fn results(&self) -> usize {
        1
    }
    fn begin(self, mut results: Conts<T>) {
        if let Some(result) = results.next() {
            (self.0)(result);
        }
    }
    fn output(results: Vec<T>) -> T {
        let Some(result) = results.into_iter().next() else { unreachable!("one result was asked for") };
        result
    }
}

/// A body with any number of results.
#[doc(hidden)]
pub struct Many<T, F>(usize, F, PhantomData<fn() -> T>);

impl<T: Send + 'static, F: FnOnce(Conts<T>) + Send> FirstClosures for Many<T, F> {
    type Result = T;
    type Output = Vec<T>;
    fn results(&self) -> usize {
        self.0
    }
    fn begin(self, results: Conts<T>) {
        (self.1)(results);
    }
    fn output(results: Vec<T>) -> Vec<T> {
        results
    }
}

/// The place where the top closure stores the results.
type ResultCell<T> = Arc<Mutex<Option<Vec<T>>>>;

/// The top closure's thread: stores the results where `top` finds them.
struct Last<T>(PhantomData<fn() -> T>);

impl<T: Send + 'static> Thread for Last<T> {
    type Fixed = (Report<T>,);
    type Tail = Vector<T>;
    type Full = Closure<Self>;
    const NAME: &'static str = "top";
    const PARAMETERS: &'static [&'static str] = &["", "result"];

    fn enter((report,): (Report<T>,), results: Vector<T>) {
        *lock(&report.cell) = Some(results.into_iter().collect());
    }

    fn full(closure: Closure<Self>) -> Closure<Self> {
        closure
    }
}

/// Reports on drop that the top closure has ended: after it has run, or when it is destroyed.
struct Report<T> {
    cell: ResultCell<T>,
    computation: &'static Computation,
    number: u64,
}

impl<T> Drop for Report<T> {
    fn drop(&mut self) {
        self.computation.topped(self.number);
    }
}

impl<B: FirstClosures> sealed::Sealed for Top<B> {}
impl<B: FirstClosures> Task for Top<B> {
    type Output = B::Output;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<B::Output> {
        let workers = cx.core().workers.get() as usize;
        let computation = Computation::begin(workers, self.shared);
        let cell: ResultCell<B::Result> = Arc::default();
        let mut session = Session::begin(cx, computation, cx.group());
        let report = Report { cell: Arc::clone(&cell), computation, number: computation.number() };
        let begun = catch_unwind(AssertUnwindSafe(|| {
            let made = frame::make::<Last<B::Result>, _, _>((Given(report),), Each(self.body.results()));
            let (_, results) = made.with_holes();
            self.body.begin(results);
        }));
        if let Err(payload) = begun {
            computation.fail(pack(payload));
        }
        session.count();
        drop(session);
        let body = TopBody::<B> { computation, cell, end: None, place: self.place, over: false };
        poll_in_place(body, cx, TopBody::<B>::TABLE)
    }
}

type End = Suspend<(), Box<dyn FnOnce(Continuation<()>) + Send>>;

/// A body that waits until the computation is over.
struct TopBody<B: FirstClosures> {
    computation: &'static Computation,
    cell: ResultCell<B::Result>,
    end: Option<CallFuture<End>>,
    place: CallSite,
    over: bool,
}

impl<B: FirstClosures> Unpin for TopBody<B> {}

impl<B: FirstClosures> TopBody<B> {
    /// A cancelled computation still waits for its threads.
    const TABLE: &'static VTable = &VTable { cancel: Self::cancel, ..*BodyFrame::<Self>::VTABLE };

    unsafe fn cancel(frame: FrameRef, cx: Cx) -> Polled {
        // SAFETY: the worker's loop runs a frame exclusively.
        let this = unsafe { BodyFrame::<Self>::body(frame).as_mut() };
        if !this.over {
            this.over = true;
            let computation = this.computation;
            computation.abandon();
            quietly(|| this.end = None);
            let wait: Box<dyn FnOnce(Continuation<()>) + Send> = Box::new(move |end| computation.wait(end));
            this.end = Some(CallFuture::fresh(suspend_protected(wait)));
        }
        if let Some(end) = &mut this.end {
            let mut polled = Poll::Pending;
            quietly(|| polled = Pin::new(end).poll(&mut StdContext::from_waker(Waker::noop())));
            if polled.is_pending() {
                return Poll::Pending;
            }
        }
        drop(this.computation.finish());
        // SAFETY: the worker's loop runs `frame` exclusively, and no part of the computation is left.
        unsafe { cancel(frame, cx) }
    }
}

impl<B: FirstClosures> Future for TopBody<B> {
    type Output = B::Output;

    fn poll(mut self: Pin<&mut Self>, std: &mut StdContext<'_>) -> Poll<B::Output> {
        let this = &mut *self;
        let (computation, place) = (this.computation, this.place);
        let end = this.end.get_or_insert_with(|| {
            let wait: Box<dyn FnOnce(Continuation<()>) + Send> = Box::new(move |end| computation.wait(end));
            CallFuture::fresh(suspend_at(place, wait))
        });
        if Pin::new(end).poll(std).is_pending() {
            return Poll::Pending;
        }
        // Before the record may belong to another computation.
        let stopped = computation.is_stopped();
        let over = computation.finish();
        if let Some(payload) = over.panic {
            payload.resume();
        }
        match (lock(&this.cell).take(), over.unsent) {
            (Some(results), _) => Poll::Ready(B::output(results)),
            (None, Some(what)) if !stopped => {
                panic!("a computation of closures has no result: {what} was dropped unsent")
            }
            // It has been stopped, since it migrated, and its home has panicked.
            (None, _) => Poll::Ready(B::output(Vec::new())),
        }
    }
}
