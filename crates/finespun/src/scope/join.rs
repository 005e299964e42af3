//! Waiting for a spawned task without taking over its panic.

use std::any::Any;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context as StdContext, Poll};

use super::elsewhere::Owned;
use super::spawn::Handle;
use crate::call::outcome::{Child, Outcome};
use crate::call::{Task, map_outcome, poll_in_place, sealed};
use crate::frame::context::{Cx, cx};
use crate::frame::origin::{Origin, open};
use crate::frame::{BodyFrame, Delivered, Payload};

impl<'s, T> Handle<'s, T> {
    /// Waits for the task's end, and returns its panic as an error: awaiting the handle itself resumes it.
    ///
    /// The error also says that the task was cancelled, which its waiter sees only if it belongs to another run. Tasks that a
    /// handle ends are [`abortable`](crate::tasks::abortable).
    ///
    /// ```
    /// use finespun::prelude::*;
    ///
    /// #[task]
    /// async fn divide(a: u64, b: u64) -> u64 {
    ///     a / b
    /// }
    ///
    /// #[task]
    /// async fn checked(a: u64, b: u64) -> Result<u64, String> {
    ///     spawn(divide(a, b)).join().await.map_err(|error| error.message().to_owned())
    /// }
    /// # let runtime = Runtime::builder().workers(1).build().unwrap();
    /// assert_eq!(runtime.run(checked(6, 3)), Ok(2));
    /// assert_eq!(runtime.run(checked(6, 0)), Err("attempt to divide by zero".to_owned()));
    /// ```
    pub fn join(self) -> Join<'s, T> {
        Join(self)
    }
}

/// The reason why a spawned task has no value: see [`Handle::join`].
pub struct JoinError(Reason);

enum Reason {
    Cancelled,
    Panicked(Payload, Option<&'static Origin>),
}

impl JoinError {
    /// Returns whether the task was cancelled.
    pub fn is_cancelled(&self) -> bool {
        matches!(self.0, Reason::Cancelled)
    }

    /// Returns whether the task panicked.
    pub fn is_panic(&self) -> bool {
        !self.is_cancelled()
    }

    /// Returns the name of the task that panicked, if it is known: see [`Panic`](crate::runtime::Panic).
    pub fn task(&self) -> Option<&'static str> {
        match &self.0 {
            Reason::Panicked(_, origin) => origin.map(|origin| origin.name),
            Reason::Cancelled => None,
        }
    }

    /// Returns the text of the panic, if its payload is text, or what happened.
    pub fn message(&self) -> &str {
        match &self.0 {
            Reason::Cancelled => "the spawned task was cancelled",
            Reason::Panicked(payload, _) => match payload.downcast_ref::<&str>() {
                Some(text) => text,
                None => payload.downcast_ref::<String>().map_or("(the payload is not a string)", String::as_str),
            },
        }
    }

    /// Returns the payload of the panic, for [`resume_unwind`](std::panic::resume_unwind).
    ///
    /// # Errors
    /// Returns the error if the task was cancelled.
    pub fn try_into_panic(self) -> Result<Box<dyn Any + Send>, JoinError> {
        match self.0 {
            Reason::Panicked(payload, _) => Ok(payload.into_box()),
            Reason::Cancelled => Err(self),
        }
    }
}

impl fmt::Display for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.0, self.task()) {
            (Reason::Cancelled, _) => f.write_str(self.message()),
            (Reason::Panicked(..), Some(task)) => write!(f, "task `{task}` panicked: {}", self.message()),
            (Reason::Panicked(..), None) => write!(f, "a task panicked: {}", self.message()),
        }
    }
}

impl fmt::Debug for JoinError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl std::error::Error for JoinError {}

fn result<T>(delivered: Delivered<T>) -> Result<T, JoinError> {
    match delivered {
        Delivered::Value(value) => Ok(value),
        Delivered::Panic(payload) => {
            let (payload, origin) = open(payload);
            Err(JoinError(Reason::Panicked(payload, origin)))
        }
        Delivered::Cancelled => Err(JoinError(Reason::Cancelled)),
    }
}

/// The task that [`Handle::join`] makes.
#[must_use = "a task does nothing until it is awaited; dropping it lets the spawned task go on alone"]
#[derive(Debug)]
pub struct Join<'s, T>(Handle<'s, T>);

impl<T> sealed::Sealed for Join<'_, T> {}
impl<T> Task for Join<'_, T> {
    type Output = Result<T, JoinError>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Self::Output> {
        if Handle::<T>::BOXED {
            let wait = Joining::<Owned<'_, T, Box<T>>>::new(self.0, cx);
            // SAFETY: the caller guarantees the call protocol for this worker.
            return unsafe { map_outcome(cx, wait, |ended| ended.map(|value| *value)) };
        }
        // SAFETY: the caller guarantees the call protocol for this worker.
        unsafe { Joining::<Owned<'_, T, T>>::new(self.0, cx).call(cx) }
    }
}

/// A wait for a child, and its body: it delivers whatever has become of the child.
struct Joining<Tk: Task> {
    child: Option<Child<Tk>>,
    /// The child belongs to another group, so the wait is recorded: see [`super::elsewhere`].
    recorded: bool,
}

impl<Tk: Task> Unpin for Joining<Tk> {}

impl<'s, T, V> Joining<Owned<'s, T, V>> {
    fn new(handle: Handle<'s, T>, cx: Cx) -> Self {
        let recorded = !handle.is_of_group(cx);
        let child = Child::new(handle.into_frame());
        if recorded {
            cx.context().team().groups().awaits(child.frame(), cx.group());
        }
        Joining { child: Some(child), recorded }
    }
}

impl<Tk: Task> Joining<Tk> {
    /// Takes the child, and removes the record of the wait.
    fn take(&mut self, cx: Cx) -> Option<Child<Tk>> {
        self.child.take().inspect(|child| {
            if self.recorded {
                cx.context().team().groups().unregister_wait(child.frame());
            }
        })
    }
}

impl<Tk: Task> sealed::Sealed for Joining<Tk> {}
impl<Tk: Task> Task for Joining<Tk> {
    type Output = Result<Tk::Output, JoinError>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Self::Output> {
        poll_in_place(self, cx, BodyFrame::<Joining<Tk>>::VTABLE)
    }
}

impl<Tk: Task> Future for Joining<Tk> {
    type Output = Result<Tk::Output, JoinError>;

    fn poll(mut self: Pin<&mut Self>, _: &mut StdContext<'_>) -> Poll<Self::Output> {
        // SAFETY: a body is polled by a worker; used within this poll.
        let cx = unsafe { cx() };
        if let Some(child) = self.child.as_ref().filter(|child| cx.leaving() || !child.ended()) {
            cx.wait_for(child.frame());
            return Poll::Pending;
        }
        match self.take(cx) {
            Some(child) => Poll::Ready(result(child.deliver())),
            None => unreachable!("a wait was polled after it had ended"),
        }
    }
}

impl<Tk: Task> Drop for Joining<Tk> {
    fn drop(&mut self) {
        // SAFETY: a body is destroyed by a worker; used at once.
        drop(self.take(unsafe { cx() }));
    }
}
