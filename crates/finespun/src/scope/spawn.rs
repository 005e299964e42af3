//! Tasks that outlive the expression that creates them: `spawn`, `scope`, handles.

use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context as StdContext, Poll, Waker};

use crate::call::outcome::Outcome;
use crate::call::{CallFuture, Task, map_outcome, poll_in_place, sealed};
use crate::cancel::teams;
use crate::frame::context::{Cx, try_cx};
use crate::frame::origin::{open, pack, run_of, traced};
use crate::frame::{self, BodyFrame, Delivered, FrameRef, Payload, Polled, VTable, quietly};
use crate::process::ProcessMutex;
use crate::run::continuation::Continuation;
use crate::wait::suspend::{Suspend, suspend_protected};

use super::body::{start, too_large};
use super::elsewhere::Owned;
use crate::run::membership::cancelled;
use crate::run::owner::{CompletionOwner, State, end_scope};

/// Starts a task that may continue after the expression that starts it; the calling task continues as well.
///
/// The task belongs to its caller's run, but to no group within it. Spawned tasks left when the run's root ends are
/// cancelled. The task that awaits the handle receives the spawned task's panic; if no task does, the run ends with the
/// panic. The cost is a frame (the papers' parallel version of a call): where the caller waits anyway, `join!` costs a
/// tenth as much.
///
/// ```
/// use finespun::prelude::*;
///
/// #[task]
/// async fn sum(numbers: Vec<u64>) -> u64 {
///     numbers.iter().sum()
/// }
///
/// #[task]
/// async fn compute() -> u64 {
///     let sum = spawn(sum((1..=100).collect()));
///     // Goes on at once; another worker may run the task.
///     let product: u64 = (1..=5).product();
///     sum.await + product
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run(compute()), 5170);
/// ```
///
/// # Panics
/// Panics outside a task: plain code calls [`Runtime::spawn`](crate::Runtime::spawn), for example of
/// [`runtime::default()`](crate::runtime::default()). This includes a destructor that no task runs, for example when an unawaited result is
/// dropped.
#[must_use = "a dropped handle lets its task go on alone: say so with `drop`"]
#[track_caller]
pub fn spawn<Tk>(task: Tk) -> Handle<'static, Tk::Output>
where
    Tk: Task + Send + 'static,
    Tk::Output: Send,
{
    let Some(cx) = try_cx().filter(|cx| cx.is_in_task()) else {
        panic!(
            "`spawn` was called outside a task: use Runtime::spawn or Runtime::run; `finespun::runtime::default()` is a runtime"
        )
    };
    cx.check_exhausted();
    let run = cx.current_run();
    run.enter();
    Handle::new(start(cx, cx.run(), task, CompletionOwner::Run(run)))
}

/// A handle to a spawned task: awaiting it delivers the value; dropping it detaches the task, which continues.
///
/// The task that awaits the handle receives the spawned task's panic; [`join`](Handle::join) delivers it as an error. A
/// task that another one ends is [`abortable`](crate::tasks::abortable). If the handle is dropped instead, before or after
/// the panic, the run is cancelled and ends with the panic. (In a [`scope`], the scope ends with a panic. A handle that
/// is dropped after its run has ended discards the panic.)
///
/// A handle is a task, so several are awaited like other tasks: with `join!(a, b)`, [`join_all`](crate::join_all) or
/// [`reduce`](crate::reduce). The waiter restarts once, when the last task has ended, whatever their number; so does a
/// [`scope`]'s frame. These are the counting futures of the Illinois Concert system (Karamcheti, Plevyak,
/// Chien: *Runtime Mechanisms for Efficient Dynamic Multithreading*, section 4.1.1).
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
/// async fn sum_of_squares(n: u64) -> u64 {
///     let begun: Vec<Handle<u64>> = (0..n).map(|k| spawn(square(k))).collect();
///     // .. other work ..
///     reduce(begun, 0, |a, b| a + b).await
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run(sum_of_squares(4)), 14);
/// ```
pub struct Handle<'s, T> {
    frame: FrameRef,
    value: PhantomData<(&'s (), T)>,
}

// SAFETY: atomic protocols govern waiting for the frame and taking its result; the value moves with the handle.
unsafe impl<T: Send> Send for Handle<'_, T> {}
// SAFETY: a shared handle only tells whether the task has ended.
unsafe impl<T: Send> Sync for Handle<'_, T> {}

impl<T> Handle<'_, T> {
    /// Whether the frame delivers a box that holds the value: with the value itself it would be too large for a pool.
    pub(super) const BOXED: bool = too_large::<T>();

    fn new(frame: FrameRef) -> Self {
        Handle { frame, value: PhantomData }
    }

    /// Returns whether the task belongs to the current group: then a termination of the group ends both the task and
    /// the wait.
    pub(super) fn is_of_group(&self, cx: Cx) -> bool {
        // SAFETY: the handle owns the frame, so it is live.
        unsafe { self.frame.as_ref() }.group == cx.group()
    }

    /// Returns the task's frame, which was made ready when the task was spawned.
    pub(super) fn into_frame(self) -> FrameRef {
        std::mem::ManuallyDrop::new(self).frame
    }

    /// Returns whether the task has ended.
    pub fn is_finished(&self) -> bool {
        // SAFETY: the handle owns the frame, so it is live.
        unsafe { self.frame.as_ref() }.slot.status().is_some()
    }

    /// Returns the value if the task has ended. Never waits.
    ///
    /// # Errors
    /// Returns the handle if the task has not ended.
    ///
    /// # Panics
    /// Resumes the task's panic. Panics if the task was cancelled.
    pub fn try_get(self) -> Result<T, Self> {
        // Unpacked, since user code may inspect the payload.
        self.get(|payload| open(payload).0)
    }

    /// Does the same as [`try_get`](Handle::try_get); `thrown` maps a panic's payload before it is resumed.
    fn get(self, thrown: impl FnOnce(Payload) -> Payload) -> Result<T, Self> {
        if !self.is_finished() {
            return Err(self);
        }
        let frame = std::mem::ManuallyDrop::new(self).frame;
        let delivered = if Self::BOXED {
            // SAFETY: the frame has completed and delivers a `Box<T>`, and the handle was its only owner.
            unsafe { frame::take::<Box<T>>(frame) }.map(|value| *value)
        } else {
            // SAFETY: the frame has completed and delivers a `T`, and the handle was its only owner.
            unsafe { frame::take::<T>(frame) }
        };
        match delivered {
            Delivered::Value(value) => Ok(value),
            Delivered::Panic(payload) => thrown(payload).resume(),
            Delivered::Cancelled => cancelled("the spawned task was cancelled"),
        }
    }
}

impl<T> sealed::Sealed for Handle<'_, T> {}
impl<T> Task for Handle<'_, T> {
    type Output = T;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<T> {
        let handle = match if cx.block_now() { Err(self) } else { self.get(|payload| payload) } {
            // SAFETY: returned as this call's outcome, as the call protocol requires.
            Ok(value) => return unsafe { Outcome::done(value) },
            Err(handle) => handle,
        };
        if Self::BOXED {
            // SAFETY: the caller guarantees the call protocol for this worker.
            return unsafe { map_outcome(cx, Owned::<T, Box<T>>::new(handle), |value| *value) };
        }
        // SAFETY: the caller guarantees the call protocol for this worker.
        unsafe { Owned::<T, T>::new(handle).call(cx) }
    }

    fn start(self, cx: Cx) -> FrameRef {
        if Self::BOXED || !self.is_of_group(cx) {
            let frame = BodyFrame::make(cx, CallFuture::fresh(self));
            cx.make_ready(frame);
            return frame;
        }
        self.into_frame()
    }
}

impl<T> Drop for Handle<'_, T> {
    fn drop(&mut self) {
        // SAFETY: the handle owns the frame until it detaches.
        let header = unsafe { self.frame.as_ref() };
        if !header.slot.detach() {
            let group = header.group;
            // SAFETY: the frame has completed, and the handle was its only owner.
            if let Some(payload) = unsafe { frame::lost_panic(self.frame) } {
                // The number of a run that has ended is used again.
                let Some(serial) = run_of(&payload) else { return };
                return match try_cx().filter(|cx| cx.is_in_run_of(group)) {
                    Some(cx) if cx.current_run().serial == serial => cx.fail(payload),
                    Some(_) => {}
                    None => teams::fail(group, serial, payload),
                };
            }
            // SAFETY: the handle was the frame's only owner, and the result is destroyed before `_free` is dropped.
            let _free = unsafe { frame::Free::new(self.frame) };
            // SAFETY: the frame has completed, and the handle was its only owner.
            unsafe { frame::drop_result(self.frame) };
        }
    }
}

impl<T> std::fmt::Debug for Handle<'_, T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Handle").field("finished", &self.is_finished()).finish()
    }
}

/// Scope states that no scope uses, for reuse.
static STATES: ProcessMutex<Vec<&'static State>> = ProcessMutex::new(Vec::new());

/// Makes `'s` invariant: a scope lends for exactly its own lifetime.
type Lends<'s> = PhantomData<fn(&'s ()) -> &'s ()>;

/// A scope in which tasks are spawned that may borrow data that outlives it.
///
/// The type is `Copy`: pass it to the tasks that spawn.
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
    /// Starts a task in this scope. The scope ends only after the task has ended, so the handle may be dropped.
    ///
    /// # Panics
    /// Panics outside a task, in a run other than the scope's, and after the scope has ended.
    #[track_caller]
    pub fn spawn<Tk>(self, task: Tk) -> Handle<'s, Tk::Output>
    where
        Tk: Task + Send + 's,
        Tk::Output: Send,
    {
        let Some(cx) = try_cx().filter(|cx| cx.is_in_task()) else {
            panic!("`Scope::spawn` was called outside a task")
        };
        cx.check_exhausted();
        let Some(group) = self.state.enter(self.generation) else {
            panic!("`Scope::spawn` was called after the scope has ended")
        };
        if !cx.is_in_run_of(group) {
            end_scope(self.state.leave());
            panic!("`Scope::spawn` was called in another run than the scope's");
        }
        Handle::new(start(cx, group, task, CompletionOwner::Scope(self.state)))
    }
}

/// Calls `body` with a scope to spawn in, and runs the task that it returns, if any. Ends after all tasks of the scope,
/// awaited or not.
///
/// `body` returns a task, which may spawn as well and whose value is the scope's, or nothing: a plain closure that only
/// spawns.
///
/// # Panics
/// Resumes the body's panic. If instead a task of the scope panicked, panics with a message that says so and is
/// attributed to that task. In either case all tasks of the scope have ended.
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
/// async fn total(numbers: &[u64], sum: &AtomicU64) -> u64 {
///     scope(|s| {
///         for n in numbers {
///             s.spawn(add(sum, *n));
///         }
///     })
///     .await;
///     sum.load(Ordering::Relaxed)
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run(total(&[1, 2, 3], &AtomicU64::new(0))), 6);
/// ```
///
/// The same with a task as the body, which could await in between:
///
/// ```
/// # use finespun::prelude::*;
/// # use std::sync::atomic::{AtomicU64, Ordering};
/// # #[task]
/// # async fn add(sum: &AtomicU64, n: u64) {
/// #     sum.fetch_add(n, Ordering::Relaxed);
/// # }
/// #[task]
/// async fn add_all<'s>(s: Scope<'s>, sum: &'s AtomicU64) {
///     for n in 0..10 {
///         s.spawn(add(sum, n)).await;
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
pub fn scope<'s, B, F>(body: F) -> Scoped<'s, B, F>
where
    B: ScopeResult + Send + 's,
    F: FnOnce(Scope<'s>) -> B + Send,
{
    Scoped { body, returned: PhantomData, lends: PhantomData }
}

/// What the body of a [`scope`] returns: a task, or `()`.
#[diagnostic::on_unimplemented(
    message = "the closure of `scope` returns a task or `()`, not `{Self}`",
    label = "this is neither a task nor `()`",
    note = "end the closure with a `;` if it only spawns; a scope with a value calls a `#[task] async fn` with the scope: \
            `scope(|s| count(s, data)).await`"
)]
pub trait ScopeResult: sealed::ScopeResult {
    /// The task that the scope runs.
    type Task: Task;
    #[doc(hidden)]
    fn task(self) -> Self::Task;
}

impl<Tk: Task> sealed::ScopeResult for Tk {}
#[diagnostic::do_not_recommend]
impl<Tk: Task> ScopeResult for Tk {
    type Task = Tk;
    fn task(self) -> Tk {
        self
    }
}

impl sealed::ScopeResult for () {}
impl ScopeResult for () {
    type Task = NoTask;
    fn task(self) -> NoTask {
        NoTask
    }
}

/// The task of a [`scope`] whose body returns none.
#[derive(Debug)]
#[must_use = "a task does nothing until it is awaited"]
pub struct NoTask;

impl sealed::Sealed for NoTask {}
impl Task for NoTask {
    type Output = ();
    const STRAIGHT: bool = true;

    unsafe fn call(self, _: Cx) -> Outcome<()> {
        // SAFETY: returned as this call's outcome, as the call protocol requires.
        unsafe { Outcome::done(()) }
    }
}

/// The task that [`scope`] makes.
#[must_use = "a task does nothing until it is awaited"]
pub struct Scoped<'s, B, F> {
    body: F,
    returned: PhantomData<fn() -> B>,
    lends: Lends<'s>,
}

impl<B: ScopeResult, F> sealed::Sealed for Scoped<'_, B, F> {}
impl<'s, B, F> Task for Scoped<'s, B, F>
where
    B: ScopeResult + Send + 's,
    F: FnOnce(Scope<'s>) -> B,
{
    type Output = <B::Task as Task>::Output;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Self::Output> {
        let recycled = STATES.lock().pop();
        let state = recycled.unwrap_or_else(|| Box::leak(Box::new(State::new())));
        let generation = state.begin(cx.group());
        // `body` is called inside the scope's frame: if it spawns tasks and panics, the scope still waits for them.
        let call = ScopeCall::Make(Some(self.body));
        let body = ScopeBody { call, result: None, end: None, state, generation, lends: PhantomData };
        poll_in_place(body, cx, ScopeBody::<B, F>::TABLE)
    }
}

enum ScopeCall<B: ScopeResult, F> {
    Make(Option<F>),
    Call(CallFuture<B::Task>),
    Ended,
}

type EndOfScope = Suspend<(), Box<dyn FnOnce(Continuation<()>) + Send>>;

struct ScopeBody<'s, B: ScopeResult, F> {
    call: ScopeCall<B, F>,
    result: Option<Result<<B::Task as Task>::Output, Payload>>,
    end: Option<CallFuture<EndOfScope>>,
    state: &'static State,
    generation: u32,
    lends: PhantomData<&'s ()>,
}

impl<B: ScopeResult, F> Unpin for ScopeBody<'_, B, F> {}

impl<B: ScopeResult, F> Drop for ScopeBody<'_, B, F> {
    fn drop(&mut self) {
        // All tasks have ended: only stale `Scope`s still refer to the state, and their generation is refused.
        STATES.lock().push(self.state);
    }
}

impl<'s, B, F> ScopeBody<'s, B, F>
where
    B: ScopeResult + Send + 's,
    F: FnOnce(Scope<'s>) -> B,
{
    /// A table whose `cancel` still waits for the scope's tasks.
    const TABLE: &'static VTable = &VTable { cancel: Self::cancel, ..*BodyFrame::<Self>::VTABLE };

    unsafe fn cancel(frame: FrameRef, cx: Cx) -> Polled {
        // SAFETY: the worker loop runs a frame exclusively.
        let this = unsafe { BodyFrame::<Self>::body(frame).as_mut() };
        quietly(|| this.call = ScopeCall::Ended);
        if this.end(&mut StdContext::from_waker(Waker::noop())).is_pending() {
            return Poll::Pending;
        }
        // SAFETY: the caller guarantees that the body is there and that it alone runs the frame; all tasks of the scope
        // have ended.
        unsafe { frame::cancel(frame, cx) }
    }

    /// Waits for the tasks of the scope after the body has ended.
    fn end(&mut self, std: &mut StdContext<'_>) -> Poll<()> {
        let state = self.state;
        let end = self.end.get_or_insert_with(|| {
            CallFuture::fresh(suspend_protected(Box::new(move |end| end_scope(state.leave_body(end)))))
        });
        Pin::new(end).poll(std)
    }
}

impl<'s, B, F> Future for ScopeBody<'s, B, F>
where
    B: ScopeResult + Send + 's,
    F: FnOnce(Scope<'s>) -> B,
{
    type Output = <B::Task as Task>::Output;

    fn poll(mut self: Pin<&mut Self>, std: &mut StdContext<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        let scope = Scope { state: this.state, generation: this.generation, lends: PhantomData };
        if this.result.is_none() {
            let polled = catch_unwind(AssertUnwindSafe(|| {
                if let ScopeCall::Make(make) = &mut this.call
                    && let Some(make) = make.take()
                {
                    this.call = ScopeCall::Call(CallFuture::fresh(make(scope).task()));
                }
                match &mut this.call {
                    ScopeCall::Call(call) => Pin::new(call).poll(std),
                    _ => unreachable!("a scope's body is polled until it has ended"),
                }
            }));
            this.result = Some(match polled {
                Ok(Poll::Pending) => return Poll::Pending,
                Ok(Poll::Ready(value)) => Ok(value),
                Err(payload) => Err(pack(payload)),
            });
            this.call = ScopeCall::Ended;
        }
        if this.end(std).is_pending() {
            return Poll::Pending;
        }
        match this.result.take() {
            Some(Ok(value)) => match this.state.panicked() {
                None => Poll::Ready(value),
                // Resumed rather than raised, since the panic hook already ran when the task panicked.
                Some(origin) => {
                    let payload = Payload::new("a task spawned in a scope panicked");
                    match origin {
                        Some(origin) => traced(payload, origin),
                        None => payload,
                    }
                    .resume()
                }
            },
            Some(Err(payload)) => payload.resume(),
            None => unreachable!("a scope was polled after it had ended"),
        }
    }
}
