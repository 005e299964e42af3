//! Fork Union: flat loops only.

use std::cell::RefCell;
use std::num::NonZero;
use std::sync::atomic::AtomicU64;

use ::fork_union::ThreadPool;

use super::Column;
use crate::kernel::dfs::Dfs;
use crate::kernel::knapsack::Item;
use crate::kernel::{looped, tree, uts};

/// A thread pool; the calling thread is one of its workers.
pub struct ForkUnion {
    pool: RefCell<ThreadPool>,
}

impl ForkUnion {
    /// Starts the threads.
    pub fn start(workers: NonZero<usize>) -> Self {
        let pool = ThreadPool::try_spawn(workers.get()).expect("fork_union starts its threads");
        Self { pool: RefCell::new(pool) }
    }
}

impl Column for ForkUnion {
    fn each(&self, places: &[AtomicU64]) {
        self.pool.borrow_mut().for_n(places.len(), |prong| looped::activity(places, prong.task_index));
    }

    fn fib(&self, _: u64) -> u64 {
        unreachable!("no nested tasks")
    }

    fn skynet(&self, _: u64) -> u64 {
        unreachable!("no nested tasks")
    }

    fn queens(&self, _: u8) -> u64 {
        unreachable!("no nested tasks")
    }

    fn matmul(&self, _: &mut [f64], _: &[f64], _: &[f64]) {
        unreachable!("no nested tasks")
    }

    fn tree_sum(&self, _: &tree::Node) -> u64 {
        unreachable!("no nested tasks")
    }

    fn uts(&self, _: &uts::Tree) -> u64 {
        unreachable!("no nested tasks")
    }

    fn cilksort(&self, _: &mut [u64], _: &mut [u64]) {
        unreachable!("no nested tasks")
    }

    fn knapsack(&self, _: &[Item], _: i64) -> u64 {
        unreachable!("no nested tasks")
    }

    fn strassen(&self, _: &mut [f64], _: &[f64], _: &[f64]) {
        unreachable!("no nested tasks")
    }

    fn dfs(&self, _: Dfs) -> u64 {
        unreachable!("no nested tasks")
    }

    fn pi(&self, _: u64) -> u64 {
        unreachable!("no nested tasks")
    }
}
