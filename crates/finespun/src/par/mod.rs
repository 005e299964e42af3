//! Data parallelism with plain closures: parallel iterators and sorts.
//!
//! Names and meanings are rayon's, with one difference: an end (`sum`, `collect`, `par_sort`, ..) returns a task. In a
//! `#[task]` it is awaited, joined or spawned; elsewhere [`Runtime::run`](crate::Runtime::run) runs it.
//!
//! ```
//! use finespun::par::prelude::*;
//! use finespun::prelude::*;
//!
//! #[task]
//! async fn squares(n: u64) -> (Vec<u64>, u64) {
//!     let squares: Vec<u64> = (0..n).into_par_iter().map(|k| k * k).collect().await;
//!     let (largest, sum) = join!(squares.par_iter().max(), squares.par_iter().sum());
//!     assert!(largest <= Some(&sum));
//!     (squares, sum)
//! }
//! # let runtime = Runtime::builder().workers(2).build().unwrap();
//! assert_eq!(runtime.run(squares(4)), (vec![0, 1, 4, 9], 14));
//! ```
//!
//! # Shape
//!
//! The items are cut into up to 512 *leaves* of equal length, each a sequential loop, and into more of them if they would have more
//! than 4096 items; up to 128 items are a leaf each ([`with_min_len`](IndexedParallelIterator::with_min_len) and
//! [`with_max_len`](IndexedParallelIterator::with_max_len) change that). Folds have 64 leaves, or 32 if their values own memory.
//! A binary recursion runs them. Its shape depends on the number of items only, so a result, even a floating-point sum, is the
//! same on any number of workers. A leaf costs a few nanoseconds more than its loop; thieves take the largest part that has not
//! begun.
//!
//! # Panics, cancellation
//!
//! A panic in a closure reaches the awaiting task after all leaves that had begun have ended; of several the first in order wins.
//! Between leaves, a traversal gives way to other tasks, and ends if its run is cancelled. Items that were not consumed are
//! dropped, each once.
//!
//! # Parts
//!
//! `iterator` and `indexed` are the traits; `sources` makes iterators of ranges, slices and collections; `adaptors` change
//! items; `ends` are the consumers, `traversal` is the recursion, and `sort` has the sorts. An iterator is a range of indices, and each
//! part of the range can be iterated over by std's iterators: only numbers are split. The modules use tasks as a program does;
//! no other module of the library uses them.

mod adaptors;
mod consumer;
mod convert;
mod ends;
mod indexed;
mod iterator;
mod sort;
mod sources;
mod traversal;

pub use consumer::{Consumer, Leaf};
pub use convert::{
    FromParallelIterator, IntoParallelIterator, IntoParallelRefIterator, IntoParallelRefMutIterator, ParallelExtend,
};
pub use ends::{Gather, Try};
pub use indexed::IndexedParallelIterator;
pub use iterator::ParallelIterator;
pub use sources::{ParallelSlice, ParallelSliceMut};
pub use traversal::ParallelTask;

/// The types of sources and adaptors, where they must be named.
pub mod iter {
    pub use super::adaptors::{
        Chain, Chunks, Cloned, Copied, Enumerate, Filter, FilterMap, FlatMapIter, FlattenIter, Fold, FoldWith, Inspect,
        Map, MapInit, MapWith, MaxLen, MinLen, Rev, Skip, StepBy, Take, Update, Zip,
    };
    pub use super::sources::{IntoIter, Iter, IterMut, Range};
}

/// Parts of slices, where their types must be named.
pub mod slice {
    pub use super::sources::{Chunks, ChunksExact, ChunksExactMut, ChunksMut, Windows};
}

/// The traits that most programs import.
pub mod prelude {
    pub use super::{
        FromParallelIterator, IndexedParallelIterator, IntoParallelIterator, IntoParallelRefIterator,
        IntoParallelRefMutIterator, ParallelExtend, ParallelIterator, ParallelSlice, ParallelSliceMut,
    };
}
