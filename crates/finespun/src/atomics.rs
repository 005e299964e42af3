//! The layer between the lock-free code and its primitives.
//!
//! Every protocol file takes its atomics, locks, cells and threads from here. An ordinary build gets std's; a build
//! under `--cfg loom` gets loom's, which explore every interleaving and every value that a weak memory model may
//! return.
//!
//! Three differences of loom shape the code on this side:
//!
//! - loom explores a SeqCst load or store as Acquire/Release, so a Dekker pattern is written with `fence(SeqCst)`,
//!   which loom does model;
//! - loom's constructors are not `const`, so a protocol type must not be in a `static` of the library, and the counters
//!   and hints in statics are std's in every build;
//! - loom's `Condvar::wait_timeout` never times out, so a model of a timed wait shows that nothing *depends* on the
//!   timeout.

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

/// A cell that lets loom distinguish shared from exclusive accesses.
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

/// Defines a function that is `const` except under loom, whose constructors are not.
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

/// Explores `model` with at most this number of preemptions in an execution, which models with more than two threads need:
/// without a bound, some take minutes. `LOOM_MAX_PREEMPTIONS` overrides it.
#[cfg(all(test, loom))]
pub(crate) fn explore(preemptions: usize, model: impl Fn() + Sync + Send + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound.get_or_insert(preemptions);
    builder.check(model);
}

/// Number of attempts of [`lock`] before it blocks.
const TRIES: usize = 1000;

/// Locks `mutex`, which is only ever held for a moment, and whose data is consistent even if a holder panicked.
///
/// Spins on `try_lock` first. The holder usually finishes before a thread could be put to sleep. And ThreadSanitizer,
/// which does not instrument std, follows `try_lock`, which is inlined, but not the blocking path.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    #[cfg(not(loom))]
    return lock_std(mutex);
    #[cfg(loom)]
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}

/// Locks a mutex that loom does not model: std's mutex in every build. Otherwise like [`lock`].
pub(crate) fn lock_std<T>(mutex: &std::sync::Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    use std::sync::TryLockError;
    for attempt in 0..TRIES {
        match mutex.try_lock() {
            Ok(guard) => return guard,
            Err(TryLockError::Poisoned(poisoned)) => return poisoned.into_inner(),
            // The holder may need this core.
            Err(TryLockError::WouldBlock) if attempt % 32 == 31 => std::thread::yield_now(),
            Err(TryLockError::WouldBlock) => std::hint::spin_loop(),
        }
    }
    mutex.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
