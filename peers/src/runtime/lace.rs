//! Lace: `join!` for two branches, else `spawn!` in a loop and `sync!` in the opposite order. The crate `lace-ws` is Lace
//! written again in Rust.

use std::cell::RefCell;
use std::num::NonZero;
use std::sync::atomic::AtomicU64;

use ::lace_ws::{Worker, lace_run, lace_task};

use super::Column;
use crate::kernel::cilksort::{self, Merge, quarters, sort_short};
use crate::kernel::dfs::{self, Dfs};
use crate::kernel::knapsack::Item;
use crate::kernel::matmul::{TILE, multiply_tile, quadrants, quadrants_mut};
use crate::kernel::queens::Board;
use crate::kernel::skynet::FAN_OUT;
use crate::kernel::strassen::{combine, left_sums, products, right_sums};
use crate::kernel::{looped, pi, tree, uts};

/// A pool, whose root worker is the calling thread.
pub struct Lace {
    pool: RefCell<::lace_ws::Lace>,
}

impl Lace {
    /// Starts the threads, whose stacks have 16 MiB.
    pub fn start(workers: NonZero<usize>) -> Self {
        Self { pool: RefCell::new(::lace_ws::Lace::init(workers.get())) }
    }
}

impl Column for Lace {
    fn fib(&self, n: u64) -> u64 {
        lace_run!(self.pool.borrow_mut(), fib(n))
    }

    fn skynet(&self, leaves: u64) -> u64 {
        lace_run!(self.pool.borrow_mut(), skynet(0, leaves))
    }

    fn each(&self, places: &[AtomicU64]) {
        lace_run!(self.pool.borrow_mut(), each(places, 0, places.len()));
    }

    fn queens(&self, n: u8) -> u64 {
        lace_run!(self.pool.borrow_mut(), queens(n, Board::default()))
    }

    fn matmul(&self, c: &mut [f64], a: &[f64], b: &[f64]) {
        lace_run!(self.pool.borrow_mut(), matmul(c, a, b));
    }

    fn tree_sum(&self, root: &tree::Node) -> u64 {
        lace_run!(self.pool.borrow_mut(), tree_sum(root))
    }

    fn uts(&self, tree: &uts::Tree) -> u64 {
        lace_run!(self.pool.borrow_mut(), search(tree, tree.root()))
    }

    fn cilksort(&self, numbers: &mut [u64], spare: &mut [u64]) {
        lace_run!(self.pool.borrow_mut(), sort(numbers, spare));
    }

    fn knapsack(&self, items: &[Item], capacity: i64) -> u64 {
        lace_run!(self.pool.borrow_mut(), knapsack(items, capacity, 0))
    }

    fn strassen(&self, c: &mut [f64], a: &[f64], b: &[f64]) {
        lace_run!(self.pool.borrow_mut(), strassen(c, a, b));
    }

    fn dfs(&self, tree: Dfs) -> u64 {
        lace_run!(self.pool.borrow_mut(), descend(tree))
    }

    fn pi(&self, points: u64) -> u64 {
        lace_run!(self.pool.borrow_mut(), hits(0, points))
    }
}

#[lace_task]
fn fib(n: u64) -> u64 {
    if n < 2 {
        return n;
    }
    let (a, b) = join!(fib(n - 1), fib(n - 2));
    a + b
}

#[lace_task]
fn skynet(first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let part = leaves / FAN_OUT;
    // Tokens have no size, so the vector allocates nothing.
    let mut tokens = Vec::new();
    for i in 0..FAN_OUT {
        tokens.push(spawn!(skynet(first + i * part, part)));
    }
    let mut sum = 0;
    while let Some(token) = tokens.pop() {
        sum += sync!(token);
    }
    sum
}

#[lace_task]
fn each(places: &[AtomicU64], first: usize, length: usize) {
    if length == 1 {
        return looped::activity(places, first);
    }
    let half = length / 2;
    join!(each(places, first, half), each(places, first + half, length - half));
}

#[lace_task]
fn queens(n: u8, board: Board) -> u64 {
    if board.rows() == n {
        return 1;
    }
    let mut tokens = Vec::new();
    for column in 0..n {
        if board.is_safe(column) {
            tokens.push(spawn!(queens(n, board.with(column))));
        }
    }
    let mut sum = 0;
    while let Some(token) = tokens.pop() {
        sum += sync!(token);
    }
    sum
}

#[lace_task]
fn matmul(c: &mut [f64], a: &[f64], b: &[f64]) {
    if c.len() == TILE {
        return multiply_tile(c, a, b);
    }
    let [a11, a12, a21, a22] = quadrants(a);
    let [b11, b12, b21, b22] = quadrants(b);
    for (left, below, right, beside) in [(a11, a21, b11, b12), (a12, a22, b21, b22)] {
        let [c11, c12, c21, c22] = quadrants_mut(c);
        let first = spawn!(matmul(c11, left, right));
        let second = spawn!(matmul(c12, left, beside));
        let third = spawn!(matmul(c21, below, right));
        call!(matmul(c22, below, beside));
        sync!(third);
        sync!(second);
        sync!(first);
    }
}

#[lace_task]
fn tree_sum(node: &tree::Node) -> u64 {
    let Some((left, right)) = node.children() else {
        return node.value;
    };
    let (left, right) = join!(tree_sum(left), tree_sum(right));
    node.value + left + right
}

#[lace_task]
fn search(tree: &uts::Tree, node: uts::Node) -> u64 {
    let mut tokens = Vec::new();
    for i in 0..uts::children(tree, &node) {
        tokens.push(spawn!(search(tree, uts::child(tree, &node, i))));
    }
    let mut nodes = 1;
    while let Some(token) = tokens.pop() {
        nodes += sync!(token);
    }
    nodes
}

#[lace_task]
fn sort(numbers: &mut [u64], spare: &mut [u64]) {
    if numbers.len() < cilksort::SORT {
        return sort_short(numbers);
    }
    let ([a, b, c, d], [spare_a, spare_b, spare_c, spare_d]) = (quarters(numbers), quarters(spare));
    let first = spawn!(sort(a, spare_a));
    let second = spawn!(sort(b, spare_b));
    let third = spawn!(sort(c, spare_c));
    call!(sort(d, spare_d));
    sync!(third);
    sync!(second);
    sync!(first);
    let [a, b, c, d] = quarters(numbers);
    let (low, high) = spare.split_at_mut(a.len() + b.len());
    join!(merge(Merge::new(a, b, low)), merge(Merge::new(c, d, high)));
    call!(merge(Merge::new(low, high, numbers)));
}

#[lace_task]
fn merge(both: Merge<'_>) {
    if both.is_short() {
        return both.at_once();
    }
    let (low, high) = both.halves();
    join!(merge(low), merge(high));
}

#[lace_task]
fn knapsack(items: &[Item], capacity: i64, value: u64) -> u64 {
    if capacity < 0 {
        return 0;
    }
    let Some((item, rest)) = items.split_first() else { return value };
    let (left, more) = (capacity - i64::from(item.weight), value + u64::from(item.value));
    let (without, with) = join!(knapsack(rest, capacity, value), knapsack(rest, left, more));
    without.max(with)
}

#[lace_task]
fn strassen(c: &mut [f64], a: &[f64], b: &[f64]) {
    if c.len() == TILE {
        c.fill(0.0);
        return multiply_tile(c, a, b);
    }
    let ([a11, a12, _, a22], [b11, _, b21, b22]) = (quadrants(a), quadrants(b));
    let ([s1, s2, s3, s4], [t1, t2, t3, t4]) = (left_sums(a), right_sums(b));
    let mut all = products(c.len());
    let [p1, p2, p3, p4, p5, p6, p7] = &mut all;
    let tokens = [
        spawn!(strassen(&mut p1[..], a11, b11)),
        spawn!(strassen(&mut p2[..], a12, b21)),
        spawn!(strassen(&mut p3[..], &s4[..], b22)),
        spawn!(strassen(&mut p4[..], a22, &t4[..])),
        spawn!(strassen(&mut p5[..], &s1[..], &t1[..])),
        spawn!(strassen(&mut p6[..], &s2[..], &t2[..])),
    ];
    call!(strassen(&mut p7[..], &s3[..], &t3[..]));
    for token in tokens.into_iter().rev() {
        sync!(token);
    }
    combine(c, &all);
}

#[lace_task]
fn descend(tree: Dfs) -> u64 {
    if tree.depth == 0 {
        return dfs::leaf(tree.grain);
    }
    let mut tokens = Vec::new();
    for _ in 0..tree.width {
        tokens.push(spawn!(descend(Dfs { depth: tree.depth - 1, ..tree })));
    }
    let mut sum = 0_u64;
    while let Some(token) = tokens.pop() {
        sum = sum.wrapping_add(sync!(token));
    }
    sum
}

#[lace_task]
fn hits(first: u64, points: u64) -> u64 {
    if points == 1 {
        return pi::hit(first);
    }
    let half = points / 2;
    let (low, high) = join!(hits(first, half), hits(first + half, points - half));
    low + high
}
