//! Holding an object, for the time of a method that may suspend.

use std::marker::PhantomData;

use super::call::Method;
use super::host::Nodes;
use super::reference::Name;
use super::table::{self, Access};
use crate::task::context::{Cx, cx};
use crate::task::origin::Origin;

/// An object is held for a method that has not begun. Dropped, it ends the hold.
///
/// A hold travels from who releases to who waited through a continuation, but never leaves its worker.
pub(crate) struct Hold {
    name: Name,
    exclusive: bool,
}

// SAFETY: what it names is a place in a table; it is used by the worker of that alone: leaves and frames of holds are
// located ones, or are destroyed by sweeps of that worker.
unsafe impl Send for Hold {}

impl Hold {
    pub(crate) fn new(name: Name, exclusive: bool) -> Hold {
        Hold { name, exclusive }
    }

    pub(crate) fn name(&self) -> Name {
        self.name
    }

    pub(crate) fn index(&self) -> u32 {
        self.name.index()
    }

    /// The method begins.
    pub(crate) fn begin<M: Method>(self) -> During<M> {
        let name = self.name;
        self.forget();
        During(name, PhantomData)
    }

    /// The hold is ended, or is somebody else's.
    #[inline]
    pub(crate) fn forget(self) {
        std::mem::forget(self);
    }
}

impl Drop for Hold {
    #[cold]
    fn drop(&mut self) {
        release(self.name, self.exclusive, false, None);
    }
}

/// An object is held, and the method `M` has begun. Dropped, it ends the hold of a method that did not end well: if that could
/// change the object, it is poisoned.
pub(crate) struct During<M: Method>(Name, PhantomData<fn() -> M>);

impl<M: Method> During<M> {
    const EXCLUSIVE: bool = matches!(M::ACCESS, Access::Exclusive);

    /// Holds an object that is free, for a method that begins.
    ///
    /// # Safety
    /// It has just been found free by [`table::free_here`].
    #[inline(always)]
    pub(crate) unsafe fn of_free(cx: Cx, name: Name) -> During<M> {
        // SAFETY: passed on.
        unsafe { table::hold_free(cx, name, Self::EXCLUSIVE) };
        During(name, PhantomData)
    }

    /// The method has suspended: now others may see that it holds the object.
    pub(crate) fn suspends(&self, cx: Cx) {
        Nodes::of(cx).table(self.0.node()).held_by(self.0, M::ORIGIN);
    }

    /// The method has ended, on the stack.
    ///
    /// # Safety
    /// The worker is at the object's node.
    #[inline(always)]
    pub(crate) unsafe fn end_here(self, cx: Cx) {
        // SAFETY: passed on; it is held.
        if unsafe { table::release_here(cx, self.0, Self::EXCLUSIVE) } {
            std::mem::forget(self);
        } else {
            self.end();
        }
    }

    /// The method has ended.
    #[cold]
    #[inline(never)]
    pub(crate) fn end(self) {
        release(self.0, Self::EXCLUSIVE, false, Some(M::ORIGIN));
        std::mem::forget(self);
    }
}

impl<M: Method> Drop for During<M> {
    #[cold]
    fn drop(&mut self) {
        release(self.0, Self::EXCLUSIVE, Self::EXCLUSIVE, Some(M::ORIGIN));
    }
}

fn release(name: Name, exclusive: bool, poison: bool, method: Option<&'static Origin>) {
    // SAFETY: a hold stays on the worker of the object; used at once.
    let cx = unsafe { cx() };
    assert!(cx.hosts(name.node()), "a hold stays on its worker");
    Nodes::of(cx).table(name.node()).release(name.index(), exclusive, poison, method);
}

/// Somebody stands in line. Dropped, it makes way for those behind.
pub(crate) struct InLine(pub(crate) Name);

impl InLine {
    /// It has been served.
    pub(crate) fn served(self) {
        std::mem::forget(self);
    }
}

impl Drop for InLine {
    #[cold]
    fn drop(&mut self) {
        // SAFETY: in a located frame, on the worker of the object; used at once.
        let nodes = Nodes::of(unsafe { cx() });
        let table = nodes.table(self.0.node());
        if table.lives(self.0) {
            table.serve(self.0.index());
        }
    }
}
