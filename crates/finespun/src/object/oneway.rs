//! Calls that nobody waits for: one-way calls, and calls that answer somebody else.

use std::marker::PhantomData;
use std::panic::Location;

use super::Portable;
use super::call::{Call, Method};
use super::host::Nodes;
use super::remote::{ANY, Reply, deliver, tell};
use crate::task::call::{Task, call, call_guarded, sealed, wait};
use crate::task::context::{self, Cx};
use crate::task::fallback::{Enter, fallback_here};
use crate::task::frame::{BodyFrame, FrameRef, Place};
use crate::task::located;
use crate::task::outcome::Outcome;
use crate::task::suspend::{Continuation, suspend_at};

impl<M: Method> Call<M> {
    /// The same call, for which nobody waits: a task that ends when the call is on its way, or, if the object is here, when
    /// the method has ended or has suspended. What the method delivers is dropped.
    ///
    /// The call belongs to the run: [`quiesce`](crate::quiesce) waits for all such calls, and when the run's root has
    /// ended, those that have not are cancelled. If such a call fails (the method panics, the object is gone), the run
    /// is cancelled, and ends with that panic.
    ///
    /// A task that sends faster than the receivers take waits here, as a frame, while its worker goes on receiving. So
    /// memory is bounded by the outboxes ([`Builder::outbox`](crate::Builder::outbox)) and a frame for each task or method
    /// that has begun (concert-runtime-mechanisms, section 4.3).
    ///
    /// ```
    /// use finespun::prelude::*;
    /// use finespun::quiesce;
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
    place: Place,
}

/// The compiler of tasks takes this for one that keeps nothing but the call, and rustc sees that it is.
#[inline(always)]
pub fn oneway<M: Method>(call: Oneway<M>) -> Oneway<M> {
    call
}

impl<M: Method> Oneway<M> {
    fn send(self, cx: Cx) {
        cx.current_run().posts();
        tell(cx, self.call.into_work());
    }
}

impl<M: Method> sealed::Sealed for Oneway<M> {}
impl<M: Method> Task for Oneway<M> {
    type Output = ();
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<()> {
        let (nodes, name) = (Nodes::of(cx), self.call.target().name());
        if name.node() == cx.node() || !nodes.knows(name) {
            // A name of no node is an error, which is found out as here.
            // SAFETY: passed on; the call owns what it needs.
            return unsafe { aside(cx, None, self.call) };
        }
        if !nodes.is_full() {
            self.send(cx);
            // SAFETY: the call protocol.
            return unsafe { Outcome::done(()) };
        }
        cx.context().counters.sends_stalled.add(1);
        let room = suspend_at(self.place, |k: Continuation<()>| nodes.await_room(k));
        // SAFETY: passed on.
        match unsafe { call(cx, room.forced()) }.open() {
            Ok(()) => unreachable!("forced to wait"),
            // SAFETY: the body takes its entry first, and waits at once.
            Err(child) => unsafe {
                fallback_here((child, self), |enter: Enter<_>| async move {
                    let (child, send) = enter.take();
                    wait(child).await;
                    send.send(context::cx());
                })
            },
        }
    }

    /// By this worker: a thief would send by another way.
    fn start(self, cx: Cx) -> FrameRef {
        located::start(cx, self)
    }
}

impl<T: Portable> Continuation<T> {
    /// Calls `task` with this continuation as its reply destination: what the task delivers resolves it, and so does its
    /// panic. The caller does not wait for that, but goes on when the task has ended or has suspended.
    ///
    /// The call belongs to the caller's run, as a one-way call does: when that has ended before the task, the continuation
    /// is dropped. If the task is a call of an object elsewhere, or ends in one, that answers directly to who waits: the
    /// papers' calls with an explicit continuation (hybrid-execution-model, section 3.2.2).
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
        // SAFETY: passed on; the task owns what it needs.
        unsafe { aside(cx, Some(self.k), self.task) }
    }
}

/// As [`suspend`](crate::suspend), for a body that is a task: calls what `body` makes with the continuation of this wait,
/// and waits until somebody resolves that. Of the task itself nobody waits for the end; if it panics, the run ends with that.
///
/// So a continuation is sent as an argument to an object, which resolves it, or keeps it, or sends it on:
///
/// ```
/// use finespun::prelude::*;
/// use finespun::suspend_with;
///
/// /// Lets nobody pass before all have come.
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
    place: Place,
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
            // SAFETY: `cx` is the current worker's; the task owns what it needs.
            cx.in_run(|| unsafe { deliver(cx, reply, |cx| call_guarded(cx, task).into_outcome()) });
        });
        // SAFETY: passed on.
        unsafe { wait.call(cx) }
    }
}

/// Calls a task whose value goes to `k`. Its caller goes on when it has left the stack. It belongs to the run: the caller's group
/// does not wait for it.
///
/// # Safety
/// As [`Task::call`]; the task borrows nothing.
unsafe fn aside<Tk>(cx: Cx, k: Option<Continuation<Tk::Output>>, task: Tk) -> Outcome<()>
where
    Tk: Task,
    Tk::Output: Portable,
{
    // SAFETY: passed on.
    cx.in_run(|| unsafe { deliver(cx, Reply { home: ANY, k }, |cx| call_guarded(cx, task).into_outcome()) });
    if !cx.leaving() {
        // SAFETY: the call protocol.
        return unsafe { Outcome::done(()) };
    }
    // The stack is being given up: the caller goes on when its turn comes.
    let turn = BodyFrame::make(cx, std::future::ready(()));
    cx.make_ready(turn);
    Outcome::suspended(turn)
}
