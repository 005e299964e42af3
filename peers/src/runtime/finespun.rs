//! Finespun: `join!` for two branches, `reduce` for loops whose results are added,
//! `parfor` for a flat one.

use std::num::NonZero;
use std::sync::atomic::AtomicU64;

use ::finespun::prelude::*;

use super::Column;
use crate::kernel::cilksort::{self, Merge, quarters, sort_short};
use crate::kernel::dfs::{self, Dfs};
use crate::kernel::knapsack::Item;
use crate::kernel::matmul::{TILE, multiply_tile, quadrants, quadrants_mut};
use crate::kernel::queens::Board;
use crate::kernel::skynet::FAN_OUT;
use crate::kernel::strassen::{combine, left_sums, products, right_sums};
use crate::kernel::{looped, pi, tree, uts};

/// A Finespun runtime.
pub struct Finespun {
    runtime: Runtime,
}

impl Finespun {
    /// Starts the workers.
    pub fn start(workers: NonZero<usize>) -> Self {
        let runtime = Runtime::builder().workers(workers.get()).build().expect("finespun starts its workers");
        Self { runtime }
    }
}

impl Column for Finespun {
    fn fib(&self, n: u64) -> u64 {
        self.runtime.run(fib(n))
    }

    fn skynet(&self, leaves: u64) -> u64 {
        self.runtime.run(skynet(0, leaves))
    }

    fn each(&self, places: &[AtomicU64]) {
        self.runtime.run(each(places));
    }

    fn queens(&self, n: u8) -> u64 {
        self.runtime.run(queens(n, Board::default()))
    }

    fn matmul(&self, c: &mut [f64], a: &[f64], b: &[f64]) {
        self.runtime.run(matmul(c, a, b));
    }

    fn tree_sum(&self, root: &tree::Node) -> u64 {
        self.runtime.run(tree_sum(root))
    }

    fn uts(&self, tree: &uts::Tree) -> u64 {
        self.runtime.run(search(tree, tree.root()))
    }

    fn cilksort(&self, numbers: &mut [u64], spare: &mut [u64]) {
        self.runtime.run(sort(numbers, spare));
    }

    fn knapsack(&self, items: &[Item], capacity: i64) -> u64 {
        self.runtime.run(knapsack(items, capacity, 0))
    }

    fn strassen(&self, c: &mut [f64], a: &[f64], b: &[f64]) {
        self.runtime.run(strassen(c, a, b));
    }

    fn dfs(&self, tree: Dfs) -> u64 {
        self.runtime.run(descend(tree))
    }

    fn pi(&self, points: u64) -> u64 {
        self.runtime.run(hits(0, points))
    }
}

#[task]
async fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join!(fib(n - 1), fib(n - 2));
    a + b
}

#[task]
async fn skynet(first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let part = leaves / FAN_OUT;
    let children = (0..FAN_OUT).map(move |i| skynet(first + i * part, part));
    reduce(children, 0, |a, b| a + b).await
}

#[task]
async fn each(places: &[AtomicU64]) {
    parfor(0..places.len(), move |index| activity(places, index)).await;
}

#[task]
async fn activity(places: &[AtomicU64], index: usize) {
    looped::activity(places, index);
}

#[task]
async fn queens(n: u8, board: Board) -> u64 {
    if board.rows() == n {
        return 1;
    }
    let children = (0..n).filter(move |&column| board.is_safe(column)).map(move |column| queens(n, board.with(column)));
    reduce(children, 0, |a, b| a + b).await
}

#[task]
async fn matmul(c: &mut [f64], a: &[f64], b: &[f64]) {
    if c.len() == TILE {
        multiply_tile(c, a, b);
        return;
    }
    add_products(c, a, b, Half::First).await;
    add_products(c, a, b, Half::Second).await;
}

/// One of the two products that make up each quadrant.
#[derive(Clone, Copy)]
enum Half {
    First,
    Second,
}

#[task]
async fn add_products(c: &mut [f64], a: &[f64], b: &[f64], half: Half) {
    let [c11, c12, c21, c22] = quadrants_mut(c);
    let [a11, a12, a21, a22] = quadrants(a);
    let [b11, b12, b21, b22] = quadrants(b);
    let (top, bottom, left, right) = match half {
        Half::First => (a11, a21, b11, b12),
        Half::Second => (a12, a22, b21, b22),
    };
    join!(matmul(c11, top, left), matmul(c12, top, right), matmul(c21, bottom, left), matmul(c22, bottom, right));
}

#[task]
async fn tree_sum(node: &tree::Node) -> u64 {
    let Some((left, right)) = node.children() else {
        return node.value;
    };
    let (left, right) = join!(tree_sum(left), tree_sum(right));
    node.value + left + right
}

#[task]
async fn search(tree: &uts::Tree, node: uts::Node) -> u64 {
    let children = (0..uts::children(tree, &node)).map(move |i| search(tree, uts::child(tree, &node, i)));
    reduce(children, 1, |a, b| a + b).await
}

#[task]
async fn sort(numbers: &mut [u64], spare: &mut [u64]) {
    if numbers.len() < cilksort::SORT {
        sort_short(numbers);
        return;
    }
    sort_quarters(numbers, spare).await;
    merge_quarters(numbers, spare).await;
    let (low, high) = spare.split_at(numbers.len() / 4 * 2);
    merge(Merge::new(low, high, numbers)).await;
}

#[task]
async fn sort_quarters(numbers: &mut [u64], spare: &mut [u64]) {
    let ([a, b, c, d], [spare_a, spare_b, spare_c, spare_d]) = (quarters(numbers), quarters(spare));
    join!(sort(a, spare_a), sort(b, spare_b), sort(c, spare_c), sort(d, spare_d));
}

#[task]
async fn merge_quarters(numbers: &mut [u64], spare: &mut [u64]) {
    let [a, b, c, d] = quarters(numbers);
    let (low, high) = spare.split_at_mut(a.len() + b.len());
    join!(merge(Merge::new(a, b, low)), merge(Merge::new(c, d, high)));
}

#[task]
async fn merge(both: Merge<'_>) {
    if both.is_short() {
        both.at_once();
        return;
    }
    let (low, high) = both.halves();
    join!(merge(low), merge(high));
}

#[task]
async fn knapsack(items: &[Item], capacity: i64, value: u64) -> u64 {
    if capacity < 0 {
        return 0;
    }
    let Some((item, rest)) = items.split_first() else { return value };
    let (left, more) = (capacity - i64::from(item.weight), value + u64::from(item.value));
    let (without, with) = join!(knapsack(rest, capacity, value), knapsack(rest, left, more));
    without.max(with)
}

#[task]
async fn strassen(c: &mut [f64], a: &[f64], b: &[f64]) {
    if c.len() == TILE {
        c.fill(0.0);
        multiply_tile(c, a, b);
        return;
    }
    let ([a11, a12, _, a22], [b11, _, b21, b22]) = (quadrants(a), quadrants(b));
    let ([s1, s2, s3, s4], [t1, t2, t3, t4]) = (left_sums(a), right_sums(b));
    let mut all = products(c.len());
    let [p1, p2, p3, p4, p5, p6, p7] = &mut all;
    join!(
        strassen(p1, a11, b11),
        strassen(p2, a12, b21),
        strassen(p3, &s4, b22),
        strassen(p4, a22, &t4),
        strassen(p5, &s1, &t1),
        strassen(p6, &s2, &t2),
        strassen(p7, &s3, &t3),
    );
    combine(c, &all);
}

#[task]
async fn descend(tree: Dfs) -> u64 {
    if tree.depth == 0 {
        return dfs::leaf(tree.grain);
    }
    let children = (0..tree.width).map(move |_| descend(Dfs { depth: tree.depth - 1, ..tree }));
    reduce(children, 0, u64::wrapping_add).await
}

#[task]
async fn hits(first: u64, points: u64) -> u64 {
    if points == 1 {
        return pi::hit(first);
    }
    let half = points / 2;
    let (low, high) = join!(hits(first, half), hits(first + half, points - half));
    low + high
}
