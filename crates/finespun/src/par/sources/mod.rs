//! Sources of parallel iterators: ranges, slices, vectors, and std's collections.
//!
//! Collections without random access are first collected into a vector, of references where they are borrowed.

mod collections;
mod ranges;
mod slices;
mod vectors;

pub use ranges::Range;
pub use slices::{
    Chunks, ChunksExact, ChunksExactMut, ChunksMut, Iter, IterMut, ParallelSlice, ParallelSliceMut, Windows,
};
pub use vectors::IntoIter;
