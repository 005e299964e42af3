//! I-structures: arrays whose elements are written once, and may be read before they are.
//!
//! An [`IArray`] is spread over the nodes. A get of an element that has not been written waits for it, without blocking
//! a worker. A get of another node's element fetches it, once for all readers at the calling node, or together with its
//! block if the array has a [`Cache`]. Since no element is written twice, a cached element is never wrong: no
//! invalidation is needed. (i-structure-software-cache, section 2.1.)
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

// This file holds the handle. `access` gets and puts elements, `many` gets several at once, `local` reads and fills a
// node's own, `matrix` has two indices, `plain` sends plain data as bytes, `create` makes and frees arrays, `taken` has
// arrays whose elements are taken out and put back, `shape` computes the position of an element, `store` keeps a node's
// own elements, `readers` the tasks that wait, `writers` the source locations of the puts, `remote_reads` caches
// elements of other nodes, `directory` finds them, `auto` decides whether they are cached, by the model in `cost`, the
// measured `request_costs` and the `counts` of reads, and `messages` holds the messages between nodes. The entry that
// every access reads is in `object::array_table`.
//
// How it works.
//
// - *At home* (`istructure/store.rs`), elements written out of order are marked in a bitmap; deferred readers are
//   queued per element: local tasks, and nodes to which the element will be sent.
// - *Elsewhere* (`istructure/remote_reads.rs`), readers wait on their own node and only the first sends a request. With
//   a cache the request is for a block, and the block is allocated before the request is sent, so later readers of the
//   block send nothing. The home replies with the written elements and forwards the others when they are written. Nodes
//   of one worker are answered without a message unless messages travel as bytes. With a block layout and blocks of 8
//   elements or more, a directory (`istructure/directory.rs`, one word per 8 indices) finds full blocks without a call
//   (17 instructions over a slice). Elements never change, so the cache may drop any full block (the oldest first) and
//   never invalidates.
// - *Automatic caching* (`istructure/auto.rs`, `Cache::Auto`): each node compares, by equation 1, the time saved by
//   hits with the extra cost of block requests. Costs are measured once per process on its first requests. Directory
//   hits are too cheap to count, so one block at a time stays out of the directory as a sample. A request fetches 1 to
//   64 lines of 8 elements.
// - *Plain data* (`istructure/plain.rs`): numbers, and types that the program declares plain (`Creating::plain`, proved
//   by `zerocopy`'s traits), travel as their bytes in memory; all other types travel by serde.
// - *Closures* never wait: `IArray::send` fills a hole at once if the element is at this node, and else by a task.
// - *Bulk access* (`istructure/many.rs`): all waits begin before the task suspends; consecutive elements are one
//   request. A node's own elements are a slice (`istructure/local.rs`), which keeps them alive if the array is freed.
// - *Matrices* (`istructure/matrix.rs`) are arrays with two indices; each tile is contiguous, and each node has a run
//   of tiles.
// - *M-structures* (`istructure/taken.rs`): every access of an `MArray` is work at the element's home. A put value goes
//   to the first waiting taker that has not been cancelled.
// - *Cost model* (`istructure/cost.rs`): equation 1, from which message overhead on a cache pays. *Counts*
//   (`istructure/counts.rs`): arrays that count their reads show no elements in their record, so every access takes the
//   slow path; other arrays pay nothing.
// - *Errors* name the element, the array by its creation site, and both sites of a second put. Writers are kept as
//   runs, which takes little memory for loops; where it would take much, the possible sites are named.
//
// Only the node's worker touches this data, without locks. Each reader gets its own `Clone`; a panicking clone ends
// that reader's wait only, or, while elements are copied for another node, the waits there for that element.

mod access;
mod auto;
pub mod cost;
mod counts;
mod create;
mod directory;
mod local;
mod many;
mod matrix;
mod messages;
mod plain;
mod readers;
mod remote_reads;
mod request_costs;
mod shape;
mod store;
mod taken;
mod writers;

use std::any::{TypeId, type_name};
use std::collections::HashMap;
use std::fmt;
use std::marker::PhantomData;
use std::ops::Range;
use std::panic::Location;
use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::closure::Cont;
use crate::frame::{CallSite, Payload};
use crate::object::Portable;
use crate::object::array_table::{self, ArrayTable};
use crate::process::ProcessMutex;
use crate::run::continuation::travel::Word;
use create::Settings;
use plain::Encoding;
use store::Store;

pub use access::{Get, Put};
pub use counts::{Counting, Counts};
pub use create::{Creating, Freeing};
pub use local::{Fill, Local};
pub use many::{Freeze, GetMany};
pub use matrix::{CreatingMatrix, IMatrix, RowOrColumn};
pub use plain::PlainData;
pub use remote_reads::Cache;
pub use taken::{MArray, PutBack, Take};

/// An array whose elements are written once, spread over the nodes. A handle, which can be copied, sent and kept in
/// objects: the array lives until it is [freed](IArray::free), or its runtime ends.
pub struct IArray<T> {
    word: u64,
    of: PhantomData<fn(T) -> T>,
}

/// An array that this process knows.
struct Known {
    /// The type of the handle.
    of: TypeId,
    len: usize,
    /// The number of nodes' parts in this process.
    parts: usize,
    freed: bool,
}

/// This process's arrays, by their words. A handle that arrives as bytes is looked up here. An array is known as long as
/// any part of it exists, so that no part of another type gets the same word.
static ARRAYS: ProcessMutex<Option<HashMap<u64, Known>>> = ProcessMutex::new(None);

/// Records a part of an array. Returns false if this process knows another array by this word.
fn remember<T: 'static>(word: u64, len: usize) -> bool {
    let of = TypeId::of::<T>();
    let mut arrays = ARRAYS.lock();
    let known = arrays.get_or_insert_default().entry(word).or_insert(Known { of, len, parts: 0, freed: false });
    let same = known.of == of && known.len == len && !known.freed;
    known.parts += usize::from(same);
    same
}

fn recall(word: u64) -> Option<(TypeId, usize)> {
    ARRAYS.lock().as_ref()?.get(&word).filter(|known| !known.freed).map(|known| (known.of, known.len))
}

/// Ends the name of an array that has been freed.
fn forget(word: u64) {
    if let Some(known) = ARRAYS.lock().as_mut().and_then(|arrays| arrays.get_mut(&word)) {
        known.freed = true;
    }
}

/// Records that a part has been dropped.
fn forget_part(word: u64) {
    let mut arrays = ARRAYS.lock();
    let Some(arrays) = arrays.as_mut() else { return };
    if let Some(known) = arrays.get_mut(&word) {
        known.parts -= 1;
        if known.parts == 0 {
            arrays.remove(&word);
        }
    }
}

impl<T> IArray<T> {
    /// Returns the number of elements.
    ///
    /// # Panics
    /// If the array has been freed.
    fn known_len(self, what: &str, place: CallSite) -> usize {
        recall(self.word).map_or_else(|| self.stale_handle(what, place), |(_, len)| len)
    }
}

impl<T: Portable + Clone> IArray<T> {
    /// Makes an array of `len` elements, the `i`th on node `layout(i)`. The usual layouts are in
    /// [`layout`](crate::layout): [`layout::block`](crate::layout::block), for example.
    ///
    /// Calls the layout once for each index, and again if the nodes do not come in order. If each node has a single
    /// range of consecutive indices, gets and puts at home take a few instructions, and so do gets of cached elements.
    /// A layout that is neither of this kind nor block-cyclic takes 12 bytes for each element and node.
    ///
    /// # Panics
    /// If the layout names a node that does not exist, or 4096 arrays exist already.
    #[track_caller]
    pub fn create(len: usize, layout: impl Fn(usize) -> usize) -> Creating<IArray<T>> {
        Creating::new(len, layout, Location::caller())
    }

    /// Delivers the element at `index`, when it has been written.
    ///
    /// At the element's home a get is a load, if the element has been written. At another node the first get of an
    /// element (or of its block, with a cache) costs a request and its answer.
    ///
    /// # Panics
    /// If `index` is out of range, the array has been freed, or is freed while the task waits.
    #[inline(always)]
    #[track_caller]
    pub fn get(self, index: usize) -> Get<T> {
        Get::new(self, index, Location::caller())
    }

    /// Writes the element at `index`, at its home, and resumes its readers.
    ///
    /// # Panics
    /// If `index` is out of range, the element has been written before, or the array has been freed.
    #[inline(always)]
    #[track_caller]
    pub fn put(self, index: usize, value: T) -> Put<T> {
        Put::new(self, index, value, Location::caller())
    }

    /// Sends the element at `index` to a closure that misses it, when it has been written: a get for a thread, which
    /// cannot wait.
    ///
    /// The element is sent at once if it is present at this node, else by a task of the run. A thread puts by a task,
    /// too: `drop(spawn(array.put(index, value)))`.
    ///
    /// ```
    /// use finespun::closure::{Cont, make_closure, post, send_argument, thread, top};
    /// use finespun::istructure::IArray;
    /// use finespun::layout;
    /// use finespun::prelude::*;
    ///
    /// /// Puts the sum of two elements of the first array into the second.
    /// #[thread]
    /// fn add(done: Cont<()>, to: IArray<u64>, index: usize, left: u64, right: u64) {
    ///     drop(spawn(to.put(index, left + right)));
    ///     send_argument((), done);
    /// }
    ///
    /// #[task]
    /// async fn pairs(len: usize) -> Vec<u64> {
    ///     let from = IArray::create(2 * len, layout::cyclic(nodes())).await;
    ///     let to = IArray::create(len, layout::cyclic(nodes())).await;
    ///     for index in 0..len {
    ///         top(|done| {
    ///             let sum = make_closure!(add, done, to, index, _, _);
    ///             from.send(2 * index, sum.left);
    ///             from.send(2 * index + 1, sum.right);
    ///             // They may be written when they are waited for already.
    ///             drop(spawn(from.put(2 * index + 1, 1)));
    ///             drop(spawn(from.put(2 * index, index as u64)));
    ///         })
    ///         .await;
    ///     }
    ///     to.get_range(0..len).await
    /// }
    /// # let runtime = Runtime::builder().workers(1).nodes(2).build().unwrap();
    /// assert_eq!(runtime.run(pairs(3)), [1, 2, 3]);
    /// ```
    ///
    /// # Panics
    /// Outside a task or thread, and if `index` is out of range. If the array has been freed, or is freed before the
    /// element is sent, the run ends with that panic.
    #[track_caller]
    pub fn send(self, index: usize, to: Cont<T>) {
        access::send(self, index, to, Location::caller());
    }

    /// Delivers the elements at these indices, in their order, when they have been written.
    ///
    /// All waits begin before the task suspends, and it resumes once. Without a cache, consecutive elements of a node
    /// are requested by one message.
    ///
    /// ```
    /// # use finespun::istructure::IArray;
    /// # use finespun::layout;
    /// # use finespun::prelude::*;
    /// #[task]
    /// async fn corners(grid: IArray<u64>, side: usize) -> Vec<u64> {
    ///     grid.get_many([0, side - 1, side * (side - 1), side * side - 1]).await
    /// }
    ///
    /// #[task]
    /// async fn squares(side: usize) -> Vec<u64> {
    ///     let grid = IArray::create(side * side, layout::block(side * side, nodes())).await;
    ///     for index in 0..side * side {
    ///         grid.put(index, (index * index) as u64).await;
    ///     }
    ///     corners(grid, side).await
    /// }
    /// # let runtime = Runtime::builder().workers(1).nodes(3).build().unwrap();
    /// assert_eq!(runtime.run(squares(3)), [0, 4, 36, 64]);
    /// ```
    ///
    /// # Panics
    /// As [`get`](IArray::get), after the waits for the other elements have ended.
    #[track_caller]
    pub fn get_many<I: IntoIterator<Item = usize>>(self, indices: I) -> GetMany<T, I::IntoIter> {
        GetMany::new(self, indices.into_iter(), Location::caller())
    }

    /// Delivers the elements of a range: like [`get_many`](IArray::get_many).
    ///
    /// # Panics
    /// As [`get`](IArray::get), after the waits for the other elements have ended.
    #[track_caller]
    pub fn get_range(self, indices: Range<usize>) -> GetMany<T, Range<usize>> {
        GetMany::new(self, indices, Location::caller())
    }

    /// Returns the elements of the node that this code runs at, as far as they have been written in the order of their
    /// indices: a slice, which costs nothing to read. It cannot be kept across an await.
    ///
    /// For methods of objects, which stay at their node, and for tasks sent to a node, until they suspend: afterwards
    /// they may resume at another node. Empty in a floating task on a worker that has no node.
    ///
    /// ```
    /// # use finespun::istructure::IArray;
    /// # use finespun::prelude::*;
    /// # use finespun::{everywhere, layout};
    /// #[task]
    /// async fn fill_here(all: IArray<u64>) {
    ///     all.fill(|index| index as u64).await;
    /// }
    ///
    /// #[task]
    /// async fn sum_here(all: IArray<u64>) -> u64 {
    ///     all.local().iter().sum()
    /// }
    ///
    /// #[task]
    /// async fn partial_sums(len: usize) -> Vec<u64> {
    ///     let all = IArray::create(len, layout::block(len, nodes())).await;
    ///     everywhere(fill_here, all).await;
    ///     everywhere(sum_here, all).await
    /// }
    /// # let runtime = Runtime::builder().workers(1).nodes(3).build().unwrap();
    /// assert_eq!(runtime.run(partial_sums(6)), [0 + 1, 2 + 3, 4 + 5]);
    /// ```
    ///
    /// # Panics
    /// Outside a task, and if the array has been freed.
    #[track_caller]
    pub fn local(self) -> Local<T> {
        self.local_at(Location::caller())
    }

    /// Writes all elements of the node that this code runs at: `value(index)`, in the order of their indices. To fill
    /// every node's elements at that node, see [`everywhere`](crate::everywhere), and the example above.
    ///
    /// # Panics
    /// As [`put`](IArray::put); with a panic of `value`.
    #[track_caller]
    pub fn fill<F: FnMut(usize) -> T + Send>(self, value: F) -> Fill<T, F> {
        Fill::new(self, value, Location::caller())
    }

    /// Delivers a copy of all elements, when they have been written. The copy can be read without a runtime.
    ///
    /// # Panics
    /// If the array has been freed, or is freed while the task waits.
    #[track_caller]
    pub fn freeze(self) -> Freeze<T>
    where
        T: Sync,
    {
        Freeze::new(self, Location::caller())
    }

    /// Delivers each node's counts of the array's reads, if it was made [`counted`](Creating::counted); else zeros.
    ///
    /// # Panics
    /// If the array has been freed.
    #[track_caller]
    pub fn counts(self) -> Counting<T> {
        Counting::new(self, Location::caller())
    }

    /// Frees the array on all nodes. Tasks that wait for an element panic.
    ///
    /// # Panics
    /// If the array has been freed already.
    #[track_caller]
    pub fn free(self) -> Freeing<IArray<T>> {
        Freeing::new(self, self.word, Location::caller())
    }
}

impl<T: 'static> create::Creates for IArray<T> {
    type Handle = IArray<T>;
}

impl<T: Portable + Clone> create::Kind for IArray<T> {
    type Element = T;

    fn name() -> String {
        format!("IArray<{}>", type_name::<T>())
    }

    fn of(word: u64) -> IArray<T> {
        IArray::of(word)
    }

    fn add(word: u64, settings: Settings, node: u32, arrays: &ArrayTable) -> Result<(), Payload> {
        add::<T>(word, settings, node, arrays, Encoding::of_numbers())
    }
}

/// Adds an array to a node. `plain` is the encoding of its elements, if they are plain data.
fn add<T: Portable + Clone>(
    word: u64,
    settings: Settings,
    node: u32,
    arrays: &ArrayTable,
    plain: Option<Encoding<T>>,
) -> Result<(), Payload> {
    let store = Rc::new(Store::<T>::new(word, settings, node as usize, plain)?);
    let entry = arrays.add(word, Rc::clone(&store) as _);
    store.show(entry);
    Ok(())
}

/// The operations that the handles of all kinds of arrays share.
macro_rules! handle {
    ($name:ident) => {
        impl<T> $name<T> {
            fn of(word: u64) -> $name<T> {
                $name { word, of: PhantomData }
            }

            /// Returns the number of elements, written or not; 0 if the array has been freed. Takes a lock.
            pub fn len(self) -> usize {
                recall(self.word).map_or(0, |(_, len)| len)
            }

            /// Returns true if the array has no elements.
            pub fn is_empty(self) -> bool {
                self.len() == 0
            }
        }

        impl<T> Clone for $name<T> {
            fn clone(&self) -> $name<T> {
                *self
            }
        }

        impl<T> Copy for $name<T> {}

        impl<T> PartialEq for $name<T> {
            fn eq(&self, other: &$name<T>) -> bool {
                self.word == other.word
            }
        }

        impl<T> Eq for $name<T> {}

        impl<T> fmt::Debug for $name<T> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                write!(f, concat!(stringify!($name), "<{}>({:#x})"), type_name::<T>(), self.word)
            }
        }

        impl<T> Serialize for $name<T> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                Word(self.word).serialize(serializer)
            }
        }

        impl<'de, T: 'static> Deserialize<'de> for $name<T> {
            fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<$name<T>, D::Error> {
                let Word(word) = Word::deserialize(deserializer)?;
                match recall(word) {
                    Some((of, _)) if of == TypeId::of::<$name<T>>() => Ok($name::of(word)),
                    Some(_) => Err(de::Error::custom("this names an array of another type")),
                    // The array has been freed, or never existed.
                    None => Ok($name::of(array_table::NO_ARRAY)),
                }
            }
        }
    };
}

handle!(IArray);
handle!(MArray);
