//! Memory for frames: per-worker free lists by size class, and a return path for frames freed by other threads.
//!
//! A pool carves each of its *pages* of 64 KiB into blocks of one size class. Pages are aligned to their size, so a
//! block's address leads to its page's header and from there to the pool that owns it. The pool's owner, a worker,
//! allocates and frees without atomic read-modify-write operations. Another thread returns a block by pushing it on the
//! pool's *returned* stack, which the owner takes whole when a free list runs dry. [`returned`] describes the protocol.
//!
//! ```text
//!   owner:   free list[class] --pop--> block --push--> free list[class]
//!   others:  block --push--> returned --take all--> free lists of the owner
//! ```
//!
//! Pools are never destroyed: a worker that ends gives its pool to the next one that starts, in any runtime. So a waker
//! or continuation may outlive its runtime: its leaf is a block that stays in use until both sides have released it
//! ([`claim`](super::claim)), and a block in use keeps its page, its class and its pool. Blocks above [`MAX_POOLED`]
//! bytes come from the system's allocator.
//!
//! Pages and large blocks are counted ([`budget`]). When memory is tight, the owner *reclaims* each page
//! whose carved blocks are all in its free lists: the page moves to a process-wide list, from which any pool takes
//! pages for any class.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::{Cell, RefCell, UnsafeCell};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::process::ProcessMutex;

use super::budget::{self, Budget, Room};
use super::context::try_cx;
use super::{FrameRef, Header, Payload, VTable};

mod reclaim;
mod returned;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use reclaim::reclaim_idle;
use reclaim::spare_page;
use returned::{Returned, Table};

/// The block granularity in bytes: a block's size and alignment are multiples of this.
pub(crate) const GRAIN: usize = 16;
/// The size of the largest pooled block.
pub(crate) const MAX_POOLED: usize = 1024;
const CLASSES: usize = MAX_POOLED / GRAIN;
const PAGE: usize = 64 * 1024;
const PAGE_HEADER: usize = 64;
/// The bytes that a pool of at least twice this size takes from the system at once: a huge page where the system has
/// them. A million waiting tasks touch 96 MB; with small pages, most of the time to create them would go into 24,000
/// page faults.
const REGION: usize = 2 << 20;

/// The size class of a block, or the layout of a large one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Class {
    /// A pooled block of `(index + 1) * GRAIN` bytes.
    Pooled(u8),
    /// A block from the system's allocator.
    Large(Layout),
}

impl Class {
    pub(crate) const fn of(layout: Layout) -> Class {
        if layout.size() <= MAX_POOLED && layout.align() <= GRAIN {
            Class::pooled(layout.size())
        } else {
            Class::Large(layout)
        }
    }

    /// Returns the class of pooled blocks of this size in bytes, from 1 to [`MAX_POOLED`], and of any alignment up to
    /// [`GRAIN`].
    #[inline(always)]
    pub(crate) const fn pooled(size: usize) -> Class {
        debug_assert!(0 < size && size <= MAX_POOLED);
        Class::Pooled(((size - 1) / GRAIN) as u8)
    }

    pub(crate) const fn large(layout: Layout) -> Class {
        Class::Large(layout)
    }

    /// Returns the size in bytes of a block of this class.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Class::Pooled(index) => (index as usize + 1) * GRAIN,
            Class::Large(layout) => layout.size(),
        }
    }
}

/// A free block.
///
/// Slot word, claim and group number of its former frame keep their values, for a late sweep.
#[repr(C)]
struct Block {
    _slot: usize,
    /// Overlays a frame's table pointer: null marks a free block for [`Pool::walk`].
    table: Table,
    _claim_and_run: u64,
    next: *mut Block,
}

const _: () = assert!(size_of::<Block>() <= size_of::<Header>() + size_of::<Payload>());
// Loom's atomics are larger.
#[cfg(not(loom))]
const _: () = {
    use std::mem;
    assert!(mem::offset_of!(Block, table) == mem::offset_of!(Header, vtable));
    assert!(mem::offset_of!(Block, next) >= size_of::<Header>());
};

impl returned::Block for Block {
    fn table(&self) -> &Table {
        &self.table
    }

    unsafe fn set_next(block: NonNull<Block>, next: *mut Block) {
        // SAFETY: the caller guarantees that the block is free and its own.
        unsafe { (*block.as_ptr()).next = next };
    }

    unsafe fn next(block: NonNull<Block>) -> *mut Block {
        // SAFETY: the caller guarantees that the block is free and its own.
        unsafe { (*block.as_ptr()).next }
    }
}

#[repr(C, align(64))]
struct PageHeader {
    owner: &'static Returned<Block>,
    class: u8,
    /// The pool's [term](Pool::term) when the page was charged; zero if it was charged to the process alone.
    term: u32,
    /// Used during a reclamation: the number of the page's blocks in the free lists, or [`WHOLE`](reclaim). Only the
    /// owner uses this field; other threads read only the first two.
    free: Cell<u32>,
}

/// Returns the header of a page.
///
/// # Safety
/// `page` is a page of some pool, and stays so during `'a`.
unsafe fn header<'a>(page: NonNull<u8>) -> &'a PageHeader {
    // SAFETY: the caller guarantees that the page has a header.
    unsafe { page.cast().as_ref() }
}

thread_local! {
    /// The pool that this thread owns: `free` compares it with a block's owner.
    static OWN: Cell<*const Pool> = const { Cell::new(ptr::null()) };
}

/// The frame memory of one worker.
pub(crate) struct Pool {
    free: [Cell<*mut Block>; CLASSES],
    /// Blocks of other pools, freed here and not returned yet.
    foreign: Cell<*mut Block>,
    /// The uncarved rest of the newest page of each class: (next, end).
    fresh: [Cell<(*mut u8, *mut u8)>; CLASSES],
    returned: &'static Returned<Block>,
    pages: UnsafeCell<Vec<NonNull<u8>>>,
    /// Memory for further pages: (next, end).
    spare: Cell<(*mut u8, *mut u8)>,
    /// The budget that pages are charged to.
    budget: RefCell<Option<Arc<Budget>>>,
    /// The number of that budget among the pool's budgets, counted from 1. Pages charged to an earlier budget are not
    /// credited to this one.
    term: Cell<u32>,
    /// The budget's epoch at the last reclamation.
    epoch: Cell<u32>,
}

// SAFETY: a pool is used by one thread at a time: it is moved between threads only through the mutex of `IDLE`.
unsafe impl Send for Pool {}

/// Pools without a worker.
#[expect(clippy::vec_box, reason = "a pool keeps its address: its owner's thread-local points to it")]
static IDLE: ProcessMutex<Vec<Box<Pool>>> = ProcessMutex::new(Vec::new());

impl Pool {
    /// Returns an idle pool, or a new one.
    pub(crate) fn acquire() -> Box<Pool> {
        let idle = IDLE.lock().pop();
        idle.unwrap_or_else(|| Box::new(Pool::new()))
    }

    fn new() -> Pool {
        Pool {
            free: [const { Cell::new(ptr::null_mut()) }; CLASSES],
            foreign: Cell::new(ptr::null_mut()),
            fresh: [const { Cell::new((ptr::null_mut(), ptr::null_mut())) }; CLASSES],
            returned: Box::leak(Box::new(Returned::new())),
            pages: UnsafeCell::new(Vec::new()),
            spare: Cell::new((ptr::null_mut(), ptr::null_mut())),
            budget: RefCell::new(None),
            term: Cell::new(0),
            epoch: Cell::new(0),
        }
    }

    /// Offers the pool to the next worker. A large pool keeps only the pages that have live blocks.
    pub(crate) fn release(self: Box<Pool>) {
        self.return_foreign();
        // SAFETY: the caller owns the pool.
        if unsafe { &*self.pages.get() }.len() * PAGE > 2 * REGION {
            self.reclaim();
        }
        *self.budget.borrow_mut() = None;
        IDLE.lock().push(self);
    }

    /// Charges pages to `budget` from now on.
    pub(crate) fn set_budget(&self, budget: Arc<Budget>) {
        self.term.set(self.term.get() + 1);
        self.epoch.set(Budget::FIRST_EPOCH);
        *self.budget.borrow_mut() = Some(budget);
    }

    /// Makes this thread the owner, so that it frees the pool's blocks straight to the free lists, until
    /// [`disown`](Pool::disown).
    pub(crate) fn own(&self) {
        OWN.set(self);
    }

    /// Ends [`own`](Pool::own).
    pub(crate) fn disown(&self) {
        OWN.set(ptr::null());
    }

    /// Allocates memory for one block.
    #[inline]
    pub(crate) fn allocate(&self, class: Class) -> FrameRef {
        match self.take_free(class) {
            Some(block) => block,
            None => self.allocate_more(class),
        }
    }

    /// Takes a block from the free list, unless it is empty.
    #[inline(always)]
    pub(crate) fn take_free(&self, class: Class) -> Option<FrameRef> {
        let Class::Pooled(index) = class else { return None };
        let list = &self.free[usize::from(index)];
        let block = NonNull::new(list.get())?;
        // SAFETY: blocks in the free list are free and owned by this thread.
        list.set(unsafe { block.as_ref() }.next);
        Some(block.cast())
    }

    /// Allocates memory for one block that the free list does not have.
    #[cold]
    #[inline(never)]
    fn allocate_more(&self, class: Class) -> FrameRef {
        let Class::Pooled(index) = class else {
            return self.allocate_class_large(class);
        };
        if self.collect()
            && let Some(block) = self.take_free(class)
        {
            return block;
        }
        let size = Class::Pooled(index).bytes();
        let (mut next, mut end) = self.fresh[usize::from(index)].get();
        if (end.addr() - next.addr()) < size {
            next = self.new_page(index);
            // SAFETY: the result is one past the end of the page, whose header takes the `PAGE_HEADER` bytes before
            // `next`.
            end = unsafe { next.add(PAGE - PAGE_HEADER) };
        }
        // SAFETY: `size` bytes are left before `end`.
        let rest = unsafe { next.add(size) };
        self.fresh[usize::from(index)].set((rest, end));
        match NonNull::new(next) {
            Some(block) => block.cast(),
            None => unreachable!("a page has an address"),
        }
    }

    fn new_page(&self, index: u8) -> *mut u8 {
        let term = self.count_page(index);
        let page = match spare_page() {
            Some(page) => page,
            None => self.take_page(),
        };
        let header = PageHeader { owner: self.returned, class: index, term, free: Cell::new(0) };
        // SAFETY: the page is fresh memory, aligned and large enough for a header.
        unsafe { page.cast::<PageHeader>().write(header) };
        if let Some(page) = NonNull::new(page) {
            // SAFETY: only the owner uses the list.
            unsafe { (*self.pages.get()).push(page) };
        }
        // SAFETY: the header is smaller than the page, so the result is within the page.
        unsafe { page.add(PAGE_HEADER) }
    }

    /// Charges a page, and lets the worker act if memory is tight or exceeded. Returns the term in which the page was
    /// charged.
    fn count_page(&self, index: u8) -> u32 {
        let Some(budget) = self.budget.borrow().clone() else {
            budget::charge_process(PAGE);
            return 0;
        };
        let room = budget.charge(PAGE);
        if let Some(cx) = try_cx() {
            // No frame is current in a message handler: the last carved frame then names the task that the handler
            // calls.
            let body = Some(cx.current_body()).filter(|body| !body.is_empty());
            budget.note(cx.run(), body.or_else(|| self.last_body(index)).unwrap_or_default());
        }
        exceed(&budget, room);
        self.term.get()
    }

    /// Returns the name of the body type of the last carved block, if its frame is live.
    fn last_body(&self, index: u8) -> Option<&'static str> {
        let (next, _) = self.fresh[usize::from(index)].get();
        if next.is_null() {
            return None;
        }
        // SAFETY: a page's first block is carved when the page is made, so a carved block ends at `next`; this thread
        // owns the page.
        let block = unsafe { next.sub(Class::Pooled(index).bytes()) }.cast::<Block>();
        // SAFETY: every carved block has a table word, which other threads write only by `mark_free`.
        unsafe { &(*block).table }.get().map(|table| (table.name)())
    }

    /// Returns the number of carved blocks in a page of this pool.
    fn carved(&self, page: NonNull<u8>) -> usize {
        // SAFETY: the page belongs to this pool, and stays so during the call.
        let index = unsafe { header(page) }.class;
        let (next, _) = self.fresh[usize::from(index)].get();
        let (start, next) = (page.addr().get(), next.addr());
        let end = if start < next && next <= start + PAGE { next - start } else { PAGE };
        (end - PAGE_HEADER) / Class::Pooled(index).bytes()
    }

    fn allocate_class_large(&self, class: Class) -> FrameRef {
        match class {
            Class::Large(layout) => allocate_large(layout, self.budget.borrow().clone()),
            Class::Pooled(_) => unreachable!("pooled blocks come from the free lists"),
        }
    }

    /// Takes memory for a page: one page at a time while the pool is small, then [`REGION`] bytes at once.
    fn take_page(&self) -> *mut u8 {
        let (mut next, mut end) = self.spare.get();
        if next == end {
            // SAFETY: only the owner uses the list.
            let many = unsafe { &*self.pages.get() }.len() * PAGE >= 2 * REGION;
            let bytes = if many { REGION } else { PAGE };
            let Ok(layout) = Layout::from_size_align(bytes, bytes) else { unreachable!("both are powers of two") };
            // SAFETY: the layout is not empty.
            next = unsafe { alloc(layout) };
            if next.is_null() {
                handle_alloc_error(layout);
            }
            #[cfg(target_os = "linux")]
            if many {
                // SAFETY: the memory is the pool's own, and the advice keeps its contents. It has no effect without
                // large pages.
                unsafe { libc::madvise(next.cast(), bytes, libc::MADV_HUGEPAGE) };
            }
            // SAFETY: the result is one past the end of the allocation.
            end = unsafe { next.add(bytes) };
        }
        // SAFETY: at least one page is left before `end`.
        self.spare.set((unsafe { next.add(PAGE) }, end));
        next
    }

    /// Calls `visit` with every block that is not free. Another thread may be freeing such a block: its memory is not
    /// reused until this pool's owner allocates again or reclaims its pages.
    ///
    /// The caller must be the owner, or keep the owner from running.
    ///
    /// `visit` may use the table that it receives (the frame's own table word may be cleared during the call), and the
    /// frame's slot, claim and group number, which freeing leaves unchanged.
    pub(crate) fn walk(&self, mut visit: impl FnMut(FrameRef, &'static VTable)) {
        // SAFETY: only the owner changes the list, and the caller is the owner or keeps it from running.
        for &page in unsafe { &*self.pages.get() } {
            // SAFETY: the page belongs to this pool, and stays so during the call.
            let size = Class::Pooled(unsafe { header(page) }.class).bytes();
            for number in 0..self.carved(page) {
                // SAFETY: the block is within the page.
                let block = unsafe { page.add(PAGE_HEADER + number * size) }.cast::<Block>();
                // SAFETY: every carved block has a table word, which other threads write only by `mark_free`.
                if let Some(table) = unsafe { &(*block.as_ptr()).table }.get() {
                    visit(block.cast(), table);
                }
            }
        }
    }

    /// Moves the blocks that other threads returned to the free lists. Returns whether there were any.
    fn collect(&self) -> bool {
        let mut next = self.returned.take_all();
        let any = next.is_some();
        while let Some(block) = next {
            // SAFETY: the owner has taken the whole chain, so its blocks are free, with their links set.
            next = NonNull::new(unsafe { returned::Block::next(block) });
            // SAFETY: every pooled block is part of a page with a header.
            let index = unsafe { page_of(block.as_ptr().cast()).as_ref() }.class;
            self.put(block, index);
        }
        any
    }

    /// Frees a pooled block without a call, on the thread of this pool's owner. Another pool gets its block back when
    /// [`return_foreign`](Pool::return_foreign) is called.
    ///
    /// # Safety
    /// The block came from a pool with this class, and is not used any more.
    #[inline(always)]
    pub(crate) unsafe fn free_here(&self, block: NonNull<u8>, index: u8) {
        let block = block.cast::<Block>();
        // SAFETY: every pooled block is part of a page with a header.
        let owner = unsafe { page_of(block.as_ptr().cast()).as_ref() }.owner;
        let list = if ptr::eq(self.returned, owner) {
            &self.free[usize::from(index)]
        } else {
            // A branch, which the processor predicts: a selection would delay the next allocation.
            std::hint::cold_path();
            &self.foreign
        };
        // SAFETY: the caller guarantees that the block is not used any more, so this thread may mark it, and link it.
        unsafe {
            (*block.as_ptr()).table.mark_free();
            (*block.as_ptr()).next = list.get();
        }
        list.set(block.as_ptr());
    }

    /// Returns other pools' blocks that [`free_here`](Pool::free_here) has freed. On the thread of this pool's owner.
    pub(crate) fn return_foreign(&self) {
        let mut next = NonNull::new(self.foreign.replace(ptr::null_mut()));
        while let Some(block) = next {
            // SAFETY: the block is in the list, so free, and this thread's until the next statement.
            next = NonNull::new(unsafe { block.as_ref() }.next);
            // SAFETY: the block is not used any more, and its page names its pool.
            unsafe { free_elsewhere(page_of(block.as_ptr().cast()).as_ref().owner, block) };
        }
    }

    /// Frees a pooled block, on the thread of this pool's owner.
    ///
    /// # Safety
    /// The block came from a pool with this class, and is not used any more.
    #[inline(always)]
    unsafe fn put_or_return(&self, block: NonNull<Block>, index: u8) {
        // SAFETY: every pooled block is part of a page with a header.
        let owner = unsafe { page_of(block.as_ptr().cast()).as_ref() }.owner;
        if ptr::eq(self.returned, owner) {
            // SAFETY: the caller guarantees that the block is not used any more, so this thread may mark it.
            unsafe { &(*block.as_ptr()).table }.mark_free();
            self.put(block, index);
        } else {
            // SAFETY: the caller guarantees that the block is not used any more; its page names `owner` as its pool.
            unsafe { free_elsewhere(owner, block) };
        }
    }

    fn put(&self, block: NonNull<Block>, index: u8) {
        let list = &self.free[usize::from(index)];
        // SAFETY: the block is free, and this thread owns it.
        unsafe { (*block.as_ptr()).next = list.get() };
        list.set(block.as_ptr());
    }
}

/// Returns the page that contains a byte of some block.
///
/// # Safety
/// `byte` is part of a page, or was.
#[inline(always)]
unsafe fn page_of(byte: *mut u8) -> NonNull<PageHeader> {
    let page = byte.map_addr(|address| address & !(PAGE - 1)).cast::<PageHeader>();
    // SAFETY: the caller guarantees a page, which the system's allocator gave, so not at the null pointer.
    unsafe { NonNull::new_unchecked(page) }
}

/// Returns the size of the prefix of a large block, which stores the budget it is charged to, and the layout of both.
const fn large(layout: Layout) -> (usize, Layout) {
    let align = if layout.align() > GRAIN { layout.align() } else { GRAIN };
    match Layout::from_size_align(layout.size() + align, align) {
        Ok(layout) => (align, layout),
        Err(_) => panic!("a frame is larger than the address space"),
    }
}

/// Allocates a block of any size from the system, charged to `budget` if there is one.
pub(crate) fn allocate_large(layout: Layout, budget: Option<Arc<Budget>>) -> FrameRef {
    let (front, whole) = large(layout);
    // SAFETY: the layout is not empty.
    let memory = unsafe { alloc(whole) };
    let Some(memory) = NonNull::new(memory) else { handle_alloc_error(whole) };
    if let Some(budget) = &budget {
        let room = budget.charge_large(whole.size());
        if let Some(cx) = try_cx() {
            budget.note(cx.run(), cx.current_body());
        }
        exceed(budget, room);
    }
    let charged = budget.map_or(ptr::null(), Arc::into_raw);
    // SAFETY: the allocation begins with `front` aligned bytes for the budget, followed by the block.
    unsafe {
        memory.cast().write(charged);
        memory.add(front).cast()
    }
}

/// Frees a large block and credits its budget.
///
/// # Safety
/// The block came from [`allocate_large`] with this layout, and is not used any more.
#[cold]
#[inline(never)]
unsafe fn free_large(block: NonNull<u8>, layout: Layout) {
    let (front, whole) = large(layout);
    // SAFETY: `allocate_large` has put the block `front` bytes behind the start of its allocation.
    let memory = unsafe { block.sub(front) };
    // SAFETY: `allocate_large` has written the pointer.
    let charged = unsafe { memory.cast::<*const Budget>().read() };
    if !charged.is_null() {
        // SAFETY: the pointer is from `Arc::into_raw`, and is converted back once.
        let budget = unsafe { Arc::from_raw(charged) };
        budget.credit_large(whole.size());
    }
    // SAFETY: the caller guarantees that `allocate_large` allocated the block with this layout, and that it is not used
    // any more.
    unsafe { dealloc(memory.as_ptr(), whole) };
}

/// Passes the state of the budget after an allocation to the worker, which acts if memory is tight or exceeded. Does
/// nothing outside a worker.
#[cold]
fn exceed(budget: &Budget, room: Room) {
    if let Some(cx) = try_cx() {
        cx.core().scheduler().allocated(budget, room);
    }
}

/// Frees a block, on any thread.
///
/// # Safety
/// The block came from a pool or `allocate_large` with this class, and is not used any more.
#[inline]
pub(crate) unsafe fn free(block: NonNull<u8>, class: Class) {
    match class {
        Class::Pooled(index) => {
            let block = block.cast::<Block>();
            // SAFETY: `OWN` is null or this thread's own pool, which lives as long as the thread owns it.
            match unsafe { OWN.get().as_ref() } {
                // SAFETY: the caller guarantees that the block is a pool's, and not used any more.
                Some(pool) => unsafe { pool.put_or_return(block, index) },
                // SAFETY: the caller guarantees that the block is not used any more; its page names its pool.
                None => unsafe { free_elsewhere(page_of(block.as_ptr().cast()).as_ref().owner, block) },
            }
        }
        // SAFETY: the caller guarantees that `allocate_large` allocated the block with this layout, and that it is not
        // used any more.
        Class::Large(layout) => unsafe { free_large(block, layout) },
    }
}

/// Frees a pooled block of any class, on any thread.
///
/// # Safety
/// The block came from a pool, and is not used any more.
#[inline]
pub(crate) unsafe fn free_pooled(block: NonNull<u8>) {
    // SAFETY: every pooled block is part of a page with a header.
    let index = unsafe { page_of(block.as_ptr()).as_ref() }.class;
    // SAFETY: the caller guarantees that the block, of this class, is not used any more.
    unsafe { free(block, Class::Pooled(index)) };
}

#[cold]
#[inline(never)]
unsafe fn free_elsewhere(owner: &'static Returned<Block>, block: NonNull<Block>) {
    // SAFETY: the caller guarantees that the block belongs to the owner's pool and is not used any more.
    unsafe { owner.push(block) };
}
