//! The one way in which all primitives of this module wait: [`Operation`], [`Waiter`], and the three parties that wait.
//!
//! A primitive describes each of its waits as an operation: how to finish it at once, how to queue a waiter, and what to
//! do with the *grant* that ends the wait. From this, [`call`] makes the task that `.await` in a `#[task]` calls,
//! [`Waiting`] the std future that `.await` elsewhere polls, and [`block_on`] the call that blocks a plain thread, which
//! is the future with the thread as its waker.
//!
//! **No grant is lost.** The wait of a cancelled task or a dropped future may end before or after the grant. Before it,
//! [`Waiter::grant`] gives the grant back to the primitive. After it, the undelivered grant is dropped: a grant that
//! must not be lost passes itself on when it is dropped. In both cases [`Operation::cancelled`] follows. A task may also be
//! cancelled when its wait has been finished, and the output is still in the wait's frame: [`Operation::give_back`].
//!
//! Waiters are granted without any lock held: a waker is user code, and a plain thread may have to wait for a simulated
//! machine before it resumes a task.

use std::collections::VecDeque;
use std::future::Future;
use std::pin::Pin;
use std::ptr::NonNull;
use std::sync::{Arc, Mutex};
use std::task::{Context as StdContext, Poll, Wake, Waker};
use std::thread::Thread;

use crate::atomics::lock_std as lock;
use crate::call::outcome::Outcome;
use crate::call::{Task, sealed};
use crate::cancel::teams;
use crate::frame::context::{Cx, try_cx};
use crate::frame::leaf::{AboutSubject, Subject};
use crate::frame::{CallSite, FrameRef};
use crate::run::continuation::Continuation;
use crate::wait::delivery::Delivery;
use crate::wait::suspend::wait_for;

/// The kind of code that uses a primitive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Party {
    /// A task, of any runtime.
    Task,
    /// Anything else: a plain thread, or another executor.
    Outside,
}

impl Party {
    /// Returns the party of the running code.
    #[inline]
    pub(super) fn here() -> Party {
        if try_cx().is_some() { Party::Task } else { Party::Outside }
    }
}

/// An operation that may have to wait.
///
/// # Safety
/// The subject stays at its address while the operation lives, also if the operation is moved: the operation borrows
/// it, or owns it on the heap.
pub unsafe trait Operation {
    /// The result of the operation.
    type Output;
    /// The value that ends the wait. If a cancelled wait must pass it on, it does so when it is dropped.
    type Grant: Send;

    /// The object that gets an output back that no task takes: `()` if dropping the output is enough.
    type Back: Copy;
    /// What the operation wants of its subject, as in "room in"; may be empty. For deadlock reports.
    const WANTED: &'static str;

    /// Returns the place where the program has made the operation.
    fn place(&self) -> CallSite;

    /// Returns the object that the operation waits for.
    fn subject(&self) -> &(dyn Subject + '_);

    /// Finishes the operation if it need not wait. `by` is the party of the running code.
    fn try_now(&mut self, by: Party) -> Option<Self::Output>;

    /// Queues the operation's waiter, or grants it at once. Called once.
    fn enqueue(&mut self, waiter: Waiter<Self::Grant>);

    /// Finishes the operation after its waiter has been granted.
    fn finish(&mut self, grant: Self::Grant) -> Self::Output;

    /// Returns the object that gets an output back that no task takes.
    fn back(&self) -> Self::Back;

    /// Called with the output of a finished wait if the task has been cancelled before it has taken the output.
    fn give_back(back: Self::Back, output: Self::Output) {
        let _ = back;
        drop(output);
    }

    /// Called if the wait has ended and [`finish`](Operation::finish) will not be called: lets other waiters pass, or
    /// removes the waiter.
    fn cancelled(&mut self) {}
}

/// The right to end a wait with a grant.
pub enum Waiter<G> {
    /// A task.
    Task(Continuation<G>),
    /// A std future.
    Future(Arc<Cell<G>>),
}

impl<G> Waiter<G> {
    /// Returns whether the wait has been cancelled, so that no code will see the grant.
    pub(super) fn is_cancelled(&self) -> bool {
        match self {
            Waiter::Task(k) => k.is_cancelled(),
            Waiter::Future(cell) => matches!(*lock(&cell.0), State::Over),
        }
    }

    /// Returns the party that waits.
    pub(super) fn party(&self) -> Party {
        match self {
            Waiter::Task(_) => Party::Task,
            Waiter::Future(_) => Party::Outside,
        }
    }
}

impl<G: Send> Waiter<G> {
    /// Ends the wait. Gives the grant back if the wait has been cancelled. Must be called without any lock held.
    pub(super) fn grant(self, grant: G) -> Result<(), G> {
        match self {
            Waiter::Task(k) if try_cx().is_some() => k.try_resolve(grant),
            Waiter::Task(k) => {
                // SAFETY: the leaf lives until its continuation is consumed.
                let group = unsafe { k.leaf().as_ref() }.group;
                teams::end_from_outside(group, || k.try_resolve(grant))
            }
            Waiter::Future(cell) => cell.grant(grant),
        }
    }
}

/// Grants each waiter. A cancelled waiter's grant is dropped.
pub(super) fn grant_all<G: Send>(waiters: impl IntoIterator<Item = Waiter<G>>, grant: impl Fn() -> G) {
    for waiter in waiters {
        let _ = waiter.grant(grant());
    }
}

/// A queue of waiters, protected by the primitive's lock.
pub(super) struct Waiters<G> {
    queue: VecDeque<Waiter<G>>,
    /// The length from which on the next push removes cancelled waiters.
    prune_at: usize,
}

impl<G> Waiters<G> {
    pub(super) const fn new() -> Waiters<G> {
        Waiters { queue: VecDeque::new(), prune_at: 0 }
    }

    /// Appends a waiter. Removes cancelled waiters whenever the queue may have doubled since the last time, so it takes
    /// memory for the waiters that wait at one time. The caller drops the result without holding a lock.
    #[must_use]
    pub(super) fn push(&mut self, waiter: Waiter<G>) -> VecDeque<Waiter<G>> {
        let dropped = if self.queue.len() >= self.prune_at { self.prune() } else { VecDeque::new() };
        self.queue.push_back(waiter);
        dropped
    }

    /// Removes cancelled waiters. The caller drops them without holding a lock.
    #[must_use]
    pub(super) fn prune(&mut self) -> VecDeque<Waiter<G>> {
        let (kept, dropped) = std::mem::take(&mut self.queue).into_iter().partition(|waiter| !waiter.is_cancelled());
        self.queue = kept;
        self.prune_at = (2 * self.queue.len()).max(8);
        dropped
    }

    /// Removes the first waiter, which may have been cancelled.
    pub(super) fn pop(&mut self) -> Option<Waiter<G>> {
        self.queue.pop_front()
    }

    /// Removes all waiters, in order.
    pub(super) fn take(&mut self) -> VecDeque<Waiter<G>> {
        std::mem::take(&mut self.queue)
    }

    /// Returns the number of waiters, with cancelled ones that have not been removed.
    pub(super) fn len(&self) -> usize {
        self.queue.len()
    }

    /// Returns the number of waiters that have not been cancelled.
    pub(super) fn live(&self) -> usize {
        self.queue.iter().filter(|waiter| !waiter.is_cancelled()).count()
    }
}

/// An object whose grants must not be lost.
pub trait PassOn: Sync {
    /// Gives an undelivered grant to the next waiter, or back to the object.
    fn pass_on(&self);
}

/// A grant that passes itself on when it is dropped undelivered.
pub struct Token<P: PassOn>(NonNull<P>);

// SAFETY: a token gives only shared access to the object, which is `Sync`.
unsafe impl<P: PassOn> Send for Token<P> {}

impl<P: PassOn> Token<P> {
    /// # Safety
    /// `object` lives until the token has been dropped. This is so if the waiting operation borrows or owns the object:
    /// an undelivered grant is dropped before the operation.
    pub(super) unsafe fn new(object: &P) -> Token<P> {
        Token(NonNull::from(object))
    }

    /// Drops the token without passing it on: the grant has been used, or given back otherwise.
    pub(super) fn forget(self) {
        std::mem::forget(self);
    }
}

impl<P: PassOn> Drop for Token<P> {
    fn drop(&mut self) {
        // SAFETY: the caller of `new` guarantees that the object lives.
        unsafe { self.0.as_ref() }.pass_on();
    }
}

/// The state shared by a std future and its waiter.
pub struct Cell<G>(Mutex<State<G>>);

enum State<G> {
    Waiting(Waker),
    Granted(G),
    /// The grant has been taken, or the future dropped.
    Over,
}

impl<G> Cell<G> {
    fn grant(&self, grant: G) -> Result<(), G> {
        let mut state = lock(&self.0);
        if !matches!(*state, State::Waiting(_)) {
            return Err(grant);
        }
        let before = std::mem::replace(&mut *state, State::Granted(grant));
        drop(state);
        if let State::Waiting(waker) = before {
            waker.wake();
        }
        Ok(())
    }

    /// Takes the grant, or stores the waker.
    fn poll(&self, std: &mut StdContext<'_>) -> Poll<G> {
        let mut state = lock(&self.0);
        let before = match &mut *state {
            State::Granted(_) => std::mem::replace(&mut *state, State::Over),
            State::Waiting(waker) if waker.will_wake(std.waker()) => return Poll::Pending,
            State::Waiting(_) => {
                // Cloning a waker is user code.
                drop(state);
                let waker = std.waker().clone();
                state = lock(&self.0);
                let new = if let State::Granted(_) = *state { State::Over } else { State::Waiting(waker) };
                std::mem::replace(&mut *state, new)
            }
            State::Over => unreachable!("a cell is not polled after its end"),
        };
        drop(state);
        if let State::Granted(grant) = before { Poll::Ready(grant) } else { Poll::Pending }
    }

    /// Ends the wait on behalf of a dropped future.
    fn cancel(&self) {
        let before = std::mem::replace(&mut *lock(&self.0), State::Over);
        drop(before);
    }
}

/// Calls an operation from a task.
///
/// # Safety
/// As for [`call`](crate::call::call).
#[inline(always)]
pub(super) unsafe fn call<O: Operation>(cx: Cx, mut operation: O) -> Outcome<O::Output> {
    let forced = cx.block_now();
    if !forced && let Some(output) = operation.try_now(Party::Task) {
        // SAFETY: the value is returned under the call protocol, as the caller guarantees.
        return unsafe { Outcome::done(output) };
    }
    // SAFETY: the caller guarantees the call protocol for this worker.
    Delivery::open(unsafe { call_waiting(cx, operation, forced) })
}

/// # Safety
/// As for [`call`].
#[inline(never)]
unsafe fn call_waiting<O: Operation>(cx: Cx, operation: O, forced: bool) -> Outcome<Delivered<O>> {
    // SAFETY: the frame that waits for the leaf keeps the operation, whose implementation guarantees that the subject
    // stays at its address. Cancellation cancels the leaf before it destroys that frame.
    let about = unsafe { AboutSubject::new(operation.place(), const { &O::WANTED }, operation.subject()) };
    let request = |operation: &mut OnCancel<O>, k| operation.get().enqueue(Waiter::Task(k));
    let finish = |operation: OnCancel<O>, grant| {
        let mut operation = operation.disarm();
        let output = operation.finish(grant);
        delivered(&operation, output)
    };
    // SAFETY: the caller guarantees the call protocol for this worker.
    unsafe { wait_for(cx, about, forced, OnCancel(Some(operation)), request, finish) }
}

/// The output of an operation, until a task takes it.
type Delivered<O> = Delivery<<O as Operation>::Output, <O as Operation>::Back>;

fn delivered<O: Operation>(operation: &O, output: O::Output) -> Delivered<O> {
    Delivery::new(output, operation.back(), O::give_back)
}

/// Makes a ready frame that calls an operation: see [`Task::start`].
pub(super) fn start<O: Operation>(cx: Cx, operation: O) -> FrameRef {
    Delivery::<O::Output, O::Back>::start(cx, InFrame(operation))
}

/// The task of an operation in a frame of its own. It delivers the output with the means to give it back.
struct InFrame<O>(O);

impl<O> sealed::Sealed for InFrame<O> {}
impl<O: Operation> Task for InFrame<O> {
    type Output = Delivered<O>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Delivered<O>> {
        let InFrame(mut operation) = self;
        let forced = cx.block_now();
        if !forced && let Some(output) = operation.try_now(Party::Task) {
            // SAFETY: the value is returned under the call protocol, as the caller guarantees.
            return unsafe { Outcome::done(delivered(&operation, output)) };
        }
        // SAFETY: the caller guarantees the call protocol for this worker.
        unsafe { call_waiting(cx, operation, forced) }
    }
}

/// An operation of which a waiter has been queued. Calls [`Operation::cancelled`] when it is dropped.
struct OnCancel<O: Operation>(Option<O>);

const ENDED: &str = "an operation ends once";

impl<O: Operation> OnCancel<O> {
    fn get(&mut self) -> &mut O {
        self.0.as_mut().expect(ENDED)
    }

    fn disarm(mut self) -> O {
        self.0.take().expect(ENDED)
    }
}

impl<O: Operation> Drop for OnCancel<O> {
    fn drop(&mut self) {
        self.0.iter_mut().for_each(O::cancelled);
    }
}

/// The std future of an operation, for code outside the tasks: `.await` on the operation makes it.
///
/// Any executor can poll it. Dropping it cancels the wait, which loses nothing: a permit or lock passes to the next
/// waiter, and a message stays in its channel.
///
/// *Cost*: one allocation if it has to wait.
#[must_use = "a future does nothing until it is polled"]
pub struct Waiting<O: Operation> {
    operation: O,
    cell: Option<Arc<Cell<O::Grant>>>,
}

impl<O: Operation> Waiting<O> {
    pub(super) fn new(operation: O) -> Waiting<O> {
        Waiting { operation, cell: None }
    }
}

impl<O: Operation> Unpin for Waiting<O> {}

impl<O: Operation> Future for Waiting<O> {
    type Output = O::Output;

    fn poll(mut self: Pin<&mut Self>, std: &mut StdContext<'_>) -> Poll<O::Output> {
        let cell = match &self.cell {
            Some(cell) => Arc::clone(cell),
            None => {
                if let Some(output) = self.operation.try_now(Party::here()) {
                    return Poll::Ready(output);
                }
                let cell = Arc::new(Cell(Mutex::new(State::Waiting(std.waker().clone()))));
                self.cell = Some(Arc::clone(&cell));
                self.operation.enqueue(Waiter::Future(Arc::clone(&cell)));
                cell
            }
        };
        let Poll::Ready(grant) = cell.poll(std) else { return Poll::Pending };
        self.cell = None;
        Poll::Ready(self.operation.finish(grant))
    }
}

impl<O: Operation> Drop for Waiting<O> {
    fn drop(&mut self) {
        if let Some(cell) = self.cell.take() {
            cell.cancel();
            self.operation.cancelled();
        }
    }
}

impl<O: Operation> std::fmt::Debug for Waiting<O> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Waiting").finish_non_exhaustive()
    }
}

/// Blocks this plain thread until the operation has ended.
///
/// # Panics
/// Inside a task, whose worker would be blocked.
#[track_caller]
pub(super) fn block_on<O: Operation>(operation: O) -> O::Output {
    struct Unpark(Thread);
    impl Wake for Unpark {
        fn wake(self: Arc<Self>) {
            self.0.unpark();
        }
    }

    assert!(
        try_cx().is_none(),
        "a blocking call was made inside a task, where it would block the worker: await the same operation without \
         `blocking_`, or make the call in `blocking(..)`"
    );
    let waker = Waker::from(Arc::new(Unpark(std::thread::current())));
    let mut waiting = Waiting::new(operation);
    loop {
        match Pin::new(&mut waiting).poll(&mut StdContext::from_waker(&waker)) {
            Poll::Ready(output) => return output,
            Poll::Pending => std::thread::park(),
        }
    }
}

/// Makes an [`Operation`] a task, and convertible to a std future.
macro_rules! operation {
    ([$($generics:tt)*] $operation:ty) => {
        impl<$($generics)*> crate::call::sealed::Sealed for $operation {}

        impl<$($generics)*> crate::call::Task for $operation {
            type Output = <$operation as crate::sync::waiter::Operation>::Output;
            const STRAIGHT: bool = false;

            unsafe fn call(self, cx: crate::frame::context::Cx) -> crate::call::outcome::Outcome<Self::Output> {
                // SAFETY: the caller guarantees the call protocol for this worker.
                unsafe { crate::sync::waiter::call(cx, self) }
            }

            fn start(self, cx: crate::frame::context::Cx) -> crate::frame::FrameRef {
                crate::sync::waiter::start(cx, self)
            }
        }

        /// For code outside the tasks: `.await` there, on any executor.
        impl<$($generics)*> std::future::IntoFuture for $operation {
            type Output = <$operation as crate::sync::waiter::Operation>::Output;
            type IntoFuture = crate::sync::waiter::Waiting<$operation>;

            fn into_future(self) -> Self::IntoFuture {
                crate::sync::waiter::Waiting::new(self)
            }
        }
    };
}
pub(super) use operation;

/// Writes the place of an object's creation into a report.
pub(super) fn made_at(kind: &str, made: CallSite) -> String {
    format!("the {kind} made at {made}")
}
