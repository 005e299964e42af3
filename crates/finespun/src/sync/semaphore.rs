//! A fair counting semaphore: it grants permits in the order of the requests.

use std::panic::Location;

use super::wait_queue::{self, WaitQueue};
use crate::atomics::const_fn;
use crate::call::outcome::Outcome;
use crate::call::{Task, map_outcome, sealed};
use crate::cancel::teams;
use crate::frame::context::{Cx, try_cx};
use crate::run::continuation::Continuation;
use crate::sched::deadlock::{permit_returned, permit_taken};
use crate::wait::suspend::suspend_at;

/// A number of permits that tasks acquire and give back.
///
/// First come, first served: later requests for few permits do not overtake a request for many.
///
/// Tasks of several runtimes and plain threads may share a semaphore. A plain thread may add permits, or give back
/// permits that a task has passed to it. If it may do so more than a second after all tasks have suspended, declare
/// this with [`outside`](crate::tasks::outside). Otherwise tasks that wait for these permits may be reported as
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
    queue: WaitQueue<Waiter>,
}

struct Waiter {
    permits: usize,
    /// Resolved with a [`Permit`]: if cancellation prevents the delivery, dropping the `Permit` gives the permits back.
    granted: Continuation<Permit<'static>>,
}

impl wait_queue::Waiter for Waiter {
    fn permits(&self) -> usize {
        self.permits
    }

    fn is_cancelled(&self) -> bool {
        self.granted.is_cancelled()
    }
}

impl Semaphore {
    /// The maximum number of permits of a semaphore.
    pub const MAX_PERMITS: usize = wait_queue::MAX;

    const_fn! {
        /// Creates a semaphore with `permits` permits.
        ///
        /// # Panics
        /// If `permits` is above [`MAX_PERMITS`](Self::MAX_PERMITS).
        pub fn new(permits: usize) -> Semaphore {
            assert!(permits <= Self::MAX_PERMITS, "more permits than `Semaphore::MAX_PERMITS`");
            Semaphore { queue: WaitQueue::new(permits) }
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
        if try_cx().is_some() {
            return self.queue.try_take(1).then(|| Permit { semaphore: self, permits: 1 });
        }
        if self.queue.free() == 0 {
            return None;
        }
        // Counted before the permit is taken: otherwise a task that finds it taken could be reported as deadlocked.
        permit_taken();
        if !self.queue.try_take(1) {
            permit_returned();
            return None;
        }
        Some(Permit { semaphore: self, permits: 1 | TAKEN })
    }

    /// Returns the number of permits free at this moment.
    pub fn available(&self) -> usize {
        self.queue.free()
    }

    /// Adds `permits` permits to the existing ones.
    ///
    /// # Panics
    /// If there would be more than [`MAX_PERMITS`](Self::MAX_PERMITS).
    pub fn release(&self, permits: usize) {
        match self.queue.give_back(permits) {
            Ok(true) => self.grant_waiters(),
            Ok(false) => {}
            Err(wait_queue::TooMany) => panic!("more permits than `Semaphore::MAX_PERMITS`"),
        }
    }

    /// Queues a request, or grants it.
    fn request<'a>(&'a self, permits: usize, granted: Continuation<Permit<'a>>) {
        // SAFETY: the types differ in the lifetime only. Only this semaphore resolves or drops the continuation, with a
        // permit made from `&self`, and the task that it resumes takes it as a `Permit<'a>`.
        let granted =
            unsafe { std::mem::transmute::<Continuation<Permit<'a>>, Continuation<Permit<'static>>>(granted) };
        self.queue.enqueue(Waiter { permits, granted }, |waiter| self.grant(waiter));
    }

    /// Grants the free permits to the first requests in the queue.
    fn grant_waiters(&self) {
        self.queue.grant_waiters(|waiter| self.grant(waiter));
    }

    /// Resumes a waiter with its permits. Returns the number of permits not delivered: all if the waiter has been
    /// cancelled, else none.
    fn grant(&self, waiter: Waiter) -> usize {
        let permit = Permit { semaphore: self, permits: waiter.permits };
        // SAFETY: the types differ in the lifetime only, which the receiver of the permit restores, as in `request`.
        let permit = unsafe { std::mem::transmute::<Permit<'_>, Permit<'static>>(permit) };
        // SAFETY: the leaf lives until its continuation is consumed.
        let group = unsafe { waiter.granted.leaf().as_ref() }.group;
        let granted = || waiter.granted.try_resolve(permit);
        match if try_cx().is_some() { granted() } else { teams::end_from_outside(group, granted) } {
            Ok(()) => 0,
            Err(permit) => {
                permit.forget();
                waiter.permits
            }
        }
    }
}

/// Grants free permits to the queue when a wait ends without permits: a cancelled request must not block later ones.
struct GrantOnDrop<'a>(&'a Semaphore);

impl Drop for GrantOnDrop<'_> {
    fn drop(&mut self) {
        self.0.grant_waiters();
    }
}

/// Waits for permits on behalf of a task. `make` makes the task's result from the permits.
///
/// # Safety
/// As for [`call`](crate::call::call).
pub(super) unsafe fn acquire<'a, T>(cx: Cx, request: Acquire<'a>, make: impl FnOnce(Permit<'a>) -> T) -> Outcome<T> {
    let Acquire { semaphore, permits, place } = request;
    if semaphore.queue.try_take(permits) {
        let permit = Permit { semaphore, permits };
        if cx.block_now() {
            let wait = suspend_at(place, |k: Continuation<Permit<'a>>| k.resolve(permit)).forced();
            // SAFETY: the caller guarantees the call protocol for this worker.
            return unsafe { map_outcome(cx, wait, make) };
        }
        // SAFETY: the value is returned under the call protocol, as the caller guarantees.
        return unsafe { Outcome::done(make(permit)) };
    }
    let wait = suspend_at(place, |k| semaphore.request(permits, k)).waits_for_lock();
    let way = GrantOnDrop(semaphore);
    let arrive = move |permit| {
        std::mem::forget(way);
        make(permit)
    };
    // SAFETY: the caller guarantees the call protocol for this worker.
    unsafe { map_outcome(cx, wait, arrive) }
}

impl std::fmt::Debug for Semaphore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Semaphore").field("available", &self.available()).finish()
    }
}

/// Permits that have been acquired, and are given back on drop.
#[must_use = "the permits are given back at once if this is dropped"]
pub struct Permit<'a> {
    semaphore: &'a Semaphore,
    /// The number of permits, and [`TAKEN`].
    permits: usize,
}

/// The flag of permits that a plain thread has taken, stored in the same word as their number.
const TAKEN: usize = 1 << (usize::BITS - 1);
const _: () = assert!(TAKEN > wait_queue::MAX);

impl Permit<'_> {
    /// Removes the permits from the semaphore permanently.
    pub fn forget(self) {
        if self.permits & TAKEN != 0 {
            permit_returned();
        }
        std::mem::forget(self);
    }
}

impl std::fmt::Debug for Permit<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Permit").field("permits", &(self.permits & !TAKEN)).finish_non_exhaustive()
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.semaphore.release(self.permits & !TAKEN);
        if self.permits & TAKEN != 0 {
            permit_returned();
        }
    }
}

/// The task returned by [`Semaphore::acquire`].
#[must_use = "a task does nothing until it is awaited"]
pub struct Acquire<'a> {
    semaphore: &'a Semaphore,
    permits: usize,
    place: &'static Location<'static>,
}

impl sealed::Sealed for Acquire<'_> {}
impl<'a> Task for Acquire<'a> {
    type Output = Permit<'a>;
    const STRAIGHT: bool = false;

    unsafe fn call(self, cx: Cx) -> Outcome<Permit<'a>> {
        // SAFETY: the caller guarantees the call protocol for this worker.
        unsafe { acquire(cx, self, |permit| permit) }
    }
}

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
