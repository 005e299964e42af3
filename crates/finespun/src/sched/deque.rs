//! A work-stealing deque of pointers (Chase and Lev 2005, in the C11 formulation of Lê, Pop, Cohen and Zappa Nardelli,
//! PPoPP 2013).
//!
//! One worker owns a deque: it pushes and pops at the young end (`bottom`). Any thread may steal from the old end
//! (`top`). Items are single words in atomic slots, so a thief that reads a slot just before it loses the race for it
//! reads an outdated word, never a torn one, and no behaviour is undefined.
//!
//! ```text
//!            top                      bottom
//!             v                         v
//!   ... free |oldest|  ...   |youngest| free ...     slot of index i: i mod capacity
//!       thieves ->                  <- owner
//! ```
//!
//! **States.** `top` only grows. An index `i` is in one of three states: *free* (`i >= bottom` or `i < top`), *full*
//! (`top <= i < bottom`), or *taken back* (the owner has lowered `bottom` to `i` but has not decided yet). The
//! transitions, each repeated at the line that performs it:
//!
//! 1. free -> full: the owner writes the slot, then raises `bottom` (Release).
//! 2. full -> taken back: the owner lowers `bottom`, then fences.
//! 3. taken back -> free: the owner sees `top < i`; no thief can reach `i`, since every thief that fences later sees
//!    the lowered `bottom`.
//! 4. taken back -> free, by the last-element race: `top == i`; the thread that moves `top` from `i` to `i + 1` by
//!    compare-and-swap gets the item, and the owner restores `bottom` to `i + 1` whether it won or lost.
//! 5. full -> free: a thief moves `top` from `i` to `i + 1` by compare-and-swap.
//!
//! **Why no item is taken twice.** Only `i == top` is ever contended, because the owner takes an index above `top`
//! without a race (3). Dekker's pattern prevents the owner from reading `top < i` while a thief reads `bottom > i`: the
//! owner stores `bottom`, fences, loads `top`; the thief loads `top`, fences, loads `bottom`. Both fences are
//! `fence(SeqCst)`.
//!
//! **Publication.** The owner's Release store and the thief's Acquire load of `bottom` publish an item's target. A
//! fence would suffice, but ThreadSanitizer does not model fences. *Every* store of `bottom` that leaves items below
//! `bottom` is a Release: since C++20 a later relaxed store by the same thread no longer continues the release sequence
//! of the preceding push.
//!
//! **Growth.** A full buffer is replaced by one of twice the size. The old buffer is never written again, but a thief
//! may still read it, so its successor keeps a link to it until the deque is dropped. Capacities double, so all old
//! buffers together are smaller than the current one.

use crate::atomics::{AtomicIsize, AtomicPtr, Ordering, fence};
use crossbeam_utils::CachePadded;
use std::{
    fmt,
    marker::PhantomData,
    ptr::{self, NonNull},
};

#[cfg(all(test, loom))]
mod models;
#[cfg(all(test, not(loom)))]
mod tests;

/// Number of slots of a new deque (2 KiB); a power of two.
const INITIAL_CAPACITY: usize = 256;

/// The result of an attempt to steal.
#[must_use = "a stolen item that is dropped is lost"]
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Steal<T> {
    /// The deque was empty.
    Empty,
    /// Another thief, or the owner, took the item first: the deque may have more.
    Retry,
    /// The oldest item.
    Success(NonNull<T>),
}

/// The deque, shared by its owner and the thieves.
///
/// It holds pointers and never follows them, so it can be shared for any `T`; code that follows a pointer must justify
/// it. Dropping the deque forgets the pointers still inside: drain it first.
pub(crate) struct Deque<T> {
    /// Index of the oldest item. Thieves contend for it, so it has its own cache line.
    top: CachePadded<AtomicIsize>,
    /// The fields that only the owner writes.
    owned: CachePadded<Owned<T>>,
}

/// The fields that the owner writes and thieves read. They share a cache line: a thief needs both, and misses once
/// instead of twice.
struct Owned<T> {
    /// One past the index of the youngest item.
    bottom: AtomicIsize,
    /// The current buffer; never null, freed only by `Drop`.
    buffer: AtomicPtr<Buffer<T>>,
}

/// The right to push and pop: the owner's end of a [`Deque`].
///
/// A copyable token, as small as a reference, so that a worker can make one wherever it needs one. It cannot leave its
/// thread.
pub(crate) struct Owner<'a, T> {
    deque: &'a Deque<T>,
    /// Makes the token neither `Send` nor `Sync`.
    here: PhantomData<*mut ()>,
}

impl<T> Deque<T> {
    /// Creates an empty deque.
    pub(crate) fn new() -> Self {
        Self::with_capacity(INITIAL_CAPACITY)
    }

    /// Creates an empty deque that holds `capacity` items (rounded up to a power of two) before it grows for the first
    /// time.
    pub(crate) fn with_capacity(capacity: usize) -> Self {
        let first = Buffer::new(capacity.next_power_of_two(), ptr::null_mut());
        Self {
            top: CachePadded::new(AtomicIsize::new(0)),
            owned: CachePadded::new(Owned {
                bottom: AtomicIsize::new(0),
                buffer: AtomicPtr::new(Box::into_raw(first)),
            }),
        }
    }

    /// Returns a token of the owner's end.
    ///
    /// # Safety
    ///
    /// 1. All tokens of this deque that exist at one time are on one thread.
    /// 2. If an earlier token was on another thread, everything done with it happens before this call (the worker was
    ///    started, joined, or handed over under a lock).
    #[inline(always)]
    pub(crate) unsafe fn owner(&self) -> Owner<'_, T> {
        Owner { deque: self, here: PhantomData }
    }

    /// Takes the oldest item.
    ///
    /// `Retry` means that another thread made progress; the caller decides whether to retry here or to go to the next
    /// victim.
    pub(crate) fn steal(&self) -> Steal<T> {
        // Acquire: pairs with the Release half of the compare-and-swap that set this `top` (4, 5), so this steal comes
        // after the preceding theft. The fence below implies this, but the paper has the Acquire, and it costs nothing.
        let top = self.top.load(Ordering::Acquire);
        // Dekker, thief's side: pairs with the fence in `pop`. Either this thief sees the lowered `bottom`, or the
        // owner sees a `top` at least as new as the one loaded here.
        fence(Ordering::SeqCst);
        // Acquire: pairs with the Release store in `push` (1), which published the slot, the buffer, and the item's
        // target.
        let bottom = self.owned.bottom.load(Ordering::Acquire);
        if bottom.wrapping_sub(top) <= 0 {
            return Steal::Empty;
        }

        // Acquire: pairs with the Release store in `grow`, which published the slots copied into this buffer.
        let buffer = self.owned.buffer.load(Ordering::Acquire);
        // SAFETY: `buffer` is never null, and only `Drop`, which has exclusive access to the deque, frees it; `self` is
        // a shared reference.
        let buffer = unsafe { &*buffer };
        // Relaxed: if this thief wins, `bottom` or `buffer` above published the word; if it loses, the word may be
        // outdated, and is not used.
        let item = buffer.slot(top).load(Ordering::Relaxed);

        // (4, 5) SeqCst on success, as in the paper's proof. Its Release half pairs with the Acquire load of `top` in
        // `push`: this read of the slot comes before the owner's reuse of the slot. Relaxed on failure: nothing read.
        let won = self.top.compare_exchange(top, top.wrapping_add(1), Ordering::SeqCst, Ordering::Relaxed);
        match won {
            Ok(_) => Steal::Success(NonNull::new(item).expect("a full slot holds an item")),
            Err(_) => Steal::Retry,
        }
    }

    /// Returns the number of items; a hint while other threads use the deque.
    ///
    /// An item that the owner is about to pop may or may not count.
    pub(crate) fn len(&self) -> usize {
        // Relaxed, both: a hint. A worker that goes idle calls this after the fence of the idling protocol, which pairs
        // with the producer's fence after `push`.
        let bottom = self.owned.bottom.load(Ordering::Relaxed);
        let top = self.top.load(Ordering::Relaxed);
        bottom.wrapping_sub(top).max(0).unsigned_abs()
    }

    /// Returns whether the deque looks empty: a hint, as for [`len`](Deque::len).
    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<T> Drop for Deque<T> {
    fn drop(&mut self) {
        // Relaxed: `&mut self` means that all other threads have finished, and the synchronization that gave the caller
        // this reference orders their accesses before this one.
        let mut buffer = self.owned.buffer.load(Ordering::Relaxed);
        while !buffer.is_null() {
            // SAFETY: each buffer of the chain came from `Box::into_raw`, exactly one pointer refers to it, and no
            // thread reads it any more.
            let owned = unsafe { Box::from_raw(buffer) };
            buffer = owned.previous;
        }
    }
}

impl<T> Default for Deque<T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T> fmt::Debug for Deque<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Deque").field("len", &self.len()).finish()
    }
}

impl<T> Clone for Owner<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Owner<'_, T> {}

impl<T> Owner<'_, T> {
    /// Puts `item` at the young end. Grows the buffer if it is full.
    ///
    /// A caller that pushes for thieves then calls `Idle::notify_one`.
    #[inline]
    pub(crate) fn push(self, item: NonNull<T>) {
        let Deque { top, owned } = self.deque;
        // Relaxed: only this thread writes `bottom`.
        let bottom = owned.bottom.load(Ordering::Relaxed);
        // Acquire: pairs with the Release half of a thief's compare-and-swap (5), so that the thief's read of a slot
        // comes before the reuse of that slot here.
        let top = top.load(Ordering::Acquire);
        let mut buffer = self.buffer();
        // Not negative: only `pop` lowers `bottom` below `top`, and puts it back.
        if bottom.wrapping_sub(top).cast_unsigned() >= buffer.capacity() {
            buffer = self.grow(buffer, top, bottom);
        }
        // (1) Relaxed: published by the store of `bottom` that follows.
        buffer.slot(bottom).store(item.as_ptr(), Ordering::Relaxed);
        // (1) Release: pairs with the Acquire load of `bottom` in `steal`.
        owned.bottom.store(bottom.wrapping_add(1), Ordering::Release);
    }

    /// Takes the youngest item.
    #[inline]
    pub(crate) fn pop(self) -> Option<NonNull<T>> {
        let Deque { top, owned } = self.deque;
        // Relaxed: only this thread writes `bottom`.
        let bottom = owned.bottom.load(Ordering::Relaxed);
        // Relaxed: `top` only grows, so a deque that looks empty is empty, and an idle worker's look at its own deque
        // costs no fence.
        if bottom.wrapping_sub(top.load(Ordering::Relaxed)) <= 0 {
            return None;
        }

        let index = bottom.wrapping_sub(1);
        // (2) Release: keeps every store of `bottom` a publication of the items below it; pairs with the Acquire load
        // of `bottom` in `steal`.
        owned.bottom.store(index, Ordering::Release);
        // (2) Dekker, owner's side: pairs with the fence in `steal`.
        fence(Ordering::SeqCst);
        // Relaxed: ordered after the store of `bottom` by the fence.
        let oldest = top.load(Ordering::Relaxed);

        let ahead = index.wrapping_sub(oldest);
        if ahead > 0 {
            // (3) Relaxed: only this thread writes slots.
            return NonNull::new(self.buffer().slot(index).load(Ordering::Relaxed));
        }

        let mut won = false;
        if ahead == 0 {
            // (4) SeqCst on success, as in the paper's proof; races with the same compare-and-swap in `steal`. Relaxed
            // on failure: nothing read.
            won = top.compare_exchange(oldest, oldest.wrapping_add(1), Ordering::SeqCst, Ordering::Relaxed).is_ok();
        }
        // (4) Relaxed: the deque is empty, so this publishes nothing; a thief that reads it finds `top` at least as
        // high, or fails its compare-and-swap.
        owned.bottom.store(bottom, Ordering::Relaxed);
        if !won {
            return None;
        }
        // (4) Relaxed: only this thread writes slots.
        NonNull::new(self.buffer().slot(index).load(Ordering::Relaxed))
    }

    /// Returns the number of items, as [`Deque::len`] does.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn len(self) -> usize {
        self.deque.len()
    }

    /// Returns whether the deque is empty; if so, it stays empty until the next push.
    #[cfg(all(test, not(loom)))]
    pub(crate) fn is_empty(self) -> bool {
        self.deque.is_empty()
    }

    /// Returns the current buffer, which is valid until the next `grow`.
    #[inline]
    fn buffer(&self) -> &Buffer<T> {
        // Relaxed: only this thread writes `buffer`.
        let buffer = self.deque.owned.buffer.load(Ordering::Relaxed);
        // SAFETY: `buffer` is never null, and only `Drop`, which has exclusive access to the deque, frees it; `self` is
        // a shared reference.
        unsafe { &*buffer }
    }

    /// Replaces the full buffer `old` by one of twice the size.
    #[cold]
    #[inline(never)]
    fn grow(&self, old: &Buffer<T>, top: isize, bottom: isize) -> &Buffer<T> {
        // Relaxed: only this thread writes `buffer`.
        let previous = self.deque.owned.buffer.load(Ordering::Relaxed);
        let new = Buffer::new(old.capacity() * 2, previous);
        let mut index = top;
        while index != bottom {
            // Relaxed, both: only this thread writes slots, and the store of `buffer` below publishes them.
            let item = old.slot(index).load(Ordering::Relaxed);
            new.slot(index).store(item, Ordering::Relaxed);
            index = index.wrapping_add(1);
        }
        // Release: pairs with the Acquire load of `buffer` in `steal`.
        self.deque.owned.buffer.store(Box::into_raw(new), Ordering::Release);
        self.buffer()
    }
}

/// A ring of slots, and the smaller ring that it replaced.
struct Buffer<T> {
    /// The slots, a power of two in number.
    slots: Box<[AtomicPtr<T>]>,
    /// Kept because a thief may still read it; null for the first buffer.
    previous: *mut Buffer<T>,
}

impl<T> Buffer<T> {
    fn new(capacity: usize, previous: *mut Self) -> Box<Self> {
        assert!(capacity.is_power_of_two());
        let slots = (0..capacity).map(|_| AtomicPtr::new(ptr::null_mut())).collect();
        Box::new(Self { slots, previous })
    }

    #[inline]
    fn capacity(&self) -> usize {
        self.slots.len()
    }

    /// Returns the slot of index `index`.
    #[inline]
    fn slot(&self, index: isize) -> &AtomicPtr<T> {
        // Reinterpreted, not converted: for a power of two, the low bits of a wrapped index are its remainder.
        let position = index.cast_unsigned() & (self.slots.len() - 1);
        // SAFETY: `new` asserts that the length is a power of two, so it is at least 1, and masking with the length
        // minus one yields a position below the length.
        unsafe { self.slots.get_unchecked(position) }
    }
}
