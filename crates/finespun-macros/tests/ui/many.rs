//! A loop over tasks passes only `Send` values to other workers: its tasks, their values, the iterator, the operator
//! and the accumulator. Outside of tasks, where only the bounds of `join_all` and `reduce` require it.

use std::rc::Rc;

use finespun::prelude::*;

#[task]
async fn one(n: u64) -> u64 {
    n
}

fn tasks<Tk: Task<Output: Send>>(make: impl Fn(u64) -> Tk + Send) {
    let _ = join_all((0..3).map(make));
}

fn folded_tasks<Tk: Task<Output = u64>>(make: impl Fn(u64) -> Tk + Send) {
    let _ = reduce((0..3).map(make), 0, |a, b| a + b);
}

fn values<Tk: Task + Send>(make: impl Fn(u64) -> Tk + Send) {
    let _ = join_all((0..3).map(make));
}

fn iterator(base: Rc<u64>) {
    let _ = join_all((0..3).map(move |n| one(n + *base)));
}

fn folded_iterator(base: Rc<u64>) {
    let _ = reduce((0..3).map(move |n| one(n + *base)), 0, |a, b| a + b);
}

fn operator(base: Rc<u64>) {
    let _ = reduce((0..3).map(one), 0, move |a, b| a + b + *base);
}

fn folded_into() {
    let _ = reduce((0..3).map(one), Rc::new(0_u64), |a, b| Rc::new(*a + b));
}

fn main() {}
