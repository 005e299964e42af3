//! The tasks that wait for an element, and their resumption.

use std::collections::HashMap;
use std::iter;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::slice;

use crate::frame::origin::pack;
use crate::frame::{drop_quietly, quietly};
use crate::run::continuation::Continuation;

/// A map by index. The keys come from the program itself, so the hash need not resist chosen collisions.
pub(super) type Map<K, V> = HashMap<K, V, foldhash::fast::FixedState>;

/// The tasks that wait for an element: most often one, which needs no allocation.
pub(super) enum Readers<T> {
    Nobody,
    One(Continuation<T>),
    Many(Vec<Continuation<T>>),
}

impl<T> Readers<T> {
    /// Adds a reader. Cancelled readers are removed whenever the vector is full.
    pub(super) fn add(&mut self, k: Continuation<T>) {
        *self = match std::mem::replace(self, Readers::Nobody) {
            Readers::Nobody => Readers::One(k),
            Readers::One(other) => Readers::Many(vec![other, k]),
            Readers::Many(mut all) => {
                if all.len() == all.capacity() {
                    all.retain(|k| !k.is_cancelled());
                }
                all.push(k);
                Readers::Many(all)
            }
        };
    }

    pub(super) fn as_slice(&self) -> &[Continuation<T>] {
        match self {
            Readers::Nobody => &[],
            Readers::One(k) => slice::from_ref(k),
            Readers::Many(all) => all,
        }
    }
}

impl<T> IntoIterator for Readers<T> {
    type Item = Continuation<T>;
    type IntoIter = iter::Chain<std::option::IntoIter<Continuation<T>>, std::vec::IntoIter<Continuation<T>>>;

    fn into_iter(self) -> Self::IntoIter {
        let (one, many) = match self {
            Readers::Nobody => (None, Vec::new()),
            Readers::One(k) => (Some(k), Vec::new()),
            Readers::Many(all) => (None, all),
        };
        one.into_iter().chain(many)
    }
}

/// Resumes all readers with a value that the cache does not keep.
pub(super) fn serve_last<T: Clone + Send>(readers: Readers<T>, value: T) {
    match readers {
        Readers::One(k) => quietly(|| k.end(Ok(value))),
        readers => {
            readers.into_iter().for_each(|k| serve(k, &value));
            drop_quietly(value);
        }
    }
}

/// Resumes a reader with a copy of `value`, or with the panic of making the copy.
pub(super) fn serve<T: Clone + Send>(k: Continuation<T>, value: &T) {
    let copy = catch_unwind(AssertUnwindSafe(|| value.clone()));
    quietly(|| k.end(copy.map_err(pack)));
}
