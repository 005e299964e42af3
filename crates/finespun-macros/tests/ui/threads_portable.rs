//! Portable threads whose arguments do not travel.

use std::sync::Arc;

use finespun::closure::{Cont, thread};

#[thread(portable)]
fn keeps_an_address(_parent: Cont<u64>, _shared: Arc<u64>) {}

#[thread(portable)]
fn borrows_for_ever(_parent: Cont<u64>, _name: &'static str) {}

fn main() {}
