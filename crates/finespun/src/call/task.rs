//! Tasks, and calls that run on the stack but may later become heap frames.

use std::future::Future;
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};
use std::thread;

use super::elsewhere::Elsewhere;
use super::fallback::{Enter, fallback};
use super::outcome::{AnyTask, Called, Child, Outcome};
use super::schema::Schema;
use super::words::{self, Parcel, Word};
use super::yielding::{YieldNow, yield_now};
use crate::frame::context::{Cx, Verdict, cx};
use crate::frame::{self, BodyFrame, FrameRef, VTable};
use crate::run::settle;

pub(crate) mod sealed {
    pub trait Sealed {}
    /// Of what the body of a scope returns.
    pub trait ScopeResult {}
}

/// A description of a call, inert until it is awaited, joined, spawned or run.
///
/// Calling a `#[task] async fn` makes one. Tasks are awaited with `.await`, but only inside other tasks, where the
/// compiler of `#[task]` turns the await into a call; a task is not a [`Future`], so code that the compiler has not
/// seen cannot await it. The trait is sealed.
#[must_use = "a task does nothing until it is awaited, joined, spawned or run"]
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a task",
    label = "not a task",
    note = "mark the function `#[task] async fn`; an `async` block that awaits tasks becomes such a function",
    note = "a std future, also an `async` block that awaits std futures only, is wrapped: `foreign(future)`"
)]
pub trait Task: sealed::Sealed + Sized {
    /// The value that the task delivers.
    type Output;

    /// Whether a call is known at compile time never to suspend (the papers' non-blocking schema).
    const STRAIGHT: bool;

    /// Whether all captured arguments are passed in registers.
    #[doc(hidden)]
    const IN_REGISTERS: bool = false;

    /// Whether the task checks the guard itself.
    #[doc(hidden)]
    const GUARDS: bool = false;

    /// For a portable task: how another process makes its calls.
    #[doc(hidden)]
    const ELSEWHERE: Option<Elsewhere<Self>> = None;

    /// Calls the task on this stack.
    ///
    /// # Safety
    /// Only for generated code: the caller must open the outcome, and await a suspended callee.
    #[doc(hidden)]
    unsafe fn call(self, cx: Cx) -> Outcome<Self::Output>;

    /// Checks the guard, unless the task does so itself, then calls the task as [`call`](Task::call) does. If the check
    /// trips, the task may become a ready frame instead.
    ///
    /// # Safety
    /// As [`call`](Task::call).
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn call_guarded(self, cx: Cx) -> Outcome<Self::Output> {
        if Self::GUARDS || !cx.trips() {
            // SAFETY: the caller guarantees the conditions of `call`.
            unsafe { outcome(cx, self) }
        } else if const { Self::IN_REGISTERS && words::fits::<Self>() } {
            match words::split(self) {
                // SAFETY: the words hold a `Self`.
                Ok([a, b, c, d]) => unsafe { call_tripped_by_words::<Self>(a, b, c, d, cx) },
                Err(_) => unreachable!("`fits` was checked above"),
            }
        } else {
            // SAFETY: the parcel is passed on once, and its value is taken there.
            unsafe { call_tripped(cx, &mut Parcel::new(self)) }
        }
    }

    /// Does the same as [`call_guarded`](Task::call_guarded), in a loop of little but this call, which has registers to spare:
    /// more is inlined.
    ///
    /// # Safety
    /// As [`call`](Task::call).
    #[doc(hidden)]
    #[inline(always)]
    unsafe fn call_in_loop(self, cx: Cx) -> Outcome<Self::Output> {
        // SAFETY: the caller guarantees the conditions of `call`.
        unsafe { self.call_guarded(cx) }
    }

    /// Makes a ready frame that runs the task from its beginning: the papers' parallel version.
    #[doc(hidden)]
    fn start(self, cx: Cx) -> FrameRef {
        let frame = BodyFrame::make(cx, CallFuture::fresh(self));
        cx.make_ready(frame);
        frame
    }
}

/// Runs a body on this stack, in a frame from the start: the pinned schema.
///
/// If the body's group has been terminated when the body ends or unwinds, the call counts as suspended and is destroyed
/// like the group's other frames: the frames that it waited for may have been destroyed, and its value is not used.
/// Unwinding further would leave the group, and delivering a value would let the group end on this stack as if it had
/// not been terminated.
pub(crate) fn poll_in_place<F: Future>(body: F, cx: Cx, table: &'static VTable) -> Outcome<F::Output> {
    /// Destroys the body and frees the frame, on return or on unwinding.
    struct Finish<F: Future>(FrameRef, PhantomData<F>);
    impl<F: Future> Drop for Finish<F> {
        fn drop(&mut self) {
            // SAFETY: when `free` is dropped, the body is destroyed; the frame has no result, and no other code has
            // seen it.
            let free = unsafe { frame::Free::new(self.0) };
            // SAFETY: the body is live; it has ended or unwound, and is not polled again.
            unsafe { BodyFrame::<F>::drop_body(self.0) };
            drop(free);
        }
    }

    let frame = BodyFrame::with_table(cx, body, table);
    if cx.has_record() {
        // SAFETY: the body is live, no other code has seen the frame, and the function polls its body.
        return unsafe { poll_in_group(cx, frame, BodyFrame::<F>::poll_body) };
    }
    let finish = Finish::<F>(frame, PhantomData);
    // SAFETY: the body is live, and no other code has seen the frame.
    match unsafe { BodyFrame::<F>::poll_body(frame) } {
        Poll::Ready(value) => {
            drop(finish);
            // SAFETY: returned as this call's outcome, as the call protocol requires.
            unsafe { Outcome::done(value) }
        }
        Poll::Pending => {
            std::mem::forget(finish);
            // SAFETY: the poll has just returned pending, and no other code has seen the frame.
            unsafe { settle(cx, frame) };
            Outcome::suspended(frame)
        }
    }
}

/// The rest of [`poll_in_place`] where the group may be terminated during the poll. It catches panics, and is compiled once
/// for each type of value.
///
/// # Safety
/// The frame's body is live, no other code has seen the frame, and `poll` polls its body.
#[inline(never)]
unsafe fn poll_in_group<T>(cx: Cx, frame: FrameRef, poll: unsafe fn(FrameRef) -> Poll<T>) -> Outcome<T> {
    // SAFETY: the caller guarantees that the body is live, and that it alone uses the frame.
    let ended = match catch_unwind(AssertUnwindSafe(|| unsafe { poll(frame) })) {
        Ok(Poll::Pending) => {
            // SAFETY: the poll has just returned pending, and no other code has seen the frame.
            unsafe { settle(cx, frame) };
            return Outcome::suspended(frame);
        }
        Ok(Poll::Ready(value)) => Ok(value),
        Err(payload) => Err(payload),
    };
    // SAFETY: the frame is live.
    let drop_body = unsafe { frame.as_ref() }.vtable.types.drop_body;
    // The body's destructor is user code: its panic is the task's panic, and a second one is discarded.
    // SAFETY: the body is live; it has ended or unwound, and is not polled again.
    let dropped = catch_unwind(AssertUnwindSafe(|| unsafe { drop_body(frame) }));
    // SAFETY: the body is destroyed, the frame has no result, and no other code has seen it.
    drop(unsafe { frame::Free::new(frame) });
    let result = match (ended, dropped) {
        (Ok(value), Ok(())) => Ok(value),
        (Ok(value), Err(payload)) => {
            frame::drop_quietly(value);
            Err(payload)
        }
        (Err(payload), dropped) => {
            if let Err(second) = dropped {
                frame::discard(second);
            }
            Err(payload)
        }
    };
    ended_in_group(cx, result)
}

/// Makes an outcome of the result of a destroyed body whose group may have been terminated during the poll.
fn ended_in_group<T>(cx: Cx, result: thread::Result<T>) -> Outcome<T> {
    match result {
        result if cx.is_terminated() => {
            match result {
                Ok(value) => frame::drop_quietly(value),
                Err(payload) => frame::discard(payload),
            }
            Outcome::suspended(destroyed::<T>(cx))
        }
        // SAFETY: returned as the call's outcome, as the call protocol requires.
        Ok(value) => unsafe { Outcome::done(value) },
        Err(payload) => resume_unwind(payload),
    }
}

/// Makes a ready frame that will be destroyed, for a call in a terminated group or cancelled run. The frame has the
/// type of one that delivers a `T`.
pub(crate) fn destroyed<T>(cx: Cx) -> FrameRef {
    let frame = BodyFrame::make(cx, Doomed(CallFuture::fresh(yield_now()), PhantomData::<fn() -> T>));
    cx.make_ready(frame);
    frame
}

/// A body that never ends, and is destroyed because its group has been terminated or its run cancelled. If it is polled
/// first, the terminating thread has not finished yet: the body yields until it has.
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

/// Calls a task from stack code.
///
/// # Safety
/// Only for generated code: `cx` is the current worker's, and a suspended child must be awaited.
#[inline(always)]
pub unsafe fn call<Tk: Task>(cx: Cx, task: Tk) -> Called<Tk> {
    // SAFETY: the caller guarantees that a suspended child is awaited.
    Called::new(unsafe { outcome(cx, task) })
}

/// Calls a task and returns its outcome. For a straight task, tells the optimizer that the outcome has no frame.
///
/// # Safety
/// As [`call`].
#[inline(always)]
unsafe fn outcome<Tk: Task>(cx: Cx, task: Tk) -> Outcome<Tk::Output> {
    // SAFETY: the caller guarantees that the outcome is opened and a suspended child awaited.
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
    // SAFETY: the caller guarantees that a suspended child is awaited.
    Called::new(unsafe { task.call_guarded(cx) })
}

/// Calls a task from a task of schema `S`: after a guard check, unless `S` is straight, in which case the callee is
/// too.
///
/// # Safety
/// As [`call`].
#[inline(always)]
pub unsafe fn call_guarded_in<S: Schema, Tk: Task>(cx: Cx, task: Tk) -> Called<Tk> {
    if S::STRAIGHT_3 {
        // SAFETY: the caller guarantees the conditions of `call`.
        unsafe { call(cx, task) }
    } else {
        // SAFETY: the caller guarantees the conditions of `call_guarded`.
        unsafe { call_guarded(cx, task) }
    }
}

/// Does the same as [`call_tripped`], with the task in registers.
///
/// # Safety
/// The words hold a `Tk`, which is moved here.
#[cold]
#[inline(never)]
unsafe fn call_tripped_by_words<Tk: Task>(a: Word, b: Word, c: Word, d: Word, cx: Cx) -> Outcome<Tk::Output> {
    // SAFETY: the caller guarantees that the words hold a `Tk`, which is joined here only.
    call_after_trip::<Tk>(cx, unsafe { words::join([a, b, c, d]) })
}

/// Calls a task whose guard check tripped.
///
/// # Safety
/// The task is in the parcel, and is moved here.
#[cold]
#[inline(never)]
unsafe fn call_tripped<Tk: Task>(cx: Cx, task: &mut Parcel<Tk>) -> Outcome<Tk::Output> {
    // SAFETY: the caller guarantees that the parcel holds the task; it is taken once.
    call_after_trip(cx, unsafe { task.take() })
}

pub(crate) fn call_after_trip<Tk: Task>(cx: Cx, task: Tk) -> Outcome<Tk::Output> {
    match cx.tripped() {
        // SAFETY: `cx` is the current worker's, and the caller opens the outcome.
        Verdict::Stay => unsafe { task.call(cx) },
        Verdict::Leave | Verdict::Block => Outcome::suspended(task.start(cx)),
    }
}

/// Hides from the optimizer the origin of an outcome returned by the code after a head (the leading exits of a task,
/// which callers inline).
///
/// A head returns either that outcome or a value of its own. LLVM merges the two as whole pairs, and no longer knows
/// that the second has no frame: where the head is inlined, the caller would test a frame pointer that is always
/// null.
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
    // SAFETY: a straight task neither uses its context nor suspends.
    unsafe { call(Cx::none(), task).value() }
}

/// Calls a task from a function that runs only if `S` is straight, in which case the task is straight too.
///
/// # Safety
/// Only generated code.
#[inline(always)]
pub unsafe fn call_direct<S: Schema, Tk: Task>(task: Tk) -> Tk::Output {
    if !S::STRAIGHT_3 {
        unreachable!("a task that may suspend was called as a straight task");
    }
    // SAFETY: a straight task neither uses its context nor suspends.
    unsafe { call(Cx::none(), task).value() }
}

/// The body of a frame that begins with a call: the first poll calls the task, later polls wait for its frame. The frame does
/// not move it after the first poll.
///
/// The task has this frame to itself, on a fresh stack: it is called without a guard check, which could only make another
/// such frame.
pub struct CallFuture<Tk>(CallState<Tk>);

/// The future of a call from a pinned body: the same, with a guard check.
pub struct GuardedCall<Tk>(CallState<Tk>);

enum CallState<Tk> {
    Start(Tk),
    Wait(Child<Tk>),
    Taken,
}

impl<Tk> Unpin for CallFuture<Tk> {}
impl<Tk> Unpin for GuardedCall<Tk> {}

/// Returns the future of a call in a pinned body.
///
/// # Safety
/// Only generated code: the future must be awaited at once in a task's body.
#[inline]
pub unsafe fn call_async<Tk: Task>(task: Tk) -> GuardedCall<Tk> {
    GuardedCall(CallState::Start(task))
}

impl<Tk: Task> CallFuture<Tk> {
    /// Returns the body of a frame of the task's own: the papers' parallel version.
    pub(crate) fn fresh(task: Tk) -> CallFuture<Tk> {
        CallFuture(CallState::Start(task))
    }
}

impl<Tk: Task> CallState<Tk> {
    /// Looks at the callee's frame.
    #[inline(always)]
    fn looked(self) -> Result<Tk::Output, Child<Tk>> {
        match self {
            CallState::Wait(child) if child.ended() => Ok(child.value()),
            CallState::Wait(child) => Err(child),
            _ => unreachable!("a call was polled after it had ended"),
        }
    }

    #[inline(always)]
    fn polled(&mut self, cx: Cx, called: Result<Tk::Output, Child<Tk>>) -> Poll<Tk::Output> {
        match called {
            Ok(value) => Poll::Ready(value),
            Err(child) => {
                cx.wait_for(child.frame());
                *self = CallState::Wait(child);
                Poll::Pending
            }
        }
    }
}

impl<Tk: Task> Future for CallFuture<Tk> {
    type Output = Tk::Output;
    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<Tk::Output> {
        // SAFETY: a body is polled by a worker; used within this poll.
        let cx = unsafe { cx() };
        let called = match std::mem::replace(&mut self.0, CallState::Taken) {
            // SAFETY: `cx` is the current worker's; the child is kept and waited for.
            CallState::Start(task) => unsafe { call(cx, task) }.open(),
            begun => begun.looked(),
        };
        self.0.polled(cx, called)
    }
}

impl<Tk: Task> Future for GuardedCall<Tk> {
    type Output = Tk::Output;
    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<Tk::Output> {
        // SAFETY: a body is polled by a worker; used within this poll.
        let cx = unsafe { cx() };
        let called = match std::mem::replace(&mut self.0, CallState::Taken) {
            // SAFETY: `cx` is the current worker's; the child is kept and waited for.
            CallState::Start(task) => unsafe { call_guarded(cx, task) }.open(),
            begun => begun.looked(),
        };
        self.0.polled(cx, called)
    }
}

/// Implements [`VTable::migrate`] for a frame that begins with the call of a portable task.
///
/// # Safety
/// As there.
#[cfg(feature = "objects")]
pub(crate) unsafe fn migrate<Tk: Task>(frame: FrameRef, cx: Cx, to: u32) -> usize {
    // SAFETY: the caller guarantees that the frame is ready, so its body is live, and that it alone could run it.
    let CallFuture(state) = unsafe { BodyFrame::<CallFuture<Tk>>::body(frame).as_mut() };
    let Some(elsewhere) = Tk::ELSEWHERE else { return 0 };
    let task = match std::mem::replace(state, CallState::Taken) {
        CallState::Start(task) => task,
        begun => {
            *state = begun;
            return 0;
        }
    };
    match (elsewhere.one)(cx, to, task).open::<Tk>() {
        Ok(_) => unreachable!("the frame waits in any case"),
        Err(child) => {
            cx.wait_for(child.frame());
            *state = CallState::Wait(child);
        }
    }
    // SAFETY: the body waits, as if a poll had just returned pending, and no other code could run the frame.
    unsafe { settle(cx, frame) };
    1
}

/// Waits for a suspended callee.
pub struct Wait<Tk>(Option<Child<Tk>>);

impl<Tk> Unpin for Wait<Tk> {}

/// Returns the future with which a resumable body awaits `child`.
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
        // While the stack unwinds to frames, the body must not continue on it, even if the child has ended.
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

/// Calls `task` and maps its value.
///
/// # Safety
/// As [`call`].
pub(crate) unsafe fn map_outcome<Tk: Task, T>(cx: Cx, task: Tk, map: impl FnOnce(Tk::Output) -> T) -> Outcome<T> {
    // SAFETY: `cx` is the current worker's; a child is awaited by the fallback's body.
    match unsafe { outcome(cx, task) }.open::<AnyTask<Tk::Output>>() {
        // SAFETY: returned as this call's outcome, as the call protocol requires.
        Ok(value) => unsafe { Outcome::done(map(value)) },
        // SAFETY: the caller opens the outcome and awaits a suspended callee.
        Err(child) => unsafe { map_suspended::<_, T>(child, map) },
    }
}

/// The rest of [`map_outcome`] for a suspended callee.
///
/// # Safety
/// As [`call`].
unsafe fn map_suspended<V, T>(child: Child<AnyTask<V>>, map: impl FnOnce(V) -> T) -> Outcome<T> {
    // SAFETY: the body takes its entry first, and then waits at the resume point.
    unsafe {
        fallback((child, map), |enter: Enter<_>| async move {
            let (child, map) = enter.take();
            map(wait(child).await)
        })
    }
}

/// The type of the value at the end of resumable code. It is empty, since every path leaves earlier. rustc checks that:
/// a macro that the task compiler takes for a panic by its name (`todo!`) may be a different one.
#[derive(Debug)]
pub enum DivergesAsInStd {}

/// The argument with which generated code tests whether macros and variants are those from std.
#[derive(Debug)]
pub struct Probe(());

/// Returns evidence of a type where inference has none; never executed.
///
/// # Safety
/// Must not be reached.
pub unsafe fn never<T>() -> T {
    unreachable!("type evidence is not executed")
}
