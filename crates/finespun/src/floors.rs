//! The bare data structures, for benchmarks: lower bounds for the cost of tasks that use them.

use std::alloc::Layout;
use std::hint::black_box;
use std::ptr::NonNull;

use crate::frame::pool::{self, Class, Pool};
use crate::sched::deque::Deque;

/// Pushes and pops one pointer `times` times on a deque that no other thread knows.
pub fn push_and_pop(times: usize) {
    let deque = Deque::<u64>::new();
    // SAFETY: this is the only owner token of the deque.
    let owner = unsafe { deque.owner() };
    for _ in 0..times {
        owner.push(black_box(NonNull::dangling()));
        black_box(owner.pop());
    }
}

/// Allocates memory for a frame of `bytes` bytes from this thread's pool and frees it, `times` times. Not for a
/// worker's thread, which has a pool.
pub fn take_and_give_back(times: usize, bytes: usize) {
    let Ok(layout) = Layout::from_size_align(bytes.max(1), 8) else { return };
    let class = Class::of(layout);
    let pool = Pool::acquire();
    pool.own();
    for _ in 0..times {
        let block = black_box(pool.allocate(class));
        // SAFETY: `allocate` has just returned the block for this class.
        unsafe { pool::free(block.cast(), class) };
    }
    pool.disown();
    pool.release();
}
