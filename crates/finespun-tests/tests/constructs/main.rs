//! Groups of activities, and closures made by hand.

#[path = "../common/mod.rs"]
mod common;

mod closures;
mod groups;
mod payloads;
