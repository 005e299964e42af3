//! Holding an object, for the time of a method that may suspend.

use super::host::Nodes;
use super::reference::Name;
use super::table;
use crate::task::context::{Cx, cx};
use crate::task::origin::Origin;

/// An object is held. Dropped, it ends a hold of a method that did not end well: if that could change the object, it is
/// poisoned.
///
/// A hold travels from who releases to who waited through a continuation, but never leaves its worker.
pub(crate) struct Hold {
    name: Name,
    exclusive: bool,
    /// The method has begun.
    begun: bool,
}

// SAFETY: what it names is a place in a table; it is used by the worker of that alone: leaves and frames of holds are
// located ones, or are destroyed by sweeps of that worker.
unsafe impl Send for Hold {}

impl Hold {
    pub(crate) fn new(name: Name, exclusive: bool) -> Hold {
        Hold { name, exclusive, begun: false }
    }

    pub(crate) fn name(&self) -> Name {
        self.name
    }

    pub(crate) fn index(&self) -> u32 {
        self.name.index()
    }

    /// Holds an object that is free, for a method that begins.
    ///
    /// # Safety
    /// It has just been found free by [`table::free_here`].
    #[inline(always)]
    pub(crate) unsafe fn of_free(cx: Cx, name: Name, exclusive: bool, method: &'static Origin) -> Hold {
        // SAFETY: passed on.
        unsafe { table::hold_free(cx, name, exclusive, method) };
        Hold { name, exclusive, begun: true }
    }

    /// The method begins.
    pub(crate) fn begin(mut self, cx: Cx, method: &'static Origin) -> Hold {
        Nodes::of(cx).table(self.name.node()).held_by(&self, method);
        self.begun = true;
        self
    }

    /// The method has ended, on the stack.
    ///
    /// # Safety
    /// The worker is at the object's node.
    #[inline(always)]
    pub(crate) unsafe fn end_here(self, cx: Cx) {
        // SAFETY: passed on; it is held.
        if unsafe { table::release_here(cx, self.name, self.exclusive) } {
            self.forget();
        } else {
            self.end();
        }
    }

    /// The method has ended.
    #[cold]
    #[inline(never)]
    pub(crate) fn end(self) {
        self.release(false);
        self.forget();
    }

    /// The table has ended the hold.
    #[inline]
    pub(crate) fn forget(self) {
        std::mem::forget(self);
    }

    fn release(&self, poison: bool) {
        // SAFETY: on the worker of the object (see the type); used at once.
        let cx = unsafe { cx() };
        assert!(cx.hosts(self.name.node()), "a hold stays on its worker");
        Nodes::of(cx).table(self.name.node()).release(self.index(), self.exclusive, poison);
    }
}

impl Drop for Hold {
    #[cold]
    fn drop(&mut self) {
        self.release(self.begun && self.exclusive);
    }
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
