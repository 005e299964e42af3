//! State that all runtimes of the process share, behind locks that are free at every fork.
//!
//! A fork copies the process's memory, but only the thread that forks: in the child, a lock that another thread held
//! stays locked for ever. So a fork waits until no thread holds a [`ProcessMutex`], and keeps threads from locking one
//! until the memory has been copied. It also waits until no thread of the library starts or ends ([`start_thread`]),
//! since a thread then holds locks of the standard library.
//!
//! ```text
//!                 (1) enter: a thread's first lock              (3) close: a fork
//!   OPEN(n threads) <------------------------------> OPEN(n+1)   OPEN(n) ---------> CLOSING(n) -- (2) leave ... --> CLOSED
//!                 (2) leave: its last one                           ^                                             |
//!                                                                   +--------- (4) open: parent and child --------+
//! ```
//!
//! A thread that starts enters before it is created, by its creator, and leaves in its first statement. A thread that
//! ends enters in its last statement, and leaves in a destructor of its thread-local data.
//!
//! A thread that holds one lock and takes another enters once: it never waits for a fork that waits for it. A thread
//! that forks while it holds a lock itself (in a destructor, say) closes nothing. If two threads fork, one finds the
//! gate closed, and waits until the other has opened it.

use std::cell::Cell;
use std::io;
use std::ops::{Deref, DerefMut};
use std::ptr;
use std::sync::atomic::AtomicPtr;
use std::thread::{Builder, JoinHandle};

use crate::atomics::{AtomicUsize, Ordering, const_fn, lock_std, thread};

/// The state of the gate: the number of threads within, and whether a fork has closed it.
struct Gate(AtomicUsize);

const CLOSED: usize = 1 << (usize::BITS - 1);

impl Gate {
    const_fn! {
        fn new() -> Gate {
            Gate(AtomicUsize::new(0))
        }
    }

    /// Transition 1. Waits during a fork.
    fn enter(&self) {
        // Relaxed: the exchange decides.
        let mut state = self.0.load(Ordering::Relaxed);
        loop {
            if state & CLOSED != 0 {
                thread::yield_now();
                state = self.0.load(Ordering::Relaxed);
                continue;
            }
            // Acquire: pairs with the Release of `open`, so this thread sees everything that the forking thread has
            // done.
            match self.0.compare_exchange_weak(state, state + 1, Ordering::Acquire, Ordering::Relaxed) {
                Ok(_) => return,
                Err(now) => state = now,
            }
        }
    }

    /// Transition 1 for another thread, by a thread within.
    #[cfg(not(loom))]
    fn admit(&self) {
        // Relaxed: no fork has closed the gate and found it empty, since the caller is within.
        self.0.fetch_add(1, Ordering::Relaxed);
    }

    /// Transition 2.
    fn leave(&self) {
        // Release: pairs with the Acquire of `close`: the lock has been unlocked before the memory is copied.
        self.0.fetch_sub(1, Ordering::Release);
    }

    /// Transition 3. Waits for the threads within, and for other forks.
    fn close(&self) {
        // Acquire: pairs with the Release of another fork's `open`.
        while self.0.fetch_or(CLOSED, Ordering::Acquire) & CLOSED != 0 {
            thread::yield_now();
        }
        // Acquire: pairs with the Release of `leave`.
        while self.0.load(Ordering::Acquire) != CLOSED {
            thread::yield_now();
        }
    }

    /// Transition 4. `within` is the number of threads within: zero, unless the forking thread is within.
    fn open(&self, within: usize) {
        // Release: pairs with the Acquires of `enter` and `close`.
        self.0.store(within, Ordering::Release);
    }
}

thread_local! {
    /// Number of locks that this thread holds.
    static HELD: Cell<usize> = const { Cell::new(0) };
    /// Set while this thread ends.
    static ENDING: Cell<Option<Within>> = const { Cell::new(None) };
}

#[cfg(not(loom))]
static GATE: Gate = Gate::new();

/// Number of forks that lead from the process that first called [`watch_forks`] to this one.
static FORKS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

/// Returns a number that no fork of this process has in common with it, once [`watch_forks`] has been called. Unlike the
/// system's number of the process, it costs no system call.
pub(crate) fn generation() -> usize {
    // Relaxed: written by the only thread of a process.
    FORKS.load(Ordering::Relaxed)
}

/// Makes forks wait for the locks of this module, from now on, and counts them.
pub(crate) fn watch_forks() {
    #[cfg(all(unix, not(loom)))]
    {
        unsafe extern "C" {
            fn pthread_atfork(
                prepare: Option<unsafe extern "C" fn()>,
                parent: Option<unsafe extern "C" fn()>,
                child: Option<unsafe extern "C" fn()>,
            ) -> i32;
        }
        unsafe extern "C" fn prepare() {
            if HELD.get() == 0 {
                GATE.close();
            }
        }
        unsafe extern "C" fn parent() {
            if HELD.get() == 0 {
                GATE.open(0);
            }
        }
        // The child has none of the other threads, even if this fork did not close the gate.
        unsafe extern "C" fn child() {
            // Relaxed: the child has one thread.
            FORKS.fetch_add(1, Ordering::Relaxed);
            GATE.open(usize::from(HELD.get() > 0));
        }
        // Not a `Once`: if another thread forked during the call, the child would wait for the call's end for ever.
        static WATCHED: std::sync::atomic::AtomicBool = std::sync::atomic::AtomicBool::new(false);
        // Relaxed: only the first caller registers.
        if !WATCHED.swap(true, Ordering::Relaxed) {
            // SAFETY: the functions may be called at any time, and live as long as the program.
            let refused = unsafe { pthread_atfork(Some(prepare), Some(parent), Some(child)) };
            debug_assert_eq!(refused, 0, "there is memory for three addresses");
        }
    }
}

/// While a thread has one of these, no other thread forks.
struct Within(());

impl Within {
    fn enter() -> Within {
        #[cfg(not(loom))]
        if HELD.get() == 0 {
            GATE.enter();
        }
        HELD.set(HELD.get() + 1);
        Within(())
    }
}

impl Drop for Within {
    fn drop(&mut self) {
        HELD.set(HELD.get() - 1);
        #[cfg(not(loom))]
        if HELD.get() == 0 {
            GATE.leave();
        }
    }
}

/// Keeps other threads from forking until a new thread has started. Dropped by the new thread.
struct Starting(());

impl Starting {
    fn new() -> Starting {
        #[cfg(not(loom))]
        {
            let _within = Within::enter();
            GATE.admit();
        }
        Starting(())
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        #[cfg(not(loom))]
        GATE.leave();
    }
}

/// Starts a thread that calls `body`. No other thread forks while the thread starts or ends.
pub(crate) fn start_thread(builder: Builder, body: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    let starting = Starting::new();
    builder.spawn(move || {
        drop(starting);
        body();
        // Destructors of thread-local data run after the standard library has released what the thread had.
        ENDING.set(Some(Within::enter()));
    })
}

/// Calls `compute`, whose result all runtimes use. No other thread forks during the call.
pub(crate) fn unforked<R>(compute: impl FnOnce() -> R) -> R {
    let _within = Within::enter();
    compute()
}

/// A value that each process has for itself, in a static of the library, for locks that are held for longer than a
/// [`ProcessMutex`] may be: a forked child makes a value of its own, and leaves that of its parent untouched, since the
/// thread that held a lock in it may not exist in the child.
pub(crate) struct PerProcess<T>(AtomicPtr<Owned<T>>);

/// A value, and the id of the process that owns it.
struct Owned<T> {
    process: u32,
    value: T,
}

impl<T: Sync> PerProcess<T> {
    pub(crate) const fn new() -> PerProcess<T> {
        PerProcess(AtomicPtr::new(ptr::null_mut()))
    }

    /// Returns the value of this process. The first call makes it; of several calls at once, each may make one, and all
    /// return the same.
    pub(crate) fn get(&self, make: impl FnOnce() -> T) -> &T {
        let process = std::process::id();
        // Acquire: pairs with the Release of the exchange below.
        let known = self.0.load(std::sync::atomic::Ordering::Acquire);
        // SAFETY: the pointer is null, or points to an allocation that is never freed.
        if let Some(owned) = unsafe { known.as_ref() }.filter(|owned| owned.process == process) {
            return &owned.value;
        }
        let made = Box::into_raw(Box::new(Owned { process, value: make() }));
        // AcqRel, Acquire: the thread that loses sees what the other has made.
        let (acq_rel, acquire) = (std::sync::atomic::Ordering::AcqRel, std::sync::atomic::Ordering::Acquire);
        match self.0.compare_exchange(known, made, acq_rel, acquire) {
            // SAFETY: the allocation has just been published, and is never freed.
            Ok(_) => unsafe { &(*made).value },
            Err(other) => {
                // SAFETY: the exchange failed, so no other thread knows the allocation.
                drop(unsafe { Box::from_raw(made) });
                // SAFETY: another thread of this process has published the allocation, which is never freed.
                unsafe { &(*other).value }
            }
        }
    }
}

/// A lock in a static of the library. It is only ever held for a moment, and its data is consistent even if a holder
/// panicked.
pub(crate) struct ProcessMutex<T>(std::sync::Mutex<T>);

impl<T> ProcessMutex<T> {
    pub(crate) const fn new(value: T) -> ProcessMutex<T> {
        ProcessMutex(std::sync::Mutex::new(value))
    }

    pub(crate) fn lock(&self) -> Guard<'_, T> {
        let within = Within::enter();
        Guard { guard: lock_std(&self.0), _within: within }
    }
}

/// Access to the locked data; unlocks on drop.
pub(crate) struct Guard<'a, T> {
    // Declared first: unlocks before `_within` leaves the gate.
    guard: std::sync::MutexGuard<'a, T>,
    _within: Within,
}

impl<T> Deref for Guard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for Guard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

#[cfg(all(test, loom))]
mod models {
    use loom::sync::Arc;
    use loom::sync::atomic::AtomicBool;

    use super::*;

    /// One thread locks; another forks and then locks: while the gate is closed, no thread is within.
    #[test]
    fn a_fork_finds_no_thread_within() {
        loom::model(|| {
            let shared = Arc::new((Gate::new(), AtomicBool::new(false)));
            let other = Arc::clone(&shared);
            let locks = loom::thread::spawn(move || {
                let (gate, held) = &*other;
                gate.enter();
                held.store(true, Ordering::Relaxed);
                held.store(false, Ordering::Relaxed);
                gate.leave();
            });
            let (gate, held) = &*shared;
            gate.close();
            assert!(!held.load(Ordering::Relaxed), "the lock is not held");
            gate.open(0);
            gate.enter();
            gate.leave();
            locks.join().unwrap();
        });
    }
}
