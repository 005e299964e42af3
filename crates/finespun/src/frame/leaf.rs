//! Leaves: frames without a body, whose slots continuations complete.
//!
//! One side may give up a leaf before the other: a cancelled task, while the continuation still exists. The leaf's
//! *claim* decides which side completes it and which side frees it: see [`claim`](super::claim) for its states.

use std::mem::ManuallyDrop;

use super::claim::Claim;
use super::header::{CallSite, FrameRef, VTable, drop_result, free, quietly};
use super::pool;

pub(crate) use super::claim::{OPEN, PROTECTED, WAITS_FOR_LOCK};

/// A `Continuation<()>` as modules below [`run`](crate::run) keep it in queues: its leaf, with the ownership of the
/// continuation.
pub(crate) struct Waiting(FrameRef);

// SAFETY: any thread may resolve a continuation.
unsafe impl Send for Waiting {}

impl Waiting {
    /// # Safety
    /// The caller owns the leaf's continuation, a `Continuation<()>`, which passes to the result.
    pub(crate) unsafe fn new(leaf: FrameRef) -> Waiting {
        Waiting(leaf)
    }

    /// Returns the leaf, with the ownership of its continuation.
    pub(crate) fn into_leaf(self) -> FrameRef {
        ManuallyDrop::new(self).0
    }

    /// Returns whether the wait has been cancelled.
    pub(crate) fn is_cancelled(&self) -> bool {
        // SAFETY: the leaf lives until its continuation, which this owns, gives it up.
        unsafe { is_cancelled(self.0) }
    }
}

impl Drop for Waiting {
    /// Gives up the leaf of a cancelled wait. Other waits are never dropped: their queue outlives them.
    fn drop(&mut self) {
        let cancelled = self.is_cancelled();
        debug_assert!(cancelled, "a queue was dropped before a wait in it had ended");
        if cancelled {
            // SAFETY: this owns the continuation, which is consumed here.
            unsafe { let_go(self.0, |claim| claim.holder_goes()) };
        }
    }
}

/// Begins the completion of a leaf by its continuation (transition 1 of [`claim`](super::claim)). Returns true if the
/// continuation completes the leaf. Otherwise the wait has been cancelled, and the leaf is given up.
///
/// # Safety
/// The caller owns the leaf's continuation, and gives it up by this call. If the result is true, it writes a result and
/// completes the slot, once; if false, it does not touch the leaf again.
#[must_use]
#[inline(always)]
pub(crate) unsafe fn resolve(leaf: FrameRef) -> bool {
    // SAFETY: the leaf lives until the continuation gives it up.
    let resolved = Claim::of(unsafe { &(*leaf.as_ptr()).join }).resolve();
    if !resolved {
        // SAFETY: the caller's continuation is consumed, so its side calls `let_go` once and does not touch the leaf
        // again.
        unsafe { let_go(leaf, |claim| claim.holder_goes()) };
    }
    resolved
}

/// Cancels a leaf (transition 2), if it has not been resolved. If the result is true, the caller must complete the
/// slot.
///
/// # Safety
/// `leaf` is a leaf, live or freed, whose memory was neither allocated again nor reclaimed with its page.
#[must_use]
pub(crate) unsafe fn cancel(leaf: FrameRef) -> bool {
    // SAFETY: the caller guarantees that the memory still holds the claim of a leaf; the claim of a freed leaf is not
    // open.
    Claim::of(unsafe { &(*leaf.as_ptr()).join }).cancel()
}

/// Returns whether the wait for a leaf has been cancelled.
///
/// # Safety
/// `leaf` is a live leaf.
pub(crate) unsafe fn is_cancelled(leaf: FrameRef) -> bool {
    // SAFETY: the caller guarantees that `leaf` is live.
    Claim::of(unsafe { &(*leaf.as_ptr()).join }).is_cancelled()
}

/// An object that tasks wait for, as deadlock reports describe it.
pub trait Subject {
    /// Describes the object for the report of a wait, with an article. Called while all workers of the
    /// waiting task's runtime are parked; takes no lock that another thread may hold for long.
    fn describe(&self) -> String;
}

/// The information about its wait that a leaf keeps for deadlock reports.
pub(crate) trait About: Copy {
    /// Returns what the wait is for, and its source location. `value` is the type name of the leaf's value.
    fn describe(self, value: &'static str) -> (String, CallSite);
}

/// A wait of which only the source location is known.
impl About for CallSite {
    fn describe(self, value: &'static str) -> (String, CallSite) {
        (format!("a continuation of `{value}`"), self)
    }
}

/// A wait for an object that can describe itself.
#[derive(Clone, Copy)]
pub(crate) struct AboutSubject {
    place: CallSite,
    /// The part of the subject that the task waits for, as in "room in"; may be empty. A thin pointer.
    wanted: &'static &'static str,
    subject: *const dyn Subject,
}

impl AboutSubject {
    /// # Safety
    /// `subject` lives, at the same address, while the leaf that keeps the result has a waiter and is not completed.
    pub(crate) unsafe fn new(
        place: CallSite,
        wanted: &'static &'static str,
        subject: &(dyn Subject + '_),
    ) -> AboutSubject {
        let subject: *const (dyn Subject + '_) = subject;
        // SAFETY: the types differ in the lifetime only; the caller guarantees that the subject lives when it is used.
        let subject =
            unsafe { std::mem::transmute::<*const (dyn Subject + '_), *const (dyn Subject + 'static)>(subject) };
        AboutSubject { place, wanted, subject }
    }
}

impl About for AboutSubject {
    fn describe(self, _: &'static str) -> (String, CallSite) {
        // SAFETY: only waiting leaves that are not completed are described, and `new` demands that the subject lives
        // while there is such a leaf.
        let subject = unsafe { &*self.subject }.describe();
        let space = if self.wanted.is_empty() { "" } else { " " };
        (format!("{}{space}{subject}", self.wanted), self.place)
    }
}

/// A description of a waiting leaf: the waiter, the object of the wait, and the source location of the wait.
pub(crate) struct Description {
    pub(crate) waiter: Option<FrameRef>,
    pub(crate) what: String,
    pub(crate) place: CallSite,
}

/// Returns whether a leaf has not been completed and has a waiter.
///
/// # Safety
/// `leaf` is a live leaf.
pub(crate) unsafe fn is_waited_for(leaf: FrameRef) -> bool {
    // SAFETY: the caller guarantees that `leaf` is live.
    let header = unsafe { leaf.as_ref() };
    Claim::of(&header.join).is_open() && header.slot.waiter().is_some()
}

/// Returns whether a leaf waits for a lock or for permits, whose guard a task may have moved to a plain thread.
///
/// # Safety
/// `leaf` is a live leaf.
pub(crate) unsafe fn waits_for_lock(leaf: FrameRef) -> bool {
    // SAFETY: the caller guarantees that `leaf` is live.
    Claim::of(unsafe { &(*leaf.as_ptr()).join }).waits_for_lock()
}

/// Returns whether cancellation leaves a leaf alone that has not been completed.
///
/// # Safety
/// `leaf` is a live leaf.
#[cfg(feature = "objects")]
pub(crate) unsafe fn is_protected(leaf: FrameRef) -> bool {
    // SAFETY: the caller guarantees that `leaf` is live.
    Claim::of(unsafe { &(*leaf.as_ptr()).join }).is_protected()
}

/// Describes a leaf. Returns `None` if the leaf has been resolved or cancelled. `table` is the leaf's vtable.
///
/// # Safety
/// `leaf` is a live leaf.
pub(crate) unsafe fn describe(leaf: FrameRef, table: &'static VTable) -> Option<Description> {
    // SAFETY: the caller guarantees that `leaf` is live.
    let header = unsafe { leaf.as_ref() };
    if !Claim::of(&header.join).is_open() {
        return None;
    }
    // SAFETY: the function comes from the leaf's own table.
    let (what, place) = unsafe { (table.leaf?)(leaf) };
    Some(Description { waiter: header.slot.waiter(), what, place })
}

/// Gives up a cancelled leaf on behalf of one side (transition 3 or 4); the second side frees it.
///
/// # Safety
/// Each side calls this once, and does not touch the leaf again.
#[cold]
#[inline(never)]
unsafe fn let_go(leaf: FrameRef, second: fn(Claim<'_>) -> bool) {
    // SAFETY: the leaf is live until the second side has given it up.
    let header = unsafe { leaf.as_ref() };
    let class = header.vtable.class;
    if second(Claim::of(&header.join)) {
        // SAFETY: both sides have given up the leaf, which is of this class.
        unsafe { pool::free(leaf.cast(), class) };
    }
}

/// Gives up a cancelled leaf on behalf of the child's owner (3).
///
/// # Safety
/// The owner calls this once, and does not touch the leaf again.
pub(crate) unsafe fn abandon(leaf: FrameRef) {
    // SAFETY: the caller guarantees that the owner calls this once, and does not touch the leaf again.
    unsafe { let_go(leaf, |claim| claim.child_goes()) };
}

/// Gives up a leaf that will have no waiter. If it has not been completed, the completer frees it.
///
/// # Safety
/// The caller owns the leaf as a child, and does not use it afterwards.
pub(crate) unsafe fn unwaited(leaf: FrameRef) {
    // SAFETY: the caller guarantees that it owns the leaf, which is therefore live.
    let header = unsafe { leaf.as_ref() };
    if !header.slot.detach() {
        // SAFETY: the leaf is completed, so the continuation no longer uses it, and the caller is the only owner.
        quietly(|| unsafe { drop_result(leaf) });
        // SAFETY: the result has been destroyed, and the caller is the only owner.
        unsafe { free(leaf) };
    }
}
