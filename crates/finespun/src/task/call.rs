//! Tasks, and the call that may turn out to have been a thread.

use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};
use std::thread;

use super::context::{Cx, Verdict, cx};
use super::frame::{self, BodyFrame, FrameRef, VTable};
use super::outcome::{Called, Child, Outcome};
use super::run;
use super::schema::Schema;
use super::words::{self, Parcel, Word};
use super::yielding::{YieldNow, yield_now};

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// A description of a call, inert until it is awaited, joined, spawned or run.
///
/// Calling a `#[task] async fn` makes one. Tasks are awaited with `.await`, but only inside other tasks, where the
/// compiler of `#[task]` turns the await into a call; a task is not a [`Future`], and cannot be awaited or leaked by
/// code that the compiler has not seen. The trait is sealed.
#[must_use = "a task does nothing until it is awaited, joined, spawned or run"]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a task",
    label = "this is awaited inside a `#[task]`, but is not a task",
    note = "mark the function `#[task]`, or wrap a std future: `foreign(future).await`"
)]
pub trait Task: sealed::Sealed + Sized {
    /// What the task delivers.
    type Output;

    /// Whether a call can be told at compile time never to suspend (the papers' non-blocking schema).
    const STRAIGHT: bool;

    /// Whether all that a call takes along is passed in registers.
    #[doc(hidden)]
    const IN_REGISTERS: bool = false;

    /// Whether the task looks at the guard itself.
    #[doc(hidden)]
    const GUARDS: bool = false;

    /// Calls the task on this stack.
    ///
    /// # Safety
    /// Only generated code may call it: the outcome must be opened, and a suspended callee awaited.
    #[doc(hidden)]
    unsafe fn call(self, cx: Cx) -> Outcome<Self::Output>;

    /// As `call`, after the guard check.
    ///
    /// # Safety
    /// As `call`.
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn call_guarded(self, cx: Cx) -> Outcome<Self::Output> {
        if Self::GUARDS || !cx.trips() {
            // SAFETY: passed on.
            unsafe { outcome(cx, self) }
        } else if const { Self::IN_REGISTERS && words::fits::<Self>() } {
            match words::split(self) {
                // SAFETY: the words hold a `Self`.
                Ok([a, b, c, d]) => unsafe { call_tripped_by_words::<Self>(a, b, c, d, cx) },
                Err(_) => unreachable!("just looked"),
            }
        } else {
            // SAFETY: the parcel is taken once.
            unsafe { call_tripped(cx, &mut Parcel::new(self)) }
        }
    }

    /// Makes a ready frame that will run the task from its beginning: the heap schema.
    #[doc(hidden)]
    fn start(self, cx: Cx) -> FrameRef {
        let frame = BodyFrame::make(cx, CallFuture::fresh(self));
        cx.make_ready(frame);
        frame
    }
}

/// Runs a body in a frame from the start, on this stack: the pinned schema.
///
/// If it ends when its group has been terminated, by unwinding or not, it counts as suspended, and is destroyed like all else: what it
/// waited for may have been destroyed under it, and what it delivers is of no interest to anybody. To go on unwinding would leave
/// the group; and to deliver a value would let a group end, on this stack, as if nobody had terminated it.
pub(crate) fn poll_in_place<F: Future>(body: F, cx: Cx, table: &'static VTable) -> Outcome<F::Output> {
    /// Destroys the body and frees the frame, on the way out or on a panic's way.
    struct Finish<F: Future>(FrameRef, PhantomData<F>);
    impl<F: Future> Drop for Finish<F> {
        fn drop(&mut self) {
            // SAFETY: the body is gone by then and nobody else has seen the frame.
            let free = unsafe { frame::Free::new(self.0) };
            // SAFETY: the body is live, ended or unwound, and is not polled again.
            unsafe { BodyFrame::<F>::drop_body(self.0) };
            drop(free);
        }
    }

    let finish = Finish::<F>(BodyFrame::with_table(cx, body, table), PhantomData);
    let frame = finish.0;
    let in_group = cx.has_record();
    // SAFETY: nobody else knows the frame.
    let polled = if in_group { caught::<F>(frame) } else { Ok(unsafe { BodyFrame::<F>::poll_body(frame) }) };
    match polled {
        Ok(Poll::Ready(value)) if !in_group => {
            drop(finish);
            // SAFETY: the call protocol.
            unsafe { Outcome::done(value) }
        }
        Ok(Poll::Ready(value)) => {
            // The body's destructor is user code, whose panic is the task's.
            let dropped = catch_unwind(AssertUnwindSafe(|| drop(finish)));
            ended_in_group(cx, dropped.map(|()| value))
        }
        Err(payload) => {
            // A second panic has nowhere to go.
            frame::quietly(|| drop(finish));
            ended_in_group(cx, Err(payload))
        }
        Ok(Poll::Pending) => {
            std::mem::forget(finish);
            // SAFETY: the poll has just returned pending.
            unsafe { settle(cx, frame) };
            Outcome::suspended(frame)
        }
    }
}

/// Polls a body whose group may be terminated meanwhile.
#[inline(never)]
fn caught<F: Future>(frame: FrameRef) -> thread::Result<Poll<F::Output>> {
    // SAFETY: nobody else knows the frame.
    catch_unwind(AssertUnwindSafe(|| unsafe { BodyFrame::<F>::poll_body(frame) }))
}

/// What a body has come to that is gone, in a group that may have been terminated meanwhile.
#[inline(never)]
fn ended_in_group<T>(cx: Cx, result: thread::Result<T>) -> Outcome<T> {
    match result {
        result if cx.is_terminated() => {
            match result {
                Ok(value) => frame::quietly(|| drop(value)),
                Err(payload) => frame::discard(payload),
            }
            Outcome::suspended(destroyed::<T>(cx))
        }
        // SAFETY: the call protocol.
        Ok(value) => unsafe { Outcome::done(value) },
        Err(payload) => resume_unwind(payload),
    }
}

/// A frame of a group that has been terminated, or a run that has been cancelled: ready, to be destroyed. It would deliver a
/// `T`.
pub(crate) fn destroyed<T>(cx: Cx) -> FrameRef {
    let frame = BodyFrame::make(cx, Doomed(CallFuture::fresh(yield_now()), PhantomData::<fn() -> T>));
    cx.make_ready(frame);
    frame
}

/// Waits to be destroyed. If it is run instead, somebody is just about to terminate the group.
struct Doomed<T>(CallFuture<YieldNow>, PhantomData<fn() -> T>);

impl<T> Future for Doomed<T> {
    type Output = T;
    fn poll(mut self: Pin<&mut Self>, std: &mut StdContext<'_>) -> Poll<T> {
        while Pin::new(&mut self.0).poll(std).is_ready() {
            self.0 = CallFuture::fresh(yield_now());
        }
        Poll::Pending
    }
}

/// Makes a frame whose body was polled on the stack, and must wait, the waiter of what it waits for.
///
/// # Safety
/// The frame's body has just returned pending, and nobody else knows the frame.
pub(crate) unsafe fn settle(cx: Cx, frame: FrameRef) {
    // SAFETY: by the caller's word.
    match unsafe { run::register(cx, frame) } {
        run::Next::Waits => {}
        run::Next::Runs => cx.make_ready(frame),
    }
}

/// Calls a task from stack code.
///
/// # Safety
/// Only generated code: `cx` is the current worker's, and a child must be waited for.
#[inline(always)]
pub unsafe fn call<Tk: Task>(cx: Cx, task: Tk) -> Called<Tk> {
    // SAFETY: passed on.
    Called::new(unsafe { outcome(cx, task) })
}

/// What a call returns.
///
/// # Safety
/// As [`call`].
#[inline(always)]
unsafe fn outcome<Tk: Task>(cx: Cx, task: Tk) -> Outcome<Tk::Output> {
    // SAFETY: passed on.
    let outcome = unsafe { task.call(cx) };
    // SAFETY: a straight task does not suspend.
    if Tk::STRAIGHT { unsafe { outcome.ended() } } else { outcome }
}

/// Calls a task from stack code after the guard check.
///
/// # Safety
/// As [`call`].
#[inline(always)]
pub unsafe fn call_guarded<Tk: Task>(cx: Cx, task: Tk) -> Called<Tk> {
    // SAFETY: passed on.
    Called::new(unsafe { task.call_guarded(cx) })
}

/// The same from a task of schema `S`, which looks at the guard unless it is straight: then so is its callee.
///
/// # Safety
/// As [`call`].
#[inline(always)]
pub unsafe fn call_guarded_in<S: Schema, Tk: Task>(cx: Cx, task: Tk) -> Called<Tk> {
    if S::STRAIGHT_3 {
        // SAFETY: passed on.
        unsafe { call(cx, task) }
    } else {
        // SAFETY: passed on.
        unsafe { call_guarded(cx, task) }
    }
}

/// As [`call_tripped`].
///
/// # Safety
/// The words hold a `Tk`, which is moved here.
#[cold]
#[inline(never)]
unsafe fn call_tripped_by_words<Tk: Task>(a: Word, b: Word, c: Word, d: Word, cx: Cx) -> Outcome<Tk::Output> {
    // SAFETY: by the caller's word.
    call_after_trip::<Tk>(cx, unsafe { words::join([a, b, c, d]) })
}

/// # Safety
/// The task is in the parcel, and is moved here.
#[cold]
#[inline(never)]
unsafe fn call_tripped<Tk: Task>(cx: Cx, task: &mut Parcel<Tk>) -> Outcome<Tk::Output> {
    // SAFETY: by the caller's word.
    call_after_trip(cx, unsafe { task.take() })
}

pub(crate) fn call_after_trip<Tk: Task>(cx: Cx, task: Tk) -> Outcome<Tk::Output> {
    match cx.tripped() {
        // SAFETY: `cx` is the current worker's.
        Verdict::Stay => unsafe { task.call(cx) },
        Verdict::Leave | Verdict::Block => Outcome::suspended(task.start(cx)),
    }
}

/// The outcome of what stands behind a head: of unknown origin to the optimizer.
///
/// A head returns either that or a value of its own. LLVM joins the two as whole pairs, and cannot tell any more that
/// one of them has no frame; where the head is inlined its caller would test a frame that is known to be null.
#[inline(always)]
pub fn behind<T, S>(outcome: Outcome<T, S>) -> Outcome<T> {
    outcome.opaque().with_schema()
}

/// Calls a task that cannot suspend, from a task in the straight schema.
///
/// # Safety
/// Only generated code.
#[inline(always)]
pub unsafe fn call_straight<Tk: Task>(task: Tk) -> Tk::Output {
    const {
        assert!(
            Tk::STRAIGHT,
            "a `#[task(straight)]` awaits a task that may suspend: remove `(straight)`, or make the callee straight"
        )
    };
    // SAFETY: a straight task does not look at its worker, and does not suspend.
    unsafe { call(Cx::none(), task).value() }
}

/// Calls a task from a function that runs only if `S` is straight: then so is the task.
///
/// # Safety
/// Only generated code.
#[inline(always)]
pub unsafe fn call_direct<S: Schema, Tk: Task>(task: Tk) -> Tk::Output {
    if !S::STRAIGHT_3 {
        unreachable!("nobody calls what may suspend as if it were straight");
    }
    // SAFETY: a straight task does not look at its worker, and does not suspend.
    unsafe { call(Cx::none(), task).value() }
}

/// A call from a resumable body: starts at the first poll, then waits. Never moved once polled by its frame.
pub struct CallFuture<Tk>(CallState<Tk>);

enum CallState<Tk> {
    /// Called from a body: guarded, as from the stack.
    Start(Tk),
    /// The task of a frame of its own, whose stack is fresh: a guard check would only make another such frame.
    Fresh(Tk),
    Wait(Child<Tk>),
    Taken,
}

impl<Tk> Unpin for CallFuture<Tk> {}

/// A call in a pinned body.
///
/// # Safety
/// Only generated code: the future must be awaited at once in a task's body.
#[inline]
pub unsafe fn call_async<Tk: Task>(task: Tk) -> CallFuture<Tk> {
    CallFuture(CallState::Start(task))
}

impl<Tk: Task> CallFuture<Tk> {
    /// The body of a frame of the task's own: the heap schema.
    pub(crate) fn fresh(task: Tk) -> CallFuture<Tk> {
        CallFuture(CallState::Fresh(task))
    }
}

impl<Tk: Task> Future for CallFuture<Tk> {
    type Output = Tk::Output;
    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<Tk::Output> {
        // SAFETY: a body is polled by a worker; used within this poll.
        let cx = unsafe { cx() };
        let called = match std::mem::replace(&mut self.0, CallState::Taken) {
            // SAFETY: `cx` is the current worker's; the child is kept and waited for.
            CallState::Start(task) => unsafe { call_guarded(cx, task) }.open(),
            // SAFETY: as above.
            CallState::Fresh(task) => unsafe { call(cx, task) }.open(),
            CallState::Wait(child) if child.ended() => Ok(child.value()),
            CallState::Wait(child) => Err(child),
            CallState::Taken => unreachable!("a call was polled after it had ended"),
        };
        match called {
            Ok(value) => Poll::Ready(value),
            Err(child) => {
                cx.wait_for(child.frame());
                self.0 = CallState::Wait(child);
                Poll::Pending
            }
        }
    }
}

/// Waits for a suspended callee.
pub struct Wait<Tk>(Option<Child<Tk>>);

impl<Tk> Unpin for Wait<Tk> {}

/// The wait of a resumable body.
///
/// # Safety
/// Only generated code: awaited at once in a task's body.
#[inline]
pub unsafe fn wait<Tk: Task>(child: Child<Tk>) -> Wait<Tk> {
    Wait(Some(child))
}

impl<Tk: Task> Future for Wait<Tk> {
    type Output = Tk::Output;
    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<Tk::Output> {
        // SAFETY: a body is polled by a worker; used within this poll.
        let cx = unsafe { cx() };
        let entering = cx.take_entering();
        // While the stack is being given up, nothing goes on here, even if there is nothing to wait for any more.
        let Some(child) = self.0.take_if(|child| !entering && !cx.leaving() && child.ended()) else {
            match &self.0 {
                Some(child) => cx.wait_for(child.frame()),
                None => unreachable!("a wait was polled after it had ended"),
            }
            return Poll::Pending;
        };
        Poll::Ready(child.value())
    }
}

/// Calls `task` and makes something else of its value.
///
/// # Safety
/// As [`call`].
pub(crate) unsafe fn map_outcome<Tk: Task, T>(cx: Cx, task: Tk, map: impl FnOnce(Tk::Output) -> T) -> Outcome<T> {
    // SAFETY: passed on.
    match unsafe { call(cx, task) }.open() {
        // SAFETY: the call protocol.
        Ok(value) => unsafe { Outcome::done(map(value)) },
        Err(child) => {
            // SAFETY: the body takes its entry first, and waits at once.
            unsafe {
                super::fallback::fallback((child, map), |enter: super::fallback::Enter<_>| async move {
                    let (child, map) = enter.take();
                    map(wait(child).await)
                })
            }
        }
    }
}

/// Unwinds a task whose child was destroyed under it: silently if that is how its own run ends.
#[cold]
pub(crate) fn cancelled(message: &'static str) -> ! {
    if super::context::try_cx().is_some_and(Cx::is_terminated) {
        std::panic::resume_unwind(Box::new(message));
    }
    panic!("{message}")
}

/// What resumable code gives at its end: nothing, since each path of it goes elsewhere. rustc sees to it: what the task
/// compiler takes for a panic by its name (`todo!`) may be another macro.
#[derive(Debug)]
pub enum DivergesAsInStd {}

/// What macros and variants of std are tried with.
#[derive(Debug)]
pub struct Probe(());

/// Evidence of a type where inference has none; never executed.
///
/// # Safety
/// Must not be reached.
pub unsafe fn never<T>() -> T {
    unreachable!("type evidence is not executed")
}

/// The check that what a task keeps across an await may move to another worker.
#[inline(always)]
pub fn send<T: Send>(captured: T) -> T {
    captured
}
