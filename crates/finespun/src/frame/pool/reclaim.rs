//! Reclamation of pages without a live block.
//!
//! Reclaimed pages move to a process-wide list, from which any pool takes pages for any class. See
//! [`budget`] for when a budget asks for a reclamation.

use std::cell::Cell;
use std::ptr::{self, NonNull};
use std::sync::atomic::AtomicUsize;

use super::{Block, CLASSES, IDLE, PAGE, Pool, header, page_of};
use crate::atomics::Ordering;
use crate::frame::budget::{self, Budget};
use crate::process::ProcessMutex;

/// A page without a live block, which belongs to no pool.
struct Spare(NonNull<u8>);
// SAFETY: a spare page is unshared memory: no pool refers to it.
unsafe impl Send for Spare {}

/// Pages that have been reclaimed.
static SPARE: ProcessMutex<Vec<Spare>> = ProcessMutex::new(Vec::new());
/// The length of `SPARE`: a hint.
static SPARES: AtomicUsize = AtomicUsize::new(0);

/// Replaces the count of free blocks in the header of a page that is being reclaimed.
const WHOLE: u32 = u32::MAX;

impl Pool {
    /// Reclaims pages, unless the pool has done so in the budget's current epoch.
    pub(crate) fn reclaim_once(&self, budget: &Budget) {
        let epoch = budget.epoch();
        if self.epoch.replace(epoch) != epoch {
            budget.answer(epoch, || self.reclaim());
        }
    }

    /// Reclaims the pages whose carved blocks are all free. Visits each page and each free block.
    pub(super) fn reclaim(&self) {
        self.collect();
        // SAFETY: only the owner uses the list.
        let pages = unsafe { &mut *self.pages.get() };
        for &page in &*pages {
            // SAFETY: the page belongs to this pool, and stays so during the call.
            unsafe { header(page) }.free.set(0);
        }
        self.each_free(|free, _| free.set(free.get() + 1));
        let (mut gone, mut own) = (Vec::new(), 0);
        pages.retain(|&page| {
            // SAFETY: the page belongs to this pool, and stays so until it is given away below.
            let header = unsafe { header(page) };
            let whole = header.free.get() as usize == self.carved(page);
            if whole {
                header.free.set(WHOLE);
                own += if header.term == self.term.get() { PAGE } else { 0 };
                gone.push(Spare(page));
            }
            !whole
        });
        if gone.is_empty() {
            return;
        }
        let mut left = [const { (ptr::null_mut::<Block>(), ptr::null_mut::<Block>()) }; CLASSES];
        self.each_free(|free, (index, block)| {
            if free.get() == WHOLE {
                return;
            }
            let (first, last) = &mut left[index];
            match NonNull::new(*last) {
                // SAFETY: the block is free, belongs to this pool and has been visited.
                Some(last) => unsafe { (*last.as_ptr()).next = block.as_ptr() },
                None => *first = block.as_ptr(),
            }
            *last = block.as_ptr();
        });
        for (list, (first, last)) in self.free.iter().zip(left) {
            list.set(first);
            if let Some(last) = NonNull::new(last) {
                // SAFETY: the block is free, belongs to this pool and has been visited.
                unsafe { (*last.as_ptr()).next = ptr::null_mut() };
            }
        }
        for fresh in &self.fresh {
            let (next, _) = fresh.get();
            // SAFETY: the byte before `next` is part of a page that belonged to this pool until now, and whose memory
            // still exists.
            if !next.is_null() && unsafe { page_of(next.wrapping_sub(1)).as_ref() }.free.get() == WHOLE {
                fresh.set((ptr::null_mut(), ptr::null_mut()));
            }
        }
        let bytes = gone.len() * PAGE;
        match &*self.budget.borrow() {
            Some(budget) => budget.credit(bytes, own),
            None => budget::credit_process(bytes),
        }
        let mut spare = SPARE.lock();
        spare.extend(gone);
        SPARES.store(spare.len(), Ordering::Relaxed);
    }

    /// Calls `visit` for each free block, with the count of free blocks in its page, its class, and the block itself.
    /// `visit` may relink the blocks that it has visited.
    fn each_free(&self, mut visit: impl FnMut(&Cell<u32>, (usize, NonNull<Block>))) {
        for (index, list) in self.free.iter().enumerate() {
            let mut next = NonNull::new(list.get());
            while let Some(block) = next {
                // SAFETY: blocks in the free list are free and owned by this thread.
                next = NonNull::new(unsafe { block.as_ref() }.next);
                // SAFETY: every pooled block is part of a page with a header.
                visit(&unsafe { page_of(block.as_ptr().cast()).as_ref() }.free, (index, block));
            }
        }
    }
}

/// Returns a reclaimed page, if there is one.
pub(super) fn spare_page() -> Option<*mut u8> {
    // Relaxed: a hint.
    if SPARES.load(Ordering::Relaxed) == 0 {
        return None;
    }
    let mut spare = SPARE.lock();
    let page = spare.pop();
    SPARES.store(spare.len(), Ordering::Relaxed);
    page.map(|Spare(page)| page.as_ptr())
}

/// Reclaims the pages of pools without a worker.
pub(crate) fn reclaim_idle() {
    IDLE.lock().iter().for_each(|pool| pool.reclaim());
}
