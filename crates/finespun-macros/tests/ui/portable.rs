//! Portable tasks: what cannot travel is refused, with the cure.

use finespun::prelude::*;

struct Local(u8);

#[task(portable)]
async fn changes(count: &mut u64) {
    *count += 1;
}

#[task(portable)]
async fn borrows(names: Vec<&str>) -> usize {
    names.len()
}

#[task(portable, portable)]
async fn twice() {}

#[task(pinned, stack)]
async fn both() {}

#[task(portable)]
async fn stays(it: &Local) -> bool {
    it.0 > 1
}

struct Object(u8);

impl Object {
    #[task(portable)]
    async fn method(&self) -> u8 {
        self.0
    }
}

fn main() {}
