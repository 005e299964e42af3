//! Tasks that outlive the expression that makes them: `spawn`, `scope`, handles.

use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as StdContext, Poll, Waker};

use crate::atomics::lock_std as lock;
use super::call::{CallFuture, Task, poll_in_place, sealed};
use super::context::{Cx, cx, try_cx};
use super::frame::{self, BodyFrame, Delivered, FrameRef, VTable};
use super::outcome::Outcome;
use super::runs::Run;
use super::slot::Status;
use super::suspend::{Continuation, Suspend, suspend_protected};

/// Who is told that a spawned task has ended, after nothing of it is left but a result with an owner.
pub(crate) enum Keeper {
    Run(Arc<Run>),
    Scope(NonNull<State>),
}

impl Keeper {
    /// The task has ended.
    pub(crate) fn tell(self) {
        match self {
            Keeper::Run(run) => run.leave(),
            // SAFETY: the scope waits until all its tasks have told it.
            Keeper::Scope(state) => unsafe { state.as_ref() }.leave(),
        }
    }

    fn panicked(&self) {
        if let Keeper::Scope(state) = self {
            // SAFETY: as above. Relaxed: published by `leave`.
            unsafe { state.as_ref() }.panicked.store(true, Ordering::Relaxed);
        }
    }
}

/// The body of a spawned task.
struct Spawned<Tk: Task> {
    call: CallFuture<Tk>,
    keeper: Option<Keeper>,
}

impl<Tk: Task> Unpin for Spawned<Tk> {}

impl<Tk: Task> Future for Spawned<Tk> {
    type Output = Tk::Output;
    fn poll(mut self: Pin<&mut Self>, std: &mut StdContext<'_>) -> Poll<Tk::Output> {
        let call = &mut self.call;
        match catch_unwind(AssertUnwindSafe(|| Pin::new(call).poll(std))) {
            Ok(polled) => polled,
            Err(payload) => {
                if let Some(keeper) = &self.keeper {
                    keeper.panicked();
                }
                resume_unwind(payload)
            }
        }
    }
}

impl<Tk: Task> Drop for Spawned<Tk> {
    fn drop(&mut self) {
        // The keeper is told when the frame has completed, not before: see `run::run`.
        if let Some(keeper) = self.keeper.take() {
            // SAFETY: a body is destroyed by a worker; used at once.
            unsafe { cx() }.set_keeper(keeper);
        }
    }
}

fn start<Tk: Task>(cx: Cx, task: Tk, keeper: Keeper) -> FrameRef {
    let frame = BodyFrame::new(cx, Spawned { call: CallFuture::fresh(task), keeper: Some(keeper) });
    cx.make_ready(frame);
    frame
}

/// Starts a task that may go on after the expression that starts it; the calling task goes on as well.
///
/// The task belongs to the run of its caller: when the run's root has ended, spawned tasks that have not are
/// cancelled. The price is a frame (the papers' parallel version of a call): where the caller waits anyway, `join!`
/// costs a tenth of it.
///
/// # Panics
/// Outside a task.
pub fn spawn<Tk>(task: Tk) -> Handle<'static, Tk::Output>
where
    Tk: Task + Send + 'static,
    Tk::Output: Send,
{
    let Some(cx) = try_cx() else { panic!("`spawn` was called outside a task: use Runtime::spawn or Runtime::run") };
    let run = cx.current_run();
    run.enter();
    Handle::new(start(cx, task, Keeper::Run(run)))
}

/// A spawned task: awaiting it delivers the value; dropping it lets the task go on alone.
#[must_use = "a dropped handle lets its task go on alone: say so with `drop`"]
pub struct Handle<'s, T> {
    frame: FrameRef,
    value: PhantomData<(&'s (), T)>,
}

// SAFETY: the frame is waited for and taken by atomic protocols; the value moves with the handle.
unsafe impl<T: Send> Send for Handle<'_, T> {}
// SAFETY: a shared handle only says whether the task has ended.
unsafe impl<T: Send> Sync for Handle<'_, T> {}

impl<T> Handle<'_, T> {
    fn new(frame: FrameRef) -> Self {
        Handle { frame, value: PhantomData }
    }

    /// Whether the task has ended.
    pub fn is_finished(&self) -> bool {
        // SAFETY: owned.
        unsafe { self.frame.as_ref() }.slot.status().is_some()
    }

    /// The value, if the task has ended; else the handle back.
    ///
    /// # Errors
    /// The handle, if the task has not ended.
    ///
    /// # Panics
    /// With the task's panic; if the task was cancelled.
    pub fn try_get(self) -> Result<T, Self> {
        if !self.is_finished() {
            return Err(self);
        }
        let frame = std::mem::ManuallyDrop::new(self).frame;
        // SAFETY: ended, and the handle was the only owner.
        match unsafe { frame::take::<T>(frame) } {
            Delivered::Value(value) => Ok(value),
            Delivered::Panic(payload) => resume_unwind(payload),
            Delivered::Cancelled => panic!("the spawned task was cancelled"),
        }
    }
}

impl<T> sealed::Sealed for Handle<'_, T> {}
impl<T> Task for Handle<'_, T> {
    type Output = T;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<T> {
        let handle = match if cx.block_now() { Err(self) } else { self.try_get() } {
            // SAFETY: the call protocol.
            Ok(value) => return unsafe { Outcome::done(value) },
            Err(handle) => handle,
        };
        Outcome::suspended(handle.start(cx))
    }

    /// The task has its frame, and was made ready when it was spawned.
    fn start(self, _: Cx) -> FrameRef {
        std::mem::ManuallyDrop::new(self).frame
    }
}

impl<T> Drop for Handle<'_, T> {
    fn drop(&mut self) {
        // SAFETY: owned until detached.
        let header = unsafe { self.frame.as_ref() };
        if !header.slot.detach() {
            // SAFETY: completed, and the handle was its only owner.
            unsafe { (header.vtable.drop_result)(self.frame) };
            // SAFETY: as above.
            unsafe { frame::free(self.frame) };
        }
    }
}

impl<T> std::fmt::Debug for Handle<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").field("finished", &self.is_finished()).finish()
    }
}

/// What a scope's tasks and its end share.
pub(crate) struct State {
    /// The body and the tasks that have not ended.
    live: AtomicUsize,
    panicked: AtomicBool,
    /// Resolved by whoever is last; there before the body has ended.
    end: Mutex<Option<Continuation<()>>>,
}

impl State {
    fn leave(&self) {
        // Release: this task's accesses come before the end. Acquire: the last sees all others', and `end`.
        if self.live.fetch_sub(1, Ordering::AcqRel) == 1 {
            let end = lock(&self.end).take();
            // From here on the scope may be gone.
            if let Some(end) = end {
                end.resolve(());
            }
        }
    }
}

/// Where tasks are spawned that may borrow what outlives the scope.
///
/// A `Copy` handle: pass it to the tasks that spawn.
pub struct Scope<'s> {
    state: NonNull<State>,
    lends: PhantomData<fn(&'s ()) -> &'s ()>,
}

impl Clone for Scope<'_> {
    fn clone(&self) -> Self {
        *self
    }
}
impl Copy for Scope<'_> {}

// SAFETY: the state is atomics and a mutex.
unsafe impl Send for Scope<'_> {}
// SAFETY: as above.
unsafe impl Sync for Scope<'_> {}

impl<'s> Scope<'s> {
    /// Starts a task in this scope; the scope ends after it.
    ///
    /// # Panics
    /// Outside a task.
    pub fn spawn<Tk>(self, task: Tk) -> Handle<'s, Tk::Output>
    where
        Tk: Task + Send + 's,
        Tk::Output: Send,
    {
        let Some(cx) = try_cx() else { panic!("a scope spawns inside tasks only") };
        // SAFETY: the scope lives while anyone can hold this: see `scope`.
        // Relaxed: the caller is in the scope, so the count is not zero.
        unsafe { self.state.as_ref() }.live.fetch_add(1, Ordering::Relaxed);
        Handle::new(start(cx, task, Keeper::Scope(self.state)))
    }
}

/// Runs the task that `body` makes, with a scope to spawn in; ends after all tasks of the scope, awaited or not.
///
/// # Panics
/// With the body's panic, or, if a task of the scope panicked and nobody awaited it, with a message that says so;
/// in either case after all tasks of the scope have ended.
///
/// ```
/// use finespun::prelude::*;
/// use std::sync::atomic::{AtomicU64, Ordering};
///
/// #[task]
/// async fn add(sum: &AtomicU64, n: u64) {
///     sum.fetch_add(n, Ordering::Relaxed);
/// }
///
/// #[task]
/// async fn add_all<'s>(s: Scope<'s>, sum: &'s AtomicU64) {
///     for n in 0..10 {
///         drop(s.spawn(add(sum, n)));
///     }
/// }
///
/// #[task]
/// async fn total(sum: &AtomicU64) -> u64 {
///     scope(|s| add_all(s, sum)).await;
///     sum.load(Ordering::Relaxed)
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run(total(&AtomicU64::new(0))), 45);
/// ```
pub fn scope<'s, Tk, F>(body: F) -> Scoped<'s, Tk, F>
where
    Tk: Task + Send + 's,
    F: FnOnce(Scope<'s>) -> Tk,
{
    Scoped { body, lends: PhantomData }
}

/// The task that [`scope`] makes.
#[must_use = "a task does nothing until it is awaited"]
pub struct Scoped<'s, Tk, F> {
    body: F,
    lends: PhantomData<(fn(&'s ()) -> &'s (), fn() -> Tk)>,
}

impl<Tk, F> sealed::Sealed for Scoped<'_, Tk, F> {}
impl<'s, Tk, F> Task for Scoped<'s, Tk, F>
where
    Tk: Task + Send + 's,
    F: FnOnce(Scope<'s>) -> Tk,
{
    type Output = Tk::Output;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Tk::Output> {
        let state = Box::new(State {
            live: AtomicUsize::new(1),
            panicked: AtomicBool::new(false),
            end: Mutex::new(None),
        });
        // Spawning is up to the task that this makes; if the closure spawns and panics, that is waited for too.
        let call = ScopeCall::Make(Some(self.body));
        let body = ScopeBody { call, result: None, end: None, state, lends: PhantomData };
        poll_in_place(body, cx, ScopeBody::<Tk, F>::TABLE)
    }
}

enum ScopeCall<Tk: Task, F> {
    Make(Option<F>),
    Call(CallFuture<Tk>),
    Ended,
}

type EndOfScope = Suspend<(), Box<dyn FnOnce(Continuation<()>) + Send>>;

struct ScopeBody<'s, Tk: Task, F> {
    call: ScopeCall<Tk, F>,
    result: Option<std::thread::Result<Tk::Output>>,
    end: Option<CallFuture<EndOfScope>>,
    state: Box<State>,
    lends: PhantomData<&'s ()>,
}

impl<Tk: Task, F> Unpin for ScopeBody<'_, Tk, F> {}

/// A pointer to the state of a scope that has not ended.
struct StatePtr(NonNull<State>);
// SAFETY: the state is atomics and a mutex.
unsafe impl Send for StatePtr {}
impl StatePtr {
    fn leave_through(self, end: Continuation<()>) {
        // SAFETY: the scope's frame waits for this continuation, and owns the state.
        let state = unsafe { self.0.as_ref() };
        *lock(&state.end) = Some(end);
        state.leave();
    }
}

impl<'s, Tk, F> ScopeBody<'s, Tk, F>
where
    Tk: Task + Send + 's,
    F: FnOnce(Scope<'s>) -> Tk,
{
    /// A cancelled scope still waits for its tasks.
    const TABLE: &'static VTable = &VTable { cancel: Self::cancel, ..*BodyFrame::<Self>::VTABLE };

    unsafe fn cancel(frame: FrameRef, cx: Cx) -> Poll<Status> {
        // SAFETY: the worker loop runs a frame exclusively.
        let this = unsafe { BodyFrame::<Self>::body(frame).as_mut() };
        // A destructor's panic has nowhere to go.
        let _ = catch_unwind(AssertUnwindSafe(|| this.call = ScopeCall::Ended));
        if this.end(&mut StdContext::from_waker(Waker::noop())).is_pending() {
            return Poll::Pending;
        }
        // SAFETY: passed on; all tasks of the scope have ended.
        unsafe { BodyFrame::<Self>::cancel(frame, cx) }
    }

    /// Waits for the tasks of the scope, the body having ended.
    fn end(&mut self, std: &mut StdContext<'_>) -> Poll<()> {
        let state = NonNull::from(&*self.state);
        let end = self.end.get_or_insert_with(|| {
            let state = StatePtr(state);
            CallFuture::fresh(suspend_protected(Box::new(move |end| state.leave_through(end))))
        });
        Pin::new(end).poll(std)
    }
}

impl<'s, Tk, F> Future for ScopeBody<'s, Tk, F>
where
    Tk: Task + Send + 's,
    F: FnOnce(Scope<'s>) -> Tk,
{
    type Output = Tk::Output;

    fn poll(mut self: Pin<&mut Self>, std: &mut StdContext<'_>) -> Poll<Tk::Output> {
        let this = &mut *self;
        let state = NonNull::from(&*this.state);
        if this.result.is_none() {
            let polled = catch_unwind(AssertUnwindSafe(|| {
                if let ScopeCall::Make(make) = &mut this.call
                    && let Some(make) = make.take()
                {
                    this.call = ScopeCall::Call(CallFuture::fresh(make(Scope { state, lends: PhantomData })));
                }
                match &mut this.call {
                    ScopeCall::Call(call) => Pin::new(call).poll(std),
                    _ => unreachable!("a scope's body is polled until it has ended"),
                }
            }));
            this.result = Some(match polled {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(value)) => Ok(value),
                Err(payload) => Err(payload),
            });
            this.call = ScopeCall::Ended;
        }
        if this.end(std).is_pending() {
            return Poll::Pending;
        }
        match this.result.take() {
            // Relaxed: ordered by the count of tasks.
            Some(Ok(_)) if this.state.panicked.load(Ordering::Relaxed) => {
                panic!("a task spawned in a scope panicked")
            }
            Some(Ok(value)) => Poll::Ready(value),
            Some(Err(payload)) => resume_unwind(payload),
            None => unreachable!("a scope was polled after it had ended"),
        }
    }
}
