//! A trait implementation's tasks are marked together: a single one could be mistaken for an inherent method.

use finespun::prelude::*;

#[task]
trait Shape {
    async fn area(&self) -> u64;
}

struct Square(u64);

impl Square {
    #[task]
    async fn area(&self) -> u64 {
        self.0
    }
}

impl Shape for Square {
    #[task]
    async fn area(&self) -> u64 {
        self.0 * self.0
    }
}

fn main() {}
