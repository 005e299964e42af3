//! Where frames come from: per-worker free lists by size class, and a return path for frames freed elsewhere.
//!
//! A pool carves blocks of one size class from *pages* of 64 KiB, aligned to their size, so that a block's address
//! leads to its page's header and from there to the pool that owns it. The owner allocates and frees without atomic
//! operations; another thread gives a block back by pushing it on the owner's *returned* stack, which the owner takes
//! whole when a free list runs dry. The protocol stands in [`returned`].
//!
//! ```text
//!   owner:   free list[class] --pop--> block --push--> free list[class]
//!   others:  block --push--> returned --take all--> free lists of the owner
//! ```
//!
//! Pools are never destroyed: a worker that ends gives its pool to the next one that starts, in any runtime. So a waker or
//! continuation may outlive its runtime: the leaf that it holds is a block that is in use until the last side has let it go
//! ([`claim`](super::suspend)), and a block in use keeps its page, its class and its pool. Blocks above [`MAX_POOLED`] bytes come
//! from the system's allocator.
//!
//! Pages and large blocks are counted ([`budget`](super::budget)). When memory is tight, the owner *reclaims* the pages of which
//! all blocks that have been carved are in its free lists: they go to a list of the process, and serve any class of any pool
//! again.

use std::alloc::{Layout, alloc, dealloc, handle_alloc_error};
use std::cell::{Cell, RefCell, UnsafeCell};
use std::ptr::{self, NonNull};
use std::sync::Arc;

use crate::process::ProcessMutex;

use super::budget::{self, Budget, Room};
use super::context::try_cx;
use super::frame::{FrameRef, Header, Payload, VTable};

mod reclaim;
mod returned;
#[cfg(all(test, not(loom)))]
mod tests;

pub(crate) use reclaim::reclaim_idle;
use reclaim::spare_page;
use returned::{Returned, Table};

/// Blocks are multiples of this many bytes, and aligned to it.
const GRAIN: usize = 16;
/// The largest pooled block.
pub(crate) const MAX_POOLED: usize = 1024;
const CLASSES: usize = MAX_POOLED / GRAIN;
const PAGE: usize = 64 * 1024;
const PAGE_HEADER: usize = 64;
/// What a pool that has twice as much takes from the system at once: a large page where the system has them. A million
/// tasks that wait touch 96 MB; most of the time to make them would go into 24,000 page faults.
const REGION: usize = 2 << 20;

/// The size class of a block, or the layout of a large one.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Class {
    /// `(index + 1) * GRAIN` bytes.
    Pooled(u8),
    /// From the system's allocator.
    Large(Layout),
}

impl Class {
    pub(crate) const fn of(layout: Layout) -> Class {
        if layout.size() <= MAX_POOLED && layout.align() <= GRAIN {
            Class::Pooled((layout.size().div_ceil(GRAIN) - 1) as u8)
        } else {
            Class::Large(layout)
        }
    }

    pub(crate) const fn large(layout: Layout) -> Class {
        Class::Large(layout)
    }

    /// The bytes that a block of this class takes.
    pub(crate) const fn bytes(self) -> usize {
        match self {
            Class::Pooled(index) => (index as usize + 1) * GRAIN,
            Class::Large(layout) => layout.size(),
        }
    }
}

/// A free block.
///
/// Slot word, claim and run of the frame that it was stay as they were, for a sweep that comes too late.
#[repr(C)]
struct Block {
    _slot: usize,
    /// Over the table of a frame: null marks a free block for [`Pool::walk`].
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
        // SAFETY: the caller's block.
        unsafe { (*block.as_ptr()).next = next };
    }

    unsafe fn next(block: NonNull<Block>) -> *mut Block {
        // SAFETY: the caller's block.
        unsafe { (*block.as_ptr()).next }
    }
}

#[repr(C, align(64))]
struct PageHeader {
    owner: &'static Returned<Block>,
    class: u8,
    /// The pool's [term](Pool::term) when the page was charged; zero if it was charged to the process alone.
    term: u32,
    /// While pages are reclaimed: how many blocks are in the free lists, or [`WHOLE`]. The owner's; others read the first two
    /// fields only.
    free: Cell<u32>,
}

/// The header of a page.
///
/// # Safety
/// A page of some pool, which stays that meanwhile.
unsafe fn header<'a>(page: NonNull<u8>) -> &'a PageHeader {
    // SAFETY: the caller guarantees that the page has a header.
    unsafe { page.cast().as_ref() }
}

thread_local! {
    /// The returned stack of the pool that this thread owns, to tell own blocks from others.
    static OWN: Cell<*const Pool> = const { Cell::new(ptr::null()) };
}

/// One worker's frames.
pub(crate) struct Pool {
    free: [Cell<*mut Block>; CLASSES],
    /// The rest of the newest page of a class, not yet carved: (next, end).
    fresh: [Cell<(*mut u8, *mut u8)>; CLASSES],
    returned: &'static Returned<Block>,
    pages: UnsafeCell<Vec<NonNull<u8>>>,
    /// Memory for further pages: (next, end).
    spare: Cell<(*mut u8, *mut u8)>,
    /// What pages are charged to.
    budget: RefCell<Option<Arc<Budget>>>,
    /// Which of the pool's budgets that is, counted from 1 on: pages that were charged to an earlier one are not credited to it.
    term: Cell<u32>,
    /// The budget's epoch at which pages have last been reclaimed.
    epoch: Cell<u32>,
}

// SAFETY: a pool is used by one thread at a time: it is moved between threads only through the registry's mutex.
unsafe impl Send for Pool {}

/// Pools without a worker.
#[expect(clippy::vec_box, reason = "a pool keeps its address: its owner's thread-local points to it")]
static IDLE: ProcessMutex<Vec<Box<Pool>>> = ProcessMutex::new(Vec::new());

impl Pool {
    /// An idle pool, or a new one.
    pub(crate) fn acquire() -> Box<Pool> {
        let idle = IDLE.lock().pop();
        idle.unwrap_or_else(|| Box::new(Pool::new()))
    }

    fn new() -> Pool {
        Pool {
            free: [const { Cell::new(ptr::null_mut()) }; CLASSES],
            fresh: [const { Cell::new((ptr::null_mut(), ptr::null_mut())) }; CLASSES],
            returned: Box::leak(Box::new(Returned::new())),
            pages: UnsafeCell::new(Vec::new()),
            spare: Cell::new((ptr::null_mut(), ptr::null_mut())),
            budget: RefCell::new(None),
            term: Cell::new(0),
            epoch: Cell::new(0),
        }
    }

    /// Gives the pool to the next worker that asks. A large one keeps the pages only that have live blocks.
    pub(crate) fn release(self: Box<Pool>) {
        // SAFETY: the caller owns the pool.
        if unsafe { &*self.pages.get() }.len() * PAGE > 2 * REGION {
            self.reclaim();
        }
        *self.budget.borrow_mut() = None;
        IDLE.lock().push(self);
    }

    /// From now on pages are charged to that budget.
    pub(crate) fn set_budget(&self, budget: Arc<Budget>) {
        self.term.set(self.term.get() + 1);
        self.epoch.set(Budget::FIRST_EPOCH);
        *self.budget.borrow_mut() = Some(budget);
    }

    /// Makes this thread the owner, so that frees on it take the short way; until `disown`.
    pub(crate) fn own(&self) {
        OWN.set(self);
    }

    /// Ends [`own`](Pool::own).
    pub(crate) fn disown(&self) {
        OWN.set(ptr::null());
    }

    /// Memory for one block.
    #[inline]
    pub(crate) fn allocate(&self, class: Class) -> FrameRef {
        let Class::Pooled(index) = class else {
            return self.allocate_class_large(class);
        };
        let list = &self.free[usize::from(index)];
        match NonNull::new(list.get()) {
            Some(block) => {
                // SAFETY: blocks in the free list are free and owned by this thread.
                list.set(unsafe { block.as_ref() }.next);
                block.cast()
            }
            None => self.refill(index),
        }
    }

    #[cold]
    #[inline(never)]
    fn refill(&self, index: u8) -> FrameRef {
        if self.collect() {
            let list = &self.free[usize::from(index)];
            if let Some(block) = NonNull::new(list.get()) {
                // SAFETY: as in `allocate`.
                list.set(unsafe { block.as_ref() }.next);
                return block.cast();
            }
        }
        let size = Class::Pooled(index).bytes();
        let (mut next, mut end) = self.fresh[usize::from(index)].get();
        if (end.addr() - next.addr()) < size {
            next = self.new_page(index);
            // SAFETY: one past the end of the page, whose header is `PAGE_HEADER` bytes before `next`.
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
        // SAFETY: fresh memory, aligned and large enough.
        unsafe { page.cast::<PageHeader>().write(header) };
        if let Some(page) = NonNull::new(page) {
            // SAFETY: only the owner touches the list.
            unsafe { (*self.pages.get()).push(page) };
        }
        // SAFETY: within the page.
        unsafe { page.add(PAGE_HEADER) }
    }

    /// Counts a page, and reclaims others if memory is tight; in which term it has been charged.
    fn count_page(&self, index: u8) -> u32 {
        let Some(budget) = self.budget.borrow().clone() else {
            budget::charge_process(PAGE);
            return 0;
        };
        let room = budget.charge(PAGE);
        if let Some(cx) = try_cx() {
            // What handles a message is no frame: the frames that it has made say what it calls.
            let body = Some(cx.current_body()).filter(|body| !body.is_empty());
            budget.note(cx.run(), body.or_else(|| self.last_body(index)).unwrap_or_default());
        }
        exceed(&budget, room);
        self.term.get()
    }

    /// The name of the body's type of the last block that was carved, if its frame is live.
    fn last_body(&self, index: u8) -> Option<&'static str> {
        let (next, _) = self.fresh[usize::from(index)].get();
        if next.is_null() {
            return None;
        }
        // SAFETY: blocks have been carved up to there, as a page begins with one; this thread owns them.
        let block = unsafe { next.sub(Class::Pooled(index).bytes()) }.cast::<Block>();
        // SAFETY: as in `walk`.
        unsafe { &(*block).table }.get().map(|table| (table.name)())
    }

    /// How many blocks of a page of this pool have been carved.
    fn carved(&self, page: NonNull<u8>) -> usize {
        // SAFETY: a page of this pool.
        let index = unsafe { header(page) }.class;
        let (next, _) = self.fresh[usize::from(index)].get();
        let (start, next) = (page.addr().get(), next.addr());
        let end = if start < next && next <= start + PAGE { next - start } else { PAGE };
        (end - PAGE_HEADER) / Class::Pooled(index).bytes()
    }

    #[cold]
    #[inline(never)]
    fn allocate_class_large(&self, class: Class) -> FrameRef {
        match class {
            Class::Large(layout) => allocate_large(layout, self.budget.borrow().clone()),
            Class::Pooled(_) => unreachable!("pooled blocks come from the free lists"),
        }
    }

    /// Memory for a page: one by one while the pool is small, then many at a time.
    fn take_page(&self) -> *mut u8 {
        let (mut next, mut end) = self.spare.get();
        if next == end {
            // SAFETY: only the owner touches the list.
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
                // SAFETY: our memory; its contents stay. If the system has no large pages, nothing is lost.
                unsafe { libc::madvise(next.cast(), bytes, libc::MADV_HUGEPAGE) };
            }
            // SAFETY: one past the end.
            end = unsafe { next.add(bytes) };
        }
        // SAFETY: a page is left before `end`.
        self.spare.set((unsafe { next.add(PAGE) }, end));
        next
    }

    /// Calls `visit` with every block that is not free. A frame that another thread frees meanwhile may be among
    /// them: its memory stays what it was until this pool's owner allocates again, or reclaims its pages.
    ///
    /// For the owner, or for whoever keeps it from running.
    ///
    /// What `visit` may look at is the table that it is given (the frame's own may be cleared meanwhile), and slot,
    /// claim and run, which freeing leaves as they were.
    pub(crate) fn walk(&self, mut visit: impl FnMut(FrameRef, &'static VTable)) {
        // SAFETY: only the owner changes the list.
        for &page in unsafe { &*self.pages.get() } {
            // SAFETY: a page of this pool.
            let size = Class::Pooled(unsafe { header(page) }.class).bytes();
            for number in 0..self.carved(page) {
                // SAFETY: within the page.
                let block = unsafe { page.add(PAGE_HEADER + number * size) }.cast::<Block>();
                // SAFETY: every carved block has a table word, which others write only by `mark_free`.
                if let Some(table) = unsafe { &(*block.as_ptr()).table }.get() {
                    visit(block.cast(), table);
                }
            }
        }
    }

    /// Takes the blocks that others gave back; whether there were any.
    fn collect(&self) -> bool {
        let mut next = self.returned.take_all();
        let any = next.is_some();
        while let Some(block) = next {
            // SAFETY: the whole chain is ours.
            next = NonNull::new(unsafe { returned::Block::next(block) });
            // SAFETY: a pooled block lies in a page with a header.
            let index = unsafe { page_of(block).as_ref() }.class;
            self.put(block, index);
        }
        any
    }

    fn put(&self, block: NonNull<Block>, index: u8) {
        let list = &self.free[usize::from(index)];
        // SAFETY: the block is free and ours.
        unsafe { (*block.as_ptr()).next = list.get() };
        list.set(block.as_ptr());
    }
}

fn page_of(block: NonNull<Block>) -> NonNull<PageHeader> {
    page_of_byte(block.as_ptr().cast())
}

/// The page that a byte of some block lies in.
fn page_of_byte(byte: *mut u8) -> NonNull<PageHeader> {
    let page = byte.map_addr(|address| address & !(PAGE - 1)).cast::<PageHeader>();
    match NonNull::new(page) {
        Some(page) => page,
        None => unreachable!("no block lies in page zero"),
    }
}

/// The room in front of a large block, which says what it has been charged to.
const fn large(layout: Layout) -> (usize, Layout) {
    let align = if layout.align() > GRAIN { layout.align() } else { GRAIN };
    match Layout::from_size_align(layout.size() + align, align) {
        Ok(layout) => (align, layout),
        Err(_) => panic!("a frame is larger than the address space"),
    }
}

/// Memory for a block of any size from the system, charged to that budget if there is one.
pub(crate) fn allocate_large(layout: Layout, budget: Option<Arc<Budget>>) -> FrameRef {
    let (front, whole) = large(layout);
    // SAFETY: not empty.
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
    // SAFETY: `front` bytes are there for it, aligned; the block lies behind them.
    unsafe {
        memory.cast().write(charged);
        memory.add(front).cast()
    }
}

/// # Safety
/// The block came from [`allocate_large`] with this layout, and nobody uses it any more.
#[cold]
#[inline(never)]
unsafe fn free_large(block: NonNull<u8>, layout: Layout) {
    let (front, whole) = large(layout);
    // SAFETY: the front of the block.
    let memory = unsafe { block.sub(front) };
    // SAFETY: written by `allocate_large`.
    let charged = unsafe { memory.cast::<*const Budget>().read() };
    if !charged.is_null() {
        // SAFETY: from `Arc::into_raw`, once.
        let budget = unsafe { Arc::from_raw(charged) };
        budget.credit_large(whole.size());
    }
    // SAFETY: by the caller's word.
    unsafe { dealloc(memory.as_ptr(), whole) };
}

/// Says that memory is tight, or that there is too little.
#[cold]
fn exceed(budget: &Budget, room: Room) {
    if let Some(cx) = try_cx() {
        cx.memory_is_tight(budget, room);
    }
}

/// Gives a block back, from any thread.
///
/// # Safety
/// The block came from a pool or `allocate_large` with this class, and nobody uses it any more.
#[inline]
pub(crate) unsafe fn free(block: NonNull<u8>, class: Class) {
    match class {
        Class::Pooled(index) => {
            let block = block.cast::<Block>();
            // SAFETY: a pooled block lies in a page with a header.
            let owner = unsafe { page_of(block).as_ref() }.owner;
            let own = OWN.get();
            // SAFETY: `OWN` is null or this thread's own pool, which lives as long as the thread owns it.
            match unsafe { own.as_ref() } {
                Some(pool) if ptr::eq(pool.returned, owner) => {
                    // SAFETY: the block is free and ours to mark.
                    unsafe { &(*block.as_ptr()).table }.mark_free();
                    pool.put(block, index);
                }
                // SAFETY: the caller guarantees that nobody uses the block any more; its page says that it is this pool's.
                _ => unsafe { free_elsewhere(owner, block) },
            }
        }
        // SAFETY: the caller guarantees that the block came from `allocate_large` with this layout, and is not used any more.
        Class::Large(layout) => unsafe { free_large(block, layout) },
    }
}

#[cold]
#[inline(never)]
unsafe fn free_elsewhere(owner: &'static Returned<Block>, block: NonNull<Block>) {
    // SAFETY: by the caller's word.
    unsafe { owner.push(block) };
}
