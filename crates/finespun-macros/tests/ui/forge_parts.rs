//! As `forge`: safe code can name no variant of a join's future, cannot take out or replace a field, and has no safe
//! function that makes one.

use finespun::__rt::{JoinAsync2, JoinWait2};
use finespun::prelude::*;

#[task]
async fn one(n: u64) -> u64 {
    n
}

fn begun_by_hand() {
    let _ = JoinAsync2::Start(one(1), one(2));
}

fn begun_again<A: Task, B: Task>(join: &mut JoinAsync2<A, B>, a: A, b: B) {
    join.start = Some((a, b));
}

fn taken_apart<A: Task, B: Task>(join: JoinAsync2<A, B>, wait: JoinWait2<A, B>) {
    let _ = join.wait;
    let _ = wait.a;
}

fn a_join_by_its_function() {
    let _ = finespun::__rt::join_async2(one(1), one(2));
}

fn a_call() {
    let _ = finespun::__rt::call_async(one(1));
}

fn main() {}
