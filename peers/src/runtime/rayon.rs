//! rayon: `join` for two branches, parallel iterators for loops whose results are added.

use std::num::NonZero;
use std::sync::atomic::AtomicU64;

use ::rayon::prelude::*;
use ::rayon::{ThreadPool, ThreadPoolBuilder, join, scope};

use super::Column;
use crate::kernel::cilksort::{self, Merge, quarters, sort_short};
use crate::kernel::dfs::{self, Dfs};
use crate::kernel::knapsack::Item;
use crate::kernel::matmul::{TILE, multiply_tile, quadrants, quadrants_mut};
use crate::kernel::queens::Board;
use crate::kernel::skynet::FAN_OUT;
use crate::kernel::strassen::{combine, left_sums, products, right_sums};
use crate::kernel::{looped, pi, tree, uts};

/// A thread pool, entered by `install`.
pub struct Rayon {
    pool: ThreadPool,
}

impl Rayon {
    /// Starts `workers` threads.
    pub fn start(workers: NonZero<usize>) -> Self {
        let pool = ThreadPoolBuilder::new()
            .num_threads(workers.get())
            .stack_size(super::STACK_BYTES)
            .build()
            .expect("rayon starts its threads");
        Self { pool }
    }
}

impl Column for Rayon {
    fn fib(&self, n: u64) -> u64 {
        self.pool.install(|| fib(n))
    }

    fn skynet(&self, leaves: u64) -> u64 {
        self.pool.install(|| skynet(0, leaves))
    }

    fn each(&self, places: &[AtomicU64]) {
        let all = (0..places.len()).into_par_iter();
        self.pool.install(|| all.for_each(|index| looped::activity(places, index)));
    }

    fn queens(&self, n: u8) -> u64 {
        self.pool.install(|| queens(n, Board::default()))
    }

    fn matmul(&self, c: &mut [f64], a: &[f64], b: &[f64]) {
        self.pool.install(|| matmul(c, a, b));
    }

    fn tree_sum(&self, root: &tree::Node) -> u64 {
        self.pool.install(|| tree_sum(root))
    }

    fn uts(&self, tree: &uts::Tree) -> u64 {
        self.pool.install(|| search(tree, tree.root()))
    }

    fn cilksort(&self, numbers: &mut [u64], spare: &mut [u64]) {
        self.pool.install(|| sort(numbers, spare));
    }

    fn knapsack(&self, items: &[Item], capacity: i64) -> u64 {
        self.pool.install(|| knapsack(items, capacity, 0))
    }

    fn strassen(&self, c: &mut [f64], a: &[f64], b: &[f64]) {
        self.pool.install(|| strassen(c, a, b));
    }

    fn dfs(&self, tree: Dfs) -> u64 {
        self.pool.install(|| descend(tree))
    }

    fn pi(&self, points: u64) -> u64 {
        self.pool.install(|| hits(0, points))
    }
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join(|| fib(n - 1), || fib(n - 2));
    a + b
}

fn skynet(first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let part = leaves / FAN_OUT;
    (0..FAN_OUT).into_par_iter().map(|i| skynet(first + i * part, part)).sum()
}

fn queens(n: u8, board: Board) -> u64 {
    if board.rows() == n {
        return 1;
    }
    (0..n).into_par_iter().filter(|&column| board.is_safe(column)).map(|column| queens(n, board.with(column))).sum()
}

fn matmul(c: &mut [f64], a: &[f64], b: &[f64]) {
    if c.len() == TILE {
        return multiply_tile(c, a, b);
    }
    let [c11, c12, c21, c22] = quadrants_mut(c);
    let [a11, a12, a21, a22] = quadrants(a);
    let [b11, b12, b21, b22] = quadrants(b);
    join(
        || join(|| matmul(c11, a11, b11), || matmul(c12, a11, b12)),
        || join(|| matmul(c21, a21, b11), || matmul(c22, a21, b12)),
    );
    join(
        || join(|| matmul(c11, a12, b21), || matmul(c12, a12, b22)),
        || join(|| matmul(c21, a22, b21), || matmul(c22, a22, b22)),
    );
}

fn tree_sum(node: &tree::Node) -> u64 {
    let Some((left, right)) = node.children() else {
        return node.value;
    };
    let (left, right) = join(|| tree_sum(left), || tree_sum(right));
    node.value + left + right
}

fn search(tree: &uts::Tree, node: uts::Node) -> u64 {
    let children = uts::children(tree, &node);
    if children == 0 {
        return 1;
    }
    1 + (0..children).into_par_iter().map(|i| search(tree, uts::child(tree, &node, i))).sum::<u64>()
}

fn sort(numbers: &mut [u64], spare: &mut [u64]) {
    if numbers.len() < cilksort::SORT {
        return sort_short(numbers);
    }
    let ([a, b, c, d], [spare_a, spare_b, spare_c, spare_d]) = (quarters(numbers), quarters(spare));
    join(|| join(|| sort(a, spare_a), || sort(b, spare_b)), || join(|| sort(c, spare_c), || sort(d, spare_d)));
    let [a, b, c, d] = quarters(numbers);
    let (low, high) = spare.split_at_mut(a.len() + b.len());
    join(|| merge(Merge::new(a, b, low)), || merge(Merge::new(c, d, high)));
    merge(Merge::new(low, high, numbers));
}

fn merge(both: Merge<'_>) {
    if both.is_short() {
        return both.at_once();
    }
    let (low, high) = both.halves();
    join(|| merge(low), || merge(high));
}

fn knapsack(items: &[Item], capacity: i64, value: u64) -> u64 {
    if capacity < 0 {
        return 0;
    }
    let Some((item, rest)) = items.split_first() else { return value };
    let (left, more) = (capacity - i64::from(item.weight), value + u64::from(item.value));
    let (without, with) = join(|| knapsack(rest, capacity, value), || knapsack(rest, left, more));
    without.max(with)
}

fn strassen(c: &mut [f64], a: &[f64], b: &[f64]) {
    if c.len() == TILE {
        c.fill(0.0);
        return multiply_tile(c, a, b);
    }
    let ([a11, a12, _, a22], [b11, _, b21, b22]) = (quadrants(a), quadrants(b));
    let ([s1, s2, s3, s4], [t1, t2, t3, t4]) = (left_sums(a), right_sums(b));
    let mut all = products(c.len());
    let [p1, p2, p3, p4, p5, p6, p7] = &mut all;
    scope(|scope| {
        scope.spawn(|_| strassen(p1, a11, b11));
        scope.spawn(|_| strassen(p2, a12, b21));
        scope.spawn(|_| strassen(p3, &s4, b22));
        scope.spawn(|_| strassen(p4, a22, &t4));
        scope.spawn(|_| strassen(p5, &s1, &t1));
        scope.spawn(|_| strassen(p6, &s2, &t2));
        scope.spawn(|_| strassen(p7, &s3, &t3));
    });
    combine(c, &all);
}

fn descend(tree: Dfs) -> u64 {
    if tree.depth == 0 {
        return dfs::leaf(tree.grain);
    }
    let children = (0..tree.width).into_par_iter().map(|_| descend(Dfs { depth: tree.depth - 1, ..tree }));
    children.reduce(|| 0, u64::wrapping_add)
}

fn hits(first: u64, points: u64) -> u64 {
    if points == 1 {
        return pi::hit(first);
    }
    let half = points / 2;
    let (low, high) = join(|| hits(first, half), || hits(first + half, points - half));
    low + high
}
