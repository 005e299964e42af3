//! chili: binary `join` on a scope; a loop halves its range until one item is left.

use std::num::NonZero;
use std::ops::Range;
use std::sync::atomic::AtomicU64;

use ::chili::{Config, Scope, ThreadPool};

use super::Column;
use crate::kernel::matmul::{TILE, multiply_tile, quadrants, quadrants_mut};
use crate::kernel::queens::Board;
use crate::kernel::skynet::FAN_OUT;
use crate::kernel::{looped, tree, uts};

/// A thread pool; the calling thread is one of its workers.
pub struct Chili {
    pool: ThreadPool,
}

impl Chili {
    /// Starts the threads. Their stacks are the standard library's default size,
    /// which the driver raises through `RUST_MIN_STACK`.
    pub fn start(workers: NonZero<usize>) -> Self {
        let pool = ThreadPool::with_config(Config {
            thread_count: Some(workers),
            ..Config::default()
        });
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
            let (a, b) = scope.join(
                |s| sum_of(s, range.start..middle, child),
                |s| sum_of(s, middle..range.end, child),
            );
            a + b
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
    sum_of(scope, 0..FAN_OUT as u32, &|s: &mut Scope<'_>, i| {
        skynet(s, first + u64::from(i) * part, part)
    })
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
        if board.is_safe(column) {
            queens(s, n, board.with(column))
        } else {
            0
        }
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
    1 + sum_of(scope, 0..children, &|s: &mut Scope<'_>, i| {
        search(s, tree, uts::child(tree, &node, i))
    })
}
