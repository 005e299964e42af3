//! A node's part of an array. It is a hidden object, so that messages can refer to it and a stale reference is an
//! error.

use std::sync::Arc;

use super::super::host::Nodes;
use super::super::reference::{Object, Ref};
use super::super::table::{LockAttempt, Table};
use crate::frame::context::Cx;

/// The elements on one node, in the order of their indices.
pub(super) struct Portion<T> {
    elements: Arc<[Ref<T>]>,
}

/// The methods of a portion: none.
#[repr(transparent)]
pub struct NoMethods<T>(Ref<T>);

// SAFETY: `NoMethods` is a transparent struct of a reference.
unsafe impl<T: Object> Object for Portion<T> {
    type Methods = NoMethods<Portion<T>>;
    const NAME: &'static str = "Array";
    const READERS_FIRST: bool = false;
    type Constants = ();
    fn constants(&self) {}
}

impl<T: Object> Portion<T> {
    pub(super) fn new(elements: &[Ref<T>]) -> Portion<T> {
        Portion { elements: elements.into() }
    }

    /// Returns the elements of a portion of this node, if it exists and has `len` elements.
    pub(super) fn elements(cx: Cx, this: Ref<Portion<T>>, len: usize) -> Option<Arc<[Ref<T>]>> {
        let portion = table(cx, this).peek(this.name())?;
        // SAFETY: a reference to a portion names a `Portion<T>`, which no code changes.
        let elements = unsafe { &portion.cast::<Portion<T>>().as_ref().elements };
        (elements.len() == len).then(|| Arc::clone(elements))
    }

    /// Like [`elements`](Portion::elements), but also drops the portion.
    pub(super) fn take(cx: Cx, this: Ref<Portion<T>>, len: usize) -> Option<Arc<[Ref<T>]>> {
        let elements = Portion::elements(cx, this, len)?;
        let table = table(cx, this);
        let LockAttempt::Held(hold) = table.hold(this.name(), true) else { unreachable!("a portion is never locked") };
        let (class, portion) = table.remove(hold);
        // SAFETY: the object is of this class, and the table has given it up.
        unsafe { class.destroy(portion) };
        Some(elements)
    }
}

fn table<'a, T>(cx: Cx, portion: Ref<Portion<T>>) -> &'a Table {
    Nodes::of(cx).table(portion.name().node())
}
