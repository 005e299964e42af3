//! The lock on an object during a method that may suspend.

use std::marker::PhantomData;

use super::call::Method;
use super::host::Nodes;
use super::reference::Name;
use super::table::{Access, Found};
use crate::frame::context::{Cx, cx};
use crate::frame::origin::Origin;

/// A lock on an object, for a method or removal that has not begun. Dropping it releases the lock.
///
/// An `ObjectLock` travels from the releasing method to the waiter through a continuation, but never leaves its worker.
pub(crate) struct ObjectLock {
    name: Name,
    exclusive: bool,
}

// SAFETY: an `ObjectLock` is used only by the worker whose table has the object: frames that contain one are located,
// and only sweeps of that worker destroy leaves that contain one.
unsafe impl Send for ObjectLock {}

impl ObjectLock {
    pub(crate) fn new(name: Name, exclusive: bool) -> ObjectLock {
        ObjectLock { name, exclusive }
    }

    pub(crate) fn name(&self) -> Name {
        self.name
    }

    /// Converts the lock into the guard of a method that begins.
    pub(crate) fn begin<M: Method>(self) -> MethodGuard<M> {
        let name = self.name;
        self.forget();
        MethodGuard(name, PhantomData)
    }

    /// Drops this value without releasing the lock, which has been released otherwise, or has another owner.
    #[inline]
    pub(crate) fn forget(self) {
        std::mem::forget(self);
    }
}

impl Drop for ObjectLock {
    #[cold]
    fn drop(&mut self) {
        release(self.name, self.exclusive, false, None);
    }
}

/// A lock on an object during the method `M`. When the method returns, its caller ends the guard by `end_here` or
/// `end`. Dropping it, after a panic or cancellation, releases the lock, and poisons the object if the method is
/// exclusive.
pub(crate) struct MethodGuard<M: Method>(Name, PhantomData<fn() -> M>);

impl<M: Method> MethodGuard<M> {
    const EXCLUSIVE: bool = matches!(M::ACCESS, Access::Exclusive);

    /// Locks an object that is free, for a method that begins.
    ///
    /// # Safety
    /// [`free_here`](super::table::free_here) has just found the object.
    #[inline(always)]
    pub(crate) unsafe fn of_free(found: Found<M::Object>, name: Name) -> MethodGuard<M> {
        // SAFETY: the caller has just found the object by `free_here`.
        unsafe { found.hold(name, Self::EXCLUSIVE) };
        MethodGuard(name, PhantomData)
    }

    /// Converts the guard into that of a method that has suspended, and records for reports that it holds the object.
    #[inline(always)]
    pub(crate) fn suspends(self, cx: Cx) -> SuspendedGuard {
        let guard = SuspendedGuard { name: self.0, exclusive: Self::EXCLUSIVE, method: M::ORIGIN };
        std::mem::forget(self);
        guard.record(cx);
        guard
    }

    /// Releases the lock when the method has ended on the stack.
    ///
    /// # Safety
    /// The object is at `found`.
    #[inline(always)]
    pub(crate) unsafe fn end_here(self, found: Found<M::Object>) {
        // SAFETY: the caller guarantees that the object is there, and `self` is the lock, in this mode.
        if unsafe { found.release(self.0, Self::EXCLUSIVE) } {
            std::mem::forget(self);
        } else {
            self.end();
        }
    }

    /// Releases the lock when the method has ended.
    #[cold]
    #[inline(never)]
    pub(crate) fn end(self) {
        release(self.0, Self::EXCLUSIVE, false, Some(M::ORIGIN));
        std::mem::forget(self);
    }
}

impl<M: Method> Drop for MethodGuard<M> {
    #[cold]
    fn drop(&mut self) {
        release(self.0, Self::EXCLUSIVE, Self::EXCLUSIVE, Some(M::ORIGIN));
    }
}

/// A [`MethodGuard`] without the type of the method, which has suspended: the code that waits for it is compiled once for each
/// type of value.
pub(crate) struct SuspendedGuard {
    name: Name,
    exclusive: bool,
    method: &'static Origin,
}

impl SuspendedGuard {
    fn record(&self, cx: Cx) {
        Nodes::table_of(cx, self.name.node()).held_by(self.name, self.method);
    }

    /// Releases the lock when the method has ended.
    pub(crate) fn end(self) {
        release(self.name, self.exclusive, false, Some(self.method));
        std::mem::forget(self);
    }
}

impl Drop for SuspendedGuard {
    #[cold]
    fn drop(&mut self) {
        release(self.name, self.exclusive, self.exclusive, Some(self.method));
    }
}

fn release(name: Name, exclusive: bool, poison: bool, method: Option<&'static Origin>) {
    // SAFETY: a lock stays on the worker of its object, and the context is used at once.
    let cx = unsafe { cx() };
    assert!(cx.hosts(name.node()), "an object's lock is released on its home worker");
    Nodes::table_of(cx, name.node()).release(name, exclusive, poison, method);
}

/// A request in an object's wait queue. Dropping it, when the waiting frame is cancelled, grants the lock to later
/// waiters that no longer wait behind this request.
pub(crate) struct QueuePosition(pub(crate) Name);

impl QueuePosition {
    /// Drops the value without effect: the request has been served.
    pub(crate) fn served(self) {
        std::mem::forget(self);
    }
}

impl Drop for QueuePosition {
    #[cold]
    fn drop(&mut self) {
        // SAFETY: a `QueuePosition` is in a located frame, which only the object's worker destroys; the context is used
        // at once.
        let nodes = Nodes::of(unsafe { cx() });
        nodes.table(self.0.node()).serve(self.0);
    }
}
