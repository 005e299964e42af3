//! Signatures that no task can have.

use finespun::prelude::*;

#[task]
fn plain() {}

#[task]
async unsafe fn dangerous() {}

#[task]
async extern "C" fn foreign_code() {}

#[task]
async fn opaque() -> impl Iterator<Item = u64> {
    std::iter::empty()
}

#[task]
async fn main() {}
