//! Tasks: typical user code, waits, panics, destructors, and hostile programs.

#[path = "../common/mod.rs"]
mod common;

mod counting;
mod default;
mod dropping;
mod ending;
mod face;
mod hostile;
mod iterators;
mod large;
mod leaving;
mod lifecycle;
mod locks;
mod long;
mod memory;
mod methods;
mod panics;
mod runtimes;
mod straight;
mod sync;
mod time;
mod trees;
#[cfg(feature = "visits")]
mod visits;
mod waits;
