//! rayon: `join` for two branches, parallel iterators for loops whose results are added.

use std::num::NonZero;
use std::sync::atomic::AtomicU64;

use ::rayon::prelude::*;
use ::rayon::{ThreadPool, ThreadPoolBuilder, join};

use super::Column;
use crate::kernel::matmul::{TILE, multiply_tile, quadrants, quadrants_mut};
use crate::kernel::queens::Board;
use crate::kernel::skynet::FAN_OUT;
use crate::kernel::{looped, tree, uts};

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
    (0..FAN_OUT)
        .into_par_iter()
        .map(|i| skynet(first + i * part, part))
        .sum()
}

fn queens(n: u8, board: Board) -> u64 {
    if board.rows() == n {
        return 1;
    }
    (0..n)
        .into_par_iter()
        .filter(|&column| board.is_safe(column))
        .map(|column| queens(n, board.with(column)))
        .sum()
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
    1 + (0..children)
        .into_par_iter()
        .map(|i| search(tree, uts::child(tree, &node, i)))
        .sum::<u64>()
}
