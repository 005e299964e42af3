//! Joins with too few or too many branches, and outside of tasks.

use finespun::prelude::*;

#[task]
async fn one(n: u64) -> u64 {
    n
}

#[task]
async fn of_one() {
    join!(one(1));
}

#[task]
async fn of_thirteen() {
    join!(
        one(1), one(2), one(3), one(4), one(5), one(6), one(7), one(8), one(9), one(10), one(11), one(12), one(13)
    );
}

fn outside() {
    join!(one(1), one(2));
}

fn main() {}
