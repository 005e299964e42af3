//! A trait's tasks are marked together.

use finespun::prelude::*;

trait Shape {
    #[task]
    async fn area(&self) -> u64;
}

fn main() {}
