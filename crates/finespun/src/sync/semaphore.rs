//! A fair counting semaphore: it grants permits in the order of the requests.

use std::panic::Location;

use super::permits::{Held, Permits, TOO_MANY};
use super::waiter::{Operation, Party, Waiter, block_on, made_at, operation};
use crate::atomics::const_fn;
use crate::frame::CallSite;
use crate::frame::leaf::Subject;

/// A number of permits that tasks acquire and give back.
///
/// First come, first served: later requests for few permits do not overtake a request for many.
///
/// Tasks of several runtimes, std futures and plain threads may share a semaphore. A plain thread may add permits, or
/// give back permits that a task has passed to it. If it may do so more than a second after all tasks have suspended,
/// declare this with [`outside`](crate::tasks::outside). Otherwise tasks that wait for these permits may be reported as
/// deadlocked.
///
/// ```
/// use finespun::prelude::*;
/// use finespun::sync::Semaphore;
///
/// #[task]
/// async fn limited(two_at_a_time: &Semaphore, n: u64) -> u64 {
///     let _permit = two_at_a_time.acquire().await;
///     n * n
/// }
/// # let runtime = Runtime::builder().workers(1).build().unwrap();
/// assert_eq!(runtime.run(limited(&Semaphore::new(2), 3)), 9);
/// ```
pub struct Semaphore {
    permits: Permits,
    made: CallSite,
}

impl Semaphore {
    /// The maximum number of permits of a semaphore.
    pub const MAX_PERMITS: usize = Permits::MAX;

    const_fn! {
        /// Creates a semaphore with `permits` permits. Deadlock reports show where this was called.
        ///
        /// # Panics
        /// If `permits` is above [`MAX_PERMITS`](Self::MAX_PERMITS).
        #[track_caller]
        pub fn new(permits: usize) -> Semaphore {
            assert!(permits <= Self::MAX_PERMITS, "more permits than `Semaphore::MAX_PERMITS`");
            Semaphore { permits: Permits::new(permits), made: Location::caller() }
        }
    }

    /// Waits for one permit, which is given back when the [`Permit`] is dropped.
    #[track_caller]
    pub fn acquire(&self) -> Acquire<'_> {
        self.acquire_many(1)
    }

    /// Waits for `permits` permits at once.
    ///
    /// If the semaphore never has `permits` free permits, the wait never ends; a deadlock report then says where the
    /// wait began.
    #[track_caller]
    pub fn acquire_many(&self, permits: usize) -> Acquire<'_> {
        Acquire { semaphore: self, permits, place: Location::caller() }
    }

    /// Returns a permit if one is free and no request is queued.
    pub fn try_acquire(&self) -> Option<Permit<'_>> {
        self.permits.try_hold(1, Party::here()).map(Permit)
    }

    /// Blocks this plain thread until it has a permit.
    ///
    /// # Panics
    /// Inside a task.
    #[track_caller]
    pub fn blocking_acquire(&self) -> Permit<'_> {
        block_on(self.acquire())
    }

    /// Returns the number of permits free at this moment.
    pub fn available(&self) -> usize {
        self.permits.free()
    }

    /// Adds `permits` permits to the existing ones.
    ///
    /// # Panics
    /// If there would be more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    #[track_caller]
    pub fn release(&self, permits: usize) {
        assert!(self.permits.release(permits), "{TOO_MANY}");
    }
}

impl Subject for Semaphore {
    fn describe(&self) -> String {
        format!("{} ({} free)", made_at("Semaphore", self.made), self.available())
    }
}

impl std::fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Semaphore").field("available", &self.available()).finish()
    }
}

/// Permits that have been acquired, and are given back on drop.
#[must_use = "the permits are given back at once if this is dropped"]
pub struct Permit<'a>(Held<'a>);

impl Permit<'_> {
    /// Removes the permits from the semaphore permanently.
    pub fn forget(self) {
        self.0.forget();
    }
}

impl std::fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Permit").field("permits", &self.0.count()).finish_non_exhaustive()
    }
}

/// The operation returned by [`Semaphore::acquire`]: a task, and outside the tasks a std future.
#[must_use = "it does nothing until it is awaited"]
pub struct Acquire<'a> {
    semaphore: &'a Semaphore,
    permits: usize,
    place: CallSite,
}

// SAFETY: the subject is borrowed.
unsafe impl<'a> Operation for Acquire<'a> {
    type Output = Permit<'a>;
    type Grant = Held<'a>;
    type Back = ();
    const WANTED: &'static str = "permits of";

    fn place(&self) -> CallSite {
        self.place
    }

    fn subject(&self) -> &(dyn Subject + '_) {
        self.semaphore
    }

    #[inline]
    fn try_now(&mut self, by: Party) -> Option<Permit<'a>> {
        self.semaphore.permits.try_hold(self.permits, by).map(Permit)
    }

    fn enqueue(&mut self, waiter: Waiter<Held<'a>>) {
        self.semaphore.permits.enqueue(self.permits, waiter);
    }

    fn finish(&mut self, held: Held<'a>) -> Permit<'a> {
        Permit(held)
    }

    fn back(&self) {}

    fn cancelled(&mut self) {
        self.semaphore.permits.grant_waiters();
    }
}

operation!(['a] Acquire<'a>);

#[cfg(all(test, not(loom)))]
mod tests {
    use super::*;

    #[test]
    fn debug_output_shows_the_number_of_permits() {
        let semaphore = Semaphore::new(2);
        let permit = semaphore.try_acquire().unwrap();
        assert_eq!(format!("{permit:?}"), "Permit { permits: 1, .. }");
        drop(permit);
        assert_eq!(semaphore.available(), 2);
    }
}
