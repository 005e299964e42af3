//! A fair mutual-exclusion lock, whose guard may be held across awaits.

use std::cell::UnsafeCell;
use std::fmt;
use std::ops::{Deref, DerefMut};
use std::panic::Location;

use super::lock::{Kind, RawLock, Request, lock_operation};
use super::permits::Held;
use super::waiter::{Operation, Party, Waiter, block_on, operation};
use crate::atomics::const_fn;
use crate::frame::CallSite;
use crate::frame::leaf::Subject;

/// A value that one task at a time may use.
///
/// Waiting tasks are frames: their worker runs other tasks, so the guard may be held across a `join!` whose branches
/// wait for other tasks that want the same lock. Tasks get the lock in the order of their requests. A panic in the
/// holder unlocks the mutex and does not poison it.
///
/// Tasks of several runtimes, std futures and plain threads may share a mutex. A task may move its guard to a plain
/// thread. If the guard stays there for more than a second, declare this with [`outside`](crate::tasks::outside).
/// Otherwise tasks that wait for the lock may be reported as deadlocked, because the library cannot see where a guard
/// has been moved.
///
/// A deadlock report shows where the mutex was made, and where its holder has locked it.
///
/// *Cost*: an uncontended lock and unlock are two atomic operations. A mutex takes 64 bytes beside its value.
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
    raw: RawLock<Exclusive>,
    value: UnsafeCell<T>,
}

pub struct Exclusive;

impl Kind for Exclusive {
    const NAME: &'static str = "Mutex";
    const ALL: usize = 1;
}

// SAFETY: the single permit makes access exclusive; the value moves between threads with the guard.
unsafe impl<T: ?Sized + Send> Sync for Mutex<T> {}

impl<T> Mutex<T> {
    const_fn! {
        /// Creates a lock around `value`. Deadlock reports show where this was called.
        #[track_caller]
        pub fn new(value: T) -> Mutex<T> {
            Mutex { raw: RawLock::new(), value: UnsafeCell::new(value) }
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
        Lock { lock: self, request: Request { raw: &self.raw, count: 1, place: Location::caller() } }
    }

    /// Returns the guard if the lock is free and no request is queued.
    #[track_caller]
    pub fn try_lock(&self) -> Option<MutexGuard<'_, T>> {
        self.raw.try_hold(1, Party::here(), Location::caller()).map(|held| MutexGuard { lock: self, _held: held })
    }

    /// Blocks this plain thread until it has the lock.
    ///
    /// # Panics
    /// Inside a task.
    #[track_caller]
    pub fn blocking_lock(&self) -> MutexGuard<'_, T>
    where
        T: Send,
    {
        block_on(self.lock())
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

lock_operation! {
    /// The operation returned by [`Mutex::lock`]: a task, and outside the tasks a std future.
    Lock, Mutex<T: Send>, Exclusive, MutexGuard, ""
}

/// The guard of a locked [`Mutex`]: gives access to the value, and unlocks on drop.
#[must_use = "the lock is given back at once if this is dropped"]
pub struct MutexGuard<'a, T: ?Sized> {
    lock: &'a Mutex<T>,
    _held: Held<'a>,
}

// SAFETY: a shared reference to a guard gives only shared access to the value.
unsafe impl<T: ?Sized + Sync> Sync for MutexGuard<'_, T> {}

impl<T: ?Sized> Deref for MutexGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the held permit makes this guard the only one.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the held permit makes this guard the only one.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for MutexGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
