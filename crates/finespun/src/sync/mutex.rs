//! A fair mutual-exclusion lock, whose guard may be held across awaits.

use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};

use super::semaphore::{Acquire, Permit, Semaphore, acquire};
use crate::atomics::const_fn;
use crate::call::outcome::Outcome;
use crate::call::{Task, sealed};
use crate::frame::context::Cx;

/// A value that one task at a time may use.
///
/// Waiting tasks are frames: their worker runs other tasks, so the guard may be held across a `join!` whose branches
/// wait for other tasks that want the same lock. Tasks get the lock in the order of their requests. A panic in the
/// holder unlocks the mutex and does not poison it.
///
/// Tasks of several runtimes and plain threads ([`try_lock`](Mutex::try_lock)) may share a mutex. A task may move its
/// guard to a plain thread. If the guard stays there for more than a second, declare this with
/// [`outside`](crate::tasks::outside). Otherwise tasks that wait for the lock may be reported as deadlocked, because
/// the library cannot see where a guard has been moved.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::sync::Mutex;
///
/// #[task]
/// async fn count(total: &Mutex<u64>) {
///     let mut total = total.lock().await;
///     *total += 1;
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// let total = Mutex::new(0);
/// runtime.run(count(&total));
/// assert_eq!(total.into_inner(), 1);
/// ```
pub struct Mutex<T: ?Sized> {
    permit: Semaphore,
    value: UnsafeCell<T>,
}

// SAFETY: the single permit makes access exclusive; the value moves between threads with the guard.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    const_fn! {
        /// Creates a lock around `value`.
        pub fn new(value: T) -> Mutex<T> {
            Mutex { permit: Semaphore::new(1), value: UnsafeCell::new(value) }
        }
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> Mutex<T> {
    /// Waits for the lock.
    #[track_caller]
    pub fn lock(&self) -> Lock<'_, T> {
        Lock { mutex: self, permit: self.permit.acquire() }
    }

    /// Returns the guard if the lock is free and no request is queued.
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.permit.try_acquire().map(|permit| MutexGuard { mutex: self, _permit: permit })
    }

    /// Returns a reference to the value; `&mut self` proves that no guard is alive.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for Mutex<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.try_lock() {
            Some(guard) => f.debug_struct("Mutex").field("value", &&*guard).finish(),
            None => f.debug_struct("Mutex").field("value", &format_args!("<locked>")).finish(),
        }
    }
}

/// The task returned by [`Mutex::lock`].
#[must_use = "a task does nothing until it is awaited"]
pub struct Lock<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    permit: Acquire<'a>,
}

impl<T: ?Sized> sealed::Sealed for Lock<'_, T> {}
impl<'a, T: ?Sized + Send> Task for Lock<'a, T> {
    type Output = MutexGuard<'a, T>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<MutexGuard<'a, T>> {
        let Lock { mutex, permit } = self;
        // SAFETY: the caller guarantees the call protocol for this worker.
        unsafe { acquire(cx, permit, move |permit| MutexGuard { mutex, _permit: permit }) }
    }
}

/// The guard of a locked [`Mutex`]: gives access to the value, and unlocks on drop.
#[must_use = "the lock is given back at once if this is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    mutex: &'a Mutex<T>,
    _permit: Permit<'a>,
}

// SAFETY: a shared reference to a guard gives only shared access to the value.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the permit makes this guard the only one.
        unsafe { &*self.mutex.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the permit makes this guard the only one.
        unsafe { &mut *self.mutex.value.get() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
