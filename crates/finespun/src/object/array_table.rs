//! A node's table of write-once arrays: for each array an `ArrayEntry`, a descriptor of one cache line that every
//! access reads, and the array itself, a `StoredArray`.
//!
//! An array has the same number on all nodes, so its handle contains the descriptor's distance from the first one. A
//! get computes the descriptor's address from the handle, compares the descriptor's word with the handle, and compares
//! the index with the bounds.

use std::alloc::{self, Layout};
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::panic::Location;
use std::ptr;
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed};

use crate::frame::context::Cx;
use crate::frame::{Payload, quietly};
use crate::observe::CacheChoice;
use crate::sched::team::Waits;

/// The maximal number of arrays that a runtime can have at a time.
pub(crate) const MOST: usize = 4096;

/// The descriptor that every access to an array reads; all zero if no array has this number.
#[repr(C, align(64))]
pub(crate) struct ArrayEntry {
    /// The array's word, which handles contain too: the generation in the upper half; in the lower half the distance of
    /// this descriptor from the first, in bytes.
    pub(crate) word: Cell<u64>,
    /// The first index on this node; [`NOWHERE`] if this node's indices are not consecutive.
    pub(crate) first: Cell<usize>,
    /// The index below which all elements on this node have been written.
    pub(crate) end: Cell<usize>,
    /// One past the last index on this node.
    pub(crate) limit: Cell<usize>,
    /// The call site that may write the next element on the fast path; null if none may.
    pub(crate) writer: Cell<*const Location<'static>>,
    /// The address that the element at index 0 would have.
    pub(crate) elements: Cell<*mut ()>,
    /// The `Directory` of the cached elements of other nodes.
    pub(crate) directory: Cell<*const ()>,
    /// The address of the `StoredArray`, without its type.
    pub(crate) kept: Cell<*const ()>,
}

const _: () = assert!(size_of::<ArrayEntry>() == 64);

/// The value of `first` if indices are not consecutive. Every index is smaller, so none is between `first` and `end`.
pub(crate) const NOWHERE: usize = usize::MAX;

impl ArrayEntry {
    /// Returns the number of elements on this node before the first unwritten one.
    pub(crate) fn ready(&self) -> usize {
        self.end.get().wrapping_sub(self.first.get())
    }

    pub(crate) fn set_ready(&self, count: usize) {
        self.end.set(self.first.get().wrapping_add(count));
    }

    /// Makes the next write take the slow path.
    pub(crate) fn close(&self) {
        self.writer.set(ptr::null());
    }
}

/// A node's part of an array, of any element type.
pub(crate) trait StoredArray: Any {
    /// Adds to `waits`, for reports, each leaf that waits for an element here, and a description of the element.
    fn report_waits(&self, waits: &mut Waits);

    /// Called before the array's descriptor is cleared.
    fn before_clear(&self, entry: &ArrayEntry);

    /// Called when the program has freed the array: ends all waits here with an error.
    fn on_free(&self);

    /// Returns the decision of the array's cache, if the cache is automatic.
    fn choice(&self) -> Option<CacheChoice> {
        None
    }
}

/// The descriptors of a node that has had no arrays: all zero.
static NONE: ZeroEntries = ZeroEntries([const { AtomicU64::new(0) }; MOST * size_of::<ArrayEntry>() / 8]);

#[repr(C, align(64))]
struct ZeroEntries([AtomicU64; MOST * size_of::<ArrayEntry>() / 8]);

/// The arrays of a node.
pub(crate) struct ArrayTable {
    /// The first descriptor. Points to [`NONE`] until the node gets its first array.
    entries: Cell<*mut ArrayEntry>,
    kept: RefCell<Vec<Option<Rc<dyn StoredArray>>>>,
    numbers: Numbers,
}

/// The allocator of array numbers. Only node 0 uses it.
struct Numbers {
    used: Cell<usize>,
    /// Numbers that are free again.
    spare: RefCell<Vec<usize>>,
    /// By array word: the creations and removals in progress.
    out: RefCell<HashMap<u64, Out>>,
}

/// The creation or removal of an array that some nodes have not finished.
struct Out {
    /// The number of these nodes.
    nodes: u32,
    /// The first error that a node has reported.
    refused: Option<Payload>,
    then: Then,
}

/// The action that runs when all nodes have done their part.
pub(crate) type Then = Box<dyn FnOnce(Cx, Option<Payload>)>;

/// A word that no array ever has, because its generation is never assigned.
pub(crate) const NO_ARRAY: u64 = (u32::MAX as u64) << 32;

/// The number of generations assigned in this process. No two arrays of the process have the same generation.
static GENERATION: AtomicU32 = AtomicU32::new(0);

impl ArrayTable {
    pub(crate) fn new() -> ArrayTable {
        ArrayTable {
            entries: Cell::new(ArrayTable::none()),
            kept: RefCell::new(Vec::new()),
            numbers: Numbers { used: Cell::new(0), spare: RefCell::default(), out: RefCell::default() },
        }
    }

    /// Returns the first descriptor. If the node has had no array, this is in [`NONE`], which callers do not write to:
    /// no handle matches a zero descriptor.
    #[inline(always)]
    pub(crate) fn entries(&self) -> *const ArrayEntry {
        self.entries.get()
    }

    const fn none() -> *mut ArrayEntry {
        (&raw const NONE).cast_mut().cast()
    }

    /// Returns the word of a new array; `None` if [`MOST`] arrays exist.
    pub(crate) fn give_number(&self) -> Option<u64> {
        let number = self
            .numbers
            .spare
            .borrow_mut()
            .pop()
            .unwrap_or_else(|| self.numbers.used.replace(self.numbers.used.get() + 1));
        if number >= MOST {
            self.numbers.used.set(MOST);
            return None;
        }
        loop {
            let last = GENERATION.fetch_add(1, Relaxed);
            assert!(last < u32::MAX - 1, "a process makes 2^32 arrays at most");
            // Multiplied, so that a damaged word is not that of the next array.
            let word = word((last + 1).wrapping_mul(0x9e37_79b1), number);
            if is_word(word) {
                return Some(word);
            }
        }
    }

    /// Makes the number of an array available again. No node knows the array any more.
    pub(crate) fn take_number(&self, word: u64) {
        self.numbers.spare.borrow_mut().push(number(word));
    }

    /// Registers `then` to run when `nodes` nodes have done their part for an array.
    pub(crate) fn await_others(&self, word: u64, nodes: u32, then: Then) {
        let before = self.numbers.out.borrow_mut().insert(word, Out { nodes, refused: None, then });
        debug_assert!(before.is_none(), "an array's creation and removal do not overlap");
    }

    /// Counts one node as done, with its error if it failed. If it was the last, returns the action to run, and the
    /// first error.
    pub(crate) fn reached(&self, word: u64, refused: Option<Payload>) -> Option<(Then, Option<Payload>)> {
        let mut out = self.numbers.out.borrow_mut();
        let known = out.get_mut(&word)?;
        known.nodes -= 1;
        known.refused = known.refused.take().or(refused);
        if known.nodes > 0 {
            return None;
        }
        out.remove(&word).map(|known| (known.then, known.refused))
    }

    /// Returns whether the creation or removal of an array is in progress.
    pub(crate) fn is_out(&self, word: u64) -> bool {
        self.numbers.out.borrow().contains_key(&word)
    }

    /// Returns the word of the array that has the same number as that with this word.
    pub(crate) fn same_number(&self, word: u64) -> Option<u64> {
        // SAFETY: `number` is below `MOST`, the number of descriptors.
        let found = unsafe { &*self.entries().add(number(word)) }.word.get();
        (found != 0).then_some(found)
    }

    /// Adds an array.
    pub(crate) fn add(&self, word: u64, kept: Rc<dyn StoredArray>) -> &ArrayEntry {
        if self.entries.get() == ArrayTable::none() {
            // Zeroed pages: the system allocates only those that are touched.
            // SAFETY: the layout does not have size zero.
            let entries = unsafe { alloc::alloc_zeroed(ArrayTable::layout()) };
            if entries.is_null() {
                alloc::handle_alloc_error(ArrayTable::layout());
            }
            self.entries.set(entries.cast());
        }
        let number = number(word);
        let mut all = self.kept.borrow_mut();
        if all.len() <= number {
            all.resize_with(number + 1, || None);
        }
        assert!(all[number].is_none(), "a number belongs to one array");
        // SAFETY: `number` is below `MOST`, so the descriptor is inside the allocation; all zero is a valid
        // `ArrayEntry`.
        let entry = unsafe { &*self.entries.get().add(number) };
        entry.word.set(word);
        entry.kept.set(Rc::as_ptr(&kept).cast());
        all[number] = Some(kept);
        entry
    }

    /// Removes an array, if it is on this node.
    pub(crate) fn remove(&self, word: u64) -> Option<Rc<dyn StoredArray>> {
        // SAFETY: `number` is below `MOST`, the number of descriptors.
        let entry = unsafe { &*self.entries().add(number(word)) };
        if entry.word.get() != word {
            return None;
        }
        self.clear(number(word))
    }

    fn clear(&self, number: usize) -> Option<Rc<dyn StoredArray>> {
        let kept = self.kept.borrow_mut().get_mut(number)?.take()?;
        // SAFETY: an array has been added, so the descriptors are the node's own allocation of `MOST`.
        let entry = unsafe { self.entries.get().add(number) };
        // SAFETY: the descriptor is in that allocation, and no mutable reference to it exists.
        kept.before_clear(unsafe { &*entry });
        // SAFETY: the descriptor is in that allocation, no reference to it is alive, and all zero is a valid
        // `ArrayEntry`.
        unsafe { entry.write_bytes(0, 1) };
        Some(kept)
    }

    /// Returns an array's descriptor, if the array is on this node.
    pub(crate) fn find(&self, word: u64) -> Option<&ArrayEntry> {
        // SAFETY: `number` is below `MOST`, the number of descriptors.
        let entry = unsafe { &*self.entries().add(number(word)) };
        (entry.word.get() == word && word != 0).then_some(entry)
    }

    /// Returns an array's descriptor, if the array is on this node and is an `S`.
    pub(crate) fn find_kept<S: StoredArray>(&self, word: u64) -> Option<&ArrayEntry> {
        let kept = self.kept.borrow();
        let kept: &dyn Any = &**kept.get(number(word))?.as_ref()?;
        self.find(word).filter(|_| kept.is::<S>())
    }

    /// Returns an array, if it is on this node.
    pub(crate) fn kept(&self, word: u64) -> Option<Rc<dyn StoredArray>> {
        self.find(word)?;
        self.kept.borrow().get(number(word))?.clone()
    }

    /// Adds to `waits`, for reports, each leaf that waits for an array's element here, and a description of the
    /// element.
    pub(crate) fn report_waits(&self, waits: &mut Waits) {
        self.kept.borrow().iter().flatten().for_each(|kept| kept.report_waits(waits));
    }

    /// Drops all arrays when the worker ends.
    pub(crate) fn end(&self) {
        let count = self.kept.borrow().len();
        // No caller could receive a panic of a destructor.
        (0..count).for_each(|number| quietly(|| drop(self.clear(number))));
        self.numbers.out.take();
    }

    fn layout() -> Layout {
        Layout::new::<[ArrayEntry; MOST]>()
    }
}

impl Drop for ArrayTable {
    fn drop(&mut self) {
        if self.entries.get() != ArrayTable::none() {
            // SAFETY: `add` allocated the descriptors with this layout.
            unsafe { alloc::dealloc(self.entries.get().cast(), ArrayTable::layout()) };
        }
    }
}

/// Returns the word of the array with this generation and number.
fn word(generation: u32, number: usize) -> u64 {
    debug_assert!(number < MOST);
    u64::from(generation) << 32 | (number * size_of::<ArrayEntry>()) as u64
}

/// Returns whether a number is the word of an array that may exist.
pub(crate) fn is_word(of: u64) -> bool {
    let generation = (of >> 32) as u32;
    (1..u32::MAX).contains(&generation) && of == word(generation, number(of))
}

/// Returns the number in an array's word.
fn number(word: u64) -> usize {
    word as u32 as usize / size_of::<ArrayEntry>() % MOST
}
