//! Blocks that other threads return to a pool: a stack. Any thread pushes; the owner takes the whole stack at once.
//!
//! ```text
//!             (1) mark           (2) push               (3) take all           the owner
//!   in use -----------> marked -----------> returned -----------------> free ------------> in use
//! ```
//!
//! The thread that frees the block performs (1) and (2), the owner performs (3). No thread ever removes a single block:
//! the owner takes the stack whole, so there is no ABA problem.
//!
//! The owner's sweep reads the *table word* of every block, free or not ([`Pool::walk`](super::Pool::walk)): a table
//! means a frame, null a free block. A sweep that races with (1) may find the table of a frame that is being freed. It
//! may read the fields that freeing leaves alone (slot, claim, group number), which keep their values until the owner
//! uses the block again. (1) precedes (2): otherwise it could clear the table of the block's next frame, which sweeps
//! would then miss.

use std::ptr::{self, NonNull};

use crate::atomics::{AtomicPtr, Ordering};
use crate::frame::VTable;

/// The table word of a block.
#[repr(transparent)]
pub(super) struct Table(AtomicPtr<VTable>);

impl Table {
    /// Performs transition 1: marks the block as free.
    #[inline]
    pub(super) fn mark_free(&self) {
        // Relaxed: (2) publishes it to an owner that takes the block; a concurrent sweep may find either value.
        self.0.store(ptr::null_mut(), Ordering::Relaxed);
    }

    /// Returns the table of the block's frame, or `None` for a free block.
    pub(super) fn get(&self) -> Option<&'static VTable> {
        // Acquire pairs with nothing, and is not needed: only the pool's owner makes frames in its blocks, and the
        // calling thread is the owner, or keeps the owner from running by a lock.
        let table = self.0.load(Ordering::Acquire);
        // SAFETY: the pointer is null, or points to a frame's table, which is static.
        unsafe { table.as_ref() }
    }
}

/// A block that can be returned to a pool.
pub(super) trait Block: Sized {
    fn table(&self) -> &Table;

    /// Sets the link to the next lower block.
    ///
    /// # Safety
    /// The block is free, and belongs to the caller.
    unsafe fn set_next(block: NonNull<Self>, next: *mut Self);

    /// Returns the link to the next lower block.
    ///
    /// # Safety
    /// The block is free and belongs to the caller, and [`set_next`](Block::set_next) has been called.
    unsafe fn next(block: NonNull<Self>) -> *mut Self;
}

/// The stack of returned blocks.
#[repr(align(64))]
pub(super) struct Returned<B>(AtomicPtr<B>);

impl<B: Block> Returned<B> {
    pub(super) fn new() -> Returned<B> {
        Returned(AtomicPtr::new(ptr::null_mut()))
    }

    /// Performs transitions 1 and 2.
    ///
    /// # Safety
    /// The block belongs to this stack's pool, and is not used any more.
    pub(super) unsafe fn push(&self, block: NonNull<B>) {
        // SAFETY: the caller guarantees that the block is not used any more; it is this thread's until the exchange
        // succeeds.
        unsafe { block.as_ref() }.table().mark_free();
        let mut head = self.0.load(Ordering::Relaxed);
        loop {
            // SAFETY: the block is free, and this thread's until the exchange succeeds.
            unsafe { B::set_next(block, head) };
            // Release publishes mark and link, and all earlier uses of the block, to the owner's (3).
            match self.0.compare_exchange_weak(head, block.as_ptr(), Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(found) => head = found,
            }
        }
    }

    /// Performs transition 3: takes all returned blocks, as a linked list.
    pub(super) fn take_all(&self) -> Option<NonNull<B>> {
        // Acquire pairs with the Release of every (2): each continues the release sequence of the earlier ones.
        NonNull::new(self.0.swap(ptr::null_mut(), Ordering::Acquire))
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, UnsafeCell, explore, thread};

    /// A block with the other fields of a frame.
    struct Cell {
        table: Table,
        /// Read by sweeps; freeing leaves it unchanged.
        run: UnsafeCell<u32>,
        next: UnsafeCell<*mut Cell>,
        contents: UnsafeCell<u32>,
    }

    impl Block for Cell {
        fn table(&self) -> &Table {
            &self.table
        }

        unsafe fn set_next(block: NonNull<Cell>, next: *mut Cell) {
            // SAFETY: the caller owns the block; loom checks it.
            unsafe { block.as_ref() }.next.with_mut(|link| unsafe { *link = next });
        }

        unsafe fn next(block: NonNull<Cell>) -> *mut Cell {
            // SAFETY: the caller owns the block; loom checks it.
            unsafe { block.as_ref() }.next.with(|link| unsafe { *link })
        }
    }

    /// A pool whose blocks are all in use, by any thread.
    struct Pool {
        returned: Returned<Cell>,
        cells: Vec<Cell>,
    }

    // SAFETY: only a block's owner follows its link; loom checks it.
    unsafe impl Sync for Pool {}
    // SAFETY: only a block's owner follows its link; loom checks it.
    unsafe impl Send for Pool {}

    /// Returns a placeholder for a table; it is only compared with null.
    fn table() -> *mut VTable {
        ptr::without_provenance_mut(align_of::<VTable>())
    }

    impl Pool {
        fn new(blocks: usize) -> Arc<Pool> {
            let cell = |_| Cell {
                table: Table(AtomicPtr::new(table())),
                run: UnsafeCell::new(1),
                next: UnsafeCell::new(ptr::null_mut()),
                contents: UnsafeCell::new(0),
            };
            Arc::new(Pool { returned: Returned::new(), cells: (0..blocks).map(cell).collect() })
        }

        /// Uses a block for the last time, and returns it.
        fn free(&self, index: usize) {
            // SAFETY: this thread uses the block; loom checks it.
            self.cells[index].contents.with_mut(|contents| unsafe { *contents += 1 });
            // SAFETY: the block belongs to this pool, and is not used any more.
            unsafe { self.returned.push(NonNull::from(&self.cells[index])) };
        }

        /// Takes all returned blocks and uses them again, as the owner. Returns their number.
        fn reuse(&self, run: u32) -> usize {
            let mut count = 0;
            let mut next = self.returned.take_all();
            while let Some(block) = next {
                // SAFETY: the block has been taken from the stack, which set its link.
                next = NonNull::new(unsafe { Cell::next(block) });
                // SAFETY: the block is an element of `cells`, which outlives this call.
                let cell = unsafe { block.as_ref() };
                assert!(cell.table.get().is_none(), "a returned block is marked as free");
                // SAFETY: the block has been taken; loom checks it.
                cell.contents.with_mut(|contents| unsafe { *contents += 1 });
                // SAFETY: only the owner accesses the field; loom checks it.
                cell.run.with_mut(|now| unsafe { *now = run });
                // Relaxed: the block is the owner's.
                cell.table.0.store(table(), Ordering::Relaxed);
                count += 1;
            }
            count
        }

        /// Returns the blocks in use of `run`, as a sweep finds them.
        fn sweep(&self, run: u32) -> Vec<usize> {
            let of_run = |&index: &usize| {
                let cell = &self.cells[index];
                // Relaxed: the pointer is not followed.
                !cell.table.0.load(Ordering::Relaxed).is_null()
                    // SAFETY: only the owner writes the field; loom checks it.
                    && cell.run.with(|found| unsafe { *found }) == run
            };
            (0..self.cells.len()).filter(of_run).collect()
        }
    }

    #[test]
    fn every_block_is_returned_once() {
        explore(3, || {
            let pool = Pool::new(3);
            let threads = [0, 1].map(|index| {
                let pool = Arc::clone(&pool);
                thread::spawn(move || {
                    pool.free(index);
                    if index == 0 {
                        pool.free(2);
                    }
                })
            });
            let mut back = pool.reuse(1) + pool.reuse(1);
            for thread in threads {
                thread.join().unwrap();
            }
            back += pool.reuse(1);
            assert_eq!(back, 3);
            for cell in &pool.cells {
                // SAFETY: all threads have been joined.
                cell.contents.with(|contents| assert_eq!(unsafe { *contents }, 2));
            }
        });
    }

    /// While another thread frees a frame, the owner sweeps, reuses the returned blocks, and sweeps again.
    #[test]
    fn a_sweep_finds_every_frame_that_is_in_use() {
        loom::model(|| {
            let pool = Pool::new(2);
            let other = {
                let pool = Arc::clone(&pool);
                thread::spawn(move || pool.free(0))
            };
            assert!(pool.sweep(1).contains(&1));
            let back = pool.reuse(2);
            assert_eq!(pool.sweep(2).len(), back, "the sweep finds the reused blocks");
            other.join().unwrap();
            assert_eq!(pool.sweep(1), [1]);
            assert_eq!(pool.sweep(2).len(), back);
        });
    }
}
