//! A value that is computed once, by a task.

use std::fmt;
use std::panic::Location;
use std::sync::OnceLock;

use super::lock::{Kind, RawLock, Request};
use super::waiter::Party;
use crate::atomics::const_fn;
use crate::call::outcome::Outcome;
use crate::call::{Task, call_async, poll_in_place, sealed};
use crate::frame::context::Cx;
use crate::frame::{BodyFrame, CallSite};

/// A cell whose value is set once, by the first task that needs it.
///
/// If the initialiser panics, fails or is cancelled, the next waiter runs its own. Std futures and plain threads use
/// [`get`](OnceCell::get) and [`set`](OnceCell::set).
///
/// ```
/// use finespun::prelude::*;
/// use finespun::sync::OnceCell;
///
/// static TABLE: OnceCell<Vec<u64>> = OnceCell::new();
///
/// #[task]
/// async fn squares(n: u64) -> Vec<u64> {
///     join_all((0..n).map(square)).await
/// }
///
/// #[task]
/// async fn square(n: u64) -> u64 {
///     n * n
/// }
///
/// #[task]
/// async fn look_up(at: usize) -> u64 {
///     TABLE.get_or_init(|| squares(10)).await[at]
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run(look_up(3)), 9);
/// assert_eq!(TABLE.get().unwrap()[4], 16);
/// ```
///
/// *Cost*: one load once the value is set.
pub struct OnceCell<T> {
    /// Held by the task that initialises.
    lock: RawLock<Initialisation>,
    value: OnceLock<T>,
}

struct Initialisation;

impl Kind for Initialisation {
    const NAME: &'static str = "OnceCell";
    const ALL: usize = 1;
    const TAKEN: &'static str = "whose initialisation began at";
}

impl<T> OnceCell<T> {
    const_fn! {
        /// Creates an empty cell. Deadlock reports show where this was called.
        #[track_caller]
        pub fn new() -> OnceCell<T> {
            OnceCell { lock: RawLock::new(), value: OnceLock::new() }
        }
    }

    /// Returns the value if it is set.
    pub fn get(&self) -> Option<&T> {
        self.value.get()
    }

    /// Returns the value if it is set.
    pub fn get_mut(&mut self) -> Option<&mut T> {
        self.value.get_mut()
    }

    /// Returns whether the value is set.
    pub fn initialized(&self) -> bool {
        self.get().is_some()
    }

    /// Sets the value.
    ///
    /// # Errors
    /// Gives the value back if the cell has one, or a task is initialising it.
    #[track_caller]
    pub fn set(&self, value: T) -> Result<(), SetError<T>> {
        if self.initialized() {
            return Err(SetError::AlreadyInitializedError(value));
        }
        let Some(_held) = self.lock.try_hold(1, Party::here(), Location::caller()) else {
            return Err(SetError::InitializingError(value));
        };
        self.value.set(value).map_err(SetError::AlreadyInitializedError)
    }

    /// Returns the value. If the cell is empty, awaits the task that `init` makes, and sets the cell to its value.
    ///
    /// Until then, other tasks that call this wait. If the cell's own initialiser calls this, it waits for itself: a
    /// deadlock report says so.
    #[track_caller]
    pub fn get_or_init<F, Tk>(&self, init: F) -> GetOrInit<'_, T, F>
    where
        F: FnOnce() -> Tk + Send,
        Tk: Task<Output = T> + Send,
    {
        GetOrInit { cell: self, init, place: Location::caller() }
    }

    /// Like [`get_or_init`](OnceCell::get_or_init), for a task that may fail. Then the cell stays empty, and this returns
    /// the error.
    #[track_caller]
    pub fn get_or_try_init<F, Tk, E>(&self, init: F) -> GetOrTryInit<'_, T, F>
    where
        F: FnOnce() -> Tk + Send,
        Tk: Task<Output = Result<T, E>> + Send,
    {
        GetOrTryInit { cell: self, init, place: Location::caller() }
    }

    /// Returns the value, which this task or another one sets.
    async fn initialise<Tk: Task, E>(
        &self,
        place: CallSite,
        init: impl FnOnce() -> Tk,
        result: impl FnOnce(Tk::Output) -> Result<T, E>,
    ) -> Result<&T, E> {
        // SAFETY: awaited at once, in the body of a task: only the tasks below call this.
        let _held = unsafe { call_async(Request { raw: &self.lock, count: 1, place }) }.await;
        if let Some(value) = self.get() {
            return Ok(value);
        }
        // SAFETY: awaited at once, in the body of a task.
        let value = result(unsafe { call_async(init()) }.await)?;
        Ok(self.value.get_or_init(|| value))
    }
}

impl<T> Default for OnceCell<T> {
    #[track_caller]
    fn default() -> OnceCell<T> {
        OnceCell::new()
    }
}

impl<T: fmt::Debug> fmt::Debug for OnceCell<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OnceCell").field("value", &self.get()).finish_non_exhaustive()
    }
}

/// The error of [`OnceCell::set`]: gives the value back.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SetError<T> {
    /// The cell has a value.
    #[error("the cell has a value already")]
    AlreadyInitializedError(T),
    /// A task is initialising the cell.
    #[error("a task is initialising the cell")]
    InitializingError(T),
}

/// The task returned by [`OnceCell::get_or_init`].
#[must_use = "a task does nothing until it is awaited"]
pub struct GetOrInit<'a, T, F> {
    cell: &'a OnceCell<T>,
    init: F,
    place: CallSite,
}

impl<T, F> sealed::Sealed for GetOrInit<'_, T, F> {}
impl<'a, T, F, Tk> Task for GetOrInit<'a, T, F>
where
    T: Send + Sync,
    F: FnOnce() -> Tk + Send,
    Tk: Task<Output = T> + Send,
{
    type Output = &'a T;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<&'a T> {
        let GetOrInit { cell, init, place } = self;
        if let Some(value) = cell.get() {
            // SAFETY: the caller guarantees the call protocol for this worker.
            return unsafe { Outcome::done(value) };
        }
        in_frame(cx, async move {
            let Ok(value) = cell.initialise(place, init, Ok::<T, std::convert::Infallible>).await;
            value
        })
    }
}

/// The task returned by [`OnceCell::get_or_try_init`].
#[must_use = "a task does nothing until it is awaited"]
pub struct GetOrTryInit<'a, T, F> {
    cell: &'a OnceCell<T>,
    init: F,
    place: CallSite,
}

impl<T, F> sealed::Sealed for GetOrTryInit<'_, T, F> {}
impl<'a, T, F, Tk, E> Task for GetOrTryInit<'a, T, F>
where
    T: Send + Sync,
    E: Send,
    F: FnOnce() -> Tk + Send,
    Tk: Task<Output = Result<T, E>> + Send,
{
    type Output = Result<&'a T, E>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Result<&'a T, E>> {
        let GetOrTryInit { cell, init, place } = self;
        if let Some(value) = cell.get() {
            // SAFETY: the caller guarantees the call protocol for this worker.
            return unsafe { Outcome::done(Ok(value)) };
        }
        in_frame(cx, cell.initialise(place, init, |result| result))
    }
}

/// Runs a body that awaits tasks only, in a frame from the start.
fn in_frame<F: Future>(cx: Cx, body: F) -> Outcome<F::Output> {
    poll_in_place(body, cx, BodyFrame::<F>::VTABLE)
}
