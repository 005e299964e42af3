//! Permits that are held, requested and granted: the core of semaphores and locks.

use super::wait_queue::{self, WaitQueue};
use super::waiter::{Party, Waiter};
use crate::atomics::const_fn;
use crate::sched::deadlock::{permit_returned, permit_taken};

/// A number of permits, and the requests for more than are free.
pub struct Permits {
    queue: WaitQueue<Request>,
}

struct Request {
    count: usize,
    /// Granted with a [`Held`]: if the wait has been cancelled and the grant is dropped, the permits are given back.
    waiter: Waiter<Held<'static>>,
}

impl wait_queue::Request for Request {
    fn permits(&self) -> usize {
        self.count
    }

    fn is_cancelled(&self) -> bool {
        self.waiter.is_cancelled()
    }
}

/// The flag of permits that are held outside the tasks, stored in the same word as their number.
const OUTSIDE: usize = 1 << (usize::BITS - 1);
const _: () = assert!(OUTSIDE > Permits::MAX);

impl Permits {
    pub(super) const MAX: usize = wait_queue::MAX;

    const_fn! {
        /// Makes `count` permits: at most [`MAX`](Self::MAX).
        pub(super) fn new(count: usize) -> Permits {
            Permits { queue: WaitQueue::new(count) }
        }
    }

    /// Returns the number of permits free at this moment.
    pub(super) fn free(&self) -> usize {
        self.queue.free()
    }

    /// Takes permits on behalf of `by` if they are free and no request is queued.
    #[inline]
    pub(super) fn try_hold(&self, count: usize, by: Party) -> Option<Held<'_>> {
        match by {
            Party::Task => self.queue.try_take(count).then(|| Held { permits: self, count }),
            Party::Outside => self.try_hold_outside(count),
        }
    }

    fn try_hold_outside(&self, count: usize) -> Option<Held<'_>> {
        if self.queue.free() < count {
            return None;
        }
        // Counted before the permit is taken: otherwise a task that finds it taken could be reported as deadlocked.
        permit_taken();
        if !self.queue.try_take(count) {
            permit_returned();
            return None;
        }
        Some(Held { permits: self, count: count | OUTSIDE })
    }

    /// Adds permits. Returns false if there would be more than [`MAX`](Self::MAX).
    pub(super) fn release(&self, count: usize) -> bool {
        match self.queue.give_back(count) {
            Ok(true) => self.grant_waiters(),
            Ok(false) => {}
            Err(wait_queue::TooMany) => return false,
        }
        true
    }

    /// Queues a request, or grants it.
    pub(super) fn enqueue<'a>(&'a self, count: usize, waiter: Waiter<Held<'a>>) {
        // SAFETY: the types differ in the lifetime only. Only these permits grant or drop the waiter, with a grant made
        // from `&self`, and the operation takes it as a `Held<'a>`.
        let waiter = unsafe { std::mem::transmute::<Waiter<Held<'a>>, Waiter<Held<'static>>>(waiter) };
        self.queue.enqueue(Request { count, waiter }, |request| self.grant(request));
    }

    /// Grants the free permits to the first requests in the queue, and removes cancelled requests there. Called when a
    /// wait ends without permits: a cancelled request must not block later ones.
    pub(super) fn grant_waiters(&self) {
        self.queue.grant_waiters(|request| self.grant(request));
    }

    /// Grants a request. Returns the number of permits not delivered: all if the wait has been cancelled, else none.
    fn grant(&self, Request { count, waiter }: Request) -> usize {
        let outside = if waiter.party() == Party::Outside { OUTSIDE } else { 0 };
        if outside != 0 {
            permit_taken();
        }
        let held = Held { permits: self, count: count | outside };
        // SAFETY: the types differ in the lifetime only, which the receiver of the grant restores, as in `enqueue`.
        let held = unsafe { std::mem::transmute::<Held<'_>, Held<'static>>(held) };
        match waiter.grant(held) {
            Ok(()) => 0,
            Err(held) => {
                held.forget();
                count
            }
        }
    }
}

/// Permits that are held, and given back on drop.
pub struct Held<'a> {
    permits: &'a Permits,
    /// The number of permits, and [`OUTSIDE`].
    count: usize,
}

impl Held<'_> {
    /// Returns the number of permits.
    pub(super) fn count(&self) -> usize {
        self.count & !OUTSIDE
    }

    /// Removes the permits permanently.
    pub(super) fn forget(self) {
        if self.count & OUTSIDE != 0 {
            permit_returned();
        }
        std::mem::forget(self);
    }

    /// Gives back all permits but one.
    pub(super) fn keep_one(&mut self) {
        let given = self.count() - 1;
        self.count -= given;
        self.permits.release(given);
    }
}

impl Drop for Held<'_> {
    fn drop(&mut self) {
        let fits = self.permits.release(self.count());
        if self.count & OUTSIDE != 0 {
            permit_returned();
        }
        assert!(fits, "{TOO_MANY}");
    }
}

/// The panic of adding too many permits.
pub(super) const TOO_MANY: &str = "more permits than `Semaphore::MAX_PERMITS`";
