//! Tasks that outlive the expression that makes them: `spawn`, `scope`, handles.

use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context as StdContext, Poll, Waker};

use super::call::{CallFuture, Task, poll_in_place, sealed};
use super::context::{Cx, cx, try_cx};
use super::frame::{self, BodyFrame, Delivered, FrameRef, VTable, quietly};
use super::outcome::Outcome;
use super::runs::{Run, Told};
use super::slot::Status;
use super::suspend::{Continuation, Suspend, suspend_protected};
use crate::atomics::lock_std as lock;

/// Who is told that a spawned task has ended, after nothing of it is left but a result with an owner.
pub(crate) enum Keeper {
    Run(Arc<Run>),
    Scope(&'static State),
}

impl Keeper {
    /// The task has ended. If it was the last of its run: whom to tell.
    #[must_use]
    pub(crate) fn tell(self) -> Option<Told> {
        match self {
            Keeper::Run(run) => run.leave(),
            Keeper::Scope(state) => {
                state.leave();
                None
            }
        }
    }

    fn panicked(&self) {
        if let Keeper::Scope(state) = self {
            // Relaxed: published by `leave`.
            state.panicked.store(true, Ordering::Relaxed);
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

impl<Tk: Task> Spawned<Tk> {
    const TABLE: &'static VTable = &VTable { spawned: true, ..*BodyFrame::<Self>::VTABLE };
}

fn start<Tk: Task>(cx: Cx, task: Tk, keeper: Keeper) -> FrameRef {
    let body = Spawned { call: CallFuture::fresh(task), keeper: Some(keeper) };
    let frame = BodyFrame::with_table(cx, body, Spawned::<Tk>::TABLE);
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
            /// Frees the memory even if the result's destructor panics.
            struct Free(FrameRef);
            impl Drop for Free {
                fn drop(&mut self) {
                    // SAFETY: the result is gone, and the handle was the frame's only owner.
                    unsafe { frame::free(self.0) };
                }
            }
            let _free = Free(self.frame);
            // SAFETY: completed, and the handle was its only owner.
            unsafe { (header.vtable.drop_result)(self.frame) };
        }
    }
}

impl<T> std::fmt::Debug for Handle<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").field("finished", &self.is_finished()).finish()
    }
}

/// What a scope's tasks and its end share.
///
/// States are recycled and never freed, and each use has its own generation: a [`Scope`] that is kept after its scope
/// has ended finds out, instead of touching memory that is gone.
pub(crate) struct State {
    /// The generation (upper half), and the body and the tasks that have not ended (lower half).
    word: AtomicU64,
    /// The run that the scope belongs to.
    run: AtomicU32,
    panicked: AtomicBool,
    /// Resolved by whoever is last; there before the body has ended.
    end: Mutex<Option<Continuation<()>>>,
}

/// States of scopes that have ended.
static STATES: Mutex<Vec<&'static State>> = Mutex::new(Vec::new());

impl State {
    /// A state with its body, and its generation.
    fn acquire(run: u32) -> (&'static State, u32) {
        let recycled = lock(&STATES).pop();
        let state = recycled.unwrap_or_else(|| {
            Box::leak(Box::new(State {
                word: AtomicU64::new(0),
                run: AtomicU32::new(0),
                panicked: AtomicBool::new(false),
                end: Mutex::new(None),
            }))
        });
        // Relaxed, all: nobody has this generation yet; it is handed out with the scope.
        let generation = ((state.word.load(Ordering::Relaxed) >> 32) as u32).wrapping_add(1);
        state.run.store(run, Ordering::Relaxed);
        state.panicked.store(false, Ordering::Relaxed);
        state.word.store(u64::from(generation) << 32 | 1, Ordering::Relaxed);
        (state, generation)
    }

    /// One more task, if this generation has not ended.
    fn enter(&self, generation: u32) -> bool {
        let enter = |word: u64| ((word >> 32) as u32 == generation && word as u32 > 0).then(|| word + 1);
        // Relaxed: who enters is in the scope, or is refused.
        self.word.fetch_update(Ordering::Relaxed, Ordering::Relaxed, enter).is_ok()
    }

    fn leave(&self) {
        // Release: this task's accesses come before the end. Acquire: the last sees all others', and `end`.
        if self.word.fetch_sub(1, Ordering::AcqRel) as u32 == 1 {
            let end = lock(&self.end).take();
            // From here on the state may be another scope's.
            if let Some(end) = end {
                end.resolve(());
            }
        }
    }
}

/// Invariant: a scope lends for exactly its own lifetime.
type Lends<'s> = PhantomData<fn(&'s ()) -> &'s ()>;

/// Where tasks are spawned that may borrow what outlives the scope.
///
/// A `Copy` handle: pass it to the tasks that spawn.
#[derive(Clone, Copy)]
pub struct Scope<'s> {
    state: &'static State,
    generation: u32,
    lends: Lends<'s>,
}

impl std::fmt::Debug for Scope<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Scope").finish_non_exhaustive()
    }
}

impl<'s> Scope<'s> {
    /// Starts a task in this scope; the scope ends after it.
    ///
    /// # Panics
    /// Outside a task, in another run than the scope's, and after the scope has ended.
    pub fn spawn<Tk>(self, task: Tk) -> Handle<'s, Tk::Output>
    where
        Tk: Task + Send + 's,
        Tk::Output: Send,
    {
        let Some(cx) = try_cx() else { panic!("a scope spawns inside tasks only") };
        assert!(self.state.enter(self.generation), "a scope that has ended spawns nothing");
        // From here on the scope lives until this task has left. Relaxed: set before the scope was handed out.
        let run = self.state.run.load(Ordering::Relaxed);
        if cx.run() != run {
            self.state.leave();
            panic!("a scope spawns in its own run only");
        }
        Handle::new(start(cx, task, Keeper::Scope(self.state)))
    }
}

/// Runs the task that `body` makes, with a scope to spawn in; ends after all tasks of the scope, awaited or not.
///
/// # Panics
/// With the body's panic, or, if a task of the scope panicked, with a message that says so; in either case after all
/// tasks of the scope have ended.
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
    F: FnOnce(Scope<'s>) -> Tk + Send,
{
    Scoped { body, task: PhantomData, lends: PhantomData }
}

/// The task that [`scope`] makes.
#[must_use = "a task does nothing until it is awaited"]
pub struct Scoped<'s, Tk, F> {
    body: F,
    task: PhantomData<fn() -> Tk>,
    lends: Lends<'s>,
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
        let (state, generation) = State::acquire(cx.run());
        // Spawning is up to the task that this makes; if the closure spawns and panics, that is waited for too.
        let call = ScopeCall::Make(Some(self.body));
        let body = ScopeBody { call, result: None, end: None, state, generation, lends: PhantomData };
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
    state: &'static State,
    generation: u32,
    lends: PhantomData<&'s ()>,
}

impl<Tk: Task, F> Unpin for ScopeBody<'_, Tk, F> {}

impl<Tk: Task, F> Drop for ScopeBody<'_, Tk, F> {
    fn drop(&mut self) {
        // All tasks have left: nobody but kept `Scope`s, which are refused, knows the state any more.
        lock(&STATES).push(self.state);
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
        quietly(|| this.call = ScopeCall::Ended);
        if this.end(&mut StdContext::from_waker(Waker::noop())).is_pending() {
            return Poll::Pending;
        }
        // SAFETY: passed on; all tasks of the scope have ended.
        unsafe { BodyFrame::<Self>::cancel(frame, cx) }
    }

    /// Waits for the tasks of the scope, the body having ended.
    fn end(&mut self, std: &mut StdContext<'_>) -> Poll<()> {
        let state = self.state;
        let end = self.end.get_or_insert_with(|| {
            CallFuture::fresh(suspend_protected(Box::new(move |end| {
                *lock(&state.end) = Some(end);
                state.leave();
            })))
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
        let scope = Scope { state: this.state, generation: this.generation, lends: PhantomData };
        if this.result.is_none() {
            let polled = catch_unwind(AssertUnwindSafe(|| {
                if let ScopeCall::Make(make) = &mut this.call
                    && let Some(make) = make.take()
                {
                    this.call = ScopeCall::Call(CallFuture::fresh(make(scope)));
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
