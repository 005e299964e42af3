//! Adaptors of parallel iterators: descriptions of work on the items of a base.
//!
//! An adaptor turns a part of its base, a sequential iterator, into a part of its own, by std's adaptor of the same name where
//! one exists. [`items`] has those that work on one item after the other, [`positions`] those that need to know the
//! position of an item, and [`folds`] those with a value for each leaf.

mod folds;
mod items;
mod positions;

pub use folds::{Fold, FoldWith, MapInit, MapWith};
pub use items::{Cloned, Copied, Filter, FilterMap, FlatMapIter, FlattenIter, Inspect, Map, Update};
pub use positions::{Chain, Chunks, Enumerate, MaxLen, MinLen, Rev, Skip, StepBy, Take, Zip};
