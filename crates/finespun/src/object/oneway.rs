//! Calls whose result the caller does not await: one-way calls, and calls that resolve a given continuation.

use std::marker::PhantomData;
use std::panic::Location;

use super::Portable;
use super::call::{Call, InOrder, Method};
use super::host::Nodes;
use super::remote::{ANY, Reply, deliver, send_one_way};
use super::returning::Return;
use crate::call::fallback::{Enter, fallback_here};
use crate::call::located;
use crate::call::outcome::Outcome;
use crate::call::{Task, call, call_guarded, sealed, wait};
use crate::cancel::runs::Run;
use crate::frame::context::{self, Cx};
use crate::frame::{BodyFrame, CallSite, FrameRef};
use crate::run::continuation::Continuation;
use crate::wait::suspend::suspend_at;

impl<M: Method> Call<M> {
    /// Makes the call one-way. The returned task ends when the call has been sent, or, if the object is at this node,
    /// when the method has ended or suspended. The method's result is dropped.
    ///
    /// The call belongs to the run: [`quiesce`](crate::tasks::quiesce) waits for all one-way calls, and the calls that
    /// are unfinished when the run's root ends are cancelled. If a one-way call fails (the method panics, or the object
    /// has been dropped or is poisoned), the run is cancelled, and ends with that panic.
    ///
    /// While its worker's outbox is full, a sending task waits as a frame, and the worker continues to receive. So
    /// memory is bounded by the outboxes ([`Builder::outbox`](crate::Builder::outbox)) and a frame for each task or
    /// method that has begun (Karamcheti, Plevyak, Chien: *Runtime Mechanisms for Efficient Dynamic Multithreading*,
    /// section 4.3).
    ///
    /// ```
    /// use finespun::prelude::*;
    /// use finespun::tasks::quiesce;
    /// use serde::{Deserialize, Serialize};
    ///
    /// #[derive(Serialize, Deserialize)]
    /// struct Tally(u64);
    ///
    /// #[object]
    /// impl Tally {
    ///     fn add(&mut self, amount: u64) {
    ///         self.0 += amount;
    ///     }
    ///     fn sum(&self) -> u64 {
    ///         self.0
    ///     }
    /// }
    ///
    /// #[task]
    /// async fn total() -> u64 {
    ///     let tally: Ref<Tally> = on(nodes() - 1).create(Tally(0)).await;
    ///     for amount in 0..10 {
    ///         tally.add(amount).oneway().await;
    ///     }
    ///     quiesce().await;
    ///     tally.sum().await
    /// }
    /// # let runtime = Runtime::builder().workers(2).build().unwrap();
    /// assert_eq!(runtime.run(total()), 45);
    /// ```
    #[track_caller]
    pub fn oneway(self) -> Oneway<M> {
        Oneway { call: self, place: Location::caller() }
    }
}

/// The task that [`Call::oneway`] makes.
#[must_use = "nothing is sent until this is awaited"]
pub struct Oneway<M: Method> {
    call: Call<M>,
    place: CallSite,
}

/// An identity function. For an awaited `call.oneway()`, `#[task]` assumes that it stores only the call, and wraps it
/// in this function, whose parameter type makes rustc verify that the method is this library's.
#[inline(always)]
pub fn oneway<M: Method>(call: Oneway<M>) -> Oneway<M> {
    call
}

impl<M: Method> Oneway<M> {
    /// Inlined, with all that it calls until the message is bytes, so that the arguments move once.
    #[inline(always)]
    fn send(self, cx: Cx) {
        cx.with_run(Run::posts);
        send_one_way(cx, self.call.into_work());
    }
}

impl<M: Method> sealed::Sealed for Oneway<M> {}
impl<M: Method> Task for Oneway<M> {
    type Output = ();
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        let (nodes, name) = (Nodes::of(cx), self.call.target().name());
        if name.node() == cx.node() || !nodes.knows(name) {
            // Either the object is at this node, or this runtime has no such node: then the call reports the error.
            // SAFETY: the caller opens the outcome and awaits a suspended callee; the call borrows nothing.
            return unsafe { aside(cx, None, InOrder(self.call)) };
        }
        if !nodes.is_full() {
            self.send(cx);
            // SAFETY: the value is this call's own outcome, as the call protocol requires.
            return unsafe { Outcome::done(()) };
        }
        cx.core().counters.sends_stalled.add(1);
        let room = suspend_at(self.place, |k: Continuation<()>| nodes.await_room(k));
        // SAFETY: `cx` is the current worker's, and the child is awaited below.
        match unsafe { call(cx, room.forced()) }.open() {
            Ok(()) => unreachable!("forced to wait"),
            // SAFETY: the body takes its entry first, then waits, with no user code in between.
            Err(child) => unsafe {
                fallback_here((child, self), |enter: Enter<_>| async move {
                    let (child, send) = enter.take();
                    wait(child).await;
                    send.send(context::cx());
                })
            },
        }
    }

    /// Makes a located frame: if a thief ran the task, its messages could overtake earlier ones of this worker.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

impl<T: Portable> Continuation<T> {
    /// Calls `task` with this continuation as its reply destination: the task's value or panic resolves the
    /// continuation. The returned task does not wait for this: it ends when `task` has ended or suspended.
    ///
    /// The call belongs to the caller's run, as a one-way call does: if the run ends before `task`, the continuation is
    /// dropped. If `task` is a call of a remote object, or its last await is one, that call's node resolves the
    /// continuation directly: the papers' calls with an explicit continuation (Plevyak, Karamcheti, Zhang, Chien: *A
    /// Hybrid Execution Model for Fine-Grained Languages on Distributed Memory Multicomputers*, section 3.3).
    ///
    /// ```
    /// use finespun::prelude::*;
    ///
    /// #[task]
    /// async fn square(n: u64) -> u64 {
    ///     n * n
    /// }
    ///
    /// #[task]
    /// async fn answer(k: Continuation<u64>, n: u64) {
    ///     k.resolve_with(square(n)).await;
    /// }
    ///
    /// #[task]
    /// async fn ask(n: u64) -> u64 {
    ///     suspend(|k| drop(spawn(answer(k, n)))).await
    /// }
    /// # let runtime = Runtime::builder().workers(1).build().unwrap();
    /// assert_eq!(runtime.run(ask(7)), 49);
    /// ```
    pub fn resolve_with<Tk: Task<Output = T> + Send + 'static>(self, task: Tk) -> ResolveWith<Tk> {
        ResolveWith { k: self, task, owned: PhantomData }
    }
}

/// The task that [`Continuation::resolve_with`] makes.
#[must_use = "nothing is called until this is awaited"]
pub struct ResolveWith<Tk: Task> {
    k: Continuation<Tk::Output>,
    task: Tk,
    owned: PhantomData<fn() -> Tk>,
}

impl<Tk: Task> sealed::Sealed for ResolveWith<Tk> {}
impl<Tk> Task for ResolveWith<Tk>
where
    Tk: Task + 'static,
    Tk::Output: Portable,
{
    type Output = ();
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        // SAFETY: the caller opens the outcome and awaits a suspended callee; the task borrows nothing.
        unsafe { aside(cx, Some(self.k), self.task) }
    }
}

/// Like [`suspend`](crate::suspend), for a body that is a task: calls the task that `body` makes with the continuation
/// of this wait, and waits until the continuation is resolved. It does not await the called task itself; if that task
/// panics, the run is cancelled, and ends with that panic.
///
/// So a continuation can be sent as an argument to an object, which resolves it, keeps it, or sends it on:
///
/// ```
/// use finespun::prelude::*;
/// use finespun::objects::suspend_with;
///
/// /// Lets no task pass before all have arrived.
/// struct Barrier {
///     parties: usize,
///     arrived: Vec<Continuation<()>>,
/// }
///
/// #[object]
/// impl Barrier {
///     fn arrive(&mut self, k: Continuation<()>) {
///         self.arrived.push(k);
///         if self.arrived.len() == self.parties {
///             self.arrived.drain(..).for_each(|k| k.resolve(()));
///         }
///     }
/// }
///
/// #[task]
/// async fn pass(barrier: Ref<Barrier>) {
///     suspend_with(move |k| barrier.arrive(k).oneway()).await;
/// }
///
/// #[task]
/// async fn three() {
///     let make = |parties: usize| Barrier { parties, arrived: Vec::new() };
///     let barrier: Ref<Barrier> = on(0).create_with(make, 3).await;
///     join!(pass(barrier), pass(barrier), pass(barrier));
/// }
/// # let runtime = Runtime::builder().workers(2).build().unwrap();
/// runtime.run(three());
/// ```
///
/// # Panics
/// With the panic of `body`; if the continuation is dropped unresolved.
#[track_caller]
pub fn suspend_with<T, Tk, F>(body: F) -> SuspendWith<T, F>
where
    T: Send,
    Tk: Task<Output = ()> + Send + 'static,
    F: FnOnce(Continuation<T>) -> Tk + Send,
{
    SuspendWith { body, place: Location::caller(), value: PhantomData }
}

/// The task that [`suspend_with`] makes.
#[must_use = "a task does nothing until it is awaited"]
pub struct SuspendWith<T, F> {
    body: F,
    place: CallSite,
    value: PhantomData<fn() -> T>,
}

impl<T, F> sealed::Sealed for SuspendWith<T, F> {}
impl<T, Tk, F> Task for SuspendWith<T, F>
where
    T: Send,
    Tk: Task<Output = ()> + 'static,
    F: FnOnce(Continuation<T>) -> Tk,
{
    type Output = T;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<T> {
        let wait = suspend_at(self.place, |k| {
            let task = (self.body)(k);
            let reply = Reply { home: ANY, k: None };
            // SAFETY: `cx` is the current worker's, `deliver` opens the outcome and awaits a callee, and the task
            // borrows nothing.
            cx.in_run(|| unsafe { deliver(cx, reply, |cx| call_guarded(cx, task).into_outcome()) });
        });
        // SAFETY: the caller opens the outcome and awaits a suspended callee.
        unsafe { wait.call(cx) }
    }
}

/// Calls a task and resolves `k` with its value, or drops the value if `k` is `None`. Ends when the task has ended or
/// suspended. The task belongs to the run: the caller's group does not wait for it.
///
/// # Safety
/// As [`Task::call`]; the task borrows nothing.
unsafe fn aside<Tk>(cx: Cx, k: Option<Continuation<Tk::Output>>, task: Tk) -> Outcome<()>
where
    Tk: Task,
    Tk::Output: Portable,
{
    // SAFETY: `deliver` opens the outcome and awaits a suspended callee; the caller guarantees that the task borrows
    // nothing.
    cx.in_run(|| unsafe {
        deliver(cx, Reply { home: ANY, k: k.map(Return::Here) }, |cx| call_guarded(cx, task).into_outcome())
    });
    if !cx.leaving() {
        // SAFETY: the value is this call's own outcome, as the call protocol requires.
        return unsafe { Outcome::done(()) };
    }
    // The stack unwinds to frames: the caller continues when the scheduler runs this ready frame.
    let turn = BodyFrame::make(cx, std::future::ready(()));
    cx.make_ready(turn);
    Outcome::suspended(turn)
}
