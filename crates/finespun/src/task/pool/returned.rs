//! Blocks that other threads give back to a pool: a stack, pushed on by anyone, taken whole by the owner.
//!
//! ```text
//!             (1) mark           (2) push               (3) take all           the owner
//!   in use -----------> marked -----------> returned -----------------> free ------------> in use
//! ```
//!
//! (1) and (2) are the thread's that frees the block, (3) the owner's. Since the stack is taken whole, a block never
//! leaves it from the middle or the top, and (2) has no ABA problem.
//!
//! The owner's sweep looks at the *table word* of every block, free or not ([`Pool::walk`](super::Pool::walk)): a
//! table says that there is a frame, null that the block is free. A sweep that races with (1) may find the table of a
//! frame that is being freed. It may look at what freeing leaves alone (slot, claim, run), which stays as it was
//! until the owner itself uses the block again. (1) comes before (2), or it would clear the table of the block's next
//! frame, which sweeps would then not find.

use std::ptr::{self, NonNull};

use super::super::frame::VTable;
use crate::atomics::{AtomicPtr, Ordering};

/// The table word of a block.
#[repr(transparent)]
pub(super) struct Table(AtomicPtr<VTable>);

impl Table {
    /// Transition 1: no frame any more.
    #[inline]
    pub(super) fn mark_free(&self) {
        // Relaxed: published by (2), if the owner must know; a sweep may find either.
        self.0.store(ptr::null_mut(), Ordering::Relaxed);
    }

    /// The table of the frame, if there is one.
    pub(super) fn get(&self) -> Option<&'static VTable> {
        // Acquire pairs with nothing: who walks the pool is its owner, or keeps the owner from running by a lock.
        let table = self.0.load(Ordering::Acquire);
        // SAFETY: null, or the table of a frame, which is static.
        unsafe { table.as_ref() }
    }
}

/// What can be given back.
pub(super) trait Block: Sized {
    fn table(&self) -> &Table;

    /// Sets the link to the block below.
    ///
    /// # Safety
    /// The block is free, and the caller's.
    unsafe fn set_next(block: NonNull<Self>, next: *mut Self);

    /// The link to the block below.
    ///
    /// # Safety
    /// As [`set_next`](Block::set_next), which has been called.
    unsafe fn next(block: NonNull<Self>) -> *mut Self;
}

/// The stack.
#[repr(align(64))]
pub(super) struct Returned<B>(AtomicPtr<B>);

impl<B: Block> Returned<B> {
    pub(super) fn new() -> Returned<B> {
        Returned(AtomicPtr::new(ptr::null_mut()))
    }

    /// Transitions 1 and 2.
    ///
    /// # Safety
    /// The block is one of this pool's; nobody uses it any more.
    pub(super) unsafe fn push(&self, block: NonNull<B>) {
        // SAFETY: the block is free and ours until the exchange succeeds.
        unsafe { block.as_ref() }.table().mark_free();
        let mut head = self.0.load(Ordering::Relaxed);
        loop {
            // SAFETY: as above.
            unsafe { B::set_next(block, head) };
            // Release publishes mark and link, and everything done with the block, to the owner's (3).
            match self.0.compare_exchange_weak(head, block.as_ptr(), Ordering::Release, Ordering::Relaxed) {
                Ok(_) => return,
                Err(found) => head = found,
            }
        }
    }

    /// Transition 3: all blocks that are there, linked.
    pub(super) fn take_all(&self) -> Option<NonNull<B>> {
        // Acquire pairs with the Release of every (2): each continues the release sequence of those before it.
        NonNull::new(self.0.swap(ptr::null_mut(), Ordering::Acquire))
    }
}

#[cfg(all(test, loom))]
mod models {
    use super::*;
    use crate::atomics::{Arc, UnsafeCell, thread};
    use loom::model::Builder;

    /// A block with all that a frame has besides.
    struct Cell {
        table: Table,
        /// Read by sweeps, and left alone by those who free.
        run: UnsafeCell<u32>,
        next: UnsafeCell<*mut Cell>,
        contents: UnsafeCell<u32>,
    }

    impl Block for Cell {
        fn table(&self) -> &Table {
            &self.table
        }

        unsafe fn set_next(block: NonNull<Cell>, next: *mut Cell) {
            // SAFETY: the caller's; loom checks it.
            unsafe { block.as_ref() }.next.with_mut(|link| unsafe { *link = next });
        }

        unsafe fn next(block: NonNull<Cell>) -> *mut Cell {
            // SAFETY: as above.
            unsafe { block.as_ref() }.next.with(|link| unsafe { *link })
        }
    }

    /// A pool of blocks that are all in use, by whomever.
    struct Pool {
        returned: Returned<Cell>,
        cells: Vec<Cell>,
    }

    // SAFETY: the links are followed by their block's owner; loom checks it.
    unsafe impl Sync for Pool {}
    // SAFETY: as above.
    unsafe impl Send for Pool {}

    /// Stands for a table; only compared with null.
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

        /// Uses a block for the last time, and gives it back.
        fn free(&self, index: usize) {
            // SAFETY: in use by this thread; loom checks it.
            self.cells[index].contents.with_mut(|contents| unsafe { *contents += 1 });
            // SAFETY: not used any more.
            unsafe { self.returned.push(NonNull::from(&self.cells[index])) };
        }

        /// The owner takes what there is, and uses it again; how many.
        fn reuse(&self, run: u32) -> usize {
            let mut count = 0;
            let mut next = self.returned.take_all();
            while let Some(block) = next {
                // SAFETY: taken.
                next = NonNull::new(unsafe { Cell::next(block) });
                // SAFETY: lies in the pool, which lives.
                let cell = unsafe { block.as_ref() };
                assert!(cell.table.get().is_none(), "what was given back is marked");
                // SAFETY: taken; loom checks it.
                cell.contents.with_mut(|contents| unsafe { *contents += 1 });
                // SAFETY: as above.
                cell.run.with_mut(|now| unsafe { *now = run });
                // Relaxed: the owner's own.
                cell.table.0.store(table(), Ordering::Relaxed);
                count += 1;
            }
            count
        }

        /// The blocks in use of `run`, as a sweep finds them.
        fn sweep(&self, run: u32) -> Vec<usize> {
            let of_run = |&index: &usize| {
                let cell = &self.cells[index];
                // Relaxed: as in `Table::get`; not followed.
                !cell.table.0.load(Ordering::Relaxed).is_null()
                    // SAFETY: written by the owner only; loom checks it.
                    && cell.run.with(|found| unsafe { *found }) == run
            };
            (0..self.cells.len()).filter(of_run).collect()
        }
    }

    #[test]
    fn every_block_comes_back_once() {
        let mut builder = Builder::new();
        builder.preemption_bound.get_or_insert(3);
        builder.check(|| {
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
                // SAFETY: nobody else is left.
                cell.contents.with(|contents| assert_eq!(unsafe { *contents }, 2));
            }
        });
    }

    /// While others free frames, the owner sweeps, uses what came back, and sweeps again.
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
            assert_eq!(pool.sweep(2).len(), back, "what is in use again is found");
            other.join().unwrap();
            assert_eq!(pool.sweep(1), [1]);
            assert_eq!(pool.sweep(2).len(), back);
        });
    }
}
