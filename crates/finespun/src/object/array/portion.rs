//! A node's part of an array. It is a hidden object, so that messages can refer to it and a stale reference is an
//! error.

use std::sync::Arc;

use super::super::host::Nodes;
use super::super::reference::{Object, Ref};
use super::super::table::{LockAttempt, Table};
use crate::frame::context::Cx;

/// The elements on one node, in the order of their indices.
pub(super) struct Portion<T> {
    elements: Arc<Elements<T>>,
}

/// References to objects, as runs of objects that are neighbours in memory.
pub(super) struct Elements<T> {
    runs: Vec<Run<T>>,
    len: usize,
}

/// Some elements that lie one behind the other.
struct Run<T> {
    /// The number of elements before the first.
    before: usize,
    first: Ref<T>,
}

impl<T: Object> Elements<T> {
    fn new(elements: &[Ref<T>]) -> Elements<T> {
        let mut runs: Vec<Run<T>> = Vec::new();
        for (before, &first) in elements.iter().enumerate() {
            // SAFETY: the result is only compared.
            let next = before.checked_sub(1).map(|last| unsafe { elements[last].neighbour(1) });
            if next != Some(first) {
                runs.push(Run { before, first });
            }
        }
        Elements { runs, len: elements.len() }
    }

    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Returns an element, and the number of elements from there to the end of its run. `run` is the number of a run that is
    /// not after it, 0 for the first, and becomes that of its own.
    pub(super) fn from(&self, index: usize, run: &mut usize) -> (Ref<T>, usize) {
        loop {
            let end = self.runs.get(*run + 1).map_or(self.len, |next| next.before);
            if index < end {
                let Run { before, first } = self.runs[*run];
                // SAFETY: the run's elements are neighbours, and this is one of them.
                return (unsafe { first.neighbour(index - before) }, end - index);
            }
            *run += 1;
        }
    }
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
        Portion { elements: Arc::new(Elements::new(elements)) }
    }

    /// Returns the elements of a portion of this node, if it exists and has `len` elements.
    pub(super) fn elements(cx: Cx, this: Ref<Portion<T>>, len: usize) -> Option<Arc<Elements<T>>> {
        // SAFETY: a reference to a portion names one.
        let portion = unsafe { table(cx, this).peek::<Portion<T>>(this.name()) }?;
        // SAFETY: no code changes a portion.
        let elements = unsafe { &portion.as_ref().elements };
        (elements.len() == len).then(|| Arc::clone(elements))
    }

    /// Like [`elements`](Portion::elements), but also drops the portion.
    pub(super) fn take(cx: Cx, this: Ref<Portion<T>>, len: usize) -> Option<Arc<Elements<T>>> {
        let elements = Portion::elements(cx, this, len)?;
        let table = table(cx, this);
        let LockAttempt::Held(hold) = table.hold(this.name(), true) else { unreachable!("a portion is never locked") };
        table.destroy(hold);
        Some(elements)
    }
}

fn table<'a, T>(cx: Cx, portion: Ref<Portion<T>>) -> &'a Table {
    Nodes::table_of(cx, portion.name().node())
}
