//! The lock on an object during a method that may suspend.

use std::marker::PhantomData;

use super::call::Method;
use super::host::Nodes;
use super::reference::Name;
use super::table::{self, Access};
use crate::task::context::{Cx, cx};
use crate::task::origin::Origin;

/// A lock on an object, for a method that has not begun. Dropping it releases the lock.
///
/// A `ObjectLock` travels from the releasing method to the waiter through a continuation, but never leaves its worker.
pub(crate) struct ObjectLock {
    name: Name,
    exclusive: bool,
}

// SAFETY: the name refers to a table that only its own worker uses: leaves and frames that contain a `ObjectLock` are
// located, or are destroyed by sweeps of that worker.
unsafe impl Send for ObjectLock {}

impl ObjectLock {
    pub(crate) fn new(name: Name, exclusive: bool) -> ObjectLock {
        ObjectLock { name, exclusive }
    }

    pub(crate) fn name(&self) -> Name {
        self.name
    }

    pub(crate) fn index(&self) -> u32 {
        self.name.index()
    }

    /// Begins the method.
    pub(crate) fn begin<M: Method>(self) -> MethodGuard<M> {
        let name = self.name;
        self.forget();
        MethodGuard(name, PhantomData)
    }

    /// Gives up this value without a release: the lock has been released, or has another owner.
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

/// A lock on an object during the method `M`. Dropping it releases the lock of a method that panicked or was cancelled:
/// if the method could change the object, the object is poisoned.
pub(crate) struct MethodGuard<M: Method>(Name, PhantomData<fn() -> M>);

impl<M: Method> MethodGuard<M> {
    const EXCLUSIVE: bool = matches!(M::ACCESS, Access::Exclusive);

    /// Locks an object that is free, for a method that begins.
    ///
    /// # Safety
    /// [`table::free_here`] has just found the object.
    #[inline(always)]
    pub(crate) unsafe fn of_free(cx: Cx, name: Name) -> MethodGuard<M> {
        // SAFETY: the caller has just found the object by `free_here`.
        unsafe { table::hold_free(cx, name, Self::EXCLUSIVE) };
        MethodGuard(name, PhantomData)
    }

    /// Called when the method has suspended: records for reports that it holds the object.
    pub(crate) fn suspends(&self, cx: Cx) {
        Nodes::of(cx).table(self.0.node()).held_by(self.0, M::ORIGIN);
    }

    /// Releases the lock when the method has ended on the stack.
    ///
    /// # Safety
    /// The worker is at the object's node.
    #[inline(always)]
    pub(crate) unsafe fn end_here(self, cx: Cx) {
        // SAFETY: the caller guarantees that the worker is at the object's node, and `self` is the lock, in this mode.
        if unsafe { table::release_here(cx, self.0, Self::EXCLUSIVE) } {
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

fn release(name: Name, exclusive: bool, poison: bool, method: Option<&'static Origin>) {
    // SAFETY: a lock stays on the worker of its object, and the context is used at once.
    let cx = unsafe { cx() };
    assert!(cx.hosts(name.node()), "a hold stays on its worker");
    Nodes::of(cx).table(name.node()).release(name.index(), exclusive, poison, method);
}

/// A place in an object's wait queue. Dropping it lets later waiters proceed.
pub(crate) struct QueuePosition(pub(crate) Name);

impl QueuePosition {
    /// Gives up the place: its request has been served.
    pub(crate) fn served(self) {
        std::mem::forget(self);
    }
}

impl Drop for QueuePosition {
    #[cold]
    fn drop(&mut self) {
        // SAFETY: this is in a located frame, which only the worker of the object destroys; the context is used at
        // once.
        let nodes = Nodes::of(unsafe { cx() });
        let table = nodes.table(self.0.node());
        if table.lives(self.0) {
            table.serve(self.0.index());
        }
    }
}
