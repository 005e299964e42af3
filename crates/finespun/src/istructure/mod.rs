//! I-structures: arrays whose elements are written once, and may be read before they are.
//!
//! An [`IArray`] is spread over the nodes. To get an element that has not been written yet waits for it, without holding a
//! worker; to get one of another node fetches it, once for all who ask there, or with its block if the array has a
//! [`Cache`]. Since nothing is written twice, what is kept is never wrong: there is no invalidation.
//! (i-structure-software-cache, section 2.1.)
//!
//! ```
//! use finespun::istructure::IArray;
//! use finespun::layout;
//! use finespun::prelude::*;
//!
//! /// Each element needs two others, which may live elsewhere, and may be computed later.
//! #[task]
//! async fn compute(all: IArray<u64>, index: usize) {
//!     let value = match index {
//!         0 | 1 => 1,
//!         _ => all.get(index - 1).await + all.get(index - 2).await,
//!     };
//!     all.put(index, value).await;
//! }
//!
//! #[task]
//! async fn fibonacci(len: usize) -> u64 {
//!     let all = IArray::create(len, layout::cyclic(nodes())).await;
//!     parfor(0..len, |index| compute(all, len - 1 - index)).await;
//!     let last = all.get(len - 1).await;
//!     all.free().await;
//!     last
//! }
//! # let runtime = Runtime::builder().workers(1).nodes(3).build().unwrap();
//! assert_eq!(runtime.run(fibonacci(50)), 12_586_269_025);
//! ```

// This file has the handle. `access` gets and puts elements, `create` makes and frees arrays, `shape` computes where an element
// is, `store` keeps a node's own elements and who waits for them, `lines` keeps those of other nodes, `messages` has what nodes
// send each other. The line of memory that every access reads is `object::seats`.

mod access;
mod create;
mod lines;
mod messages;
mod shape;
mod store;

use std::any::TypeId;
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::panic::Location;
use std::sync::Mutex;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::atomics::lock_std as lock;
use crate::object::{Portable, seats};

pub use access::{Get, Put};
pub use create::{Creating, Freeing};
pub use lines::Cache;

/// An array whose elements are written once, spread over the nodes. A handle, which can be copied, sent and kept in objects:
/// the array lives until it is [freed](IArray::free), or its runtime ends.
pub struct IArray<T> {
    word: u64,
    of: PhantomData<fn(T) -> T>,
}

/// The types of the elements of this process's arrays, by their words: what has been sent as bytes is looked up here.
static TYPES: Mutex<Option<HashMap<u64, TypeId>>> = Mutex::new(None);

fn remember<T: 'static>(word: u64) {
    lock(&TYPES).get_or_insert_default().insert(word, TypeId::of::<T>());
}

fn forget(word: u64) {
    lock(&TYPES).as_mut().map(|types| types.remove(&word));
}

impl<T> IArray<T> {
    fn of(word: u64) -> IArray<T> {
        IArray { word, of: PhantomData }
    }
}

impl<T: Portable + Clone> IArray<T> {
    /// Makes an array of `len` elements, the `i`th on node `layout(i)`. The usual layouts are in [`layout`](crate::layout):
    /// with [`layout::block`](crate::layout::block), gets and puts at home are a few instructions.
    ///
    /// Asks the layout twice for each index. One that is neither block nor block-cyclic takes 8 bytes for each element
    /// and node.
    ///
    /// # Panics
    /// If the layout names a node that does not exist, or there are 4096 arrays already.
    #[track_caller]
    pub fn create(len: usize, layout: impl Fn(usize) -> usize) -> Creating<T> {
        Creating::new(len, layout, Location::caller())
    }

    /// Delivers the element at `index`, when it has been written.
    ///
    /// At the element's home a load, if it has been written; elsewhere the first get of an element (or of its block, if there
    /// is a cache) costs a request and its answer.
    ///
    /// # Panics
    /// If there is no such element, the array has been freed, or is while the task waits.
    #[inline(always)]
    #[track_caller]
    pub fn get(self, index: usize) -> Get<T> {
        Get::new(self, index, Location::caller())
    }

    /// Writes the element at `index`, at its home, and wakes who waits for it.
    ///
    /// # Panics
    /// If there is no such element, it has been put before, or the array has been freed.
    #[inline(always)]
    #[track_caller]
    pub fn put(self, index: usize, value: T) -> Put<T> {
        Put::new(self, index, value, Location::caller())
    }

    /// Frees the array on all nodes. Tasks that wait for an element panic.
    ///
    /// # Panics
    /// If it has been freed already.
    #[track_caller]
    pub fn free(self) -> Freeing<T> {
        Freeing::new(self, Location::caller())
    }
}

impl<T> Clone for IArray<T> {
    fn clone(&self) -> IArray<T> {
        *self
    }
}

impl<T> Copy for IArray<T> {}

impl<T> PartialEq for IArray<T> {
    fn eq(&self, other: &IArray<T>) -> bool {
        self.word == other.word
    }
}

impl<T> Eq for IArray<T> {}

impl<T> fmt::Debug for IArray<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "IArray<{}>({:#x})", std::any::type_name::<T>(), self.word)
    }
}

impl<T> Serialize for IArray<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_u64(self.word)
    }
}

impl<'de, T: 'static> Deserialize<'de> for IArray<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<IArray<T>, D::Error> {
        let word = u64::deserialize(deserializer)?;
        match lock(&TYPES).as_ref().and_then(|types| types.get(&word)) {
            Some(of) if *of == TypeId::of::<T>() => Ok(IArray::of(word)),
            Some(_) => Err(de::Error::custom("this names an array of another type")),
            // Freed, or never made.
            None => Ok(IArray::of(seats::NO_ARRAY)),
        }
    }
}
