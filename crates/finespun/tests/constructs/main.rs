//! Groups of activities, and closures by hand.

#[path = "../common/mod.rs"]
mod common;

mod closures;
mod groups;
mod payloads;
