//! Tasks: typical user code, waits, panics, destructors, and hostile programs.

#[path = "../common/mod.rs"]
mod common;

mod counting;
mod dropping;
mod face;
mod hostile;
mod iterators;
mod large;
mod leaving;
mod locks;
mod long;
mod memory;
mod methods;
mod panics;
mod runtimes;
mod straight;
mod trees;
mod waits;
