//! chili: binary `join` on a scope; a loop halves its range until one item is left.

use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::AtomicU64;

use ::chili::{Config, Scope, ThreadPool};

use super::Column;
use crate::kernel::cilksort::{self, Merge, quarters, sort_short};
use crate::kernel::dfs::{self, Dfs};
use crate::kernel::knapsack::Item;
use crate::kernel::matmul::{TILE, multiply_tile, quadrants, quadrants_mut};
use crate::kernel::queens::Board;
use crate::kernel::skynet::FAN_OUT;
use crate::kernel::strassen::{combine, left_sums, products, right_sums};
use crate::kernel::{looped, pi, tree, uts};

/// A thread pool; the calling thread is one of its workers.
pub struct Chili {
    pool: ThreadPool,
}

impl Chili {
    /// Starts the threads. Their stacks are the standard library's default size,
    /// which the driver raises through `RUST_MIN_STACK`.
    pub fn start(workers: NonZero<usize>) -> Self {
        let pool = ThreadPool::with_config(Config { thread_count: Some(workers), ..Config::default() });
        Self { pool }
    }
}

impl Column for Chili {
    fn fib(&self, n: u64) -> u64 {
        fib(&mut self.pool.scope(), n)
    }

    fn skynet(&self, leaves: u64) -> u64 {
        skynet(&mut self.pool.scope(), 0, leaves)
    }

    fn each(&self, places: &[AtomicU64]) {
        each(&mut self.pool.scope(), places, 0..places.len());
    }

    fn queens(&self, n: u8) -> u64 {
        queens(&mut self.pool.scope(), n, Board::default())
    }

    fn matmul(&self, c: &mut [f64], a: &[f64], b: &[f64]) {
        matmul(&mut self.pool.scope(), c, a, b);
    }

    fn tree_sum(&self, root: &tree::Node) -> u64 {
        tree_sum(&mut self.pool.scope(), root)
    }

    fn uts(&self, tree: &uts::Tree) -> u64 {
        search(&mut self.pool.scope(), tree, tree.root())
    }

    fn cilksort(&self, numbers: &mut [u64], spare: &mut [u64]) {
        sort(&mut self.pool.scope(), numbers, spare);
    }

    fn knapsack(&self, items: &[Item], capacity: i64) -> u64 {
        knapsack(&mut self.pool.scope(), items, capacity, 0)
    }

    fn strassen(&self, c: &mut [f64], a: &[f64], b: &[f64]) {
        strassen(&mut self.pool.scope(), c, a, b);
    }

    fn dfs(&self, tree: Dfs) -> u64 {
        descend(&mut self.pool.scope(), tree)
    }

    fn pi(&self, points: u64) -> u64 {
        hits(&mut self.pool.scope(), 0, points)
    }
}

/// Returns the sum of `child` over `range`.
fn sum_of<F>(scope: &mut Scope<'_>, range: Range<u32>, child: &F) -> u64
where
    F: Fn(&mut Scope<'_>, u32) -> u64 + Sync,
{
    match range.len() {
        0 => 0,
        1 => child(scope, range.start),
        length => {
            let middle = range.start + length as u32 / 2;
            let (a, b) = scope.join(|s| sum_of(s, range.start..middle, child), |s| sum_of(s, middle..range.end, child));
            a.wrapping_add(b)
        }
    }
}

fn fib(scope: &mut Scope<'_>, n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = scope.join(|s| fib(s, n - 1), |s| fib(s, n - 2));
    a + b
}

fn skynet(scope: &mut Scope<'_>, first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let part = leaves / FAN_OUT;
    sum_of(scope, 0..FAN_OUT as u32, &|s: &mut Scope<'_>, i| skynet(s, first + u64::from(i) * part, part))
}

fn each(scope: &mut Scope<'_>, places: &[AtomicU64], range: Range<usize>) {
    if range.len() == 1 {
        return looped::activity(places, range.start);
    }
    let middle = range.start.midpoint(range.end);
    let (low, high) = (range.start..middle, middle..range.end);
    scope.join(|s| each(s, places, low), |s| each(s, places, high));
}

fn queens(scope: &mut Scope<'_>, n: u8, board: Board) -> u64 {
    if board.rows() == n {
        return 1;
    }
    sum_of(scope, 0..u32::from(n), &|s: &mut Scope<'_>, column| {
        let column = column as u8;
        if board.is_safe(column) { queens(s, n, board.with(column)) } else { 0 }
    })
}

fn matmul(scope: &mut Scope<'_>, c: &mut [f64], a: &[f64], b: &[f64]) {
    if c.len() == TILE {
        return multiply_tile(c, a, b);
    }
    let [c11, c12, c21, c22] = quadrants_mut(c);
    let [a11, a12, a21, a22] = quadrants(a);
    let [b11, b12, b21, b22] = quadrants(b);
    scope.join(
        |s| s.join(|s| matmul(s, c11, a11, b11), |s| matmul(s, c12, a11, b12)),
        |s| s.join(|s| matmul(s, c21, a21, b11), |s| matmul(s, c22, a21, b12)),
    );
    scope.join(
        |s| s.join(|s| matmul(s, c11, a12, b21), |s| matmul(s, c12, a12, b22)),
        |s| s.join(|s| matmul(s, c21, a22, b21), |s| matmul(s, c22, a22, b22)),
    );
}

fn tree_sum(scope: &mut Scope<'_>, node: &tree::Node) -> u64 {
    let Some((left, right)) = node.children() else {
        return node.value;
    };
    let (left, right) = scope.join(|s| tree_sum(s, left), |s| tree_sum(s, right));
    node.value + left + right
}

fn search(scope: &mut Scope<'_>, tree: &uts::Tree, node: uts::Node) -> u64 {
    let children = uts::children(tree, &node);
    1 + sum_of(scope, 0..children, &|s: &mut Scope<'_>, i| search(s, tree, uts::child(tree, &node, i)))
}

fn sort(scope: &mut Scope<'_>, numbers: &mut [u64], spare: &mut [u64]) {
    if numbers.len() < cilksort::SORT {
        return sort_short(numbers);
    }
    let ([a, b, c, d], [spare_a, spare_b, spare_c, spare_d]) = (quarters(numbers), quarters(spare));
    scope.join(
        |s| s.join(|s| sort(s, a, spare_a), |s| sort(s, b, spare_b)),
        |s| s.join(|s| sort(s, c, spare_c), |s| sort(s, d, spare_d)),
    );
    let [a, b, c, d] = quarters(numbers);
    let (low, high) = spare.split_at_mut(a.len() + b.len());
    scope.join(|s| merge(s, Merge::new(a, b, low)), |s| merge(s, Merge::new(c, d, high)));
    merge(scope, Merge::new(low, high, numbers));
}

fn merge(scope: &mut Scope<'_>, both: Merge<'_>) {
    if both.is_short() {
        return both.at_once();
    }
    let (low, high) = both.halves();
    scope.join(|s| merge(s, low), |s| merge(s, high));
}

fn knapsack(scope: &mut Scope<'_>, items: &[Item], capacity: i64, value: u64) -> u64 {
    if capacity < 0 {
        return 0;
    }
    let Some((item, rest)) = items.split_first() else { return value };
    let (left, more) = (capacity - i64::from(item.weight), value + u64::from(item.value));
    let (without, with) = scope.join(|s| knapsack(s, rest, capacity, value), |s| knapsack(s, rest, left, more));
    without.max(with)
}

fn strassen(scope: &mut Scope<'_>, c: &mut [f64], a: &[f64], b: &[f64]) {
    if c.len() == TILE {
        c.fill(0.0);
        return multiply_tile(c, a, b);
    }
    let ([a11, a12, _, a22], [b11, _, b21, b22]) = (quadrants(a), quadrants(b));
    let ([s1, s2, s3, s4], [t1, t2, t3, t4]) = (left_sums(a), right_sums(b));
    let mut all = products(c.len());
    let [p1, p2, p3, p4, p5, p6, p7] = &mut all;
    scope.join(
        |s| s.join(|s| strassen(s, p1, a11, b11), |s| strassen(s, p2, a12, b21)),
        |s| {
            s.join(
                |s| s.join(|s| strassen(s, p3, &s4, b22), |s| strassen(s, p4, a22, &t4)),
                |s| {
                    s.join(
                        |s| s.join(|s| strassen(s, p5, &s1, &t1), |s| strassen(s, p6, &s2, &t2)),
                        |s| strassen(s, p7, &s3, &t3),
                    )
                },
            )
        },
    );
    combine(c, &all);
}

fn descend(scope: &mut Scope<'_>, tree: Dfs) -> u64 {
    if tree.depth == 0 {
        return dfs::leaf(tree.grain);
    }
    sum_of(scope, 0..tree.width, &|s: &mut Scope<'_>, _| descend(s, Dfs { depth: tree.depth - 1, ..tree }))
}

fn hits(scope: &mut Scope<'_>, first: u64, points: u64) -> u64 {
    if points == 1 {
        return pi::hit(first);
    }
    let half = points / 2;
    let (low, high) = scope.join(|s| hits(s, first, half), |s| hits(s, first + half, points - half));
    low + high
}
