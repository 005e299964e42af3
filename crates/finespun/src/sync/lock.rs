//! The core of the locks: their permits, the place where the lock was made, and where its last holder took it.

use std::marker::PhantomData;
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::permits::{Held, Permits};
use super::waiter::{Operation, Party, Waiter, made_at, operation};
use crate::atomics::const_fn;
use crate::frame::CallSite;
use crate::frame::leaf::Subject;

/// A kind of lock.
pub trait Kind {
    /// The name of its type.
    const NAME: &'static str;
    /// The number of permits, which exclusive access takes.
    const ALL: usize;
    /// Introduces the place where the holder has taken the lock.
    const TAKEN: &'static str = "which was locked at";
}

/// A lock without its value.
pub struct RawLock<K> {
    pub(super) permits: Permits,
    made: CallSite,
    /// The place where the last holder has requested the lock; null before the first. Only reports use it, while the
    /// holder waits, so a relaxed store is enough.
    taken: AtomicPtr<Location<'static>>,
    kind: PhantomData<fn() -> K>,
}

impl<K: Kind> RawLock<K> {
    const_fn! {
        #[track_caller]
        pub(super) fn new() -> RawLock<K> {
            let taken = AtomicPtr::new(ptr::null_mut());
            RawLock { permits: Permits::new(K::ALL), made: Location::caller(), taken, kind: PhantomData }
        }
    }

    /// Takes permits if they are free and no request is queued.
    #[inline]
    pub(super) fn try_hold(&self, count: usize, by: Party, place: CallSite) -> Option<Held<'_>> {
        let held = self.permits.try_hold(count, by)?;
        self.taken_at(place);
        Some(held)
    }

    /// Records the place where the new holder has requested the lock.
    #[inline]
    pub(super) fn taken_at(&self, place: CallSite) {
        // Relaxed: see the field.
        self.taken.store(ptr::from_ref(place).cast_mut(), Ordering::Relaxed);
    }
}

impl<K: Kind> Subject for RawLock<K> {
    fn describe(&self) -> String {
        let made = made_at(K::NAME, self.made);
        // SAFETY: the pointer is null, or comes from a `&'static Location`.
        match unsafe { self.taken.load(Ordering::Relaxed).as_ref() } {
            Some(place) if self.permits.free() < K::ALL => format!("{made}, {} {place}", K::TAKEN),
            _ => made,
        }
    }
}

/// A request for permits of a lock.
pub struct Request<'a, K> {
    pub(super) raw: &'a RawLock<K>,
    pub(super) count: usize,
    pub(super) place: CallSite,
}

// SAFETY: the subject is borrowed.
unsafe impl<'a, K: Kind> Operation for Request<'a, K> {
    type Output = Held<'a>;
    type Grant = Held<'a>;
    type Back = ();
    const WANTED: &'static str = "";

    fn place(&self) -> CallSite {
        self.place
    }

    fn subject(&self) -> &(dyn Subject + '_) {
        self.raw
    }

    #[inline]
    fn try_now(&mut self, by: Party) -> Option<Held<'a>> {
        self.raw.try_hold(self.count, by, self.place)
    }

    fn enqueue(&mut self, waiter: Waiter<Held<'a>>) {
        self.raw.permits.enqueue(self.count, waiter);
    }

    #[inline]
    fn finish(&mut self, held: Held<'a>) -> Held<'a> {
        self.raw.taken_at(self.place);
        held
    }

    fn back(&self) {}

    fn cancelled(&mut self) {
        self.raw.permits.grant_waiters();
    }
}

operation!(['a, K: Kind] Request<'a, K>);

/// Defines the operation that takes a lock, by a [`Request`], and makes its guard.
macro_rules! lock_operation {
    ($(#[$attribute:meta])* $name:ident, $lock:ident<T: $($bound:ident)+>, $kind:ident, $guard:ident, $wanted:literal) => {
        $(#[$attribute])*
        #[must_use = "it does nothing until it is awaited"]
        pub struct $name<'a, T: ?Sized> {
            lock: &'a $lock<T>,
            request: Request<'a, $kind>,
        }

        // SAFETY: the subject is borrowed.
        unsafe impl<'a, T: ?Sized $(+ $bound)+> Operation for $name<'a, T> {
            type Output = $guard<'a, T>;
            type Grant = Held<'a>;
            type Back = ();
            const WANTED: &'static str = $wanted;

            fn place(&self) -> CallSite {
                self.request.place
            }

            fn subject(&self) -> &(dyn Subject + '_) {
                self.request.subject()
            }

            #[inline]
            fn try_now(&mut self, by: Party) -> Option<$guard<'a, T>> {
                self.request.try_now(by).map(|held| $guard { lock: self.lock, _held: held })
            }

            fn enqueue(&mut self, waiter: Waiter<Held<'a>>) {
                self.request.enqueue(waiter);
            }

            fn finish(&mut self, held: Held<'a>) -> $guard<'a, T> {
                $guard { lock: self.lock, _held: self.request.finish(held) }
            }

            fn back(&self) {}

            fn cancelled(&mut self) {
                self.request.cancelled();
            }
        }

        operation!(['a, T: ?Sized $(+ $bound)+] $name<'a, T>);
    };
}
pub(super) use lock_operation;
