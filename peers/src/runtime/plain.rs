//! The plain recursion: the floor under every other column.

use std::sync::atomic::AtomicU64;

use super::Column;
use crate::kernel::cilksort::{self, Merge, quarters, sort_short};
use crate::kernel::dfs::{self, Dfs};
use crate::kernel::knapsack::Item;
use crate::kernel::matmul::{TILE, multiply_tile, quadrants, quadrants_mut};
use crate::kernel::queens::Board;
use crate::kernel::skynet::FAN_OUT;
use crate::kernel::strassen::{combine, left_sums, products, right_sums};
use crate::kernel::{looped, pi, tree, uts};

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

    fn cilksort(&self, numbers: &mut [u64], spare: &mut [u64]) {
        sort(numbers, spare);
    }

    fn knapsack(&self, items: &[Item], capacity: i64) -> u64 {
        knapsack(items, capacity, 0)
    }

    fn strassen(&self, c: &mut [f64], a: &[f64], b: &[f64]) {
        strassen(c, a, b);
    }

    fn dfs(&self, tree: Dfs) -> u64 {
        descend(tree)
    }

    fn pi(&self, points: u64) -> u64 {
        hits(0, points)
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
    (0..n).filter(|&column| board.is_safe(column)).map(|column| queens(n, board.with(column))).sum()
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
    1 + (0..children).map(|i| search(tree, uts::child(tree, &node, i))).sum::<u64>()
}

fn sort(numbers: &mut [u64], spare: &mut [u64]) {
    if numbers.len() < cilksort::SORT {
        return sort_short(numbers);
    }
    for (quarter, spare) in quarters(numbers).into_iter().zip(quarters(spare)) {
        sort(quarter, spare);
    }
    let [a, b, c, d] = quarters(numbers);
    let (low, high) = spare.split_at_mut(a.len() + b.len());
    merge(Merge::new(a, b, low));
    merge(Merge::new(c, d, high));
    merge(Merge::new(low, high, numbers));
}

fn merge(both: Merge<'_>) {
    if both.is_short() {
        return both.at_once();
    }
    let (low, high) = both.halves();
    merge(low);
    merge(high);
}

/// Returns the best value of a knapsack with this capacity left, which holds items of this value already.
fn knapsack(items: &[Item], capacity: i64, value: u64) -> u64 {
    if capacity < 0 {
        return 0;
    }
    let Some((item, rest)) = items.split_first() else { return value };
    let (left, more) = (capacity - i64::from(item.weight), value + u64::from(item.value));
    knapsack(rest, capacity, value).max(knapsack(rest, left, more))
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
    strassen(p1, a11, b11);
    strassen(p2, a12, b21);
    strassen(p3, &s4, b22);
    strassen(p4, a22, &t4);
    strassen(p5, &s1, &t1);
    strassen(p6, &s2, &t2);
    strassen(p7, &s3, &t3);
    combine(c, &all);
}

fn descend(tree: Dfs) -> u64 {
    if tree.depth == 0 {
        return dfs::leaf(tree.grain);
    }
    (0..tree.width).map(|_| descend(Dfs { depth: tree.depth - 1, ..tree })).fold(0, u64::wrapping_add)
}

fn hits(first: u64, points: u64) -> u64 {
    if points == 1 {
        return pi::hit(first);
    }
    let half = points / 2;
    hits(first, half) + hits(first + half, points - half)
}
