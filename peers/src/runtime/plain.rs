//! The plain recursion: the floor under every other column.

use std::sync::atomic::AtomicU64;

use super::Column;
use crate::kernel::matmul::{TILE, multiply_tile, quadrants, quadrants_mut};
use crate::kernel::queens::Board;
use crate::kernel::skynet::FAN_OUT;
use crate::kernel::{looped, tree, uts};

/// No runtime at all.
pub struct Plain;

impl Column for Plain {
    fn fib(&self, n: u64) -> u64 {
        fib(n)
    }

    fn skynet(&self, leaves: u64) -> u64 {
        skynet(0, leaves)
    }

    fn each(&self, places: &[AtomicU64]) {
        (0..places.len()).for_each(|index| looped::activity(places, index));
    }

    fn queens(&self, n: u8) -> u64 {
        queens(n, Board::default())
    }

    fn matmul(&self, c: &mut [f64], a: &[f64], b: &[f64]) {
        matmul(c, a, b);
    }

    fn tree_sum(&self, root: &tree::Node) -> u64 {
        tree_sum(root)
    }

    fn uts(&self, tree: &uts::Tree) -> u64 {
        search(tree, tree.root())
    }
}

fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    fib(n - 1) + fib(n - 2)
}

fn skynet(first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let part = leaves / FAN_OUT;
    (0..FAN_OUT).map(|i| skynet(first + i * part, part)).sum()
}

fn queens(n: u8, board: Board) -> u64 {
    if board.rows() == n {
        return 1;
    }
    (0..n)
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
    matmul(c11, a11, b11);
    matmul(c12, a11, b12);
    matmul(c21, a21, b11);
    matmul(c22, a21, b12);
    matmul(c11, a12, b21);
    matmul(c12, a12, b22);
    matmul(c21, a22, b21);
    matmul(c22, a22, b22);
}

fn tree_sum(node: &tree::Node) -> u64 {
    match node.children() {
        None => node.value,
        Some((left, right)) => node.value + tree_sum(left) + tree_sum(right),
    }
}

fn search(tree: &uts::Tree, node: uts::Node) -> u64 {
    let children = uts::children(tree, &node);
    1 + (0..children)
        .map(|i| search(tree, uts::child(tree, &node, i)))
        .sum::<u64>()
}
