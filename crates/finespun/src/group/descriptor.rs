//! What all parts of a loop share: the paper's spawn descriptor (maxi-parc-runtime, section 4.1).
//!
//! It is made when the loop leaves the stack, in a box of its own: parts that run elsewhere look at it while the frame that
//! owns it is polled. That frame outlives all parts.

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::activities::Activities;
use super::ends::How;
use super::values::Values;
use crate::atomics::lock_std as lock;
use crate::task::call::Task;
use crate::task::context::{Cx, try_cx};
use crate::task::frame::{Payload, quietly};
use crate::task::groups::Group;
use crate::task::teams;

/// What the activities of `A` deliver.
pub(super) type Delivers<A> = <<A as Activities>::Task as Task>::Output;

/// How a group has come to its end before all of its activities have.
pub(super) enum End<B> {
    /// An activity has ended it.
    Break(B),
    /// An activity has panicked.
    Panic(Payload),
}

/// The descriptor.
pub(super) struct Descriptor<A: Activities, H: How<Delivers<A>>> {
    pub(super) activities: A,
    /// How many there are: what they have said once, which is not asked again.
    pub(super) count: u64,
    /// The group's number.
    pub(super) group: u32,
    /// The group's record, which lives until the group has ended.
    record: NonNull<Group>,
    /// The first activity that nobody has taken, where workers take them from here.
    free: AtomicU64,
    values: Values<H::Value>,
    /// The first end.
    end: Mutex<Option<End<H::Break>>>,
    /// Whether there is one.
    ended: AtomicBool,
}

impl<A: Activities, H: How<Delivers<A>>> Descriptor<A, H> {
    /// For so many activities, of which those before the start of the range have ended.
    pub(super) fn new(
        cx: Cx,
        activities: A,
        group: u32,
        Range { start: from, end: count }: Range<u64>,
    ) -> Descriptor<A, H> {
        let record = NonNull::from(cx.context().scheduler().groups().get(group));
        let values = Values::new(from, count);
        Descriptor {
            activities,
            count,
            group,
            record,
            free: AtomicU64::new(from),
            values,
            end: Mutex::new(None),
            ended: AtomicBool::new(false),
        }
    }

    /// Takes some activities of those that nobody has taken: `some` of so many.
    pub(super) fn take(&self, some: impl Fn(u64) -> u64) -> Option<Range<u64>> {
        let mut taken = None;
        // Relaxed, both: whoever takes them knows the descriptor already.
        let after = self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |from| {
            taken = (from < self.count).then(|| from..from + some(self.count - from));
            taken.as_ref().map(|taken| taken.end)
        });
        after.ok().and(taken)
    }

    /// Keeps the value of activity `k`.
    ///
    /// # Safety
    /// Once for each activity that the descriptor was made for, and for no other.
    #[inline(always)]
    pub(super) unsafe fn put(&self, k: u64, value: H::Value) {
        // SAFETY: passed on.
        unsafe { self.values.put(k, value) };
    }

    /// Ends the group, if nobody has: what is beneath it stops.
    #[cold]
    pub(super) fn end(&self, end: End<H::Break>) {
        let mut first = lock(&self.end);
        if first.is_some() {
            drop(first);
            // Nobody will see it.
            return match end {
                End::Break(value) => quietly(|| drop(value)),
                End::Panic(payload) => drop(payload),
            };
        }
        *first = Some(end);
        drop(first);
        // Release: who sees it sees the end.
        self.ended.store(true, Ordering::Release);
        // Nobody else terminates this group alone; if one above it has been, it may be marked.
        match try_cx() {
            Some(cx) if cx.of_team(self.group) => drop(cx.terminate_group(self.group)),
            _ => teams::terminate(self.group),
        }
    }

    /// An activity has been destroyed: because its group has ended, or one outside of that; or it was a handle, of a task that
    /// has been.
    pub(super) fn cut_short(&self) {
        if !self.has_ended() {
            self.end(End::Panic(Payload::new("an activity was cancelled")));
        }
    }

    /// So many activities have ended: for those that wait at the group's barrier they count as arrived.
    pub(super) fn left(&self, activities: u64) {
        if activities > 0 {
            // SAFETY: the group has not ended.
            unsafe { self.record.as_ref() }.leave(activities);
        }
    }

    /// Whether somebody has ended the group.
    #[inline]
    pub(super) fn has_ended(&self) -> bool {
        // Acquire: pairs with the Release in `end`.
        self.ended.load(Ordering::Acquire)
    }

    /// How the group has ended before its activities; once they all have.
    pub(super) fn take_end(&self) -> Option<End<H::Break>> {
        lock(&self.end).take()
    }

    /// The values, in order.
    ///
    /// # Safety
    /// Each activity that the descriptor was made for has put one; once.
    pub(super) unsafe fn take_values(&self, put: impl FnMut(H::Value)) {
        // SAFETY: passed on.
        unsafe { self.values.take(put) };
    }
}
