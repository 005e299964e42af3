//! A fair lock for many readers or one writer.

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

/// A value that many tasks may read at one time, or one may write.
///
/// First come, first served, as tokio's: a reader that comes after a waiting writer waits for it. So a task that holds a
/// read guard must not request another one of the same lock, or both it and a writer between the two may wait for ever.
///
/// Guards may be held across awaits, like those of a [`Mutex`](super::Mutex); std futures and plain threads may share
/// the lock in the same way. A panic in a holder unlocks the lock and does not poison it. A deadlock report shows where
/// the lock was made, and where its last holder has locked it.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::sync::RwLock;
///
/// #[task]
/// async fn count(table: &RwLock<Vec<u64>>, n: u64) -> usize {
///     table.write().await.push(n);
///     table.read().await.len()
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// let table = RwLock::new(vec![1, 2]);
/// assert_eq!(runtime.run(count(&table, 3)), 3);
/// assert_eq!(table.into_inner(), [1, 2, 3]);
/// ```
///
/// *Cost*: an uncontended lock and unlock are two atomic operations. All readers write the same word, so a lock that is
/// read for a few instructions only does not scale better than a [`Mutex`](super::Mutex).
pub struct RwLock<T: ?Sized> {
    raw: RawLock<Shared>,
    value: UnsafeCell<T>,
}

pub struct Shared;

/// The number of permits of a lock: a reader takes one, a writer all.
const ALL: usize = u32::MAX as usize >> 3;

impl Kind for Shared {
    const NAME: &'static str = "RwLock";
    const ALL: usize = ALL;
}

// SAFETY: the permits make access either shared or exclusive. The value moves between threads with the write guard, and
// is shared between threads by read guards.
unsafe impl<T: ?Sized + Send + Sync> Sync for RwLock<T> {}

impl<T> RwLock<T> {
    const_fn! {
        /// Creates a lock around `value`. Deadlock reports show where this was called.
        #[track_caller]
        pub fn new(value: T) -> RwLock<T> {
            RwLock { raw: RawLock::new(), value: UnsafeCell::new(value) }
        }
    }

    /// Returns the value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: ?Sized> RwLock<T> {
    /// Waits until no writer holds the lock, and all earlier requests have been served.
    #[track_caller]
    pub fn read(&self) -> Read<'_, T> {
        Read { lock: self, request: Request { raw: &self.raw, count: 1, place: Location::caller() } }
    }

    /// Waits until no other holder is left, and all earlier requests have been served.
    #[track_caller]
    pub fn write(&self) -> Write<'_, T> {
        Write { lock: self, request: Request { raw: &self.raw, count: ALL, place: Location::caller() } }
    }

    /// Returns a read guard if no writer holds the lock and no request is queued.
    #[track_caller]
    pub fn try_read(&self) -> Option<RwLockReadGuard<'_, T>> {
        let held = self.raw.try_hold(1, Party::here(), Location::caller());
        held.map(|held| RwLockReadGuard { lock: self, _held: held })
    }

    /// Returns the write guard if the lock is free and no request is queued.
    #[track_caller]
    pub fn try_write(&self) -> Option<RwLockWriteGuard<'_, T>> {
        let held = self.raw.try_hold(ALL, Party::here(), Location::caller());
        held.map(|held| RwLockWriteGuard { lock: self, _held: held })
    }

    /// Blocks this plain thread until it may read.
    ///
    /// # Panics
    /// Inside a task.
    #[track_caller]
    pub fn blocking_read(&self) -> RwLockReadGuard<'_, T>
    where
        T: Send + Sync,
    {
        block_on(self.read())
    }

    /// Blocks this plain thread until it may write.
    ///
    /// # Panics
    /// Inside a task.
    #[track_caller]
    pub fn blocking_write(&self) -> RwLockWriteGuard<'_, T>
    where
        T: Send + Sync,
    {
        block_on(self.write())
    }

    /// Returns a reference to the value; `&mut self` proves that no guard is alive.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLock<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.try_read() {
            Some(guard) => f.debug_struct("RwLock").field("value", &&*guard).finish(),
            None => f.debug_struct("RwLock").field("value", &format_args!("<locked>")).finish(),
        }
    }
}

lock_operation! {
    /// The operation returned by [`RwLock::read`]: a task, and outside the tasks a std future.
    Read, RwLock<T: Send Sync>, Shared, RwLockReadGuard, "read access to"
}

lock_operation! {
    /// The operation returned by [`RwLock::write`]: a task, and outside the tasks a std future.
    Write, RwLock<T: Send Sync>, Shared, RwLockWriteGuard, "write access to"
}

/// A read guard of a [`RwLock`]: gives shared access to the value, and unlocks on drop.
#[must_use = "the lock is given back at once if this is dropped"]
pub struct RwLockReadGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    _held: Held<'a>,
}

/// The write guard of a [`RwLock`]: gives exclusive access to the value, and unlocks on drop.
#[must_use = "the lock is given back at once if this is dropped"]
pub struct RwLockWriteGuard<'a, T: ?Sized> {
    lock: &'a RwLock<T>,
    _held: Held<'a>,
}

// SAFETY: a shared reference to a guard gives only shared access to the value.
unsafe impl<T: ?Sized + Sync> Sync for RwLockReadGuard<'_, T> {}
// SAFETY: a shared reference to a guard gives only shared access to the value.
unsafe impl<T: ?Sized + Sync> Sync for RwLockWriteGuard<'_, T> {}

impl<'a, T: ?Sized> RwLockWriteGuard<'a, T> {
    /// Converts the guard into a read guard. No writer comes in between; waiting readers at the front of the queue get
    /// the lock, too.
    pub fn downgrade(self) -> RwLockReadGuard<'a, T> {
        let RwLockWriteGuard { lock, mut _held } = self;
        _held.keep_one();
        RwLockReadGuard { lock, _held }
    }
}

impl<T: ?Sized> Deref for RwLockReadGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the held permit excludes writers.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> Deref for RwLockWriteGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        // SAFETY: the held permits make this guard the only one.
        unsafe { &*self.lock.value.get() }
    }
}

impl<T: ?Sized> DerefMut for RwLockWriteGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        // SAFETY: the held permits make this guard the only one.
        unsafe { &mut *self.lock.value.get() }
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockReadGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}

impl<T: ?Sized + fmt::Debug> fmt::Debug for RwLockWriteGuard<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&**self, f)
    }
}
