//! The C++ columns, each reached through the table of functions that it exports.

use std::ffi::c_void;
use std::num::NonZero;
use std::sync::atomic::AtomicU64;

use super::Column;
use crate::kernel::dfs::Dfs;
use crate::kernel::knapsack::Item;
use crate::kernel::{tree, uts};

/// `struct Column` of `cpp/peers.hpp`.
#[repr(C)]
struct Table {
    start: unsafe extern "C" fn(usize) -> *mut c_void,
    fib: unsafe extern "C" fn(*mut c_void, u64) -> u64,
    skynet: unsafe extern "C" fn(*mut c_void, u64) -> u64,
    each: unsafe extern "C" fn(*mut c_void, *const AtomicU64, usize),
    queens: unsafe extern "C" fn(*mut c_void, u8) -> u64,
    matmul: unsafe extern "C" fn(*mut c_void, *mut f64, *const f64, *const f64, usize),
    tree_sum: unsafe extern "C" fn(*mut c_void, *const tree::Node) -> u64,
    uts: unsafe extern "C" fn(*mut c_void, *const uts::Tree, *const uts::Node) -> u64,
}

// SAFETY: the build script links a column's source where it sets the column's cfg, and
// each source defines its table, which is never written to, in the layout above.
unsafe extern "C" {
    #[cfg(peers_plain_cpp)]
    safe static peers_plain_cpp: Table;
    #[cfg(peers_tbb)]
    safe static peers_tbb: Table;
    #[cfg(peers_openmp)]
    safe static peers_openmp: Table;
}

/// A C++ column with its pool, which lives until the process ends.
pub struct Foreign {
    table: &'static Table,
    pool: *mut c_void,
}

impl Foreign {
    /// The plain recursion.
    #[cfg(peers_plain_cpp)]
    pub fn plain_cpp(workers: NonZero<usize>) -> Self {
        Self::start(&peers_plain_cpp, workers)
    }

    /// oneTBB.
    #[cfg(peers_tbb)]
    pub fn tbb(workers: NonZero<usize>) -> Self {
        Self::start(&peers_tbb, workers)
    }

    /// OpenMP.
    #[cfg(peers_openmp)]
    pub fn openmp(workers: NonZero<usize>) -> Self {
        Self::start(&peers_openmp, workers)
    }

    fn start(table: &'static Table, workers: NonZero<usize>) -> Self {
        // SAFETY: `start` accepts any number of workers.
        let pool = unsafe { (table.start)(workers.get()) };
        Self { table, pool }
    }
}

impl Column for Foreign {
    fn fib(&self, n: u64) -> u64 {
        // SAFETY: `pool` is from this table's `start`.
        unsafe { (self.table.fib)(self.pool, n) }
    }

    fn skynet(&self, leaves: u64) -> u64 {
        // SAFETY: `pool` is from this table's `start`.
        unsafe { (self.table.skynet)(self.pool, leaves) }
    }

    fn each(&self, places: &[AtomicU64]) {
        // SAFETY: `pool` is from this table's `start`; `places` has the given length,
        // and each place is written once, atomically.
        unsafe { (self.table.each)(self.pool, places.as_ptr(), places.len()) }
    }

    fn queens(&self, n: u8) -> u64 {
        assert!(n <= crate::kernel::queens::MAX);
        // SAFETY: `pool` is from this table's `start`, and the board has room for `n`.
        unsafe { (self.table.queens)(self.pool, n) }
    }

    fn matmul(&self, c: &mut [f64], a: &[f64], b: &[f64]) {
        assert!(a.len() == c.len() && b.len() == c.len());
        let (c, length) = (c.as_mut_ptr(), c.len());
        // SAFETY: `pool` is from this table's `start`; the three matrices have `length`
        // numbers each, and the exclusive borrow of C lasts until all tasks have ended.
        unsafe { (self.table.matmul)(self.pool, c, a.as_ptr(), b.as_ptr(), length) }
    }

    fn tree_sum(&self, root: &tree::Node) -> u64 {
        // SAFETY: `pool` is from this table's `start`; the tree is only read.
        unsafe { (self.table.tree_sum)(self.pool, root) }
    }

    fn uts(&self, tree: &uts::Tree) -> u64 {
        let root = tree.root();
        // SAFETY: `pool` is from this table's `start`; tree and root outlive the call.
        unsafe { (self.table.uts)(self.pool, tree, &root) }
    }

    fn cilksort(&self, _: &mut [u64], _: &mut [u64]) {
        unreachable!("not written in C++")
    }

    fn knapsack(&self, _: &[Item], _: i64) -> u64 {
        unreachable!("not written in C++")
    }

    fn strassen(&self, _: &mut [f64], _: &[f64], _: &[f64]) {
        unreachable!("not written in C++")
    }

    fn dfs(&self, _: Dfs) -> u64 {
        unreachable!("not written in C++")
    }

    fn pi(&self, _: u64) -> u64 {
        unreachable!("not written in C++")
    }
}
