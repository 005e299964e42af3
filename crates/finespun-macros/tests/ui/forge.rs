//! Safe code cannot make values that generated code makes by `unsafe` functions: the future of a join, which it could
//! poll and forget while a suspended task borrows from its locals. (rustc checks the privacy of fields last: see also
//! `forge_parts`.)

use finespun::__rt::JoinAsync2;
use finespun::prelude::*;

#[task]
async fn one(n: u64) -> u64 {
    n
}

fn a_join() {
    let _ = JoinAsync2 { start: Some((one(1), one(2))), wait: None };
}

fn main() {}
