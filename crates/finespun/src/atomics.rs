//! The seam between the lock-free code and what it runs on.
//!
//! Every protocol file takes its atomics, locks, cells and threads from here.
//! An ordinary build gets std's; a build under `--cfg loom` gets loom's, which
//! explore every interleaving and every value that a weak memory may return.
//!
//! Three things that loom does differently shape the code on this side:
//!
//! - it explores a SeqCst load or store as Acquire/Release, so a Dekker pattern
//!   is written with `fence(SeqCst)`, which it does model;
//! - its constructors are not `const`, so a protocol type must not sit in a
//!   `static` of the library;
//! - its `Condvar::wait_timeout` never times out, so a model of a timed wait
//!   shows that nothing *depends* on the timeout.

#![allow(unused_imports, reason = "the seam is a fixed set of names; no build uses all of them")]

#[cfg(loom)]
pub(crate) use loom::{
    cell::UnsafeCell,
    hint,
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicIsize, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    },
    thread,
};

#[cfg(not(loom))]
pub(crate) use std::{
    hint,
    sync::{
        Arc, Condvar, Mutex, MutexGuard,
        atomic::{AtomicBool, AtomicIsize, AtomicPtr, AtomicU8, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
    },
    thread,
};

/// A cell whose accesses loom tells apart: shared ones and exclusive ones.
#[cfg(not(loom))]
pub(crate) struct UnsafeCell<T>(std::cell::UnsafeCell<T>);

#[cfg(not(loom))]
impl<T> UnsafeCell<T> {
    pub(crate) const fn new(value: T) -> UnsafeCell<T> {
        UnsafeCell(std::cell::UnsafeCell::new(value))
    }

    #[inline(always)]
    pub(crate) fn with<R>(&self, access: impl FnOnce(*const T) -> R) -> R {
        access(self.0.get())
    }

    #[inline(always)]
    pub(crate) fn with_mut<R>(&self, access: impl FnOnce(*mut T) -> R) -> R {
        access(self.0.get())
    }
}

/// A function that is `const`, but not under loom, whose constructors are not.
macro_rules! const_fn {
    ($(#[$attribute:meta])* $seen:vis fn $($rest:tt)*) => {
        #[cfg(not(loom))]
        $(#[$attribute])*
        $seen const fn $($rest)*
        #[cfg(loom)]
        $(#[$attribute])*
        $seen fn $($rest)*
    };
}
pub(crate) use const_fn;

/// How often [`lock`] tries before it blocks.
const TRIES: usize = 1000;

/// Locks `mutex`, which is only ever held for a moment, and whose data is
/// consistent even if a holder panicked.
///
/// Tries first. The holder is done sooner than a thread can be put to sleep; and
/// ThreadSanitizer, for which std is a closed book, follows `try_lock`, which is
/// inlined, but not the blocking path.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    #[cfg(not(loom))]
    return lock_std(mutex);
    #[cfg(loom)]
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// As [`lock`], for what is not modelled: std's mutex in every build.
pub(crate) fn lock_std<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    use std::sync::TryLockError;
    for attempt in 0..TRIES {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            // The holder may be waiting for this very processor.
            Err(TryLockError::WouldBlock) if attempt % 32 == 31 => std::thread::yield_now(),
            Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
        }
    }
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
