//! The five programs of the hybrid paper's table 3: plain, in the schemas that the compiler chooses, all pinned, and
//! without guard checks.
//!
//! Each program repeats its runs within one task, so the time excludes starting a run.

use std::hint::black_box;

use finespun_apps::list::{List, Node};
use finespun_apps::nqueens::Rows;
use finespun_apps::qsort::input;

/// The input of the programs.
pub struct Data {
    unsorted: Vec<u64>,
    list: List,
    times: u64,
}

const FIB: u64 = 29;
const QUEENS: u32 = 8;

impl Data {
    /// Creates inputs of the paper's sizes. Each program performs `times` runs.
    pub fn new(times: u64) -> Self {
        Data { unsorted: input(10_000, 1), list: List::build(128), times }
    }

    /// Returns the middle element of the sorted input.
    pub fn middle(&self) -> u64 {
        let mut sorted = self.unsorted.clone();
        sorted.sort_unstable();
        sorted[sorted.len() / 2]
    }
}

/// The columns of the next row that no queen attacks.
struct Columns(u32);

impl Iterator for Columns {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let queen = self.0 & self.0.wrapping_neg();
        self.0 ^= queen;
        (queen != 0).then_some(queen)
    }
}

/// Partitions `v` around its middle element: less elements before it, all others behind it.
#[inline]
fn split(v: &mut [u64]) -> (&mut [u64], &mut [u64]) {
    let last = v.len() - 1;
    v.swap(last / 2, last);
    let mut at = 0;
    for i in 0..last {
        if v[i] < v[last] {
            v.swap(i, at);
            at += 1;
        }
    }
    v.swap(at, last);
    let (left, right) = v.split_at_mut(at);
    (left, &mut right[1..])
}

/// The plain versions.
pub mod plain {
    use super::{Columns, Data, FIB, Node, QUEENS, Rows, black_box, split};

    fn fib(n: u64) -> u64 {
        if n < 2 { n } else { fib(n - 1) + fib(n - 2) }
    }

    fn tak(x: i64, y: i64, z: i64) -> i64 {
        if y >= x { z } else { tak(tak(x - 1, y, z), tak(y - 1, z, x), tak(z - 1, x, y)) }
    }

    fn sort(v: &mut [u64]) {
        if v.len() > 1 {
            let (left, right) = split(v);
            sort(left);
            sort(right);
        }
    }

    fn queens(rows: Rows) -> u64 {
        if rows.complete() { 1 } else { Columns(rows.safe()).map(|queen| queens(rows.place(queen))).sum() }
    }

    fn list(node: Option<&Node>) -> u64 {
        node.map_or(0, |node| node.value() + list(node.next()))
    }

    /// Runs `once` `times` times, and returns the last result.
    fn often(times: u64, mut once: impl FnMut() -> u64) -> u64 {
        (0..times).fold(0, |_, _| black_box(once()))
    }

    pub fn fibs(data: &Data) -> u64 {
        often(data.times, || fib(black_box(FIB)))
    }

    pub fn taks(data: &Data) -> u64 {
        often(data.times, || tak(black_box(18), 12, 6) as u64)
    }

    pub fn sorts(data: &Data) -> u64 {
        let mut sorted = data.unsorted.clone();
        often(data.times, || {
            sorted.copy_from_slice(&data.unsorted);
            sort(&mut sorted);
            sorted[sorted.len() / 2]
        })
    }

    pub fn queenses(data: &Data) -> u64 {
        often(data.times, || queens(Rows::empty(black_box(QUEENS))))
    }

    pub fn lists(data: &Data) -> u64 {
        often(data.times, || list(black_box(data.list.first())))
    }
}

/// Declares the task versions. `$schema` applies to the recursions, `$leaf` to the tasks that await nothing; the loops
/// around them are left to the compiler.
macro_rules! versions {
    ($(#[$doc:meta])* $name:ident, #[$($schema:tt)*], #[$($leaf:tt)*]) => {
        $(#[$doc])*
        pub mod $name {
            use finespun::prelude::*;

            use super::{Columns, Data, FIB, Node, QUEENS, Rows, black_box};

            #[$($leaf)*]
            async fn split(v: &mut [u64]) -> (&mut [u64], &mut [u64]) {
                super::split(v)
            }

            #[$($leaf)*]
            async fn safe(rows: Rows) -> u32 {
                rows.safe()
            }

            #[$($leaf)*]
            async fn value(node: &Node) -> u64 {
                node.value()
            }

            #[$($schema)*]
            async fn fib(n: u64) -> u64 {
                if n < 2 {
                    return n;
                }
                let (a, b) = join!(fib(n - 1), fib(n - 2));
                a + b
            }

            #[$($schema)*]
            async fn tak(x: i64, y: i64, z: i64) -> i64 {
                if y >= x {
                    return z;
                }
                let a: i64 = tak(x - 1, y, z).await;
                let b: i64 = tak(y - 1, z, x).await;
                let c: i64 = tak(z - 1, x, y).await;
                tak(a, b, c).await
            }

            #[$($schema)*]
            async fn sort(v: &mut [u64]) {
                if v.len() < 2 {
                    return;
                }
                let (left, right) = split(v).await;
                join!(sort(left), sort(right));
            }

            #[$($schema)*]
            async fn queens(rows: Rows) -> u64 {
                if rows.complete() {
                    return 1;
                }
                let safe: u32 = safe(rows).await;
                reduce(Columns(safe).map(move |queen| queens(rows.place(queen))), 0, |a: u64, b: u64| a + b).await
            }

            #[$($schema)*]
            async fn list(node: Option<&Node>) -> u64 {
                let Some(node) = node else { return 0 };
                let value: u64 = value(node).await;
                let rest: u64 = list(node.next()).await;
                value + rest
            }

            #[$($schema)*]
            async fn forward(node: Option<&Node>, sum: u64) -> u64 {
                let Some(node) = node else { return sum };
                let value: u64 = value(node).await;
                forward(node.next(), sum + value).await
            }

            #[task]
            pub async fn fibs(data: &Data) -> u64 {
                let mut last: u64 = 0;
                for _ in 0..data.times {
                    last = fib(black_box(FIB)).await;
                }
                last
            }

            #[task]
            pub async fn taks(data: &Data) -> u64 {
                let mut last: i64 = 0;
                for _ in 0..data.times {
                    last = tak(black_box(18), 12, 6).await;
                }
                last as u64
            }

            #[task(pinned)]
            pub async fn sorts(data: &Data) -> u64 {
                let mut sorted = data.unsorted.clone();
                for _ in 0..data.times {
                    sorted.copy_from_slice(&data.unsorted);
                    sort(&mut sorted).await;
                }
                sorted[sorted.len() / 2]
            }

            #[task]
            pub async fn queenses(data: &Data) -> u64 {
                let mut last: u64 = 0;
                for _ in 0..data.times {
                    last = queens(Rows::empty(black_box(QUEENS))).await;
                }
                last
            }

            #[task]
            pub async fn lists(data: &Data) -> u64 {
                let mut last: u64 = 0;
                for _ in 0..data.times {
                    last = list(black_box(data.list.first())).await;
                }
                last
            }

            #[task]
            pub async fn forwards(data: &Data) -> u64 {
                let mut last: u64 = 0;
                for _ in 0..data.times {
                    last = forward(black_box(data.list.first()), 0).await;
                }
                last
            }
        }
    };
}

versions! {
    /// The schemas that the compiler chooses.
    chosen, #[task], #[task]
}

versions! {
    /// The same without the straight schema.
    may_block, #[task], #[task(may_block)]
}

versions! {
    /// All in the pinned schema, our most general one.
    pinned, #[task(pinned)], #[task(pinned)]
}

versions! {
    /// The stack schema without guard checks.
    unchecked, #[task(unchecked)], #[task]
}
