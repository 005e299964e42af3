//! The consumers of parallel iterators: the work of an end on each leaf, and on two neighbours.
//!
//! [`values`] combines items into one value; [`search`] may stop early; [`mod@collect`] makes a collection, by its own consumer; [`exact`] writes a vector in place; [`gather`] collects
//! other collections; [`fallible`] collects into `Result` and `Option`.

mod collect;
mod exact;
mod fallible;
mod gather;
mod search;
mod values;

pub use collect::Collect;
pub use exact::Into;
pub use gather::{Extended, Gather, Partition, Unzip};
pub use search::{All, Any, FindAny, FindFirst, Try, TryForEach, TryReduce};
pub use values::{Best, BestByKey, Count, Extreme, ForEach, Products, Reduce, ReduceWith, Sums};
