//! Finespun: `join!` for two branches, `reduce` for loops whose results are added,
//! `parfor` for a flat one.

use std::num::NonZero;
use std::sync::atomic::AtomicU64;

use ::finespun::prelude::*;

use super::Column;
use crate::kernel::matmul::{TILE, multiply_tile, quadrants, quadrants_mut};
use crate::kernel::queens::Board;
use crate::kernel::skynet::FAN_OUT;
use crate::kernel::{looped, tree, uts};

/// A Finespun runtime.
pub struct Finespun {
    runtime: Runtime,
}

impl Finespun {
    /// Starts the workers.
    pub fn start(workers: NonZero<usize>) -> Self {
        let runtime = Runtime::builder()
            .workers(workers.get())
            .build()
            .expect("finespun starts its workers");
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
    let children = (0..n)
        .filter(move |&column| board.is_safe(column))
        .map(move |column| queens(n, board.with(column)));
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
    join!(
        matmul(c11, top, left),
        matmul(c12, top, right),
        matmul(c21, bottom, left),
        matmul(c22, bottom, right)
    );
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
    let children =
        (0..uts::children(tree, &node)).map(move |i| search(tree, uts::child(tree, &node, i)));
    reduce(children, 1, |a, b| a + b).await
}
