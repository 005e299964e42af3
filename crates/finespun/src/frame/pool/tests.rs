//! Tests of a pool's pages: reclamation and accounting.

use super::*;

fn allocate(pool: &Pool, class: Class, count: usize) -> Vec<FrameRef> {
    (0..count).map(|_| pool.allocate(class)).collect()
}

fn free_all(pool: &Pool, class: Class, blocks: Vec<FrameRef>) {
    pool.own();
    for block in blocks {
        // SAFETY: the block is from this pool, of this class, and in use.
        unsafe { free(block.cast(), class) };
    }
    pool.disown();
}

fn pages(pool: &Pool) -> usize {
    // SAFETY: no other thread uses the pool.
    unsafe { &*pool.pages.get() }.len()
}

const SMALL: Class = Class::Pooled(3);
const WIDE: Class = Class::Pooled(31);
/// The number of small blocks in a page.
const OF_A_PAGE: usize = (PAGE - PAGE_HEADER) / SMALL.bytes();

#[test]
fn a_page_is_reclaimed_when_all_its_carved_blocks_are_free() {
    let pool = Box::new(Pool::new());
    let (small, wide) = (allocate(&pool, SMALL, 3), allocate(&pool, WIDE, 2));
    let kept = allocate(&pool, SMALL, OF_A_PAGE);
    assert_eq!(pages(&pool), 3);
    free_all(&pool, WIDE, wide);
    pool.reclaim();
    assert_eq!(pages(&pool), 2, "a partly carved page is reclaimed");
    free_all(&pool, SMALL, small);
    pool.reclaim();
    assert_eq!(pages(&pool), 2, "each has a live block");
    let again = allocate(&pool, SMALL, 3);
    assert_eq!(pages(&pool), 2, "its free blocks are still there");
    free_all(&pool, SMALL, again);
    free_all(&pool, SMALL, kept);
    pool.reclaim();
    assert_eq!(pages(&pool), 0);
    let mut afresh = allocate(&pool, SMALL, OF_A_PAGE + 1);
    assert_eq!(pages(&pool), 2, "no block is carved from a reclaimed page");
    afresh.sort_unstable();
    afresh.dedup();
    assert_eq!(afresh.len(), OF_A_PAGE + 1);
    free_all(&pool, SMALL, afresh);
    pool.reclaim();
    pool.release();
}

#[test]
fn a_page_is_credited_to_the_budget_that_it_was_charged_to() {
    let pool = Box::new(Pool::new());
    let earlier = Arc::new(Budget::new(Some(1 << 30), 1));
    pool.set_budget(Arc::clone(&earlier));
    let inherited = allocate(&pool, SMALL, 1);
    let budget = Arc::new(Budget::new(Some(1 << 30), 1));
    pool.set_budget(Arc::clone(&budget));
    let own = allocate(&pool, WIDE, 1);
    assert_eq!((earlier.used(), budget.used()), (PAGE, PAGE));
    free_all(&pool, SMALL, inherited);
    pool.reclaim();
    assert_eq!((pages(&pool), budget.used()), (1, PAGE), "the page that is left is the budget's");
    free_all(&pool, WIDE, own);
    pool.reclaim();
    assert_eq!((pages(&pool), budget.used()), (0, 0));
    pool.release();
}
