//! The state shared by all parts of a loop: the paper's spawn descriptor (maxi-parc-runtime, section 4.1).
//!
//! The descriptor is made when the loop becomes a frame. It is boxed outside that frame, because parts on other workers
//! read it while the frame is polled. The frame owns the descriptor and outlives all parts.

use std::ops::Range;
use std::ptr::NonNull;
use std::sync::Mutex;

use super::activities::Activities;
use super::ends::How;
use super::values::Values;
use crate::atomics::{AtomicBool, AtomicU64, Ordering, lock_std as lock};
use crate::call::Task;
use crate::cancel::groups::Group;
use crate::cancel::teams;
use crate::frame::context::{Cx, try_cx};
use crate::frame::{Payload, drop_quietly};
use crate::run::release;

/// The output type of the activities of `A`.
pub(super) type Delivers<A> = <<A as Activities>::Task as Task>::Output;

/// The reason why a group ends early.
pub(super) enum End<B> {
    /// An activity ended the group with this value.
    Break(B),
    /// An activity panicked.
    Panic(Payload),
}

/// The spawn descriptor of a loop.
pub(super) struct Descriptor<A: Activities, H: How<Delivers<A>>> {
    pub(super) activities: A,
    /// Number of activities: the result of a single call of `Activities::count`.
    pub(super) count: u64,
    /// The group's number.
    pub(super) group: u32,
    /// The group's record, which lives until the group has ended.
    record: NonNull<Group>,
    /// The next activity to acquire. Unused under `Policy::Steal`.
    free: AtomicU64,
    values: Values<H::Value>,
    /// The first reason to end the group.
    end: Mutex<Option<End<H::Break>>>,
    /// Set when `end` holds a reason.
    ended: AtomicBool,
}

impl<A: Activities, H: How<Delivers<A>>> Descriptor<A, H> {
    /// Makes the descriptor of a loop over `count` activities. The activities before `from` have ended.
    pub(super) fn new(
        cx: Cx,
        activities: A,
        group: u32,
        Range { start: from, end: count }: Range<u64>,
    ) -> Descriptor<A, H> {
        let record = NonNull::from(cx.context().team().groups().get(group));
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

    /// Acquires the next `some(left)` activities, where `left` is the number not yet acquired. Returns `None` if none
    /// is left.
    pub(super) fn take(&self, some: impl Fn(u64) -> u64) -> Option<Range<u64>> {
        let mut taken = None;
        // Relaxed for both: the acquiring part already has access to the descriptor.
        let after = self.free.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |from| {
            taken = (from < self.count).then(|| from..from + some(self.count - from));
            taken.as_ref().map(|taken| taken.end)
        });
        after.ok().and(taken)
    }

    /// Stores the value of activity `k`.
    ///
    /// # Safety
    /// Called at most once for each activity that the descriptor was made for, and for no other.
    #[inline(always)]
    pub(super) unsafe fn put(&self, k: u64, value: H::Value) {
        // SAFETY: the caller guarantees a single call for each activity of the descriptor.
        unsafe { self.values.put(k, value) };
    }

    /// Records `end` as the reason for the group's early end and terminates everything beneath the group. If the group
    /// already has a reason, drops `end`.
    #[cold]
    pub(super) fn end(&self, end: End<H::Break>) {
        let mut first = lock(&self.end);
        if first.is_some() {
            drop(first);
            // The group delivers the first reason only.
            return match end {
                End::Break(value) => drop_quietly(value),
                End::Panic(payload) => drop(payload),
            };
        }
        *first = Some(end);
        drop(first);
        // Release: pairs with the Acquire in `has_ended`, so that a reader that sees the flag sees the reason.
        self.ended.store(true, Ordering::Release);
        // The result is ignored: `preturn` or the end of an enclosing group may have terminated the group first.
        let _first = match try_cx() {
            Some(cx) if cx.of_team(self.group) => cx.terminate_group(self.group),
            _ => teams::terminate(self.group),
        };
    }

    /// Handles an activity that was destroyed: because its group or an enclosing group was terminated, or because the
    /// activity was the handle of a spawned task that was cancelled.
    pub(super) fn activity_destroyed(&self) {
        if !self.has_ended() {
            self.end(End::Panic(Payload::new("an activity was cancelled")));
        }
    }

    /// Counts `activities` as ended in the group's barrier, which treats them as arrived.
    pub(super) fn count_ended(&self, activities: u64) {
        if activities > 0 {
            // SAFETY: the group has not ended, so its record is live.
            release::leave(unsafe { self.record.as_ref() }, activities);
        }
    }

    /// Returns true if the group was ended early.
    #[inline]
    pub(super) fn has_ended(&self) -> bool {
        // Acquire: pairs with the Release in `end`.
        self.ended.load(Ordering::Acquire)
    }

    /// Takes the reason for which the group ended early. Called after all activities have ended.
    pub(super) fn take_end(&self) -> Option<End<H::Break>> {
        lock(&self.end).take()
    }

    /// Passes the values to `put`, in the order of the activities.
    ///
    /// # Safety
    /// Each activity that the descriptor was made for has stored a value, and this is called once.
    pub(super) unsafe fn take_values(&self, put: impl FnMut(H::Value)) {
        // SAFETY: the caller guarantees that all values are stored and that this is the only call.
        unsafe { self.values.take(put) };
    }
}
